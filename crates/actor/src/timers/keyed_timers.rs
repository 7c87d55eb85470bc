//! Timers that are known by a key.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use coact_core::internals::{CatchDrop, repeat};
use coact_core::runtime::RuntimeHandle;
use coact_core::when;

use super::check;
use crate::handler::MessageTo;
use crate::parts::{Actor, Context};
use crate::reply::Reply;
use crate::timer_table::TimerKey;

impl<A: Actor> Context<A> {
    /// Returns the timers of this actor that are known by a key.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Context, Handler, Message, spawn};
    /// use std::time::Duration;
    ///
    /// /// Writes what it has once no more has come for a while, and after a minute at the latest.
    /// #[derive(Default)]
    /// struct Writer { waiting: Vec<u32>, written: Vec<u32> }
    /// impl Actor for Writer {}
    ///
    /// #[derive(PartialEq, Eq, Hash)]
    /// enum Timer { Quiet, Latest }
    ///
    /// struct Add(u32);
    /// impl Message for Add { type Reply = (); }
    /// impl Handler<Add> for Writer {
    ///     fn handle(&mut self, Add(n): Add, context: &mut Context<Self>) {
    ///         self.waiting.push(n);
    ///         let mut timers = context.timers();
    ///         timers.send_later(Timer::Quiet, Duration::from_millis(10), Flush); // replaces it
    ///         if !timers.is_active(Timer::Latest) {
    ///             timers.send_later(Timer::Latest, Duration::from_secs(60), Flush);
    ///         }
    ///     }
    /// }
    ///
    /// struct Flush;
    /// impl Message for Flush { type Reply = (); }
    /// impl Handler<Flush> for Writer {
    ///     fn handle(&mut self, _: Flush, context: &mut Context<Self>) {
    ///         context.timers().cancel_all();
    ///         self.written.append(&mut self.waiting);
    ///         # context.stop();
    ///     }
    /// }
    ///
    /// let writer = spawn(Writer::default());
    /// writer.send(Add(1))?;
    /// writer.send(Add(2))?;
    /// # writer.ended().wait()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "TimerScheduler")]
    #[doc(alias = "withTimers")]
    pub fn timers(&mut self) -> KeyedTimers<'_, A> {
        KeyedTimers { context: self }
    }
}

/// The timers of an actor that are known by a key: see [`Context::timers`].
///
/// An actor has one timer per key: setting one again replaces it. In contrast to a
/// [`Timer`](coact_core::time::Timer), which may have fired when it is cancelled, **no tick is
/// handled after its timer was cancelled or replaced, or in another state of the actor**: one that
/// waits in the mailbox is dropped when its turn comes. It is no dead letter.
///
/// A tick takes its place in the order of messages when the timer fires. No bound of the mailbox
/// refuses or drops it, and no lane reorders it. Of each timer one tick waits at most: a periodic
/// timer omits those that would be sent meanwhile, so a slow, held or suspended actor finds one.
///
/// A [key](TimerKey) is of any type that can be compared and hashed: a `&'static str`, an `enum`,
/// the identity of a session. Keys of different types are different, also if they are numbers: a
/// timer that is set with the key `1_u64` is not cancelled with `1_u32`.
///
/// The timers do not keep the actor alive, and end with the state that has set them, also at a
/// restart. They belong to the runtime in which they were set, which is not idle while one is
/// active. A tick that a handler has [stashed](Context::stash) is a message like any other.
///
/// **Cost.** That of a timer, and a lookup and two blocks per timer that is set. A tick costs a
/// message.
pub struct KeyedTimers<'c, A: Actor> {
    context: &'c mut Context<A>,
}

impl<A: Actor> KeyedTimers<'_, A> {
    /// Sends the actor a message after a delay, in place of an earlier timer with this key.
    ///
    /// The timer is active until the turn of its message comes: the message's handler can set it
    /// again.
    #[doc(alias = "startSingleTimer")]
    pub fn send_later<K, M>(&mut self, key: K, delay: Duration, message: M)
    where
        K: TimerKey,
        M: MessageTo<A>,
    {
        let (home, to) = (RuntimeHandle::current(), self.context.weak());
        self.context.timers_mut().set(key, |source| {
            let message = CatchDrop::new(message);
            home.after(delay, (), move |()| {
                let (Some(tick), Some(to)) = (source.tick(), to.upgrade()) else { return };
                let take = |context: &mut Context<A>| {
                    let is_set = tick.come_last(context.timers_mut());
                    is_set.then(|| message.into_inner())
                };
                to.deliver_tick(take, Reply::unwanted());
            })
        });
    }

    /// Sends the actor a message once per period, in place of an earlier timer with this key, until
    /// it is cancelled. Ticks keep their rate: a late one does not delay the next.
    ///
    /// The closure is called in the actor's turn. If it panics, the actor fails.
    ///
    /// # Panics
    /// Panics if the period is zero.
    #[doc(alias = "startTimerAtFixedRate")]
    #[track_caller]
    pub fn send_every<K, M, F>(&mut self, key: K, period: Duration, message: F)
    where
        K: TimerKey,
        M: MessageTo<A>,
        F: Fn() -> M + Send + Sync + 'static,
    {
        check("period", period);
        let (home, to) = (RuntimeHandle::current(), self.context.weak());
        let message = Arc::new(CatchDrop::new(message));
        self.context.timers_mut().set(key, |source| {
            home.every(period, (), move |()| {
                let (Some(tick), Some(to)) = (source.tick(), to.upgrade()) else { return };
                let message = Arc::clone(&message);
                to.deliver_tick(move |_| tick.come().then(|| message()), Reply::unwanted());
            })
        });
    }

    /// Sends the actor a message after a delay, and again each time this delay has passed since the
    /// previous message was answered: at the end of the handler, or at the end of its future if the
    /// handler [holds](Context::hold) the actor. Otherwise like [`send_every`](Self::send_every).
    ///
    /// # Panics
    /// Panics if the delay is zero.
    #[doc(alias = "startTimerWithFixedDelay")]
    #[track_caller]
    pub fn send_every_with_fixed_delay<K, M, F>(&mut self, key: K, delay: Duration, message: F)
    where
        K: TimerKey,
        M: MessageTo<A>,
        F: Fn() -> M + Send + Sync + 'static,
    {
        check("delay", delay);
        let (home, to) = (RuntimeHandle::current(), self.context.weak());
        let message = Arc::new(CatchDrop::new(message));
        self.context.timers_mut().set(key, |source| {
            repeat(home, delay, move |run| {
                let (source, to, message) = (source.clone(), to.clone(), Arc::clone(&message));
                when((), move |()| {
                    let (Some(tick), Some(to)) = (source.tick(), to.upgrade()) else { return };
                    let (reply, answered) = Reply::channel();
                    to.deliver_tick(move |_| tick.come().then(|| message()), reply);
                    // A tick that is void counts as answered; the timer has ended then.
                    drop(answered.then((), move |(), _| drop(run)));
                });
            })
        });
    }

    /// Ends the timer with this key: no message of it is handled from now on. Returns whether it
    /// was [active](Self::is_active).
    pub fn cancel(&mut self, key: impl TimerKey) -> bool {
        self.context.find_timers().is_some_and(|timers| timers.cancel(key))
    }

    /// Ends all timers that are known by a key.
    pub fn cancel_all(&mut self) {
        if let Some(timers) = self.context.find_timers() {
            timers.cancel_all();
        }
    }

    /// Returns whether there is a timer with this key: one that repeats until it is cancelled, any
    /// other until the turn of its message has come.
    #[doc(alias = "isTimerActive")]
    pub fn is_active(&mut self, key: impl TimerKey) -> bool {
        self.context.find_timers().is_some_and(|timers| timers.has(key))
    }
}

impl<A: Actor> fmt::Debug for KeyedTimers<'_, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyedTimers").field("actor", &self.context.id()).finish_non_exhaustive()
    }
}
