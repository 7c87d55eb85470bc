//! Announcing an actor's end, and answering signals that arrive after it.

use std::sync::Arc;
use std::time::Duration;

use coact_core::internals::catch;
use coact_sync::shim::process::Mutex;

use super::erased_self::AnyStrong;
use crate::exit::ExitReason;
use crate::shared_state::SharedState;
use crate::signal::{LinkChange, Signal};
use crate::supervised_side::ChildEvent;

/// Runs a closure once, no later than when it is dropped.
struct RunByDrop(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl RunByDrop {
    /// Runs the closure now, unless it has run.
    fn now(&self) {
        let work = self.0.lock().take();
        if let Some(work) = work {
            let _ = catch(work);
        }
    }
}

impl Drop for RunByDrop {
    fn drop(&mut self) {
        self.now();
    }
}

/// Announces the end of an actor behind the messages that wait for it, so that they are counted by
/// then.
///
/// If other cowns may hold these up, it announces at once, because it must not wait for them: on
/// the caller's thread, or, with `by_host`, on the actor's host.
pub(super) fn announce_behind(
    address: &dyn AnyStrong,
    by_host: bool,
    tell: Box<dyn FnOnce() + Send>,
) {
    let (tell, shared) = (Arc::new(RunByDrop(Mutex::new(Some(tell)))), address.shared());
    let now = |tell: Arc<RunByDrop>| {
        if by_host {
            address.home().after(Duration::ZERO, (), move |()| tell.now());
        } else {
            tell.now();
        }
    };
    if shared.has_multi_cown_waiters() {
        return now(tell);
    }
    let behind = Arc::clone(&tell);
    address.defer(Box::new(move || behind.now()));
    // A behaviour sets the bit before it is queued: if one is ahead of the announcement, that is
    // seen now.
    if shared.has_multi_cown_waiters() {
        now(tell);
    }
}

/// Answers the signals of an actor that has ended; a monitor is answered behind the messages that
/// the actor has left.
///
/// The thread that pushed the signal calls this, because a behaviour that waits for others may hold
/// the actor.
#[cold]
pub(crate) fn refuse_late(address: &dyn AnyStrong) {
    let shared = address.shared();
    while let Some(signal) = shared.take_signal() {
        let _ = catch(|| refuse_behind(Some(address), shared, signal));
    }
}

/// Answers a signal that arrived after the end; a monitor is answered behind the messages that
/// wait. (An actor without addresses has no messages left.)
pub(super) fn refuse_behind(address: Option<&dyn AnyStrong>, shared: &SharedState, signal: Signal) {
    match (signal, address) {
        (Signal::Links(LinkChange::Monitor(monitor)), Some(address)) => {
            let (actor, reason) = (shared.id(), reason_of_end(shared));
            let by_host = monitor.owner.is_the_users();
            announce_behind(address, by_host, Box::new(move || monitor.down(actor, &reason)));
        }
        (other, _) => refuse(shared, other),
    }
}

/// Answers all signals of an actor that has ended.
pub(crate) fn refuse_all(shared: &SharedState) {
    while let Some(signal) = shared.take_signal() {
        let _ = catch(|| refuse(shared, signal));
    }
}

/// Answers a signal that arrived after the end.
fn refuse(shared: &SharedState, signal: Signal) {
    match signal {
        Signal::Links(LinkChange::Monitor(monitor)) => {
            let _ = catch(|| monitor.down(shared.id(), &reason_of_end(shared)));
        }
        Signal::Links(LinkChange::Link { other, .. }) => {
            let _ = other.signal(Signal::Exit { from: shared.id(), reason: reason_of_end(shared) });
        }
        // It ended with its runtime before its supervisor has started it, or has heard of that.
        Signal::Start { by, run } => drop(catch(|| by.report(shared.id(), run, ChildEvent::Ended))),
        _ => {}
    }
}

/// Returns why an actor has ended.
fn reason_of_end(shared: &SharedState) -> ExitReason {
    shared.end().cloned().unwrap_or(ExitReason::NoActor)
}
