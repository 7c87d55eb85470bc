//! What is under way for a key: a load, a write, and what waits for them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use coact_actor::actor::Reply;

use crate::backing::Value;
use crate::errors::{LoadError, WriteError};
use crate::quiet::Quiet;

pub(crate) type Loaded<V> = Result<Option<V>, LoadError>;
pub(crate) type GetReply<V> = Reply<Loaded<V>>;
pub(crate) type WriteReply = Reply<Result<(), WriteError>>;

pub(crate) struct UnderWay<V: Value> {
    pub(crate) load: Option<Load<V>>,
    /// The number of the write through that is on its way.
    pub(crate) writing: Option<u64>,
    /// Whether the first in the queue is a write that waits for room among the writes behind.
    pub(crate) waits_for_room: bool,
    /// What comes behind the write, in order.
    pub(crate) queue: VecDeque<Operation<V>>,
}

pub(crate) struct Load<V: Value> {
    pub(crate) number: u64,
    /// When it was begun.
    pub(crate) since: Duration,
    /// Whether nothing newer than its result is known.
    pub(crate) is_current: bool,
    /// Whether those who have waited were told that it takes too long.
    pub(crate) is_overdue: bool,
    /// Those who get its result.
    pub(crate) waiters: Vec<GetReply<V>>,
    /// Those who have asked when it was not current any more.
    pub(crate) behind: Vec<GetReply<V>>,
}

/// What waits behind a write of its key.
pub(crate) enum Operation<V: Value> {
    Get(GetReply<V>),
    Write(WriteRequest<V>),
    Invalidate(Reply<()>),
}

/// A write that is asked for.
pub(crate) struct WriteRequest<V: Value> {
    /// Its place in the order in which writes were asked for.
    pub(crate) number: u64,
    pub(crate) value: Quiet<Option<V>>,
    pub(crate) reply: WriteReply,
}

impl<V: Value> UnderWay<V> {
    /// Whether what comes now must wait for its turn.
    pub(crate) fn is_blocked(&self) -> bool {
        self.is_waiting() || !self.queue.is_empty()
    }

    /// Whether the queue does not move.
    pub(crate) fn is_waiting(&self) -> bool {
        self.writing.is_some() || self.waits_for_room
    }

    /// Takes note that what is being loaded is not the newest any more.
    pub(crate) fn supersede(&mut self) {
        if let Some(load) = &mut self.load {
            load.is_current = false;
        }
    }

    /// Has those who wait for the end of a load that is not current have their turn.
    pub(crate) fn release_behind(&mut self) {
        let behind = self.load.iter_mut().flat_map(|load| std::mem::take(&mut load.behind));
        self.queue.extend(behind.map(Operation::Get));
    }

    pub(crate) fn is_over(&self) -> bool {
        self.load.is_none() && !self.is_blocked()
    }
}

impl<V: Value> Load<V> {
    pub(crate) fn new(since: Duration, asker: GetReply<V>) -> Self {
        Self {
            number: number(),
            since,
            is_current: true,
            is_overdue: false,
            waiters: vec![asker],
            behind: Vec::new(),
        }
    }
}

impl<V: Value> Default for UnderWay<V> {
    fn default() -> Self {
        Self { load: None, writing: None, waits_for_room: false, queue: VecDeque::new() }
    }
}

/// A number for a load or a write: no other one has it, that of another state of the same actor included.
pub(crate) fn number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
