//! The message that is being handled: who has sent it, and where its answer goes.

use std::fmt::{self, Debug, Formatter};
use std::mem::{forget, replace, take};

use coact_actor::actor::{Reply, SendError, WeakAddr};
use coact_actor::internals::note_kept;
use coact_tuple::{AnyTuple, IntoTuple};

use crate::dyn_actor::{BoxedHeader, DynActor, DynAddr, DynMessage, MessageHeader};

/// A message that has left the mailbox, and its reply if it was asked.
#[derive(Default)]
pub(crate) struct QueuedMessage {
    pub(crate) message: DynMessage,
    pub(crate) reply: Option<Reply<AnyTuple>>,
}

impl QueuedMessage {
    /// Says whether its answer waits for the actor: while it is skipped.
    pub(crate) fn note_kept(&self, by: &WeakAddr<DynActor>, is_kept: bool) {
        if let Some(reply) = &self.reply {
            note_kept(reply, by, is_kept);
        }
    }
}

/// What is known of the message that is being handled, besides its tuple.
#[derive(Default)]
pub(crate) struct ReceivedMessage {
    pub(crate) header: MessageHeader,
    pub(crate) answer: ReplyRoute,
}

/// Where a reply goes.
#[derive(Default)]
pub(crate) enum ReplyRoute {
    /// To the sender, as a message.
    #[default]
    Sent,
    /// To the ask.
    Asked(Reply<AnyTuple>),
    /// It was given.
    Given,
}

/// The sender of a message to `to`.
#[inline]
fn sender(own: &WeakAddr<DynActor>, to: &DynAddr) -> MessageHeader {
    if *own == to.0 {
        return MessageHeader::FromReceiver;
    }
    match own.upgrade() {
        Some(own) => MessageHeader::From(DynAddr(own)),
        None => MessageHeader::Empty,
    }
}

/// A message to `to`, with its sender.
#[inline]
pub(crate) fn message(own: &WeakAddr<DynActor>, to: &DynAddr, tuple: impl IntoTuple) -> DynMessage {
    DynMessage { tuple: AnyTuple::new(tuple), header: sender(own, to) }
}

/// `own` is the address of the actor that has received the message.
impl ReceivedMessage {
    /// Notes a message, after the one before was cleared.
    #[inline]
    pub(crate) fn begin(&mut self, header: MessageHeader, reply: Option<Reply<AnyTuple>>) {
        if let Some(reply) = reply {
            self.is_to_answer(reply);
        }
        self.begin_with(header);
    }

    /// The same for one whose reply was noted, if it has one.
    #[inline]
    pub(crate) fn begin_with(&mut self, header: MessageHeader) {
        // What was there needs no destructor.
        forget(replace(&mut self.header, header));
    }

    /// Notes where the answer goes.
    #[inline]
    pub(crate) fn is_to_answer(&mut self, reply: Reply<AnyTuple>) {
        forget(replace(&mut self.answer, ReplyRoute::Asked(reply)));
    }

    /// Returns where the answer of a message goes that no case has taken.
    #[cold]
    pub(crate) fn take_asked(&mut self) -> Option<Reply<AnyTuple>> {
        match take(&mut self.answer) {
            ReplyRoute::Asked(reply) => Some(reply),
            ReplyRoute::Sent | ReplyRoute::Given => None,
        }
    }

    /// Returns what was noted with its tuple, as the message that it was.
    #[cold]
    pub(crate) fn take_message(&mut self, tuple: AnyTuple) -> QueuedMessage {
        let message = DynMessage { tuple, header: take(&mut self.header) };
        QueuedMessage { message, reply: self.take_asked() }
    }

    /// Whether nothing is noted.
    #[inline]
    pub(crate) fn is_clear(&self) -> bool {
        matches!((&self.header, &self.answer), (MessageHeader::Empty, ReplyRoute::Sent))
    }

    /// Drops what a message has left.
    #[inline]
    pub(crate) fn clear(&mut self) {
        match take(&mut self.header) {
            MessageHeader::Empty | MessageHeader::FromReceiver => {}
            MessageHeader::From(sender) => drop(sender),
            MessageHeader::Boxed(header) => drop_boxed(header),
        }
        if !matches!(self.answer, ReplyRoute::Sent) {
            self.answer = ReplyRoute::Sent;
        }
    }

    pub(crate) fn sender(&self, own: &WeakAddr<DynActor>) -> Option<DynAddr> {
        match self.header.sender() {
            MessageHeader::FromReceiver => own.upgrade().map(DynAddr),
            MessageHeader::From(sender) => Some(sender.clone()),
            MessageHeader::Empty | MessageHeader::Boxed(_) => None,
        }
    }

    pub(crate) fn is_asked(&self) -> bool {
        matches!(&self.answer, ReplyRoute::Asked(reply) if reply.is_wanted())
    }

    /// Says whether the answer waits for the actor, which may be held meanwhile.
    pub(crate) fn note_kept(&self, by: &WeakAddr<DynActor>, is_kept: bool) {
        if let ReplyRoute::Asked(reply) = &self.answer {
            note_kept(reply, by, is_kept);
        }
    }

    pub(crate) fn reply(&mut self, own: &WeakAddr<DynActor>, tuple: AnyTuple) {
        match take(&mut self.answer) {
            ReplyRoute::Asked(reply) => {
                reply.send(tuple);
                self.answer = ReplyRoute::Given;
            }
            ReplyRoute::Given => self.answer = ReplyRoute::Given,
            ReplyRoute::Sent => reply_by_message(self.header.sender(), own, tuple),
        }
    }

    pub(crate) fn take_reply(&mut self, own: &WeakAddr<DynActor>) -> DynReply {
        let answer = replace(&mut self.answer, ReplyRoute::Given);
        DynReply { answer, to: self.header.sender().copy(), from: own.clone() }
    }

    pub(crate) fn forward(
        &mut self,
        own: &WeakAddr<DynActor>,
        to: &DynAddr,
        mut message: DynMessage,
    ) -> Result<(), SendError<AnyTuple>> {
        message.header = self.header.copy();
        if matches!(message.header.sender(), MessageHeader::FromReceiver) {
            message.header.set_sender(sender(own, to));
        }
        match replace(&mut self.answer, ReplyRoute::Given) {
            ReplyRoute::Asked(reply) => to.forward_message(message, reply),
            answer => {
                self.answer = answer;
                to.send_message(message)
            }
        }
    }
}

#[cold]
#[inline(never)]
fn drop_boxed(header: Box<BoxedHeader>) {
    drop(header);
}

/// Answers a message that was sent, if its sender is known.
fn reply_by_message(sender: &MessageHeader, own: &WeakAddr<DynActor>, tuple: AnyTuple) {
    let itself;
    let to = match sender {
        MessageHeader::From(sender) => sender,
        MessageHeader::FromReceiver => match own.upgrade() {
            Some(own) => {
                itself = DynAddr(own);
                &itself
            }
            None => return,
        },
        MessageHeader::Empty | MessageHeader::Boxed(_) => return,
    };
    // A sender that has ended wants no answer.
    drop(to.send_message(message(own, to, tuple)));
}

/// The right to answer one message, once: see
/// [`DynContext::take_reply`](crate::DynContext::take_reply). If it is dropped, the ask fails.
#[must_use = "dropping a reply fails the ask that waits for it"]
pub struct DynReply {
    answer: ReplyRoute,
    /// The sender.
    to: MessageHeader,
    from: WeakAddr<DynActor>,
}

impl DynReply {
    /// Sends the answer. If the message was sent, not asked, this is a message to its sender. Later
    /// calls do nothing, so that several cases can have it, of which one will answer.
    pub fn send(&mut self, tuple: impl IntoTuple) {
        let tuple = AnyTuple::new(tuple);
        match replace(&mut self.answer, ReplyRoute::Given) {
            ReplyRoute::Asked(reply) => reply.send(tuple),
            ReplyRoute::Sent => reply_by_message(&self.to, &self.from, tuple),
            ReplyRoute::Given => {}
        }
    }
}

impl Debug for DynReply {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynReply").finish_non_exhaustive()
    }
}
