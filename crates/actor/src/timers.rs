//! Messages that come later, and again and again.

use std::sync::Arc;
use std::time::Duration;

use coact_core::{Timer, after, every};
use parking_lot::Mutex;

use crate::{Actor, Addr, Context, MessageTo, SendError, WeakAddr};

impl<A: Actor> Addr<A> {
    /// Sends the actor a message when so much time has passed. The timer does not keep the actor
    /// alive; it belongs to the current runtime.
    ///
    /// ```
    /// use coact_actor::{Actor, Context, Handler, Message, spawn, this_thread};
    /// use std::time::Duration;
    ///
    /// struct Echo;
    /// impl Actor for Echo {}
    ///
    /// struct Ring(coact_actor::Recipient<Rang>);
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
    pub fn send_later<M>(&self, delay: Duration, message: M) -> Timer
    where
        M: MessageTo<A>,
    {
        later(self.downgrade(), delay, message)
    }

    /// Sends the actor a message each time so much time has passed, until the timer is cancelled or
    /// the actor has ended. The timer does not keep the actor alive; it belongs to the current
    /// runtime, which is not idle as long as the timer runs.
    ///
    /// # Panics
    /// If the period is zero.
    #[track_caller]
    pub fn send_every<M, F>(&self, period: Duration, message: F) -> Timer
    where
        M: MessageTo<A>,
        F: Fn() -> M + Send + Sync + 'static,
    {
        again(self.downgrade(), period, message)
    }
}

impl<A: Actor> Context<A> {
    /// Sends this actor a message when so much time has passed. The timer does not keep the actor
    /// alive.
    pub fn send_later<M>(&mut self, delay: Duration, message: M) -> Timer
    where
        M: MessageTo<A>,
    {
        later(self.weak(), delay, message)
    }

    /// Sends this actor a message each time so much time has passed, until the timer is cancelled or
    /// the actor has ended. The timer does not keep the actor alive.
    ///
    /// # Panics
    /// If the period is zero.
    #[track_caller]
    pub fn send_every<M, F>(&mut self, period: Duration, message: F) -> Timer
    where
        M: MessageTo<A>,
        F: Fn() -> M + Send + Sync + 'static,
    {
        again(self.weak(), period, message)
    }
}

fn later<A: Actor, M: MessageTo<A>>(to: WeakAddr<A>, delay: Duration, message: M) -> Timer {
    after(delay, (), move |()| drop(to.send(message)))
}

#[track_caller]
fn again<A, M, F>(to: WeakAddr<A>, period: Duration, message: F) -> Timer
where
    A: Actor,
    M: MessageTo<A>,
    F: Fn() -> M + Send + Sync + 'static,
{
    let timer = Arc::new(Mutex::new(None::<Timer>));
    let own = Arc::clone(&timer);
    let set = every(period, (), move |()| {
        // A mailbox that is full now may have room for the next one.
        if let Err(SendError::Stopped(_)) = to.send(message()) {
            let timer = own.lock().take();
            if let Some(timer) = timer {
                timer.cancel();
            }
        }
    });
    *timer.lock() = Some(set.clone());
    set
}
