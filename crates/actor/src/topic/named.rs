//! Named topics.

use std::any::{Any, type_name};
use std::collections::HashMap;
use std::sync::Arc;

use coact_sync::shim::process::Mutex;

use super::Topic;
use crate::lookup_error::LookupError;
use crate::runtime_singleton::RuntimeService;

/// Returns the topic with this name in the current runtime and the others of its group. It is
/// created on first use, and stays until
/// [`Registry::forget_topic`](crate::registry::Registry::forget_topic).
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::pubsub::topic;
///
/// let _subscription = topic::<u32>("prices")?.subscribe_fn(|price| assert_eq!(price, 5));
/// assert_eq!(topic::<u32>("prices")?.publish(5), 1);
/// assert!(topic::<String>("prices").is_err());
/// # Ok::<(), coact::registry::LookupError>(())
/// ```
///
/// # Errors
/// Fails if the topic has messages of another type.
pub fn topic<M: Clone + Send + 'static>(name: &str) -> Result<Topic<M>, LookupError> {
    NamedTopics::current().get(name)
}

/// The topics of a runtime, by their names.
#[derive(Default)]
pub(crate) struct NamedTopics(Mutex<HashMap<Arc<str>, NamedTopic>>);

struct NamedTopic {
    topic: Box<dyn Any + Send + Sync>,
    of: &'static str,
}

impl RuntimeService for NamedTopics {}

impl NamedTopics {
    pub(crate) fn get<M: Clone + Send + 'static>(
        &self,
        name: &str,
    ) -> Result<Topic<M>, LookupError> {
        let mut all = self.0.lock();
        if let Some(found) = all.get(name) {
            let topic = found.topic.downcast_ref::<Topic<M>>().cloned();
            return topic.ok_or_else(|| LookupError::other_type::<M>(name, found.of));
        }
        let topic = Topic::new();
        let entry = NamedTopic { topic: Box::new(topic.clone()), of: type_name::<M>() };
        all.insert(name.into(), entry);
        Ok(topic)
    }

    /// Returns whether there was one.
    pub(crate) fn forget(&self, name: &str) -> bool {
        // Dropped without the lock: its subscribers' closures may be dropped with it.
        let entry = self.0.lock().remove(name);
        entry.is_some()
    }

    pub(crate) fn names(&self) -> Vec<Arc<str>> {
        let mut names: Vec<_> = self.0.lock().keys().cloned().collect();
        names.sort();
        names
    }
}
