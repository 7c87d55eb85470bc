//! Checks snapshots, states without events, and notes, which no chain of hashes covers, against
//! their stored check sums.

use xxhash_rust::xxh3::Xxh3;

use crate::entity::EntityId;
use crate::error::StoreError;
use crate::note::{Note, NoteKey, NoteKind};
use crate::record::{Event, RowChecksum, Snapshot, hash_part, hash_typed};

impl RowChecksum {
    /// That of a note.
    #[must_use]
    pub fn of_note(
        entity: &EntityId,
        kind: NoteKind,
        key: &NoteKey,
        rank: u64,
        value: &Event,
    ) -> Self {
        let mut hasher = Xxh3::new();
        hash_part(&mut hasher, entity.kind().as_bytes());
        hash_part(&mut hasher, entity.key().as_bytes());
        hasher.update(&[kind.get()]);
        hash_part(&mut hasher, key.as_bytes());
        hasher.update(&rank.to_le_bytes());
        hash_typed(&mut hasher, value);
        Self::from_stored(hasher.digest())
    }

    /// What is said of one that is not the right one.
    fn mismatch_text(self, right: Self) -> String {
        format!(
            "was changed after it was stored, or belongs elsewhere (its check sum is {self}, and should be {right})"
        )
    }
}

impl Snapshot {
    /// Whether it is as it was stored, as far as that is known.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if it is not: it was changed, or belongs elsewhere.
    ///
    /// ```
    /// use coact_persist::{EntityId, Event, EventHash, Seq, Snapshot};
    ///
    /// let alice = EntityId::new("account", "alice");
    /// let state = Event::new("account", 1, b"100".to_vec());
    /// let mut snapshot = Snapshot::new(Seq::new(1), EventHash::of(&alice), state);
    /// assert_eq!(snapshot.check(&alice), Ok(()));
    /// snapshot.state.payload = b"900".to_vec().into();
    /// assert!(snapshot.check(&alice).is_err());
    /// ```
    pub fn check(&self, entity: &EntityId) -> Result<(), StoreError> {
        let Self { seq, hash, ref state, sum } = *self;
        let Some(stored) = sum else { return Ok(()) };
        let right = RowChecksum::of_snapshot(seq, hash, state);
        if stored == right {
            return Ok(());
        }
        let why = format!("the snapshot up to it, or the state, {}", stored.mismatch_text(right));
        Err(StoreError::Corrupt { entity: entity.clone(), seq, why })
    }
}

impl Note {
    /// The sum over it, which stores keep beside it.
    #[must_use]
    pub fn sum(&self) -> RowChecksum {
        RowChecksum::of_note(&self.entity, self.kind, &self.key, self.rank, &self.value)
    }

    /// Says whether it is as it was stored, given the sum beside it; `None` if that was stored
    /// before there were sums: then its rank tells, if it is none. For stores, of each note that
    /// they read.
    ///
    /// # Errors
    /// [`StoreError::CorruptNote`] if it is not: it was changed, or belongs elsewhere.
    ///
    /// ```
    /// use coact_persist::{EntityId, Event, Note, NoteKind};
    ///
    /// let (entity, kind) = (EntityId::new("account", "alice"), NoteKind::Timer);
    /// let value = Event::new("fee", 1, b"5".to_vec());
    /// let mut note = Note { entity, kind, key: "monthly".into(), rank: 7, value };
    /// let sum = note.sum();
    /// assert_eq!(note.check(Some(sum)), Ok(()));
    /// note.rank = 8;
    /// assert!(note.check(Some(sum)).is_err() && note.check(None).is_ok());
    /// note.rank = u64::MAX;
    /// assert!(note.check(None).is_err());
    /// ```
    pub fn check(&self, stored: Option<RowChecksum>) -> Result<(), StoreError> {
        let why = match stored {
            Some(stored) if stored != self.sum() => {
                format!("it {}", stored.mismatch_text(self.sum()))
            }
            // (No store has taken it so, whatever the sum.)
            _ if self.rank > i64::MAX as u64 => {
                format!("its rank is {}, and has 63 bits", self.rank)
            }
            _ => return Ok(()),
        };
        Err(StoreError::CorruptNote { note: Box::new(self.clone()), why })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entity::Seq;
    use crate::record::EventHash;

    /// The format of stores: a change of these numbers makes every stored snapshot and note a
    /// damaged one.
    #[test]
    fn sums_are_those_of_earlier_versions() {
        let alice = EntityId::new("account", "alice");
        let state = Event::new("account", 2, b"100".to_vec());
        let snapshot = RowChecksum::of_snapshot(Seq::new(3), EventHash::from_stored(7), &state);
        let note = RowChecksum::of_note(&alice, NoteKind::Timer, &"fee".into(), 9, &state);
        let all = [snapshot, note].map(|sum| sum.to_string());
        assert_eq!(all, ["efef9841581b59db", "b75c8ecaa6bc0293"]);
    }

    /// Each part of a row is in its sum.
    #[test]
    fn a_change_of_any_part_has_another_sum() {
        let (alice, bob) = (EntityId::new("account", "alice"), EntityId::new("account", "bob"));
        let [one, renamed, newer, other] = [("a", 1, 1), ("b", 1, 1), ("a", 2, 1), ("a", 1, 2)]
            .map(|(name, version, byte)| Event::new(name, version, vec![byte]));
        let hash = EventHash::from_stored;
        let snapshots = [
            (1, 1, &one),
            (2, 1, &one),
            (1, 2, &one),
            (1, 1, &renamed),
            (1, 1, &newer),
            (1, 1, &other),
        ]
        .map(|(seq, of, state)| RowChecksum::of_snapshot(Seq::new(seq), hash(of), state));
        let (timer, dead) = (NoteKind::Timer, NoteKind::DeadLetter);
        let notes = [
            (&alice, timer, "k", 1, &one),
            (&bob, timer, "k", 1, &one),
            (&alice, dead, "k", 1, &one),
            (&alice, timer, "l", 1, &one),
            (&alice, timer, "k", 2, &one),
            (&alice, timer, "k", 1, &renamed),
            (&alice, timer, "k", 1, &newer),
            (&alice, timer, "k", 1, &other),
        ]
        .map(|(id, kind, key, rank, value)| {
            RowChecksum::of_note(id, kind, &key.into(), rank, value)
        });
        let all: std::collections::HashSet<_> = snapshots.iter().chain(&notes).collect();
        assert_eq!(all.len(), snapshots.len() + notes.len());
    }
}
