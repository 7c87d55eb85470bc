//! The end of being a subscriber.

use std::fmt;
use std::sync::Weak;

/// What can be left.
pub(super) trait Leave: Send + Sync {
    fn leave(&self, id: u64);
}

/// Somebody's being subscribed to something: it ends when this is dropped.
///
/// A message that is being published at that moment by somebody else may still come.
#[must_use = "the subscription ends when this is dropped; `keep` lets it go on"]
pub struct Subscription {
    to: Weak<dyn Leave>,
    id: u64,
}

impl Subscription {
    pub(super) fn new(to: Weak<dyn Leave>, id: u64) -> Self {
        Self { to, id }
    }

    /// Ends it: what dropping does.
    pub fn cancel(self) {
        drop(self);
    }

    /// Lets it go on for as long as the topic and the subscriber exist.
    pub fn keep(mut self) {
        self.to = Weak::<Nothing>::new();
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Some(to) = self.to.upgrade() {
            to.leave(self.id);
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Subscription").field(&self.id).finish()
    }
}

/// What nobody is subscribed to.
struct Nothing;

impl Leave for Nothing {
    fn leave(&self, _: u64) {}
}
