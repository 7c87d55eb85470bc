//! The promise's end of a cell.

use std::ptr::NonNull;
use std::task::{Poll, Waker};

use super::shared::{CellValue, CellWaiter, PromiseCell, drop_value};
use super::state::{CellOwner, ConsumerExit, WaiterWithdrawal};
use crate::drop_depth;
use crate::poll_until;
use crate::simulated;

/// The promise's end. `None` once the value is taken or the cell is left to the producer.
pub(in crate::promise) struct Consumer<R>(Option<NonNull<PromiseCell<R>>>);

// SAFETY: the value moves from one thread to another, once; there is never a shared reference to
// it.
unsafe impl<R: Send> Send for Consumer<R> {}
// SAFETY: `&Consumer` only reads the state word.
unsafe impl<R: Send> Sync for Consumer<R> {}

impl<R> Consumer<R> {
    /// Creates the consumer of a cell.
    ///
    /// # Safety
    /// There is no other one, and it has not left.
    #[inline]
    pub(super) unsafe fn of_shared(shared: NonNull<PromiseCell<R>>) -> Self {
        Self(Some(shared))
    }

    fn shared(&self) -> &PromiseCell<R> {
        let shared = self.0.expect("a promise is not used after it was ready");
        // SAFETY: this end keeps the cell alive.
        unsafe { &*shared.as_ptr() }
    }

    /// The cell's address, its identity in a simulation; 0 once the value is taken.
    #[inline]
    pub(in crate::promise) fn addr(&self) -> usize {
        self.0.map_or(0, |shared| shared.addr().get())
    }

    pub(in crate::promise) fn is_ready(&self) -> bool {
        self.0.is_none() || self.shared().state.is_ready()
    }

    /// Takes the value if it is available.
    #[inline]
    pub(in crate::promise) fn try_take(&mut self) -> Option<CellValue<R>> {
        if !self.is_ready() {
            return None;
        }
        let this = self.0.take().expect("a promise is not used after it was ready");
        // SAFETY: the state says that the producer has left and the value is initialised.
        Some(unsafe { PromiseCell::take_over(this) })
    }

    pub(in crate::promise) fn poll(&mut self, waker: &Waker) -> Poll<CellValue<R>> {
        if let Some(value) = self.try_take() {
            return Poll::Ready(value);
        }
        match self.offer(CellWaiter::Task(waker.clone())) {
            Ok(()) => {
                simulated::polled(self.addr());
                Poll::Pending
            }
            Err(_) => Poll::Ready(self.take_soon()),
        }
    }

    /// Passes the value to `then`: now, or on the producer's thread.
    pub(in crate::promise) fn on_ready(mut self, then: impl FnOnce(CellValue<R>) + Send + 'static)
    where
        R: 'static,
    {
        if let Some(value) = self.try_take() {
            return then(value);
        }
        match self.offer(CellWaiter::Then(Box::new(then))) {
            // From here on this end belongs to the producer.
            Ok(()) => self.0 = None,
            Err(CellWaiter::Then(then)) => then(self.take_soon()),
            Err(CellWaiter::Task(_)) => unreachable!("the waiter comes back as it was given"),
        }
    }

    /// Takes a value that is available or about to be: the producer stays in `Taking` for only a
    /// few instructions.
    fn take_soon(&mut self) -> CellValue<R> {
        poll_until::poll_until_some(|| self.is_ready().then_some(()));
        self.try_take().expect("it is ready")
    }

    /// Registers a waiter in place of an earlier one. Returns it if the value is available or about
    /// to be.
    fn offer(&self, waiter: CellWaiter<R>) -> Result<(), CellWaiter<R>> {
        match self.withdraw() {
            Ok(before) => before.into_iter().for_each(drop_waiter),
            Err(ProducerCame) => return Err(waiter),
        }
        let shared = self.shared();
        // SAFETY: this is the consumer, which has withdrawn its waiter.
        unsafe { shared.put_waiter(waiter) };
        simulated::point();
        if shared.state.try_offer() {
            return Ok(());
        }
        // SAFETY: the producer did not see the waiter, so this thread still owns it.
        Err(unsafe { shared.take_waiter() })
    }

    /// Takes back the waiter registered before, if there is one. On success the consumer owns the
    /// slot again; after an error the producer may be reading it.
    fn withdraw(&self) -> Result<Option<CellWaiter<R>>, ProducerCame> {
        let shared = self.shared();
        match shared.state.withdraw() {
            // SAFETY: the waiter was taken back before the producer could see it.
            WaiterWithdrawal::Waiter => Ok(Some(unsafe { shared.take_waiter() })),
            WaiterWithdrawal::Nothing => Ok(None),
            WaiterWithdrawal::TooLate => Err(ProducerCame),
        }
    }

    /// Leaves the cell. Returns the value if it is available.
    fn leave(&mut self, how: ConsumerExit) -> Option<CellValue<R>> {
        let this = self.0?;
        let waiter = self.withdraw();
        simulated::point();
        let owner = self.shared().state.leave(how);
        self.0 = None;
        // SAFETY: the producer has left, after it has written the value.
        let value = (owner == CellOwner::Caller).then(|| unsafe { PromiseCell::take_over(this) });
        if let Ok(Some(waiter)) = waiter {
            drop_waiter(waiter);
        }
        value
    }

    /// Leaves because the caller gives up. Returns the value if it is available.
    pub(in crate::promise) fn give_up(&mut self) -> Option<CellValue<R>> {
        self.leave(ConsumerExit::GivesUp)
    }
}

/// The producer has arrived: the consumer can no longer change the state.
struct ProducerCame;

impl<R> Drop for Consumer<R> {
    fn drop(&mut self) {
        if let Some(value) = self.leave(ConsumerExit::Drops) {
            drop_value(value);
        }
    }
}

/// Drops a waiter that is not going to be notified. Its task may own the next promise, which may
/// have a waiter, and so on.
#[inline(never)]
fn drop_waiter<R>(waiter: CellWaiter<R>) {
    // SAFETY: wakers and closures are `'static`.
    unsafe { drop_depth::run_destructor(move || drop(waiter)) };
}
