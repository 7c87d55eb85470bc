//! The activity of a key: its loads and its write in flight, and the requests that wait for them.

use std::collections::VecDeque;
use std::mem::take;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use coact_actor::actor::Reply;

use coact_core::internals::CatchDrop;

use crate::abort::AbortHandle;
use crate::backing::{LoadResult, OnceLoader};
use crate::errors::WriteError;
use crate::key_value::Value;

pub(crate) type GetReply<V> = Reply<LoadResult<V>>;
pub(crate) type WriteReply = Reply<Result<(), WriteError>>;

pub(crate) struct KeyActivity<K, V: Value> {
    /// The load whose result is kept: nothing newer is known.
    pub(crate) load: Option<LoadInFlight<V>>,
    /// Loads of what was the newest once. They go on for those who had asked before.
    stale: Vec<LoadInFlight<V>>,
    /// The number of the write through that is under way.
    pub(crate) writing: Option<u64>,
    /// Whether the first in the queue is a write that waits for room among the writes behind.
    pub(crate) waits_for_room: bool,
    /// What comes behind the write, in order.
    pub(crate) queue: VecDeque<QueuedRequest<K, V>>,
}

pub(crate) struct LoadInFlight<V: Value> {
    pub(crate) number: u64,
    /// When it was begun.
    pub(crate) since: Duration,
    pub(crate) kind: LoadKind,
    /// Whether those who have waited were told that it takes too long.
    pub(crate) is_overdue: bool,
    /// Whether there was a stale load when it was begun.
    is_begun_while_stale: bool,
    /// Those who get its result.
    pub(crate) waiters: Vec<GetReply<V>>,
    abort: AbortHandle,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoadKind {
    /// A future, which ends when it is dropped.
    Future,
    /// A function on a blocking thread, which ends when it returns.
    Blocking,
}

/// What waits behind a write of its key.
pub(crate) enum QueuedRequest<K, V: Value> {
    Get(GetRequest<K, V>),
    Write(WriteRequest<V>),
    Invalidate(Reply<()>),
}

/// A get.
pub(crate) struct GetRequest<K, V: Value> {
    pub(crate) reply: GetReply<V>,
    /// What loads the value, instead of the loader of the cache.
    pub(crate) load: Option<CatchDrop<OnceLoader<K, V>>>,
}

/// A write that is asked for.
pub(crate) struct WriteRequest<V: Value> {
    /// Its place in the order in which writes were asked for.
    pub(crate) number: u64,
    pub(crate) value: CatchDrop<Option<V>>,
    pub(crate) reply: WriteReply,
}

impl<K, V: Value> KeyActivity<K, V> {
    /// Whether what comes now must wait for its turn.
    pub(crate) fn is_blocked(&self) -> bool {
        self.is_waiting() || !self.queue.is_empty()
    }

    /// Whether the queue does not move.
    pub(crate) fn is_waiting(&self) -> bool {
        self.writing.is_some() || self.waits_for_room
    }

    pub(crate) fn is_over(&self) -> bool {
        self.load.is_none() && self.stale.is_empty() && !self.is_blocked()
    }

    /// Whether a load on a blocking thread takes too long, beside which none is begun.
    pub(crate) fn is_overdue(&self) -> bool {
        match &self.load {
            Some(load) => load.is_overdue,
            None => self.stale.iter().any(|load| load.is_overdue),
        }
    }

    /// Begins a load, the current one from now on, for the one who asks, if it is not a refresh.
    pub(crate) fn begin_load(
        &mut self,
        since: Duration,
        kind: LoadKind,
        asker: Option<GetReply<V>>,
    ) -> (u64, AbortHandle) {
        let (number, abort) = (next_number(), AbortHandle::new());
        self.load = Some(LoadInFlight {
            number,
            since,
            kind,
            is_overdue: false,
            is_begun_while_stale: !self.stale.is_empty(),
            waiters: asker.into_iter().collect(),
            abort: abort.clone(),
        });
        (number, abort)
    }

    /// Returns a load that is under way, current or not.
    pub(crate) fn load_mut(&mut self, number: u64) -> Option<&mut LoadInFlight<V>> {
        self.load.iter_mut().chain(&mut self.stale).find(|load| load.number == number)
    }

    /// Takes a load that has ended, and says whether it is the current one.
    pub(crate) fn take_load(&mut self, number: u64) -> Option<(LoadInFlight<V>, bool)> {
        if let Some(load) = self.load.take_if(|load| load.number == number) {
            return Some((load, true));
        }
        let at = self.stale.iter().position(|load| load.number == number)?;
        Some((self.stale.remove(at), false))
    }

    /// Makes the current load stale, since something newer is known. Returns the stale loads that
    /// nothing waits for, which are to be aborted.
    pub(crate) fn supersede(&mut self) -> Vec<LoadInFlight<V>> {
        self.stale.extend(self.load.take());
        self.stale.extract_if(.., |load| !load.must_go_on()).collect()
    }

    /// Puts those who wait for a load that was begun while another was stale in front of the queue:
    /// something newer is there for them.
    pub(crate) fn requeue_waiters_beside_stale(&mut self) {
        let loads =
            self.stale.iter_mut().chain(&mut self.load).filter(|load| load.is_begun_while_stale);
        let waiters: Vec<_> = loads.flat_map(|load| take(&mut load.waiters)).collect();
        for reply in waiters.into_iter().rev() {
            self.queue.push_front(QueuedRequest::Get(GetRequest { reply, load: None }));
        }
    }
}

impl<V: Value> LoadInFlight<V> {
    /// Whether a load goes on though its result is not kept: something waits for it, or it cannot
    /// be aborted.
    fn must_go_on(&self) -> bool {
        self.kind == LoadKind::Blocking || self.waiters.iter().any(Reply::is_wanted)
    }

    pub(crate) fn into_abort_handle(self) -> AbortHandle {
        self.abort
    }
}

impl<K, V: Value> Default for KeyActivity<K, V> {
    fn default() -> Self {
        Self {
            load: None,
            stale: Vec::new(),
            writing: None,
            waits_for_room: false,
            queue: VecDeque::new(),
        }
    }
}

/// Returns a number for a load or a write that no other one has, also of other states of the same
/// actor.
pub(crate) fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
