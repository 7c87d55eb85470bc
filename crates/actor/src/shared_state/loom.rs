//! Models of an actor's shared state.

use std::sync::Arc;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::SharedState;
use super::state_word::{KnownReason, MeetingOrder, StateWord};
use crate::exit::ExitReason;
use crate::id::ActorId;

fn shared() -> Arc<SharedState> {
    Arc::new(SharedState::new(ActorId::from_number(7).expect("it is not 0")))
}

fn word() -> Arc<StateWord> {
    Arc::new(StateWord::new(ActorId::from_number(7).expect("it is not 0")))
}

/// A thread that sees the end sees what the actor did before, even if another thread sets a bit
/// meanwhile.
///
/// Fails if the end is stored or loaded with a `Relaxed` access.
#[test]
fn an_end_against_a_look() {
    loom::model(|| {
        let (shared, done) = (shared(), Arc::new(AtomicUsize::new(0)));
        let actor = thread::spawn({
            let (shared, done) = (Arc::clone(&shared), Arc::clone(&done));
            move || {
                done.store(1, Ordering::Relaxed);
                shared.set_end(&ExitReason::Normal);
            }
        });
        let spawner = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.set_multi_cown_waiters()
        });
        if shared.end().is_some() {
            assert_eq!(done.load(Ordering::Relaxed), 1);
        }
        assert_eq!(shared.id().get(), 7);
        actor.join().unwrap();
        spawner.join().unwrap();
        assert!(shared.has_multi_cown_waiters() && shared.end().is_some());
    });
}

/// Something that ends with an actor is begun while the actor ends: one of the two sees the other.
///
/// Fails if either changes its bit with less than `AcqRel`.
#[test]
fn what_is_begun_against_an_end() {
    loom::model(|| {
        let (word, begun, ended) =
            (word(), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let actor = thread::spawn({
            let (word, begun, ended) = (Arc::clone(&word), Arc::clone(&begun), Arc::clone(&ended));
            move || {
                ended.store(1, Ordering::Relaxed);
                let sees = word.end(&ExitReason::Shutdown) == MeetingOrder::Second;
                assert!(!sees || begun.load(Ordering::Relaxed) == 1);
                sees
            }
        });
        begun.store(1, Ordering::Relaxed);
        let sees = word.begin() == MeetingOrder::Second;
        assert!(!sees || ended.load(Ordering::Relaxed) == 1);
        assert_eq!(
            usize::from(sees) + usize::from(actor.join().unwrap()),
            1,
            "exactly one sees the other"
        );
        assert!(matches!(word.ended(), Some(KnownReason::For(ExitReason::Shutdown))));
    });
}

/// A stop is pushed while the actor announces its end: one of the two sees the other, and the stop
/// is taken once.
///
/// Fails if either changes its bit with less than `AcqRel`, and if `take_stop` does not check what
/// it has changed.
#[test]
fn what_is_left_against_the_news_of_an_end() {
    loom::model(|| {
        let (word, left) = (word(), Arc::new(AtomicUsize::new(0)));
        let actor = thread::spawn({
            let (word, left) = (Arc::clone(&word), Arc::clone(&left));
            move || {
                let early = word.take_stop();
                let sees = word.set_announced() == MeetingOrder::Second;
                assert!(!sees || left.load(Ordering::Relaxed) == 1);
                (early, sees && word.take_stop())
            }
        });
        left.store(1, Ordering::Relaxed);
        let is_seen = word.push_stop() == MeetingOrder::First;
        let late = !is_seen && word.take_stop();
        let (early, at_the_end) = actor.join().unwrap();
        let taken = [early, at_the_end, late].into_iter().filter(|taken| *taken).count();
        assert_eq!(taken, 1, "it is answered once");
    });
}

/// The queue of an actor: its entries, in their order.
const SPAWNER: usize = 1;
const ASKER: usize = 2;

/// An ask that is queued behind a behaviour finds the bit for multi-cown waiters set, by that
/// behaviour or by a later one.
///
/// Fails if the bit is set after the behaviour is queued, or if the places are not taken with
/// `AcqRel`.
#[test]
fn an_ask_behind_a_behaviour() {
    loom::model(|| {
        let (shared, tail) = (shared(), Arc::new(AtomicUsize::new(0)));
        let another = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.set_multi_cown_waiters()
        });
        let spawner = thread::spawn({
            let (shared, tail) = (Arc::clone(&shared), Arc::clone(&tail));
            move || {
                shared.set_multi_cown_waiters();
                tail.swap(SPAWNER, Ordering::AcqRel);
            }
        });
        if tail.swap(ASKER, Ordering::AcqRel) == SPAWNER {
            assert!(shared.has_multi_cown_waiters());
        }
        another.join().unwrap();
        spawner.join().unwrap();
    });
}
