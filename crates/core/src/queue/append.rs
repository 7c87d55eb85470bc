//! Appends requests to the queues of their cowns: the *spawn* rule. See README.md, "Append".

use super::grant::grant;
use super::tail::Predecessor;
use super::turnstile;
use crate::path_coverage::FastPath;
use crate::poll_until;
use crate::queue::header::{CownHeader, Flags};
use crate::queue::live_cown::LiveCown;
use crate::queue::live_slot::LiveSlot;
use crate::queue::requested_cown::RequestedCown;
use crate::sched::ReadySink;
use crate::sched::{self, DeferredReady, schedule};
use crate::simulated;

/// Appends the request of a single to its cown's queue. Returns whether the queue was empty: the
/// caller then has the token, and must [`grant`] the request.
///
/// Costs one atomic exchange. Behind another thread's step over several cowns it waits until that
/// is in all its queues; README.md, "Why each request waits for the one before", shows what would
/// go wrong otherwise.
///
/// # Safety
/// `slot` is a live, unqueued request of a single for `header`, its cown or its group's leader. The
/// cown is alive: it has a handle until this returns, or the request is the one that ends the cown
/// ([`retire`](crate::cown::end_of_life)).
#[inline]
pub(crate) unsafe fn append_single(header: &CownHeader, slot: LiveSlot) -> bool {
    // SAFETY: the request is not queued, so the caller owns it; the remaining conditions are those
    // of this function.
    unsafe {
        let member = (*slot.as_ptr()).begin();
        append_begun::<false>(header, slot, member)
    }
}

/// The same for a request [created](Slot::beginning) to be appended at once. `BY_WORKER` says
/// whether a worker spawns it, so that the caller can give way.
///
/// # Safety
/// See [`append_single`]; `member` is the request's.
#[inline(always)]
pub(crate) unsafe fn append_begun<const BY_WORKER: bool>(
    header: &CownHeader,
    slot: LiveSlot,
    member: RequestedCown,
) -> bool {
    // SAFETY: the request is unqueued and live, and the cown has not ended, as this function
    // requires; the predecessor is linked once.
    unsafe {
        if !BY_WORKER && is_crowded(header) {
            return append_in_crowd(header, slot, member);
        }
        let Some(previous) = header.tail.append(slot) else {
            slot.slot().end(member);
            return true;
        };
        simulated::point();
        let overload = if BY_WORKER { Flags::OVERLOADED } else { 0 };
        if !header.has(Flags::STEPPED | overload) {
            follow(slot, member, previous);
        } else if !header.has(overload) {
            follow_in_turn(header, slot, member, previous);
        } else {
            follow_in_overload(header, slot, member, previous);
        }
    }
    false
}

/// Returns whether threads wait in front of this queue; a hint.
#[inline(always)]
fn is_crowded(header: &CownHeader) -> bool {
    // Turnstiles only delay, so that models do without.
    !cfg!(loom) && header.has(Flags::CROWDED)
}

/// [`append_begun`] on a crowded cown.
///
/// # Safety
/// See [`append_begun`].
#[cold]
#[inline(never)]
unsafe fn append_in_crowd(header: &CownHeader, slot: LiveSlot, member: RequestedCown) -> bool {
    let passage = turnstile::pass(std::iter::once(header));
    // SAFETY: the request is unqueued and live, and the cown has not ended, as this function
    // requires.
    let previous = unsafe { header.tail.append(slot) };
    // What is crowded has been part of a step.
    if let Some(previous) = previous {
        wait_for_place(header, previous);
    }
    slot.slot().end(member);
    drop(passage);
    if let Some(previous) = previous {
        // SAFETY: the request has taken its predecessor's place, and is linked once.
        unsafe { previous.link(slot) };
    }
    previous.is_none()
}

/// Links a placed request to its predecessor. This is the last access: from then on the behaviour
/// may run on another thread and end the cown (it may own the handle that it was spawned with, or
/// be the request that drops the state).
///
/// # Safety
/// See [`Predecessor::link`].
#[inline(always)]
unsafe fn follow(slot: LiveSlot, member: RequestedCown, previous: Predecessor) {
    slot.slot().end(member);
    // SAFETY: as this function requires.
    unsafe { previous.link(slot) };
}

/// The same for a request that may be behind a step over several queues.
///
/// # Safety
/// See [`follow`].
#[inline(never)]
unsafe fn follow_in_turn(
    header: &CownHeader,
    slot: LiveSlot,
    member: RequestedCown,
    previous: Predecessor,
) {
    FastPath::SingleAfterStep.take();
    wait_for_place(header, previous);
    // SAFETY: as this function requires.
    unsafe { follow(slot, member, previous) };
}

/// The same if the cown is overloaded and its senders must give way.
///
/// # Safety
/// See [`follow`].
#[cold]
#[inline(never)]
unsafe fn follow_in_overload(
    header: &CownHeader,
    slot: LiveSlot,
    member: RequestedCown,
    previous: Predecessor,
) {
    FastPath::SingleInOverload.take();
    sched::give_way(std::ptr::from_ref(header).cast());
    if header.has(Flags::STEPPED) {
        wait_for_place(header, previous);
    }
    // SAFETY: as this function requires.
    unsafe { follow(slot, member, previous) };
}

/// The same for the request of a behaviour on several cowns of one group, to whose leader `header`
/// belongs.
///
/// # Safety
/// See [`append_single`]; the request may be in any kind of behaviour.
pub(crate) unsafe fn append_one(header: &CownHeader, slot: LiveSlot) -> bool {
    // SAFETY: the leader is alive until this returns, and the entry ends with it.
    let mut request = StepEntry::new(slot, unsafe { LiveCown::from_ref(header) });
    let passage = is_crowded(header).then(|| turnstile::pass(std::iter::once(header)));
    // SAFETY: the request is unqueued and live, and the cown has not ended, as this function
    // requires.
    unsafe { swap_in(std::slice::from_mut(&mut request)) };
    slot.slot().end_step();
    drop(passage);
    // SAFETY: the request is in its queue, and is linked once.
    !unsafe { request.try_link() }
}

/// One entry of a step: a request, and the cown, or leader, whose queue it enters.
pub(crate) struct StepEntry {
    pub(crate) header: LiveCown,
    pub(crate) slot: LiveSlot,
    /// Its predecessor; valid in the first request of each cown.
    previous: Option<Predecessor>,
}

impl StepEntry {
    #[inline]
    pub(crate) fn new(slot: LiveSlot, header: LiveCown) -> Self {
        Self { header, slot, previous: None }
    }

    /// The key by which the requests of one behaviour are sorted.
    #[inline]
    pub(crate) fn rank(&self) -> impl Ord + use<> {
        self.header.rank()
    }

    fn same_cown(a: &StepEntry, b: &StepEntry) -> bool {
        a.header == b.header
    }

    /// Links the request to its predecessor, if there is one.
    ///
    /// # Safety
    /// The request is the first of those that [`swap_in`] has put into this queue, and is linked
    /// once.
    #[inline(always)]
    unsafe fn try_link(&self) -> bool {
        if let Some(previous) = self.previous {
            // SAFETY: the request has taken its predecessor's place, and is linked once.
            unsafe { previous.link(self.slot) };
        }
        self.previous.is_some()
    }
}

/// Appends all requests in one atomic step, and grants those whose queue was empty. Passes the
/// tasks that become ready to `ready`.
///
/// `requests` must be sorted by cown and, within one cown, be in the order in which they are to
/// run.
///
/// # Safety
/// Every entry is a live, unqueued request that its behaviour misses, and its cown has a handle
/// until all of them are in their queues. A behaviour whose requests are all in `requests` may have
/// run and be gone when this returns.
#[inline]
pub(crate) unsafe fn append_all(requests: &mut [StepEntry], ready: &mut impl ReadySink) {
    debug_assert!(requests.is_sorted_by_key(StepEntry::rank));
    let cowns = requests.iter().map(|request| request.header.header());
    let passage = cowns.clone().any(is_crowded).then(|| turnstile::pass(cowns));
    for group in requests.chunk_by_mut(StepEntry::same_cown) {
        // SAFETY: the requests are unqueued and live, and for one cown, which has a handle.
        unsafe { swap_in(group) };
    }
    // No scheduling point between two cowns: they are visited in the order of addresses, on which
    // no run may depend.
    simulated::point();
    let mut deferring = DeferredReady::new(ready);
    for group in requests.chunk_by(StepEntry::same_cown) {
        group[group.len() - 1].slot.slot().end_step();
    }
    drop(passage);
    simulated::point();
    for group in requests.chunk_by(StepEntry::same_cown) {
        // SAFETY: the requests of this group are in their queue and not granted yet. Those of
        // earlier groups may be granted and gone, and are not accessed again.
        unsafe { attach(&group[0], &mut deferring) };
    }
    deferring.finish();
}

/// Appends the two requests of one behaviour in one atomic step, like [`append_all`], and schedules
/// what becomes ready. Each comes with its cown's header. The rare cases are tail calls, so that no
/// registers are saved.
///
/// # Safety
/// See [`append_all`]; the cowns are distinct, and in no group.
#[inline(always)]
pub(crate) unsafe fn append_two(requests: [(LiveSlot, LiveCown); 2]) {
    let [mut low, mut high] = requests;
    if low.1.rank() > high.1.rank() {
        std::mem::swap(&mut low, &mut high);
    }
    // SAFETY: as in `append_all`, step by step: the requests are unqueued at first, and live until
    // granted.
    unsafe {
        let before_low = swap_in_one(low);
        if let Some(unplaced) = unplaced(before_low) {
            return append_high_later(low.0, high.0, high.1, unplaced);
        }
        append_high(low.0, high, before_low);
    }
}

/// The second half of [`append_two`], after the first request is placed.
///
/// # Safety
/// See [`append_two`]; `before_low` was taken out of the tail by the first exchange.
#[inline(always)]
unsafe fn append_high(low: LiveSlot, high: (LiveSlot, LiveCown), before_low: Option<Predecessor>) {
    // SAFETY: the second request is not queued yet, and its cown is alive, as `append_two`
    // requires.
    unsafe {
        let before_high = swap_in_one(high);
        if let Some(unplaced) = unplaced(before_high) {
            return link_two_later(low, high.0, before_low, unplaced);
        }
        link_two([low, high.0], [before_low, before_high]);
    }
}

/// The same if the first request is not placed yet.
///
/// # Safety
/// See [`append_high`].
#[cold]
#[inline(never)]
unsafe fn append_high_later(
    low: LiveSlot,
    high: LiveSlot,
    header: LiveCown,
    before_low: Predecessor,
) {
    // SAFETY: `before_low` was taken out of the tail by this thread.
    unsafe {
        wait_for_place(low.slot().member().header(), before_low);
        append_high(low, (high, header), Some(before_low));
    }
}

/// [`link_two`] if the second request is not placed yet.
///
/// # Safety
/// See [`link_two`].
#[cold]
#[inline(never)]
unsafe fn link_two_later(
    low: LiveSlot,
    high: LiveSlot,
    before_low: Option<Predecessor>,
    before_high: Predecessor,
) {
    // SAFETY: the predecessor was taken out of the tail by this thread.
    unsafe {
        wait_for_place(high.slot().member().header(), before_high);
        link_two([low, high], [before_low, Some(before_high)]);
    }
}

/// Ends the step of two requests that are placed, links them to their predecessors, and grants
/// those whose queue was empty.
///
/// # Safety
/// See [`append_two`]; `before` was taken out of the tails by the exchanges.
#[inline(always)]
unsafe fn link_two(requests: [LiveSlot; 2], before: [Option<Predecessor>; 2]) {
    let [low, high] = requests;
    let [before_low, before_high] = before;
    simulated::point();
    // SAFETY: both requests are in their queues, and live until linked or granted; the predecessors
    // were taken out of the tails by this thread. A request without a predecessor belongs to this
    // thread until it is granted.
    unsafe {
        low.slot().end_step();
        high.slot().end_step();
        simulated::point();
        // The common case first.
        if let Some(before) = before_low {
            before.link(low);
        }
        if let Some(before) = before_high {
            before.link(high);
        }
        if before_low.is_none() || before_high.is_none() {
            grant_free([low, high], [before_low.is_none(), before_high.is_none()]);
        }
    }
}

/// Grants those of two requests whose queue was empty.
///
/// # Safety
/// The caller has the tokens of these, and the requests are queued. Their cowns are in no group.
#[cold]
#[inline(never)]
unsafe fn grant_free(requests: [LiveSlot; 2], are_free: [bool; 2]) {
    let mut ready = schedule;
    let mut deferring = DeferredReady::new(&mut ready);
    for (slot, is_free) in requests.into_iter().zip(are_free) {
        if is_free {
            // SAFETY: this thread has the token; the request, which is not granted yet, keeps the
            // cown alive.
            unsafe { grant(slot.slot().member().live_cown(), slot, &mut deferring) };
        }
    }
    deferring.finish();
}

/// Puts a request of a step into the queue of its cown; returns its predecessor.
///
/// # Safety
/// See [`append_all`].
#[inline(always)]
unsafe fn swap_in_one((slot, header): (LiveSlot, LiveCown)) -> Option<Predecessor> {
    let header = header.header();
    slot.slot().begin_step();
    header.note_step();
    // SAFETY: the request is unqueued and live, and the cown has not ended, as this function
    // requires.
    unsafe { header.tail.append(slot) }
}

/// Returns a request's predecessor if there is one, and the request must wait for it.
#[inline(always)]
fn unplaced(previous: Option<Predecessor>) -> Option<Predecessor> {
    previous.filter(|previous| !previous.is_placed())
}

/// Chains the requests for one cown, puts them into its queue, and waits until their predecessor is
/// placed.
///
/// # Safety
/// See [`append_all`]; there is a request, and all are for the same cown.
#[inline]
unsafe fn swap_in(group: &mut [StepEntry]) {
    for pair in group.windows(2) {
        // SAFETY: both requests are unqueued, and the second one gets behind the first.
        unsafe { Predecessor::unqueued(pair[0].slot).link(pair[1].slot) };
    }
    let last = group[group.len() - 1].slot;
    let (header, slot) = (group[0].header.header(), last.slot());
    slot.begin_step();
    header.note_step();
    // SAFETY: the requests are unqueued and live, and the cown has not ended, as this function
    // requires.
    let previous = unsafe { header.tail.append(last) };
    group[0].previous = previous;
    if let Some(previous) = previous {
        wait_for_place(header, previous);
    }
}

/// Waits until the predecessor of the caller's request is in all queues of its step, and thus also
/// everything before that. If that takes long, the cown is crowded from then on.
#[inline]
fn wait_for_place(header: &CownHeader, previous: Predecessor) {
    if !previous.is_placed() {
        wait_until_placed(header, previous);
    }
}

/// Apart, so that those who need not wait save no registers.
#[cold]
#[inline(never)]
fn wait_until_placed(header: &CownHeader, previous: Predecessor) {
    poll_until::poll_until_some_or_report(
        || previous.is_placed().then_some(()),
        || turnstile::note_crowd(header),
    );
}

/// Links a segment to its predecessor, or grants it. Only now can its requests be granted: the
/// behaviours' requests are in all other queues, so nothing that a granted one spawns can overtake
/// them.
///
/// # Safety
/// `first` is the first request of a segment that [`swap_in`] has put into its queue.
#[inline]
unsafe fn attach(first: &StepEntry, ready: &mut impl ReadySink) {
    // SAFETY: the segment is in its queue, and is linked here alone. If the queue was empty, this
    // thread has the token, and the segment keeps the cown alive.
    unsafe {
        if !first.try_link() {
            grant(first.header, first.slot, ready);
        }
    }
}
