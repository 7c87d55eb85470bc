//! The state of an entity that its owner has, and what a decision adds to it.

use std::collections::HashMap;
use std::mem::{replace, take};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use coact_core::behaviour::NotCommitted;
use coact_core::internals::catch;
use coact_persist::{
    Commit, CommitMember, EntityId, Epoch, Event, EventHash, Note, NoteChange, NoteId, NoteKey,
    NoteKind, Seq, Tags,
};
use smallvec::SmallVec;

use crate::event_sourced::EventSourced;

/// The state of an entity that its owner has.
pub(crate) struct EntityState<E> {
    pub(crate) state: E,
    pub(crate) epoch: Epoch,
    /// The last event that the state has, stored or pending.
    pub(crate) last: Seq,
    pub(crate) hash: EventHash,
    pub(crate) snapshots: SnapshotProgress,
    /// The number of the last message that this owner has left to be delivered.
    pub(crate) sent: u64,
    pub(crate) answers: AnswerCache,
    /// What the closure or command that runs has added to that.
    pub(crate) pending: PendingChanges,
}

/// What there is of snapshots.
#[derive(Default)]
pub(crate) struct SnapshotProgress {
    /// The last event of the latest one.
    pub(crate) last: Seq,
    /// The last event when one was tried, and the bytes of events since then.
    pub(crate) tried: Seq,
    pub(crate) bytes: u64,
}

/// Answers to commands with keys.
#[derive(Default)]
pub(crate) struct AnswerCache {
    /// Those that are not stored yet.
    pub(crate) on_their_way: Arc<Mutex<HashMap<NoteKey, Event>>>,
    /// What was found for the command that comes next.
    pub(crate) looked_up: Option<(NoteKey, Result<Option<Event>, NotCommitted>)>,
    /// Whether that was found in the store, where a later owner may have put it.
    pub(crate) is_of_store: bool,
    /// Whether a deletion of the entity is pending: then the store has answers that are
    /// forgotten.
    pub(crate) deleting: Arc<AtomicBool>,
}

/// What a decision has come to so far.
#[derive(Default)]
pub(crate) struct PendingChanges {
    pub(crate) events: SmallVec<[Event; 1]>,
    /// Those of events that have some, by their places.
    tags: Vec<(usize, Tags)>,
    /// Whether a snapshot is wanted.
    pub(crate) snapshot: bool,
    /// Whether the entity is removed.
    pub(crate) deletes: bool,
    pub(crate) notes: Vec<NoteChange>,
    pub(crate) taken: Vec<NoteId>,
}

impl PendingChanges {
    /// (Inlined where it is known that there are no tags, so that these cost nothing.)
    #[inline]
    pub(crate) fn persist(&mut self, event: Event, tags: Tags) {
        if !tags.is_empty() {
            self.tags.push((self.events.len(), tags));
        }
        self.events.push(event);
    }

    /// Forgets what was done to timers.
    pub(crate) fn forget_timers(&mut self) {
        self.notes.retain(|note| note.kind() != NoteKind::Timer);
    }

    pub(crate) fn is_empty(&self) -> bool {
        let has_notes = !self.notes.is_empty() || !self.taken.is_empty();
        self.events.is_empty() && !self.snapshot && !self.deletes && !has_notes
    }
}

/// About what the store adds to an event's bytes.
const PER_EVENT: usize = 64;

fn size_of(note: &NoteChange) -> usize {
    match note {
        NoteChange::Put { value, .. } => PER_EVENT + value.payload.len(),
        NoteChange::Remove { .. } => PER_EVENT,
    }
}

/// Turns a [`Put`](NoteChange::Put) into the note that a commit leaves; `None` for a removal.
fn note_of_put(id: &EntityId, note: NoteChange) -> Option<Note> {
    match note {
        NoteChange::Put { kind, key, rank, value } => {
            Some(Note { entity: id.clone(), kind, key, rank, value })
        }
        NoteChange::Remove { .. } => None,
    }
}

impl<E: EventSourced> EntityState<E> {
    /// Writes what is pending. Returns its size, unless that is nothing.
    pub(crate) fn write(&mut self, id: &EntityId, commit: &mut Commit) -> Option<usize> {
        let (epoch, last) = (self.epoch, self.last);
        let mut pending = take(&mut self.pending);
        let member = commit.member(id.clone(), epoch, last);
        member.rests_on(self.hash);
        if pending.is_empty() {
            return None;
        }
        let notes = take(&mut pending.notes);
        let bytes = notes.iter().map(size_of).sum::<usize>() + PER_EVENT * pending.taken.len();
        let is_deleted = pending.deletes;
        if is_deleted {
            member.delete();
        } else {
            notes.iter().cloned().for_each(|note| member.note(note));
        }
        let taken = take(&mut pending.taken);
        let bytes = bytes + self.write_events(id, pending, member);
        if is_deleted {
            // They come behind the deletion.
            let left = notes.into_iter().filter_map(|note| note_of_put(id, note));
            left.for_each(|note| commit.leave_note(note));
        }
        taken.into_iter().for_each(|note| commit.take_note(note));
        Some(bytes)
    }

    /// Returns their size.
    fn write_events(
        &mut self,
        id: &EntityId,
        pending: PendingChanges,
        member: &mut CommitMember,
    ) -> usize {
        if pending.deletes {
            (self.last, self.hash) = (Seq::ZERO, EventHash::of(id));
            self.snapshots = SnapshotProgress::default();
            return PER_EVENT;
        }
        let wants_snapshot = pending.snapshot;
        let of_tags = pending.tags.iter().flat_map(|(_, tags)| tags.iter());
        let of_tags: usize = of_tags.map(|tag| PER_EVENT + tag.len()).sum();
        let bytes: usize = pending.events.iter().map(|event| event.payload.len()).sum();
        let count = pending.events.len();
        if E::IS_STATE {
            let state = pending.events.into_iter().next_back();
            state.into_iter().for_each(|state| self.hash = member.replace(state, self.hash));
            self.last = member.last();
            return PER_EVENT + bytes;
        }
        let mut tags = pending.tags.into_iter();
        for (at, event) in pending.events.into_iter().enumerate() {
            self.hash = member.event(event, self.hash);
            if tags.as_slice().first().is_some_and(|(of, _)| *of == at) {
                tags.next().into_iter().for_each(|(_, tags)| member.tag(tags));
            }
        }
        self.last = member.last();
        self.snapshots.bytes += bytes as u64;
        PER_EVENT * count + bytes + of_tags + self.write_snapshot(member, wants_snapshot)
    }

    /// Writes a snapshot, if one is due or wanted, and can be written. Returns its size.
    fn write_snapshot(&mut self, member: &mut CommitMember, is_wanted: bool) -> usize {
        let Some(snapshots) = E::snapshots() else { return 0 };
        let events = self.last.get() - self.snapshots.tried.get();
        if !is_wanted && !snapshots.is_due(events, self.snapshots.bytes) {
            return 0;
        }
        // One that cannot be written is tried again when the next is due.
        (self.snapshots.tried, self.snapshots.bytes) = (self.last, 0);
        match catch(|| (snapshots.write)(&self.state)) {
            Ok(Ok(snapshot)) => {
                let bytes = snapshot.payload.len();
                member.snapshot(snapshot, self.hash);
                let before = replace(&mut self.snapshots.last, self.last);
                if before < self.last {
                    snapshots.trims(before).into_iter().for_each(|last| member.trim(last));
                }
                bytes
            }
            Ok(Err(error)) => {
                tracing::warn!("no snapshot is stored: {error}");
                0
            }
            // It was reported.
            Err(_) => 0,
        }
    }
}
