//! Sets of states that [commit](super::AsCown::COMMITS), for behaviours whose result is told only
//! if the store confirms what they have seen, also if they change nothing.

use super::CownSet;
use super::kind::SetKind;
use super::sealed::{MemberVisitor, SealedSet, SetAdmission};
use super::wrapped::wrapped_set;
use crate::cown::commit_participant::HeldParticipant;
use crate::cown::member_cursor::MemberCursor;
use crate::sched::worker::bound::WorkerPlace;

/// A command, or a set of durable members, whose answer the store confirms; see [`confirmed`].
#[derive(Clone, Copy, Debug)]
pub struct ConfirmedQuestion<Q>(Q);

#[expect(missing_docs, reason = "the crate of durable actors says what it is, and shows it")]
#[inline]
pub fn confirmed<Q>(question: Q) -> ConfirmedQuestion<Q> {
    ConfirmedQuestion(question)
}

impl<Q> ConfirmedQuestion<Q> {
    /// The question.
    #[doc(hidden)]
    pub fn question(&self) -> &Q {
        &self.0
    }

    /// Takes the question.
    #[doc(hidden)]
    pub fn into_question(self) -> Q {
        self.0
    }
}

wrapped_set!(ConfirmedQuestion, S::KIND.confirmed());
