//! The right, and the duty, to answer a message.

use std::fmt;
use std::thread;

use coact_core::{Promise, Resolver};

use crate::{Addr, AskError, ExitReason, Message, Receive, SendError};

/// What an ask's promise brings.
pub(crate) type Answer<R> = Result<R, AskError>;

/// The right to answer one message, once: by whoever has it, at any time, from any thread.
///
/// If the message was sent rather than asked, nobody waits, and the answer is dropped
/// ([`is_wanted`](Self::is_wanted) tells). A reply that is dropped without an answer fails the ask,
/// at once.
#[must_use = "dropping a reply fails the ask that waits for it"]
pub struct Reply<R: Send + 'static>(Option<Resolver<Answer<R>>>);

impl<R: Send + 'static> Reply<R> {
    /// The reply to a message that was sent, not asked.
    #[inline]
    pub(crate) fn unwanted() -> Self {
        Self(None)
    }

    #[inline]
    pub(crate) fn channel() -> (Self, Promise<Answer<R>>) {
        let (resolver, promise) = Promise::channel();
        (Self(Some(resolver)), promise)
    }

    /// Answers.
    #[inline]
    pub fn send(mut self, answer: R) {
        if let Some(resolver) = self.0.take() {
            resolver.resolve(Ok(answer));
        }
    }

    /// Says that there will be no answer, and why.
    pub fn fail(mut self, why: AskError) {
        if let Some(resolver) = self.0.take() {
            resolver.resolve(Err(why));
        }
    }

    /// Whether somebody waits for the answer (still).
    pub fn is_wanted(&self) -> bool {
        self.0.as_ref().is_some_and(|resolver| !resolver.is_abandoned())
    }

    /// Leaves the answer to another actor: it is sent a message whose answer goes to whoever waits
    /// for this one.
    ///
    /// # Errors
    /// Gives the message back if it cannot be delivered; the ask fails.
    pub fn delegate<A, M>(self, to: &Addr<A>, message: M) -> Result<(), SendError<M>>
    where
        A: Receive<M>,
        M: Message<Reply = R>,
    {
        to.send_with_reply(message, self)
    }

    /// Fails a reply whose message came to an actor that has ended.
    pub(crate) fn refuse(self, reason: &ExitReason) {
        if self.0.is_some() {
            self.fail(AskError::Stopped(reason.clone()));
        }
    }
}

impl<R: Send + 'static> Drop for Reply<R> {
    #[inline]
    fn drop(&mut self) {
        if let Some(resolver) = self.0.take() {
            let panicked = thread::panicking();
            resolver.resolve(Err(if panicked { AskError::Panicked } else { AskError::NoReply }));
        }
    }
}

impl<R: Send + 'static> fmt::Debug for Reply<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").field("wanted", &self.is_wanted()).finish()
    }
}
