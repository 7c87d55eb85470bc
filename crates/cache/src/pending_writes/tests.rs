//! The writes through of several actors.

use std::panic::resume_unwind;

use coact_actor::{Actor, spawn};
use coact_core::Runtime;
use coact_core::internals::CatchDrop;

use super::PendingWrites;

struct Idle;
impl Actor for Idle {}

/// A key that cannot be cloned if it is 0.
struct Key(u32);

impl Clone for Key {
    fn clone(&self) -> Self {
        if self.0 == 0 {
            resume_unwind(Box::new("no clone"));
        }
        Self(self.0)
    }
}

#[test]
fn each_actor_has_its_own_and_what_has_ended_is_gone() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let [one, two, three] = runtime.run(|| [spawn(Idle), spawn(Idle), spawn(Idle)]);
    let pending_writes = PendingWrites::new();
    let key = |key| (u64::from(key), CatchDrop::new(Key(key)));
    let first = pending_writes.begin(1, one.id(), key(1));
    let second = pending_writes.begin(2, one.id(), key(2));
    let broken = pending_writes.begin(3, one.id(), key(0));
    let other = pending_writes.begin(4, two.id(), key(4));
    let of = |actor| -> Vec<_> {
        pending_writes
            .of(actor)
            .into_iter()
            .map(|(number, hash, key)| (number, hash, key.0))
            .collect()
    };
    runtime.run(|| {
        // Twice: it keeps what it has copied.
        for _ in 0..2 {
            assert_eq!(of(one.id()), [(1, 1, 1), (2, 2, 2)]);
            assert_eq!(of(two.id()), [(4, 4, 4)]);
            assert_eq!(of(three.id()), []);
        }
    });
    drop(first);
    assert_eq!(of(one.id()), [(2, 2, 2)]);
    drop((second, broken, other));
    assert!(pending_writes.lock().is_empty());
}
