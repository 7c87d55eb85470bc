//! Entities that are not in use.

use std::time::Duration;

use coact::durable::store::{StoreReader, wait};
use coact::durable::{Journal, MemoryStore};
use coact_tests::everywhere;

use crate::bank::{Balance, Deposit, account};
use crate::failures::pass;
use crate::slow::Slow;

/// Those that were asked for last stay active; the others are recovered when they are asked for
/// again.
#[test]
fn e20_entities_that_are_not_used_become_passive() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::builder(store.clone()).most_active(2).build();
        let epoch = |key: &str| {
            let all = wait(|done| store.entities(None, None, 10, done)).unwrap();
            all.into_iter().find(|one| one.id.key() == key).unwrap().epoch.get()
        };
        let use_it = |key: &str| account(&journal, key).ask(Deposit(1)).wait().unwrap();
        assert_eq!(["a", "b", "a", "b", "a"].map(use_it), [1, 1, 2, 2, 3]);
        assert_eq!(["a", "b"].map(epoch), [1, 1]);
        // `b` was used before `a` was.
        let ended = account(&journal, "b").ended();
        assert_eq!(["a", "c", "a"].map(use_it), [4, 1, 5]);
        assert!(ended.wait().is_ok());
        assert_eq!(["a", "c"].map(epoch), [1, 1]);
        // One that is still in use stays active, also if it is not among the last.
        let (busy, ended) = (account(&journal, "a"), account(&journal, "c").ended());
        assert_eq!(["d", "e", "b"].map(use_it), [1, 1, 3]);
        assert!(ended.wait().is_ok());
        assert_eq!((busy.ask(Deposit(1)).wait(), epoch("a"), epoch("b")), (Ok(6), 1, 2));
        drop(busy);

        // What was sent to one that becomes passive comes before what is sent to the next.
        let journal = Journal::builder(Slow::new(&store, 300, 5)).most_active(1).build();
        let mut asked = Vec::new();
        for _ in 0..20 {
            for key in ["a", "b"] {
                asked.push((key, account(&journal, key).ask(Deposit(1))));
            }
        }
        for (key, expected) in [("a", 7..27), ("b", 4..24)] {
            let told = asked.extract_if(.., |(of, _)| *of == key);
            let told: Vec<i64> = told.map(|(_, asked)| asked.wait().unwrap()).collect();
            assert_eq!(told, expected.collect::<Vec<_>>());
        }
    });
}

#[test]
fn e20_entities_that_were_not_used_for_a_while_become_passive() {
    everywhere(|| {
        let idle = Duration::from_millis(20);
        let journal = Journal::builder(MemoryStore::new()).passive_after(idle).build();
        let alice = account(&journal, "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        let ended = alice.ended();
        drop(alice);
        pass(2 * idle);
        assert_eq!(account(&journal, "bob").ask(Deposit(1)).wait(), Ok(1));
        assert!(ended.wait().is_ok());
        assert_eq!(account(&journal, "alice").ask(Balance).wait(), Ok(1));
    });
}
