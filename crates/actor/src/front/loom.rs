//! Models of what others see of an actor without holding it.

use std::sync::Arc;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::Front;
use super::signs::{End, Signs};
use crate::{ActorId, ExitReason};

fn front() -> Arc<Front> {
    Arc::new(Front::new(ActorId::from_number(7).expect("it is not 0")))
}

fn signs() -> Arc<Signs> {
    Arc::new(Signs::new(ActorId::from_number(7).expect("it is not 0")))
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
                front.set_end(&ExitReason::Normal);
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

/// Something is begun that is to end with an actor, which ends: one of the two sees the other.
///
/// Fails if either changes its bit with less than `AcqRel`.
#[test]
fn what_is_begun_against_an_end() {
    loom::model(|| {
        let (signs, begun, ended) =
            (signs(), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let actor = thread::spawn({
            let (signs, begun, ended) =
                (Arc::clone(&signs), Arc::clone(&begun), Arc::clone(&ended));
            move || {
                ended.store(1, Ordering::Relaxed);
                let sees = signs.end(&ExitReason::Shutdown);
                assert!(!sees || begun.load(Ordering::Relaxed) == 1);
                sees
            }
        });
        begun.store(1, Ordering::Relaxed);
        let sees = signs.begin();
        assert!(!sees || ended.load(Ordering::Relaxed) == 1);
        assert_eq!(usize::from(sees) + usize::from(actor.join().unwrap()), 1, "one comes second");
        assert!(matches!(signs.ended(), Some(End::For(ExitReason::Shutdown))));
    });
}

/// A stop is left for an actor whose end is told: one of the two sees the other, and the stop is taken once.
///
/// Fails if either changes its bit with less than `AcqRel`, and if `take_stop` does not ask what it has changed.
#[test]
fn what_is_left_against_the_news_of_an_end() {
    loom::model(|| {
        let (signs, left) = (signs(), Arc::new(AtomicUsize::new(0)));
        let actor = thread::spawn({
            let (signs, left) = (Arc::clone(&signs), Arc::clone(&left));
            move || {
                let early = signs.take_stop();
                let sees = signs.tell();
                assert!(!sees || left.load(Ordering::Relaxed) == 1);
                (early, sees && signs.take_stop())
            }
        });
        left.store(1, Ordering::Relaxed);
        let is_seen = signs.push_stop();
        let late = !is_seen && signs.take_stop();
        let (early, at_the_end) = actor.join().unwrap();
        let taken = [early, at_the_end, late].into_iter().filter(|taken| *taken).count();
        assert_eq!(taken, 1, "it is answered once");
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
