//! Writes: to entries alone, through to the store, or behind into the write queue; and flushes.

use std::mem::take;
use std::sync::Arc;
use std::time::Duration;

use coact_core::internals::{CatchDrop, catch};

use super::command::{
    CacheCommand, CacheTurn, EntryUpdate, OperationId, QueueCommand, WriteCommand,
};
use super::{CacheState, KeyPlace};
use crate::builder::{EntryMeasure, WriteMode};
use crate::entry_table::{EntryContent, NewEntry};
use crate::errors::WriteError;
use crate::key_activity::{QueuedRequest, WriteReply, WriteRequest, next_number};
use crate::key_value::{Key, Value};
use crate::removal::RemovalCause;
use crate::write_behind::LostWrite;
use crate::write_queue::{PushOutcome, WriteQueue};

/// A write, with all that user code has to do for it done.
struct PreparedWrite<K, V> {
    place: KeyPlace,
    key: CatchDrop<K>,
    value: CatchDrop<Option<V>>,
    update: EntryUpdate<K, V>,
    /// The entry that it replaces.
    before: Option<usize>,
}

impl<K: Key, V: Value> CacheState<K, V> {
    /// Lets the write queue tell this cache of room and of lost writes, as this listener.
    pub(crate) fn set_listener(&mut self, listener: usize) {
        self.listener = Some(listener);
    }

    /// Blocks the key of a write through that the state before this one began.
    pub(crate) fn adopt_write(&mut self, number: u64, hash: u64, key: CatchDrop<K>) {
        // A key has at most one such write.
        let at = self.activity_at(KeyPlace { hash, activity: None }, key);
        self.activities().get_mut(at).writing = Some(number);
        self.adopted_writes.insert(number, at);
    }

    /// Sets a value, or removes a key, or queues that behind a write of the same key.
    pub(crate) fn write(
        &mut self,
        key: CatchDrop<K>,
        value: CatchDrop<Option<V>>,
        reply: WriteReply,
        turn: &mut CacheTurn<K, V>,
    ) {
        self.requested_writes += 1;
        let request = WriteRequest { number: self.requested_writes, value, reply };
        let place = match catch(|| self.locate(&key)) {
            Ok(place) => place,
            Err(panic) => return turn.answer_write(request.reply, Err(panic)),
        };
        let Some(at) = self.blocking_activity(place) else {
            self.write_unblocked(place, key, request, turn);
            // It may have released gets, or aborted the last load.
            if let Some(at) = place.activity {
                self.resume(at, turn);
            }
            return;
        };
        if let Some(request) = self.admit_write(at, request, turn) {
            self.activities().get_mut(at).queue.push_back(QueuedRequest::Write(request));
        }
    }

    /// Returns a write that may queue, which counts as admitted. Refuses a write behind if the
    /// cache holds too many.
    fn admit_write(
        &mut self,
        at: usize,
        request: WriteRequest<V>,
        turn: &mut CacheTurn<K, V>,
    ) -> Option<WriteRequest<V>> {
        let WriteMode::Behind(queue) = &self.settings.writing else { return Some(request) };
        if self.admitted_writes.len() < queue.max_waiting() {
            self.admitted_writes.insert(request.number);
            return Some(request);
        }
        let WriteRequest { value, reply, .. } = request;
        if reply.is_wanted() {
            turn.answer_write(reply, Ok(Err(WriteError::Full)));
        } else if let Ok(key) = catch(|| CatchDrop::new(self.activities().key(at).1.clone())) {
            let (key, value) = (key.into_inner(), value.into_inner());
            let lost = LostWrite { key, value, why: WriteError::Full };
            turn.commands.push(CacheCommand::Queue(QueueCommand::ReportLost(lost)));
        }
        None
    }

    /// Does a write that nothing blocks. The caller resumes what it releases: `resume` itself comes
    /// here, once for each write that a key holds.
    pub(super) fn write_unblocked(
        &mut self,
        place: KeyPlace,
        key: CatchDrop<K>,
        WriteRequest { number, value, reply }: WriteRequest<V>,
        turn: &mut CacheTurn<K, V>,
    ) {
        let prepared = catch(|| self.prepare(place, &key, (*value).as_ref(), turn.now));
        let (update, before) = match prepared {
            Ok(prepared) => prepared,
            Err(panic) => return turn.answer_write(reply, Err(panic)),
        };
        let write = PreparedWrite { place, key, value, update, before };
        let settings = Arc::clone(&self.settings);
        match &settings.writing {
            WriteMode::Nowhere => {
                self.update_entry(place, write.update, before, turn);
                turn.answer_write(reply, Ok(Ok(())));
            }
            WriteMode::Through { .. } => self.write_through(write, reply, turn),
            WriteMode::Behind(queue) => self.write_behind(queue, write, number, reply, turn),
        }
    }

    /// Runs the user code of a write: returns the change of the entry, and the entry before it.
    fn prepare(
        &self,
        place: KeyPlace,
        key: &K,
        value: Option<&V>,
        since: Duration,
    ) -> (EntryUpdate<K, V>, Option<usize>) {
        let absence = EntryMeasure { weight: 1, time_to_live: None };
        let measure = value.map_or(absence, |value| self.settings.measure(key, value));
        let own_key = CatchDrop::new(key.clone());
        let keeps_absence = self.settings.limits.negative_time_to_live.is_some();
        let content = match value.cloned() {
            Some(value) => Some(EntryContent::Value(CatchDrop::new(value))),
            None => keeps_absence.then_some(EntryContent::Absent),
        };
        let entry = content.map(|content| NewEntry::new(content, measure));
        (EntryUpdate { key: own_key, entry, since }, self.entries.find(place.hash, key))
    }

    /// Makes the entry of a write, and supersedes all that is older.
    fn update_entry(
        &mut self,
        place: KeyPlace,
        EntryUpdate { key, entry, since }: EntryUpdate<K, V>,
        before: Option<usize>,
        turn: &mut CacheTurn<K, V>,
    ) {
        let is_value = entry.as_ref().is_some_and(NewEntry::is_value);
        let is_kept = match entry {
            Some(entry) => self.entries.insert((place.hash, key), before, entry, since, turn.now),
            None => {
                self.forget_before(before, false);
                false
            }
        };
        if let Some(at) = place.activity {
            if is_value && is_kept {
                self.activities().get_mut(at).requeue_waiters_beside_stale();
            }
            self.supersede_load(at, turn);
        }
    }

    /// Blocks the key, and has the store take the write.
    fn write_through(
        &mut self,
        PreparedWrite { place, key, value, update, before }: PreparedWrite<K, V>,
        reply: WriteReply,
        turn: &mut CacheTurn<K, V>,
    ) {
        let own_keys = catch(|| [(); 2].map(|()| CatchDrop::new((*key).clone())));
        let [own_key, pending_key] = match own_keys {
            Ok(own_keys) => own_keys,
            Err(panic) => return turn.answer_write(reply, Err(panic)),
        };
        self.forget_before(before, value.is_some());
        let at = self.activity_at(place, own_key);
        self.supersede_load(at, turn);
        let id = OperationId { at, number: next_number() };
        self.activities().get_mut(at).writing = Some(id.number);
        let hash = place.hash;
        let write = WriteCommand { id, hash, key, value, pending_key, update, reply };
        turn.commands.push(CacheCommand::StartWrite(write));
    }

    /// Ends a write through, of this state or of one before it. `update.entry` is `None` if it
    /// failed.
    pub(crate) fn write_ended(
        &mut self,
        id: OperationId,
        hash: u64,
        (update, is_stored): (EntryUpdate<K, V>, bool),
        turn: &mut CacheTurn<K, V>,
    ) {
        let count = if is_stored { &mut self.writes } else { &mut self.write_failures };
        *count += 1;
        let Some(at) = self.take_writing(id) else { return self.write_lost(&update.key, turn) };
        if let EntryUpdate { key, entry: Some(entry), since } = update {
            let is_value = entry.is_value();
            if let Ok(before) = catch(|| self.entries.find(hash, &*key)) {
                let is_kept = self.entries.insert((hash, key), before, entry, since, turn.now);
                if is_value && is_kept {
                    self.activities().get_mut(at).requeue_waiters_beside_stale();
                    self.supersede_load(at, turn);
                }
            }
        }
        self.resume(at, turn);
    }

    /// Unblocks the key of a write through, and returns its activity: elsewhere than the write
    /// began, if the state before this one began it.
    fn take_writing(&mut self, OperationId { at, number }: OperationId) -> Option<usize> {
        let at = self.adopted_writes.remove(&number).unwrap_or(at);
        let activity = self.activities().try_get_mut(at)?;
        activity.writing.take_if(|writing| *writing == number).map(|_| at)
    }

    /// Puts a write into the write queue, or holds it until there is room.
    fn write_behind(
        &mut self,
        queue: &WriteQueue<K, V>,
        PreparedWrite { place, key, value, update, before }: PreparedWrite<K, V>,
        number: u64,
        reply: WriteReply,
        turn: &mut CacheTurn<K, V>,
    ) {
        let since = turn.now;
        match catch(|| queue.push(self.listener, (place.hash, key), value, since)) {
            Ok(PushOutcome::Full(value)) => {
                let at = self.activity_at(place, update.key);
                self.wait_for_room(at, before, WriteRequest { number, value, reply }, turn);
                // If it was refused, its activity may have nothing else to do.
                self.drop_ended(at);
            }
            Ok(pushed) => {
                if matches!(pushed, PushOutcome::First) {
                    turn.commands.push(CacheCommand::Queue(QueueCommand::Start));
                }
                self.update_entry(place, update, before, turn);
                turn.answer_write(reply, Ok(Ok(())));
            }
            Err(panic) => turn.answer_write(reply, Err(panic)),
        }
    }

    fn wait_for_room(
        &mut self,
        at: usize,
        before: Option<usize>,
        request: WriteRequest<V>,
        turn: &mut CacheTurn<K, V>,
    ) {
        let Some(request) = self.admit_write(at, request, turn) else { return };
        self.forget_before(before, request.value.is_some());
        self.waiting_for_room.push_back(at);
        self.supersede_load(at, turn);
        let activity = self.activities().get_mut(at);
        activity.waits_for_room = true;
        activity.queue.push_front(QueuedRequest::Write(request));
    }

    /// Resumes the writes that wait for room in the write queue, until one still has none.
    pub(crate) fn room_freed(&mut self, turn: &mut CacheTurn<K, V>) {
        for _ in 0..self.waiting_for_room.len() {
            let Some(at) = self.waiting_for_room.pop_front() else { break };
            self.activities().get_mut(at).waits_for_room = false;
            self.resume(at, turn);
            if self.activities().try_get_mut(at).is_some_and(|activity| activity.waits_for_room) {
                // It stays the first.
                self.waiting_for_room.rotate_right(1);
                break;
            }
        }
        self.release_flushes(turn);
    }

    /// Answers once all writes before are stored.
    pub(crate) fn flush(&mut self, reply: WriteReply, turn: &mut CacheTurn<K, V>) {
        if !matches!(self.settings.writing, WriteMode::Behind(_)) {
            return turn.answer_write(reply, Ok(Ok(())));
        }
        if self.admitted_writes.is_empty() {
            return turn.commands.push(CacheCommand::Queue(QueueCommand::Flush(reply)));
        }
        // The held writes were requested before, and are not in the write queue yet.
        turn.commands.push(CacheCommand::Queue(QueueCommand::Hurry));
        self.held_flushes.push_back((self.requested_writes, reply));
    }

    /// Leaves the flushes before the first held write to the write queue.
    fn release_flushes(&mut self, turn: &mut CacheTurn<K, V>) {
        let first = self.admitted_writes.first().copied().unwrap_or(u64::MAX);
        while let Some((_, reply)) = self.held_flushes.pop_front_if(|(last, _)| *last < first) {
            turn.commands.push(CacheCommand::Queue(QueueCommand::Flush(reply)));
        }
    }

    /// Drops the entry that a write replaces or removes.
    fn forget_before(&mut self, before: Option<usize>, is_value: bool) {
        let cause = if is_value { RemovalCause::Replaced } else { RemovalCause::Explicit };
        before.into_iter().for_each(|before| self.entries.forget(before, cause));
    }

    /// Ends the state. Returns the newest write of each key that never reached the write queue and
    /// that nothing waits for; it stands for the writes before it.
    pub(crate) fn take_lost_writes(&mut self) -> Vec<LostWrite<K, V>> {
        if !matches!(self.settings.writing, WriteMode::Behind(_)) {
            return Vec::new();
        }
        let mut lost = Vec::new();
        for (key, activity) in take(self.activities()).into_entries() {
            let newest = activity.queue.into_iter().rev().find_map(|request| match request {
                QueuedRequest::Write(write) => Some(write),
                QueuedRequest::Get(_) | QueuedRequest::Invalidate(_) => None,
            });
            if let Some(WriteRequest { value, reply, .. }) = newest
                && !reply.is_wanted()
            {
                let (key, value) = (key.into_inner(), value.into_inner());
                lost.push(LostWrite { key, value, why: WriteError::Cancelled });
            }
        }
        lost
    }
}
