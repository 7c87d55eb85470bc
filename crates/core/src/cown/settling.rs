//! States whose changes are kept elsewhere before others see them, such as those of durable actors.
//!
//! A behaviour on such a state is detained: it waits until the state is ready, runs its closure, collects from all of
//! its members what is to be kept, and ends when that has happened or has failed; a pipelined one ends when that is on its
//! way, and tells its result then. What keeps it, and how, is not known here.

use std::any::Any;

use crate::fault::NotCommitted;

/// Is called once, on any thread.
pub type Wake = Box<dyn FnOnce() + Send>;

/// Whether a behaviour may use a state now.
#[derive(Debug)]
pub enum Readiness {
    /// It may.
    Ready,
    /// Not before what is under way has ended.
    NotYet,
    /// Not at all.
    Never(NotCommitted),
}

/// A state whose changes are kept elsewhere. Its methods are called by behaviours that hold it, for reading or
/// exclusively; none may block, and none but `collect` may panic.
pub trait Settling {
    /// Returns whether a behaviour may use the state; a pipelined one may also while something is on its way to be kept.
    fn readiness(&self, is_pipelined: bool) -> Readiness;

    /// The same for one that holds it exclusively, which takes in what has come.
    fn make_ready(&mut self, is_pipelined: bool) -> Readiness {
        self.readiness(is_pipelined)
    }

    /// Calls `wake` when the state may have become ready: at once, or later.
    fn when_ready(&self, wake: Wake);

    /// Adds to what is to be kept, if the closure has only read the state.
    fn collect_read(&self, unsettled: &mut Option<Box<dyn Unsettled>>);

    /// Adds what the closure has done to the state. A panic is one of the behaviour.
    fn collect(&mut self, unsettled: &mut Option<Box<dyn Unsettled>>);

    /// Says what has come of that, or that the closure has panicked; of a pipelined behaviour, that it is on its way.
    fn settled(&mut self, kept: &Result<(), NotCommitted>);
}

/// What a behaviour leaves to be kept. Its members recognise it by its type.
pub trait Unsettled: Any + Send {
    /// Requires that all members are, where they are kept, as the closure has seen them: also if
    /// there is nothing else to be kept.
    fn confirm(&mut self);

    /// Returns whether there is nothing to be kept after all, nor to be done then; and, of a pipelined behaviour, nothing that it
    /// has seen is on its way.
    fn is_void(&self, is_pipelined: bool) -> bool;

    /// Has it kept, and says what has come of that.
    fn settle(self: Box<Self>, done: Settled);

    /// The same for a pipelined behaviour: its members are released when this returns. What is to be done when all is kept
    /// is done by this, before that is said, and behind what was on its way before.
    fn settle_behind(self: Box<Self>, done: Settled);
}

/// What is to be done when all is kept, before other behaviours see the states; or why it is not kept.
pub type Kept = Result<Box<dyn FnOnce() + Send>, NotCommitted>;

/// Is called once, on any thread.
pub type Settled = Box<dyn FnOnce(Kept) + Send>;

/// A member of a behaviour's set that settles.
pub enum SettlingMember<'a> {
    /// Held exclusively.
    Exclusive(&'a mut dyn Settling),
    /// Held for reading.
    Read(&'a dyn Settling),
}
