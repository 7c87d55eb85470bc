//! What order costs: who had to wait for whom if every operation took the same time.
//!
//! The reading thread sees every operation in order, so it can follow the longest chain of
//! operations that must run one after another. An operation stands one step behind the deepest
//! chain among its accounts; audits of one account stand side by side, behind its last change. The
//! longest chain of all is the *critical path*: no scheduler and no number of workers can replay
//! the file in fewer steps.

use super::register::AccountId;

/// The dependency depths seen so far.
#[derive(Debug, Default)]
pub struct Contention {
    operations: u64,
    critical_path: u64,
    loads: Vec<Load>,
}

/// What one account contributed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Operations that held it exclusively.
    pub exclusive: u64,
    /// Audits that read it.
    pub shared: u64,
    /// Operations for which this account was the one to wait for: of all their accounts, it became
    /// free last.
    pub held_back: u64,
    /// The step at which its last change ends.
    changed_at: u64,
    /// The last step at which an audit since that change ends.
    read_at: u64,
}

impl Load {
    /// All operations that named it.
    pub fn operations(&self) -> u64 {
        self.exclusive + self.shared
    }
}

impl Contention {
    /// Notes an operation that changes `accounts`.
    pub fn note_update(&mut self, accounts: &[AccountId]) {
        let step = self.step_after(accounts, |load| load.changed_at.max(load.read_at));
        for id in accounts {
            let load = &mut self.loads[id.index()];
            load.exclusive += 1;
            load.changed_at = step;
        }
    }

    /// Notes an operation that only reads `accounts`.
    pub fn note_audit(&mut self, accounts: &[AccountId]) {
        let step = self.step_after(accounts, |load| load.changed_at);
        for id in accounts {
            let load = &mut self.loads[id.index()];
            load.shared += 1;
            load.read_at = load.read_at.max(step);
        }
    }

    fn step_after(&mut self, accounts: &[AccountId], free_at: impl Fn(&Load) -> u64) -> u64 {
        let mut ready = 0;
        let mut last = None;
        for id in accounts {
            if self.loads.len() <= id.index() {
                self.loads.resize(id.index() + 1, Load::default());
            }
            let free = free_at(&self.loads[id.index()]);
            if free > ready {
                (ready, last) = (free, Some(id.index()));
            }
        }
        if let Some(last) = last {
            self.loads[last].held_back += 1;
        }
        self.operations += 1;
        self.critical_path = self.critical_path.max(ready + 1);
        ready + 1
    }

    /// Operations noted.
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// The number of operations in the longest chain.
    pub fn critical_path(&self) -> u64 {
        self.critical_path
    }

    /// Operations that could run side by side on average, with workers without end.
    pub fn parallelism(&self) -> f64 {
        self.operations as f64 / self.critical_path.max(1) as f64
    }

    /// The `count` accounts that held back the most operations, the worst first.
    pub fn worst(&self, count: usize) -> Vec<(AccountId, Load)> {
        let mut ids: Vec<u32> = (0..self.loads.len() as u32).collect();
        let by_weight = |id: &u32| {
            let load = &self.loads[*id as usize];
            (std::cmp::Reverse((load.held_back, load.operations())), *id)
        };
        if count < ids.len() {
            ids.select_nth_unstable_by_key(count, by_weight);
            ids.truncate(count);
        }
        ids.sort_unstable_by_key(by_weight);
        ids.into_iter().map(|id| (AccountId::new(id), self.loads[id as usize])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids<const N: usize>(numbers: [u32; N]) -> [AccountId; N] {
        numbers.map(AccountId::new)
    }

    #[test]
    fn independent_operations_take_one_step() {
        let mut contention = Contention::default();
        for account in 0..10 {
            contention.note_update(&ids([account]));
        }
        assert_eq!(contention.critical_path(), 1);
        assert_eq!(contention.parallelism(), 10.0);
        assert!(contention.worst(3).iter().all(|(_, load)| load.held_back == 0));
    }

    #[test]
    fn a_shared_account_makes_a_chain() {
        let mut contention = Contention::default();
        contention.note_update(&ids([0, 1]));
        contention.note_update(&ids([1, 2]));
        contention.note_update(&ids([3]));
        contention.note_update(&ids([3, 2]));
        assert_eq!(contention.critical_path(), 3);
        let worst = contention.worst(2);
        assert_eq!(worst[0].0, AccountId::new(1));
        assert_eq!(worst[1].0, AccountId::new(2), "it was free later than 3");
        assert_eq!(worst[1].1.held_back, 1);
    }

    #[test]
    fn audits_stand_side_by_side_between_changes() {
        let mut contention = Contention::default();
        contention.note_update(&ids([0]));
        for _ in 0..5 {
            contention.note_audit(&ids([0, 1]));
        }
        assert_eq!(contention.critical_path(), 2);
        contention.note_update(&ids([1]));
        assert_eq!(contention.critical_path(), 3);
        contention.note_audit(&ids([0]));
        assert_eq!(contention.critical_path(), 3, "nothing changed 0 since");
    }
}
