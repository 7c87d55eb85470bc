//! Subscriptions, which end when they are dropped.

use std::fmt;
use std::sync::Weak;

/// A topic of any type, for unsubscribing.
pub(crate) trait UntypedTopic: Send + Sync {
    fn unsubscribe(&self, id: u64);
}

/// A subscription; it ends when this is dropped.
///
/// A message that another thread is publishing at that moment may still arrive.
#[must_use = "the subscription ends when this is dropped: bind it to a name (`let _ =` drops it \
              at once), or `keep` it"]
pub struct Subscription {
    to: Weak<dyn UntypedTopic>,
    id: u64,
}

impl Subscription {
    pub(crate) fn new(to: Weak<dyn UntypedTopic>, id: u64) -> Self {
        Self { to, id }
    }

    /// Ends the subscription, like dropping it.
    pub fn cancel(self) {
        drop(self);
    }

    /// Keeps the subscription for as long as the topic and the subscriber exist.
    pub fn keep(mut self) {
        self.to = Weak::<EmptyTopic>::new();
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(to) = self.to.upgrade() {
            to.unsubscribe(self.id);
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Subscription").field(&self.id).finish()
    }
}

/// A topic without subscribers.
struct EmptyTopic;

impl UntypedTopic for EmptyTopic {
    fn unsubscribe(&self, _: u64) {}
}
