//! Sets of one or two cowns, which are claimed with one look at their flags.

use crate::behaviour::pair;
use crate::behaviour::spawn_checks;
use crate::cown::set::CownSet;
use crate::queue::header::{CownHeader, Flags};
use crate::queue::requested_cown::RequestedCown;
use crate::runtime_ids::RuntimeId;

/// The members of a set that always holds one or two cowns exclusively.
#[derive(Clone, Copy)]
pub(super) enum OneOrTwo {
    One(RequestedCown),
    /// Two distinct cowns.
    Two([RequestedCown; 2]),
    /// Any other set.
    No,
}

impl OneOrTwo {
    #[inline(always)]
    pub(super) fn of<S: CownSet>(set: &S) -> Self {
        if const { S::KIND.is_single } {
            return OneOrTwo::One(spawn_checks::only_member(set));
        }
        pair::distinct(set).map_or(OneOrTwo::No, OneOrTwo::Two)
    }

    /// Returns whether the set is one cown outside of groups, or two that can form a pair.
    pub(super) fn has_few_queues<S: CownSet>(set: &S) -> bool {
        let is_grouped = |member: RequestedCown| member.header().is_grouped();
        S::KIND.is_single && !is_grouped(spawn_checks::only_member(set))
            || pair::named(set, |_| ()).is_some()
    }

    /// Returns whether a behaviour on the cowns runs in this runtime, and only has to claim them; a
    /// hint.
    #[inline(always)]
    pub(super) fn are_plain(self, home: RuntimeId) -> bool {
        match self {
            OneOrTwo::One(member) => is_plain(member.header(), home),
            OneOrTwo::Two([a, b]) => are_plain([a.header(), b.header()], home),
            OneOrTwo::No => false,
        }
    }

    /// Returns whether the queues of such a set look empty; a hint. It does not write, so the
    /// threads that use the cowns keep the cache lines.
    pub(super) fn look_free<S: CownSet>(set: &S) -> bool {
        let is_free = |member: RequestedCown| !member.header().is_in_use(false);
        match pair::named(set, |_| ()) {
            Some(members) => members.into_iter().all(is_free),
            None => S::KIND.is_single && is_free(spawn_checks::only_member(set)),
        }
    }

    /// Returns the runtime of a behaviour on the cowns if they [are plain](Self::are_plain) there;
    /// a hint.
    #[inline(always)]
    pub(super) fn plain_home(self) -> Option<RuntimeId> {
        let first = match self {
            OneOrTwo::One(first) | OneOrTwo::Two([first, _]) => first.header(),
            OneOrTwo::No => return None,
        };
        // (Meaningless for a member of a group, which is not plain.)
        let home = first.home_of_queue();
        self.are_plain(home).then_some(home)
    }
}

/// The flags of a cown that a behaviour cannot simply claim, use and release.
const SPECIAL: u16 = Flags::GROUPED | Flags::INTERRUPT | Flags::POISONED | Flags::CLOSED;

/// Returns whether a behaviour on a cown runs in this runtime, and only has to claim it. Exact for
/// the token holder.
#[inline(always)]
pub(super) fn is_plain(cown: &CownHeader, home: RuntimeId) -> bool {
    cown.flags.is_plain(home, SPECIAL | Flags::READ) || is_plain_unread(cown, home)
}

/// The same for a cown that has been read.
#[cold]
#[inline(never)]
fn is_plain_unread(cown: &CownHeader, home: RuntimeId) -> bool {
    cown.flags.is_plain(home, SPECIAL) && cown.is_unread()
}

/// The same for two cowns; the runtime is that of the first.
#[inline(always)]
pub(super) fn are_plain([a, b]: [&CownHeader; 2], home: RuntimeId) -> bool {
    a.flags.is_plain_beside(&b.flags, home, SPECIAL | Flags::PINNED | Flags::READ)
        || are_plain_unread([a, b], home)
}

/// The same for two cowns of which one has been read.
#[cold]
#[inline(never)]
fn are_plain_unread([a, b]: [&CownHeader; 2], home: RuntimeId) -> bool {
    a.flags.is_plain_beside(&b.flags, home, SPECIAL | Flags::PINNED)
        && a.is_unread()
        && b.is_unread()
}
