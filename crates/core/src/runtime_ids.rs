//! Runtime ids, and tables indexed by them.

use std::fmt;
use std::num::NonZeroU16;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// Identifies the runtime of a cown, a task or a thread. 0 means none. 16 bits in a word as long as
/// that of a cown, with which it is compared, so the comparison needs no extension.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub(crate) struct RuntimeId(u32);

impl RuntimeId {
    pub(crate) const NONE: Self = Self(0);
    /// One more than the largest id.
    pub(crate) const LIMIT: usize = 1 << 16;

    pub(crate) fn new(id: NonZeroU16) -> Self {
        Self::from_raw(id.get())
    }

    /// Returns an id that no runtime has had, or `None` if all are used up.
    pub(crate) fn next() -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let free = |id: u32| (id < Self::LIMIT as u32).then_some(id + 1);
        // ORDERING: Relaxed. The ids only have to be distinct.
        let id = NEXT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, free).ok()?;
        u16::try_from(id).ok().and_then(NonZeroU16::new).map(Self::new)
    }

    /// Converts back the result of [`get`](Self::get).
    #[inline]
    pub(crate) fn from_raw(id: u16) -> Self {
        Self(id as u32)
    }

    #[inline]
    pub(crate) fn get(self) -> u16 {
        self.0 as u16
    }

    /// The id, zero-extended.
    #[inline]
    pub(crate) fn extended(self) -> u32 {
        self.0
    }
}

impl fmt::Debug for RuntimeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "runtime {}", self.0)
    }
}

/// The initial state word of a cown created by this thread: its home, and whether it is pinned
/// there.
#[derive(Clone, Copy)]
pub(crate) struct Birthplace(u32);

impl Birthplace {
    /// The bit for a pinned cown. The flags are checked against this where they are defined.
    pub(crate) const PINNED: u32 = 1 << 22;

    pub(crate) fn new(home: RuntimeId, is_pumped: bool) -> Self {
        Self(home.extended() | if is_pumped { Self::PINNED } else { 0 })
    }

    #[inline]
    pub(crate) fn word(self) -> u32 {
        self.0
    }
}

/// Maps runtime ids to a layer's data for each runtime, which is never freed.
pub(crate) struct RuntimeTable<T: 'static>([AtomicPtr<T>; RuntimeId::LIMIT]);

impl<T> RuntimeTable<T> {
    pub(crate) const fn new() -> Self {
        Self([const { AtomicPtr::new(null_mut()) }; RuntimeId::LIMIT])
    }

    /// Registers the data of a runtime.
    pub(crate) fn register(&self, id: RuntimeId, of_runtime: &'static T) {
        let of_runtime = std::ptr::from_ref(of_runtime).cast_mut();
        // ORDERING: Release pairs with the Acquire in `find`: the data is initialised.
        self.0[usize::from(id.get())].store(of_runtime, Ordering::Release);
    }

    /// Returns the data of a runtime, if registered.
    #[inline]
    pub(crate) fn find(&self, id: RuntimeId) -> Option<&'static T> {
        // ORDERING: Acquire pairs with the Release in `register`.
        let of_runtime = self.0[usize::from(id.get())].load(Ordering::Acquire);
        // SAFETY: the pointer is null or comes from a `&'static T` passed to `register`.
        unsafe { of_runtime.as_ref() }
    }
}
