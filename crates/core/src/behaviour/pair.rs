//! Pairs: behaviours that hold two cowns exclusively, neither pinned nor in a group. A pair is a
//! [`Multi`] whose length is a compile-time constant, so nothing is counted, collected or sorted.
//! Other modules see only a `Multi`.

use std::alloc::Layout;
use std::any::type_name;
use std::mem::{ManuallyDrop, size_of};
use std::ptr::NonNull;

use coact_sync::{pool, prefetch};

use crate::body::{Body, Completion, Ended, Panicked};
use crate::cown::cursor::Cursor;
use crate::cown::set::{CownSet, sealed::Visitor};
use crate::ids::RuntimeId;
use crate::path_coverage::Path;
use crate::queue::append::append_two;
use crate::queue::claim;
use crate::queue::header::{CownHeader, Flags};
use crate::queue::leave::leave_last;
use crate::queue::member::Member;
use crate::queue::multi::{Multi, MultiSlot, link};
use crate::queue::release::release_exclusive;
use crate::queue::single::take;
use crate::queue::slot::Slot;
use crate::sched::{Deferring, Ready, Successor, offer_to_worker, schedule};
use crate::task::{RunContext, TaskPtr, TaskVTable};

/// One block, like that of any behaviour on two cowns.
#[repr(C)]
struct Pair<B> {
    front: Multi,
    slots: [MultiSlot; 2],
    body: ManuallyDrop<B>,
}

impl<B> Pair<B> {
    const LAYOUT: Layout = Layout::new::<Self>();
}

/// Returns the two cowns of a set that always names two, if they can form a pair, and prefetches
/// their headers, which are about to be written.
#[inline]
pub(super) fn members<S: CownSet>(set: &S) -> Option<[Member; 2]> {
    named(set, |member| prefetch::for_writing(member.header_ptr().as_ptr()))
}

/// Returns the two cowns of a set that always names two, if they are distinct, and prefetches their
/// headers, which are about to be written.
#[inline(always)]
pub(super) fn distinct<S: CownSet>(set: &S) -> Option<[Member; 2]> {
    let [a, b] = both(set, |member| prefetch::for_writing(member.header_ptr().as_ptr()))?;
    (a.header_ptr() != b.header_ptr()).then_some([a, b])
}

/// Like [`members`], but calls `see` on each member before its header is read, instead of
/// prefetching it.
#[inline(always)]
pub(super) fn named<S: CownSet>(set: &S, see: impl Fn(Member)) -> Option<[Member; 2]> {
    let [a, b] = both(set, see)?;
    // SAFETY: the set's handles keep the cowns alive.
    let is_plain = |member: Member| unsafe { !member.header().has(Flags::GROUPED | Flags::PINNED) };
    (a.header_ptr() != b.header_ptr() && is_plain(a) && is_plain(b)).then_some([a, b])
}

/// Returns the two cowns of a set that always names two, and holds them exclusively; calls `see` on
/// each.
#[inline(always)]
fn both<S: CownSet>(set: &S, see: impl Fn(Member)) -> Option<[Member; 2]> {
    if S::EXCLUSIVE != Some(2) {
        return None;
    }
    let (mut found, mut len) = ([None; 2], 0);
    set.visit(&mut Visitor(&mut |member: Member| {
        see(member);
        found[len] = Some(member);
        len += 1;
    }));
    let [Some(a), Some(b)] = found else { return None };
    Some([a, b])
}

/// The functions of a pair of this type.
pub(super) struct PairBehaviour<S: CownSet, F, C>(std::marker::PhantomData<(S, F, C)>);

impl<S, F, C> PairBehaviour<S, F, C>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    const VTABLE: TaskVTable = TaskVTable::new(Self::run, link, type_name::<F>);

    /// Spawns a behaviour on two cowns.
    ///
    /// # Safety
    /// They are the [members](members) of a set of this type, which keeps them alive.
    #[inline]
    pub(super) unsafe fn spawn(members: [Member; 2], body: Body<S, F, C>) {
        let Some(block) = pool::try_alloc(Pair::<Body<S, F, C>>::LAYOUT) else {
            // SAFETY: the conditions are those of this function.
            return unsafe { Self::spawn_refilled(members, body) };
        };
        // SAFETY: the block was just allocated with this layout; the set keeps the members alive.
        unsafe { Self::spawn_in(block, members, body) };
    }

    /// The same if the thread has no block at hand.
    ///
    /// # Safety
    /// See [`spawn`](Self::spawn).
    #[cold]
    #[inline(never)]
    unsafe fn spawn_refilled(members: [Member; 2], body: Body<S, F, C>) {
        let block = pool::alloc(Pair::<Body<S, F, C>>::LAYOUT);
        // SAFETY: the block was just allocated with this layout; the set keeps the members alive.
        unsafe { Self::spawn_in(block, members, body) };
    }

    /// # Safety
    /// See [`spawn`](Self::spawn); the block is unused, and has the layout of the node.
    #[inline(always)]
    unsafe fn spawn_in(block: NonNull<u8>, members: [Member; 2], body: Body<S, F, C>) {
        let node = block.cast::<Pair<Body<S, F, C>>>();
        let [a, b] = members.map(|member| MultiSlot::new(member, node.cast()));
        let queue = |member: Member| member.header_ptr().addr().get();
        body.spawned.stands_in(node.addr().get(), members.into_iter().map(queue));
        let front = Multi::new(&Self::VTABLE, 2);
        // SAFETY: the block has the layout of the node, and this thread owns it until `launch`; the
        // members are alive, distinct, and in no group.
        unsafe {
            node.write(Pair { front, slots: [a, b], body: ManuallyDrop::new(body) });
            let [first, second] = members.map(Member::header_ptr);
            launch(node.cast(), first, second);
        }
    }

    /// # Safety
    /// The task is ready, of this type, and run once.
    unsafe fn run(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
        let node = task.cast::<Pair<Body<S, F, C>>>();
        // SAFETY: a ready behaviour holds its cowns. Its requests stay in their queues, where a
        // successor may write `next`, until they are released one by one; after the last this
        // thread owns the block.
        unsafe {
            prefetch_successors(node.cast());
            let body = take(&mut (*node.as_ptr()).body);
            if may_be_refused(node.cast(), context) {
                return Self::run_with_care(node, body, context);
            }
            match body.call(&mut cursor(node.cast())) {
                Ok((completion, value)) => {
                    let successor = release(node.cast(), context.home);
                    let layout = Pair::<Body<S, F, C>>::LAYOUT;
                    if C::FORGETS {
                        return pool::dealloc_and_return(node.cast(), layout, successor);
                    }
                    pool::dealloc(node.cast(), layout);
                    Ended::Done(completion, value).deliver();
                    successor
                }
                Err(panicked) => Self::end_panicked(node, panicked, context),
            }
        }
    }

    /// Handles a body that has panicked.
    ///
    /// # Safety
    /// See [`end`](Self::end).
    #[cold]
    #[inline(never)]
    unsafe fn end_panicked(
        node: NonNull<Pair<Body<S, F, C>>>,
        panicked: Panicked<C>,
        context: &RunContext,
    ) -> Option<TaskPtr> {
        // SAFETY: the behaviour still holds its cowns, and its body was taken.
        unsafe {
            let ended = panicked.tell::<F>(&cursor(node.cast()), context.home);
            Self::end(node, ended, context)
        }
    }

    /// Runs a behaviour that may have to be refused.
    ///
    /// # Safety
    /// See `run`; the body is the task's.
    #[cold]
    #[inline(never)]
    unsafe fn run_with_care(
        node: NonNull<Pair<Body<S, F, C>>>,
        body: Body<S, F, C>,
        context: &RunContext,
    ) -> Option<TaskPtr> {
        // SAFETY: the behaviour holds its cowns; see `run`.
        unsafe {
            let ended = body.execute(cursor(node.cast()), context);
            Self::end(node, ended, context)
        }
    }

    /// Releases the cowns after the body, and delivers the outcome.
    ///
    /// # Safety
    /// The behaviour holds its cowns, and its body was taken.
    #[cold]
    unsafe fn end(
        node: NonNull<Pair<Body<S, F, C>>>,
        ended: Ended<C>,
        context: &RunContext,
    ) -> Option<TaskPtr> {
        // SAFETY: the behaviour holds its cowns until they are released here; then this thread owns
        // the block, whose body was taken.
        let successor = unsafe {
            let successor = release(node.cast(), context.home);
            pool::dealloc(node.cast(), Pair::<Body<S, F, C>>::LAYOUT);
            successor
        };
        ended.deliver();
        successor
    }
}

/// Returns the requests of a pair.
///
/// # Safety
/// The node is that of a pair.
#[inline(always)]
unsafe fn slots(node: NonNull<Multi>) -> [NonNull<MultiSlot>; 2] {
    let first = Multi::slots(node);
    // SAFETY: a pair has two slots.
    unsafe { [first, first.add(1)] }
}

/// Takes the cowns of a pair if they are free, or appends its requests: the same code for pairs of
/// all types. (The cowns are separate parameters, since an array would be passed in memory.)
///
/// # Safety
/// The node is that of a pair just created, and is given away. The cowns are its own, in order;
/// they are alive and distinct, and in no group.
#[inline(never)]
unsafe fn launch(node: NonNull<Multi>, first: NonNull<CownHeader>, second: NonNull<CownHeader>) {
    // SAFETY: the conditions are those of this function.
    unsafe {
        if first.as_ref().is_in_use(false) || second.as_ref().is_in_use(false) {
            queue(node, first, second);
        } else {
            launch_free(node, first, second);
        }
    }
}

/// The same if both cowns look free.
///
/// # Safety
/// See [`launch`].
#[inline(never)]
unsafe fn launch_free(
    node: NonNull<Multi>,
    first: NonNull<CownHeader>,
    second: NonNull<CownHeader>,
) {
    // SAFETY: the cowns are alive, distinct and in no group, and the slots of the new node are
    // unqueued.
    unsafe {
        let slots = slots(node).map(|slot| slot.cast::<Slot>().as_ref());
        let headers = [first.as_ref(), second.as_ref()];
        let are_usable = || headers.into_iter().all(|header| claim::is_usable(header, false));
        if claim::take_two_if(slots, headers, are_usable) {
            Path::PairFree.take();
            // The behaviour holds the first cown, so it cannot move.
            schedule(node.cast(), first.as_ref().home_of_queue());
        } else {
            queue(node, first, second);
        }
    }
}

/// Appends the requests of a pair.
///
/// # Safety
/// See [`launch`].
#[inline(always)]
unsafe fn queue(node: NonNull<Multi>, first: NonNull<CownHeader>, second: NonNull<CownHeader>) {
    Path::PairQueued.take();
    // SAFETY: the cowns are alive, distinct and in no group, and the slots of the new node are
    // unqueued.
    unsafe {
        let [a, b] = slots(node).map(NonNull::cast::<Slot>);
        append_two([(a, first), (b, second)]);
    }
}

/// Returns whether a cown of a pair is poisoned or closed, or the context says that bodies are
/// dropped.
///
/// # Safety
/// The behaviour is live, and holds its cowns.
#[inline(always)]
unsafe fn may_be_refused(node: NonNull<Multi>, context: &RunContext) -> bool {
    // SAFETY: the behaviour is live and holds its cowns, which are thus alive.
    unsafe {
        let flags =
            |slot: NonNull<MultiSlot>| &slot.cast::<Slot>().as_ref().member().header().flags;
        let [a, b] = slots(node).map(flags);
        a.may_be_refused_with(b, context)
    }
}

/// Iterates over the members of a pair.
///
/// # Safety
/// The behaviour is live for `'a`.
#[inline(always)]
unsafe fn cursor<'a>(node: NonNull<Multi>) -> Cursor<'a> {
    // SAFETY: the behaviour is live for `'a`; the members are in the slots, one slot's size apart.
    unsafe {
        let [first, _] = slots(node);
        Cursor::new(first.cast::<Slot>().as_ref().member_ptr(), size_of::<MultiSlot>(), 2)
    }
}

/// Prefetches the requests behind a pair, whose counts are written at its end.
///
/// # Safety
/// The behaviour is live.
#[inline(always)]
unsafe fn prefetch_successors(node: NonNull<Multi>) {
    // SAFETY: the behaviour is live, and that of a pair.
    for slot in unsafe { slots(node) } {
        // SAFETY: the slots are live.
        unsafe { slot.cast::<Slot>().as_ref() }.prefetch_successor();
    }
}

/// Releases the cowns of a pair; returns the task that follows it on its own runtime. The same code
/// for pairs of all types. All its calls are tail calls, so that it saves no registers.
///
/// # Safety
/// The behaviour holds its cowns. Afterwards the caller owns its block.
#[inline(never)]
unsafe fn release(node: NonNull<Multi>, home: RuntimeId) -> Option<TaskPtr> {
    // SAFETY: the behaviour holds its cowns exclusively, and each slot is released once. A
    // behaviour that becomes ready belongs to this thread, and holds its cowns.
    unsafe {
        let [a, b] = slots(node);
        let Ok(first) = release_plainly(a.cast()) else { return release_with_care(node, home) };
        let Ok(second) = release_plainly(b.cast()) else {
            return release_second_with_care(b, first, home);
        };
        Path::PairReleased.take();
        match (first, second) {
            (None, None) => None,
            (Some(only), None) | (None, Some(only)) if Multi::is_plainly_at(only, home) => {
                Some(only.cast())
            }
            _ => hand_on(first, second, home),
        }
    }
}

/// Releases one cown if it has no successor, or one on several cowns that needs no further checks;
/// returns the successor if it is ready now. Otherwise returns an error, without effect.
///
/// # Safety
/// See [`release_exclusive`]; the cown is in no group.
#[inline(always)]
unsafe fn release_plainly(slot: NonNull<Slot>) -> Result<Option<NonNull<Multi>>, ()> {
    // SAFETY: the cown is held exclusively, so the request is the head and this thread has the
    // token. The token then belongs to the new head, if there is one: there are no readers, as in
    // `pass_on`.
    unsafe {
        let header = slot.as_ref().member().header();
        let Some(next) = slot.as_ref().successor() else {
            return if leave_last(header, slot) { Ok(None) } else { Err(()) };
        };
        if header.is_interrupted() || !next.as_ref().member().is_exclusive_in_multi() {
            return Err(());
        }
        let behaviour = Multi::of(next);
        Ok(Multi::count_grant(behaviour).then_some(behaviour))
    }
}

/// Like [`release`], in all cases.
///
/// # Safety
/// See [`release`].
#[inline(never)]
unsafe fn release_with_care(node: NonNull<Multi>, home: RuntimeId) -> Option<TaskPtr> {
    let mut successor = Successor::new(home);
    let mut deferring = Deferring::new(&mut successor);
    // SAFETY: the node is that of a pair.
    for slot in unsafe { slots(node) } {
        // SAFETY: the cown is held exclusively; the cowns of a pair are in no group.
        unsafe { release_exclusive(slot.cast(), &mut deferring) };
    }
    deferring.finish();
    successor.take()
}

/// The same for the second cown alone, after the first one's release, which may have made a
/// behaviour ready.
///
/// # Safety
/// See [`release_exclusive`]; the cown is in no group. The caller owns the behaviour and passes it
/// on here.
#[inline(never)]
unsafe fn release_second_with_care(
    second: NonNull<MultiSlot>,
    ready: Option<NonNull<Multi>>,
    home: RuntimeId,
) -> Option<TaskPtr> {
    let mut successor = Successor::new(home);
    let mut deferring = Deferring::new(&mut successor);
    // SAFETY: the caller owns the ready behaviour, and the second cown is held exclusively.
    unsafe {
        if let Some(behaviour) = ready {
            deferring.ready(behaviour.cast(), Multi::home(behaviour));
        }
        release_exclusive(second.cast(), &mut deferring);
    }
    deferring.finish();
    successor.take()
}

/// Passes on what a pair's release has made ready; returns the first that belongs to the runtime.
///
/// # Safety
/// The caller owns the behaviours. It holds nothing any more, so foreign code may run.
#[inline(never)]
unsafe fn hand_on(
    first: Option<NonNull<Multi>>,
    second: Option<NonNull<Multi>>,
    home: RuntimeId,
) -> Option<TaskPtr> {
    // The common case of two.
    if let (Some(first), Some(second)) = (first, second)
        // SAFETY: they are ready, and not passed on yet.
        && unsafe { Multi::is_plainly_at(first, home) && Multi::is_plainly_at(second, home) }
        && offer_to_worker(second.cast(), home)
    {
        Path::PairHandedOn.take();
        return Some(first.cast());
    }
    // SAFETY: the caller owns the behaviours, and holds nothing.
    unsafe { hand_on_with_care(first, second, home) }
}

/// The same, for any runtimes.
///
/// # Safety
/// See [`hand_on`].
#[cold]
#[inline(never)]
unsafe fn hand_on_with_care(
    first: Option<NonNull<Multi>>,
    second: Option<NonNull<Multi>>,
    home: RuntimeId,
) -> Option<TaskPtr> {
    let mut successor = Successor::new(home);
    for behaviour in [first, second].into_iter().flatten() {
        // SAFETY: it is ready, and not passed on yet.
        let home = unsafe { Multi::home(behaviour) };
        successor.ready(behaviour.cast(), home);
    }
    successor.take()
}
