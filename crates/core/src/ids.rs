//! What runtimes are known by.

use std::fmt;
use std::num::NonZeroU16;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// Which runtime a cown, a task or a thread belongs to. 0 is none. 16 bits, in a word that is as long as the one of a cown
/// which they are compared with: so that takes no instruction to extend them.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub(crate) struct RuntimeId(u32);

impl RuntimeId {
    pub(crate) const NONE: Self = Self(0);
    /// Above the largest id.
    pub(crate) const LIMIT: usize = 1 << 16;

    pub(crate) fn new(id: NonZeroU16) -> Self {
        Self::from_raw(id.get())
    }

    /// One that no runtime has had, unless all are used up.
    pub(crate) fn next() -> Option<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let free = |id: u32| (id < Self::LIMIT as u32).then_some(id + 1);
        // ORDERING: Relaxed. Only distinct.
        let id = NEXT.fetch_update(Ordering::Relaxed, Ordering::Relaxed, free).ok()?;
        u16::try_from(id).ok().and_then(NonZeroU16::new).map(Self::new)
    }

    /// The id that [`get`](Self::get) gave.
    #[inline]
    pub(crate) fn from_raw(id: u16) -> Self {
        Self(id as u32)
    }

    #[inline]
    pub(crate) fn get(self) -> u16 {
        self.0 as u16
    }

    /// The same, extended with zeros.
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

/// What the word of a fresh cown says, by the place where it is made: the home, and whether the cown is pinned there.
#[derive(Clone, Copy)]
pub(crate) struct Birthplace(u32);

impl Birthplace {
    /// The bit that says that it is pinned. The flags are held to this where they are defined.
    pub(crate) const PINNED: u32 = 1 << 22;

    pub(crate) fn new(home: RuntimeId, is_pumped: bool) -> Self {
        Self(home.extended() | if is_pumped { Self::PINNED } else { 0 })
    }

    #[inline]
    pub(crate) fn word(self) -> u32 {
        self.0
    }
}

/// What a layer has of each runtime, by its id. None of it is ever freed.
pub(crate) struct Registry<T: 'static>([AtomicPtr<T>; RuntimeId::LIMIT]);

impl<T> Registry<T> {
    pub(crate) const fn new() -> Self {
        Self([const { AtomicPtr::new(null_mut()) }; RuntimeId::LIMIT])
    }

    /// Makes it known under the runtime's id.
    pub(crate) fn register(&self, id: RuntimeId, of_runtime: &'static T) {
        let of_runtime = std::ptr::from_ref(of_runtime).cast_mut();
        // ORDERING: Release pairs with the acquire in `find`.
        self.0[usize::from(id.get())].store(of_runtime, Ordering::Release);
    }

    /// That of a runtime, if it has registered any.
    #[inline]
    pub(crate) fn find(&self, id: RuntimeId) -> Option<&'static T> {
        // ORDERING: Acquire pairs with the release in `register`.
        let of_runtime = self.0[usize::from(id.get())].load(Ordering::Acquire);
        // SAFETY: only references for ever are registered.
        unsafe { of_runtime.as_ref() }
    }
}
