//! Handles of cowns: cloning, comparing and dropping them.

use crate::queue::live_cown::LiveCown;
use crate::sched::runtime_handle::current_place;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;

use super::end_of_life::{drop_sole, drop_weak, is_idle, retire};
use super::layout::CownBox;
use crate::queue::header::{CownHeader, Flags};
use crate::sched::context;
use crate::simulated;

/// A **c**oncurrent **own**er: state that only behaviours can access.
///
/// The handle is one pointer, cheap to clone (one atomic addition), compare and hash; all clones
/// refer to the same state. A cown belongs to the runtime in which it was created: behaviours on it
/// run on that runtime's workers.
///
/// The state is dropped when the last handle is gone and the last behaviour on it has run: on the
/// thread that drops the last handle if nothing is queued, otherwise on a worker. (The state of a
/// cown of a [`Pump`](crate::runtime::Pump) is dropped on the pump's thread, or not at all. When a
/// few dozen states are being dropped inside each other, the next one is dropped after the
/// outermost, or before the thread waits for a promise.)
///
/// A cown can have up to 2^29 handles, and as many weak ones. A program that leaks more of them
/// ([`std::mem::forget`]) is aborted.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, when, call};
///
/// let log = Cown::new(Vec::new());
/// when(&log, |log| log.push("first"));
/// when(&log, |log| log.push("second"));
/// assert_eq!(call(&log, |log| log.join(", ")).wait().unwrap(), "first, second");
/// ```
///
/// The state is not accessible outside of a behaviour:
///
/// ```compile_fail
/// # use coact_core as coact;
/// let balance = coact::Cown::new(100_i64);
/// *balance += 1;
/// ```
#[doc(alias = "Arc")]
#[doc(alias = "Mutex")]
#[doc(alias = "cown_ptr")]
pub struct Cown<T: Send + 'static> {
    header: LiveCown,
    state: PhantomData<OfState<T>>,
}

/// A handle that does not keep the state alive; see [`Cown::downgrade`].
#[doc(alias = "Weak")]
pub struct WeakCown<T: Send + 'static> {
    header: LiveCown,
    state: PhantomData<OfState<T>>,
}

/// Ties a form of a set to exactly one handle type. Another type to which that could be coerced may
/// have another state behind the same view, for which the form must not exist.
pub(crate) type ExactHandle<T, H> = PhantomData<(fn() -> T, fn(H) -> H)>;

/// A cown to be held for reading; see [`Cown::read`].
///
/// It exists only if the state is [`Sync`]. This is checked where it is created, so that an error
/// is reported there, and once.
#[derive(Debug)]
pub struct Read<'c, T, H = Cown<T>>(pub(crate) &'c H, pub(crate) ExactHandle<T, H>);

/// A cown to be held even if poisoned; see [`Cown::checked`].
#[derive(Debug)]
pub struct Checked<'c, T: Send + 'static>(pub(crate) &'c Cown<T>);

/// The variance marker: behaviours both store states of type `T` through a handle and read them, so
/// a handle must be invariant in `T`. If it were covariant, as with `PhantomData<T>`, a
/// `Cown<for<'a> fn(&'a str)>` could be used as a `Cown<fn(&'static str)>`. Through the latter one
/// could store a function that keeps its argument, and through the former call it with a
/// short-lived one.
pub(super) type OfState<T> = fn(T) -> T;

/// The identity of a cown, for logs and maps. No two live cowns have the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CownId(usize);

// SAFETY: a handle gives no access to the state. The state moves between threads (hence `Send`),
// but one behaviour at a time holds it, or readers do, for which `read` requires `Sync`.
unsafe impl<T: Send> Send for Cown<T> {}
// SAFETY: a shared handle gives no access to the state either; behaviours hold it as described for
// `Send`.
unsafe impl<T: Send> Sync for Cown<T> {}
// SAFETY: like `Cown`: a weak handle gives access to nothing but a handle.
unsafe impl<T: Send> Send for WeakCown<T> {}
// SAFETY: like `Cown`: a weak handle gives access to nothing but a handle.
unsafe impl<T: Send> Sync for WeakCown<T> {}

impl CownId {
    #[inline]
    pub(crate) fn of(header: LiveCown) -> Self {
        Self(header.as_ptr().addr())
    }
}

impl<T: Send + 'static> Cown<T> {
    /// Creates a cown of the current runtime: that of the worker that runs the caller, the one that
    /// the thread has [entered](crate::Runtime::enter), or otherwise the
    /// [global](crate::Runtime::global) one.
    ///
    /// Costs one block of a cache line (64 bytes), or of 32 bytes plus the state if that is more,
    /// and no atomic operation. [`packed`](Self::packed) uses less memory.
    #[inline]
    pub fn new(state: T) -> Self {
        let made = match context::worker() {
            Some(worker) => CownBox::try_allocate(state, worker.birthplace()),
            None => Err(state),
        };
        let header = made.unwrap_or_else(Self::allocate);
        Self { header, state: PhantomData }
    }

    /// Allocates the block of a new cown on a thread that is not a worker, or has no block at hand.
    #[cold]
    #[inline(never)]
    fn allocate(state: T) -> LiveCown {
        CownBox::allocate(state, current_place())
    }

    /// Creates a cown in the least memory: 32 bytes plus the state. For large numbers of mostly
    /// idle cowns.
    ///
    /// Several such cowns may share a cache line, which workers then take from each other while
    /// they use these cowns concurrently: meanwhile each behaviour takes some ten nanoseconds
    /// longer.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::{Cown, call};
    ///
    /// let cells: Vec<Cown<u64>> = (0..100_000).map(Cown::packed).collect();
    /// assert_eq!(call(&cells[7], |cell| *cell).wait(), Ok(7));
    /// ```
    #[inline]
    pub fn packed(state: T) -> Self {
        let header = CownBox::allocate_packed(state, current_place());
        Self { header, state: PhantomData }
    }

    /// Names this cown for reading: the closure receives `&T`, and adjacent readers in the cown's
    /// order run in parallel.
    pub fn read(&self) -> Read<'_, T>
    where
        T: Sync,
    {
        Read(self, PhantomData)
    }

    /// Names this cown so that the behaviour runs even if it is poisoned: the closure receives a
    /// `Result` whose error, [`Poisoned`](crate::cown::Poisoned), gives access and can clear the
    /// mark.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::{Cown, call, when};
    ///
    /// let cown = Cown::new(1);
    /// when(&cown, |_| panic!("half way"));
    /// let state = call(cown.checked(), |state| match state {
    ///     Ok(sound) => *sound,
    ///     Err(mut poisoned) => {
    ///         *poisoned.get_mut() = 7;
    ///         *poisoned.clear()
    ///     }
    /// });
    /// assert_eq!(state.wait().unwrap(), 7);
    /// assert!(!cown.is_poisoned());
    /// ```
    pub fn checked(&self) -> Checked<'_, T> {
        Checked(self)
    }

    /// Creates a handle that does not keep the state alive.
    pub fn downgrade(&self) -> WeakCown<T> {
        self.header().counts.add_weak();
        WeakCown { header: self.header, state: PhantomData }
    }

    /// Returns the number of handles, including this one. Out of date at once if other threads
    /// clone or drop theirs.
    pub fn strong_count(&self) -> usize {
        self.header().counts.strong()
    }

    /// Takes the state out of the cown.
    ///
    /// # Errors
    /// Returns the handle if it is not the last one, if a behaviour on the cown is still queued or
    /// running, or if the cown belongs to a [`Pump`](crate::runtime::Pump) and this is not its
    /// thread.
    pub fn into_inner(self) -> Result<T, Self> {
        let header = self.header();
        // While there is no handle, weak ones cannot be upgraded, so the queue cannot grow.
        let Some(before) = header.counts.take_out() else { return Err(self) };
        simulated::point();
        if !is_idle(header) || !header.is_within_reach() {
            simulated::point();
            header.counts.put_back(before);
            return Err(self);
        }
        let this = ManuallyDrop::new(self);
        // SAFETY: no handle is left and the queue is empty, so nothing else can reach the state.
        let state = unsafe { CownBox::<T>::state(this.header).read() };
        // SAFETY: the state was taken, and the strong handles' weak count is given up once.
        unsafe { drop_weak::<T>(this.header) };
        Ok(state)
    }

    /// Returns whether a panic has poisoned the state. A hint, except in a behaviour on this cown.
    pub fn is_poisoned(&self) -> bool {
        self.header().is_poisoned()
    }

    /// Clears the poison mark, for behaviours that have not started yet. To repair the state as
    /// well, use [`checked`](Self::checked).
    pub fn clear_poison(&self) {
        self.header().set(Flags::POISONED, false);
    }

    /// Returns the cown's identity.
    #[inline]
    pub fn id(&self) -> CownId {
        CownId::of(self.header)
    }

    /// Recreates a handle from a forgotten one.
    ///
    /// # Safety
    /// The cown is of type `T`, and one of its handles was forgotten and is not used any more.
    #[inline]
    pub(crate) unsafe fn from_header(header: LiveCown) -> Self {
        Self { header, state: PhantomData }
    }

    /// The cown without the handle's lifetime; to look at it while there is the handle,
    /// [`header`](Self::header) does.
    ///
    /// # Safety
    /// This handle, or something else, keeps the cown alive as long as the result, or what is taken
    /// from it, is used.
    #[inline]
    pub(crate) unsafe fn live_cown(&self) -> LiveCown {
        self.header
    }

    #[inline]
    pub(crate) fn header(&self) -> &CownHeader {
        self.header.header()
    }
}

impl<T: Send + 'static> WeakCown<T> {
    /// Returns a strong handle, unless none is left. (It also fails while [`Cown::into_inner`] is
    /// finding out that the cown is in use.)
    pub fn upgrade(&self) -> Option<Cown<T>> {
        let retained = self.header.header().counts.retain();
        retained.then(|| Cown { header: self.header, state: PhantomData })
    }

    pub(crate) fn header(&self) -> &CownHeader {
        self.header.header()
    }

    /// The same as [`Cown::live_cown`].
    ///
    /// # Safety
    /// See there.
    pub(crate) unsafe fn live_cown(&self) -> LiveCown {
        self.header
    }

    /// Creates a weak handle that owns one of the two weak counts that a cown is created with: one
    /// belongs to all strong handles together, the other to the state.
    ///
    /// # Safety
    /// The cown is of type `T`, and the caller owns a weak count of it, or forgets the result while
    /// there is one.
    pub(crate) unsafe fn from_header(header: LiveCown) -> Self {
        Self { header, state: PhantomData }
    }

    /// Turns one of these two into the cown's first strong handle, which the caller then owns.
    ///
    /// # Safety
    /// The cown is new, this is one of the two that it was created with, and the state is
    /// initialised.
    pub(crate) unsafe fn bring_to_life(self) {
        let this = ManuallyDrop::new(self);
        this.header.header().counts.bring_to_life();
    }

    /// Returns the cown's identity. It may be reused for another cown once this one is gone.
    #[inline]
    pub fn id(&self) -> CownId {
        CownId::of(self.header)
    }
}

impl<T: Send + 'static> Clone for Cown<T> {
    #[inline]
    fn clone(&self) -> Self {
        self.header().counts.add();
        Self { header: self.header, state: PhantomData }
    }
}

impl<T: Send + 'static> Drop for Cown<T> {
    #[inline]
    fn drop(&mut self) {
        let header = self.header();
        if header.counts.are_sole() {
            // SAFETY: the handle is dropped once, and not used afterwards.
            return unsafe { drop_sole::<T>(self.header) };
        }
        if header.counts.remove() {
            // SAFETY: this was the last handle, and this happens once.
            unsafe { retire::<T>(self.header) };
        }
    }
}

impl<T: Send + 'static> Clone for WeakCown<T> {
    fn clone(&self) -> Self {
        self.header.header().counts.add_weak();
        Self { header: self.header, state: PhantomData }
    }
}

impl<T: Send + 'static> Drop for WeakCown<T> {
    fn drop(&mut self) {
        // SAFETY: this handle owns its count, and gives it up once.
        unsafe { drop_weak::<T>(self.header) };
    }
}

impl<T: Send + 'static> PartialEq for Cown<T> {
    fn eq(&self, other: &Self) -> bool {
        self.header == other.header
    }
}

impl<T: Send + 'static> Eq for Cown<T> {}

impl<T: Send + 'static> PartialOrd for Cown<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Send + 'static> Ord for Cown<T> {
    /// By address; simulated cowns by the order of their creation.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.header.rank().cmp(&other.header.rank())
    }
}

impl<T: Send + 'static> Hash for Cown<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.header.hash(state);
    }
}

impl<T: Send + 'static> fmt::Debug for Cown<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Cown<{}>({:?})", std::any::type_name::<T>(), self.id())
    }
}

impl<T: Send + 'static> fmt::Debug for WeakCown<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WeakCown<{}>({:?})", std::any::type_name::<T>(), self.id())
    }
}

impl fmt::Debug for CownId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.0)
    }
}

impl fmt::Display for CownId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl<T: Send + 'static> From<T> for Cown<T> {
    fn from(state: T) -> Self {
        Self::new(state)
    }
}

impl<T: Send + Default + 'static> Default for Cown<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

#[cfg(all(test, loom))]
mod loom;
