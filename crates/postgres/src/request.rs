//! Requests to write, and how their answers are delivered.

use std::panic::{AssertUnwindSafe, catch_unwind};

use coact_persist::{
    Claim, Commit, CommitId, CommitRefusal, CommitSettlement, EntityId, NoteChange, StoreCallback,
    StoreError, StoreOutcome,
};
use tracing::error;

/// An entry of a queue of requests.
pub(crate) enum StoreRequest<T> {
    Do(T),
    /// The last request: nothing behind it is done.
    Close,
}

/// A request to write.
pub(crate) enum WriteRequest {
    Claim(EntityId, StoreCallback<Result<Claim, StoreError>>),
    Commit(Commit, StoreCallback<StoreOutcome>),
    Settle(CommitId, StoreCallback<Result<CommitSettlement, StoreError>>),
}

impl WriteRequest {
    /// The approximate bytes to write.
    pub(crate) fn size(&self) -> usize {
        let Self::Commit(commit, _) = self else { return 0 };
        let of_notes = |note: &NoteChange| match note {
            NoteChange::Put { key, value, .. } => key.as_bytes().len() + value.payload.len(),
            NoteChange::Remove { key, .. } => key.as_bytes().len(),
        };
        commit
            .members()
            .map(|(_, member)| {
                let events = member.events().map(|(_, event, _)| event.payload.len());
                let tags = member.tags().flat_map(|(_, tags)| tags.iter()).map(|tag| tag.len());
                let state = member.written_snapshot().map_or(0, |state| state.state.payload.len());
                state
                    + events.chain(tags).sum::<usize>()
                    + member.notes().iter().map(of_notes).sum::<usize>()
            })
            .sum()
    }

    /// Whether it only compares.
    pub(crate) fn is_check(&self) -> bool {
        matches!(self, Self::Commit(commit, _) if commit.is_check())
    }

    /// Answers that it was not done.
    pub(crate) fn refuse(self, why: &StoreError) {
        match self {
            Self::Claim(_, done) => tell(done, Err(why.clone())),
            Self::Commit(_, done) => {
                tell(done, StoreOutcome::Refused(CommitRefusal::Store(why.clone())))
            }
            Self::Settle(_, done) => tell(done, Err(why.clone())),
        }
    }
}

/// Calls a callback with its result. The callback is ours, but drops values of the program.
pub(crate) fn tell<T>(done: StoreCallback<T>, result: T) {
    if catch_unwind(AssertUnwindSafe(|| done(result))).is_err() {
        error!("a callback of the store panicked");
    }
}
