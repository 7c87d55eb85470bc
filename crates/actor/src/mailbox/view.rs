//! Views of mailboxes from outside.

use std::fmt;

use super::mailbox_shared::SharedMailbox;

/// A view of an actor's mailbox: see [`Addr::mailbox`](crate::Addr::mailbox). All numbers may be
/// out of date as soon as they are read; the counts of lost messages only increase.
#[derive(Clone, Copy)]
pub struct MailboxView<'a>(pub(crate) Option<&'a SharedMailbox>);

/// A view of one lane of a mailbox: see [`MailboxView::lane`].
#[derive(Clone, Copy)]
pub struct LaneView<'a> {
    queue: &'a SharedMailbox,
    lane: usize,
}

/// A view of the behaviours that wait for an actor: see [`MailboxView::behaviours`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BehavioursView {
    len: usize,
    capacity: usize,
    refused: u64,
}

impl BehavioursView {
    /// Returns how many wait.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns how many may wait.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Returns how many were refused.
    pub fn refused(&self) -> u64 {
        self.refused
    }
}

impl<'a> MailboxView<'a> {
    /// Returns how many messages wait. An unbounded mailbox of one lane does not count: 0.
    pub fn len(&self) -> usize {
        self.lanes().map(|lane| lane.len()).sum()
    }

    /// Returns whether no message waits; see [`len`](Self::len).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many messages there is room for in total. `None` if some lane has no bound.
    pub fn capacity(&self) -> Option<usize> {
        self.0?;
        self.lanes().try_fold(0_usize, |sum, lane| Some(sum.saturating_add(lane.capacity()?)))
    }

    /// Returns how many messages were dropped because there was no room.
    pub fn dropped(&self) -> u64 {
        self.lanes().map(|lane| lane.dropped()).sum()
    }

    /// Returns how many messages were refused because there was no room.
    pub fn refused(&self) -> u64 {
        self.lanes().map(|lane| lane.refused()).sum()
    }

    /// Returns the lanes, the most urgent first; none if the actor was spawned without settings.
    pub fn lanes(&self) -> impl Iterator<Item = LaneView<'a>> + use<'a> {
        let queue = self.0;
        let count = queue.map_or(0, |queue| queue.lanes.len());
        (0..count).filter_map(move |lane| Some(LaneView { queue: queue?, lane }))
    }

    /// Returns the behaviours that wait for the actor, if their number is
    /// [bounded](crate::mailbox::Mailbox::behaviours).
    pub fn behaviours(&self) -> Option<BehavioursView> {
        let (len, capacity, refused) = self.0?.behaviours()?;
        Some(BehavioursView { len, capacity, refused })
    }

    /// Returns one of the lanes.
    pub fn lane(&self, lane: usize) -> Option<LaneView<'a>> {
        self.lanes().nth(lane)
    }
}

impl LaneView<'_> {
    /// Returns how many messages wait.
    pub fn len(&self) -> usize {
        self.queue.len(self.lane)
    }

    /// Returns whether no message waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns how many messages there is room for; `None` if there is no bound.
    pub fn capacity(&self) -> Option<usize> {
        self.queue.lanes[self.lane].capacity
    }

    /// Returns how many messages were dropped because there was no room.
    pub fn dropped(&self) -> u64 {
        self.queue.lanes[self.lane].dropped.get()
    }

    /// Returns how many messages were refused because there was no room.
    pub fn refused(&self) -> u64 {
        self.queue.lanes[self.lane].refused.get()
    }
}

impl fmt::Debug for MailboxView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.lanes()).finish()
    }
}

impl fmt::Debug for LaneView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lane")
            .field("len", &self.len())
            .field("capacity", &self.capacity())
            .field("dropped", &self.dropped())
            .field("refused", &self.refused())
            .finish()
    }
}
