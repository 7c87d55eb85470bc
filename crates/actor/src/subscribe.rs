//! Subscriptions of actors: to topics, to trees of topics, and to events.

use crate::events::{DropCause, EventSubject, Events, message_dropped};
use crate::message::Message;
use crate::monitor_guard::MonitorGuard;
use crate::recipient::Recipient;
use crate::send_error::SendError;
use crate::topic::{
    BadPattern, DeliveryFn, DeliveryOutcome, PathPattern, Subscription, Topic, TopicTree, next_id,
};

impl<M: Clone + Send + 'static> Topic<M> {
    /// Sends the messages to an actor, until the [`Subscription`] is dropped or cancelled, or the
    /// actor has ended. The topic keeps the actor alive until then.
    ///
    /// A message that the actor's bounded mailbox refuses is lost to this actor, and reported as
    /// [`MessageDropped`](crate::pubsub::MessageDropped).
    pub fn subscribe(&self, subscriber: impl Into<Recipient<M>>) -> Subscription
    where
        M: Message,
    {
        self.enter_recipient(None, subscriber.into())
    }

    /// Adds an actor, which is removed when it ends.
    fn enter_recipient(&self, pattern: Option<PathPattern>, recipient: Recipient<M>) -> Subscription
    where
        M: Message,
    {
        let id = next_id();
        let watch = recipient.watch(self.leaving(id));
        let subscriber = recipient.clone();
        let deliver = to_recipient(recipient, watch);
        let subscription = self.enter_as(id, pattern, deliver);
        // It may have ended before it was added.
        if subscriber.has_ended() {
            self.remove(id);
        }
        subscription
    }
}

impl<M: Clone + Send + 'static> TopicTree<M> {
    /// Sends an actor the messages whose paths match the pattern: see [`Topic::subscribe`].
    ///
    /// # Errors
    /// Fails if the pattern can match no path.
    pub fn subscribe(
        &self,
        pattern: &str,
        subscriber: impl Into<Recipient<M>>,
    ) -> Result<Subscription, BadPattern>
    where
        M: Message,
    {
        let pattern = PathPattern::parse(pattern)?;
        Ok(self.topic().enter_recipient(Some(pattern), subscriber.into()))
    }
}

impl Events {
    /// Sends an actor each event of a type: see [`Topic::subscribe`].
    pub fn subscribe<E: Message + Clone>(
        self,
        subscriber: impl Into<Recipient<E>>,
    ) -> Subscription {
        self.topic().subscribe(subscriber)
    }
}

/// Delivers to a recipient, watching for its end while it subscribes.
fn to_recipient<M: Message>(recipient: Recipient<M>, watch: Option<MonitorGuard>) -> DeliveryFn<M> {
    Box::new(move |message, patient| {
        let _ = &watch;
        let Some(subscriber) = patient else {
            return outcome(&recipient, recipient.send(message), None);
        };
        let recipient = recipient.clone();
        DeliveryOutcome::Later(Box::pin(async move {
            let sent = recipient.send_async(message).await;
            outcome(&recipient, sent, Some(subscriber))
        }))
    })
}

fn outcome<M: Message>(
    of: &Recipient<M>,
    sent: Result<(), SendError<M>>,
    subscriber: Option<u64>,
) -> DeliveryOutcome {
    match sent {
        Ok(()) => DeliveryOutcome::Taken,
        Err(SendError::Stopped(_)) => DeliveryOutcome::Ended(subscriber),
        Err(SendError::Full(message) | SendError::Cycle(message, _)) => {
            let subject = EventSubject::named(of.id(), of.receiver_type());
            message_dropped(of.home(), subject, message, DropCause::Full);
            DeliveryOutcome::Missed(Some(of.id()))
        }
    }
}
