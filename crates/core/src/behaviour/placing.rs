//! Whether behaviours can be spawned on a set of cowns, and where they run.

use std::ptr::NonNull;

use smallvec::SmallVec;

use super::refusal::{Overlap, PinnedApart, Refusal};
use crate::cown::set::{CownSet, sealed::Visitor};
use crate::ids::RuntimeId;
use crate::queue::header::CownHeader;
use crate::queue::member::Member;
use crate::sched::context;
use crate::sched::phase::Phase;
use crate::sched::runtime_handle::current_id;
use crate::sched::shared;

/// How many members a set has.
///
/// # Errors
/// More than one behaviour can name. (Only handles without a size can be so many.)
#[inline]
pub(crate) fn count_members<S: CownSet>(set: &S) -> Result<u32, Refusal> {
    let members = set.member_count();
    u32::try_from(members).map_err(|_| Refusal::TooMany { members })
}

/// The one cown of a set that is [`SINGLE`](CownSet::SINGLE).
#[inline]
pub(super) fn only_member<S: CownSet>(set: &S) -> Member {
    let mut only = None;
    set.visit(&mut Visitor(&mut |member| only = Some(member)));
    only.expect("a single set has one member")
}

/// The runtime that a behaviour on the set runs on: that of its pinned cowns, and if it has none,
/// that of its first cown; a hint while that one may be moved.
///
/// # Errors
/// Cowns that are pinned to different places.
pub(crate) fn place_of<S: CownSet>(set: &S) -> Result<RuntimeId, PinnedApart> {
    let mut placing = Placing::default();
    set.visit(&mut Visitor(&mut |member: Member| placing.add(member)));
    placing.finish()
}

/// The same of members that are known, which are alive.
pub(crate) fn place_among(members: impl Iterator<Item = Member>) -> Result<RuntimeId, PinnedApart> {
    let mut placing = Placing::default();
    members.for_each(|member| placing.add(member));
    placing.finish()
}

/// The runtime that a behaviour on such members is bound to: that of the pinned ones, or, if there are no
/// members at all, the caller's. Otherwise it runs where its first cown is when its turn comes.
///
/// # Errors
/// As [`place_of`].
pub(crate) fn bound_among(
    members: impl Iterator<Item = Member>,
) -> Result<Option<RuntimeId>, PinnedApart> {
    let mut placing = Placing::default();
    members.for_each(|member| placing.add(member));
    match placing {
        Placing { apart: Some(apart), .. } => Err(apart),
        Placing { pinned: None, first: Some(_), .. } => Ok(None),
        other => Ok(Some(other.home())),
    }
}

/// Where a behaviour is to run, as far as is known.
#[derive(Default)]
struct Placing {
    at: usize,
    first: Option<Member>,
    pinned: Option<(usize, RuntimeId)>,
    apart: Option<PinnedApart>,
}

impl Placing {
    #[inline]
    fn add(&mut self, member: Member) {
        // SAFETY: the set's handle keeps the cown alive.
        let header = unsafe { member.header() };
        if header.is_pinned() {
            let (before, home) = *self.pinned.get_or_insert((self.at, header.home()));
            if home != header.home() {
                self.apart.get_or_insert(PinnedApart { first: before, second: self.at });
            }
        } else {
            self.first.get_or_insert(member);
        }
        self.at += 1;
    }

    #[inline]
    fn finish(self) -> Result<RuntimeId, PinnedApart> {
        self.apart.map_or_else(|| Ok(self.home()), Err)
    }

    #[inline]
    fn home(&self) -> RuntimeId {
        let pinned = self.pinned.map(|(_, home)| home);
        // SAFETY: as in `add`.
        let first = || self.first.map(|member| unsafe { member.header() }.home());
        pinned.or_else(first).unwrap_or_else(current_id)
    }
}

/// The same for a set that may still be refused: then it is that of one of its cowns.
pub(crate) fn home_of<S: CownSet>(set: &S) -> RuntimeId {
    let mut placing = Placing::default();
    set.visit(&mut Visitor(&mut |member: Member| placing.add(member)));
    placing.home()
}

/// Why no behaviour can ever be spawned on the set, if there is a reason.
pub(crate) fn refusal_of<S: CownSet>(set: &S) -> Option<Refusal> {
    if S::SINGLE {
        return None;
    }
    if let Err(refusal) = count_members(set) {
        return Some(refusal);
    }
    let mut placing = Placing::default();
    set.visit(&mut Visitor(&mut |member: Member| placing.add(member)));
    if let Some(apart) = placing.apart {
        return Some(Refusal::PinnedApart(apart));
    }
    overlap_in(set).map(Refusal::Overlap)
}

/// The overlap in a set, if there is one.
fn overlap_in<S: CownSet>(set: &S) -> Option<Overlap> {
    let mut members = SmallVec::<[_; 8]>::new();
    set.visit(&mut Visitor(&mut |member: Member| members.push(member.header_ptr())));
    overlap_among(&members)
}

/// The first two positions of the same cown.
#[cold]
pub(crate) fn overlap_among(cowns: &[NonNull<CownHeader>]) -> Option<Overlap> {
    let mut sorted = SmallVec::<[_; 8]>::from_slice(cowns);
    sorted.sort_unstable();
    let twice = sorted.windows(2).find(|pair| pair[0] == pair[1])?[0];
    let mut positions = (0..cowns.len()).filter(|at| cowns[*at] == twice);
    Some(Overlap { first: positions.next()?, second: positions.next()? })
}

/// # Panics
/// If the set names a cown twice, or cowns of different pumps. (A set that passes does so for good:
/// no cown is pinned later.)
#[track_caller]
pub(crate) fn assert_spawnable<S: CownSet>(set: &S) {
    if let Some(refusal) = refusal_of(set) {
        panic!("{refusal}");
    }
}

/// Whether the runtime of the set takes no more behaviours. (A set that is refused anyway has none.)
pub(crate) fn is_closed<S: CownSet>(set: &S) -> bool {
    count_members(set).is_ok() && is_closed_at(home_of(set))
}

/// Whether the runtime takes no more behaviours from this thread. (A worker that works it off may bring
/// more until the end.)
pub(crate) fn is_closed_at(home: RuntimeId) -> bool {
    // The runtime of a model does not exist.
    !cfg!(loom) && !context::is_worker_of(home) && shared::get(home).phase() != Phase::Running
}
