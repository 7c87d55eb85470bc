//! Futures on the workers of a runtime.

use crate::sched::runtime_shared::RuntimeShared;
use std::any::type_name;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::ptr::{NonNull, null_mut};
use std::task::{Context, Poll, Waker};

use async_task::Runnable;
use coact_sync::shim::atomic::AtomicPtr;
use coact_sync::shim::sync::Mutex;
use slab::Slab;

use crate::drop_depth;
use crate::fault::Broken;
use crate::panic;
use crate::promise::{Promise, Resolver};
use crate::runtime_ids::RuntimeId;
use crate::sched::phase::RuntimePhase;
use crate::sched::runtime_handle::{count_abandoned, current_id};
use crate::sched::runtime_shared;
use crate::sched::schedule;
use crate::sched::services::SharedService;
use crate::simulated::PolledFuture;
use crate::task::{RunContext, RunMode, Task, TaskPtr, TaskVTable};

/// Runs a future on the workers of the current runtime, and returns a promise of its output.
///
/// The future takes turns with behaviours: each wake-up leads to one poll. It holds no cown; to use
/// cowns it spawns behaviours and may await their promises. The runtime is not idle until the
/// future has ended.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, call};
/// use coact::runtime::spawn_future;
///
/// let (a, b) = (Cown::new(1), Cown::new(2));
/// let sum = spawn_future(async move {
///     let a = call(&a, |a| *a).await?;
///     let b = call(&b, |b| *b).await?;
///     Ok::<_, coact::Broken>(a + b)
/// });
/// assert_eq!(sum.wait(), Ok(Ok(3)));
/// ```
///
/// A panic of the future is caught and reported, and breaks the promise. Dropping the promise does
/// not stop the future.
#[cfg_attr(feature = "sim", track_caller)]
pub fn spawn_future<F>(future: F) -> Promise<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let home = current_id();
    let (resolver, promise) = Promise::channel();
    runtime_shared::get(home).begin_outstanding();
    let counted = CountedFuture { home, number: None };
    let polled = PolledFuture::keeping(name_of::<F>, promise.cell());
    let driven =
        DrivenFuture { future: Some(Box::pin(future)), resolver: Some(resolver), counted, polled };
    let (runnable, task) = async_task::spawn(driven, move |runnable| {
        submit(runnable, home, &WokenVTable::<F>::VTABLE)
    });
    task.detach();
    runnable.schedule();
    promise
}

fn name_of<F>(f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "the future `{}`", type_name::<F>())
}

/// A future that completes a promise with its output.
struct DrivenFuture<F: Future>
where
    F::Output: Send + 'static,
{
    /// `None` once it has ended.
    future: Option<Pin<Box<F>>>,
    resolver: Option<Resolver<F::Output>>,
    counted: CountedFuture,
    /// The future in reports of the simulation.
    polled: PolledFuture,
}

impl<F: Future> Future for DrivenFuture<F>
where
    F::Output: Send + 'static,
{
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        let Some(future) = &mut this.future else { return Poll::Ready(()) };
        this.counted.register(context.waker());
        let poll = || this.polled.polls(|| future.as_mut().poll(context));
        let result = match catch_unwind(AssertUnwindSafe(poll)) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(output)) => Ok(output),
            Err(payload) => Err(panic::caught(payload, type_name::<F>(), this.counted.home)),
        };
        let future = this.future.take();
        panic::drop_quietly(move || drop(future));
        if let Some(resolver) = this.resolver.take() {
            panic::drop_quietly(move || match result {
                Ok(output) => resolver.resolve(output),
                Err(why) => resolver.fail(why),
            });
        }
        Poll::Ready(())
    }
}

impl<F: Future> Drop for DrivenFuture<F>
where
    F::Output: Send + 'static,
{
    fn drop(&mut self) {
        let future = self.future.take();
        if future.is_some() {
            count_abandoned(self.counted.home);
            panic::drop_quietly(move || drop(future));
        }
        if let Some(resolver) = self.resolver.take() {
            panic::drop_quietly(move || resolver.fail(Broken::Cancelled));
        }
    }
}

/// Counts a future as outstanding work, and as one to be woken by a shutdown, until dropped.
struct CountedFuture {
    home: RuntimeId,
    /// Its index among the runtime's futures, once it has been polled.
    number: Option<usize>,
}

impl CountedFuture {
    fn register(&mut self, waker: &Waker) {
        if self.number.is_none() {
            let shared = runtime_shared::get(self.home);
            self.number = Some(shared.service::<FutureWakers>().insert(waker.clone()));
            // The thread that ends the phase wakes those in the list afterwards: either it or this
            // thread sees the other, by the list's lock (or, if the list is new, by the fence of
            // `RuntimeShared::service`).
            if shared.phase() != RuntimePhase::Running {
                waker.wake_by_ref();
            }
        }
    }
}

impl Drop for CountedFuture {
    fn drop(&mut self) {
        let shared = runtime_shared::get(self.home);
        if let Some(number) = self.number {
            shared.service::<FutureWakers>().remove(number);
        }
        shared.end_outstanding();
    }
}

/// The wakers for when a runtime is past its deadline: those of futures that have begun and not
/// ended, and others that asked for it.
///
/// A future's waker stays the same for its lifetime: that of its task. Each is woken once, and its
/// slot is empty from then on: cloning it under the lock would run foreign code there.
#[derive(Default)]
pub(crate) struct FutureWakers(Mutex<Slab<Option<Waker>>>);

impl FutureWakers {
    pub(crate) fn insert(&self, waker: Waker) -> usize {
        self.0.lock().insert(Some(waker))
    }

    pub(crate) fn remove(&self, number: usize) {
        // The waker may be the last reference to the task, which may own the next one: it is
        // dropped without the lock.
        let waker = self.0.lock().remove(number);
        if let Some(waker) = waker {
            // SAFETY: a waker is `'static`.
            unsafe { drop_depth::run_destructor(move || drop(waker)) };
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.lock().is_empty()
    }

    /// Wakes them all.
    fn wake_all(&self) {
        let wakers: Vec<Waker> =
            self.0.lock().iter_mut().filter_map(|(_, waker)| waker.take()).collect();
        wakers.into_iter().for_each(|waker| panic::drop_quietly(|| waker.wake()));
    }
}

impl SharedService for FutureWakers {
    fn new(_: &RuntimeShared) -> Self {
        Self::default()
    }

    /// A future that is woken afterwards is dropped.
    fn stop(&self, _: &RuntimeShared) {
        self.wake_all();
    }
}

/// A future that was woken, as a task of the scheduler.
#[repr(C)]
struct WokenFuture {
    task: Task,
    link: AtomicPtr<()>,
    runnable: Runnable,
}

/// The functions of a woken future, which differ only by its name.
struct WokenVTable<F>(PhantomData<F>);

impl<F> WokenVTable<F> {
    const VTABLE: TaskVTable = TaskVTable::new(run, link, type_name::<F>);
}

fn submit(runnable: Runnable, home: RuntimeId, vtable: &'static TaskVTable) {
    let task = Task { vtable };
    let woken = Box::new(WokenFuture { task, link: AtomicPtr::new(null_mut()), runnable });
    schedule(NonNull::from(Box::leak(woken)).cast(), home);
}

/// # Safety
/// The task was created by [`submit`], and is run once.
unsafe fn run(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
    // SAFETY: the task was created from a box of this type, and is run once.
    let woken = unsafe { Box::from_raw(task.cast::<WokenFuture>().as_ptr()) };
    match context.mode() {
        RunMode::Run => panic::drop_quietly(|| {
            woken.runnable.run();
        }),
        // Dropping it drops the future.
        RunMode::Cancel => drop(woken),
    }
    None
}

/// # Safety
/// The task was created by [`submit`], and has not run.
unsafe fn link(task: TaskPtr) -> NonNull<AtomicPtr<()>> {
    // SAFETY: the task was created by `submit` and has not run, so its box is live.
    NonNull::from(unsafe { &task.cast::<WokenFuture>().as_ref().link })
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::{RawWaker, RawWakerVTable, Waker};

    use super::FutureWakers;

    /// A foreign waker: cloning it registers its own wake-up and takes that back.
    struct Foreign {
        futures: FutureWakers,
        woken: AtomicU32,
    }

    static VTABLE: RawWakerVTable = RawWakerVTable::new(
        |data| {
            // SAFETY: the data is an `Arc<Foreign>`, of which the clone gets a count.
            let foreign = unsafe { &*data.cast::<Foreign>() };
            foreign.futures.remove(foreign.futures.insert(Waker::noop().clone()));
            // SAFETY: the data is an `Arc<Foreign>`.
            unsafe { Arc::increment_strong_count(data.cast::<Foreign>()) };
            RawWaker::new(data, &VTABLE)
        },
        |data| {
            // SAFETY: the data is an `Arc<Foreign>`; the waker's count ends here.
            let foreign = unsafe { Arc::from_raw(data.cast::<Foreign>()) };
            foreign.woken.fetch_add(1, Ordering::Relaxed);
        },
        |data| {
            // SAFETY: the data is an `Arc<Foreign>`, kept alive by the waker.
            unsafe { &*data.cast::<Foreign>() }.woken.fetch_add(1, Ordering::Relaxed);
        },
        // SAFETY: the data is an `Arc<Foreign>`; the waker's count ends here.
        |data| drop(unsafe { Arc::from_raw(data.cast::<Foreign>()) }),
    );

    #[test]
    fn wakers_do_what_they_like_and_are_woken_once() {
        let foreign =
            Arc::new(Foreign { futures: FutureWakers::default(), woken: AtomicU32::new(0) });
        let data = Arc::into_raw(Arc::clone(&foreign)).cast();
        // SAFETY: the functions match such data.
        let waker = unsafe { Waker::from_raw(RawWaker::new(data, &VTABLE)) };
        let number = foreign.futures.insert(waker);
        foreign.futures.wake_all();
        foreign.futures.wake_all();
        foreign.futures.remove(number);
        assert_eq!(foreign.woken.load(Ordering::Relaxed), 1);
        assert_eq!(Arc::strong_count(&foreign), 1);
    }
}
