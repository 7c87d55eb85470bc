//! What is done with an actor beside messages: the behaviours of the runtime itself on its cell, and moving it.

use std::sync::Arc;

use coact_core::runtime::{MoveError, RuntimeHandle};
use coact_core::when;

use super::Inside;
use crate::mailbox::Queue;
use crate::parts::{Actor, Addr, Context, WeakAddr};
use crate::reply::Reply;
use crate::traits::MessageTo;

impl<A: Actor> Addr<A> {
    /// Spawns a behaviour that takes the address along, and drops it in the end. The work is dropped
    /// if the actor has ended, or has another state by then.
    #[inline]
    pub(crate) fn call_by_value(
        self,
        life: u32,
        work: impl FnOnce(&mut A, &mut Context<A>) + Send + 'static,
    ) {
        let queue = if self.cown().is_plain() { None } else { self.announce_for_long() };
        when(self.into_cown().into_unchecked(), move |held| {
            let (cell, cown) = held.into_parts();
            cell.call_with(Addr::new(cown), life, work);
        });
        if let Some(queue) = queue {
            queue.end_behaviour();
        }
    }

    /// As [`begin_alone`](Self::begin_alone), for an address that is given away before the behaviour is queued: returns the
    /// mailbox, on which the caller must call `end_behaviour`.
    #[cold]
    #[inline(never)]
    pub(crate) fn announce_for_long(&self) -> Option<Arc<Queue>> {
        let queue = self.shared().queue().cloned();
        queue.iter().for_each(|queue| queue.begin_behaviour());
        queue
    }

    /// Brings the actor a message that no bound of its mailbox refuses: one that is bounded already.
    /// `then` is dropped when the message has been handled, or is dropped itself.
    pub(crate) fn deliver<M>(&self, message: M, then: impl Send + 'static)
    where
        M: MessageTo<A>,
    {
        when(self.cown().unchecked(), move |cell| {
            let _then = then;
            cell.receive(message, Reply::unwanted());
        });
    }

    /// Sends the actor a notification that its mailbox neither refuses nor drops nor reorders. It is dropped if
    /// the actor has another state by then.
    pub(crate) fn notify<M>(&self, life: u32, news: M)
    where
        M: MessageTo<A>,
    {
        self.begin_alone();
        when(self.cown().unchecked(), move |cell| {
            cell.receive_in(|context| context.life() == life, news);
        });
        self.end_alone();
    }

    /// As [`deliver`](Self::deliver), unless the actor does not want it any more by then.
    pub(crate) fn deliver_if<M>(
        &self,
        is_wanted: impl FnOnce(&mut Context<A>) -> bool + Send + 'static,
        message: M,
        then: impl Send + 'static,
    ) where
        M: MessageTo<A>,
    {
        when(self.cown().unchecked(), move |cell| {
            let _then = then;
            cell.receive_in(is_wanted, message);
        });
    }

    /// Has something called with the actor; it is dropped if the actor has ended by then.
    pub(crate) fn call(&self, work: impl FnOnce(&mut A, &mut Context<A>) + Send + 'static) {
        when(self.cown().unchecked(), |cell| cell.call(work));
    }

    /// As [`call`](Self::call), without counting a turn: see [`Cell::inspect`].
    pub(crate) fn inspect(
        &self,
        inspect: impl FnOnce(&mut A, &mut Context<A>, u32) + Send + 'static,
    ) {
        when(self.cown().unchecked(), |cell| cell.inspect(inspect));
    }

    /// Messages must not overtake what is about to be queued: for this actor alone, so nothing else can hold it up.
    pub(crate) fn begin_alone(&self) {
        if !self.cown().is_plain() {
            self.announce_elsewhere();
        }
    }

    /// It stands in the queue, or will not.
    pub(crate) fn end_alone(&self) {
        // One with a mailbox of its own is not plain from the beginning.
        if !self.cown().is_plain() {
            self.announced_elsewhere();
        }
    }

    /// Messages must not overtake the behaviour that is about to be queued. Returns whether it may be refused.
    #[cold]
    pub(crate) fn announce_elsewhere(&self) -> bool {
        self.shared().queue().is_some_and(|queue| {
            queue.begin_behaviour();
            queue.bounds_behaviours()
        })
    }

    /// It stands in the queue, or will not.
    #[cold]
    pub(crate) fn announced_elsewhere(&self) {
        if let Some(queue) = self.shared().queue() {
            queue.end_behaviour();
        }
    }

    /// Moves the actor to another runtime, a [dispatcher](crate::system::dispatcher) for instance, while it runs.
    /// What was sent before this is handled where it would have been, what is sent after it there; the
    /// order stays, and nothing is lost. A restart does not change the place.
    ///
    /// An actor on its [callers](crate::system::Host::caller) is not that any more; one that is
    /// [detached](crate::system::Host::detached) keeps its thread, unused, until its end. One that is held or
    /// suspended is moved when its messages go on. Moving an actor that has ended does nothing.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Context, Handler, Message};
    /// use coact::system::System;
    /// use std::thread;
    ///
    /// struct Worker;
    /// impl Actor for Worker {}
    ///
    /// struct WhereAreYou;
    /// impl Message for WhereAreYou { type Reply = Option<String>; }
    /// impl Handler<WhereAreYou> for Worker {
    ///     fn handle(&mut self, _: WhereAreYou, _: &mut Context<Self>) -> Option<String> {
    ///         thread::current().name().map(str::to_owned)
    ///     }
    /// }
    ///
    /// let system = System::builder().workers(1).dispatcher("io", |d| d.workers(1)).build()?;
    /// let worker = system.spawn(Worker);
    /// worker.move_to(system.dispatcher("io")?)?;
    /// assert_eq!(worker.ask(WhereAreYou).wait()?.as_deref(), Some("io-0"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The actors of a [`Pump`](coact_core::runtime::Pump) stay with it, and no other comes to it.
    pub fn move_to(&self, home: RuntimeHandle) -> Result<(), MoveError> {
        home.take_in(&Inside(self.clone()))?;
        self.shared().set_caller_batch(None);
        Ok(())
    }

    /// From now on senders handle their messages themselves, and up to `batch` others.
    pub(crate) fn run_on_callers(&self, batch: u32) {
        self.shared().set_caller_batch(Some(batch));
        self.cown().mark(true);
    }
}

impl<A: Actor> WeakAddr<A> {
    /// Sends the actor a notification, if it lives: see [`Addr::notify`].
    pub(crate) fn notify<M>(&self, life: u32, news: M)
    where
        M: MessageTo<A>,
    {
        if let Some(address) = self.upgrade().filter(|address| !address.has_ended()) {
            address.notify(life, news);
        }
    }
}
