//! Decides whether behaviours can be spawned on a set of cowns, and where they run.

use smallvec::SmallVec;

use super::refusal::{Overlap, PinnedApart, Refusal};
use crate::cown::set::{CownSet, sealed::MemberVisitor};
use crate::queue::live_cown::LiveCown;
use crate::queue::requested_cown::RequestedCown;
use crate::runtime_ids::RuntimeId;
use crate::sched::context;
use crate::sched::phase::RuntimePhase;
use crate::sched::refuse_outside_simulation::is_outside_its_simulation;
use crate::sched::runtime_handle::current_id;
use crate::sched::runtime_shared;
use crate::simulated;

/// Counts the members of a set.
///
/// # Errors
/// Returns an error if there are more than a behaviour can have. (Only zero-sized handles can be so
/// many.)
#[inline]
pub(crate) fn count_members<S: CownSet>(set: &S) -> Result<u32, Refusal> {
    let members = set.member_count();
    u32::try_from(members).map_err(|_| Refusal::TooMany { members })
}

/// Returns the one cown of a set that always names one exclusively.
#[inline]
pub(super) fn only_member<S: CownSet>(set: &S) -> RequestedCown {
    let mut only = None;
    set.visit(&mut MemberVisitor(&mut |member| only = Some(member)));
    only.expect("a single set has one member")
}

/// Returns the runtime that a behaviour on the set runs on: that of its pinned cowns or, if it has
/// none, that of its first cown; a hint while that one may move.
///
/// # Errors
/// Returns an error if cowns are pinned to different pumps.
pub(crate) fn place_of<S: CownSet>(set: &S) -> Result<RuntimeId, PinnedApart> {
    let mut placing = HomeSearch::default();
    set.visit(&mut MemberVisitor(&mut |member: RequestedCown| placing.add(member)));
    placing.finish()
}

/// The same for known members, which are alive.
pub(crate) fn place_among(
    members: impl Iterator<Item = RequestedCown>,
) -> Result<RuntimeId, PinnedApart> {
    let mut placing = HomeSearch::default();
    members.for_each(|member| placing.add(member));
    placing.finish()
}

/// Returns the runtime that a behaviour on such members is bound to: that of the pinned ones or, if
/// there are no members at all, the caller's. Otherwise it runs where its first cown is at the time
/// it is ready.
///
/// # Errors
/// See [`place_of`].
pub(crate) fn bound_among(
    members: impl Iterator<Item = RequestedCown>,
) -> Result<Option<RuntimeId>, PinnedApart> {
    let mut placing = HomeSearch::default();
    members.for_each(|member| placing.add(member));
    match placing {
        HomeSearch { apart: Some(apart), .. } => Err(apart),
        HomeSearch { pinned: None, first: Some(_), .. } => Ok(None),
        other => Ok(Some(other.home())),
    }
}

/// Where a behaviour runs, as far as it is known.
#[derive(Default)]
struct HomeSearch {
    at: usize,
    first: Option<RequestedCown>,
    pinned: Option<(usize, RuntimeId)>,
    apart: Option<PinnedApart>,
}

impl HomeSearch {
    #[inline]
    fn add(&mut self, member: RequestedCown) {
        let header = member.header();
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
        let first = || self.first.map(|member| member.header().home());
        pinned.or_else(first).unwrap_or_else(current_id)
    }
}

/// The same for a set that may still be refused: then it is that of one of its cowns.
pub(crate) fn home_of<S: CownSet>(set: &S) -> RuntimeId {
    let mut placing = HomeSearch::default();
    set.visit(&mut MemberVisitor(&mut |member: RequestedCown| placing.add(member)));
    placing.home()
}

/// Returns why no behaviour can ever be spawned on the set, if there is a reason.
pub(crate) fn refusal_of<S: CownSet>(set: &S) -> Option<Refusal> {
    if const { S::KIND.is_single } {
        return None;
    }
    if let Err(refusal) = count_members(set) {
        return Some(refusal);
    }
    let mut placing = HomeSearch::default();
    set.visit(&mut MemberVisitor(&mut |member: RequestedCown| placing.add(member)));
    if let Some(apart) = placing.apart {
        return Some(Refusal::PinnedApart(apart));
    }
    overlap_in(set).map(Refusal::Overlap)
}

/// Returns the overlap in a set, if there is one.
fn overlap_in<S: CownSet>(set: &S) -> Option<Overlap> {
    let mut members = SmallVec::<[_; 8]>::new();
    set.visit(&mut MemberVisitor(&mut |member: RequestedCown| members.push(member.live_cown())));
    overlap_among(&members)
}

/// Returns the first two positions of the same cown.
#[cold]
pub(crate) fn overlap_among(cowns: &[LiveCown]) -> Option<Overlap> {
    let mut sorted = SmallVec::<[_; 8]>::from_slice(cowns);
    sorted.sort_unstable();
    let twice = sorted.windows(2).find(|pair| pair[0] == pair[1])?[0];
    let mut positions = (0..cowns.len()).filter(|at| cowns[*at] == twice);
    Some(Overlap { first: positions.next()?, second: positions.next()? })
}

/// # Panics
/// Panics if the set names a cown twice, or cowns of different pumps. (A set that passes can always
/// be used: no cown is pinned later.)
#[track_caller]
pub(crate) fn assert_spawnable<S: CownSet>(set: &S) {
    if let Some(refusal) = refusal_of(set) {
        panic!("{refusal}");
    }
}

/// Returns whether a member is in a simulation, and this thread is not part of one.
#[inline(always)]
pub(super) fn is_set_out_of_reach<S: CownSet>(set: &S) -> bool {
    simulated::may_be_elsewhere() && has_simulated_member(set)
}

#[cold]
#[inline(never)]
fn has_simulated_member<S: CownSet>(set: &S) -> bool {
    let mut found = false;
    let home = |member: RequestedCown| member.header().home();
    set.visit(&mut MemberVisitor(&mut |member| {
        found |= is_outside_its_simulation(|| home(member))
    }));
    found
}

/// Returns whether the runtime of the set accepts no more behaviours. (A set that is refused anyway
/// has no runtime.)
pub(crate) fn is_closed<S: CownSet>(set: &S) -> bool {
    count_members(set).is_ok() && is_closed_at(home_of(set))
}

/// Returns whether the runtime accepts no more behaviours from this thread. (A worker that
/// completes its work may add more until the end.)
pub(crate) fn is_closed_at(home: RuntimeId) -> bool {
    // A model has no runtime.
    !cfg!(loom)
        && !context::is_worker_of(home)
        && runtime_shared::get(home).phase() != RuntimePhase::Running
}
