//! Models of what others see of an actor without holding it.

use std::sync::Arc;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::Front;
use crate::{ActorId, ExitReason};

fn front() -> Arc<Front> {
    Arc::new(Front::new(ActorId::from_number(7).expect("it is not 0")))
}

/// Who sees that the actor has ended sees what it did before, also if the actor is entangled meanwhile.
///
/// Fails if the end is stored, or looked at, with a `Relaxed` access.
#[test]
fn an_end_against_a_look() {
    loom::model(|| {
        let (front, done) = (front(), Arc::new(AtomicUsize::new(0)));
        let actor = thread::spawn({
            let (front, done) = (Arc::clone(&front), Arc::clone(&done));
            move || {
                done.store(1, Ordering::Relaxed);
                front.set_end(ExitReason::Normal);
            }
        });
        let spawner = thread::spawn({
            let front = Arc::clone(&front);
            move || front.entangle()
        });
        if front.end().is_some() {
            assert_eq!(done.load(Ordering::Relaxed), 1);
        }
        assert_eq!(front.id().get(), 7);
        actor.join().unwrap();
        spawner.join().unwrap();
        assert!(front.is_entangled() && front.end().is_some());
    });
}

/// The queue of an actor: who comes, in their order.
const SPAWNER: usize = 1;
const ASKER: usize = 2;

/// An ask that stands behind a behaviour finds the actor entangled: by that behaviour, or by one that is
/// about to come.
///
/// Fails if an actor is entangled after the behaviour has its place, or if the places are not taken with `AcqRel`.
#[test]
fn an_ask_behind_a_behaviour() {
    loom::model(|| {
        let (front, tail) = (front(), Arc::new(AtomicUsize::new(0)));
        let another = thread::spawn({
            let front = Arc::clone(&front);
            move || front.entangle()
        });
        let spawner = thread::spawn({
            let (front, tail) = (Arc::clone(&front), Arc::clone(&tail));
            move || {
                front.entangle();
                tail.swap(SPAWNER, Ordering::AcqRel);
            }
        });
        if tail.swap(ASKER, Ordering::AcqRel) == SPAWNER {
            assert!(front.is_entangled());
        }
        another.join().unwrap();
        spawner.join().unwrap();
    });
}
