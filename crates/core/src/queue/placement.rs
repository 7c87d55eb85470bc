//! What a request is for, and whether it has found its place.

#[cfg(not(loom))]
pub(in crate::queue) use self::word::Placement;
#[cfg(loom)]
pub(in crate::queue) use self::words::Placement;

/// One word, as a request has no room for more. A [`Member`] in it can be read in place.
#[cfg(not(loom))]
mod word {
    use coact_sync::shim::atomic::{AtomicPtr, Ordering};

    use crate::queue::header::{CownHeader, Member};

    #[repr(transparent)]
    pub(in crate::queue) struct Placement(AtomicPtr<CownHeader>);

    impl Placement {
        #[inline]
        pub(in crate::queue) fn placed(member: Member) -> Self {
            Self(AtomicPtr::new(member.as_ptr()))
        }

        #[inline]
        pub(in crate::queue) fn beginning(member: Member) -> Self {
            Self(AtomicPtr::new(member.unplaced().as_ptr()))
        }

        /// Read as plain memory, once where it is asked for often.
        #[inline]
        pub(in crate::queue) fn member(&self) -> Member {
            // SAFETY: only members are stored. Nobody stores any more: whoever asks is the appender, or has learnt of
            // the request by its link or by its grant, which come after `end`. (A successor that waits asks for
            // `is_placed` only.)
            unsafe { *self.member_ptr() }
        }

        #[inline]
        pub(in crate::queue) fn member_ptr(&self) -> *const Member {
            std::ptr::from_ref(self).cast()
        }

        #[inline]
        pub(in crate::queue) fn begin(&mut self) -> Member {
            let word = self.0.get_mut();
            // SAFETY: only members are stored.
            let member = unsafe { Member::from_ptr(*word) };
            *word = member.unplaced().as_ptr();
            member
        }

        #[inline]
        pub(in crate::queue) fn end(&self, member: Member) {
            // ORDERING: Release pairs with the acquire in `is_placed`: a step that the appender has waited for is
            // through for its successor, too.
            self.0.store(member.as_ptr(), Ordering::Release);
        }

        #[inline]
        pub(in crate::queue) fn is_placed(&self) -> bool {
            // ORDERING: Acquire pairs with the release in `end`.
            // SAFETY: only members are stored.
            !unsafe { Member::from_ptr(self.0.load(Ordering::Acquire)) }.is_unplaced()
        }
    }
}

/// The same with a word of its own for the mark: a model's pointer is no pointer in memory, and a member is read as
/// one there.
#[cfg(loom)]
mod words {
    use coact_sync::shim::atomic::{AtomicBool, Ordering};

    use crate::queue::header::Member;

    #[repr(C)]
    pub(in crate::queue) struct Placement {
        member: Member,
        is_placed: AtomicBool,
    }

    impl Placement {
        pub(in crate::queue) fn placed(member: Member) -> Self {
            Self { member, is_placed: AtomicBool::new(true) }
        }

        pub(in crate::queue) fn beginning(member: Member) -> Self {
            Self { member, is_placed: AtomicBool::new(false) }
        }

        pub(in crate::queue) fn member(&self) -> Member {
            self.member
        }

        pub(in crate::queue) fn member_ptr(&self) -> *const Member {
            &raw const self.member
        }

        pub(in crate::queue) fn begin(&mut self) -> Member {
            self.is_placed = AtomicBool::new(false);
            self.member
        }

        pub(in crate::queue) fn end(&self, _: Member) {
            // ORDERING: Release, as in `word`.
            self.is_placed.store(true, Ordering::Release);
        }

        pub(in crate::queue) fn is_placed(&self) -> bool {
            // ORDERING: Acquire, as in `word`.
            self.is_placed.load(Ordering::Acquire)
        }
    }
}
