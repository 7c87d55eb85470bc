//! The commands of a cache's state, which its actor executes in order.

use std::time::Duration;

use coact_actor::actor::Reply;
use coact_core::Broken;
use coact_core::internals::CatchDrop;

use crate::abort::AbortHandle;
use crate::backing::{LoadResult, OnceLoader};
use crate::entry_table::NewEntry;
use crate::errors::{LoadError, WriteError};
use crate::key_activity::{GetReply, WriteReply};
use crate::key_value::Value;
use crate::write_behind::LostWrite;

/// A command of a cache's state to its actor.
pub(crate) enum CacheCommand<K, V: Value> {
    /// Answers a get, or fails it with a panic of user code.
    AnswerGet(GetReply<V>, Result<LoadResult<V>, Broken>),
    AnswerWrite(WriteReply, Result<Result<(), WriteError>, Broken>),
    AnswerInvalidation(Reply<()>, Result<(), Broken>),
    /// Runs a load, whose end comes back as `load_ended`.
    StartLoad(LoadCommand<K, V>),
    AbortLoad(AbortHandle),
    /// Reports a refresh that failed, since nothing waits for it.
    ReportFailedRefresh(LoadError),
    /// Writes through, and answers the write. Its end comes back as `write_ended`.
    StartWrite(WriteCommand<K, V>),
    Queue(QueueCommand<K, V>),
}

/// A command for the write queue.
pub(crate) enum QueueCommand<K, V> {
    /// Starts the flusher, for the first write in the queue.
    Start,
    /// Writes what waits without delay.
    Hurry,
    /// Answers a flush once all that the queue holds is stored.
    Flush(WriteReply),
    ReportLost(LostWrite<K, V>),
}

/// A load to run.
pub(crate) struct LoadCommand<K, V: Value> {
    pub(crate) id: OperationId,
    pub(crate) key: CatchDrop<K>,
    /// The loader of this one load, in place of the cache's.
    pub(crate) loader: Option<CatchDrop<OnceLoader<K, V>>>,
    pub(crate) abort: AbortHandle,
}

/// A write through to run.
pub(crate) struct WriteCommand<K, V> {
    pub(crate) id: OperationId,
    pub(crate) hash: u64,
    pub(crate) key: CatchDrop<K>,
    pub(crate) value: CatchDrop<Option<V>>,
    /// The key by which a later state of the same actor finds this write.
    pub(crate) pending_key: CatchDrop<K>,
    /// What `write_ended` gets if the store has taken the value.
    pub(crate) update: EntryUpdate<K, V>,
    pub(crate) reply: WriteReply,
}

/// The change of an entry that a write makes once it is stored.
pub(crate) struct EntryUpdate<K, V> {
    pub(crate) key: CatchDrop<K>,
    /// `None`: the key has no entry afterwards.
    pub(crate) entry: Option<NewEntry<V>>,
    /// The start of the entry's times.
    pub(crate) since: Duration,
}

/// A load or write in flight: the place of its key's activity, and its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OperationId {
    pub(crate) at: usize,
    pub(crate) number: u64,
}

/// One event: its time, and the commands that it leads to.
pub(crate) struct CacheTurn<K, V: Value> {
    /// By the clock of entries: zero if no entry ever expires.
    pub(crate) now: Duration,
    pub(crate) commands: Vec<CacheCommand<K, V>>,
}

impl<K, V: Value> CacheTurn<K, V> {
    pub(crate) fn new(now: Duration) -> Self {
        Self { now, commands: Vec::new() }
    }

    pub(super) fn answer_get(&mut self, reply: GetReply<V>, answer: Result<LoadResult<V>, Broken>) {
        self.commands.push(CacheCommand::AnswerGet(reply, answer));
    }

    pub(super) fn answer_write(
        &mut self,
        reply: WriteReply,
        answer: Result<Result<(), WriteError>, Broken>,
    ) {
        self.commands.push(CacheCommand::AnswerWrite(reply, answer));
    }
}
