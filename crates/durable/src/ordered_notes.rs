//! Notes of all entities, by their ranks.

use coact_persist::{EntityId, Note, NoteKey, NoteKind, NoteQuery, Store, StoreError};

use crate::store_client::{StoreClient, ask};

/// A note that was read, and is not as it was stored, or cannot be read.
pub(crate) struct DamagedNote {
    pub(crate) note: Box<Note>,
    pub(crate) why: String,
}

/// The order of notes of a kind.
type NotePosition = (i64, EntityId, NoteKey);

/// (Ranks that are damaged are [in front](NoteQuery::Ranked), as numbers with a sign.)
fn place_of(note: &Note) -> NotePosition {
    (note.rank.cast_signed(), note.entity.clone(), note.key.clone())
}

/// Reads all notes of a kind by their ranks. Stores tell a damaged one instead of all that they
/// were asked for: those around it are read nevertheless.
pub(crate) struct OrderedNotes<'a> {
    client: &'a StoreClient,
    kind: NoteKind,
    /// The greatest rank.
    up_to: u64,
    /// Whether a store that cannot be reached is waited for.
    waits: bool,
    after: Option<NotePosition>,
    /// How many are read at once.
    page: usize,
    is_over: bool,
}

impl<'a> OrderedNotes<'a> {
    pub(crate) fn new(client: &'a StoreClient, kind: NoteKind, waits: bool) -> Self {
        Self { client, kind, up_to: u64::MAX, waits, after: None, page: PAGE, is_over: false }
    }

    /// Ends with this rank.
    pub(crate) fn up_to(self, rank: u64) -> Self {
        Self { up_to: rank, ..self }
    }

    /// Returns those that come next, `most` at most; none at the end.
    pub(crate) async fn next(
        &mut self,
        most: usize,
    ) -> Result<Vec<Result<Note, DamagedNote>>, StoreError> {
        while !self.is_over {
            let count = self.page.min(most);
            match self.read(count).await {
                Ok(notes) => {
                    self.is_over = notes.is_empty();
                    self.after = notes.last().map(place_of).or_else(|| self.after.take());
                    return Ok(notes.into_iter().map(Ok).collect());
                }
                Err(error @ (StoreError::Unavailable { .. } | StoreError::Closed)) => {
                    return Err(error);
                }
                // Fewer, up to the damaged one, ..
                Err(_) if count > 1 => self.page = count / 2,
                // .. and from behind that on.
                Err(StoreError::CorruptNote { note, why }) => {
                    self.step_over(&note);
                    return Ok(vec![Err(DamagedNote { note, why })]);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Vec::new())
    }

    async fn read(&self, most: usize) -> Result<Vec<Note>, StoreError> {
        let after =
            self.after.clone().map(|(rank, entity, key)| (rank.cast_unsigned(), entity, key));
        let which = NoteQuery::Ranked { kind: self.kind, after, up_to: self.up_to };
        if self.waits {
            let read = |store: &dyn Store, done| store.notes(which.clone(), most, done);
            return self.client.ask_again(read).await;
        }
        let store = self.client.open_store()?;
        ask(|done| store.notes(which, most, done)).await
    }

    fn step_over(&mut self, damaged: &Note) {
        let place = place_of(damaged);
        // If it is not where it says, nothing is known of what is behind it.
        self.is_over = self.after.as_ref().is_some_and(|before| *before >= place);
        (self.after, self.page) = (Some(place), PAGE);
    }
}

/// How many notes are read at once.
pub(crate) const PAGE: usize = 256;
