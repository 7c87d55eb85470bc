//! Behaviours on two cowns, both held exclusively, neither pinned nor in a group: a [`Multi`] whose length is known when
//! it is compiled, so that nothing is counted, collected or sorted. To everybody else it is a `Multi`.

use std::alloc::Layout;
use std::any::type_name;
use std::mem::{ManuallyDrop, size_of};
use std::ptr::NonNull;

use coact_sync::shim::atomic::Ordering;
use coact_sync::{pool, prefetch};

use crate::body::{Body, Completion, Ended, Panicked};
use crate::cown::cursor::Cursor;
use crate::cown::set::{CownSet, sealed::Visitor};
use crate::ids::RuntimeId;
use crate::paths::Path;
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

/// One block: as that of any behaviour on two cowns.
#[repr(C)]
struct Pair<B> {
    front: Multi,
    slots: [MultiSlot; 2],
    body: ManuallyDrop<B>,
}

impl<B> Pair<B> {
    const LAYOUT: Layout = Layout::new::<Self>();
}

/// The two cowns of a set that always names two, if a pair can be made of them: their headers are about to be written.
#[inline]
pub(super) fn members<S: CownSet>(set: &S) -> Option<[Member; 2]> {
    named(set, |member| prefetch::for_writing(member.header_ptr().as_ptr()))
}

/// The same, and each is shown to `see` before it is looked at.
#[inline(always)]
pub(super) fn named<S: CownSet>(set: &S, see: impl Fn(Member)) -> Option<[Member; 2]> {
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
    // SAFETY: the set's handles keep the cowns alive.
    let is_plain = |member: Member| unsafe { !member.header().has(Flags::GROUPED | Flags::PINNED) };
    (a.header_ptr() != b.header_ptr() && is_plain(a) && is_plain(b)).then_some([a, b])
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
            // SAFETY: by the caller's word.
            return unsafe { Self::spawn_refilled(members, body) };
        };
        // SAFETY: the block was made for this layout; the rest by the caller's word.
        unsafe { Self::spawn_in(block, members, body) };
    }

    /// The same where the thread has no block at hand.
    ///
    /// # Safety
    /// As [`spawn`](Self::spawn).
    #[cold]
    #[inline(never)]
    unsafe fn spawn_refilled(members: [Member; 2], body: Body<S, F, C>) {
        let block = pool::alloc(Pair::<Body<S, F, C>>::LAYOUT);
        // SAFETY: as in `spawn`.
        unsafe { Self::spawn_in(block, members, body) };
    }

    /// # Safety
    /// As [`spawn`](Self::spawn); the block is fresh, and has the layout of the node.
    #[inline(always)]
    unsafe fn spawn_in(block: NonNull<u8>, members: [Member; 2], body: Body<S, F, C>) {
        let node = block.cast::<Pair<Body<S, F, C>>>();
        let [a, b] = members.map(|member| MultiSlot::new(member, node.cast()));
        let queue = |member: Member| member.header_ptr().addr().get();
        body.spawned.stands_in(node.addr().get(), members.into_iter().map(queue));
        let front = Multi::new(&Self::VTABLE, 2);
        // SAFETY: by the caller's word.
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
        // SAFETY: a ready behaviour holds its cowns. Its requests stay in their queues, where a successor may write
        // to `next`, until they are released one by one; after the last the block is ours alone.
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

    /// What comes after a body that has panicked.
    ///
    /// # Safety
    /// As [`end`](Self::end).
    #[cold]
    #[inline(never)]
    unsafe fn end_panicked(
        node: NonNull<Pair<Body<S, F, C>>>,
        panicked: Panicked<C>,
        context: &RunContext,
    ) -> Option<TaskPtr> {
        // SAFETY: by the caller's word.
        unsafe {
            let ended = panicked.tell::<F>(&cursor(node.cast()), context.home);
            Self::end(node, ended, context)
        }
    }

    /// The same for a behaviour that may have to be refused.
    ///
    /// # Safety
    /// As for `run`; the body is the task's.
    #[cold]
    #[inline(never)]
    unsafe fn run_with_care(
        node: NonNull<Pair<Body<S, F, C>>>,
        body: Body<S, F, C>,
        context: &RunContext,
    ) -> Option<TaskPtr> {
        // SAFETY: as in `run`.
        unsafe {
            let ended = body.execute(cursor(node.cast()), context);
            Self::end(node, ended, context)
        }
    }

    /// What comes after the body.
    ///
    /// # Safety
    /// The behaviour holds its cowns, and its body was taken.
    #[cold]
    unsafe fn end(
        node: NonNull<Pair<Body<S, F, C>>>,
        ended: Ended<C>,
        context: &RunContext,
    ) -> Option<TaskPtr> {
        // SAFETY: by the caller's word.
        let successor = unsafe {
            let successor = release(node.cast(), context.home);
            pool::dealloc(node.cast(), Pair::<Body<S, F, C>>::LAYOUT);
            successor
        };
        ended.deliver();
        successor
    }
}

/// The requests of a pair.
///
/// # Safety
/// The node is that of a pair.
#[inline(always)]
unsafe fn slots(node: NonNull<Multi>) -> [NonNull<MultiSlot>; 2] {
    let first = Multi::slots(node);
    // SAFETY: a pair has two.
    unsafe { [first, first.add(1)] }
}

/// Takes the cowns of a pair if they are free, or puts its requests into their queues: the same code for pairs of all
/// types. (The cowns one by one, since an array would come in memory.)
///
/// # Safety
/// The node is that of a pair that was just made, and is given away. The cowns are its own, in their order; they are
/// alive and distinct, and in no group.
#[inline(never)]
unsafe fn launch(node: NonNull<Multi>, first: NonNull<CownHeader>, second: NonNull<CownHeader>) {
    // SAFETY: by the caller's word.
    unsafe {
        if first.as_ref().is_in_use(false) || second.as_ref().is_in_use(false) {
            queue(node, first, second);
        } else {
            launch_free(node, first, second);
        }
    }
}

/// The same where both cowns look free.
///
/// # Safety
/// As [`launch`].
#[inline(never)]
unsafe fn launch_free(
    node: NonNull<Multi>,
    first: NonNull<CownHeader>,
    second: NonNull<CownHeader>,
) {
    // SAFETY: by the caller's word.
    unsafe {
        let slots = slots(node).map(|slot| slot.cast::<Slot>().as_ref());
        if claim::take_two(slots, [first.as_ref(), second.as_ref()]) {
            Path::PairFree.take();
            // Nobody moves the first one, as it is held.
            schedule(node.cast(), first.as_ref().home_of_queue());
        } else {
            queue(node, first, second);
        }
    }
}

/// Puts the requests of a pair into the queues of its cowns.
///
/// # Safety
/// As [`launch`].
#[inline(always)]
unsafe fn queue(node: NonNull<Multi>, first: NonNull<CownHeader>, second: NonNull<CownHeader>) {
    Path::PairQueued.take();
    // SAFETY: by the caller's word.
    unsafe {
        let [a, b] = slots(node).map(NonNull::cast::<Slot>);
        append_two([(a, first), (b, second)]);
    }
}

/// Whether some cown of a pair is poisoned or closed, or the context says that bodies are dropped.
///
/// # Safety
/// The behaviour is live, and holds its cowns.
#[inline(always)]
unsafe fn may_be_refused(node: NonNull<Multi>, context: &RunContext) -> bool {
    // SAFETY: by the caller's word; the cowns are held, so alive.
    unsafe {
        let flags =
            |slot: NonNull<MultiSlot>| &slot.cast::<Slot>().as_ref().member().header().flags;
        let [a, b] = slots(node).map(flags);
        a.may_be_refused_with(b, context)
    }
}

/// Runs over the members of a pair.
///
/// # Safety
/// The behaviour is live for `'a`.
#[inline(always)]
unsafe fn cursor<'a>(node: NonNull<Multi>) -> Cursor<'a> {
    // SAFETY: by the caller's word; the members lie in the slots, one slot's size apart.
    unsafe {
        let [first, _] = slots(node);
        Cursor::new(first.cast::<Slot>().as_ref().member_ptr(), size_of::<MultiSlot>(), 2)
    }
}

/// Asks for those that stand behind a pair: their counts are written at its end.
///
/// # Safety
/// The behaviour is live.
#[inline(always)]
unsafe fn prefetch_successors(node: NonNull<Multi>) {
    // SAFETY: by the caller's word.
    for slot in unsafe { slots(node) } {
        // SAFETY: as above.
        // ORDERING: Relaxed. Only a hint is made of it.
        prefetch::for_writing(unsafe { slot.cast::<Slot>().as_ref() }.next.load(Ordering::Relaxed));
    }
}

/// Lets the cowns of a pair go; returns the task that is to follow it, of its own runtime. The same code for pairs of
/// all types: it calls nothing but in its tail, so that it saves no registers.
///
/// # Safety
/// The behaviour holds its cowns. After this its block is the caller's alone.
#[inline(never)]
unsafe fn release(node: NonNull<Multi>, home: RuntimeId) -> Option<TaskPtr> {
    // SAFETY: by the caller's word, slot by slot. What is ready then is nobody else's, and holds its cowns.
    unsafe {
        let [a, b] = slots(node);
        let Ok(first) = release_plainly(a.cast()) else { return release_with_care(node, home) };
        let Ok(second) = release_plainly(b.cast()) else {
            return release_second_with_care(b, first, home);
        };
        match (first, second) {
            (None, None) => None,
            (Some(only), None) | (None, Some(only)) if Multi::is_plainly_at(only, home) => {
                Some(only.cast())
            }
            _ => hand_on(first, second, home),
        }
    }
}

/// Lets one cown go, if it is left alone or passed on to a behaviour on several cowns with nothing more ado; returns that
/// if it is ready now. Nothing is done if something is to be seen to.
///
/// # Safety
/// As [`release_exclusive`], of a cown in no group.
#[inline(always)]
unsafe fn release_plainly(slot: NonNull<Slot>) -> Result<Option<NonNull<Multi>>, ()> {
    // SAFETY: held exclusively, so the request is the head, and the token ours. It belongs to the new head, if there is
    // one: nobody reads, as in `pass_on`.
    unsafe {
        let header = slot.as_ref().member().header();
        // ORDERING: Acquire, as in `leave`.
        let Some(next) = NonNull::new(slot.as_ref().next.load(Ordering::Acquire)) else {
            return if leave_last(header, slot) { Ok(None) } else { Err(()) };
        };
        if header.is_interrupted() || !next.as_ref().member().is_exclusive_in_multi() {
            return Err(());
        }
        let behaviour = Multi::of(next);
        Ok(Multi::count_grant(behaviour).then_some(behaviour))
    }
}

/// As [`release`], whatever there is to be seen to.
///
/// # Safety
/// As there.
#[inline(never)]
unsafe fn release_with_care(node: NonNull<Multi>, home: RuntimeId) -> Option<TaskPtr> {
    let mut successor = Successor::new(home);
    let mut deferring = Deferring::new(&mut successor);
    // SAFETY: by the caller's word.
    for slot in unsafe { slots(node) } {
        // SAFETY: held exclusively; the cowns of a pair are in no group.
        unsafe { release_exclusive(slot.cast(), &mut deferring) };
    }
    deferring.finish();
    successor.take()
}

/// The same of the second cown alone, where the first one's release may have made a behaviour ready.
///
/// # Safety
/// As [`release_exclusive`], of a cown in no group. The behaviour is the caller's to pass on.
#[inline(never)]
unsafe fn release_second_with_care(
    second: NonNull<MultiSlot>,
    ready: Option<NonNull<Multi>>,
    home: RuntimeId,
) -> Option<TaskPtr> {
    let mut successor = Successor::new(home);
    let mut deferring = Deferring::new(&mut successor);
    // SAFETY: by the caller's word.
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
/// The behaviours are the caller's to pass on. It holds nothing any more, so that foreign code may run.
#[inline(never)]
unsafe fn hand_on(
    first: Option<NonNull<Multi>>,
    second: Option<NonNull<Multi>>,
    home: RuntimeId,
) -> Option<TaskPtr> {
    // As most are, where it is more than one.
    if let (Some(first), Some(second)) = (first, second)
        // SAFETY: they are ready, and not passed on yet.
        && unsafe { Multi::is_plainly_at(first, home) && Multi::is_plainly_at(second, home) }
        && offer_to_worker(second.cast(), home)
    {
        return Some(first.cast());
    }
    // SAFETY: by the caller's word.
    unsafe { hand_on_with_care(first, second, home) }
}

/// The same, wherever they belong.
///
/// # Safety
/// As [`hand_on`].
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
