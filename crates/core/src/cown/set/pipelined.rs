//! Sets of states that [commit](super::AsCown::COMMITS), for behaviours that begin while commits of
//! others are pending, and release the states as soon as their own commit is.

use super::CownSet;
use super::kind::SetKind;
use super::sealed::{MemberVisitor, SealedSet, SetAdmission};
use super::wrapped::wrapped_set;
use crate::cown::commit_participant::HeldParticipant;
use crate::cown::member_cursor::MemberCursor;
use crate::sched::worker::bound::WorkerPlace;

/// A set of durable members, for a behaviour that waits for no commit but its own; see
/// [`pipelined`].
#[derive(Clone, Copy, Debug)]
pub struct Pipelined<S>(S);

#[expect(missing_docs, reason = "the crate of durable actors says what it is, and shows it")]
#[inline]
pub fn pipelined<S: CownSet>(set: S) -> Pipelined<S> {
    const {
        assert!(
            S::KIND.commits,
            "only behaviours over durable members are pipelined: others have nothing to wait for"
        );
    }
    Pipelined(set)
}

wrapped_set!(Pipelined, S::KIND.pipelined());
