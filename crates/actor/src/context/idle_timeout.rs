//! Idle timeouts: what happens when no message comes for some time.
//!
//! They cost a message nothing: each turn with an actor increments a plain counter in its cell (in
//! what was padding), used or not, and no clock is read. A timeout *checks* the counter [`CHECKS`]
//! times per period. A check that finds it changed starts over; after enough checks in a row that
//! find it unchanged the timeout fires. So it fires after the full time at the earliest, one check
//! later at the latest.

use std::time::Duration;

use coact_core::internals::CatchDrop;
use coact_core::time::{Timer, after};

use crate::handler::Receive;
use crate::message::Message;
use crate::parts::{Actor, Context, TimeoutAction, WeakAddr};
use crate::reply::Reply;
use crate::timeout_slots::{ArmedTimeout, TimeoutKind, TimeoutSlot};

/// Checks per period: the timeout is late by at most this fraction of it.
const CHECKS: u32 = 4;

/// The shortest interval between checks that timers can tell apart.
const SHORTEST: Duration = Duration::from_millis(1);

/// No message has come for the time that was
/// [set](Context::set_receive_timeout).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveTimeout;

impl Message for ReceiveTimeout {
    type Reply = ();
}

impl<A: Actor> Context<A> {
    /// Sends this actor a [`ReceiveTimeout`] after `timeout` without a message, and again after
    /// each further `timeout`. It replaces an earlier one, and lasts until it is
    /// [cleared](Self::clear_receive_timeout) or the actor restarts or ends.
    ///
    /// Messages, answers, and behaviours that hold the actor exclusively count; behaviours that
    /// only read do not, nor do timeouts themselves. Time in which a future [holds](Self::hold) the
    /// actor, or in which it is suspended, is not counted.
    ///
    /// The message arrives after the full time, and up to a quarter of it later (subject to the
    /// precision of timers). The timeout does not keep the actor alive. While it is set the runtime
    /// is not idle.
    ///
    /// **Cost.** Nothing per message; four timers per period.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Context, Handler, spawn};
    /// use coact::actor::{ExitReason, ReceiveTimeout};
    /// use std::time::Duration;
    ///
    /// struct Session;
    /// impl Actor for Session {
    ///     fn started(&mut self, context: &mut Context<Self>) {
    ///         context.set_receive_timeout(Duration::from_millis(20));
    ///     }
    /// }
    /// impl Handler<ReceiveTimeout> for Session {
    ///     fn handle(&mut self, _: ReceiveTimeout, context: &mut Context<Self>) {
    ///         context.stop_with(ExitReason::Failed("nobody says anything".into()));
    ///     }
    /// }
    ///
    /// let session = spawn(Session);
    /// let reason = session.ended().wait().unwrap();
    /// assert_eq!(reason, ExitReason::Failed("nobody says anything".into()));
    /// ```
    ///
    /// # Panics
    /// Panics if the time is zero.
    #[track_caller]
    pub fn set_receive_timeout(&mut self, timeout: Duration)
    where
        A: Receive<ReceiveTimeout>,
    {
        let tell = |actor: &mut A, context: &mut Context<A>| {
            actor.receive(ReceiveTimeout, Reply::unwanted(), context);
        };
        self.set_timeout(TimeoutKind::Receive, timeout, Box::new(tell));
    }

    /// Undoes [`set_receive_timeout`](Self::set_receive_timeout).
    pub fn clear_receive_timeout(&mut self) {
        self.clear_timeout(TimeoutKind::Receive);
    }

    /// [Stops](Self::stop) this actor after `timeout` without a message, as measured by
    /// [`set_receive_timeout`](Self::set_receive_timeout). Both can be set at once.
    ///
    /// # Panics
    /// Panics if the time is zero.
    #[track_caller]
    pub fn set_idle_timeout(&mut self, timeout: Duration) {
        self.set_timeout(TimeoutKind::Idle, timeout, Box::new(|_, context| context.stop()));
    }

    /// Undoes [`set_idle_timeout`](Self::set_idle_timeout).
    pub fn clear_idle_timeout(&mut self) {
        self.clear_timeout(TimeoutKind::Idle);
    }

    #[track_caller]
    fn set_timeout(&mut self, which: TimeoutKind, timeout: Duration, then: TimeoutAction<A>) {
        assert!(!timeout.is_zero(), "a timeout of zero would never stop firing");
        let interval = (timeout / CHECKS).max(SHORTEST);
        let needed = timeout.as_nanos().div_ceil(interval.as_nanos());
        // At most `CHECKS`, and one more for the remainder.
        let needed = u32::try_from(needed).unwrap_or(CHECKS + 1);
        let version = self.clear_timeout(which);
        let timer = check_later(self.weak(), self.incarnation(), which, version, interval);
        let then = CatchDrop::new(then);
        let timeout = ArmedTimeout { interval, needed, idle_checks: 0, seen: None, then, timer };
        self.timeout_slot(which).timeout = Some(timeout);
    }

    /// Clears a timeout; returns the version of the next one.
    fn clear_timeout(&mut self, which: TimeoutKind) -> u64 {
        let slot = self.timeout_slot(which);
        slot.version += 1;
        slot.timeout = None;
        slot.version
    }

    fn timeout_slot(&mut self, which: TimeoutKind) -> &mut TimeoutSlot<TimeoutAction<A>> {
        match which {
            TimeoutKind::Receive => &mut self.timeouts().receive,
            TimeoutKind::Idle => &mut self.timeouts().idle,
        }
    }

    /// Takes a timeout out, unless it was set or cleared since `version`.
    fn take_timeout(
        &mut self,
        which: TimeoutKind,
        version: u64,
    ) -> Option<ArmedTimeout<TimeoutAction<A>>> {
        let slot = self.timeout_slot(which);
        if slot.version == version { slot.timeout.take() } else { None }
    }
}

fn check_later<A: Actor>(
    actor: WeakAddr<A>,
    incarnation: u32,
    which: TimeoutKind,
    version: u64,
    interval: Duration,
) -> Timer {
    after(interval, (), move |()| {
        if let Some(actor) = actor.upgrade() {
            actor.inspect(move |actor, context, turns| {
                if context.incarnation() == incarnation {
                    check(actor, context, turns, which, version);
                }
            });
        }
    })
}

/// Checks an actor that has its turn, and sets the timer for the next check.
fn check<A: Actor>(
    actor: &mut A,
    context: &mut Context<A>,
    turns: u32,
    which: TimeoutKind,
    version: u64,
) {
    let Some(mut timeout) = context.take_timeout(which, version) else { return };
    if timeout.check(turns) {
        (*timeout.then)(actor, context);
    }
    timeout.timer =
        check_later(context.weak(), context.incarnation(), which, version, timeout.interval);
    let slot = context.timeout_slot(which);
    // Unless it was set or cleared meanwhile.
    if slot.version == version {
        slot.timeout = Some(timeout);
    }
}
