//! The cell that a promise and its resolver share: one value, one waiter, two owners.
//!
//! | state | set by | meaning |
//! | --- | --- | --- |
//! | `EMPTY` | creation; the consumer, when it withdraws its waiter | no value yet |
//! | `WAITING` | the consumer | `waiter` is initialised; the producer owns it when it arrives |
//! | `TAKING` | the producer | the producer takes the waiter out; `READY` follows at once |
//! | `READY` | the producer, as its last step | `value` is initialised, and the consumer owns it |
//! | `CALLS` | creation | there is no consumer: the producer calls a closure with the value |
//! | `GONE` | the consumer, as its last step | the producer owns the cell alone |
//! | `LATE` | the consumer, when it gives up | like `GONE`, and the producer reports it |
//!
//! The producer leaves with its exchange to `READY`, the consumer with its exchange to `GONE` or
//! `LATE`; the second of them frees the cell.

use std::alloc::Layout;
use std::mem::{ManuallyDrop, MaybeUninit, needs_drop};
use std::ptr::NonNull;
use std::task::{Poll, Waker};

use coact_sync::pool;
use coact_sync::shim::atomic::{AtomicU8, End, Ordering};
use coact_sync::shim::cell::UnsafeCell;

use crate::depth;
use crate::fault::Broken;
use crate::panic::drop_quietly;
use crate::simulated;
use crate::spin_wait;

const EMPTY: u8 = 0;
const WAITING: u8 = 1;
const TAKING: u8 = 2;
const READY: u8 = 3;
const CALLS: u8 = 4;
const GONE: u8 = 5;
const LATE: u8 = 6;

type Value<R> = Result<R, Broken>;

/// What the consumer leaves for the producer to notify.
enum Waiter<R> {
    Task(Waker),
    /// A closure that the producer calls with the value.
    Then(Box<dyn FnOnce(Value<R>) + Send>),
}

#[repr(C)]
struct Shared<R> {
    state: AtomicU8,
    value: UnsafeCell<MaybeUninit<Value<R>>>,
    waiter: UnsafeCell<MaybeUninit<Waiter<R>>>,
}

/// What a producer without a consumer points to instead of a [`Shared`]: the head of a block that
/// handles the value.
#[repr(C)]
pub(crate) struct Call<R> {
    /// Always `CALLS`.
    state: AtomicU8,
    /// Handles the value and frees the block, now or later.
    ///
    /// # Safety
    /// The value is initialised. The caller owns the block exclusively and must not use it
    /// afterwards.
    call: unsafe fn(NonNull<Call<R>>),
    value: MaybeUninit<Value<R>>,
}

/// The block of a `calling` producer, with its closure.
#[repr(C)]
struct Calling<R, F> {
    head: Call<R>,
    closure: F,
}

/// The resolver's end.
pub(super) struct Producer<R>(NonNull<Shared<R>>);

/// The promise's end. `None` once the value is taken or the cell is left to the producer.
pub(super) struct Consumer<R>(Option<NonNull<Shared<R>>>);

// SAFETY: the value moves from one thread to another, once; there is never a shared reference to
// it.
unsafe impl<R: Send> Send for Producer<R> {}
// SAFETY: `&Producer` only reads the state word.
unsafe impl<R: Send> Sync for Producer<R> {}
// SAFETY: the value moves from one thread to another, once; there is never a shared reference to
// it.
unsafe impl<R: Send> Send for Consumer<R> {}
// SAFETY: `&Consumer` only reads the state word.
unsafe impl<R: Send> Sync for Consumer<R> {}

#[cfg_attr(feature = "sim", track_caller)]
pub(super) fn pair<R>() -> (Producer<R>, Consumer<R>) {
    let shared = pool::alloc(Layout::new::<Shared<R>>()).cast::<Shared<R>>();
    let empty = Shared {
        state: AtomicU8::new(EMPTY),
        value: UnsafeCell::new(MaybeUninit::uninit()),
        waiter: UnsafeCell::new(MaybeUninit::uninit()),
    };
    // SAFETY: the block was just allocated with the layout of `Shared<R>`.
    unsafe { shared.write(empty) };
    simulated::made(shared.addr().get());
    (Producer(shared), Consumer(Some(shared)))
}

/// Creates a producer that calls a closure with the value.
pub(super) fn calling<R, F>(closure: F) -> Producer<R>
where
    F: FnOnce(Value<R>) + Send + 'static,
{
    let block = pool::alloc(Layout::new::<Calling<R, F>>()).cast::<Calling<R, F>>();
    let head = Call::new(Calling::<R, F>::call);
    // SAFETY: the block was just allocated with the layout of `Calling`.
    unsafe { block.write(Calling { head, closure }) };
    Producer(block.cast())
}

impl<R> Call<R> {
    /// Creates a head without a value.
    #[inline]
    pub(crate) fn new(call: unsafe fn(NonNull<Call<R>>)) -> Self {
        Self { state: AtomicU8::new(CALLS), call, value: MaybeUninit::uninit() }
    }

    /// The state is not accessed from here on; a model checks that.
    ///
    /// # Safety
    /// The caller owns the block exclusively.
    #[inline]
    pub(crate) unsafe fn end(mut this: NonNull<Self>) {
        // SAFETY: the caller owns the block.
        unsafe { this.as_mut() }.state.end();
    }

    /// Moves the value out.
    ///
    /// # Safety
    /// The value is initialised, and taken once. The caller owns the block exclusively.
    #[inline(always)]
    pub(crate) unsafe fn take_value(this: NonNull<Self>) -> Value<R> {
        // SAFETY: the caller owns the block; the value is initialised, and taken once.
        unsafe { (*this.as_ptr()).value.assume_init_read() }
    }
}

impl<R, F: FnOnce(Value<R>)> Calling<R, F> {
    /// # Safety
    /// The block comes from `calling` with these types, and its value is initialised. The caller owns it exclusively and
    /// must not use it afterwards.
    unsafe fn call(head: NonNull<Call<R>>) {
        // SAFETY: the caller owns the block, which `calling` made with these types; the closure and the value are
        // moved out once, and the block freed with its own layout.
        let (closure, value) = unsafe {
            Call::end(head);
            let block = head.cast::<Self>();
            let closure = (&raw const (*block.as_ptr()).closure).read();
            let value = Call::take_value(head);
            pool::dealloc(block.cast(), Layout::new::<Self>());
            (closure, value)
        };
        closure(value);
    }
}

impl<R> Shared<R> {
    /// Takes the value and frees the cell.
    ///
    /// # Safety
    /// The value is initialised, and the other end has left or has been handed to the caller.
    unsafe fn take_over(mut this: NonNull<Self>) -> Value<R> {
        // SAFETY: the value is initialised and the caller owns both ends, so no access can follow;
        // `pair` allocated the block with this layout.
        unsafe {
            this.as_mut().state.end();
            let value = this.as_ref().value.with(|value| (*value).assume_init_read());
            pool::dealloc(this.cast(), Layout::new::<Self>());
            value
        }
    }

    /// # Safety
    /// The waiter is initialised, the caller owns it, and it is taken once.
    unsafe fn take_waiter(&self) -> Waiter<R> {
        // SAFETY: the caller owns the initialised waiter and takes it once.
        self.waiter.with(|waiter| unsafe { (*waiter).assume_init_read() })
    }
}

impl<R> Producer<R> {
    /// Creates the producer that calls this.
    ///
    /// # Safety
    /// There is no other one. The block stays alive until it is called, which may happen on any thread.
    #[inline]
    pub(super) unsafe fn of_call(call: NonNull<Call<R>>) -> Self {
        Self(call.cast())
    }

    /// Provides the value and notifies the waiter. Returns `false` if the consumer had given up.
    #[inline]
    pub(super) fn complete(self, value: Value<R>) -> bool {
        self.complete_with(|| value)
    }

    /// The same with a value that is created in place. `value` must not panic: the block would leak.
    #[inline(always)]
    pub(super) fn complete_with(self, value: impl FnOnce() -> Value<R>) -> bool {
        let this = ManuallyDrop::new(self).0;
        // SAFETY: both kinds of block begin with the state, and this end keeps the block alive.
        let state = unsafe { &(*this.as_ptr()).state };
        // ORDERING: Relaxed. `CALLS` is set at creation and never changes.
        if state.load(Ordering::Relaxed) == CALLS {
            let head = this.cast::<Call<R>>();
            // SAFETY: `CALLS` says that this is a `Call`; such a block has no other end, so this
            // end owns it.
            unsafe {
                (*head.as_ptr()).value.write(value());
                ((*head.as_ptr()).call)(head);
            }
            return true;
        }
        // SAFETY: the state is not `CALLS`, so this is a `Shared`; this end keeps it alive and is
        // given up.
        unsafe { Self::complete_shared(this, value()) }
    }

    /// The same for a cell with a consumer.
    ///
    /// # Safety
    /// This end keeps the cell alive, and the caller gives it up.
    #[inline(never)]
    unsafe fn complete_shared(this: NonNull<Shared<R>>, value: Value<R>) -> bool {
        // SAFETY: this end keeps the cell alive up to the exchange to `READY`.
        let shared = unsafe { this.as_ref() };
        // SAFETY: the producer owns the value's slot until `READY`.
        shared.value.with_mut(|place| unsafe {
            (*place).write(value);
        });
        let mut waker = None;
        // ORDERING: Relaxed. The exchange below confirms the state.
        let mut state = shared.state.load(Ordering::Relaxed);
        while state < GONE {
            let next = if state == WAITING { TAKING } else { READY };
            // ORDERING: AcqRel. Release publishes the value with `READY` (Acquire in `is_ready` and
            // `leave`). Acquire pairs with the Release in `offer`, since the waiter is read.
            // Relaxed on failure: the load of `GONE` below is an Acquire.
            let (ok, failed) = (Ordering::AcqRel, Ordering::Relaxed);
            match shared.state.compare_exchange(state, next, ok, failed) {
                Err(now) => state = now,
                Ok(WAITING) => {
                    state = TAKING;
                    simulated::point();
                    // SAFETY: in `TAKING` the producer owns the waiter.
                    match unsafe { shared.take_waiter() } {
                        Waiter::Task(task) => waker = Some(task),
                        Waiter::Then(then) => {
                            // SAFETY: a consumer that leaves a `Then` gives its end to the
                            // producer, and the value was written above.
                            then(unsafe { Shared::take_over(this) });
                            return true;
                        }
                    }
                }
                // The consumer may free the cell from here on: do not touch it again.
                Ok(_) => {
                    waker.into_iter().for_each(wake);
                    return true;
                }
            }
        }
        // ORDERING: Acquire pairs with the Release of `GONE` or `LATE`, which the loop has seen:
        // the free below comes after the consumer's accesses.
        let in_time = shared.state.load(Ordering::Acquire) != LATE;
        // SAFETY: the consumer has left, and the value was written above.
        let value = unsafe { Shared::take_over(this) };
        // The producer has done its work: a panic in the value's destructor must not reach it.
        drop_quietly(|| drop_value(value));
        in_time
    }

    /// The cell's address, its identity in a simulation.
    #[inline]
    pub(super) fn addr(&self) -> usize {
        self.0.addr().get()
    }

    pub(super) fn is_abandoned(&self) -> bool {
        // SAFETY: both kinds of block begin with the state, and this end keeps the block alive.
        let state = unsafe { &(*self.0.as_ptr()).state };
        // ORDERING: Relaxed. The result is a hint.
        state.load(Ordering::Relaxed) >= GONE
    }
}

/// Wakes the consumer's task. A waker is foreign code, so its panics must not reach the producer.
#[inline(never)]
fn wake(waker: Waker) {
    drop_quietly(|| waker.wake());
}

impl<R> Drop for Producer<R> {
    fn drop(&mut self) {
        let this = Producer(self.0);
        // The destructor of what is called may own the next producer, and so on. And the owner may
        // be unwinding, so this must not panic.
        // SAFETY: the closure captures only this end; the value of a resolver is `'static`.
        unsafe {
            depth::run_destructor(move || {
                drop_quietly(|| _ = this.complete(Err(Broken::Dropped)));
            });
        }
    }
}

impl<R> Consumer<R> {
    fn shared(&self) -> &Shared<R> {
        let shared = self.0.expect("a promise is not used after it was ready");
        // SAFETY: this end keeps the cell alive.
        unsafe { &*shared.as_ptr() }
    }

    /// See [`Producer::addr`]; 0 once the value is taken.
    #[inline]
    pub(super) fn addr(&self) -> usize {
        self.0.map_or(0, |shared| shared.addr().get())
    }

    pub(super) fn is_ready(&self) -> bool {
        // ORDERING: Acquire pairs with the Release of `READY`: the value may be taken afterwards.
        self.0.is_none() || self.shared().state.load(Ordering::Acquire) == READY
    }

    /// Takes the value if it is available.
    #[inline]
    pub(super) fn try_take(&mut self) -> Option<Value<R>> {
        if !self.is_ready() {
            return None;
        }
        let this = self.0.take().expect("a promise is not used after it was ready");
        // SAFETY: `READY` says that the producer has left and the value is initialised.
        Some(unsafe { Shared::take_over(this) })
    }

    pub(super) fn poll(&mut self, waker: &Waker) -> Poll<Value<R>> {
        if let Some(value) = self.try_take() {
            return Poll::Ready(value);
        }
        match self.offer(Waiter::Task(waker.clone())) {
            Ok(()) => {
                simulated::polled(self.addr());
                Poll::Pending
            }
            Err(_) => Poll::Ready(self.take_soon()),
        }
    }

    /// Passes the value to `then`: now, or on the producer's thread.
    pub(super) fn on_ready(mut self, then: impl FnOnce(Value<R>) + Send + 'static)
    where
        R: 'static,
    {
        if let Some(value) = self.try_take() {
            return then(value);
        }
        match self.offer(Waiter::Then(Box::new(then))) {
            // From here on this end belongs to the producer.
            Ok(()) => self.0 = None,
            Err(Waiter::Then(then)) => then(self.take_soon()),
            Err(Waiter::Task(_)) => unreachable!("the waiter comes back as it was given"),
        }
    }

    /// Takes a value that is available or about to be: the producer stays in `TAKING` for only a
    /// few instructions.
    fn take_soon(&mut self) -> Value<R> {
        spin_wait::wait_for(|| self.is_ready().then_some(()));
        self.try_take().expect("it is ready")
    }

    /// Registers a waiter in place of an earlier one. Returns it if the value is available or about
    /// to be.
    fn offer(&self, waiter: Waiter<R>) -> Result<(), Waiter<R>> {
        match self.withdraw() {
            Ok(before) => before.into_iter().for_each(drop_waiter),
            Err(ProducerCame) => return Err(waiter),
        }
        let shared = self.shared();
        // SAFETY: the state is `EMPTY`, or has gone from there to `READY`: the producer reads the
        // waiter only in `WAITING`, which only this thread sets.
        shared.waiter.with_mut(|place| unsafe {
            (*place).write(waiter);
        });
        simulated::point();
        // ORDERING: Release publishes the waiter to the producer (Acquire in `complete_shared`).
        // Relaxed on failure: `try_take` loads the state again before it reads the value.
        let (ok, failed) = (Ordering::Release, Ordering::Relaxed);
        match shared.state.compare_exchange(EMPTY, WAITING, ok, failed) {
            Ok(_) => Ok(()),
            // SAFETY: the exchange failed, so the producer did not see the waiter and this thread
            // still owns it.
            Err(_) => Err(unsafe { shared.take_waiter() }),
        }
    }

    /// Takes back the waiter registered before, if there is one. On success the consumer owns the
    /// slot again; after an error the producer may be reading it.
    fn withdraw(&self) -> Result<Option<Waiter<R>>, ProducerCame> {
        let shared = self.shared();
        // ORDERING: Relaxed. The waiter is this thread's own. If the producer was first, the state
        // is loaded again with Acquire before anything is read. An `EMPTY` may be stale, but has
        // not been `WAITING` since: only this thread sets that.
        let (ok, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        match shared.state.compare_exchange(WAITING, EMPTY, ok, failed) {
            // SAFETY: the exchange took the waiter back before the producer could see it.
            Ok(_) => Ok(Some(unsafe { shared.take_waiter() })),
            Err(EMPTY) => Ok(None),
            Err(_) => Err(ProducerCame),
        }
    }
}

/// The producer has arrived: the consumer can no longer change the state.
struct ProducerCame;

impl<R> Consumer<R> {
    /// Leaves the cell, with `state` as the notice to the producer. Returns the value if it is
    /// available.
    fn leave(&mut self, state: u8) -> Option<Value<R>> {
        let this = self.0?;
        let waiter = self.withdraw();
        simulated::point();
        // ORDERING: AcqRel. Release: this thread's accesses come before the producer's free.
        // Acquire pairs with the Release of `READY`, since the value is taken below.
        let before = self.shared().state.swap(state, Ordering::AcqRel);
        self.0 = None;
        // SAFETY: `READY` says that the producer has left and the value is initialised.
        let value = (before == READY).then(|| unsafe { Shared::take_over(this) });
        if let Ok(Some(waiter)) = waiter {
            drop_waiter(waiter);
        }
        value
    }

    /// Leaves because the caller gives up. Returns the value if it is available.
    pub(super) fn give_up(&mut self) -> Option<Value<R>> {
        self.leave(LATE)
    }
}

impl<R> Drop for Consumer<R> {
    fn drop(&mut self) {
        if let Some(value) = self.leave(GONE) {
            drop_value(value);
        }
    }
}

/// Drops a waiter that is not going to be notified. Its task may own the next promise, which may
/// have a waiter, and so on.
#[inline(never)]
fn drop_waiter<R>(waiter: Waiter<R>) {
    // SAFETY: wakers and closures are `'static`.
    unsafe { depth::run_destructor(move || drop(waiter)) };
}

/// Drops a value that is not going to be read. It may own the next promise, with such a value, and
/// so on.
fn drop_value<R>(value: Value<R>) {
    if needs_drop::<R>() {
        // SAFETY: the value of a promise is `'static`.
        unsafe { depth::run_destructor(move || drop(value)) };
    }
}

#[cfg(all(test, loom))]
mod loom;
