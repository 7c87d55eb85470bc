//! How an actor's end is announced, and actors whose runtime ends.

use std::sync::Arc;
use std::time::Duration;

use coact_core::internals::{Ending, catch};
use parking_lot::Mutex;

use super::erased::AnyStrong;
use super::manage::{Managed, Phase};
use super::{reason_of_end, refuse, refuse_all};
use crate::exit::ExitReason;
use crate::shared_state::SharedState;
use crate::signal::{LinkChange, Signal};

/// Runs a closure once, at the latest when it is dropped.
struct InAnyCase(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl InAnyCase {
    /// Runs the closure now, unless it has run.
    fn now(&self) {
        let work = self.0.lock().take();
        if let Some(work) = work {
            let _ = catch(work);
        }
    }
}

impl Drop for InAnyCase {
    fn drop(&mut self) {
        self.now();
    }
}

/// Announces the end of an actor behind the messages that wait for it, so that they are counted by then.
///
/// If other cowns may hold these up, it announces at once, since it must not wait for them: on the caller's thread, or,
/// with `by_host`, on the actor's host.
pub(super) fn announce_behind(
    address: &dyn AnyStrong,
    by_host: bool,
    tell: Box<dyn FnOnce() + Send>,
) {
    let (tell, shared) = (Arc::new(InAnyCase(Mutex::new(Some(tell)))), address.shared());
    let now = |tell: Arc<InAnyCase>| {
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
    // A behaviour sets the bit before it is queued: if one is ahead of ours, that is seen now.
    if shared.has_multi_cown_waiters() {
        now(tell);
    }
}

/// Answers the signals of an actor that has ended; a monitor is answered behind the messages that the actor has left.
///
/// The thread that pushed the signal calls this, since a behaviour that waits for others may hold the actor.
#[cold]
pub(crate) fn refuse_late(address: &dyn AnyStrong) {
    let shared = address.shared();
    while let Some(signal) = shared.take_signal() {
        let _ = catch(|| refuse_behind(Some(address), shared, signal));
    }
}

/// Answers a signal that came after the end; a monitor is answered behind the messages that wait. (An actor
/// without addresses has no messages left.)
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

impl dyn Managed + '_ {
    /// The runtime is about to end: so does the actor. One that has something to do first (a supervisor takes its children
    /// down) ends by itself, and a child waits for its supervisor.
    #[cold]
    pub(super) fn end_with_runtime(&mut self, shared: &SharedState, ending: &Ending) {
        if !ending.is_forced() {
            let supervision = self.core().extras().and_then(|extras| extras.supervision.as_ref());
            if supervision.is_some_and(|supervision| supervision.has_supervisor_in(ending)) {
                return;
            }
            if self.ends_by_itself() {
                return;
            }
        }
        self.end_for_good(shared, ExitReason::Shutdown);
    }

    /// The runtime has ended before the actor: ends it without calling `stopped`, and announces that.
    #[cold]
    pub(super) fn cut_off(&mut self, shared: &SharedState) {
        if self.core().phase != Phase::Ended {
            self.apply_link_changes(shared);
            self.end_hold_for(&ExitReason::Killed);
            self.core().phase = Phase::Ended;
            let supervision = self.core().leave_supervisor();
            self.finish(shared, ExitReason::Killed);
            if let Some(supervision) = supervision {
                let _ = catch(|| supervision.end(shared.id()));
            }
        }
        refuse_all(shared);
    }

    /// Applies link changes, which decide who hears of the actor's end; drops the other signals.
    fn apply_link_changes(&mut self, shared: &SharedState) {
        while let Some(signal) = shared.take_signal() {
            match signal {
                Signal::Links(change) => self.change_links(shared, change),
                other => drop(catch(move || drop(other))),
            }
        }
    }
}
