//! The receivers of one kind of message.

use std::any::type_name;
use std::sync::Arc;

use coact_core::runtime::RuntimeHandle;

use crate::ask::Ask;
use crate::backpressure::PermitFuture;
use crate::handler::MessageTo;
use crate::id::ActorId;
use crate::in_flight::InFlightToken;
use crate::message::Message;
use crate::monitor_guard::MonitorGuard;
use crate::parts::{Actor, Addr, WeakAddr};
use crate::reply::Reply;
use crate::send_error::SendError;

/// A receiver of one kind of message: an actor, a router, or a plain thread.
pub(crate) trait MessageReceiver<M: Message>: Send + Sync {
    fn send(&self, message: M) -> Result<(), SendError<M>>;
    /// Sends a message whose answer goes to the asker of another one.
    fn forward(&self, message: M, reply: Reply<M::Reply>) -> Result<(), SendError<M>> {
        if !reply.is_wanted() {
            return self.send(message);
        }
        let (ask, sent) = self.ask_counted(message, None);
        sent?;
        drop(ask.then((), move |(), answer| match answer {
            Ok(answer) => reply.send(answer),
            Err(why) => reply.fail(why),
        }));
        Ok(())
    }
    fn ask(&self, message: M) -> Ask<M::Reply>;
    /// Sends a message with an in-flight token that travels with it.
    fn send_counted(&self, message: M, token: Option<InFlightToken>) -> Result<(), SendError<M>>;
    /// Asks with an in-flight token; returns the message if it cannot be delivered.
    fn ask_counted(
        &self,
        message: M,
        token: Option<InFlightToken>,
    ) -> (Ask<M::Reply>, Result<(), SendError<M>>);
    fn id(&self) -> ActorId;
    fn has_ended(&self) -> bool;
    /// Waits for room; `None` if there is none to wait for. Without the message, a receiver that
    /// chooses by message among several has none.
    fn reserve(&self, message: Option<&M>, alone: bool) -> Option<PermitFuture<M>> {
        let _ = (message, alone);
        None
    }
    /// See [`RoomProvider::reserves_first`].
    fn reserves_first(&self) -> bool {
        true
    }
    /// Calls a closure at its end, if it can be watched.
    fn watch(&self, tell: Box<dyn FnOnce() + Send>) -> Option<MonitorGuard> {
        drop(tell);
        None
    }

    /// Returns the runtime in which its events are published.
    fn home(&self) -> RuntimeHandle {
        RuntimeHandle::of_any()
    }

    /// Returns the name of its type.
    fn receiver_type(&self) -> &'static str {
        type_name::<Self>()
    }

    /// Returns it without keeping it alive, if it is an actor.
    fn downgrade(&self) -> Option<Arc<dyn WeakReceiver<M>>> {
        None
    }
}

impl<A: Actor, M: MessageTo<A>> MessageReceiver<M> for Addr<A> {
    fn receiver_type(&self) -> &'static str {
        type_name::<A>()
    }

    fn send(&self, message: M) -> Result<(), SendError<M>> {
        Addr::send(self, message)
    }

    fn forward(&self, message: M, reply: Reply<M::Reply>) -> Result<(), SendError<M>> {
        Addr::forward(self, message, reply)
    }

    fn ask(&self, message: M) -> Ask<M::Reply> {
        Addr::ask(self, message)
    }

    fn send_counted(&self, message: M, token: Option<InFlightToken>) -> Result<(), SendError<M>> {
        self.send_with_token(message, Reply::unwanted(), token)
    }

    fn ask_counted(
        &self,
        message: M,
        token: Option<InFlightToken>,
    ) -> (Ask<M::Reply>, Result<(), SendError<M>>) {
        self.ask_with_token(message, token)
    }

    fn id(&self) -> ActorId {
        Addr::id(self)
    }

    fn has_ended(&self) -> bool {
        Addr::has_ended(self)
    }

    fn watch(&self, tell: Box<dyn FnOnce() + Send>) -> Option<MonitorGuard> {
        Some(Addr::watch(self, tell))
    }

    fn home(&self) -> RuntimeHandle {
        Addr::runtime(self)
    }

    fn reserve(&self, _: Option<&M>, alone: bool) -> Option<PermitFuture<M>> {
        Addr::reserve(self, alone)
    }

    fn downgrade(&self) -> Option<Arc<dyn WeakReceiver<M>>> {
        Some(Arc::new(Addr::downgrade(self)))
    }
}

/// A weak address of an actor that takes one kind of message.
pub(crate) trait WeakReceiver<M: Message>: Send + Sync {
    /// Returns a strong address, unless there is none any more.
    fn upgrade(&self) -> Option<Arc<dyn MessageReceiver<M>>>;
}

impl<A: Actor, M: MessageTo<A>> WeakReceiver<M> for WeakAddr<A> {
    fn upgrade(&self) -> Option<Arc<dyn MessageReceiver<M>>> {
        let address = WeakAddr::upgrade(self)?;
        Some(Arc::new(address))
    }
}
