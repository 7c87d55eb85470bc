//! Handles of cowns: what users hold, clone, compare and drop.

use crate::sched::runtime_handle::current_place;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use super::end_of_life::{drop_sole, drop_weak, is_idle, retire};
use super::layout::CownBox;
use crate::queue::header::{CownHeader, Flags};
use crate::sched::context;
use crate::simulated;

/// A **c**oncurrent **own**er: state that only behaviours reach.
///
/// The handle is one pointer, cheap to clone (one atomic addition), compare and hash; all clones
/// stand for the same state. A cown belongs to the runtime in which it was made: behaviours on it
/// run on that runtime's workers.
///
/// The state is dropped when the last handle is gone and the last behaviour on it has run: on the
/// thread that drops the last handle if nothing is queued, on a worker otherwise. (That of a cown
/// of a [`Pump`](crate::runtime::Pump) is dropped on the pump's thread, or not at all. Where a few dozen states are dropped inside
/// of each other, the next is dropped after the outermost, or before the thread waits for a promise.)
///
/// Up to 2^29 handles of a cown may be alive, and as many weak ones. A program that forgets more of them
/// ([`std::mem::forget`]) is aborted.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, when, ask};
///
/// let log = Cown::new(Vec::new());
/// when(&log, |log| log.push("first"));
/// when(&log, |log| log.push("second"));
/// assert_eq!(ask(&log, |log| log.join(", ")).wait().unwrap(), "first, second");
/// ```
///
/// The state cannot be had outside a behaviour:
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
    header: NonNull<CownHeader>,
    state: PhantomData<OfState<T>>,
}

/// A handle that does not keep the state alive; see [`Cown::downgrade`].
#[doc(alias = "Weak")]
pub struct WeakCown<T: Send + 'static> {
    header: NonNull<CownHeader>,
    state: PhantomData<OfState<T>>,
}

/// What a handle does with states of type `T`: behaviours store them through it, and get them. So it stands for
/// that very type. Were it covariant, as `PhantomData<T>` is, then a `Cown<for<'a> fn(&'a str)>` would do for a
/// `Cown<fn(&'static str)>`; through this one a function could be stored that keeps what it is given, and through
/// that one be called with what dies.
pub(super) type OfState<T> = fn(T) -> T;

/// The identity of a cown, for logs and maps. No two cowns that are alive have the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CownId(usize);

// SAFETY: a handle gives no access to the state; the state is moved between threads (hence `Send`)
// but is held by one behaviour at a time, or by readers, for which `read` asks for `Sync`.
unsafe impl<T: Send> Send for Cown<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Cown<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for WeakCown<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for WeakCown<T> {}

impl CownId {
    pub(crate) fn of(header: NonNull<CownHeader>) -> Self {
        Self(header.as_ptr().addr())
    }
}

impl<T: Send + 'static> Cown<T> {
    /// Makes a cown of the current runtime: that of the worker that runs the caller, that which
    /// the thread has [entered](crate::Runtime::enter), or else the
    /// [global](crate::Runtime::global) one.
    ///
    /// Costs one block of a cache line (64 bytes), or of 32 bytes and the state if that is more, and no atomic
    /// operation. [`packed`](Self::packed) takes less memory.
    #[inline]
    pub fn new(state: T) -> Self {
        let made = match context::worker() {
            Some(worker) => CownBox::try_allocate(state, worker.birthplace()),
            None => Err(state),
        };
        let header = made.unwrap_or_else(Self::allocate);
        Self { header, state: PhantomData }
    }

    /// The block of a new cown, by a thread that is no worker, or has none at hand.
    #[cold]
    #[inline(never)]
    fn allocate(state: T) -> NonNull<CownHeader> {
        CownBox::allocate(state, current_place())
    }

    /// The same in no more memory than it takes: 32 bytes and the state. For cowns that are many, and mostly idle.
    ///
    /// Several such cowns may lie in one cache line, which workers that are at work on them at the same time take from
    /// each other: that makes each behaviour some ten nanoseconds dearer, as long as they are.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::{Cown, ask};
    ///
    /// let cells: Vec<Cown<u64>> = (0..100_000).map(Cown::packed).collect();
    /// assert_eq!(ask(&cells[7], |cell| *cell).wait(), Ok(7));
    /// ```
    #[inline]
    pub fn packed(state: T) -> Self {
        let header = CownBox::allocate_packed(state, current_place());
        Self { header, state: PhantomData }
    }

    /// A handle that does not keep the state alive.
    pub fn downgrade(&self) -> WeakCown<T> {
        self.header().counts.add_weak();
        WeakCown { header: self.header, state: PhantomData }
    }

    /// How many handles there are, this one included. Out of date at once where others clone or
    /// drop theirs.
    pub fn strong_count(&self) -> usize {
        self.header().counts.strong()
    }

    /// Takes the state out.
    ///
    /// # Errors
    /// The handle is given back if it is not the last one, if a behaviour on the cown is still queued
    /// or running, or if the cown belongs to a [`Pump`](crate::runtime::Pump) and this is not its thread.
    pub fn into_inner(self) -> Result<T, Self> {
        let header = self.header();
        // While there are no handles no weak one can be upgraded, so the queue cannot grow.
        let Some(before) = header.counts.take_out() else { return Err(self) };
        simulated::point();
        if !is_idle(header) || !header.is_within_reach() {
            simulated::point();
            header.counts.put_back(before);
            return Err(self);
        }
        let this = ManuallyDrop::new(self);
        // SAFETY: no handle is left, and the queue is empty: the state is ours.
        let state = unsafe { CownBox::<T>::state(this.header).read() };
        // SAFETY: the state is taken.
        unsafe { drop_weak::<T>(this.header) };
        Ok(state)
    }

    /// Whether a panic has poisoned the state. A hint, unless a behaviour on this cown asks.
    pub fn is_poisoned(&self) -> bool {
        self.header().is_poisoned()
    }

    /// Clears the poison mark, for behaviours that are yet to start. To put the state right as well,
    /// use [`checked`](Self::checked).
    pub fn clear_poison(&self) {
        self.header().set(Flags::POISONED, false);
    }

    /// The cown's identity.
    pub fn id(&self) -> CownId {
        CownId::of(self.header)
    }

    /// The handle whose count someone has forgotten.
    ///
    /// # Safety
    /// The cown is of `T`, and one of its handles was forgotten and is not used any more.
    #[inline]
    pub(crate) unsafe fn from_header(header: NonNull<CownHeader>) -> Self {
        Self { header, state: PhantomData }
    }

    #[inline]
    pub(crate) fn header_ptr(&self) -> NonNull<CownHeader> {
        self.header
    }

    #[inline]
    pub(crate) fn header(&self) -> &CownHeader {
        // SAFETY: a strong handle keeps the cown alive.
        unsafe { self.header.as_ref() }
    }
}

impl<T: Send + 'static> WeakCown<T> {
    /// A full handle, unless all of them are gone. (There is none either for the moment in which
    /// [`Cown::into_inner`] finds that the cown is in use.)
    pub fn upgrade(&self) -> Option<Cown<T>> {
        // SAFETY: a weak handle keeps the block alive.
        let retained = unsafe { self.header.as_ref() }.counts.retain();
        retained.then(|| Cown { header: self.header, state: PhantomData })
    }

    pub(crate) fn header_ptr(&self) -> NonNull<CownHeader> {
        self.header
    }

    /// The handle to which a weak count was left: one of the two that a cown is made with, the first for all strong handles
    /// together, the other for the state.
    ///
    /// # Safety
    /// The cown is of `T`, and a weak count of it was left to this, or this is forgotten while there is one.
    pub(crate) unsafe fn from_header(header: NonNull<CownHeader>) -> Self {
        Self { header, state: PhantomData }
    }

    /// Turns one of these two into the cown's first strong handle, which is the caller's.
    ///
    /// # Safety
    /// The cown is fresh, this is one of the two that it was made with, and the state is written.
    pub(crate) unsafe fn bring_to_life(self) {
        let this = ManuallyDrop::new(self);
        // SAFETY: our count keeps the block alive.
        unsafe { this.header.as_ref() }.counts.bring_to_life();
    }

    /// The cown's identity. It may be given to another cown once this one is gone.
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
            // SAFETY: it is the caller's, and not used any more.
            return unsafe { drop_sole::<T>(self.header) };
        }
        if header.counts.remove() {
            // SAFETY: this was the last handle.
            unsafe { retire::<T>(self.header) };
        }
    }
}

impl<T: Send + 'static> Clone for WeakCown<T> {
    fn clone(&self) -> Self {
        // SAFETY: a weak handle keeps the block alive.
        unsafe { self.header.as_ref() }.counts.add_weak();
        Self { header: self.header, state: PhantomData }
    }
}

impl<T: Send + 'static> Drop for WeakCown<T> {
    fn drop(&mut self) {
        // SAFETY: this handle's count.
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
    /// By address; of simulated ones, by the order in which they were made.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        CownHeader::rank(self.header).cmp(&CownHeader::rank(other.header))
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
