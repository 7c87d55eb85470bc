//! How ends are told, and actors whose runtime ends.

use std::sync::Arc;
use std::time::Duration;

use coact_core::{Ending, catch};
use parking_lot::Mutex;

use super::erased::AnyStrong;
use super::manage::{Managed, Phase};
use super::{reason_of_end, refuse, refuse_all};
use crate::shared_state::SharedState;
use crate::signal::{LinkChange, Signal};
use crate::supervise::{StopRequest, SupervisorActor};
use crate::{ExitReason, WeakAddr};

/// Does something once, when it is dropped at the latest.
struct InAnyCase(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl InAnyCase {
    /// Does it now, unless it is done.
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

/// Has the end of an actor told behind the messages that it has left: so they are counted by then.
///
/// If other cowns may hold these up, it is told at once, since it must not wait for them: by the caller, or, if what tells
/// is the user's and the caller is not the actor's host, by that.
pub(super) fn tell_behind(address: &dyn AnyStrong, by_host: bool, tell: Box<dyn FnOnce() + Send>) {
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
    address.when_behind(Box::new(move || behind.now()));
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
            let by_host = monitor.tell.is_the_users();
            tell_behind(address, by_host, Box::new(move || monitor.down(actor, &reason)));
        }
        (other, _) => refuse(shared, other),
    }
}

impl dyn Managed + '_ {
    /// The runtime is about to end: so does the actor. A supervisor takes its children down first, and a
    /// child leaves that to its supervisor.
    #[cold]
    pub(super) fn end_with_runtime(&mut self, shared: &SharedState, ending: &Ending) {
        if !ending.is_forced() {
            let supervision = self.core().extras().and_then(|extras| extras.supervision.as_ref());
            if supervision.is_some_and(|supervision| supervision.has_supervisor_in(ending)) {
                return;
            }
            if let Some(supervisor) =
                self.address().typed().downcast_ref::<WeakAddr<SupervisorActor>>()
                && supervisor.send(StopRequest::with_runtime()).is_ok()
            {
                return;
            }
        }
        self.end_for_good(shared, ExitReason::Shutdown);
    }

    /// The runtime has ended before the actor: it ends without a farewell, and that is told.
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

    /// Applies the signals that decide who is told of the actor's end; drops the others.
    fn apply_link_changes(&mut self, shared: &SharedState) {
        while let Some(signal) = shared.take_signal() {
            match signal {
                Signal::Links(change) => self.change_links(shared, change),
                other => drop(catch(move || drop(other))),
            }
        }
    }
}
