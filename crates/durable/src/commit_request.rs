//! A commit that the store was asked for: its observer learns the outcome for certain.

use coact_core::internals::{beside_decision, catch};
use coact_core::runtime::spawn_future;
use coact_core::{Cown, when};
use coact_persist::{
    Commit, CommitId, CommitRefusal, CommitSettlement, Position, StoreCallback, StoreError,
    StoreOutcome,
};

use crate::store_client::StoreClient;

/// Learns the outcome of a commit for certain. If it is dropped without being called, the outcome
/// will never be reported: the runtime has ended, or the journal is closed.
pub(crate) trait CommitObserver: Send + 'static {
    /// The store, and where it is waited for if the outcome is unknown at first.
    fn home(&self) -> (&StoreClient, &Cown<()>);

    /// The outcome is unknown, and is settled now. Called on a worker.
    fn unknown(&mut self, _why: &StoreError) {}

    /// It is stored, or is not and will not be. Called on a thread of the store, which runs no code
    /// of the program.
    fn answered(self, answer: Result<Position, CommitRefusal>);
}

/// A commit whose outcome is owed: it is unknown if the store drops this.
pub(crate) struct CommitRequest<O: CommitObserver>(Option<OpenRequest<O>>);

struct OpenRequest<O> {
    /// What settles it if its outcome is unknown. `None` for a check, of which nothing is stored.
    settled_by: Option<CommitId>,
    observer: O,
}

impl<O: CommitObserver> CommitRequest<O> {
    /// Asks the store to commit. If the outcome is unknown it is settled, however long the store
    /// cannot be reached.
    pub(crate) fn send(client: &StoreClient, commit: Commit, observer: O) {
        let settled_by = (!commit.is_check()).then(|| commit.id());
        let request = Self(Some(OpenRequest { settled_by, observer }));
        if client.abandonment.has_begun() {
            return request.finish(StoreOutcome::Refused(CommitRefusal::Store(StoreError::Closed)));
        }
        let done: StoreCallback<_> = Box::new(move |outcome| request.finish(outcome));
        // A panic of the store drops the question. It was reported.
        let _ = catch(|| client.store().commit(commit, done));
    }

    fn finish(mut self, outcome: StoreOutcome) {
        if let Some(request) = self.0.take() {
            beside_decision(|| request.finish(outcome));
        }
    }
}

impl<O: CommitObserver> Drop for CommitRequest<O> {
    fn drop(&mut self) {
        if let Some(request) = self.0.take() {
            let why = "it has given no answer".into();
            beside_decision(|| {
                request.finish(StoreOutcome::Unknown(StoreError::Unavailable { why }))
            });
        }
    }
}

impl<O: CommitObserver> OpenRequest<O> {
    fn finish(self, outcome: StoreOutcome) {
        match outcome {
            StoreOutcome::Committed(position) => self.stored(position),
            StoreOutcome::Refused(refusal) => self.observer.answered(Err(refusal)),
            StoreOutcome::Unknown(error) => match self.settled_by {
                Some(id) => self.settle(id, error),
                None => self.observer.answered(Err(CommitRefusal::Store(error))),
            },
        }
    }

    fn stored(self, position: Position) {
        let (client, _) = self.observer.home();
        if self.settled_by.is_some() {
            client.commit_stored(position);
        } else {
            client.learn_position(position);
        }
        self.observer.answered(Ok(position));
    }

    /// Settles the commit. If the journal is closed before that is told, the observer is dropped.
    fn settle(mut self, id: CommitId, why: StoreError) {
        let home = self.observer.home().1.clone();
        // A thread of the store is in no runtime.
        when(&home, move |()| {
            self.observer.unknown(&why);
            drop(spawn_future(async move {
                match self.observer.home().0.settled(id).await {
                    Some(CommitSettlement::Committed(position)) => self.stored(position),
                    Some(CommitSettlement::Aborted) => {
                        self.observer.answered(Err(CommitRefusal::Aborted))
                    }
                    None => {}
                }
            }));
        });
    }
}
