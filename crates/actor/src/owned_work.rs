//! What an actor, or one state of it, has started elsewhere and what ends with it: timers,
//! monitors, attached futures.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Waker};

use coact_core::internals::drop_quietly;
use coact_core::runtime::RuntimeHandle;
use coact_core::time::Timer;
use coact_sync::shim::process::Mutex;

use crate::monitor::MonitorId;
use crate::monitor_guard::MonitorGuard;

/// Operations that end no later than when [`end`](Self::end) is called.
#[derive(Default)]
pub(crate) struct OwnedWork(Mutex<OwnedWorkState>);

#[derive(Default)]
struct OwnedWorkState {
    ended: bool,
    /// Those of one kind in the order in which they were started.
    things: BTreeMap<WorkKey, OwnedOperation>,
    begun: u64,
}

/// The key of an operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum WorkKey {
    Number(u64),
    Monitor(MonitorId),
}

/// An operation that was started, and how to end it.
enum OwnedOperation {
    /// Registered, and still being created.
    Pending,
    Timer(Timer),
    /// A monitor of another actor; dropping the watch ends it.
    Monitor {
        _watch: MonitorGuard,
    },
    /// A future drops itself when it is woken.
    Future(Option<Waker>),
}

impl OwnedOperation {
    fn end(self) {
        match self {
            OwnedOperation::Timer(timer) => _ = timer.cancel(),
            // The waker may run user code, and so may dropping it.
            OwnedOperation::Future(Some(waker)) => drop_quietly(|| waker.wake()),
            OwnedOperation::Pending
            | OwnedOperation::Monitor { .. }
            | OwnedOperation::Future(None) => {}
        }
    }
}

impl OwnedWork {
    /// Registers an operation. Returns `None` if everything has ended already.
    fn begin(
        self: &Arc<Self>,
        monitor: Option<MonitorId>,
        thing: OwnedOperation,
    ) -> Option<WorkRegistration> {
        let mut state = self.0.lock();
        if state.ended {
            return None;
        }
        state.begun += 1;
        let key = monitor.map_or(WorkKey::Number(state.begun), WorkKey::Monitor);
        state.things.insert(key, thing);
        drop(state);
        Some(WorkRegistration { of: Arc::clone(self), key })
    }

    /// Stores what was created, or ends it at once if its registration is gone.
    fn fill(&self, key: WorkKey, thing: OwnedOperation) {
        let mut state = self.0.lock();
        let before = match state.things.get_mut(&key) {
            Some(registration) => std::mem::replace(registration, thing),
            None => thing,
        };
        drop(state);
        before.end();
    }

    /// Sets a timer, which is cancelled at the end, or at once if that is past. `set` receives the
    /// registration that the timer must own, so that the timer is removed when it has fired or was
    /// cancelled.
    pub(crate) fn timer(
        self: &Arc<Self>,
        set: impl FnOnce(Option<WorkRegistration>) -> Timer,
    ) -> Timer {
        let registration = self.begin(None, OwnedOperation::Pending);
        let key = registration.as_ref().map(|registration| registration.key);
        let timer = set(registration);
        match key {
            Some(key) => self.fill(key, OwnedOperation::Timer(timer.clone())),
            None => _ = timer.cancel(),
        }
        timer
    }

    /// Monitors another actor. `monitor` receives the registration that the monitor must own.
    pub(crate) fn monitor(
        self: &Arc<Self>,
        id: MonitorId,
        monitor: impl FnOnce(Option<WorkRegistration>) -> MonitorGuard,
    ) {
        let registration = self.begin(Some(id), OwnedOperation::Pending);
        let key = registration.as_ref().map(|registration| registration.key);
        let watch = monitor(registration);
        match key {
            Some(key) => self.fill(key, OwnedOperation::Monitor { _watch: watch }),
            None => drop(watch),
        }
    }

    /// Ends a monitor, if it is registered here.
    pub(crate) fn demonitor(&self, id: MonitorId) {
        let monitor = self.0.lock().things.remove(&WorkKey::Monitor(id));
        drop(monitor);
    }

    /// Wraps a future, which ends without an output when everything does.
    pub(crate) fn future<F: Future>(self: &Arc<Self>, future: F) -> AttachedFuture<F> {
        let registration = self.begin(None, OwnedOperation::Future(None));
        AttachedFuture { future: registration.is_some().then(|| Box::pin(future)), registration }
    }

    /// Ends everything that was started, and whatever is started from now on.
    pub(crate) fn end(&self) {
        let things = {
            let mut state = self.0.lock();
            state.ended = true;
            std::mem::take(&mut state.things)
        };
        things.into_values().for_each(OwnedOperation::end);
    }
}

/// The [`OwnedWork`] of one state of an actor, which ends when this is dropped.
#[derive(Default)]
pub(crate) struct StateWork(Option<Arc<OwnedWork>>);

impl StateWork {
    pub(crate) fn get(&mut self) -> &Arc<OwnedWork> {
        self.0.get_or_insert_default()
    }
}

impl Drop for StateWork {
    fn drop(&mut self) {
        if let Some(begun) = &self.0 {
            begun.end();
        }
    }
}

/// The registration of an operation; dropping it removes the operation.
pub(crate) struct WorkRegistration {
    of: Arc<OwnedWork>,
    key: WorkKey,
}

impl Drop for WorkRegistration {
    fn drop(&mut self) {
        let mut state = self.of.0.lock();
        let thing = state.things.remove(&self.key);
        drop(state);
        // The operation has ended on its own: a timer has fired, or a monitor has notified.
        drop(thing);
    }
}

/// Reports that a future of an actor was dropped before its end: the report of a runtime that is
/// ending counts it.
pub(crate) fn report_dropped_future() {
    let home = RuntimeHandle::current();
    if home.is_ending() || home.is_cancelled() {
        home.count_abandoned();
    }
}

/// A future that belongs to a state of an actor.
pub(crate) struct AttachedFuture<F> {
    /// `None` once it has ended.
    future: Option<Pin<Box<F>>>,
    registration: Option<WorkRegistration>,
}

impl<F> AttachedFuture<F> {
    /// Registers the waker to be woken at the end. Returns whether that is past.
    fn register(&self, waker: &Waker) -> bool {
        let Some(registration) = &self.registration else { return true };
        let mut state = registration.of.0.lock();
        if state.ended {
            return true;
        }
        let before = match state.things.get_mut(&registration.key) {
            Some(OwnedOperation::Future(known))
                if known.as_ref().is_none_or(|known| !known.will_wake(waker)) =>
            {
                known.replace(waker.clone())
            }
            _ => None,
        };
        drop(state);
        drop(before);
        false
    }
}

impl<F: Future> Future for AttachedFuture<F> {
    type Output = Option<F::Output>;

    fn poll(mut self: Pin<&mut Self>, context: &mut TaskContext<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let has_ended = this.register(context.waker());
        let Some(future) = this.future.as_mut().filter(|_| !has_ended) else {
            if let Some(future) = this.future.take() {
                report_dropped_future();
                drop(future);
            }
            return Poll::Ready(None);
        };
        future.as_mut().poll(context).map(|output| {
            this.future = None;
            Some(output)
        })
    }
}
