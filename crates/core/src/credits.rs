//! Credits: flow control for producers that are faster than the work they spawn.

pub(crate) mod named_waits;

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use coact_sync::shim::atomic::{AtomicUsize, Ordering, seq_cst_accesses};
use coact_sync::shim::sync::Mutex;

use crate::panic::drop_quietly;
use crate::promise::{Promise, Resolver};
use crate::sched::context::prepare_to_block;
use crate::simulated;

/// A limit on the work in flight, for producers that are faster than the work.
///
/// A producer acquires a [`Permit`] for each piece of work and moves it into the behaviour;
/// dropping the permit returns the credits. A producer that finds too few credits waits: a thread
/// outside of the runtime in [`acquire_blocking`](Self::acquire_blocking), a future in
/// [`acquire`](Self::acquire). A behaviour must not wait, since it holds cowns that the work in
/// flight may need; it can only use [`try_acquire`](Self::try_acquire). Credits are granted in the
/// order of the requests.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, Runtime, when};
/// use coact::credits::Credits;
///
/// let runtime = Runtime::builder().workers(2).build()?;
/// let credits = Credits::new(64);
/// let sum = runtime.run(|| {
///     let sum = Cown::new(0_u64);
///     for n in 0..10_000 {
///         let permit = credits.acquire_blocking(1);
///         when(&sum, move |sum| {
///             *sum += n;
///             drop(permit);
///         });
///     }
///     sum
/// });
/// assert_eq!(sum.into_inner().unwrap(), 49_995_000);
/// assert_eq!(credits.available(), 64);
/// # Ok::<(), coact::runtime::BuildError>(())
/// ```
#[doc(alias = "Semaphore")]
#[derive(Clone)]
pub struct Credits(Arc<CreditPool>);

struct CreditPool {
    limit: usize,
    available: AtomicUsize,
    /// The length of `queue`; read without the lock.
    waiting: AtomicUsize,
    queue: Mutex<CreditQueue>,
}

#[derive(Default)]
struct CreditQueue {
    waiters: VecDeque<CreditWaiter>,
    /// An upper bound on the waiters in `queue` that have given up since it was last compacted.
    given_up: usize,
}

impl CreditQueue {
    /// Removes and returns the first waiter, if `take` obtains credits for it. Also removes the
    /// waiters before it that have given up.
    fn pop_if(&mut self, take: impl Fn(usize) -> bool) -> Option<CreditWaiter> {
        while self.waiters.front()?.resolver.is_abandoned() {
            self.waiters.pop_front();
        }
        self.waiters.pop_front_if(|first| take(first.amount))
    }

    /// Counts a waiter that has given up. Compacts the queue when those may be half of it, so each
    /// costs two steps, however long the queue is.
    fn give_up(&mut self) {
        self.given_up += 1;
        if self.given_up * 2 > self.waiters.len() {
            self.waiters.retain(|waiter| !waiter.resolver.is_abandoned());
            self.given_up = 0;
        }
    }
}

struct CreditWaiter {
    amount: usize,
    resolver: Resolver<Permit>,
}

/// Acquired credits. Dropping the permit returns them.
#[doc(alias = "SemaphorePermit")]
#[doc(alias = "OwnedSemaphorePermit")]
#[must_use = "the credits come back when the permit is dropped (bind it to a name: `let _ =` \
              drops it at once)"]
pub struct Permit {
    credits: Credits,
    amount: usize,
}

/// A future [`Permit`]; see [`Credits::acquire`].
#[derive(Debug)]
#[must_use = "dropping it leaves the queue"]
pub struct Acquire {
    credits: Credits,
    /// `None` once it is consumed.
    promise: Option<Promise<Permit>>,
}

/// Small enough that credits returned on top of those of [`Credits::lift`] cannot overflow.
const MAX_LIMIT: usize = usize::MAX / 4;

impl Credits {
    /// Creates a number of credits, capped at `usize::MAX / 4`.
    ///
    /// # Panics
    /// Panics if `limit` is zero.
    #[track_caller]
    pub fn new(limit: usize) -> Self {
        assert!(limit > 0, "a limit of 0 would never admit anything");
        let limit = limit.min(MAX_LIMIT);
        Self(Arc::new(CreditPool {
            limit,
            available: AtomicUsize::new(limit),
            waiting: AtomicUsize::new(0),
            queue: Mutex::default(),
        }))
    }

    /// Returns the total number of credits.
    pub fn limit(&self) -> usize {
        self.0.limit
    }

    /// Returns the number of credits that are free at this moment.
    pub fn available(&self) -> usize {
        // ORDERING: Relaxed. The figure is out of date as soon as it is read.
        self.0.available.load(Ordering::Relaxed)
    }

    /// Acquires credits if enough are free and nothing waits for credits.
    pub fn try_acquire(&self, amount: usize) -> Option<Permit> {
        // ORDERING: Relaxed. Affects only fairness: a caller that misses a waiter overtakes it.
        if self.0.waiting.load(Ordering::Relaxed) > 0 {
            return None;
        }
        self.take(amount).then(|| Permit { credits: self.clone(), amount })
    }

    /// Acquires credits; the future waits for them if necessary. It enters the queue in this call;
    /// dropping the future leaves the queue.
    ///
    /// # Panics
    /// Panics if `amount` exceeds the [`limit`](Self::limit): it could never be granted.
    #[track_caller]
    pub fn acquire(&self, amount: usize) -> Acquire {
        let limit = self.0.limit;
        assert!(amount <= limit, "{amount} credits exceed the limit of {limit}");
        if let Some(permit) = self.try_acquire(amount) {
            return Acquire { credits: self.clone(), promise: Some(Promise::ready(permit)) };
        }
        let (resolver, promise) = Promise::channel();
        promise.owed_by(|f| f.write_str("credits held by other permits"));
        {
            let mut queue = self.0.queue.lock();
            queue.waiters.push_back(CreditWaiter { amount, resolver });
            // ORDERING: SeqCst, as are `take` and both accesses in `give_back`: a credit that is
            // returned and a waiter that enters the queue must not miss each other (`waiting` and
            // `available` are each written by one side and then read by the other).
            self.0.waiting.store(queue.waiters.len(), Ordering::SeqCst);
        }
        simulated::point();
        seq_cst_accesses();
        // Credits may have been returned before the waiter entered the queue.
        self.serve();
        Acquire { credits: self.clone(), promise: Some(promise) }
    }

    /// Acquires credits, blocking the calling thread until they are granted.
    ///
    /// # Panics
    /// Panics if `amount` exceeds the [`limit`](Self::limit), or if it would have to wait in a
    /// behaviour or a future.
    #[track_caller]
    pub fn acquire_blocking(&self, amount: usize) -> Permit {
        if let Some(permit) = self.try_acquire(amount) {
            return permit;
        }
        prepare_to_block(
            "`Credits::acquire_blocking`",
            "use `try_acquire`, or acquire the credit before the behaviour is spawned",
        );
        let (free, limit) = (|| self.available(), self.limit());
        let what = fmt::from_fn(|f| write!(f, "{amount} credits: {} of {limit} are free", free()));
        self.acquire(amount).wait_for(Some(&what))
    }

    /// Lifts the limit permanently: grants all waiting requests and every later one. For use when
    /// the work has ended and its producers must find out.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::credits::Credits;
    ///
    /// let credits = Credits::new(1);
    /// let (_first, second) = (credits.acquire(1), credits.acquire(1));
    /// credits.lift();
    /// assert_eq!(second.wait().amount(), 1);
    /// ```
    pub fn lift(&self) {
        // Far above any amount requested.
        let unlimited = 2 * MAX_LIMIT;
        // ORDERING: SeqCst: acts as a `give_back`; see `acquire`.
        self.0.available.fetch_max(unlimited, Ordering::SeqCst);
        self.look_after_waiting();
    }

    fn take(&self, amount: usize) -> bool {
        let enough = |free: usize| free.checked_sub(amount);
        // ORDERING: SeqCst, see `acquire`. Its Acquire also pairs with the Release in `give_back`:
        // what was done under one permit comes before what is done under the next.
        self.0.available.fetch_update(Ordering::SeqCst, Ordering::SeqCst, enough).is_ok()
    }

    fn give_back(&self, amount: usize) {
        // ORDERING: SeqCst, see `acquire`.
        self.0.available.fetch_add(amount, Ordering::SeqCst);
        self.look_after_waiting();
    }

    /// Serves waiters after credits have been returned.
    fn look_after_waiting(&self) {
        simulated::point();
        seq_cst_accesses();
        // ORDERING: SeqCst, see `acquire`.
        if self.0.waiting.load(Ordering::SeqCst) > 0 {
            self.serve();
        }
    }

    /// Grants waiting requests in order, as far as the credits suffice.
    fn serve(&self) {
        let mut served = Vec::new();
        {
            let mut queue = self.0.queue.lock();
            while let Some(first) = queue.pop_if(|amount| self.take(amount)) {
                served.push(first);
            }
            // ORDERING: Relaxed. The lock orders it among these stores, and a later waiter stores
            // again.
            self.0.waiting.store(queue.waiters.len(), Ordering::Relaxed);
        }
        for CreditWaiter { amount, resolver } in served {
            // If the waiter has gone, the permit is dropped and returns its credits. A waker is
            // foreign code, whose panic must not keep credits from the other waiters.
            drop_quietly(|| resolver.resolve(Permit { credits: self.clone(), amount }));
        }
    }
}

impl Acquire {
    /// Blocks the calling thread until the credits are granted.
    ///
    /// # Panics
    /// See [`Promise::wait`].
    #[track_caller]
    pub fn wait(self) -> Permit {
        self.wait_for(None)
    }

    #[track_caller]
    fn wait_for(mut self, what: Option<&dyn fmt::Display>) -> Permit {
        let promise = self.promise.take().expect("a future is not used after it was ready");
        promise.wait_for(what).expect(KEPT)
    }

    /// Returns the permit if it is granted.
    ///
    /// # Errors
    /// Returns the future, still in the queue, if it is not granted yet.
    pub fn try_wait(mut self) -> Result<Permit, Self> {
        let promise = self.promise.take().expect("a future is not used after it was ready");
        match promise.try_wait() {
            Ok(permit) => Ok(permit.expect(KEPT)),
            Err(promise) => {
                self.promise = Some(promise);
                Err(self)
            }
        }
    }
}

/// A waiting future keeps the credits alive, so its request is granted eventually.
const KEPT: &str = "a waiting request is granted";

impl Future for Acquire {
    type Output = Permit;

    /// # Panics
    /// Panics if polled again after it was ready.
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Permit> {
        let promise = self.promise.as_mut().expect("a future is not used after it was ready");
        let permit = std::task::ready!(Pin::new(promise).poll(context));
        self.promise = None;
        Poll::Ready(permit.expect(KEPT))
    }
}

impl Drop for Acquire {
    fn drop(&mut self) {
        if self.promise.take().is_some() {
            self.credits.0.queue.lock().give_up();
            // Waiters behind this one may need fewer credits.
            self.credits.serve();
        }
    }
}

impl Permit {
    /// Returns the number of credits.
    pub fn amount(&self) -> usize {
        self.amount
    }

    /// Splits credits off into a separate permit, for producers that acquire many at once. Returns
    /// `None` if the permit has fewer.
    pub fn split(&mut self, amount: usize) -> Option<Permit> {
        self.amount = self.amount.checked_sub(amount)?;
        Some(Permit { credits: self.credits.clone(), amount })
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.amount > 0 {
            self.credits.give_back(self.amount);
        }
    }
}

impl fmt::Debug for Credits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credits")
            .field("limit", &self.limit())
            .field("available", &self.available())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").field("amount", &self.amount).finish_non_exhaustive()
    }
}

#[cfg(all(test, loom))]
mod loom;
