//! States whose changes are committed elsewhere before others see them, such as those of durable
//! actors.
//!
//! A behaviour on such a state is detained: it waits until the state is ready, runs its closure,
//! collects from all of its members what is to be committed, and ends when that has succeeded or
//! failed. A pipelined one ends as soon as the commit has begun, and tells its result when that has
//! ended. What commits, and how, is not known here.

use std::any::Any;

use crate::fault::NotCommitted;

/// Called once, on any thread, when a state may have become ready.
pub type ReadyCallback = Box<dyn FnOnce() + Send>;

/// Whether a behaviour may use a state now.
#[derive(Debug)]
pub enum Readiness {
    /// It may.
    Ready,
    /// Not before what is in progress has ended.
    NotYet,
    /// Not at all.
    Never(NotCommitted),
}

/// A state whose changes are committed elsewhere. Its methods are called by behaviours that hold
/// it, for reading or exclusively; none may block, and none but `collect` may panic.
pub trait CommitParticipant {
    /// Returns whether a behaviour may use the state. A pipelined one may also while commits of
    /// others are pending.
    fn readiness(&self, is_pipelined: bool) -> Readiness;

    /// The same for one that holds the state exclusively, and brings it up to date.
    fn make_ready(&mut self, is_pipelined: bool) -> Readiness {
        self.readiness(is_pipelined)
    }

    /// Calls `wake` when the state may have become ready: at once, or later.
    fn when_ready(&self, wake: ReadyCallback);

    /// Adds this state to a commit, if the closure has only read it.
    fn collect_read(&self, pending: &mut Option<Box<dyn PendingCommit>>);

    /// Adds the closure's changes of this state to a commit. A panic is one of the behaviour.
    fn collect(&mut self, pending: &mut Option<Box<dyn PendingCommit>>);

    /// Tells the state that its commit has ended, or that the closure has panicked; for a pipelined
    /// behaviour, that its commit has begun.
    fn commit_ended(&mut self, outcome: &Result<(), NotCommitted>);
}

/// What a behaviour leaves to be committed. Its members recognise it by its type.
pub trait PendingCommit: Any + Send {
    /// Requires that the commit checks all members against their stored state, also if it changes
    /// none of them.
    fn confirm(&mut self);

    /// Returns whether there is nothing to commit and nothing to do afterwards; for a pipelined
    /// behaviour, also whether all that it has seen is committed.
    fn is_void(&self, is_pipelined: bool) -> bool;

    /// Commits, and calls `done` with the outcome.
    fn commit(self: Box<Self>, done: OutcomeCallback);

    /// The same for a pipelined behaviour, whose members are released when this returns. It runs
    /// what is to follow the commit itself, before it calls `done`, and both after the commits that
    /// were pending before.
    fn commit_behind(self: Box<Self>, done: OutcomeCallback);
}

/// Runs after a commit, before other behaviours see the states.
pub type PostCommit = Box<dyn FnOnce() + Send>;

/// What follows a commit that has succeeded, or why it has failed.
pub type CommitOutcome = Result<PostCommit, NotCommitted>;

/// Called once, on any thread, with the outcome of a commit.
pub type OutcomeCallback = Box<dyn FnOnce(CommitOutcome) + Send>;

/// A member of a behaviour's set that takes part in its commit.
pub enum HeldParticipant<'a> {
    /// Held exclusively.
    Exclusive(&'a mut dyn CommitParticipant),
    /// Held for reading.
    Read(&'a dyn CommitParticipant),
}
