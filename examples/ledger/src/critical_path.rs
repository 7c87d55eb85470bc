//! What order costs: the longest chain of operations that must run one after another.
//!
//! If every operation took one step, no scheduler and no number of workers could replay the ledger
//! in fewer steps than this chain has. An operation is one step behind the deepest chain among its
//! accounts. Audits of an account are side by side, one step behind its last change.

use crate::ledger::Ledger;
use crate::operation::Operation;

/// The steps after which an account is free.
#[derive(Clone, Copy, Default)]
struct Free {
    /// From its last change.
    to_read: u64,
    /// From all audits since, too.
    to_change: u64,
}

/// The length of the longest chain.
pub fn critical_path(ledger: &Ledger) -> u64 {
    let mut accounts = vec![Free::default(); ledger.names.len()];
    let steps = ledger.operations.iter().map(|(_, operation)| step(operation, &mut accounts));
    steps.max().unwrap_or(0)
}

/// The step in which the operation runs, counted from 1.
fn step(operation: &Operation, accounts: &mut [Free]) -> u64 {
    let reads = matches!(operation, Operation::Audit(_));
    let free = operation.accounts().map(|id| accounts[id.index()]);
    let step = 1 + free.map(|f| if reads { f.to_read } else { f.to_change }).max().unwrap_or(0);
    for id in operation.accounts() {
        let account = &mut accounts[id.index()];
        account.to_change = account.to_change.max(step);
        if !reads {
            account.to_read = step;
        }
    }
    step
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::HEADER;

    fn path(lines: &[&str]) -> u64 {
        let file = format!("{HEADER}\n{}\n", lines.join("\n"));
        let ledger = Ledger::read("test".into(), file.as_bytes()).unwrap();
        assert_eq!(ledger.operations.len(), lines.len());
        critical_path(&ledger)
    }

    #[test]
    fn independent_operations_take_one_step() {
        assert_eq!(path(&["open,a,1", "open,b,1", "transfer,c;d,1", "audit,e;f,"]), 1);
    }

    #[test]
    fn a_shared_account_makes_a_chain() {
        let mut lines = vec!["transfer,a;b,1", "transfer,b;c,1", "freeze,d,"];
        assert_eq!(path(&lines), 2);
        lines.push("transfer,d;c,1");
        assert_eq!(path(&lines), 3, "c is free later than d");
    }

    #[test]
    fn audits_are_side_by_side_between_changes() {
        let mut lines = vec!["open,a,1"];
        lines.extend(["audit,a;b,"; 5]);
        assert_eq!(path(&lines), 2);
        lines.push("open,b,1");
        assert_eq!(path(&lines), 3);
        lines.push("audit,a,");
        assert_eq!(path(&lines), 3, "nothing has changed a since");
    }
}
