//! The lifecycle of an actor seen from its addresses: stopping it, and being notified of its end.

use std::any::type_name;

use coact_core::when;

use crate::exit::{ExitReason, Stopped};
use crate::monitor::{Down, Monitor, MonitorId, Notify, OnDownId};
use crate::monitor_guard::Watch;
use crate::signal::{LinkChange, Signal};
use crate::types::{Actor, Addr};

impl<A: Actor> Addr<A> {
    /// Stops the actor after its current message: messages that wait are dropped. A future that
    /// [holds](crate::Context::hold) the actor is dropped at its await.
    ///
    /// # Errors
    /// Fails if the actor has ended.
    pub fn stop(&self) -> Result<(), Stopped> {
        self.signal(Signal::Stop(ExitReason::Shutdown))
    }

    /// Stops the actor after all messages that were sent before.
    ///
    /// # Errors
    /// Fails if the actor has ended.
    pub fn drain(&self) -> Result<(), Stopped> {
        if self.has_ended() {
            return Err(Stopped);
        }
        self.begin_alone();
        when(self.cown().unchecked(), |cell| {
            cell.call(|_, context| context.stop_with(ExitReason::Shutdown));
        });
        self.end_alone();
        Ok(())
    }

    /// Drains like [`drain`](Self::drain), for one run of a supervised actor: not for later ones.
    pub(crate) fn drain_run(&self, run: u64) {
        when(self.cown().unchecked(), move |cell| cell.drain_run(run));
    }

    /// Ends the actor after its current message, without calling its [`stopped`](Actor::stopped).
    ///
    /// # Errors
    /// Fails if the actor has ended.
    pub fn kill(&self) -> Result<(), Stopped> {
        self.signal(Signal::Kill(ExitReason::Killed))
    }

    /// Replaces the actor's state by a new one, after its current message. The address stays, and
    /// so do the messages that wait. An actor that was not spawned as
    /// [restartable](crate::actor::Spawn::restartable) ends.
    ///
    /// # Errors
    /// Fails if the actor has ended.
    pub fn restart(&self) -> Result<(), Stopped> {
        self.signal(Signal::Restart(ExitReason::Shutdown))
    }

    /// Has messages and behaviours wait, from the end of the current one on, until the actor is
    /// [resumed](Self::resume). Signals are still processed.
    ///
    /// # Errors
    /// Fails if the actor has ended.
    pub fn suspend(&self) -> Result<(), Stopped> {
        self.signal(Signal::Suspend)
    }

    /// Undoes [`suspend`](Self::suspend): messages and behaviours run again.
    ///
    /// # Errors
    /// Fails if the actor has ended.
    pub fn resume(&self) -> Result<(), Stopped> {
        self.signal(Signal::Resume)
    }

    /// Calls a closure when the actor ends, whatever the reason; at once if it has ended, but not
    /// within this call. The closure runs on the actor's host, or, if that has ended, on the thread
    /// that drops it, and must not block. Closures that are added after the end may run in any
    /// order.
    pub fn on_down(&self, tell: impl FnOnce(Down) + Send + 'static) -> OnDownId {
        OnDownId(self.monitor(Box::new(tell)))
    }

    fn monitor(&self, owner: Box<dyn Notify>) -> MonitorId {
        let id = MonitorId::next();
        self.push_signal(Signal::Links(LinkChange::Monitor(Monitor { id, owner })));
        id
    }

    /// Undoes [`on_down`](Self::on_down): the closure is dropped, unless it is being called at this
    /// moment.
    pub fn cancel_on_down(&self, callback: OnDownId) {
        self.push_signal(Signal::Links(LinkChange::Demonitor(callback.0)));
    }

    /// Calls a closure at the actor's end, or at once if it has ended, unless the watch is dropped
    /// first.
    pub(crate) fn watch(&self, tell: impl FnOnce() + Send + 'static) -> Watch {
        Watch::new(self.to_any(), self.monitor(Box::new(move |_| tell())))
    }

    /// Returns a promise of the exit reason, completed when the actor ends. A dropped promise costs
    /// the actor nothing in the long run: each new monitor removes some of these.
    ///
    /// The address keeps the actor alive: `spawn(state).ended().wait()` keeps its own until the end
    /// of the statement, so it waits for an actor that ends itself, but not for one that would end
    /// with its last address.
    ///
    /// When the promise completes, all messages that were sent before the actor had ended, and that
    /// it has not handled, have been [counted](Self::dead_letters). (A call of `send` that the end
    /// overtakes may add one later.) This does not hold if behaviours over the actor were ever
    /// spawned, or if it is in a group: other cowns may hold up the messages then, which are
    /// counted when they arrive, and the end does not wait for them. The same applies to all
    /// notifications of ends: [`on_down`](Self::on_down), monitors and links.
    #[cfg_attr(feature = "sim", track_caller)]
    pub fn ended(&self) -> coact_core::Promise<ExitReason> {
        let (resolver, promise) = coact_core::Promise::channel();
        promise.owed_by(|f| write!(f, "the end of actor `{}`", type_name::<A>()));
        self.monitor(Box::new(resolver));
        promise
    }
}
