//! Monitors that end when they are dropped, for lists that remove actors that have ended.

use crate::any_addr::AnyAddr;
use crate::exit::ExitReason;
use crate::monitor::{Down, Monitor, MonitorId};
use crate::signal::{LinkChange, Signal};

/// Watches for an actor's end until dropped.
pub(crate) struct MonitorGuard {
    actor: AnyAddr,
    monitor: MonitorId,
}

impl MonitorGuard {
    pub(crate) fn new(actor: AnyAddr, monitor: MonitorId) -> Self {
        Self { actor, monitor }
    }
}

impl AnyAddr {
    /// Calls a closure with the actor's end, as the monitor with this identity. The closure is not
    /// user code.
    pub(crate) fn watch_down(
        self,
        monitor: MonitorId,
        tell: impl FnOnce(Down) + Send + 'static,
    ) -> MonitorGuard {
        let change = LinkChange::Monitor(Monitor { id: monitor, owner: Box::new(tell) });
        if let Err(Signal::Links(LinkChange::Monitor(monitor))) = self.signal(Signal::Links(change))
        {
            // The actor has no address any more.
            let reason = self.exit_reason().unwrap_or(ExitReason::NoActor);
            monitor.down(self.id(), &reason);
        }
        MonitorGuard { actor: self, monitor }
    }
}

impl Drop for MonitorGuard {
    fn drop(&mut self) {
        if self.actor.exit_reason().is_none() {
            // An actor that is gone has no monitors.
            let _ = self.actor.signal(Signal::Links(LinkChange::Demonitor(self.monitor)));
        }
    }
}
