//! What waits until the panic that unwinds the thread is caught: callbacks that receive its
//! message, for waiters on whatever the panic drops, and the name under which it is reported.
//!
//! While a panic unwinds a thread, its message is not accessible: only the code that catches it
//! gets that. So callbacks are stored per thread ([`once_caught`]) and called where the runtime
//! catches the panic ([`end`]). That may never happen, since the program itself may catch it. Then
//! a timer eventually calls them without the message.
//!
//! Only a panic pays for this: no other path looks at the callbacks.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use coact_sync::shim::process::Mutex;

use super::report::{NO_MESSAGE, PanicPayload, discard, message, report_in};
use crate::current::{self, find_extension, thread_extension};
use crate::fault::Fault;
use crate::runtime_ids::RuntimeId;
use crate::simulated;

/// A callback that receives the message; none if the body that has dropped it did not panic.
pub(crate) type PanicCallback = Box<dyn FnOnce(Option<Arc<str>>) + Send>;
/// Cancels a time limit.
pub(crate) type RevokeLimit = Box<dyn Fn()>;

/// Registers `tell`, to be called with the message of the panic that unwinds the calling thread;
/// see [`once_caught`](crate::internals::once_caught). For the first callback of a panic, calls
/// `limit`, which must arrange for its argument to be dropped after some time, and returns what
/// cancels that.
#[cold]
pub(crate) fn once_caught(
    tell: PanicCallback,
    limit: impl FnOnce(NotifyRestOnDrop) -> Option<RevokeLimit>,
) {
    if !thread::panicking() || !is_caught() {
        return tell(Some(NO_MESSAGE.into()));
    }
    if let Err(late) = thread_extension::<UnwindingPanics>().listeners(limit).add(tell) {
        late(Some(NO_MESSAGE.into()));
    }
}

/// Returns whether a runtime catches the panics of this thread.
fn is_caught() -> bool {
    current::is_inside() || current::serves() != RuntimeId::NONE || simulated::runs_body()
}

/// Runs foreign code other than a behaviour's body. A panic in it is reported and not propagated.
pub fn drop_quietly(foreign: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(foreign)) {
        end_quietly(payload);
    }
}

/// The same on paths that are rarely taken, and that each behaviour has: catching is compiled once
/// for all of them.
#[cold]
pub(crate) fn run_quietly(foreign: &mut dyn FnMut()) {
    drop_quietly(foreign);
}

/// Reports a panic outside of a body.
#[cold]
fn end_quietly(payload: PanicPayload) {
    let message = message(&*payload);
    let waiting = end(false);
    // A payload whose destructor panics in turn is not worth a second report.
    discard(payload);
    let fault = Fault::InCleanup { message: Arc::clone(&message) };
    // Reporting must not start a runtime.
    report_in(&fault, current::running());
    waiting.tell(&message);
}

/// Called when a panic has been caught: that of a body, or of other foreign code, which another
/// panic may have run. Returns the callbacks that are due.
pub(super) fn end(of_body: bool) -> CaughtPanic {
    let here = PanicSpot::here();
    let is_within = !of_body && thread::panicking();
    let is_over = |panic: &SeenPanic| {
        panic.at.bodies > here.bodies || !is_within && panic.at.bodies == here.bodies
    };
    let unwinding = find_extension::<UnwindingPanics>();
    CaughtPanic(here, unwinding.map(|unwinding| unwinding.take(is_over)).unwrap_or_default())
}

/// The callbacks for a caught panic, and where it was caught.
pub(super) struct CaughtPanic(PanicSpot, Vec<SeenPanic>);

impl CaughtPanic {
    pub(super) fn tell(self, message: &Arc<str>) {
        let Self(here, panics) = self;
        // If an earlier task has left callbacks, the program itself has caught that panic.
        for panic in panics.iter().filter(|panic| panic.at.task == here.task) {
            panic.listeners.tell((!panic.at.is_within(here)).then_some(message));
        }
    }
}

/// Gives a name to the part of a body whose panic unwinds the calling thread.
#[cold]
#[inline(never)]
pub(super) fn name_panic(name: &'static str) {
    thread_extension::<NamedPart>().0.set(Some((PanicSpot::here(), name)));
}

/// Returns the name of the part that a caught panic comes from, if it has got one.
pub(super) fn take_name() -> Option<&'static str> {
    let (at, name) = find_extension::<NamedPart>()?.0.take()?;
    // Otherwise it comes from a body that a destructor runs meanwhile.
    if at == PanicSpot::here() {
        return Some(name);
    }
    thread_extension::<NamedPart>().0.set(Some((at, name)));
    None
}

/// The name of the part that the panic of this thread comes from, and where that was.
#[derive(Default)]
struct NamedPart(Cell<Option<(PanicSpot, &'static str)>>);

/// The panics of a thread that have callbacks and, as far as is known, are not caught yet.
#[derive(Default)]
struct UnwindingPanics(RefCell<Vec<SeenPanic>>);

impl UnwindingPanics {
    /// Returns the callbacks of the panic that unwinds the thread now.
    fn listeners(
        &self,
        limit: impl FnOnce(NotifyRestOnDrop) -> Option<RevokeLimit>,
    ) -> Arc<PanicListeners> {
        let here = PanicSpot::here();
        let over = self.take(|panic| panic.at.bodies >= here.bodies && panic.at != here);
        for panic in over.iter().filter(|panic| panic.at.is_within(here)) {
            panic.listeners.tell(None);
        }
        drop(over);
        let known =
            self.0.borrow().last().filter(|panic| panic.at == here).map(SeenPanic::listeners);
        known.unwrap_or_else(|| {
            let panic = SeenPanic::new(here, limit);
            let listeners = panic.listeners();
            self.0.borrow_mut().push(panic);
            listeners
        })
    }

    /// Removes and returns the panics that are over; the caller may then run foreign code.
    fn take(&self, is_over: impl Fn(&SeenPanic) -> bool) -> Vec<SeenPanic> {
        let mut panics = self.0.borrow_mut();
        let (over, rest) = std::mem::take(&mut *panics).into_iter().partition(is_over);
        *panics = rest;
        over
    }
}

/// Where a panic was seen: the number of bodies on the stack, and the worker's task.
#[derive(Clone, Copy, PartialEq, Eq)]
struct PanicSpot {
    bodies: u32,
    task: u32,
}

impl PanicSpot {
    fn here() -> Self {
        let task = current::worker().map_or(0, |worker| worker.ticks());
        Self { bodies: current::nested_bodies(), task }
    }

    /// Whether this is in a body that was called inline from the other one, and has ended. If that
    /// body had panicked, it would have been caught there: what its destructors have seen is the
    /// panic around it.
    fn is_within(self, outer: Self) -> bool {
        self.task == outer.task && self.bodies > outer.bodies
    }
}

struct SeenPanic {
    at: PanicSpot,
    listeners: Arc<PanicListeners>,
    limit: Option<RevokeLimit>,
}

impl SeenPanic {
    fn new(at: PanicSpot, limit: impl FnOnce(NotifyRestOnDrop) -> Option<RevokeLimit>) -> Self {
        let listeners = Arc::<PanicListeners>::default();
        let over = NotifyRestOnDrop(Arc::clone(&listeners));
        Self { at, listeners, limit: limit(over) }
    }

    fn listeners(&self) -> Arc<PanicListeners> {
        Arc::clone(&self.listeners)
    }
}

impl Drop for SeenPanic {
    fn drop(&mut self) {
        self.listeners.tell(Some(&NO_MESSAGE.into()));
        if let Some(revoke) = &self.limit {
            revoke();
        }
    }
}

/// Calls the remaining callbacks without a message when dropped: the time is over, or there is no
/// timer.
pub(crate) struct NotifyRestOnDrop(Arc<PanicListeners>);

impl Drop for NotifyRestOnDrop {
    fn drop(&mut self) {
        self.0.tell(Some(&NO_MESSAGE.into()));
    }
}

/// The callbacks for one message; `None` once they have been called.
struct PanicListeners(Mutex<Option<Vec<PanicCallback>>>);

impl Default for PanicListeners {
    fn default() -> Self {
        Self(Mutex::new(Some(Vec::new())))
    }
}

impl PanicListeners {
    /// Adds a callback, or returns it if it is too late.
    fn add(&self, tell: PanicCallback) -> Result<(), PanicCallback> {
        match &mut *self.0.lock() {
            Some(tells) => tells.push(tell),
            None => return Err(tell),
        }
        Ok(())
    }

    fn tell(&self, message: Option<&Arc<str>>) {
        let tells = self.0.lock().take();
        for tell in tells.into_iter().flatten() {
            drop_quietly(|| tell(message.cloned()));
        }
    }
}
