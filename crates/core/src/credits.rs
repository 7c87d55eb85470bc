//! Credits: a limit on the work in flight, for producers that are faster than the work.

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
use crate::simulated::What;

/// A limit on the work that is in flight, for producers that are faster than the work.
///
/// A producer acquires a [`Permit`] for each piece of work and moves it into the behaviour; the
/// permit's end gives the credit back. Producers that find no credit wait: a thread outside of the
/// runtime in [`acquire_blocking`](Self::acquire_blocking), a future in [`acquire`](Self::acquire).
/// A behaviour never waits, since it holds cowns that the work in flight may need: inside one there
/// is only [`try_acquire`](Self::try_acquire). Credits are given in the order of asking.
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
#[derive(Clone)]
pub struct Credits(Arc<Shared>);

struct Shared {
    limit: usize,
    available: AtomicUsize,
    /// How many stand in `queue`; read without the lock.
    waiting: AtomicUsize,
    queue: Mutex<Queue>,
}

#[derive(Default)]
struct Queue {
    waiters: VecDeque<Waiter>,
    /// How many of them, at the most, have given up since the queue was last searched for such.
    given_up: usize,
}

impl Queue {
    /// Takes the first waiter out, if `take` gets the credits for it. Those before it that have given up
    /// are removed.
    fn pop_if(&mut self, take: impl Fn(usize) -> bool) -> Option<Waiter> {
        while self.waiters.front()?.resolver.is_abandoned() {
            self.waiters.pop_front();
        }
        self.waiters.pop_front_if(|first| take(first.amount))
    }

    /// Counts one that has given up. The queue is searched for such when they may be the half of it: so
    /// each pays for two steps, however long the queue is.
    fn give_up(&mut self) {
        self.given_up += 1;
        if self.given_up * 2 > self.waiters.len() {
            self.waiters.retain(|waiter| !waiter.resolver.is_abandoned());
            self.given_up = 0;
        }
    }
}

struct Waiter {
    amount: usize,
    resolver: Resolver<Permit>,
}

/// Credits that were acquired. They are given back when the permit is dropped.
#[must_use = "a permit that is dropped at once admits nothing"]
pub struct Permit {
    credits: Credits,
    amount: usize,
}

/// A permit that is yet to come; see [`Credits::acquire`].
#[derive(Debug)]
#[must_use = "dropping it gives up the place in the queue"]
pub struct Acquire {
    credits: Credits,
    /// `None` once it is used up.
    promise: Option<Promise<Permit>>,
}

/// Far below where credits that come back to those of [`Credits::lift`] would wrap.
const MAX_LIMIT: usize = usize::MAX / 4;

impl Credits {
    /// So many credits; `usize::MAX / 4` at the most, and if it is more, then that.
    ///
    /// # Panics
    /// If there are none.
    #[track_caller]
    pub fn new(limit: usize) -> Self {
        assert!(limit > 0, "with a limit of 0 nothing could ever be admitted");
        let limit = limit.min(MAX_LIMIT);
        Self(Arc::new(Shared {
            limit,
            available: AtomicUsize::new(limit),
            waiting: AtomicUsize::new(0),
            queue: Mutex::default(),
        }))
    }

    /// How many credits there are in all.
    pub fn limit(&self) -> usize {
        self.0.limit
    }

    /// How many credits are free at this moment.
    pub fn available(&self) -> usize {
        // ORDERING: Relaxed. Out of date as soon as it is read.
        self.0.available.load(Ordering::Relaxed)
    }

    /// Takes credits, if so many are free and nobody waits.
    pub fn try_acquire(&self, amount: usize) -> Option<Permit> {
        // ORDERING: Relaxed. Only fairness: who does not see a waiter comes before it.
        if self.0.waiting.load(Ordering::Relaxed) > 0 {
            return None;
        }
        self.take(amount).then(|| Permit { credits: self.clone(), amount })
    }

    /// Takes credits; the future waits for them if need be. Its place in the queue is taken now;
    /// dropping the future gives it up.
    ///
    /// # Panics
    /// If the amount is above the [`limit`](Self::limit): it could never be had.
    #[track_caller]
    pub fn acquire(&self, amount: usize) -> Acquire {
        let limit = self.0.limit;
        assert!(amount <= limit, "{amount} credits can never be had: the limit is {limit}");
        if let Some(permit) = self.try_acquire(amount) {
            return Acquire { credits: self.clone(), promise: Some(Promise::ready(permit)) };
        }
        let (resolver, promise) = Promise::channel();
        promise.owed_by(|f| f.write_str("credits that others have"));
        {
            let mut queue = self.0.queue.lock();
            queue.waiters.push_back(Waiter { amount, resolver });
            // ORDERING: SeqCst, as `take` and both accesses in `give_back`: a credit that comes back
            // and a waiter that queues must not miss each other (`waiting` and `available` are each
            // written by one and then read by the other).
            self.0.waiting.store(queue.waiters.len(), Ordering::SeqCst);
        }
        simulated::point();
        seq_cst_accesses();
        // Credits may have come back before we stood in the queue.
        self.serve();
        Acquire { credits: self.clone(), promise: Some(promise) }
    }

    /// Takes credits; blocks the calling thread until they are there.
    ///
    /// # Panics
    /// As [`acquire`](Self::acquire), and if it would have to wait in a behaviour or a future.
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

    /// One credit, as [`acquire_blocking`](Self::acquire_blocking) gets it, for a call that has names of its own for
    /// itself, for what to do instead where it may not wait, and for what it waits for.
    #[doc(hidden)]
    #[track_caller]
    pub fn acquire_one_for(&self, call: &str, instead: &str, what: &dyn fmt::Display) -> Permit {
        if let Some(permit) = self.try_acquire(1) {
            return permit;
        }
        prepare_to_block(call, instead);
        self.acquire(1).wait_for(Some(what))
    }

    /// Lifts the limit for good: whoever waits is served at once, and nobody waits any more. For
    /// what the work was meant for has ended, and its producers are to see that.
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
        // Far above what is ever asked for.
        let unlimited = 2 * MAX_LIMIT;
        // ORDERING: SeqCst, as in `give_back`, of which this is one.
        self.0.available.fetch_max(unlimited, Ordering::SeqCst);
        self.look_after_waiting();
    }

    fn take(&self, amount: usize) -> bool {
        let enough = |free: usize| free.checked_sub(amount);
        // ORDERING: SeqCst, see `acquire`. Its acquire also pairs with the release in `give_back`:
        // what was done under a permit comes before what is done under the next.
        self.0.available.fetch_update(Ordering::SeqCst, Ordering::SeqCst, enough).is_ok()
    }

    fn give_back(&self, amount: usize) {
        // ORDERING: SeqCst, see `acquire`.
        self.0.available.fetch_add(amount, Ordering::SeqCst);
        self.look_after_waiting();
    }

    /// After credits have come back.
    fn look_after_waiting(&self) {
        simulated::point();
        seq_cst_accesses();
        // ORDERING: SeqCst, see `acquire`.
        if self.0.waiting.load(Ordering::SeqCst) > 0 {
            self.serve();
        }
    }

    /// Serves those who wait, in their order, as far as the credits go.
    fn serve(&self) {
        let mut served = Vec::new();
        {
            let mut queue = self.0.queue.lock();
            while let Some(first) = queue.pop_if(|amount| self.take(amount)) {
                served.push(first);
            }
            // ORDERING: Relaxed. The lock orders it among its like, and who queues later stores again.
            self.0.waiting.store(queue.waiters.len(), Ordering::Relaxed);
        }
        for Waiter { amount, resolver } in served {
            // Should nobody wait any more, the permit is dropped, and gives the credits back. What waits
            // for it may be foreign code, which must not keep the others from theirs.
            drop_quietly(|| resolver.resolve(Permit { credits: self.clone(), amount }));
        }
    }
}

impl Acquire {
    /// Tells the deterministic mode what is waited for.
    #[doc(hidden)]
    #[inline]
    pub fn owed_by(&self, what: What) {
        if let Some(promise) = &self.promise {
            promise.owed_by(what);
        }
    }

    /// Blocks the calling thread until the credits are there.
    ///
    /// # Panics
    /// As [`Promise::wait`].
    #[track_caller]
    pub fn wait(self) -> Permit {
        self.wait_for(None)
    }

    #[track_caller]
    fn wait_for(mut self, what: Option<&dyn fmt::Display>) -> Permit {
        let promise = self.promise.take().expect("a future is not used after it was ready");
        promise.wait_for(what).expect(KEPT)
    }

    /// The permit, if it is there.
    ///
    /// # Errors
    /// Gives the future back, in its place in the queue, if the credits are yet to come.
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

/// Those who wait are served as long as there is anybody to wait: each of them keeps the credits
/// alive.
const KEPT: &str = "who waits for credits is served";

impl Future for Acquire {
    type Output = Permit;

    /// # Panics
    /// If it is polled again after it was ready.
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
            // Those behind may be content with less.
            self.credits.serve();
        }
    }
}

impl Permit {
    /// How many credits it stands for.
    pub fn amount(&self) -> usize {
        self.amount
    }

    /// Splits credits off into a permit of their own, for producers that acquire many at once.
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
