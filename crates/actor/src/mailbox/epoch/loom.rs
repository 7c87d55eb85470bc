//! A model of epochs: no ticket that stands before a behaviour is of the epoch of what comes after it.

use std::sync::Arc;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::Epoch;

/// A ticket is made and queued while a behaviour is, and a message is sent after that. If the ticket stands
/// before the behaviour it must not call the message, so it is of an earlier epoch. One that sees the new epoch
/// stands behind the behaviour.
///
/// Fails if there is no step behind the behaviour, if the places are not taken with `AcqRel`, or if the steps are
/// `Relaxed`.
#[test]
fn a_ticket_against_a_behaviour() {
    loom::model(|| {
        let (epoch, tail) = (Arc::new(Epoch::new()), Arc::new(AtomicUsize::new(0)));
        let sender = thread::spawn({
            let (epoch, tail) = (Arc::clone(&epoch), Arc::clone(&tail));
            move || {
                let made = epoch.now();
                (made, tail.fetch_add(1, Ordering::AcqRel))
            }
        });
        epoch.step();
        let behaviour = tail.fetch_add(1, Ordering::AcqRel);
        epoch.step();
        let after = epoch.now();
        let (made, ticket) = sender.join().unwrap();
        if ticket < behaviour {
            assert!(made < after, "the ticket would call what was sent after the behaviour");
        }
        if made == after {
            assert!(
                ticket > behaviour,
                "the ticket is as late as what was sent after the behaviour"
            );
        }
    });
}
