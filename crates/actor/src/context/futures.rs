//! Futures of an actor: beside it, or holding it.

use std::future::Future;

use coact_core::internals::CatchDrop;
use coact_core::runtime::spawn_future;

use crate::address::WholeCell;
use crate::holding_future;
use crate::parts::{Actor, Context, HeldFuture};
use crate::reply::Reply;

impl<A: Actor> Context<A> {
    /// Runs a future beside the actor, which continues with other messages; its output is the
    /// answer. The future borrows nothing from the actor, and belongs to the asker: it continues
    /// when the actor restarts or ends.
    pub fn detach<R, F>(&mut self, reply: Reply<R>, future: F)
    where
        R: Send + 'static,
        F: Future<Output = R> + Send + 'static,
    {
        drop(spawn_future(async move { reply.send(future.await) }));
    }

    /// Runs a future beside the actor, and delivers its output like a message: the closure receives
    /// the actor when its turn comes. If the future panics, the closure is dropped. If this actor
    /// ends or is restarted first, so are both.
    #[doc(alias = "pipeToSelf")]
    #[doc(alias = "pipe_to_self")]
    pub fn spawn<R, F, T>(&mut self, future: F, then: T)
    where
        R: Send + 'static,
        F: Future<Output = R> + Send + 'static,
        T: FnOnce(&mut A, R, &mut Context<A>) + Send + 'static,
    {
        let (inside, incarnation) = (WholeCell(self.address()), self.incarnation());
        let future = self.owned_work().future(future);
        drop(spawn_future(future).then(&inside, move |cell, output| {
            if let Ok(Some(output)) = output {
                cell.call_in(incarnation, |actor, context| then(actor, output, context));
            }
        }));
    }

    /// Holds the actor, after the current handler, until a future has ended; its output is the
    /// answer. The future may use the actor's state for its whole duration. **Messages and
    /// behaviours wait.** An ask in it whose answer needs this actor in turn fails, and the error
    /// contains the circle: [`AskError::Cycle`](crate::actor::AskError::Cycle); see
    /// [`ask`](Self::ask) for the form that does not wait.
    ///
    /// The promise of a behaviour on cowns is not such an ask, and is not checked: do not await one
    /// on a cown that behaviours use together with this actor, because one of them may have the
    /// cown and wait for the actor. Spawn a behaviour over both instead.
    ///
    /// Signals do not wait: a stop, a kill or a restart drops the future at its await.
    ///
    /// The future is [`Send`], so an actor that is to be held must be, too.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Context, Message, spawn};
    /// use coact::actor::{Receive, Reply};
    ///
    /// struct Counter(u32);
    /// impl Actor for Counter {}
    ///
    /// struct Tick;
    /// impl Message for Tick { type Reply = u32; }
    ///
    /// impl Receive<Tick> for Counter {
    ///     fn receive(&mut self, _: Tick, reply: Reply<u32>, context: &mut Context<Self>) {
    ///         context.hold(reply, |counter, _| Box::pin(async move {
    ///             coact::time::sleep(std::time::Duration::from_millis(1)).await.ok();
    ///             counter.0 += 1;
    ///             counter.0
    ///         }));
    ///     }
    /// }
    ///
    /// assert_eq!(spawn(Counter(41)).ask(Tick).wait(), Ok(42));
    /// ```
    pub fn hold<R, F>(&mut self, reply: Reply<R>, body: F)
    where
        A: Send,
        R: Send + 'static,
        F: for<'a> FnOnce(&'a mut A, &'a mut Context<A>) -> HeldFuture<'a, R> + Send + 'static,
    {
        reply.held_by(|| self.this.to_any());
        self.typed().holds.push_back(CatchDrop::new(holding_future::request(reply, body)));
        self.interrupt_self();
    }
}
