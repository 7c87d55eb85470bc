//! Several behaviours spawned as one step.

use std::fmt;
use std::ptr::NonNull;

use super::append::{Request, append_all};
use super::body::Forget;
use super::multi::{Multi, Prepared};
use super::spawn::{self, Refusal, WhenError};
use crate::cown::set::CownSet;
use crate::panic::drop_quietly;
use crate::sched::{context, guest, schedule};
use crate::sim;

/// Starts a batch: behaviours that are spawned in one atomic step.
///
/// Nothing comes between the behaviours of a batch: in the order of every cown they stand next to
/// each other, and another thread's behaviour comes before all of them or after all of them.
/// Among themselves they keep the order in which they were added.
///
/// ```
/// use coact_core::{Cown, ask, batch};
///
/// let (order, stock) = (Cown::new(Vec::new()), Cown::new(10));
/// batch()
///     .when(&order, |order| order.push("pens"))
///     .when(&stock, |stock| *stock -= 1)
///     .spawn();
/// assert_eq!(ask((&order, &stock), |(o, s)| (o.len(), *s)).wait(), Ok((1, 9)));
/// ```
pub fn batch() -> Batch {
    Batch { entries: Vec::new(), requests: Vec::new() }
}

/// A batch that is being put together; see [`batch`]. Dropping it spawns nothing.
#[must_use = "a batch does nothing until `spawn` is called"]
pub struct Batch {
    entries: Vec<Entry>,
    requests: Vec<Request>,
}

struct Entry {
    node: NonNull<Multi>,
    /// Drops the node's closure and gives its block back.
    discard: unsafe fn(NonNull<Multi>),
    /// Keeps the cowns alive until the requests stand in their queues.
    handles: Box<dyn Handles>,
}

/// The handles of an entry's set.
trait Handles: Send {
    fn announce(&self);
}

impl<S: CownSet + Send> Handles for S {
    fn announce(&self) {
        self.announce_all();
    }
}

// SAFETY: a node's closure is `Send`, and nobody else knows the node before it is appended.
unsafe impl Send for Batch {}

impl Batch {
    /// Adds a behaviour. As [`when`](crate::when), but nothing happens before [`spawn`](Self::spawn).
    ///
    /// # Panics
    /// If the set names a cown twice, or cowns of different pumps.
    #[track_caller]
    pub fn when<S, F>(self, set: S, closure: F) -> Self
    where
        S: CownSet,
        F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
    {
        match self.try_when(set, closure) {
            Ok(batch) => batch,
            // As with the function `when`: a closed runtime drops the closure.
            Err((batch, WhenError { refusal: Refusal::Closed, .. })) => batch,
            Err((_, error)) => panic!("{error}"),
        }
    }

    /// Like [`when`](Self::when), but says so if the set cannot be used.
    ///
    /// # Errors
    /// The set names a cown twice, or cowns of different pumps, or its runtime is shut down. The batch is given back without the
    /// behaviour, and the behaviour's closure.
    pub fn try_when<S, F>(mut self, set: S, closure: F) -> Result<Self, (Self, WhenError<F>)>
    where
        S: CownSet,
        F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
    {
        if spawn::is_closed(&set) {
            return Err((self, WhenError { refusal: Refusal::Closed, closure }));
        }
        // What is named must be what is kept: a foreign handle may have clones that name other cowns.
        let handles = set.to_owned_set();
        let before = self.requests.len();
        let mut requests = |request| self.requests.push(request);
        let mut prepared =
            Prepared::<S::Owned, F, Forget>::new(&handles, closure, Forget, &mut requests);
        if let Err(refusal) = prepared.settle(|| false) {
            self.requests.truncate(before);
            let (closure, Forget) = prepared.dismantle();
            return Err((self, WhenError { refusal, closure }));
        }
        self.entries.push(Entry {
            node: prepared.into_node(),
            discard: discard::<S::Owned, F>,
            handles: Box::new(handles),
        });
        set.give();
        Ok(self)
    }

    /// How many behaviours it has.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Spawns the behaviours.
    ///
    /// **Cost.** Two atomic operations for each cown that the batch names, however often.
    pub fn spawn(mut self) {
        let entries = std::mem::take(&mut self.entries);
        let mut requests = std::mem::take(&mut self.requests);
        let Some(first) = entries.first() else { return };
        // SAFETY: the node is ours.
        let home = unsafe { Multi::home(first.node) };
        spawn::sort(&mut requests);
        // SAFETY: prepared, not appended, ours, and sorted; the handles are kept until the end of
        // this call.
        let mut append = || unsafe {
            for entry in entries.iter().filter(|entry| Multi::requests(entry.node).next().is_none())
            {
                schedule(entry.node.cast(), Multi::home(entry.node));
            }
            append_all(&mut requests, &mut schedule);
        };
        let announce = || entries.iter().for_each(|entry| entry.handles.announce());
        announce();
        sim::point();
        match context::worker() {
            Some(_) => append(),
            None => guest::visit(home, append),
        }
        announce();
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        for entry in self.entries.drain(..) {
            // SAFETY: never appended, so ours alone.
            unsafe { (entry.discard)(entry.node) };
        }
    }
}

/// # Safety
/// The node was made by [`Batch::when`] with these types, and was not appended.
unsafe fn discard<S, F>(node: NonNull<Multi>)
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
{
    // SAFETY: by the caller's word.
    let prepared = unsafe { Prepared::<S, F, Forget>::from_node(node) };
    prepared.abandon();
    let (closure, Forget) = prepared.dismantle();
    drop_quietly(move || drop(closure));
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch").field("behaviours", &self.len()).finish()
    }
}
