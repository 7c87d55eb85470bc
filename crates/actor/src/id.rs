//! The identity of actors.

use std::cell::Cell;
use std::fmt;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// The identity of an actor. It is never reused within the process.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ActorId(NonZeroU64);

/// How many identities a thread takes at a time, to avoid contention on the counter.
const BLOCK: u64 = 1024;

impl ActorId {
    /// Returns a new identity.
    #[inline]
    pub(crate) fn next() -> Self {
        thread_local! {
            static NEXT: Cell<u64> = const { Cell::new(0) };
        }
        let id = NEXT.try_with(|next| {
            let mut id = next.get();
            if id.is_multiple_of(BLOCK) {
                id = Self::take_block();
            }
            next.set(id + 1);
            id
        });
        let id = id.unwrap_or_else(|_| Self::take_block());
        Self(NonZeroU64::new(id + 1).expect("64 bits do not run out"))
    }

    #[cold]
    fn take_block() -> u64 {
        static BLOCKS: AtomicU64 = AtomicU64::new(0);
        // ORDERING: Relaxed. The numbers need only be distinct.
        BLOCKS.fetch_add(1, Ordering::Relaxed) * BLOCK
    }

    /// Returns the identity with this number, if it may exist.
    pub(crate) fn from_number(number: u64) -> Option<Self> {
        NonZeroU64::new(number).map(Self)
    }

    /// Returns the identity as a number.
    pub fn get(self) -> u64 {
        self.0.get()
    }
}

impl fmt::Display for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

impl fmt::Debug for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
