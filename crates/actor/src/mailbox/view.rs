//! Looking at mailboxes from outside.

use std::fmt;

use super::queue::Queue;

/// A look at an actor's mailbox: [`Addr::mailbox`](crate::Addr::mailbox). All numbers are out of
/// date as soon as they are read; those of what was lost only rise.
#[derive(Clone, Copy)]
pub struct MailboxView<'a>(pub(crate) Option<&'a Queue>);

/// A look at one lane of a mailbox: [`MailboxView::lane`].
#[derive(Clone, Copy)]
pub struct LaneView<'a> {
    queue: &'a Queue,
    lane: usize,
}

/// A look at the behaviours that wait for an actor: [`MailboxView::behaviours`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BehavioursView {
    len: usize,
    capacity: usize,
    refused: u64,
}

impl BehavioursView {
    /// How many wait.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many may wait.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// How many were refused.
    pub fn refused(&self) -> u64 {
        self.refused
    }
}

impl<'a> MailboxView<'a> {
    /// How many messages wait. An unbounded mailbox of one lane does not count: 0.
    pub fn len(&self) -> usize {
        self.lanes().map(|lane| lane.len()).sum()
    }

    /// Whether no message waits; see [`len`](Self::len).
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many messages there is room for in all. `None` if some lane takes any number.
    pub fn capacity(&self) -> Option<usize> {
        self.0?;
        self.lanes().try_fold(0_usize, |sum, lane| Some(sum.saturating_add(lane.capacity()?)))
    }

    /// How many messages were dropped for want of room.
    pub fn dropped(&self) -> u64 {
        self.lanes().map(|lane| lane.dropped()).sum()
    }

    /// How many messages were given back for want of room.
    pub fn refused(&self) -> u64 {
        self.lanes().map(|lane| lane.refused()).sum()
    }

    /// The lanes, the most urgent first; none if the actor was spawned without settings.
    pub fn lanes(&self) -> impl Iterator<Item = LaneView<'a>> + use<'a> {
        let queue = self.0;
        let count = queue.map_or(0, |queue| queue.lanes.len());
        (0..count).filter_map(move |lane| Some(LaneView { queue: queue?, lane }))
    }

    /// The behaviours that wait for the actor, if their number is [bounded](crate::mailbox::Mailbox::behaviours).
    pub fn behaviours(&self) -> Option<BehavioursView> {
        let (len, capacity, refused) = self.0?.behaviours()?;
        Some(BehavioursView { len, capacity, refused })
    }

    /// One of the lanes.
    pub fn lane(&self, lane: usize) -> Option<LaneView<'a>> {
        self.lanes().nth(lane)
    }
}

impl LaneView<'_> {
    /// How many messages wait.
    pub fn len(&self) -> usize {
        self.queue.len(self.lane)
    }

    /// Whether no message waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many messages there is room for; `None` if any number.
    pub fn capacity(&self) -> Option<usize> {
        self.queue.lanes[self.lane].capacity
    }

    /// How many messages were dropped for want of room.
    pub fn dropped(&self) -> u64 {
        self.queue.lanes[self.lane].dropped.get()
    }

    /// How many messages were given back for want of room.
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
