//! What happens when no message comes for some time.
//!
//! A message costs nothing for this: each turn with an actor adds one to a plain counter in its cell
//! (in what was padding), whether the actor uses it or not, and no clock is read. An actor that has
//! set a timeout is *looked at* [`LOOKS`] times in that period: a look that finds the counter changed
//! counts from the start, and the last of enough looks in a row that find it unchanged lets the
//! timeout come. So it comes after the full time at the earliest, and one look later at the latest.

use std::time::Duration;

use coact_core::{Timer, after};

use crate::caught::Caught;
use crate::{Actor, Context, Message, Receive, Reply, WeakAddr};

/// How often a period is looked at: the timeout is late by one part in so many at most.
const LOOKS: u32 = 4;

/// Looks are no closer than timers can tell apart.
const SHORTEST: Duration = Duration::from_millis(1);

/// No message has come for the time that was
/// [set](Context::set_receive_timeout).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveTimeout;

impl Message for ReceiveTimeout {
    type Reply = ();
}

/// The timeouts of an actor.
pub(crate) struct Quiet<A: Actor> {
    receive: Slot<A>,
    idle: Slot<A>,
}

impl<A: Actor> Default for Quiet<A> {
    fn default() -> Self {
        Self { receive: Slot::default(), idle: Slot::default() }
    }
}

#[derive(Clone, Copy)]
enum Which {
    Receive,
    Idle,
}

struct Slot<A: Actor> {
    /// Counts what was set and cleared here, to tell whether a look comes too late.
    version: u64,
    watch: Option<Watch<A>>,
}

impl<A: Actor> Default for Slot<A> {
    fn default() -> Self {
        Self { version: 0, watch: None }
    }
}

type Action<A> = Box<dyn FnMut(&mut A, &mut Context<A>) + Send>;

/// One timeout that is set.
struct Watch<A: Actor> {
    interval: Duration,
    /// So many looks in a row must find nothing.
    needed: u32,
    /// So many have.
    quiet: u32,
    /// The turns that the last look saw.
    seen: Option<u32>,
    then: Caught<Action<A>>,
    timer: Timer,
}

impl<A: Actor> Drop for Watch<A> {
    fn drop(&mut self) {
        self.timer.cancel();
    }
}

impl<A: Actor> Watch<A> {
    /// Returns whether the time is over.
    fn look(&mut self, turns: u32) -> bool {
        if self.seen.replace(turns) != Some(turns) {
            self.quiet = 0;
            return false;
        }
        self.quiet += 1;
        if self.quiet < self.needed {
            return false;
        }
        self.quiet = 0;
        true
    }
}

impl<A: Actor> Context<A> {
    /// Has this actor told, by the message [`ReceiveTimeout`], when nothing has come to it for so
    /// long; and again each time that it has been as long. It replaces what was set before, and lasts
    /// until it is [cleared](Self::clear_receive_timeout) or the actor's state is replaced or ends.
    ///
    /// What comes is a message, an answer, or a behaviour that holds the actor exclusively; a
    /// behaviour that only reads does not count, nor do timeouts themselves. Time in which a future
    /// [holds](Self::hold) the actor, or in which it is suspended, is not counted.
    ///
    /// The message comes after the full time, and up to a quarter of it later (and as exact as
    /// timers are). The timeout does not keep the actor alive. As long as it is set the runtime is
    /// not idle.
    ///
    /// **Cost.** Nothing for each message; four timers in each period.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Context, ExitReason, Handler, ReceiveTimeout, spawn};
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
    /// If the time is zero.
    #[track_caller]
    pub fn set_receive_timeout(&mut self, timeout: Duration)
    where
        A: Receive<ReceiveTimeout>,
    {
        let tell = |actor: &mut A, context: &mut Context<A>| {
            actor.receive(ReceiveTimeout, Reply::unwanted(), context);
        };
        self.watch(Which::Receive, timeout, Box::new(tell));
    }

    /// Undoes [`set_receive_timeout`](Self::set_receive_timeout).
    pub fn clear_receive_timeout(&mut self) {
        self.unwatch(Which::Receive);
    }

    /// Stops this actor, as [`stop`](Self::stop) does, when nothing has come to it for so long. As
    /// [`set_receive_timeout`](Self::set_receive_timeout), beside which it can be set.
    ///
    /// # Panics
    /// If the time is zero.
    #[track_caller]
    pub fn set_idle_timeout(&mut self, timeout: Duration) {
        self.watch(Which::Idle, timeout, Box::new(|_, context| context.stop()));
    }

    /// Undoes [`set_idle_timeout`](Self::set_idle_timeout).
    pub fn clear_idle_timeout(&mut self) {
        self.unwatch(Which::Idle);
    }

    #[track_caller]
    fn watch(&mut self, which: Which, timeout: Duration, then: Action<A>) {
        assert!(!timeout.is_zero(), "a timeout of zero would never stop coming");
        let interval = (timeout / LOOKS).max(SHORTEST);
        let needed = timeout.as_nanos().div_ceil(interval.as_nanos());
        // At most `LOOKS`, and one more for what the division left over.
        let needed = u32::try_from(needed).unwrap_or(LOOKS + 1);
        let version = self.unwatch(which);
        let timer = look_later(self.weak(), self.life(), which, version, interval);
        let then = Caught::new(then);
        let watch = Watch { interval, needed, quiet: 0, seen: None, then, timer };
        self.slot(which).watch = Some(watch);
    }

    /// Clears a timeout; returns the version that is to come.
    fn unwatch(&mut self, which: Which) -> u64 {
        let slot = self.slot(which);
        slot.version += 1;
        slot.watch = None;
        slot.version
    }

    fn slot(&mut self, which: Which) -> &mut Slot<A> {
        match which {
            Which::Receive => &mut self.quiet().receive,
            Which::Idle => &mut self.quiet().idle,
        }
    }

    /// Takes a timeout out, unless the look comes too late for it.
    fn take_watch(&mut self, which: Which, version: u64) -> Option<Watch<A>> {
        let slot = self.slot(which);
        if slot.version == version { slot.watch.take() } else { None }
    }
}

fn look_later<A: Actor>(
    actor: WeakAddr<A>,
    life: u32,
    which: Which,
    version: u64,
    interval: Duration,
) -> Timer {
    after(interval, (), move |()| {
        if let Some(actor) = actor.upgrade() {
            actor.look(move |actor, context, turns| {
                if context.life() == life {
                    look(actor, context, turns, which, version);
                }
            });
        }
    })
}

/// Looks at an actor that has its turn, and sets the timer for the next look.
fn look<A: Actor>(actor: &mut A, context: &mut Context<A>, turns: u32, which: Which, version: u64) {
    let Some(mut watch) = context.take_watch(which, version) else { return };
    if watch.look(turns) {
        (*watch.then)(actor, context);
    }
    watch.timer = look_later(context.weak(), context.life(), which, version, watch.interval);
    let slot = context.slot(which);
    // Unless it was set or cleared meanwhile.
    if slot.version == version {
        slot.watch = Some(watch);
    }
}
