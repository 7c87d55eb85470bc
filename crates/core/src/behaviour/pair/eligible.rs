//! Which sets name two cowns that can form a pair.

use coact_sync::prefetch;

use crate::cown::set::{CownSet, sealed::MemberVisitor};
use crate::queue::header::Flags;
use crate::queue::requested_cown::RequestedCown;

/// Returns the two cowns of a set that always names two, if they can be queued for as a pair, and
/// prefetches their headers, which are about to be written.
#[inline]
pub(in crate::behaviour) fn members<S: CownSet>(set: &S) -> Option<[RequestedCown; 2]> {
    const SPECIAL: u16 = Flags::GROUPED | Flags::PINNED | Flags::CROWDED;
    named_but_for::<SPECIAL, S>(set, |member| {
        prefetch::for_writing(member.live_cown().as_ptr());
    })
}

/// Returns the two cowns of a set that always names two, if they are distinct, and prefetches their
/// headers, which are about to be written.
#[inline(always)]
pub(in crate::behaviour) fn distinct<S: CownSet>(set: &S) -> Option<[RequestedCown; 2]> {
    let [a, b] = both(set, |member| prefetch::for_writing(member.live_cown().as_ptr()))?;
    (a.live_cown() != b.live_cown()).then_some([a, b])
}

/// Returns the two cowns of a set that always names two, if they can form a pair; calls `see` on
/// each before its header is read.
#[inline(always)]
pub(in crate::behaviour) fn named<S: CownSet>(
    set: &S,
    see: impl Fn(RequestedCown),
) -> Option<[RequestedCown; 2]> {
    const SPECIAL: u16 = Flags::GROUPED | Flags::PINNED;
    named_but_for::<SPECIAL, S>(set, see)
}

/// The same, if neither has one of these flags.
#[inline(always)]
fn named_but_for<const SPECIAL: u16, S: CownSet>(
    set: &S,
    see: impl Fn(RequestedCown),
) -> Option<[RequestedCown; 2]> {
    let [a, b] = both(set, see)?;
    let is_plain = |member: RequestedCown| !member.header().has(SPECIAL);
    (a.live_cown() != b.live_cown() && is_plain(a) && is_plain(b)).then_some([a, b])
}

/// Returns the two cowns of a set that always names two, and holds them exclusively; calls `see` on
/// each.
#[inline(always)]
fn both<S: CownSet>(set: &S, see: impl Fn(RequestedCown)) -> Option<[RequestedCown; 2]> {
    if const { !matches!(S::KIND.exclusive, Some(2)) } {
        return None;
    }
    let (mut found, mut len) = ([None; 2], 0);
    set.visit(&mut MemberVisitor(&mut |member: RequestedCown| {
        see(member);
        found[len] = Some(member);
        len += 1;
    }));
    let [Some(a), Some(b)] = found else { return None };
    Some([a, b])
}
