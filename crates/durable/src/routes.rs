//! Who receives which messages: what a program says when it makes a journal.

use std::collections::HashMap;
use std::fmt::Display;
use std::sync::Arc;

use coact_core::internals::catch;
use coact_core::runtime::spawn_future;
use coact_persist::{EntityId, Format, read};

use crate::post::{Handed, Handing, Parcel};

/// A message that is published.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Publication<M> {
    /// The message.
    pub message: M,
    /// The entity that has left it.
    pub from: EntityId,
    /// Its identity, the same whenever it is tried again, by which others can see that they have it already. No other message has it, nor
    /// will one that is left when a backup was restored, unless the clock was set back.
    pub id: String,
    /// How often it was tried before in this process.
    pub failures: u32,
}

/// Hands a message to an entity, in the journal `J`.
pub(crate) type Receive<J> = fn(&J, EntityId, Parcel) -> Handing;

type Publish = Arc<dyn Fn(Parcel) -> Handing + Send + Sync>;

/// Who receives which messages, in the journal `J`.
pub(crate) struct Routes<J> {
    /// By the kind of the entity and the name of the message.
    receivers: HashMap<(&'static str, &'static str), Receive<J>>,
    publishers: HashMap<&'static str, Publish>,
}

impl<J> Default for Routes<J> {
    fn default() -> Self {
        Self { receivers: HashMap::new(), publishers: HashMap::new() }
    }
}

impl<J> Routes<J> {
    pub(crate) fn receive(&mut self, kind: &'static str, name: &'static str, how: Receive<J>) {
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
        let how: Publish =
            Arc::new(move |parcel| Box::pin(publish_one(parcel, Arc::clone(&publish))));
        self.publishers.insert(M::NAME, how);
    }

    pub(crate) fn knows(&self, kind: Option<&str>, name: &str) -> bool {
        match kind {
            Some(kind) => self.receivers.contains_key(&(kind, name)),
            None => self.publishers.contains_key(name),
        }
    }

    pub(crate) fn hand(&self, journal: &J, parcel: Parcel) -> Option<Handing> {
        let name = parcel.message.name();
        match parcel.to.clone() {
            Some(to) => {
                let receive = self.receivers.get(&(to.kind(), name))?;
                Some(receive(journal, to, parcel))
            }
            None => Some(self.publishers.get(name)?(parcel)),
        }
    }
}

async fn publish_one<M, F, E>(
    parcel: Parcel,
    publish: Arc<impl Fn(Publication<M>) -> F + Send + Sync + 'static>,
) -> Handed
where
    M: Format,
    F: Future<Output = Result<(), E>> + Send + 'static,
    E: Display + Send + 'static,
{
    let failed = |why: String| Handed::Failed { why, is_final: false };
    let message = match catch(|| read::<M>(&parcel.message.message())) {
        Ok(Ok(message)) => message,
        Ok(Err(error)) => return Handed::Failed { why: error.to_string(), is_final: true },
        Err(broken) => return failed(broken.to_string()),
    };
    let (from, key) = (parcel.note.entity, parcel.note.key);
    let key: String = key.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let id = format!("{from}#{key}");
    let publication = Publication { message, from, id, failures: parcel.failures };
    match catch(|| publish(publication)) {
        // As a future of its own, so that a panic in it is caught, in what it fails with too.
        Ok(published) => {
            let published = async move { published.await.map_err(|error| error.to_string()) };
            match spawn_future(published).await {
                Ok(Ok(())) => Handed::Published,
                Ok(Err(error)) => failed(error),
                Err(broken) => failed(broken.to_string()),
            }
        }
        Err(broken) => failed(broken.to_string()),
    }
}
