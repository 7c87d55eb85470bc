//! What can be done with an actor besides messages: the runtime's own behaviours on its cell, and
//! moving it.

use std::sync::Arc;

use coact_core::internals::move_handle_to;
use coact_core::runtime::{MoveError, RuntimeHandle};
use coact_core::when;

use super::WholeCell;
use crate::cell::receive::drop_unhandled;
use crate::events::{DropCause, EventSubject, message_dropped};
use crate::handler::MessageTo;
use crate::mailbox::SharedMailbox;
use crate::parts::{Actor, Addr, Context, WeakAddr};
use crate::reply::Reply;

impl<A: Actor> Addr<A> {
    /// Spawns a behaviour that takes the address with it, and drops it in the end. The work is
    /// dropped if the actor has ended, or has another state by then.
    #[inline]
    pub(crate) fn call_by_value(
        self,
        incarnation: u32,
        work: impl FnOnce(&mut A, &mut Context<A>) + Send + 'static,
    ) {
        let queue = if self.cown().is_plain() { None } else { self.announce_for_long() };
        when(self.into_cown().into_unchecked(), move |held| {
            let (cell, cown) = held.into_parts();
            cell.call_with(Addr::new(cown), incarnation, work);
        });
        if let Some(queue) = queue {
            queue.end_behaviour();
        }
    }

    /// Does what [`begin_alone`](Self::begin_alone) does, for an address that is given away before
    /// the behaviour is queued: returns the mailbox, on which the caller must call `end_behaviour`.
    #[cold]
    #[inline(never)]
    fn announce_for_long(&self) -> Option<Arc<SharedMailbox>> {
        let queue = self.shared().queue().cloned();
        queue.iter().for_each(|queue| queue.begin_behaviour());
        queue
    }

    /// Delivers a message that no bound of the actor's mailbox refuses, because it is bounded
    /// already. It waits through restarts. `then` is dropped when the message has been handled, or
    /// is itself dropped.
    pub(crate) fn deliver<M>(&self, message: M, then: impl Send + 'static)
    where
        M: MessageTo<A>,
    {
        when(self.cown().unchecked(), move |cell| {
            let _then = then;
            cell.receive(message, Reply::unwanted());
        });
    }

    /// Sends the actor a notification that its mailbox neither refuses nor drops nor reorders. It
    /// is dropped if the actor has another state by then. So it must own nothing that the actor was
    /// sent: see [`deliver`](Self::deliver).
    pub(crate) fn notify<M>(&self, incarnation: u32, news: M)
    where
        M: MessageTo<A>,
    {
        self.begin_alone();
        when(self.cown().unchecked(), move |cell| {
            cell.receive_in(incarnation, news).err().into_iter().for_each(drop_unhandled);
        });
        self.end_alone();
    }

    /// Delivers like [`deliver`](Self::deliver), unless the actor has another state by then: the
    /// message is dropped, which is reported with [`DropCause::Restart`].
    pub(crate) fn deliver_in<M>(&self, incarnation: u32, message: M, then: impl Send + 'static)
    where
        M: MessageTo<A>,
    {
        when(self.cown().unchecked(), move |cell| {
            let _then = then;
            if let Err(message) = cell.receive_in(incarnation, message) {
                let subject = EventSubject::new::<A>(cell.shared().id());
                message_dropped(RuntimeHandle::current(), subject, message, DropCause::Restart);
            }
        });
    }

    /// Sends the actor the tick of one of its timers: see
    /// [`receive_tick`](ActorCell::receive_tick). Its mailbox neither refuses nor drops nor
    /// reorders it.
    pub(crate) fn deliver_tick<M>(
        &self,
        take: impl FnOnce(&mut Context<A>) -> Option<M> + Send + 'static,
        reply: Reply<M::Reply>,
    ) where
        M: MessageTo<A>,
    {
        self.begin_alone();
        when(self.cown().unchecked(), |cell| cell.receive_tick(take, reply));
        self.end_alone();
    }

    /// Calls a closure with the actor; it is dropped if the actor has ended by then.
    pub(crate) fn run_with_actor(
        &self,
        work: impl FnOnce(&mut A, &mut Context<A>) + Send + 'static,
    ) {
        when(self.cown().unchecked(), |cell| cell.call(work));
    }

    /// Calls a closure like [`run_with_actor`](Self::run_with_actor), without counting a turn: see
    /// [`ActorCell::inspect`].
    pub(crate) fn inspect(
        &self,
        inspect: impl FnOnce(&mut A, &mut Context<A>, u32) + Send + 'static,
    ) {
        when(self.cown().unchecked(), |cell| cell.inspect(inspect));
    }

    /// Notes that messages must not overtake what is about to be queued: for this actor alone, so
    /// nothing else can hold it up.
    pub(crate) fn begin_alone(&self) {
        if !self.cown().is_plain() {
            self.announce_elsewhere();
        }
    }

    /// Notes that it is in the queue, or will not be.
    pub(crate) fn end_alone(&self) {
        // An actor with its own mailbox is not plain from the beginning.
        if !self.cown().is_plain() {
            self.announced_elsewhere();
        }
    }

    /// Notes that messages must not overtake the behaviour that is about to be queued. Returns
    /// whether it may be refused.
    #[cold]
    pub(crate) fn announce_elsewhere(&self) -> bool {
        self.shared().queue().is_some_and(|queue| {
            queue.begin_behaviour();
            queue.bounds_behaviours()
        })
    }

    /// Notes that it is in the queue, or will not be.
    #[cold]
    fn announced_elsewhere(&self) {
        if let Some(queue) = self.shared().queue() {
            queue.end_behaviour();
        }
    }

    /// Moves the actor to another runtime, for instance a [dispatcher](crate::system::dispatcher),
    /// while it runs. What was sent before this is handled where it would have been, and what is
    /// sent after it in the new runtime; the order is kept, and nothing is lost. A restart does not
    /// change the runtime.
    ///
    /// An actor on its [callers](crate::system::Host::caller) is no longer on these; one that is
    /// [detached](crate::system::Host::detached) keeps its thread, unused, until its end. One that
    /// is held or suspended moves when its messages continue. Moving an actor that has ended has no
    /// effect.
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
    /// Fails for an actor of a [`Pump`](coact_core::runtime::Pump), which stays with it, and if
    /// `home` is that of a pump.
    pub fn move_to(&self, home: RuntimeHandle) -> Result<(), MoveError> {
        move_handle_to(&WholeCell(self.clone()), home)?;
        self.shared().set_caller_batch(None);
        Ok(())
    }

    /// Has senders handle their messages themselves from now on, and up to `batch` others.
    pub(crate) fn run_on_callers(&self, batch: u32) {
        self.shared().set_caller_batch(Some(batch));
        self.cown().mark(true);
    }
}

impl<A: Actor> WeakAddr<A> {
    /// Sends the actor a notification, if it is alive: see [`Addr::notify`].
    pub(crate) fn notify<M>(&self, incarnation: u32, news: M)
    where
        M: MessageTo<A>,
    {
        if let Some(address) = self.upgrade().filter(|address| !address.has_ended()) {
            address.notify(incarnation, news);
        }
    }
}
