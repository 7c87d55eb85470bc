//! The stash: messages that an actor has set aside to handle later.

use std::fmt;

use super::envelope::Envelopes;
use crate::message::Message;
use crate::reply::Reply;

/// The messages that an actor has set aside.
#[derive(Default)]
pub(crate) struct Stash {
    pub(crate) aside: Envelopes,
    /// How many of them, from the front, to handle now.
    pub(crate) wanted: usize,
    /// What comes before these, and was not set aside.
    pub(crate) next: Envelopes,
}

impl Stash {
    /// Takes the messages to unstash.
    pub(crate) fn take_wanted(&mut self) -> Option<Envelopes> {
        let wanted = std::mem::take(&mut self.wanted);
        if wanted == 0 && self.next.is_empty() {
            return None;
        }
        let mut envelopes = self.aside.take_first(wanted);
        envelopes.prepend(std::mem::take(&mut self.next));
        Some(envelopes)
    }

    /// Takes all messages.
    pub(crate) fn take(&mut self) -> Envelopes {
        std::mem::take(&mut self.aside)
    }
}

/// The stash has no room for another message: see [`Context::stash`](crate::Context::stash).
pub struct StashFull<M: Message> {
    /// The message.
    pub message: M,
    /// Its reply.
    pub reply: Reply<M::Reply>,
}

impl<M: Message> fmt::Display for StashFull<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no more messages can be stashed: the message is returned")
    }
}

impl<M: Message> fmt::Debug for StashFull<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StashFull")
            .field("message", &format_args!("{}", std::any::type_name::<M>()))
            .finish_non_exhaustive()
    }
}

impl<M: Message> std::error::Error for StashFull<M> {}
