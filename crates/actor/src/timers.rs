//! Messages after a delay, and periodic messages.

mod keyed_timers;

use std::sync::Arc;
use std::time::Duration;

use coact_core::internals::repeat;
use coact_core::runtime::RuntimeHandle;
use coact_core::time::Timer;
use coact_core::when;

use crate::handler::MessageTo;
use crate::owned_work::OwnedWork;
use crate::parts::{Actor, Addr, Context, WeakAddr};
use crate::reply::Reply;

pub use keyed_timers::KeyedTimers;

impl<A: Actor> Addr<A> {
    /// Sends the actor a message after a delay. The timer does not keep the actor alive, and ends
    /// with it; it belongs to the runtime in which the actor is now. A restart does not affect it.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Context, Handler, Message, spawn, this_thread};
    /// use std::time::Duration;
    ///
    /// struct Echo;
    /// impl Actor for Echo {}
    ///
    /// struct Ring(coact::actor::Recipient<Rang>);
    /// impl Message for Ring { type Reply = (); }
    /// struct Rang;
    /// impl Message for Rang { type Reply = (); }
    ///
    /// impl Handler<Ring> for Echo {
    ///     fn handle(&mut self, ring: Ring, _: &mut Context<Self>) {
    ///         let _ = ring.0.send(Rang);
    ///     }
    /// }
    ///
    /// let echo = spawn(Echo);
    /// echo.send_later(Duration::from_millis(5), Ring(this_thread::recipient()));
    /// let Rang = this_thread::receive();
    /// ```
    #[doc(alias = "send_after")]
    #[doc(alias = "notify_later")]
    pub fn send_later<M>(&self, delay: Duration, message: M) -> Timer
    where
        M: MessageTo<A>,
    {
        let (home, to) = (self.runtime(), self.downgrade());
        set(&to, |begun| later(begun, home, to.clone(), delay, message))
    }

    /// Sends the actor a message once per period, until the timer is cancelled or the actor has
    /// ended. The timer does not keep the actor alive; it belongs to the runtime in which the actor
    /// is now, which is not idle while the timer runs. A restart does not affect it.
    ///
    /// The rate does not depend on the actor: messages wait in the mailbox of a slow actor (and are
    /// omitted while a bounded one is full). See
    /// [`send_every_with_fixed_delay`](Self::send_every_with_fixed_delay).
    ///
    /// # Panics
    /// Panics if the period is zero.
    #[track_caller]
    pub fn send_every<M, F>(&self, period: Duration, message: F) -> Timer
    where
        M: MessageTo<A>,
        F: Fn() -> M + Send + Sync + 'static,
    {
        check("period", period);
        let (home, to) = (self.runtime(), self.downgrade());
        set(&to, |begun| again(begun, home, to.clone(), period, message))
    }

    /// Sends the actor a message after a delay, and again each time this delay has passed since the
    /// previous message was answered (at the end of the handler, or at the end of its future if the
    /// handler [holds](crate::Context::hold) the actor), refused or dropped. So a slow actor never
    /// has more than one such message. Otherwise like [`send_every`](Self::send_every).
    ///
    /// # Panics
    /// Panics if the delay is zero.
    #[track_caller]
    pub fn send_every_with_fixed_delay<M, F>(&self, delay: Duration, message: F) -> Timer
    where
        M: MessageTo<A>,
        F: Fn() -> M + Send + Sync + 'static,
    {
        check("delay", delay);
        let (home, to) = (self.runtime(), self.downgrade());
        set(&to, |begun| spaced(begun, home, to.clone(), delay, message))
    }
}

impl<A: Actor> Context<A> {
    /// Sends this actor a message after a delay. The timer does not keep the actor alive, and ends
    /// with the state that has set it, also at a restart. A message that waits in the mailbox when
    /// the timer is cancelled or the actor is restarted is handled; one of a timer
    /// [by key](Self::timers) is not.
    pub fn send_later<M>(&mut self, delay: Duration, message: M) -> Timer
    where
        M: MessageTo<A>,
    {
        let to = self.weak();
        later(self.owned_work(), RuntimeHandle::current(), to, delay, message)
    }

    /// Sends this actor a message once per period, until the timer is cancelled. The timer does not
    /// keep the actor alive, and ends with the state that has set it, also at a restart. A message
    /// that waits in the mailbox then is handled; one of a timer [by key](Self::timers) is not.
    ///
    /// # Panics
    /// Panics if the period is zero.
    #[track_caller]
    pub fn send_every<M, F>(&mut self, period: Duration, message: F) -> Timer
    where
        M: MessageTo<A>,
        F: Fn() -> M + Send + Sync + 'static,
    {
        check("period", period);
        let to = self.weak();
        again(self.owned_work(), RuntimeHandle::current(), to, period, message)
    }

    /// Sends this actor a message after a delay, and again each time this delay has passed since
    /// the previous message was answered: see [`Addr::send_every_with_fixed_delay`].
    ///
    /// # Panics
    /// Panics if the delay is zero.
    #[track_caller]
    pub fn send_every_with_fixed_delay<M, F>(&mut self, delay: Duration, message: F) -> Timer
    where
        M: MessageTo<A>,
        F: Fn() -> M + Send + Sync + 'static,
    {
        check("delay", delay);
        let to = self.weak();
        spaced(self.owned_work(), RuntimeHandle::current(), to, delay, message)
    }
}

/// Panics in the caller rather than in the closure that sets the timer.
#[track_caller]
fn check(what: &str, time: Duration) {
    assert!(!time.is_zero(), "a timer with a {what} of zero would never stop firing");
}

fn later<A: Actor, M: MessageTo<A>>(
    begun: &Arc<OwnedWork>,
    home: RuntimeHandle,
    to: WeakAddr<A>,
    delay: Duration,
    message: M,
) -> Timer {
    begun.timer(|place| {
        home.after(delay, (), move |()| {
            drop(place);
            drop(to.send(message));
        })
    })
}

fn again<A, M, F>(
    begun: &Arc<OwnedWork>,
    home: RuntimeHandle,
    to: WeakAddr<A>,
    period: Duration,
    message: F,
) -> Timer
where
    A: Actor,
    M: MessageTo<A>,
    F: Fn() -> M + Send + Sync + 'static,
{
    begun.timer(|place| {
        home.every(period, (), move |()| {
            // The registration is dropped with the timer. A mailbox that is full now may have room
            // for the next message.
            let _place = &place;
            drop(to.send(message()));
        })
    })
}

/// Sets a timer that ends with the actor.
fn set<A: Actor>(of: &WeakAddr<A>, set: impl FnOnce(&Arc<OwnedWork>) -> Timer) -> Timer {
    let shared = of.shared();
    let timer = set(shared.owned_work());
    shared.note_owned_work();
    timer
}

fn spaced<A, M, F>(
    begun: &Arc<OwnedWork>,
    home: RuntimeHandle,
    to: WeakAddr<A>,
    delay: Duration,
    message: F,
) -> Timer
where
    A: Actor,
    M: MessageTo<A>,
    F: Fn() -> M + Send + Sync + 'static,
{
    let message = Arc::new(message);
    begun.timer(|place| {
        repeat(home, delay, move |run| {
            // The registration is dropped with the timer.
            let _place = &place;
            let (to, message) = (to.clone(), Arc::clone(&message));
            when((), move |()| {
                let Some(address) = to.upgrade() else { return };
                let (reply, answered) = Reply::channel();
                // A refused message counts as answered.
                drop(address.send_with_reply(message(), reply));
                drop(answered.then((), move |(), _| drop(run)));
            });
        })
    })
}
