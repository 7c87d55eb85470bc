//! What the type of a set says of all its values.

use super::AsCown;

/// What is known of all sets of a type when the program is compiled: which way their behaviours
/// take, and what that way can leave out.
///
/// Read it in a block `const { .. }`: then the ways that are not taken are not compiled.
#[derive(Clone, Copy)]
pub struct SetKind {
    /// It is always one cown, held exclusively.
    pub(crate) is_single: bool,
    /// A member may be held for reading.
    pub(crate) has_reads: bool,
    /// A handle may need to be told of behaviours: [`AsCown::ANNOUNCES`].
    pub(crate) announces: bool,
    /// The number of cowns, if it is constant and all are held exclusively.
    pub(crate) exclusive: Option<usize>,
    /// It is one cown whose behaviours always run: [`Unchecked`](super::Unchecked).
    pub(crate) is_unchecked: bool,
    /// Whether its one cown is in a group, if the type says so; see
    /// [`UncheckedIn`](super::UncheckedIn).
    pub(crate) grouped: Option<bool>,
    /// The state of its one cown may say which worker runs its behaviours:
    /// [`place`](super::CownSet::place).
    pub(crate) may_have_place: bool,
    /// A member may take part in a [commit](AsCown::COMMITS).
    pub(crate) commits: bool,
    /// Its behaviours do not wait for pending commits, and release it as soon as their own is
    /// pending: [`Pipelined`](super::Pipelined).
    pub(crate) is_pipelined: bool,
    /// The result of a behaviour is told only if the store confirms what it has seen:
    /// [`ConfirmedQuestion`](super::ConfirmedQuestion).
    pub(crate) is_confirmed: bool,
    /// A member that takes part in no commit may be held exclusively.
    pub(crate) has_volatile: bool,
}

impl SetKind {
    /// No cowns.
    pub(crate) const EMPTY: Self = Self {
        is_single: false,
        has_reads: false,
        announces: false,
        exclusive: Some(0),
        is_unchecked: false,
        grouped: None,
        may_have_place: false,
        commits: false,
        is_pipelined: false,
        is_confirmed: false,
        has_volatile: false,
    };

    /// One cown of a handle, held exclusively.
    pub(crate) const fn exclusive<H: AsCown>() -> Self {
        Self { is_single: true, exclusive: Some(1), ..Self::of_handle::<H>() }.changing::<H>()
    }

    /// One cown of a handle, held for reading.
    pub(crate) const fn read<H: AsCown>() -> Self {
        Self { has_reads: true, exclusive: None, ..Self::of_handle::<H>() }
    }

    /// Any number of cowns, held exclusively.
    pub(crate) const fn slice<H: AsCown>() -> Self {
        Self::read::<H>().changing::<H>()
    }

    const fn of_handle<H: AsCown>() -> Self {
        Self { announces: H::ANNOUNCES, commits: H::COMMITS, ..Self::EMPTY }
    }

    const fn changing<H: AsCown>(self) -> Self {
        Self { has_volatile: !H::COMMITS, ..self }
    }

    /// The same cown, whose behaviours always run.
    pub(crate) const fn unchecked(self) -> Self {
        Self { is_unchecked: true, ..self }
    }

    /// The same cown, which is in a group, or in none.
    pub(crate) const fn grouped(self, is_grouped: bool) -> Self {
        Self { grouped: Some(is_grouped), ..self }
    }

    /// The same cown, whose state may say where its behaviours run.
    pub(crate) const fn placed(self, may_have_place: bool) -> Self {
        Self { may_have_place, ..self }
    }

    /// The same set, for pipelined behaviours.
    pub(crate) const fn pipelined(self) -> Self {
        Self { is_pipelined: true, ..self }
    }

    /// The same set, for behaviours that the store confirms.
    pub(crate) const fn confirmed(self) -> Self {
        assert!(
            self.commits,
            "only behaviours over durable members are confirmed: no store has the state of others"
        );
        Self { is_confirmed: true, ..self }
    }

    /// The set and another one, as parts of a whole.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self {
            has_reads: self.has_reads || other.has_reads,
            announces: self.announces || other.announces,
            exclusive: match (self.exclusive, other.exclusive) {
                (Some(one), Some(more)) => one.checked_add(more),
                _ => None,
            },
            commits: self.commits || other.commits,
            is_pipelined: self.is_pipelined || other.is_pipelined,
            is_confirmed: self.is_confirmed || other.is_confirmed,
            has_volatile: self.has_volatile || other.has_volatile,
            ..Self::EMPTY
        }
    }

    /// So many sets of this kind, as parts of a whole.
    pub(crate) const fn times(self, count: usize) -> Self {
        let exclusive = match self.exclusive {
            Some(each) => each.checked_mul(count),
            None => None,
        };
        Self { exclusive, ..Self::EMPTY.and(self) }
    }
}
