//! What the handles of a set are told around the spawning of a behaviour.

use crate::cown::set::CownSet;

/// The handles of a set were told that a behaviour on it is about to be queued. When dropped, tells
/// them that it is in its queues, or is not going to be.
pub(super) struct SetAnnouncement<'a, S: CownSet>(&'a S);

impl<'a, S: CownSet> SetAnnouncement<'a, S> {
    /// Also returns whether one of the handles must be asked.
    #[inline]
    pub(super) fn new(set: &'a S) -> (Self, bool) {
        let asks = set.announce_all();
        (Self(set), asks)
    }
}

impl<S: CownSet> Drop for SetAnnouncement<'_, S> {
    #[inline]
    fn drop(&mut self) {
        self.0.announced_all();
    }
}
