//! One commit of a pipelined behaviour, as a state machine: its members' queues come to it, each in
//! its own time.
//!
//! The commit has an entry in the pipeline of each member. Its post-commit runs once the outcome is
//! known *and* the commit is at the front of every member's queue; only then do the entries leave.
//! So what follows from decisions leaves in the order of the decisions, for each entity and across
//! entities.

use coact_core::behaviour::NotCommitted;

use super::commit_outcome::CommitOutcome;

/// A commit that several entities take part in. `P` is its post-commit.
#[cfg_attr(test, derive(Clone, Debug))]
pub(crate) struct PipelinedCommit<P> {
    /// Whether the store is asked. If not, the outcome follows from what the commit has seen.
    asks_store: bool,
    /// The members whose queues it has not come to the front of.
    members_behind: usize,
    outcome: Option<CommitOutcome>,
    /// Until it is given out.
    post_commit: Option<P>,
    /// Whether the post-commit has run, or never will.
    is_completed: bool,
}

impl<P> PipelinedCommit<P> {
    pub(crate) fn new(members: usize, asks_store: bool, post_commit: P) -> Self {
        Self {
            asks_store,
            members_behind: members,
            outcome: None,
            post_commit: Some(post_commit),
            is_completed: false,
        }
    }

    /// The outcome is known: the first one counts. To be told before any member
    /// [arrives](Self::arrived).
    pub(crate) fn answered(&mut self, outcome: CommitOutcome) {
        self.outcome.get_or_insert(outcome);
    }

    /// It has come to the front of a member's queue, behind `refusal` if something there was
    /// refused. Returns the post-commit to run if this was the last member:
    /// [`completed`](Self::completed) is to be told then.
    pub(crate) fn arrived(&mut self, refusal: Option<NotCommitted>) -> Option<(P, CommitOutcome)> {
        // The store has compared the members of a commit that it was asked for with what the
        // decision has seen.
        if let (Some(CommitOutcome::Stored(_)), Some(why), false) =
            (&self.outcome, refusal, self.asks_store)
        {
            self.outcome = Some(CommitOutcome::NotStored(why));
        }
        self.members_behind = self.members_behind.saturating_sub(1);
        if self.members_behind > 0 {
            return None;
        }
        let outcome = self.outcome.clone()?;
        Some((self.post_commit.take()?, outcome))
    }

    /// The post-commit has run. Returns the outcome with which the members' entries leave.
    pub(crate) fn completed(&mut self) -> CommitOutcome {
        self.is_completed = true;
        self.outcome.clone().unwrap_or(CommitOutcome::Lost)
    }

    /// The runtime of a member has ended. Returns the post-commit, unless it was given out.
    pub(crate) fn abandon(&mut self) -> Option<P> {
        self.outcome = Some(CommitOutcome::Lost);
        self.is_completed = true;
        self.post_commit.take()
    }

    pub(crate) fn is_completed(&self) -> bool {
        self.is_completed
    }
}
