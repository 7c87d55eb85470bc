//! Asks of many actors, of which the first answer counts.

use std::fmt;
use std::future::Future;
use std::mem::take;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use coact_core::internals::wait_as;
use coact_core::runtime::spawn_future;

use crate::ask::Ask;
use crate::block_on::AWAIT;
use crate::id::ActorId;
use crate::router::NoAnswer;
use crate::send_error::AskError;

/// Many asks of which the first answer counts: what
/// [`Router::ask_first`](crate::routing::Router::ask_first) returns. The others are dropped then;
/// actors still working on an answer can check
/// [`Reply::is_wanted`](crate::actor::Reply::is_wanted).
#[must_use = "the answer is lost unless it is awaited or waited for"]
pub struct FirstAnswer<R: Send + 'static> {
    pending: Vec<(ActorId, Ask<R>)>,
    reasons: Vec<(ActorId, AskError)>,
}

impl<R: Send + 'static> Default for FirstAnswer<R> {
    fn default() -> Self {
        Self { pending: Vec::new(), reasons: Vec::new() }
    }
}

impl<R: Send + 'static> FirstAnswer<R> {
    pub(super) fn add(&mut self, actor: ActorId, ask: Ask<R>) {
        self.pending.push((actor, ask));
    }

    /// Fails each ask that has no answer after this long, counted from now.
    pub fn timeout(mut self, duration: Duration) -> Self {
        let asks = take(&mut self.pending).into_iter();
        self.pending = asks.map(|(actor, ask)| (actor, ask.timeout(duration))).collect();
        self
    }

    /// Blocks the calling thread until there is an answer.
    ///
    /// # Errors
    /// Fails if no actor has answered.
    ///
    /// # Panics
    /// Panics inside a behaviour, a handler or a future: see
    /// [`Promise::wait`](coact_core::Promise::wait).
    #[track_caller]
    pub fn wait(self) -> Result<R, NoAnswer> {
        // A future that is cancelled at shutdown has no actor left to wait for.
        let answer = wait_as(spawn_future(self), "`FirstAnswer::wait`", AWAIT);
        answer.unwrap_or_else(|_| Err(NoAnswer { reasons: Vec::new() }))
    }
}

impl<R: Send + 'static> Future for FirstAnswer<R> {
    type Output = Result<R, NoAnswer>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let mut at = 0;
        while let Some((actor, ask)) = this.pending.get_mut(at) {
            match Pin::new(ask).poll(context) {
                Poll::Pending => at += 1,
                Poll::Ready(Ok(answer)) => {
                    this.pending.clear();
                    return Poll::Ready(Ok(answer));
                }
                Poll::Ready(Err(why)) => {
                    this.reasons.push((*actor, why));
                    drop(this.pending.remove(at));
                }
            }
        }
        if !this.pending.is_empty() {
            return Poll::Pending;
        }
        Poll::Ready(Err(NoAnswer { reasons: take(&mut this.reasons) }))
    }
}

impl<R: Send + 'static> fmt::Debug for FirstAnswer<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("FirstAnswer");
        debug.field("pending", &self.pending.len()).field("reasons", &self.reasons).finish()
    }
}
