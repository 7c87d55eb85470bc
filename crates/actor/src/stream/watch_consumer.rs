//! How a producer hears that the consumer has gone.

use super::buffer::StreamId;
use super::producer_end::Demand;
use crate::handler::Receive;
use crate::message::Message;
use crate::parts::{Actor, Context};

/// Notifies an actor that produces the items of a stream that the stream was dropped before its
/// end: see [`Context::watch_consumer`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ConsumerGone {
    /// The stream.
    pub stream: StreamId,
}

impl Message for ConsumerGone {
    type Reply = ();
}

impl<A: Actor> Context<A> {
    /// Sends this actor a [`ConsumerGone`] when the consumer drops the stream of this demand:
    /// immediately, not at the next push, and also if that has already happened. A stream that ends
    /// first sends none. No setting of the mailbox refuses, drops or delays the notification.
    ///
    /// A later call for the same stream replaces the earlier one, so the call can be the first line
    /// of the handler. It does not keep the actor alive.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Context, Handler, spawn};
    /// use coact::stream::{ConsumerGone, Demand};
    ///
    /// /// Produces numbers for one consumer.
    /// struct Numbers(Option<Demand<u32>>);
    /// impl Actor for Numbers {}
    /// impl Handler<Demand<u32>> for Numbers {
    ///     fn handle(&mut self, mut demand: Demand<u32>, context: &mut Context<Self>) {
    ///         context.watch_consumer(&demand);
    ///         demand.push(1).ok();
    ///         self.0 = Some(demand); // For items that come later.
    ///     }
    /// }
    /// impl Handler<ConsumerGone> for Numbers {
    ///     fn handle(&mut self, _: ConsumerGone, context: &mut Context<Self>) { context.stop() }
    /// }
    ///
    /// let numbers = spawn(Numbers(None));
    /// let mut consumer = numbers.stream::<u32>();
    /// assert_eq!(consumer.wait_next(), Some(1));
    /// let ended = numbers.ended();
    /// drop(consumer);
    /// assert!(ended.wait().unwrap().is_normal());
    /// ```
    pub fn watch_consumer<T: Send + 'static>(&mut self, demand: &Demand<T>)
    where
        A: Receive<ConsumerGone>,
    {
        let (this, incarnation, stream) = (self.weak(), self.incarnation(), demand.stream());
        demand.shared.on_gone(Box::new(move || this.notify(incarnation, ConsumerGone { stream })));
    }
}
