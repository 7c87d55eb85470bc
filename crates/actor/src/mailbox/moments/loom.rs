//! Models of what a moment says about a queue. An atomic word stands for the queue: adding to it
//! takes the next place.

use std::sync::Arc;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::Moments;

/// Takes a place in a queue, as an append does.
fn append(tail: &AtomicUsize) -> usize {
    // ORDERING: AcqRel, as in the queue of a cown.
    tail.fetch_add(1, Ordering::AcqRel)
}

/// A ticket is made and queued, and its message arrives, while a behaviour is queued.
///
/// If it is before the behaviour it does not cover it. If the message has arrived without seeing
/// the behaviour, the ticket is before it.
///
/// Fails if nothing is counted after the behaviour is queued, or nothing before, or if the places
/// are not taken with `AcqRel`. (That the count after it needs `Release` is shown by no model: here
/// no read-modify-write passes another one.)
#[test]
fn a_ticket_against_a_behaviour() {
    loom::model(|| {
        let (moments, tail) = (Arc::new(Moments::default()), Arc::new(AtomicUsize::new(0)));
        let sender = thread::spawn({
            let (moments, tail) = (Arc::clone(&moments), Arc::clone(&tail));
            move || {
                let made = moments.now();
                let place = append(&tail);
                (made, place, moments.now())
            }
        });
        moments.begin();
        let behaviour = append(&tail);
        moments.end();
        let (made, ticket, arrived) = sender.join().unwrap();
        if made.is_quiet && made.begun > 0 {
            assert!(ticket > behaviour, "the ticket would call what was sent after the behaviour");
        }
        if arrived.begun == 0 {
            assert!(
                ticket < behaviour,
                "the message would come before what is before the behaviour"
            );
        }
    });
}

/// Whatever is behind a behaviour in another queue knows that it has begun.
///
/// Fails if nothing is counted before the behaviour is queued, or if the places are not taken with
/// `AcqRel`.
#[test]
fn what_stands_behind_a_behaviour_elsewhere_has_seen_it() {
    loom::model(|| {
        let (moments, elsewhere) = (Arc::new(Moments::default()), Arc::new(AtomicUsize::new(0)));
        let observer = thread::spawn({
            let (moments, elsewhere) = (Arc::clone(&moments), Arc::clone(&elsewhere));
            move || (append(&elsewhere), moments.now().begun)
        });
        moments.begin();
        let behaviour = append(&elsewhere);
        moments.end();
        let (place, begun) = observer.join().unwrap();
        assert!(place < behaviour || begun == 1);
    });
}

/// A quiet moment is one at which all that had begun are queued, and not an equal number of others.
///
/// Fails if the number of those that have begun is read first.
#[test]
fn a_ticket_against_two_behaviours() {
    loom::model(|| {
        let (moments, tail) = (Arc::new(Moments::default()), Arc::new(AtomicUsize::new(0)));
        let queue = |moments: &Moments, tail: &AtomicUsize| {
            // Like `begin`; returns the number of the behaviour.
            let number = moments.begun.fetch_add(1, Ordering::Relaxed);
            let place = append(tail);
            moments.end();
            (number, place)
        };
        let others = [(); 2].map(|()| {
            let (moments, tail) = (Arc::clone(&moments), Arc::clone(&tail));
            thread::spawn(move || queue(&moments, &tail))
        });
        let (made, ticket) = (moments.now(), append(&tail));
        for (number, place) in others.map(|other| other.join().unwrap()) {
            assert!(!made.is_quiet || number >= made.begun || place < ticket);
        }
    });
}
