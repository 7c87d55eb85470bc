//! The cell that a promise and its resolver share: one value, one waiter, two owners.
//!
//! | state | set by | meaning |
//! | --- | --- | --- |
//! | `EMPTY` | start; the consumer, when it takes its waiter back | the value is yet to come |
//! | `WAITING` | the consumer | `waiter` is filled in, and belongs to the producer if it comes |
//! | `TAKING` | the producer | it takes the waiter out; `READY` follows at once |
//! | `READY` | the producer, at its end | `value` is filled in, and belongs to the consumer |
//! | `CALLS` | start | there is no consumer: the producer calls a closure with the value |
//! | `GONE` | the consumer, at its end | the producer has the cell alone |
//! | `LATE` | the consumer, when it gives up | as `GONE`, and the producer is to know |
//!
//! The producer leaves with its exchange to `READY`, the consumer with its exchange to `GONE` or
//! `LATE`; whoever comes second frees the cell.

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
use crate::steps;

const EMPTY: u8 = 0;
const WAITING: u8 = 1;
const TAKING: u8 = 2;
const READY: u8 = 3;
const CALLS: u8 = 4;
const GONE: u8 = 5;
const LATE: u8 = 6;

type Value<R> = Result<R, Broken>;

/// Who is to be told of the value.
enum Waiter<R> {
    Task(Waker),
    /// What is to be done with the value, by the producer.
    Then(Box<dyn FnOnce(Value<R>) + Send>),
}

#[repr(C)]
struct Shared<R> {
    state: AtomicU8,
    value: UnsafeCell<MaybeUninit<Value<R>>>,
    waiter: UnsafeCell<MaybeUninit<Waiter<R>>>,
}

/// What a producer without a consumer has in the place of a [`Shared`]; the closure lies behind it.
#[repr(C)]
struct Call<R> {
    /// `CALLS`, for good.
    state: AtomicU8,
    /// Calls the closure, and frees the block.
    ///
    /// # Safety
    /// The block is the caller's alone, and gone after this.
    call: unsafe fn(NonNull<Call<R>>, Value<R>),
}

/// A block with its closure.
#[repr(C)]
struct Calling<R, F> {
    head: Call<R>,
    closure: F,
}

/// The resolver's end.
pub(super) struct Producer<R>(NonNull<Shared<R>>);

/// The promise's end. `None` once the value is taken, or the cell handed over.
pub(super) struct Consumer<R>(Option<NonNull<Shared<R>>>);

// SAFETY: the value moves from one thread to another, once; no shared reference to it exists.
unsafe impl<R: Send> Send for Producer<R> {}
// SAFETY: `&Producer` only reads the state word.
unsafe impl<R: Send> Sync for Producer<R> {}
// SAFETY: as for `Producer`.
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
    // SAFETY: the block is fresh and has the layout.
    unsafe { shared.write(empty) };
    simulated::made(shared.addr().get());
    (Producer(shared), Consumer(Some(shared)))
}

/// A producer that calls a closure with the value.
pub(super) fn calling<R, F>(closure: F) -> Producer<R>
where
    F: FnOnce(Value<R>) + Send + 'static,
{
    let block = pool::alloc(Layout::new::<Calling<R, F>>()).cast::<Calling<R, F>>();
    let head = Call { state: AtomicU8::new(CALLS), call: Calling::<R, F>::call };
    // SAFETY: the block is fresh and has the layout.
    unsafe { block.write(Calling { head, closure }) };
    Producer(block.cast())
}

impl<R, F: FnOnce(Value<R>)> Calling<R, F> {
    /// # Safety
    /// The block is one of `calling`'s with this type, the caller's alone, and gone after this.
    unsafe fn call(head: NonNull<Call<R>>, value: Value<R>) {
        // SAFETY: by the caller's word; the closure is taken out once.
        let closure = unsafe {
            let mut block = head.cast::<Self>();
            block.as_mut().head.state.end();
            let closure = (&raw const (*block.as_ptr()).closure).read();
            pool::dealloc(block.cast(), Layout::new::<Self>());
            closure
        };
        closure(value);
    }
}

impl<R> Shared<R> {
    /// Takes the value, and frees the cell.
    ///
    /// # Safety
    /// The value is filled in, and the other end is gone, or has been given up to the caller.
    unsafe fn take_over(mut this: NonNull<Self>) -> Value<R> {
        // SAFETY: by the caller's word; the block was made with this layout.
        unsafe {
            this.as_mut().state.end();
            let value = this.as_ref().value.with(|value| (*value).assume_init_read());
            pool::dealloc(this.cast(), Layout::new::<Self>());
            value
        }
    }

    /// # Safety
    /// The waiter is filled in, and the caller's; it is taken once.
    unsafe fn take_waiter(&self) -> Waiter<R> {
        // SAFETY: by the caller's word.
        self.waiter.with(|waiter| unsafe { (*waiter).assume_init_read() })
    }
}

impl<R> Producer<R> {
    /// Gives the value, and tells the waiter. Returns false if it had given up.
    #[inline]
    pub(super) fn complete(self, value: Value<R>) -> bool {
        let this = ManuallyDrop::new(self).0;
        // SAFETY: whatever this points to begins with its state, and is alive by this end.
        let state = unsafe { &(*this.as_ptr()).state };
        // ORDERING: Relaxed. `CALLS` is there from the start, or never comes.
        if state.load(Ordering::Relaxed) == CALLS {
            let head = this.cast::<Call<R>>();
            // SAFETY: the state says that it is one, and there is no other end.
            unsafe { ((*head.as_ptr()).call)(head, value) };
            return true;
        }
        // SAFETY: there is another end.
        unsafe { Self::complete_shared(this, value) }
    }

    /// The same where there is a consumer, or was.
    ///
    /// # Safety
    /// The cell is alive by this end, which is given up.
    #[inline(never)]
    unsafe fn complete_shared(this: NonNull<Shared<R>>, value: Value<R>) -> bool {
        // SAFETY: this end keeps the cell alive up to the exchange to `READY`.
        let shared = unsafe { this.as_ref() };
        // SAFETY: the value is the producer's until `READY`.
        shared.value.with_mut(|place| unsafe {
            (*place).write(value);
        });
        let mut waker = None;
        // ORDERING: Relaxed. What is read is confirmed by the exchange that follows.
        let mut state = shared.state.load(Ordering::Relaxed);
        while state < GONE {
            let next = if state == WAITING { TAKING } else { READY };
            // ORDERING: AcqRel. Release publishes the value with `READY` (acquire in `is_ready` and
            // `Consumer::drop`). Acquire pairs with the release in `offer`: the waiter is read.
            // Relaxed on failure: the fence below is for a `GONE`.
            let (ok, failed) = (Ordering::AcqRel, Ordering::Relaxed);
            match shared.state.compare_exchange(state, next, ok, failed) {
                Err(now) => state = now,
                Ok(WAITING) => {
                    state = TAKING;
                    simulated::point();
                    // SAFETY: in `TAKING` the waiter is the producer's.
                    match unsafe { shared.take_waiter() } {
                        Waiter::Task(task) => waker = Some(task),
                        Waiter::Then(then) => {
                            // SAFETY: this consumer has given its end up to us.
                            then(unsafe { Shared::take_over(this) });
                            return true;
                        }
                    }
                }
                // The consumer may free the cell now: it is not touched any more.
                Ok(_) => {
                    waker.into_iter().for_each(wake);
                    return true;
                }
            }
        }
        // ORDERING: Acquire pairs with the release of `GONE` or `LATE`, which was seen above: the free
        // below comes after the consumer's uses.
        let in_time = shared.state.load(Ordering::Acquire) != LATE;
        // SAFETY: the consumer has left.
        let value = unsafe { Shared::take_over(this) };
        // Whoever had the value to give has done what there was to do: a panic of its destructor is not his.
        drop_quietly(|| drop_value(value));
        in_time
    }

    /// The address of the cell, by which the simulation knows it.
    #[inline]
    pub(super) fn addr(&self) -> usize {
        self.0.addr().get()
    }

    pub(super) fn is_abandoned(&self) -> bool {
        // SAFETY: whatever this points to begins with its state, and is alive by this end.
        let state = unsafe { &(*self.0.as_ptr()).state };
        // ORDERING: Relaxed. A hint.
        state.load(Ordering::Relaxed) >= GONE
    }
}

/// Wakes the one who waits. His waker is foreign code, of which whoever has the value knows nothing.
#[inline(never)]
fn wake(waker: Waker) {
    drop_quietly(|| waker.wake());
}

impl<R> Drop for Producer<R> {
    fn drop(&mut self) {
        let this = Producer(self.0);
        // What is called with the end may own the next producer, and so forth. And the owner may be
        // unwinding: it must not panic.
        // SAFETY: it captures this end alone; a resolver's value is `'static`.
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

    /// As [`Producer::addr`]; 0 once the value is taken.
    #[inline]
    pub(super) fn addr(&self) -> usize {
        self.0.map_or(0, |shared| shared.addr().get())
    }

    pub(super) fn is_ready(&self) -> bool {
        // ORDERING: Acquire pairs with the release of `READY`: the value may be taken then.
        self.0.is_none() || self.shared().state.load(Ordering::Acquire) == READY
    }

    /// Takes the value, if it is there.
    #[inline]
    pub(super) fn try_take(&mut self) -> Option<Value<R>> {
        if !self.is_ready() {
            return None;
        }
        let this = self.0.take().expect("a promise is not used after it was ready");
        // SAFETY: the producer has left with `READY`.
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

    /// Leaves the value to `then`: it is called now, or by the producer.
    pub(super) fn on_ready(mut self, then: impl FnOnce(Value<R>) + Send + 'static)
    where
        R: 'static,
    {
        if let Some(value) = self.try_take() {
            return then(value);
        }
        match self.offer(Waiter::Then(Box::new(then))) {
            // This end belongs to the producer now.
            Ok(()) => self.0 = None,
            Err(Waiter::Then(then)) => then(self.take_soon()),
            Err(Waiter::Task(_)) => unreachable!("the waiter comes back as it was given"),
        }
    }

    /// Takes a value that is there, or is about to be: the producer is at `TAKING` for a few
    /// instructions only.
    fn take_soon(&mut self) -> Value<R> {
        steps::wait_for(|| self.is_ready().then_some(()));
        self.try_take().expect("it is ready")
    }

    /// Offers a waiter, in the place of one that was offered before. Gives it back if the value has
    /// come meanwhile, or is about to.
    fn offer(&self, waiter: Waiter<R>) -> Result<(), Waiter<R>> {
        match self.withdraw() {
            Ok(before) => before.into_iter().for_each(drop_waiter),
            Err(ProducerCame) => return Err(waiter),
        }
        let shared = self.shared();
        // SAFETY: the state is `EMPTY`, or has become `READY` from there: the producer does not look
        // at the waiter's place.
        shared.waiter.with_mut(|place| unsafe {
            (*place).write(waiter);
        });
        simulated::point();
        // ORDERING: Release publishes the waiter to the producer (acquire in `complete`). Relaxed on
        // failure: `try_take` looks at the state again before the value is read.
        let (ok, failed) = (Ordering::Release, Ordering::Relaxed);
        match shared.state.compare_exchange(EMPTY, WAITING, ok, failed) {
            Ok(_) => Ok(()),
            // SAFETY: the producer did not see it: it is ours still.
            Err(_) => Err(unsafe { shared.take_waiter() }),
        }
    }

    /// Takes a waiter back that was offered before, if there is one. Then its place is the
    /// consumer's again; after an error the producer may be taking the waiter out of it.
    fn withdraw(&self) -> Result<Option<Waiter<R>>, ProducerCame> {
        let shared = self.shared();
        // ORDERING: Relaxed. The waiter is our own; if the producer was first, `READY` is looked at
        // again with acquire before anything is read. An `EMPTY` may be out of date, but was never
        // `WAITING` since: only this thread sets that.
        let (ok, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        match shared.state.compare_exchange(WAITING, EMPTY, ok, failed) {
            // SAFETY: taken back before the producer could see it.
            Ok(_) => Ok(Some(unsafe { shared.take_waiter() })),
            Err(EMPTY) => Ok(None),
            Err(_) => Err(ProducerCame),
        }
    }
}

/// The state is beyond what a consumer can change.
struct ProducerCame;

impl<R> Consumer<R> {
    /// Leaves, and tells the producer so with `state`. Returns the value if it has come.
    fn leave(&mut self, state: u8) -> Option<Value<R>> {
        let this = self.0?;
        let waiter = self.withdraw();
        simulated::point();
        // ORDERING: AcqRel. Release: our uses come before the producer's free. Acquire pairs with
        // the release of `READY`: the value is taken below.
        let before = self.shared().state.swap(state, Ordering::AcqRel);
        self.0 = None;
        // SAFETY: the producer has left.
        let value = (before == READY).then(|| unsafe { Shared::take_over(this) });
        if let Ok(Some(waiter)) = waiter {
            drop_waiter(waiter);
        }
        value
    }

    /// Leaves since it has waited long enough. Returns the value if it has come.
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

/// Drops a waiter that is told no more. Its task may own the next promise, and that one a waiter.
#[inline(never)]
fn drop_waiter<R>(waiter: Waiter<R>) {
    // SAFETY: a waker is `'static`, and so is a closure.
    unsafe { depth::run_destructor(move || drop(waiter)) };
}

/// Drops a value that nobody wants. It may own the next promise, whose value nobody wants then.
fn drop_value<R>(value: Value<R>) {
    if needs_drop::<R>() {
        // SAFETY: the value of a promise and its resolver is `'static`.
        unsafe { depth::run_destructor(move || drop(value)) };
    }
}

#[cfg(all(test, loom))]
mod loom;
