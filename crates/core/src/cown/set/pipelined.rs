//! Sets of states that [settle](super::AsCown::SETTLES), for behaviours that begin while what others have done to these is on its way to be kept, and
//! release them when what they have done themselves is.

use super::CownSet;
use super::sealed::{Sealed, SetAdmission, Visitor};
use super::wrapped::wrapped_set;
use crate::cown::member_cursor::MemberCursor;
use crate::cown::settling::SettlingMember;
use crate::sched::worker::bound::WorkerPlace;

/// A set of durable members, for a behaviour that waits for no commit but its own; see [`pipelined`].
#[derive(Clone, Copy, Debug)]
pub struct Pipelined<S>(S);

#[expect(missing_docs, reason = "the crate of durable actors says what it is, and shows it")]
#[inline]
pub fn pipelined<S: CownSet>(set: S) -> Pipelined<S> {
    const {
        assert!(
            S::SETTLES,
            "only behaviours over durable members are pipelined: others have nothing to wait for"
        );
    }
    Pipelined(set)
}

wrapped_set!(Pipelined, SETTLES: S::SETTLES, PIPELINED: true, CONFIRMED: S::CONFIRMED);
