//! Messages that come later, and again and again.

use std::sync::Arc;
use std::time::Duration;

use coact_core::runtime::RuntimeHandle;
use coact_core::time::Timer;
use coact_core::when;

use crate::begun::Begun;
use crate::parts::{Actor, Addr, Context, WeakAddr};
use crate::reply::Reply;
use crate::traits::MessageTo;

impl<A: Actor> Addr<A> {
    /// Sends the actor a message when so much time has passed. The timer does not keep the actor
    /// alive, and ends with it; it belongs to the runtime that the actor is in now. A restart leaves it
    /// alone.
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

    /// Sends the actor a message each time so much time has passed, until the timer is cancelled or
    /// the actor has ended. The timer does not keep the actor alive; it belongs to the runtime that the
    /// actor is in now, which is not idle as long as the timer runs. A restart leaves it alone.
    ///
    /// The messages keep their rate, whatever the actor does: they wait in the mailbox of one that is slow (and are
    /// left out while a bounded one is full). See [`send_every_with_fixed_delay`](Self::send_every_with_fixed_delay).
    ///
    /// # Panics
    /// If the period is zero.
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

    /// Sends the actor a message when so much time has passed, and again each time so much has passed since
    /// the one before was answered (which a handler does at its end, one that
    /// [holds](crate::Context::hold) its actor at the end of its future), refused or dropped. So an actor
    /// that is slow is never sent more than one. Otherwise as [`send_every`](Self::send_every).
    ///
    /// # Panics
    /// If the delay is zero.
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
    /// Sends this actor a message when so much time has passed. The timer does not keep the actor
    /// alive, and ends with the state that has set it: at a restart, too.
    pub fn send_later<M>(&mut self, delay: Duration, message: M) -> Timer
    where
        M: MessageTo<A>,
    {
        let to = self.weak();
        later(self.begun(), RuntimeHandle::current(), to, delay, message)
    }

    /// Sends this actor a message each time so much time has passed, until the timer is cancelled. The timer
    /// does not keep the actor alive, and ends with the state that has set it: at a restart, too.
    ///
    /// # Panics
    /// If the period is zero.
    #[track_caller]
    pub fn send_every<M, F>(&mut self, period: Duration, message: F) -> Timer
    where
        M: MessageTo<A>,
        F: Fn() -> M + Send + Sync + 'static,
    {
        check("period", period);
        let to = self.weak();
        again(self.begun(), RuntimeHandle::current(), to, period, message)
    }

    /// Sends this actor a message when so much time has passed, and again each time so much has passed
    /// since the one before was answered: see [`Addr::send_every_with_fixed_delay`].
    ///
    /// # Panics
    /// If the delay is zero.
    #[track_caller]
    pub fn send_every_with_fixed_delay<M, F>(&mut self, delay: Duration, message: F) -> Timer
    where
        M: MessageTo<A>,
        F: Fn() -> M + Send + Sync + 'static,
    {
        check("delay", delay);
        let to = self.weak();
        spaced(self.begun(), RuntimeHandle::current(), to, delay, message)
    }
}

/// Panics at the caller, and not in the closure that sets the timer.
#[track_caller]
fn check(what: &str, time: Duration) {
    assert!(!time.is_zero(), "a timer with a {what} of zero would never stop firing");
}

fn later<A: Actor, M: MessageTo<A>>(
    begun: &Arc<Begun>,
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
    begun: &Arc<Begun>,
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
            // It goes with the timer. A mailbox that is full now may have room for the next one.
            let _place = &place;
            drop(to.send(message()));
        })
    })
}

/// Sets a timer that ends with the actor.
fn set<A: Actor>(of: &WeakAddr<A>, set: impl FnOnce(&Arc<Begun>) -> Timer) -> Timer {
    let shared = of.shared();
    let timer = set(shared.begun());
    shared.has_begun();
    timer
}

fn spaced<A, M, F>(
    begun: &Arc<Begun>,
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
        home.repeat(delay, move |run| {
            // It goes with the timer.
            let _place = &place;
            let (to, message) = (to.clone(), Arc::clone(&message));
            when((), move |()| {
                let Some(address) = to.upgrade() else { return };
                let (reply, answered) = Reply::channel();
                // What is refused has its answer, too.
                drop(address.send_with_reply(message(), reply));
                drop(answered.then((), move |(), _| drop(run)));
            });
        })
    })
}
