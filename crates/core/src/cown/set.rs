//! What can stand in front of a behaviour's closure: cowns, tuples, arrays and slices of them.

use std::marker::PhantomData;
use std::mem::needs_drop;
use std::ptr::NonNull;

use super::access::{Cursor, Held, Members, Poisoned, ReadMembers};
use super::checked::{self, CheckedMembers, CheckedReadMembers, PoisonedRead};
use super::handle::Cown;
use super::header::{CownHeader, Member};
use super::layout::CownBox;
use crate::credits::Permit;
use crate::panic::drop_quietly;

/// A set of cowns that a behaviour needs, and how it needs each of them.
///
/// | set | the closure gets |
/// | --- | --- |
/// | `&a` | `&mut A` |
/// | `a` (a [`Cown<A>`](Cown)) | [`Held<A>`](Held): like `&mut A`, with the handle |
/// | `a.read()` | `&A` |
/// | `a.checked()` | `Result<&mut A, Poisoned<A>>` |
/// | `a.read().checked()` | `Result<&A, PoisonedRead<A>>` |
/// | `(&a, b.read())`, up to 8 members | `(&mut A, &B)` |
/// | `[&a, &b]` | `[&mut A; 2]` |
/// | `&vec[..]`, `&vec` (of `Cown<A>` or `&Cown<A>`) | [`Members<A>`](Members) |
/// | `read_all(&vec)` | [`ReadMembers<A>`](ReadMembers) |
/// | `checked_all(&vec)` | [`CheckedMembers<A>`](CheckedMembers) |
/// | `read_all(&vec).checked()` | [`CheckedReadMembers<A>`](CheckedReadMembers) |
///
/// Tuples and arrays may hold any of these, tuples and slices too. Nothing is cloned or counted. In
/// the place of a cown there may be any handle of one ([`AsCown`]), such as the address of an actor.
///
/// The trait is sealed: its hidden items are no part of the public interface.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name the cowns of a behaviour",
    label = "expected `&cown`, `cown.read()`, `cown.checked()`, a slice of cowns, or a tuple of these",
    note = "a tuple may have up to 8 members; nest tuples or use a slice for more",
    note = "reading with `.read()` needs a state that is `Sync`"
)]
pub trait CownSet: sealed::Sealed {
    /// What the behaviour's closure gets.
    type Access<'a>;

    /// What is needed, beside the requests, to build the access.
    #[doc(hidden)]
    type Shape: Copy + Send + 'static;

    /// The same set with handles of its own.
    #[doc(hidden)]
    type Owned: for<'a> CownSet<Access<'a> = Self::Access<'a>, Owned = Self::Owned> + Send + 'static;

    /// Whether the set is always one cown, held exclusively.
    #[doc(hidden)]
    const SINGLE: bool = false;

    /// Whether some member of such a set may be held for reading.
    #[doc(hidden)]
    const HAS_READS: bool = true;

    /// Whether some handle of such a set may want to be told of behaviours: [`AsCown::ANNOUNCES`].
    #[doc(hidden)]
    const ANNOUNCES: bool = true;

    /// How many cowns such a set names, if these are always as many, and all held exclusively.
    #[doc(hidden)]
    const EXCLUSIVE: Option<usize> = None;

    /// Whether the set is one cown whose behaviours come in any case: [`Regardless`].
    #[doc(hidden)]
    const REGARDLESS: bool = false;

    #[doc(hidden)]
    fn member_count(&self) -> usize;

    #[doc(hidden)]
    fn shape(&self) -> Self::Shape;

    #[doc(hidden)]
    fn to_owned_set(&self) -> Self::Owned;

    #[doc(hidden)]
    fn visit(&self, visitor: &mut sealed::Visitor<'_>);

    /// Gives the handles that are in the set by value to the behaviour that was made from it.
    #[doc(hidden)]
    fn give(self);

    /// Tells the handles of the set that a behaviour on it is about to be queued: [`AsCown::announce`]. Returns
    /// whether one of them is to be asked.
    #[doc(hidden)]
    fn announce_all(&self) -> bool;

    /// Tells them that this is over: [`AsCown::announced`].
    #[doc(hidden)]
    fn announced_all(&self);

    /// Asks the handles of the set, in their order, until one refuses: [`AsCown::admit`].
    #[doc(hidden)]
    fn admit_all(&self, admission: &mut sealed::Admission);

    /// Builds the access; it takes over the handles that were given.
    ///
    /// # Safety
    /// The behaviour holds the members that the cursor runs over for `'a`, and they are those that
    /// a set of this shape named and gave.
    #[doc(hidden)]
    unsafe fn access<'a>(shape: Self::Shape, members: &mut Cursor<'a>) -> Self::Access<'a>;

    /// Drops the handles that were given, of a behaviour that will not have its access.
    ///
    /// # Safety
    /// As for `access`, of which this takes the place; the members need not be held.
    #[doc(hidden)]
    unsafe fn abandon(shape: Self::Shape, members: &mut Cursor<'_>);
}

pub(crate) mod sealed {
    use super::Member;
    use crate::credits::Permit;

    /// Keeps [`CownSet`](super::CownSet) ours.
    pub trait Sealed {}

    /// What the handles of a set have said to a behaviour on it.
    #[derive(Default)]
    pub struct Admission {
        pub(crate) permits: Vec<Permit>,
        asked: usize,
        pub(crate) refused_by: Option<usize>,
    }

    impl Admission {
        /// Asks the next member, unless one has refused.
        pub(super) fn ask(&mut self, member: impl FnOnce() -> Option<Option<Permit>>) {
            if self.refused_by.is_some() {
                return;
            }
            match member() {
                Some(permit) => self.permits.extend(permit),
                None => self.refused_by = Some(self.asked),
            }
            self.asked += 1;
        }

        /// Counts a member that is not asked.
        pub(super) fn skip(&mut self) {
            self.asked += 1;
        }
    }

    /// Takes the members of a set one after the other.
    pub struct Visitor<'a>(pub(crate) &'a mut dyn FnMut(Member));

    impl Visitor<'_> {
        #[inline]
        pub(crate) fn member(&mut self, member: Member) {
            (self.0)(member);
        }
    }
}

use sealed::{Admission, Sealed, Visitor};

/// A handle that stands for a cown, and shows some part of its state to behaviours: the cown itself,
/// or the address of an actor.
pub trait AsCown: Clone + Send + 'static {
    /// The cown's state.
    type State: Send + 'static;

    /// The part of it that behaviours see.
    type View: 'static;

    /// Whether behaviours come [regardless](Cown::regardless) of the cown's condition.
    const REGARDLESS: bool = false;

    /// The cown.
    fn as_cown(&self) -> &Cown<Self::State>;

    /// The view for reading. It is called with the cown held, and must not panic.
    fn view(state: &Self::State) -> &Self::View;

    /// The view. It is called with the cown held exclusively, and must not panic.
    fn view_mut(state: &mut Self::State) -> &mut Self::View;

    /// Whether handles of this type want [`announce`](Self::announce) to be called at all.
    const ANNOUNCES: bool = true;

    /// Called before a behaviour that names this handle is queued, by the thread that spawns it. For handles of
    /// states that keep an order of their own beside that of the queue. Must not panic. (A behaviour of
    /// [`when_here`](crate::when_here) that has its turn at once is never queued.)
    ///
    /// Returns whether the handle is to be asked first whether the behaviour may be queued:
    /// [`admit`](Self::admit).
    #[inline]
    fn announce(&self) -> bool {
        false
    }

    /// Called by the same thread after each [`announce`](Self::announce): once the behaviour stands in all its
    /// queues, or will not. Must not panic.
    #[inline]
    fn announced(&self) {}

    /// Asked before a behaviour that names this handle is queued, if [`announce`](Self::announce) says so:
    /// `None` refuses it. The permit, if there is one, is dropped when the behaviour begins, or is dropped
    /// unrun. Must not block.
    fn admit(&self) -> Option<Option<Permit>> {
        Some(None)
    }

    /// This handle as a member of a set that is held for reading: the closure gets a shared
    /// reference, and readers that stand next to each other in the cown's order run in parallel.
    fn read(&self) -> Read<'_, Self::View, Self>
    where
        Self::State: Sync,
    {
        Read(self, PhantomData)
    }
}

impl<T: Send + 'static> AsCown for Cown<T> {
    type State = T;
    type View = T;
    const ANNOUNCES: bool = false;

    #[inline]
    fn as_cown(&self) -> &Cown<T> {
        self
    }

    #[inline]
    fn view(state: &T) -> &T {
        state
    }

    #[inline]
    fn view_mut(state: &mut T) -> &mut T {
        state
    }
}

/// What a slice that names cowns may consist of: handles ([`AsCown`]), or references to them, as
/// `&Cown<T>`.
pub trait CownRef {
    /// The handle.
    type Handle: AsCown;

    /// The handle.
    fn handle(&self) -> &Self::Handle;
}

impl<H: AsCown> CownRef for H {
    type Handle = H;

    #[inline]
    fn handle(&self) -> &H {
        self
    }
}

impl<T: Send + 'static> CownRef for &Cown<T> {
    type Handle = Cown<T>;

    #[inline]
    fn handle(&self) -> &Cown<T> {
        self
    }
}

/// What a form of a set knows of its handles' type: exactly that it is this one. Another that it could be coerced to may
/// have another state behind the same view, for which the form could not have been made.
pub(crate) type Exactly<T, H> = PhantomData<(fn() -> T, fn(H) -> H)>;

/// A cown held for reading; see [`Cown::read`].
///
/// One exists only where the state is [`Sync`]: it is looked for where it is made, so that what is wrong is
/// told there, and once.
#[derive(Debug)]
pub struct Read<'c, T, H = Cown<T>>(pub(crate) &'c H, pub(crate) Exactly<T, H>);

/// A cown whose poison the behaviour wants to see; see [`Cown::checked`].
#[derive(Debug)]
pub struct Checked<'c, T: Send + 'static>(pub(crate) &'c Cown<T>);

/// A cown whose behaviour runs in any case; see [`Cown::regardless`].
#[derive(Debug)]
pub struct Regardless<'c, T: Send + 'static>(pub(crate) &'c Cown<T>);

/// A cown by value whose behaviour runs in any case; see [`Cown::into_regardless`].
#[derive(Debug)]
pub struct RegardlessHeld<T: Send + 'static>(pub(crate) Cown<T>);

/// A cown held for reading whose poison the behaviour wants to see; see [`Read::checked`].
#[derive(Debug)]
pub struct CheckedRead<'c, T: Send + 'static>(&'c Cown<T>);

impl<'c, T: Send + Sync + 'static> Read<'c, T> {
    /// Reads the cown even if it is poisoned: the closure gets a `Result`.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::{Cown, ask, when};
    ///
    /// let cown = Cown::new(1);
    /// when(&cown, |n| { *n = 7; panic!("half way") });
    /// let seen = ask(cown.read().checked(), |n| match n {
    ///     Ok(sound) => *sound,
    ///     Err(poisoned) => -*poisoned.get_ref(),
    /// });
    /// assert_eq!(seen.wait(), Ok(-7));
    /// ```
    pub fn checked(self) -> CheckedRead<'c, T> {
        CheckedRead(self.0)
    }
}

/// A slice of cowns held for reading; see [`read_all`]. As [`Read`], only where states are [`Sync`].
#[derive(Debug)]
pub struct ReadAll<'c, T, H = Cown<T>>(&'c [H], Exactly<T, H>);

/// A slice of cowns held for reading, poisoned or not; see [`ReadAll::checked`].
#[derive(Debug)]
pub struct CheckedReadAll<'c, T, H = Cown<T>>(&'c [H], Exactly<T, H>);

/// A slice of cowns, poisoned or not; see [`checked_all`].
#[derive(Debug)]
pub struct CheckedAll<'c, T, H = Cown<T>>(&'c [H], Exactly<T, H>);

/// Names all cowns of a slice for reading.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, ask, read_all};
///
/// let accounts: Vec<Cown<u64>> = (1..=4).map(Cown::new).collect();
/// let sum = ask(read_all(&accounts), |all| all.iter().sum::<u64>());
/// assert_eq!(sum.wait().unwrap(), 10);
/// ```
pub fn read_all<R>(cowns: &[R]) -> ReadAll<'_, <R::Handle as AsCown>::View, R>
where
    R: CownRef,
    <R::Handle as AsCown>::State: Sync,
{
    ReadAll(cowns, PhantomData)
}

impl<'c, T, R> ReadAll<'c, T, R> {
    /// Reads the cowns even if some are poisoned, or closed as that of an actor that has ended: the
    /// closure gets a `Result` for each, and all others.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::{Cown, ask, read_all, when};
    ///
    /// let accounts: Vec<Cown<u64>> = (1..=4).map(Cown::new).collect();
    /// when(&accounts[2], |_| panic!("half way"));
    /// let report = ask(read_all(&accounts).checked(), |all| {
    ///     let sum: u64 = all.iter().flatten().sum();
    ///     let unsound: Vec<_> = (0..all.len()).filter(|at| all.get(*at).unwrap().is_err()).collect();
    ///     (sum, unsound)
    /// });
    /// assert_eq!(report.wait(), Ok((7, vec![2])));
    /// ```
    pub fn checked(self) -> CheckedReadAll<'c, T, R> {
        CheckedReadAll(self.0, PhantomData)
    }
}

/// Names all cowns of a slice, of which some may be poisoned, or closed as that of an actor that has
/// ended: the closure gets a `Result` for each, and can clear the mark of those that are poisoned.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, MemberError, ask, checked_all, when};
///
/// let accounts: Vec<Cown<u64>> = (1..=4).map(Cown::new).collect();
/// when(&accounts[2], |_| panic!("half way"));
/// when(checked_all(&accounts), |mut all| {
///     for account in all.iter_mut() {
///         match account {
///             Ok(balance) => *balance += 1,
///             Err(MemberError::Poisoned(poisoned)) => *poisoned.clear() = 0,
///             Err(_) => {}
///         }
///     }
/// });
/// assert_eq!(ask(&accounts, |all| all.iter().sum::<u64>()).wait(), Ok(10));
/// ```
pub fn checked_all<R: CownRef>(cowns: &[R]) -> CheckedAll<'_, <R::Handle as AsCown>::View, R> {
    CheckedAll(cowns, PhantomData)
}

/// The owned forms of the sets above.
#[doc(hidden)]
pub mod owned {
    use super::Cown;

    pub struct Exclusive<H>(pub(super) H);
    pub struct Read<H>(pub(super) H);
    pub struct Checked<T: Send + 'static>(pub(super) Cown<T>);
    pub struct Regardless<T: Send + 'static>(pub(super) Cown<T>);
    pub struct Slice<H>(pub(super) Box<[H]>);
    pub struct ReadAll<H>(pub(super) Box<[H]>);
    pub struct CheckedRead<T: Send + 'static>(pub(super) Cown<T>);
    pub struct CheckedAll<H>(pub(super) Box<[H]>);
    pub struct CheckedReadAll<H>(pub(super) Box<[H]>);
}

/// Lets a set go of which the behaviour has nothing. What foreign handles do at their end must not
/// keep others, which are given away, from being forgotten.
#[inline]
fn forget<S>(set: S) {
    if needs_drop::<S>() {
        drop_quietly(move || drop(set));
    }
}

/// How a handle names its cown for a behaviour that changes it.
#[inline]
fn exclusive<H: AsCown>(cown: NonNull<CownHeader>) -> Member {
    if H::REGARDLESS { Member::checked(cown) } else { Member::exclusive(cown) }
}

/// The view of a held cown.
///
/// # Safety
/// The cown is one of `H`'s, and held for reading for `'a`; or its state is not [`Sync`], and held
/// exclusively. (A [`Read`] is made only of states that are `Sync`.)
#[inline]
pub(super) unsafe fn view<'a, H: AsCown>(cown: NonNull<CownHeader>) -> &'a H::View {
    // SAFETY: by the caller's word.
    H::view(unsafe { &*CownBox::<H::State>::state(cown) })
}

/// The view of a held cown, to change it.
///
/// # Safety
/// The cown is one of `H`'s, and held exclusively for `'a`; nobody else has a reference to it.
#[inline]
pub(super) unsafe fn view_mut<'a, H: AsCown>(cown: NonNull<CownHeader>) -> &'a mut H::View {
    // SAFETY: by the caller's word.
    H::view_mut(unsafe { &mut *CownBox::<H::State>::state(cown) })
}

/// One kind of single member, in its borrowed and its owned form.
macro_rules! one_cown {
    ([$($generics:tt)*] $set:ty, $owned:ty, $access:ty, single: $single:expr, announces: $announces:expr,
     $(regardless: $regardless:expr,)? |$this:ident| $cown:expr, own: $own:expr, member: $member:path, |$ptr:ident| $get:expr) => {
        impl<$($generics)*> Sealed for $set {}

        impl<$($generics)*> CownSet for $set {
            type Access<'a> = $access;
            type Shape = ();
            type Owned = $owned;
            const SINGLE: bool = $single;
            const HAS_READS: bool = !$single;
            const ANNOUNCES: bool = $announces;
            const EXCLUSIVE: Option<usize> = if $single { Some(1) } else { None };
            $(const REGARDLESS: bool = $regardless;)?

            #[inline]
            fn member_count(&self) -> usize {
                1
            }

            #[inline]
            fn shape(&self) {}

            fn to_owned_set(&self) -> $owned {
                let $this = self;
                #[allow(clippy::redundant_closure_call)]
                ($own)($cown.clone())
            }

            #[inline]
            fn visit(&self, visitor: &mut Visitor<'_>) {
                let $this = self;
                visitor.member($member($cown.as_cown().header_ptr()));
            }

            #[inline]
            fn give(self) {
                forget(self);
            }

            #[inline]
            fn announce_all(&self) -> bool {
                let $this = self;
                $cown.announce()
            }

            #[inline]
            fn announced_all(&self) {
                let $this = self;
                $cown.announced();
            }

            fn admit_all(&self, admission: &mut Admission) {
                let $this = self;
                admission.ask(|| $cown.admit());
            }

            #[inline]
            unsafe fn access<'a>((): (), members: &mut Cursor<'a>) -> $access {
                let $ptr = members.advance().header_ptr();
                // SAFETY: held as the member asks for, and of its type, by the caller's word.
                unsafe { $get }
            }

            unsafe fn abandon((): (), members: &mut Cursor<'_>) {
                members.advance();
            }
        }
    };
}

one_cown!([H: AsCown] &H, owned::Exclusive<H>, &'a mut H::View, single: true, announces: H::ANNOUNCES, |this| *this,
    own: owned::Exclusive, member: exclusive::<H>, |cown| view_mut::<H>(cown));
one_cown!([H: AsCown] owned::Exclusive<H>, owned::Exclusive<H>, &'a mut H::View, single: true, announces: H::ANNOUNCES,
    |this| this.0, own: owned::Exclusive, member: exclusive::<H>, |cown| view_mut::<H>(cown));
one_cown!([H: AsCown] Read<'_, H::View, H>, owned::Read<H>, &'a H::View, single: false, announces: H::ANNOUNCES,
    |this| this.0, own: owned::Read, member: Member::read, |cown| view::<H>(cown));
one_cown!([H: AsCown] owned::Read<H>, owned::Read<H>, &'a H::View, single: false, announces: H::ANNOUNCES,
    |this| this.0, own: owned::Read, member: Member::read, |cown| view::<H>(cown));
one_cown!([T: Send + Sync + 'static] CheckedRead<'_, T>, owned::CheckedRead<T>,
    Result<&'a T, PoisonedRead<'a, T>>, single: false, announces: false, |this| this.0, own: owned::CheckedRead,
    member: Member::checked_read, |cown| checked::read_one::<Cown<T>>(cown));
one_cown!([T: Send + Sync + 'static] owned::CheckedRead<T>, owned::CheckedRead<T>,
    Result<&'a T, PoisonedRead<'a, T>>, single: false, announces: false, |this| this.0, own: owned::CheckedRead,
    member: Member::checked_read, |cown| checked::read_one::<Cown<T>>(cown));
one_cown!([T: Send + 'static] Checked<'_, T>, owned::Checked<T>, Result<&'a mut T, Poisoned<'a, T>>,
    single: true, announces: false, |this| this.0, own: owned::Checked, member: Member::checked, |cown| hold_checked(cown));
one_cown!([T: Send + 'static] owned::Checked<T>, owned::Checked<T>,
    Result<&'a mut T, Poisoned<'a, T>>, single: true, announces: false, |this| this.0, own: owned::Checked,
    member: Member::checked, |cown| hold_checked(cown));
one_cown!([T: Send + 'static] Regardless<'_, T>, owned::Regardless<T>, &'a mut T, single: true, announces: false,
    regardless: true, |this| this.0, own: owned::Regardless, member: Member::checked,
    |cown| view_mut::<Cown<T>>(cown));
one_cown!([T: Send + 'static] owned::Regardless<T>, owned::Regardless<T>, &'a mut T, single: true, announces: false,
    regardless: true, |this| this.0, own: owned::Regardless, member: Member::checked,
    |cown| view_mut::<Cown<T>>(cown));

impl<T: Send + 'static> Sealed for Cown<T> {}

/// By value: the behaviour takes the handle along, and the closure gets it with the state.
impl<T: Send + 'static> CownSet for Cown<T> {
    type Access<'a> = Held<'a, T>;
    type Shape = ();
    type Owned = Cown<T>;
    const SINGLE: bool = true;
    const HAS_READS: bool = false;
    const ANNOUNCES: bool = false;
    const EXCLUSIVE: Option<usize> = Some(1);

    #[inline]
    fn member_count(&self) -> usize {
        1
    }

    #[inline]
    fn shape(&self) {}

    fn to_owned_set(&self) -> Self {
        self.clone()
    }

    #[inline]
    fn visit(&self, visitor: &mut Visitor<'_>) {
        visitor.member(Member::exclusive(self.header_ptr()));
    }

    #[inline]
    fn give(self) {
        std::mem::forget(self);
    }

    #[inline]
    fn announce_all(&self) -> bool {
        false
    }

    fn announced_all(&self) {}

    fn admit_all(&self, admission: &mut Admission) {
        admission.skip();
    }

    #[inline]
    unsafe fn access<'a>((): (), members: &mut Cursor<'a>) -> Held<'a, T> {
        let cown = members.advance().header_ptr();
        // SAFETY: held, and of `T`; `give` has left a handle to us.
        unsafe { Held::new(&mut *CownBox::<T>::state(cown), Cown::from_header(cown)) }
    }

    unsafe fn abandon((): (), members: &mut Cursor<'_>) {
        // SAFETY: `give` has left a handle to us.
        drop(unsafe { Cown::<T>::from_header(members.advance().header_ptr()) });
    }
}

impl<T: Send + 'static> Sealed for RegardlessHeld<T> {}

/// As a cown by value, but for what it is named as.
impl<T: Send + 'static> CownSet for RegardlessHeld<T> {
    type Access<'a> = Held<'a, T>;
    type Shape = ();
    type Owned = Self;
    const SINGLE: bool = true;
    const HAS_READS: bool = false;
    const ANNOUNCES: bool = false;
    const EXCLUSIVE: Option<usize> = Some(1);
    const REGARDLESS: bool = true;

    fn member_count(&self) -> usize {
        1
    }

    fn shape(&self) {}

    fn to_owned_set(&self) -> Self {
        Self(self.0.clone())
    }

    fn visit(&self, visitor: &mut Visitor<'_>) {
        visitor.member(Member::checked(self.0.header_ptr()));
    }

    fn announce_all(&self) -> bool {
        false
    }

    fn announced_all(&self) {}

    fn admit_all(&self, admission: &mut Admission) {
        admission.skip();
    }

    fn give(self) {
        self.0.give();
    }

    unsafe fn access<'a>((): (), members: &mut Cursor<'a>) -> Held<'a, T> {
        // SAFETY: by the caller's word.
        unsafe { Cown::<T>::access((), members) }
    }

    unsafe fn abandon((): (), members: &mut Cursor<'_>) {
        // SAFETY: by the caller's word.
        unsafe { Cown::<T>::abandon((), members) };
    }
}

/// # Safety
/// The caller holds the cown exclusively for `'a`, and it is of `T`.
unsafe fn hold_checked<'a, T>(cown: NonNull<CownHeader>) -> Result<&'a mut T, Poisoned<'a, T>> {
    // SAFETY: by the caller's word.
    unsafe {
        if cown.as_ref().is_poisoned() {
            Err(Poisoned::new(cown))
        } else {
            Ok(&mut *CownBox::<T>::state(cown))
        }
    }
}

/// One kind of slice, in its borrowed and its owned form.
macro_rules! slice_of_cowns {
    ([$($generics:tt)*] $set:ty, of $handle:ty, $owned:ident, $access:ident, |$this:ident| $slice:expr, member: $member:path) => {
        impl<$($generics)*> Sealed for $set {}

        impl<$($generics)*> CownSet for $set {
            type Access<'a> = $access<'a, <$handle as AsCown>::View, $handle>;
            type Shape = usize;
            type Owned = owned::$owned<$handle>;

            fn member_count(&self) -> usize {
                let $this = self;
                $slice.len()
            }

            fn shape(&self) -> usize {
                self.member_count()
            }

            fn to_owned_set(&self) -> Self::Owned {
                let $this = self;
                owned::$owned($slice.iter().map(|cown| cown.handle().clone()).collect())
            }

            fn visit(&self, visitor: &mut Visitor<'_>) {
                let $this = self;
                for cown in $slice.iter() {
                    visitor.member($member(cown.handle().as_cown().header_ptr()));
                }
            }

            fn give(self) {
                forget(self);
            }

            fn announce_all(&self) -> bool {
                let $this = self;
                $slice.iter().fold(false, |asks, cown| cown.handle().announce() | asks)
            }

            fn announced_all(&self) {
                let $this = self;
                $slice.iter().for_each(|cown| cown.handle().announced());
            }

            fn admit_all(&self, admission: &mut Admission) {
                let $this = self;
                $slice.iter().for_each(|cown| admission.ask(|| cown.handle().admit()));
            }

            unsafe fn access<'a>(len: usize, members: &mut Cursor<'a>) -> Self::Access<'a> {
                // SAFETY: the next `len` members are the slice's; held, by the caller's word.
                unsafe { $access::new(members.split(len)) }
            }

            unsafe fn abandon(len: usize, members: &mut Cursor<'_>) {
                members.split(len);
            }
        }
    };
}

slice_of_cowns!([R: CownRef] &[R], of R::Handle, Slice, Members,
    |this| this, member: exclusive::<R::Handle>);
slice_of_cowns!([R: CownRef] &Vec<R>, of R::Handle, Slice, Members,
    |this| this, member: exclusive::<R::Handle>);
slice_of_cowns!([R: CownRef, const N: usize] &[R; N], of R::Handle, Slice, Members,
    |this| this, member: exclusive::<R::Handle>);
slice_of_cowns!([H: AsCown] owned::Slice<H>, of H, Slice, Members,
    |this| this.0, member: exclusive::<H>);
slice_of_cowns!([R: CownRef] ReadAll<'_, <R::Handle as AsCown>::View, R>,
    of R::Handle, ReadAll, ReadMembers, |this| this.0, member: Member::read);
slice_of_cowns!([H: AsCown] owned::ReadAll<H>, of H, ReadAll, ReadMembers,
    |this| this.0, member: Member::read);
slice_of_cowns!([R: CownRef] CheckedAll<'_, <R::Handle as AsCown>::View, R>,
    of R::Handle, CheckedAll, CheckedMembers, |this| this.0, member: Member::checked);
slice_of_cowns!([H: AsCown] owned::CheckedAll<H>, of H, CheckedAll, CheckedMembers,
    |this| this.0, member: Member::checked);
slice_of_cowns!([R: CownRef<Handle: AsCown<State: Sync>>]
    CheckedReadAll<'_, <R::Handle as AsCown>::View, R>, of R::Handle, CheckedReadAll,
    CheckedReadMembers, |this| this.0, member: Member::checked_read);
slice_of_cowns!([H: AsCown<State: Sync>] owned::CheckedReadAll<H>, of H, CheckedReadAll,
    CheckedReadMembers, |this| this.0, member: Member::checked_read);

impl<S: CownSet, const N: usize> Sealed for [S; N] {}

impl<S: CownSet, const N: usize> CownSet for [S; N] {
    type Access<'a> = [S::Access<'a>; N];
    type Shape = [S::Shape; N];
    type Owned = [S::Owned; N];
    const HAS_READS: bool = S::HAS_READS;
    const ANNOUNCES: bool = S::ANNOUNCES;
    const EXCLUSIVE: Option<usize> = match S::EXCLUSIVE {
        Some(each) => each.checked_mul(N),
        None => None,
    };

    fn member_count(&self) -> usize {
        self.iter().map(CownSet::member_count).sum()
    }

    fn shape(&self) -> Self::Shape {
        std::array::from_fn(|index| self[index].shape())
    }

    fn to_owned_set(&self) -> Self::Owned {
        std::array::from_fn(|index| self[index].to_owned_set())
    }

    fn visit(&self, visitor: &mut Visitor<'_>) {
        self.iter().for_each(|set| set.visit(visitor));
    }

    fn give(self) {
        self.into_iter().for_each(CownSet::give);
    }

    fn announce_all(&self) -> bool {
        self.iter().fold(false, |asks, set| set.announce_all() | asks)
    }

    fn announced_all(&self) {
        self.iter().for_each(CownSet::announced_all);
    }

    fn admit_all(&self, admission: &mut Admission) {
        self.iter().for_each(|set| set.admit_all(admission));
    }

    unsafe fn access<'a>(shape: Self::Shape, members: &mut Cursor<'a>) -> Self::Access<'a> {
        // SAFETY: the members of the parts follow one another, as `visit` named them.
        shape.map(|shape| unsafe { S::access(shape, members) })
    }

    unsafe fn abandon(shape: Self::Shape, members: &mut Cursor<'_>) {
        // SAFETY: as in `access`.
        shape.into_iter().for_each(|shape| unsafe { S::abandon(shape, members) });
    }
}

/// The sum, if all are known.
const fn sum(parts: &[Option<usize>]) -> Option<usize> {
    let (mut whole, mut at) = (Some(0_usize), 0);
    while at < parts.len() {
        whole = match (whole, parts[at]) {
            (Some(before), Some(part)) => before.checked_add(part),
            _ => None,
        };
        at += 1;
    }
    whole
}

macro_rules! tuple_of_sets {
    ($($name:ident . $index:tt),*) => {
        impl<$($name: CownSet),*> Sealed for ($($name,)*) {}

        #[allow(unused_variables, unused_unsafe, clippy::unused_unit)]
        impl<$($name: CownSet),*> CownSet for ($($name,)*) {
            type Access<'a> = ($($name::Access<'a>,)*);
            type Shape = ($($name::Shape,)*);
            type Owned = ($($name::Owned,)*);
            const HAS_READS: bool = false $(|| $name::HAS_READS)*;
            const ANNOUNCES: bool = false $(|| $name::ANNOUNCES)*;
            const EXCLUSIVE: Option<usize> = sum(&[$($name::EXCLUSIVE),*]);

            #[inline]
            fn member_count(&self) -> usize {
                0 $(+ self.$index.member_count())*
            }

            #[inline]
            fn shape(&self) -> Self::Shape {
                ($(self.$index.shape(),)*)
            }

            fn to_owned_set(&self) -> Self::Owned {
                ($(self.$index.to_owned_set(),)*)
            }

            #[inline]
            fn visit(&self, visitor: &mut Visitor<'_>) {
                $(self.$index.visit(visitor);)*
            }

            #[inline]
            unsafe fn access<'a>(shape: Self::Shape, members: &mut Cursor<'a>) -> Self::Access<'a> {
                // SAFETY: the members of the parts follow one another, as `visit` named them; a
                // tuple expression is evaluated from left to right.
                unsafe { ($($name::access(shape.$index, members),)*) }
            }

            #[inline]
            fn give(self) {
                $(self.$index.give();)*
            }

            #[inline]
            fn announce_all(&self) -> bool {
                false $(| self.$index.announce_all())*
            }

            #[inline]
            fn announced_all(&self) {
                $(self.$index.announced_all();)*
            }

            fn admit_all(&self, admission: &mut Admission) {
                $(self.$index.admit_all(admission);)*
            }

            unsafe fn abandon(shape: Self::Shape, members: &mut Cursor<'_>) {
                // SAFETY: as in `access`.
                unsafe { $($name::abandon(shape.$index, members);)* }
            }
        }
    };
}

tuple_of_sets!();
tuple_of_sets!(A.0);
tuple_of_sets!(A.0, B.1);
tuple_of_sets!(A.0, B.1, C.2);
tuple_of_sets!(A.0, B.1, C.2, D.3);
tuple_of_sets!(A.0, B.1, C.2, D.3, E.4);
tuple_of_sets!(A.0, B.1, C.2, D.3, E.4, F.5);
tuple_of_sets!(A.0, B.1, C.2, D.3, E.4, F.5, G.6);
tuple_of_sets!(A.0, B.1, C.2, D.3, E.4, F.5, G.6, H.7);
