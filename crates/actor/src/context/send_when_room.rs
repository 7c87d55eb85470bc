//! Messages of an actor to full mailboxes.

use std::time::Duration;

use coact_core::Promise;

use crate::address::WholeCell;
use crate::backpressure;
use crate::message::Message;
use crate::parts::{Actor, Context};
use crate::recipient::Recipient;
use crate::reply::Reply;
use crate::send_error::{AskError, SendError};

impl<A: Actor> Context<A> {
    /// Sends a message when there is room for it: if a bounded mailbox is full and its policy is to
    /// [wait](crate::mailbox::Mailbox::wait), the message waits, beside this actor, which continues
    /// with others. So this can never deadlock. `then` receives the outcome as a message; the error
    /// returns a message that was not sent.
    ///
    /// Messages sent this way to one recipient arrive in the order of these calls, and so do their
    /// outcomes; one that is [sent](crate::Addr::send) otherwise may arrive before those that wait.
    /// They are sent whatever happens to this actor. **There is no limit to what waits here**: an
    /// actor that must slow down with its recipient uses [`send_await`](Self::send_await).
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Addr, Context, Handler, Message, spawn};
    /// use coact::actor::actor;
    /// use coact::mailbox::Mailbox;
    ///
    /// struct Disk(u32);
    /// impl Actor for Disk {}
    /// struct Write;
    /// impl Message for Write { type Reply = (); }
    /// impl Handler<Write> for Disk {
    ///     fn handle(&mut self, _: Write, _: &mut Context<Self>) { self.0 += 1 }
    /// }
    ///
    /// struct Editor { disk: Addr<Disk>, saved: u32 }
    /// impl Actor for Editor {
    ///     fn started(&mut self, context: &mut Context<Self>) {
    ///         for _ in 0..10 {
    ///             context.send_when_room(&self.disk, Write, |editor, sent, context| {
    ///                 editor.saved += u32::from(sent.is_ok());
    ///                 if editor.saved == 10 { context.stop() }
    ///             });
    ///         }
    ///     }
    /// }
    ///
    /// let disk = actor(Disk(0)).mailbox(Mailbox::bounded(1)).spawn();
    /// spawn(Editor { disk: disk.clone(), saved: 0 }).ended().wait()?;
    /// assert_eq!(coact::call(&disk, |disk| disk.0).wait()?, 10);
    /// # Ok::<(), coact::Broken>(())
    /// ```
    pub fn send_when_room<M, F>(&mut self, to: impl Into<Recipient<M>>, message: M, then: F)
    where
        M: Message,
        F: FnOnce(&mut A, Result<(), SendError<M>>, &mut Context<A>) + Send + 'static,
    {
        let to = to.into();
        let (resolver, sent) = Promise::channel();
        let job = |to: Recipient<M>| async move { resolver.resolve(to.send_async(message).await) };
        self.extras().outbox.add(to.id(), job(to));
        // Spawned where the promise is completed, so that the outcomes arrive in the order of the
        // messages.
        let (inside, incarnation) = (WholeCell(self.address()), self.incarnation());
        drop(sent.then(&inside, move |cell, sent| {
            if let Ok(sent) = sent {
                cell.call_in(incarnation, |actor, context| then(actor, sent, context));
            }
        }));
    }

    /// Asks when there is room for the message, like [`send_when_room`](Self::send_when_room).
    /// `then` receives the answer, as with [`ask`](Self::ask).
    pub fn ask_when_room<M, F>(&mut self, of: impl Into<Recipient<M>>, message: M, then: F)
    where
        M: Message,
        F: FnOnce(&mut A, Result<M::Reply, AskError>, &mut Context<A>) + Send + 'static,
    {
        let of = of.into();
        let (resolver, asked) = Promise::channel();
        let job = |of: Recipient<M>| async move {
            resolver.resolve(backpressure::begin_ask(of, message, None).await);
        };
        self.extras().outbox.add(of.id(), job(of));
        let answer = async move {
            match asked.await {
                Ok(Ok(ask)) => ask.await,
                Ok(Err(why)) => Err(why),
                Err(_) => Err(AskError::Cancelled),
            }
        };
        self.spawn(answer, then);
    }

    /// Sends a message when there is room for it, and has **messages and behaviours wait**, after
    /// the current handler, until it is sent, as [`ask_await`](Self::ask_await) does for an answer:
    /// so an actor slows down with its recipients. After the timeout the message is returned as
    /// [`SendError::Full`].
    ///
    /// If there can only be room after this actor has continued (two actors with full mailboxes
    /// that send to each other), it is returned with the circle: [`SendError::Cycle`].
    pub fn send_await<M, F>(
        &mut self,
        to: impl Into<Recipient<M>>,
        message: M,
        timeout: Duration,
        then: F,
    ) where
        A: Send,
        M: Message,
        F: FnOnce(&mut A, Result<(), SendError<M>>, &mut Context<A>) + Send + 'static,
    {
        let to = to.into();
        self.hold(Reply::unwanted(), move |actor, context| {
            Box::pin(async move {
                let sent = backpressure::send_within(to, message, Some(timeout)).await;
                then(actor, sent, context);
            })
        });
    }
}
