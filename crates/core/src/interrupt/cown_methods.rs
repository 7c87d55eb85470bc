//! What handles of interruptible cowns can do.

use super::interruptible::Interruptible;
use super::last_handle::temporary_handle::give_back;
use super::message_set::MessageTo;
use super::send_interrupt::interrupt;
use super::{layout, vtable};
use crate::cown::handle::{Cown, WeakCown};
use crate::cown::set::{Unchecked, UncheckedHandle, UncheckedIn};
use crate::queue::header::{CloseOutcome, Flags};
use crate::sched::runtime_handle::RuntimeHandle;

/// How a sender reaches a cown; see [`Cown::send_path`].
pub enum SendPath<'c, T: Interruptible> {
    /// The cown is plain, and in no group.
    Alone(MessageTo<'c, T>),
    /// The cown is plain, and in a group.
    Grouped(UncheckedIn<'c, T, true>),
    /// The cown is closed, marked or crowded (`queue/turnstile.rs`).
    Slow,
}

impl<T: Interruptible> WeakCown<T> {
    /// Says that the state may have a [place](Interruptible::place) from now on.
    pub fn set_placed(&self) {
        let header = self.header();
        header.set(Flags::PLACED, true);
        // It stays, and so does its group.
        header.queue().set(Flags::PLACED, true);
    }
}

impl<T: Interruptible> Cown<T> {
    /// Creates a cown with an interruptible state, and a shared state that handles can access.
    /// `state` receives a weak handle of its own cown, which cannot be upgraded before this
    /// returns. The state is not called before the first interrupt; see
    /// [`interrupted_at_once`](Self::interrupted_at_once).
    ///
    /// Costs 24 bytes and the shared state in addition to a plain cown, and 16 bytes in a table.
    pub fn interruptible(
        home: RuntimeHandle,
        shared: T::SharedState,
        make_state: impl FnOnce(WeakCown<T>) -> T,
    ) -> Self {
        let header = vtable::allocate(home.0, None, shared, make_state, |_| ());
        // SAFETY: a new cown of type `T`, with one handle that is owned here.
        unsafe { Self::from_header(header) }
    }

    /// Causes a call of [`Interruptible::on_interrupt`] before the next behaviour, or at once if
    /// there is none. The call sees everything the caller did before.
    ///
    /// **Cost.** One atomic operation; plus a behaviour if there is no pending interrupt and the
    /// gate is open.
    pub fn interrupt(&self) {
        self.assert_interruptible();
        // SAFETY: the cown is interruptible, and this handle keeps it alive.
        unsafe { interrupt(self.live_cown()) };
    }

    /// Returns the shared state.
    #[inline]
    pub fn shared_state(&self) -> &T::SharedState {
        self.assert_interruptible();
        // SAFETY: the cown is interruptible and of type `T`, and this handle keeps it alive.
        unsafe { layout::shared_state::<T>(self.live_cown()).as_ref() }
    }

    /// Names this cown so that the behaviour always runs, even if the cown is closed.
    #[inline]
    pub fn unchecked(&self) -> Unchecked<'_, T> {
        Unchecked(self)
    }

    /// The same by value: the behaviour owns the handle.
    pub fn into_unchecked(self) -> UncheckedHandle<T> {
        UncheckedHandle(self)
    }

    /// Returns whether the cown is closed. A hint, except in a behaviour on this cown.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.header().has(Flags::CLOSED)
    }

    /// Sets or clears a mark that [`is_plain`](Self::is_plain) checks.
    pub fn mark(&self, on: bool) {
        self.assert_interruptible();
        self.header().set(Flags::SLOW_PATH, on);
    }

    /// Returns whether the cown is neither closed nor marked: the one check that a sender makes. A
    /// hint, except in a behaviour on this cown.
    #[inline]
    pub fn is_plain(&self) -> bool {
        !self.header().has(Flags::CLOSED | Flags::SLOW_PATH)
    }

    /// Returns a plain cown as a set whose behaviour always runs, like
    /// [`unchecked`](Self::unchecked), with its group or without: like
    /// [`is_plain`](Self::is_plain), this takes one load.
    #[inline(always)]
    pub fn send_path(&self) -> SendPath<'_, T> {
        const SLOW: u16 = Flags::CLOSED | Flags::SLOW_PATH | Flags::CROWDED;
        if !self.header().has(SLOW | Flags::GROUPED) {
            return SendPath::Alone(MessageTo(UncheckedIn(self)));
        }
        // (Of a group the leader is crowded, and not the member.)
        if self.header().has(SLOW) { SendPath::Slow } else { SendPath::Grouped(UncheckedIn(self)) }
    }

    /// Returns the cown as a set like that of [`send_path`](Self::send_path), plain or not, if it
    /// is in no group and not crowded.
    #[inline]
    pub fn alone(&self) -> Option<UncheckedIn<'_, T, false>> {
        let is_alone = !self.header().has(Flags::GROUPED | Flags::CROWDED);
        is_alone.then_some(UncheckedIn(self))
    }

    #[inline]
    pub(super) fn assert_interruptible(&self) {
        assert!(
            self.header().has(Flags::INTERRUPTIBLE),
            "the cown was not created by `Cown::interruptible`"
        );
    }
}

impl<T: Interruptible> WeakCown<T> {
    /// Returns the shared state, which lives as long as there is a weak handle.
    pub fn shared_state(&self) -> &T::SharedState {
        assert!(self.header().has(Flags::INTERRUPTIBLE), "not created by `Cown::interruptible`");
        // SAFETY: a weak handle keeps the block alive, and the shared state is part of it.
        unsafe { layout::shared_state::<T>(self.live_cown()).as_ref() }
    }

    /// Closes the cown permanently: behaviours that name it are refused
    /// ([`Broken::Closed`](crate::Broken::Closed)) unless they are [unchecked](Cown::unchecked).
    /// For the state itself, which ends with this.
    pub fn close(&self) {
        let flags = &self.header().flags;
        if flags.close() == CloseOutcome::GateShut {
            // Without a handle the gate does not stay shut, so no interrupt is needed.
            if let Some(handle) = self.upgrade() {
                handle.interrupt();
                give_back(handle);
            }
        }
    }
}
