//! The result of a replay, and the comparison of two.

use std::time::Duration;

use crate::account::{Account, Decision};

/// What a replay decided, and what it left behind.
#[derive(Debug)]
pub struct Replay {
    /// The decision on each operation of the ledger, in its order.
    pub decisions: Vec<Decision>,
    /// The accounts at the end, by number.
    pub accounts: Vec<Account>,
    /// From the first operation to the last decision.
    pub elapsed: Duration,
}

/// Where two replays of one ledger differ.
#[derive(Debug, PartialEq, Eq)]
pub struct Differences {
    /// The indices of operations that were decided differently.
    pub decisions: Vec<usize>,
    /// The numbers of accounts that ended differently.
    pub accounts: Vec<usize>,
}

impl Differences {
    pub fn between(one: &Replay, other: &Replay) -> Self {
        Self {
            decisions: differing(&one.decisions, &other.decisions),
            accounts: differing(&one.accounts, &other.accounts),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.decisions.is_empty() && self.accounts.is_empty()
    }
}

fn differing<T: PartialEq>(one: &[T], other: &[T]) -> Vec<usize> {
    assert_eq!(one.len(), other.len(), "both replayed the whole ledger");
    (0..one.len()).filter(|index| one[*index] != other[*index]).collect()
}

#[cfg(test)]
mod tests {
    //! The promise of this program as a property: whatever the ledger, the parallel replay decides
    //! every line and leaves every account as the sequential one does.

    use proptest::prelude::*;

    use super::*;
    use crate::generate::{Plan, generate};
    use crate::ledger::{HEADER, Ledger};
    use crate::work::Work;
    use crate::{parallel, sequential};

    fn assert_equivalent(ledger: &Ledger, workers: usize) {
        let expected = sequential::replay(ledger, Work::default());
        let found = parallel::replay(ledger, workers, Work::default()).unwrap();
        assert_eq!(found.decisions.len(), ledger.operations.len());
        assert_eq!(found.accounts.len(), ledger.names.len());
        let none = Differences { decisions: vec![], accounts: vec![] };
        assert_eq!(Differences::between(&expected, &found), none);
    }

    /// Lines over a handful of accounts, where nearly everything collides, and now and then
    /// nonsense.
    fn line() -> impl Strategy<Value = String> {
        let account = "[a-f]";
        let several = |count| {
            let names = prop::sample::subsequence(vec!["a", "b", "c", "d", "e", "f"], count);
            names.prop_shuffle().prop_map(|names| names.join(";"))
        };
        prop_oneof![
            2 => (account, 0u64..1000).prop_map(|(a, n)| format!("open,{a},{n}")),
            2 => (account, 1u64..1000).prop_map(|(a, n)| format!("deposit,{a},{n}")),
            2 => (account, 1u64..1000).prop_map(|(a, n)| format!("withdraw,{a},{n}")),
            4 => (several(2..=2), 1u64..1000).prop_map(|(a, n)| format!("transfer,{a},{n}")),
            3 => (several(1..=6), 1u64..1000).prop_map(|(a, n)| format!("split,{a},{n}")),
            2 => several(1..=6).prop_map(|a| format!("audit,{a},")),
            1 => account.prop_map(|a| format!("freeze,{a},")),
            1 => account.prop_map(|a| format!("unfreeze,{a},")),
            1 => account.prop_map(|a| format!("close,{a},")),
            1 => "[a-z,;]{0,12}",
        ]
    }

    fn read(file: &str) -> Ledger {
        Ledger::read("test".into(), file.as_bytes()).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn generated_ledgers_replay_alike(
            seed: u64,
            accounts in 1u32..200,
            operations in 0usize..6_000,
            workers in 1usize..=4,
        ) {
            assert_equivalent(&generate(Plan { operations, accounts, seed }), workers);
        }

        #[test]
        fn hostile_files_replay_alike(
            lines in prop::collection::vec(line(), 0..400),
            workers in 1usize..=4,
        ) {
            assert_equivalent(&read(&format!("{HEADER}\n{}", lines.join("\n"))), workers);
        }
    }

    #[test]
    fn a_ledger_of_more_operations_than_may_be_in_flight_replays_alike() {
        let plan = Plan { operations: 200_017, accounts: 300, seed: 9 };
        assert_equivalent(&generate(plan), 3);
    }

    #[test]
    fn audits_of_thousands_of_accounts_replay_alike() {
        let names: Vec<_> = (0..3_000).map(|i| format!("a{i}")).collect();
        let all = names.join(";");
        let opened = names.iter().map(|name| format!("open,{name},{}\n", name.len()));
        let audited = names[..200].iter().map(|name| format!("audit,{all},\nwithdraw,{name},1\n"));
        let body: String = opened.chain(audited).collect();
        assert_equivalent(&read(&format!("{HEADER}\n{body}")), 2);
    }

    #[test]
    fn work_changes_no_decision() {
        let ledger = generate(Plan { operations: 500, accounts: 20, seed: 3 });
        let work = Work::lasting(std::time::Duration::from_micros(5));
        let found = parallel::replay(&ledger, 2, work).unwrap();
        let expected = sequential::replay(&ledger, Work::default());
        assert!(Differences::between(&expected, &found).is_empty());
    }
}
