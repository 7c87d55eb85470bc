//! Who receives which messages: what a program says when it makes a journal.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::Arc;

use coact_core::internals::catch;
use coact_core::runtime::spawn_future;
use coact_persist::{EntityId, Format, read};

use crate::message_delivery::{AttemptResult, DeliveryFuture, DeliveryRequest};

/// A message that is published.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Publication<M> {
    /// The message.
    pub message: M,
    /// The entity that has left it.
    pub from: EntityId,
    /// Its identity, the same whenever it is tried again, by which others can see that they have it
    /// already. No other message has it, nor will one that is left when a backup was restored,
    /// unless the clock was set back.
    pub id: String,
    /// How often it was tried before in this process.
    pub failures: u32,
}

/// Hands a message to an entity, in the journal `J`.
pub(crate) type ReceiveFn<J> = fn(&J, EntityId, DeliveryRequest) -> DeliveryFuture;

type PublishFn = Arc<dyn Fn(DeliveryRequest) -> DeliveryFuture + Send + Sync>;

/// Who receives which messages, in the journal `J`.
pub(crate) struct MessageRoutes<J> {
    /// By the kind of the entity and the name of the message.
    receivers: HashMap<(&'static str, &'static str), ReceiveFn<J>>,
    publishers: HashMap<&'static str, PublishFn>,
}

impl<J> Default for MessageRoutes<J> {
    fn default() -> Self {
        Self { receivers: HashMap::new(), publishers: HashMap::new() }
    }
}

impl<J> MessageRoutes<J> {
    pub(crate) fn receive(&mut self, kind: &'static str, name: &'static str, how: ReceiveFn<J>) {
        self.receivers.insert((kind, name), how);
    }

    pub(crate) fn publish<M, F, E>(
        &mut self,
        publish: impl Fn(Publication<M>) -> F + Send + Sync + 'static,
    ) where
        M: Format,
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: Display + Send + 'static,
    {
        let publish = Arc::new(publish);
        let how: PublishFn =
            Arc::new(move |attempt| Box::pin(publish_one(attempt, Arc::clone(&publish))));
        self.publishers.insert(M::NAME, how);
    }

    pub(crate) fn knows(&self, kind: Option<&str>, name: &str) -> bool {
        match kind {
            Some(kind) => self.receivers.contains_key(&(kind, name)),
            None => self.publishers.contains_key(name),
        }
    }

    pub(crate) fn deliver(&self, journal: &J, attempt: DeliveryRequest) -> Option<DeliveryFuture> {
        let name = attempt.message.name();
        match attempt.to.clone() {
            Some(to) => {
                let receive = self.receivers.get(&(to.kind(), name))?;
                Some(receive(journal, to, attempt))
            }
            None => Some(self.publishers.get(name)?(attempt)),
        }
    }
}

async fn publish_one<M, F, E>(
    attempt: DeliveryRequest,
    publish: Arc<impl Fn(Publication<M>) -> F + Send + Sync + 'static>,
) -> AttemptResult
where
    M: Format,
    F: Future<Output = Result<(), E>> + Send + 'static,
    E: Display + Send + 'static,
{
    let failed = |why: String| AttemptResult::Failed { why, is_final: false };
    let message = match catch(|| read::<M>(&attempt.message.message())) {
        Ok(Ok(message)) => message,
        Ok(Err(error)) => return AttemptResult::Failed { why: error.to_string(), is_final: true },
        Err(broken) => return failed(broken.to_string()),
    };
    let (from, key) = (attempt.note.entity, attempt.note.key);
    let key: String = key.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let id = format!("{from}#{key}");
    let publication = Publication { message, from, id, failures: attempt.failures };
    match catch(|| publish(publication)) {
        // As a future of its own, so that a panic in it is caught, in what it fails with too.
        Ok(published) => {
            let published = async move { published.await.map_err(|error| error.to_string()) };
            match spawn_future(published).await {
                Ok(Ok(())) => AttemptResult::Published,
                Ok(Err(error)) => failed(error),
                Err(broken) => failed(broken.to_string()),
            }
        }
        Err(broken) => failed(broken.to_string()),
    }
}
