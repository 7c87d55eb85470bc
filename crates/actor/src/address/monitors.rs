//! How an actor's end is observed by its addresses: callbacks and promises.

use std::any::type_name;

use coact_core::Promise;
use coact_core::internals::owed_by;

use crate::exit::ExitReason;
use crate::monitor::{Down, Monitor, MonitorId, MonitorOwner, OnDownId};
use crate::monitor_guard::MonitorGuard;
use crate::parts::{Actor, Addr};
use crate::signal::{LinkChange, Signal};

impl<A: Actor> Addr<A> {
    /// Calls a closure when the actor ends, whatever the reason; at once if it has ended, but not
    /// within this call. The closure runs on the actor's host, or, if that has ended, on the thread
    /// that drops it, and must not block. Closures that are added after the end may run in any
    /// order.
    pub fn on_down(&self, tell: impl FnOnce(Down) + Send + 'static) -> OnDownId {
        OnDownId(self.monitor(Box::new(tell)))
    }

    fn monitor(&self, owner: Box<dyn MonitorOwner>) -> MonitorId {
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
    pub(crate) fn watch(&self, tell: impl FnOnce() + Send + 'static) -> MonitorGuard {
        MonitorGuard::new(self.to_any(), self.monitor(Box::new(move |_| tell())))
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
    pub fn ended(&self) -> Promise<ExitReason> {
        let (resolver, promise) = Promise::channel();
        owed_by(&promise, |f| write!(f, "the end of actor `{}`", type_name::<A>()));
        self.monitor(Box::new(resolver));
        promise
    }
}
