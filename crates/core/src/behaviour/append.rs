//! Putting requests into the queues of their cowns: the *spawn* rule. See README.md, "Append".

use std::ptr::{NonNull, null_mut};

use coact_sync::shim::atomic::Ordering;

use super::grant::grant;
use super::slot::Slot;
use super::steps;
use super::task::Ready;
use crate::cown::header::{AppendState, CownHeader};
use crate::sched::Deferring;
use crate::sim;

/// Puts a request of a one-cown behaviour into its cown's queue. Returns whether the queue was
/// empty: the caller then has the token, and must [`grant`] the request.
///
/// Costs one atomic exchange, and never takes the append lock. Where it lands in the middle of
/// another thread's step over several cowns it waits for the end of that step (one exchange a
/// cown; that thread waits for nobody meanwhile). README.md, "Why a single request looks at the
/// append state", shows what would go wrong without.
///
/// # Safety
/// `slot` is a live, unqueued request for `header`, its cown or its group's leader, and the cown is alive: a handle of it lives until
/// this returns, or the request is the one that ends the cown ([`retire`](crate::cown::handle)).
#[inline]
pub(crate) unsafe fn append_single(header: &CownHeader, slot: NonNull<Slot>) -> bool {
    let previous = swap_tail(header, slot);
    if !previous.is_null() {
        sim::point();
    }
    // ORDERING: Acquire. If the exchange above came behind an appender's in this queue, its acquire
    // makes the appender's earlier APPENDING store visible here. If the appender is through already,
    // this pairs with the release in `unlock`: a behaviour of a group looks at the tails of queues
    // that the appender has exchanged, and must see it (README.md, "Groups").
    if header.append.load(Ordering::Acquire) == AppendState::APPENDING {
        wait_for_appender(header);
    }
    let empty = previous.is_null();
    if !empty {
        // Last: once it is linked the behaviour may run on another thread, and end the cown (it may
        // own the handle that it was spawned with, or be the one that drops the state).
        // SAFETY: `previous` is what our exchange took out of the tail.
        unsafe { link(previous, slot) };
    }
    empty
}

/// One cown's part of an atomic append.
pub(crate) struct Request {
    pub(crate) header: NonNull<CownHeader>,
    pub(crate) slot: NonNull<Slot>,
    /// What the exchange took out of the tail; valid in the first request of each cown.
    previous: *mut Slot,
}

impl Request {
    #[inline]
    pub(crate) fn new(slot: NonNull<Slot>, header: NonNull<CownHeader>) -> Self {
        Self { header, slot, previous: null_mut() }
    }

    fn same_cown(a: &Request, b: &Request) -> bool {
        a.header == b.header
    }
}

/// Appends all requests in one atomic step, and grants those whose queue was empty. Tasks that
/// become ready are passed to `ready`.
///
/// `requests` must be sorted by cown and, within one cown, stand in the order in which they are to
/// run.
///
/// # Safety
/// Every entry is a live, unqueued request that its behaviour misses, and the cowns are alive.
/// Behaviours of which all requests are passed may run, and be gone, when this returns.
#[inline]
pub(crate) unsafe fn append_all(requests: &mut [Request], ready: &mut impl Ready) {
    debug_assert!(requests.is_sorted_by_key(|request| request.header));
    for group in requests.chunk_by(Request::same_cown) {
        // SAFETY: the cown is alive.
        lock(unsafe { group[0].header.as_ref() });
    }
    // From here to the last unlock nothing waits and no foreign code runs.
    for group in requests.chunk_by_mut(Request::same_cown) {
        // SAFETY: alive and locked by us; the requests are still ours alone.
        unsafe { swap_in(group) };
    }
    // No scheduling point between two cowns: their order is that of addresses, and no run must depend on these.
    sim::point();
    let mut deferring = Deferring::new(ready);
    for group in requests.chunk_by(Request::same_cown) {
        // SAFETY: alive: its requests stand in its queue, and none is granted yet.
        unlock(unsafe { group[0].header.as_ref() });
    }
    sim::point();
    for group in requests.chunk_by(Request::same_cown) {
        // SAFETY: as above for this group. Those before may be granted and gone: they are not
        // looked at again.
        unsafe { attach(&group[0], &mut deferring) };
    }
    deferring.finish();
}

/// Chains the requests for one cown and makes the last of them the tail.
///
/// # Safety
/// The cown is alive and locked by the caller, who owns the requests.
#[inline]
unsafe fn swap_in(group: &mut [Request]) {
    for pair in group.windows(2) {
        // SAFETY: the request is live and not yet queued.
        unsafe { link(pair[0].slot.as_ptr(), pair[1].slot) };
    }
    // SAFETY: alive, by the caller's word.
    let header = unsafe { group[0].header.as_ref() };
    // ORDERING: Relaxed. Published by the exchange: whoever comes behind us in this queue sees it.
    header.append.store(AppendState::APPENDING, Ordering::Relaxed);
    group[0].previous = swap_tail(header, group[group.len() - 1].slot);
}

/// Ties a swapped-in segment to what stands before it. Only now can its requests be granted: all
/// other cowns have theirs, so nothing that a granted one spawns can overtake them.
///
/// # Safety
/// `first` is the first request of a segment that [`swap_in`] has put into its queue.
#[inline]
unsafe fn attach(first: &Request, ready: &mut impl Ready) {
    if first.previous.is_null() {
        // SAFETY: the queue was empty, so we have the token, and the segment keeps the cown alive.
        unsafe { grant(first.header, first.slot, ready) };
    } else {
        // SAFETY: `previous` is what our exchange took out of the tail.
        unsafe { link(first.previous, first.slot) };
    }
}

#[inline]
fn swap_tail(header: &CownHeader, slot: NonNull<Slot>) -> *mut Slot {
    // ORDERING: AcqRel. Release publishes the request to the successor that swaps it out again.
    // Acquire pairs with the release of the predecessor's exchange (its slot is dereferenced by
    // `link`), and, if the queue was empty, with the release in `leave` (the state that the last
    // holder wrote).
    header.tail.swap(slot.as_ptr(), Ordering::AcqRel)
}

/// Lets the holder of `previous` find its successor.
///
/// # Safety
/// `previous` is a queued request whose successor nobody else can set: the caller has swapped it
/// out of the tail, or owns it still. It stays alive until its holder has found its successor.
#[inline]
unsafe fn link(previous: *mut Slot, next: NonNull<Slot>) {
    // SAFETY: alive, by the caller's word.
    // ORDERING: Release publishes the request behind `next`; pairs with the acquires in `leave`.
    unsafe { (*previous).next.store(next.as_ptr(), Ordering::Release) };
}

#[cold]
fn wait_for_appender(header: &CownHeader) {
    // ORDERING: Acquire pairs with the release in `unlock`: what this thread does next comes after
    // all of that appender's exchanges.
    let is_through = || header.append.load(Ordering::Acquire) != AppendState::APPENDING;
    steps::wait_for(|| is_through().then_some(()));
}

/// Two-phase appending needs the lock of every cown before the first exchange. All appenders go by
/// address, so none waits for another in a circle.
#[inline]
fn lock(header: &CownHeader) {
    if !try_lock(header) {
        lock_contended(header);
    }
}

#[inline]
fn try_lock(header: &CownHeader) -> bool {
    use AppendState as State;
    // ORDERING: Acquire pairs with the release in `unlock`: our exchanges come after those of the
    // appender before us. Relaxed on failure: nothing is read then.
    let (ok, failed) = (Ordering::Acquire, Ordering::Relaxed);
    header.append.compare_exchange(State::FREE, State::LOCKED, ok, failed).is_ok()
}

#[cold]
fn lock_contended(header: &CownHeader) {
    // ORDERING: Relaxed. Confirmed by the exchange.
    let is_free = || header.append.load(Ordering::Relaxed) == AppendState::FREE;
    while !try_lock(header) {
        steps::wait_for(|| is_free().then_some(()));
    }
}

#[inline]
fn unlock(header: &CownHeader) {
    // ORDERING: Release pairs with the acquires in `try_lock`, `append_single` and `wait_for_appender`.
    header.append.store(AppendState::FREE, Ordering::Release);
}
