//! Topics with paths, and subscriptions to many of them at once.

use std::fmt;

use super::pattern::PathPattern;
use super::{BadPattern, Subscription, Topic, to_closure};

/// Topics whose names are paths, like `house/kitchen/heat`, with subscriptions to patterns of
/// paths.
///
/// In a pattern `*` matches one step of the path, and `**`, which can only come last, any number of
/// them. Clones are the same tree.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::pubsub::TopicTree;
///
/// let house = TopicTree::new();
/// let heat = house.subscribe_fn("house/*/heat", |degrees: i32| assert_eq!(degrees, 21))?;
/// assert_eq!(house.publish("house/kitchen/heat", 21), 1);
/// assert_eq!(house.publish("house/kitchen/light", 5), 0);
/// # drop(heat);
/// # Ok::<(), coact::pubsub::BadPattern>(())
/// ```
///
/// The order is that of a [`Topic`]: each subscriber sees the messages of one publisher, on
/// whatever path, in the order of publication.
///
/// **Cost.** That of a topic, plus one comparison of each subscription's pattern with the path of
/// each message.
pub struct TopicTree<M: 'static>(Topic<M>);

impl<M: Clone + Send + 'static> TopicTree<M> {
    /// Creates a tree without subscribers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls a closure with the messages whose paths match the pattern: see
    /// [`Topic::subscribe_fn`].
    ///
    /// # Errors
    /// Fails if the pattern can match no path.
    pub fn subscribe_fn(
        &self,
        pattern: &str,
        call: impl Fn(M) + Send + Sync + 'static,
    ) -> Result<Subscription, BadPattern> {
        Ok(self.0.enter(Some(PathPattern::parse(pattern)?), to_closure(call)))
    }

    /// Returns the topic of all subscribers, with their patterns.
    pub(crate) fn topic(&self) -> &Topic<M> {
        &self.0
    }

    /// Publishes a message to a path; returns how many subscribers received it.
    pub fn publish(&self, path: &str, message: M) -> usize {
        let concerned = |pattern: &PathPattern| pattern.fits(path);
        self.0.publish_where(|other| other.pattern.as_ref().is_some_and(concerned), || message)
    }
}

impl<M: 'static> Default for TopicTree<M> {
    fn default() -> Self {
        Self(Topic::default())
    }
}

impl<M: 'static> Clone for TopicTree<M> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<M: 'static> fmt::Debug for TopicTree<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TopicTree").field(&self.0).finish()
    }
}
