//! Putting requests into the queues of their cowns: the *spawn* rule. See README.md, "Append".

use std::ptr::{NonNull, null_mut};

use coact_sync::shim::atomic::Ordering;

use super::grant::grant;
use super::slot::Slot;
use crate::queue::header::{CownHeader, Flags};
use crate::queue::member::Member;
use crate::sched::Ready;
use crate::sched::{self, Deferring, schedule};
use crate::simulated;
use crate::steps;

/// Puts a request of a one-cown behaviour into its cown's queue. Returns whether the queue was
/// empty: the caller then has the token, and must [`grant`] the request.
///
/// Costs one atomic exchange. Where it lands behind another thread's step over several cowns it waits until that has
/// its places. README.md, "Why each request waits for the one before", shows what would go wrong without.
///
/// # Safety
/// `slot` is a live, unqueued request for `header`, its cown or its group's leader, and the cown is alive: a handle of
/// it lives until this returns, or the request is the one that ends the cown ([`retire`](crate::cown::end_of_life)). The
/// request lies in a one-cown behaviour.
#[inline]
pub(crate) unsafe fn append_single(header: &CownHeader, slot: NonNull<Slot>) -> bool {
    // SAFETY: not queued, so it is the caller's alone; the rest by the caller's word.
    unsafe {
        let member = (*slot.as_ptr()).begin();
        append_begun::<false>(header, slot, member)
    }
}

/// The same for a request that was [made](Slot::beginning) to be appended at once. Whether it is one that a worker
/// spawns says whether the caller has anything that can give way.
///
/// # Safety
/// As [`append_single`]; the member is the request's.
#[inline(always)]
pub(crate) unsafe fn append_begun<const BY_WORKER: bool>(
    header: &CownHeader,
    slot: NonNull<Slot>,
    member: Member,
) -> bool {
    let previous = swap_tail(header, slot);
    if previous.is_null() {
        // SAFETY: it stands in its queue until it is granted, which is up to the caller.
        unsafe { slot.as_ref() }.end(member);
        return true;
    }
    simulated::point();
    // SAFETY: `previous` is what our exchange took out of the tail.
    unsafe {
        let overload = if BY_WORKER { Flags::OVERLOADED } else { 0 };
        if !header.has(Flags::STEPPED | overload) {
            follow(slot, member, previous);
        } else if !header.has(overload) {
            follow_in_turn(slot, member, previous);
        } else {
            follow_in_overload(header, slot, member, previous);
        }
    }
    false
}

/// Links a request that has its place to the one before it. Last of all: from then on the behaviour may run on another
/// thread, and end the cown (it may own the handle that it was spawned with, or be the one that drops the state).
///
/// # Safety
/// As [`link`].
#[inline(always)]
unsafe fn follow(slot: NonNull<Slot>, member: Member, previous: *mut Slot) {
    // SAFETY: it leaves its queue when it has found its successor, which it has not before it is linked.
    unsafe {
        slot.as_ref().end(member);
        link(previous, slot);
    }
}

/// The same of one that may stand behind a step over several queues.
///
/// # Safety
/// As [`link`].
#[inline(never)]
unsafe fn follow_in_turn(slot: NonNull<Slot>, member: Member, previous: *mut Slot) {
    // SAFETY: by the caller's word.
    unsafe {
        wait_for_place(previous);
        follow(slot, member, previous);
    }
}

/// The same where the cown is overloaded, and whoever sends to it is to give way.
///
/// # Safety
/// As [`link`]; the queue is that of the header.
#[cold]
#[inline(never)]
unsafe fn follow_in_overload(
    header: &CownHeader,
    slot: NonNull<Slot>,
    member: Member,
    previous: *mut Slot,
) {
    sched::give_way(std::ptr::from_ref(header).cast());
    // SAFETY: by the caller's word. Not linked yet, so the cown is alive.
    unsafe {
        if header.has(Flags::STEPPED) {
            wait_for_place(previous);
        }
        follow(slot, member, previous);
    }
}

/// The same for the request of a behaviour on several cowns of one group, whose leader's queue this is.
///
/// # Safety
/// As [`append_single`], but for where the request lies.
pub(crate) unsafe fn append_one(header: &CownHeader, slot: NonNull<Slot>) -> bool {
    let mut request = Request::new(slot, NonNull::from(header));
    // SAFETY: by the caller's word; a successor waits for the end of the step.
    unsafe {
        swap_in(std::slice::from_mut(&mut request));
        slot.as_ref().end_step();
        if !request.previous.is_null() {
            link(request.previous, slot);
        }
    }
    request.previous.is_null()
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

    /// What requests of one behaviour are sorted by.
    #[inline]
    pub(crate) fn rank(&self) -> impl Ord + use<> {
        CownHeader::rank(self.header)
    }

    fn same_cown(a: &Request, b: &Request) -> bool {
        a.header == b.header
    }

    /// Ties the request to what stands before it, if anything does.
    ///
    /// # Safety
    /// As [`attach`].
    #[inline(always)]
    unsafe fn try_link(&self) -> bool {
        let is_behind = !self.previous.is_null();
        if is_behind {
            // SAFETY: `previous` is what our exchange took out of the tail.
            unsafe { link(self.previous, self.slot) };
        }
        is_behind
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
    debug_assert!(requests.is_sorted_by_key(Request::rank));
    for group in requests.chunk_by_mut(Request::same_cown) {
        // SAFETY: the cown is alive, and the requests are still ours alone.
        unsafe { swap_in(group) };
    }
    // No scheduling point between two cowns: their order is that of addresses, and no run must depend on these.
    simulated::point();
    let mut deferring = Deferring::new(ready);
    for group in requests.chunk_by(Request::same_cown) {
        // SAFETY: alive: it stands in its queue, and is not granted yet.
        unsafe { group[group.len() - 1].slot.as_ref() }.end_step();
    }
    simulated::point();
    for group in requests.chunk_by(Request::same_cown) {
        // SAFETY: as above for this group. Those before may be granted and gone: they are not
        // looked at again.
        unsafe { attach(&group[0], &mut deferring) };
    }
    deferring.finish();
}

/// Appends the two requests of one behaviour in one atomic step, as [`append_all`] does, and schedules what becomes ready.
/// Each comes with its cown's header. What is rare is called in the tail, so that no registers are saved.
///
/// # Safety
/// As there; the cowns are distinct, and in no group.
#[inline(always)]
pub(crate) unsafe fn append_two(requests: [(NonNull<Slot>, NonNull<CownHeader>); 2]) {
    let [mut low, mut high] = requests;
    if CownHeader::rank(low.1) > CownHeader::rank(high.1) {
        std::mem::swap(&mut low, &mut high);
    }
    // SAFETY: step by step as in `append_all`.
    unsafe {
        let before_low = swap_in_one(low);
        if !has_place(before_low) {
            return append_high_later(low.0, high.0, high.1, before_low);
        }
        append_high(low.0, high, before_low);
    }
}

/// The second half of [`append_two`], when the first request has its place.
///
/// # Safety
/// As there; `before_low` is what the first exchange took out of the tail.
#[inline(always)]
unsafe fn append_high(
    low: NonNull<Slot>,
    high: (NonNull<Slot>, NonNull<CownHeader>),
    before_low: *mut Slot,
) {
    // SAFETY: by the caller's word, as in `append_two`.
    unsafe {
        let before_high = swap_in_one(high);
        if !has_place(before_high) {
            return link_two_later(low, high.0, before_low, before_high);
        }
        link_two([low, high.0], [before_low, before_high]);
    }
}

/// The same where the first request is yet to find its place.
///
/// # Safety
/// As there.
#[cold]
#[inline(never)]
unsafe fn append_high_later(
    low: NonNull<Slot>,
    high: NonNull<Slot>,
    header: NonNull<CownHeader>,
    before_low: *mut Slot,
) {
    // SAFETY: by the caller's word; it is not null, or there were nothing to wait for.
    unsafe {
        wait_for_place(before_low);
        append_high(low, (high, header), before_low);
    }
}

/// [`link_two`] where the second request is yet to find its place.
///
/// # Safety
/// As there.
#[cold]
#[inline(never)]
unsafe fn link_two_later(
    low: NonNull<Slot>,
    high: NonNull<Slot>,
    before_low: *mut Slot,
    before_high: *mut Slot,
) {
    // SAFETY: by the caller's word; it is not null, or there were nothing to wait for.
    unsafe {
        wait_for_place(before_high);
        link_two([low, high], [before_low, before_high]);
    }
}

/// Ends the step of two requests that have their places, ties them to what stands before them, and grants those whose
/// queue was empty.
///
/// # Safety
/// As [`append_two`]; these are what the exchanges took out of the tails.
#[inline(always)]
unsafe fn link_two(requests: [NonNull<Slot>; 2], before: [*mut Slot; 2]) {
    let [low, high] = requests;
    let [before_low, before_high] = before;
    simulated::point();
    // SAFETY: by the caller's word. A request with nothing before it is ours until it is granted.
    unsafe {
        low.as_ref().end_step();
        high.as_ref().end_step();
        simulated::point();
        // The links first, so that there is rarely more to do.
        if !before_low.is_null() {
            link(before_low, low);
        }
        if !before_high.is_null() {
            link(before_high, high);
        }
        if before_low.is_null() || before_high.is_null() {
            grant_free([low, high], [before_low.is_null(), before_high.is_null()]);
        }
    }
}

/// Grants those of two requests whose queue was empty.
///
/// # Safety
/// The caller has the tokens of these, and the requests are queued. Their cowns are in no group.
#[cold]
#[inline(never)]
unsafe fn grant_free(requests: [NonNull<Slot>; 2], are_free: [bool; 2]) {
    let mut ready = schedule;
    let mut deferring = Deferring::new(&mut ready);
    for (slot, is_free) in requests.into_iter().zip(are_free) {
        if is_free {
            // SAFETY: the token is ours; the request, which is not granted yet, keeps the cown alive.
            unsafe { grant(slot.as_ref().member().header_ptr(), slot, &mut deferring) };
        }
    }
    deferring.finish();
}

/// Puts a request of a step into the queue of its cown; returns what stands before it.
///
/// # Safety
/// The cown is alive, and the request the caller's.
#[inline(always)]
unsafe fn swap_in_one((slot, header): (NonNull<Slot>, NonNull<CownHeader>)) -> *mut Slot {
    // SAFETY: by the caller's word; not yet queued.
    let header = unsafe { header.as_ref() };
    // SAFETY: as above.
    unsafe { slot.as_ref() }.begin_step();
    header.note_step();
    swap_tail(header, slot)
}

/// Whether a request need not wait for what stands before it, if anything does.
///
/// # Safety
/// As [`link`], unless it is null.
#[inline(always)]
unsafe fn has_place(previous: *mut Slot) -> bool {
    // SAFETY: by the caller's word.
    previous.is_null() || unsafe { &*previous }.is_placed()
}

/// Chains the requests for one cown, puts them into its queue, and waits until what stands before them has its place.
///
/// # Safety
/// The cown is alive, and the requests are the caller's.
#[inline]
unsafe fn swap_in(group: &mut [Request]) {
    for pair in group.windows(2) {
        // SAFETY: the request is live and not yet queued.
        unsafe { link(pair[0].slot.as_ptr(), pair[1].slot) };
    }
    let last = group[group.len() - 1].slot;
    // SAFETY: alive, by the caller's word, and not yet queued.
    let (header, slot) = unsafe { (group[0].header.as_ref(), last.as_ref()) };
    slot.begin_step();
    header.note_step();
    let previous = swap_tail(header, last);
    group[0].previous = previous;
    if !previous.is_null() {
        // SAFETY: it is what our exchange took out of the tail.
        unsafe { wait_for_place(previous) };
    }
}

/// Waits until what stands before the caller's request has its place in all queues of its step, and so everything that
/// stands before that.
///
/// # Safety
/// As [`link`].
#[inline]
unsafe fn wait_for_place(previous: *mut Slot) {
    // SAFETY: by the caller's word.
    let previous = unsafe { &*previous };
    if !previous.is_placed() {
        steps::wait_for(|| previous.is_placed().then_some(()));
    }
}

/// Ties a swapped-in segment to what stands before it. Only now can its requests be granted: all
/// other cowns have theirs, so nothing that a granted one spawns can overtake them.
///
/// # Safety
/// `first` is the first request of a segment that [`swap_in`] has put into its queue.
#[inline]
unsafe fn attach(first: &Request, ready: &mut impl Ready) {
    // SAFETY: by the caller's word. If the queue was empty we have the token, and the segment keeps the cown alive.
    unsafe {
        if !first.try_link() {
            grant(first.header, first.slot, ready);
        }
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
