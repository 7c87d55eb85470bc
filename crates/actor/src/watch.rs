//! Monitors that end when they are dropped, for lists that forget actors that have ended.

use crate::signal::{LinkChange, Signal};
use crate::{Actor, Addr, AnyAddr, Down, MonitorId};

/// Watches for an actor's end until dropped.
pub(crate) struct Watch {
    actor: AnyAddr,
    monitor: MonitorId,
}

impl<A: Actor> Addr<A> {
    /// Calls a closure at the actor's end, or at once if it has ended, unless the watch is dropped first.
    pub(crate) fn watch(&self, tell: impl FnOnce() + Send + 'static) -> Watch {
        self.watch_down(move |_| tell()).0
    }

    /// As [`watch`](Self::watch), for a closure that gets the [`Down`]; returns also the monitor's id.
    pub(crate) fn watch_down(
        &self,
        tell: impl FnOnce(Down) + Send + 'static,
    ) -> (Watch, MonitorId) {
        let monitor = self.on_down(tell);
        (Watch { actor: self.any(), monitor }, monitor)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if self.actor.exit_reason().is_none() {
            // One that is gone has no monitors.
            let _ = self.actor.signal(Signal::Links(LinkChange::Demonitor(self.monitor)));
        }
    }
}
