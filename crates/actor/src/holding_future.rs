//! Futures that hold their actor.

use std::any::type_name;
use std::fmt;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll, Wake, Waker};

use coact_core::internals::{PolledFuture, drop_quietly};
use coact_core::runtime::{Busy, RuntimeHandle};

use crate::any_addr::AnyAddr;
use crate::cycle::HeldActorGuard;
use crate::parts::{Actor, ActorAndContext, Context, HeldFuture, HoldRequest, ReturnPlace};
use crate::reply::Reply;

/// Makes a future that takes the actor's state, and returns it when it ends.
pub(crate) fn request<A, R, F>(reply: Reply<R>, body: F) -> HoldRequest<A>
where
    A: Actor + Send,
    R: Send + 'static,
    F: for<'a> FnOnce(&'a mut A, &'a mut Context<A>) -> HeldFuture<'a, R> + Send + 'static,
{
    Box::new(move |state, returned| {
        let mut loan = StateLoan { body: Some(state), returned };
        Box::pin(async move {
            let ActorAndContext { actor, context } = loan.body();
            reply.send(body(actor.get_mut(), context).await);
        })
    })
}

/// The state of an actor, borrowed by the future that holds it. It is returned when the future
/// ends, is dropped, or panics.
struct StateLoan<A: Actor> {
    body: Option<ActorAndContext<A>>,
    returned: ReturnPlace<A>,
}

impl<A: Actor> StateLoan<A> {
    fn body(&mut self) -> &mut ActorAndContext<A> {
        self.body.as_mut().expect("returned only at the end")
    }
}

impl<A: Actor> Drop for StateLoan<A> {
    fn drop(&mut self) {
        *self.returned.lock() = self.body.take();
    }
}

/// A future that holds its actor, which polls it.
pub(crate) struct HoldingFuture<A: Actor> {
    future: HeldFuture<'static, ()>,
    returned: ReturnPlace<A>,
    polling: HoldState,
}

/// The part of such a future that does not depend on the actor's type.
struct HoldState {
    waker: Waker,
    holding: HeldActorGuard,
    /// The future in reports of the deterministic mode.
    polled: PolledFuture,
    /// Keeps the runtime from being idle.
    _busy: Busy,
}

impl HoldState {
    fn new(actor: AnyAddr, what: fn(&mut fmt::Formatter<'_>) -> fmt::Result) -> Self {
        let (waker, holding) = (interrupt(actor.clone()), HeldActorGuard::new(actor));
        Self {
            waker,
            holding,
            polled: PolledFuture::new(what),
            _busy: RuntimeHandle::current().hold_open(),
        }
    }

    fn poll(&mut self, future: &mut HeldFuture<'static, ()>) -> Poll<()> {
        let Self { waker, holding, polled, .. } = self;
        let poll = || future.as_mut().poll(&mut TaskContext::from_waker(waker));
        polled.polls(|| holding.polls(poll))
    }
}

impl<A: Actor> HoldingFuture<A> {
    pub(crate) fn begin(request: HoldRequest<A>, body: ActorAndContext<A>) -> Self {
        let polling = HoldState::new(body.context.weak().to_any(), |f| {
            write!(f, "the future that holds actor `{}`", type_name::<A>())
        });
        let returned = ReturnPlace::default();
        Self { future: request(body, Arc::clone(&returned)), returned, polling }
    }

    /// Polls the future. Once it has ended, [`take_back`](Self::take_back) returns the state.
    pub(crate) fn poll(&mut self) -> Poll<()> {
        self.polling.poll(&mut self.future)
    }

    /// Drops the future, ended or not, and returns the state that it held.
    pub(crate) fn take_back(self) -> Option<ActorAndContext<A>> {
        let Self { future, returned, .. } = self;
        // A destructor that panics still leaves the state behind.
        drop_quietly(move || drop(future));
        returned.lock().take()
    }
}

/// Returns a waker that interrupts an actor.
pub(crate) fn interrupt(actor: AnyAddr) -> Waker {
    Waker::from(Arc::new(InterruptWaker(actor)))
}

/// Wakes a held actor: the interrupt makes it poll.
struct InterruptWaker(AnyAddr);

impl Wake for InterruptWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.interrupt();
    }
}
