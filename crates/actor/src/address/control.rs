//! Control of an actor by its addresses: stop, restart, suspend.

use coact_core::when;

use crate::exit::{ExitReason, Stopped};
use crate::parts::{Actor, Addr};
use crate::signal::Signal;

impl<A: Actor> Addr<A> {
    /// Stops the actor after its current message: messages that wait are dropped. A future that
    /// [holds](crate::Context::hold) the actor is dropped at its await.
    ///
    /// A child of a supervisor that is down, or that has not begun yet, has no state to end: the
    /// stop is ignored there. Wait for [`Supervisor::ready`](crate::supervise::Supervisor::ready)
    /// first, or use [`terminate_child`](crate::supervise::Supervisor::terminate_child).
    ///
    /// # Errors
    /// Fails if the actor has ended.
    #[doc(alias = "system message")]
    #[doc(alias = "signal")]
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
    #[doc(alias = "suspended")]
    #[doc(alias = "sys:suspend")]
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
}
