//! Batches: several behaviours spawned in one step.

use std::fmt;

use super::admission;
use super::multi::UnqueuedBehaviour;
use super::refusal::Refusal;
use super::refuse::{panic_refused, refuse_outside};
use super::sorted_requests::sort;
use super::spawn;
use super::spawn_checks::{self, count_members, is_set_out_of_reach};
use crate::body::NoResult;
use crate::cown::set::{CownSet, refuse_volatile_beside_durable};
use crate::current::{EnteredRuntime, refuse_in_decision};
use crate::drop_depth;
use crate::panic::drop_quietly;
use crate::queue::append::{StepEntry, append_all};
use crate::sched::{at_work_in, schedule};
use crate::simulated;

/// Spawns several behaviours in one atomic step: those that the closure adds to the batch that it
/// is given, and returns.
///
/// Nothing comes between the behaviours of a batch: in the order of every cown they are adjacent,
/// and another thread's behaviour comes before all of them or after all of them. Among themselves
/// they keep the order in which they were added.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, call, batch};
///
/// let (order, stock) = (Cown::new(Vec::new()), Cown::new(10));
/// batch(|batch| {
///     batch.when(&order, |order| order.push("pens")).when(&stock, |stock| *stock -= 1)
/// });
/// assert_eq!(call((&order, &stock), |(o, s)| (o.len(), *s)).wait(), Ok((1, 9)));
/// ```
///
/// A batch that is filled elsewhere, or spawned later or not at all, is a [`Batch`] of its own. If
/// the closure panics, nothing is spawned.
pub fn batch<F, B>(fill: F)
where
    F: FnOnce(Batch) -> B,
    B: IntoBatch,
{
    fill(Batch::new()).into_batch().spawn();
}

/// What the closure of [`batch`] returns: the [`Batch`] that it was given.
#[diagnostic::on_unimplemented(
    message = "the closure of `batch` returns the batch to be spawned, not `{Self}`",
    label = "the closure returns `{Self}`",
    note = "add behaviours in a row, without a semicolon behind: `batch(|batch| batch.when(&a, ..).when(&b, ..))`",
    note = "or one by one: `batch(|mut batch| {{ batch = batch.when(&a, ..); batch = batch.when(&b, ..); batch }})`"
)]
pub trait IntoBatch: sealed::SealedBatch {
    /// Returns the batch.
    #[doc(hidden)]
    fn into_batch(self) -> Batch;
}

impl IntoBatch for Batch {
    fn into_batch(self) -> Batch {
        self
    }
}

mod sealed {
    pub trait SealedBatch {}
    impl SealedBatch for super::Batch {}
}

/// Behaviours to be spawned in one atomic step: see [`batch`]. Dropping it spawns nothing.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Batch, Cown, call};
///
/// let accounts = [1, 2, 3].map(Cown::new);
/// let mut interest = Batch::new();
/// for account in &accounts {
///     interest = interest.when(account, |balance| *balance *= 2);
/// }
/// assert_eq!(interest.len(), 3);
/// interest.spawn();
/// assert_eq!(call(&accounts[2], |balance| *balance).wait(), Ok(6));
/// ```
#[derive(Default)]
#[must_use = "a batch does nothing until `spawn` is called"]
pub struct Batch {
    entries: Vec<BatchEntry>,
    requests: Vec<StepEntry>,
}

struct BatchEntry {
    behaviour: UnqueuedBehaviour,
    /// Keeps the cowns alive until the requests are in their queues.
    handles: Box<dyn EntryHandles>,
}

/// The handles of an entry's set.
trait EntryHandles: Send {
    fn announce(&self);
    fn announced(&self);
}

impl<S: CownSet + Send> EntryHandles for S {
    fn announce(&self) {
        // It was asked when the behaviour was added.
        let _ = self.announce_all();
    }

    fn announced(&self) {
        self.announced_all();
    }
}

/// The entries of a batch whose handles were told that they are about to be queued. When dropped,
/// tells them that they are in their queues, or are not going to be.
struct BatchAnnouncement<'a>(&'a [BatchEntry]);

impl Drop for BatchAnnouncement<'_> {
    fn drop(&mut self) {
        self.0.iter().for_each(|entry| entry.handles.announced());
    }
}

// SAFETY: a node's closure is `Send`, and no other thread knows the node before it is appended.
unsafe impl Send for Batch {}

impl Batch {
    /// Creates an empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a behaviour, like [`when`](crate::when), to be spawned by [`spawn`](Self::spawn).
    ///
    /// # Panics
    /// Panics if the set names a cown twice, or cowns of different pumps.
    #[track_caller]
    pub fn when<S, F>(mut self, set: S, closure: F) -> Self
    where
        S: CownSet,
        F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
    {
        const { refuse_volatile_beside_durable::<S>() };
        match self.try_add(&set, closure) {
            Ok(()) => set.give(),
            // As with the function `when`, a closed runtime drops the closure.
            Err((Refusal::Closed, closure)) => {
                let _entered = EnteredRuntime::new(spawn_checks::home_of(&set));
                drop_quietly(move || drop(closure));
            }
            Err((refusal, closure)) => {
                drop(self);
                panic_refused((refusal, closure, NoResult));
            }
        }
        self
    }

    /// Like [`when`](Self::when), but returns an error if the set cannot be used.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::{Batch, Cown};
    /// use coact::behaviour::BatchRefusal;
    ///
    /// fn order(book: bool, a: &Cown<u32>, b: &Cown<u32>) -> Result<Batch, BatchRefusal> {
    ///     let all = Batch::new();
    ///     // Two closures have two types: `?` drops them.
    ///     Ok(if book { all.try_when(a, |a| *a -= 1)? } else { all.try_when((a, b), |(a, b)| *a += *b)? })
    /// }
    ///
    /// let cown = Cown::new(1);
    /// let refused = order(false, &cown, &cown).unwrap_err();
    /// assert!(refused.to_string().contains("are the same cown"));
    /// refused.batch.spawn();
    /// ```
    ///
    /// # Errors
    /// Returns the batch without the behaviour, and the behaviour's closure, if the set names a
    /// cown twice, or cowns of different pumps, or if its runtime is shut down.
    #[cfg_attr(feature = "sim", track_caller)]
    pub fn try_when<S, F>(mut self, set: S, closure: F) -> Result<Self, BatchError<F>>
    where
        S: CownSet,
        F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
    {
        const { refuse_volatile_beside_durable::<S>() };
        match self.try_add(&set, closure) {
            Ok(()) => {
                set.give();
                Ok(self)
            }
            Err((refusal, closure)) => Err(BatchError { refusal, batch: self, closure }),
        }
    }

    /// Adds a behaviour, or returns the reason why it cannot, and the closure.
    #[cfg_attr(feature = "sim", track_caller)]
    fn try_add<S, F>(&mut self, set: &S, closure: F) -> Result<(), (Refusal, F)>
    where
        S: CownSet,
        F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
    {
        if spawn_checks::is_closed(set) {
            return Err((Refusal::Closed, closure));
        }
        if let Err(refusal) = count_members(set) {
            return Err((refusal, closure));
        }
        if is_set_out_of_reach(set) {
            refuse_outside(closure, std::mem::take(self));
        }
        simulated::spawns();
        let handles = set.to_owned_set();
        // It is announced again when it is queued.
        let asks = handles.announce_all();
        handles.announced_all();
        let admitted = match asks.then(|| admission::ask(&handles)).transpose() {
            Ok(admitted) => admitted,
            Err(refusal) => return Err((refusal, closure)),
        };
        let before = self.requests.len();
        let mut collect = |request| self.requests.push(request);
        match spawn::prepare(&handles, closure, admitted, &mut collect) {
            Ok(behaviour) => {
                self.entries.push(BatchEntry { behaviour, handles: Box::new(handles) });
                Ok(())
            }
            Err(refused) => {
                self.requests.truncate(before);
                Err(refused)
            }
        }
    }

    /// Returns the number of behaviours.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether the batch is empty.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Spawns the behaviours.
    ///
    /// **Cost.** One atomic operation per cown that the batch names, however often.
    pub fn spawn(mut self) {
        refuse_in_decision();
        self.entries.iter().for_each(|entry| entry.handles.announce());
        let entries = std::mem::take(&mut self.entries);
        let announced = BatchAnnouncement(&entries);
        let mut requests = std::mem::take(&mut self.requests);
        let Some(first) = entries.first() else { return };
        // SAFETY: the node is prepared, and so bound if it has no cowns, and not spawned yet.
        let home = unsafe { first.behaviour.node.home() };
        sort(&mut requests);
        // SAFETY: the nodes are prepared, owned by this call, not appended, and their requests
        // sorted; the handles are kept until the end of this call.
        let append = || unsafe {
            for entry in
                entries.iter().filter(|entry| entry.behaviour.node.requests().next().is_none())
            {
                schedule(entry.behaviour.node.task(), entry.behaviour.node.home());
            }
            append_all(&mut requests, &mut schedule);
        };
        at_work_in(home, append);
        drop(announced);
    }
}

/// A behaviour that was not added to a [`Batch`].
pub struct BatchError<F> {
    /// The reason.
    pub refusal: Refusal,
    /// The batch, without the behaviour.
    pub batch: Batch,
    /// The closure passed to the call.
    pub closure: F,
}

/// The same without the closure: one type for all behaviours, into which `?` converts a
/// [`BatchError`].
#[derive(Debug)]
pub struct BatchRefusal {
    /// The reason.
    pub refusal: Refusal,
    /// The batch, without the behaviour.
    pub batch: Batch,
}

impl<F> From<BatchError<F>> for BatchRefusal {
    fn from(error: BatchError<F>) -> Self {
        Self { refusal: error.refusal, batch: error.batch }
    }
}

impl<F> From<BatchError<F>> for Refusal {
    fn from(error: BatchError<F>) -> Self {
        error.refusal
    }
}

impl From<BatchRefusal> for Refusal {
    fn from(error: BatchRefusal) -> Self {
        error.refusal
    }
}

impl<F> fmt::Debug for BatchError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("BatchError");
        debug.field("refusal", &self.refusal).field("batch", &self.batch).finish_non_exhaustive()
    }
}

impl<F> fmt::Display for BatchError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal.fmt(f)
    }
}

impl fmt::Display for BatchRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal.fmt(f)
    }
}

impl<F> std::error::Error for BatchError<F> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.refusal)
    }
}

impl std::error::Error for BatchRefusal {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.refusal)
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let entries = std::mem::take(&mut self.entries);
        if entries.is_empty() {
            return;
        }
        // Each closure may own a batch, and so on.
        // SAFETY: the entries are `'static`, and were never appended, so this thread owns them.
        unsafe {
            drop_depth::run_destructor(move || {
                entries
                    .into_iter()
                    .for_each(|entry| (entry.behaviour.discard)(entry.behaviour.node))
            });
        }
    }
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("behaviours", &self.len()).finish()
    }
}
