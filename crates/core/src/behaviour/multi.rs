//! Behaviours on any number of cowns, with any mix of access.
//!
//! One block from the pool: this header (24 bytes), one [`MultiSlot`] (24 bytes) a cown in the
//! order in which the user named them, then the body.

use std::alloc::Layout;
use std::any::type_name;
use std::mem::{ManuallyDrop, size_of};
use std::ptr::{NonNull, null_mut, without_provenance_mut};

use coact_sync::shim::atomic::{AtomicPtr, AtomicU32, Ordering};
use coact_sync::{pool, prefetch};
use smallvec::SmallVec;

use super::body::{Body, Completion, Ended, take};
use super::spawn::{self, Refusal};
use crate::cown::access::Cursor;
use crate::cown::set::{CownSet, sealed::Visitor};
use crate::group;
use crate::group::join::Grouped;
use crate::group::ring::Entry;
use crate::group::turn::{self, Anchor};
use crate::ids::RuntimeId;
use crate::panic::drop_quietly;
use crate::queue::append::Request;
use crate::queue::header::{CownHeader, Flags, Member};
use crate::queue::release::release;
use crate::queue::slot::Slot;
use crate::sched::Ready;
use crate::sched::{Deferring, Successor};
use crate::task::{InGroup, RunContext, Task, TaskPtr, TaskVTable};

/// The front of every such behaviour, whatever its body and the number of its cowns.
#[repr(C, align(8))]
pub(crate) struct Multi {
    task: Task,
    /// While the behaviour waits: the runtime that it is bound to, if there is one, see
    /// [`home`](Self::home). Once it is ready: the scheduler's link.
    link: AtomicPtr<()>,
    /// Grants that are outstanding.
    missing: AtomicU32,
    len: u32,
}

#[cfg(not(loom))]
const _: () = assert!(size_of::<Multi>() == 24);

/// A request with the way back to its behaviour.
#[repr(C)]
pub(crate) struct MultiSlot {
    slot: Slot,
    owner: NonNull<Multi>,
}

/// How many members a set has.
///
/// # Errors
/// More than one behaviour can name. (Only handles without a size can be so many.)
#[inline]
pub(crate) fn count_members<S: CownSet>(set: &S) -> Result<u32, Refusal> {
    let members = set.member_count();
    u32::try_from(members).map_err(|_| Refusal::TooMany { members })
}

impl MultiSlot {
    /// A request of the behaviour, which is not queued yet.
    #[inline]
    pub(super) fn new(member: Member, owner: NonNull<Multi>) -> Self {
        Self { slot: Slot::new(member.in_multi()), owner }
    }
}

impl Multi {
    /// The front of a behaviour on so many cowns, which has none of them yet.
    #[inline]
    pub(super) fn new(vtable: &'static TaskVTable, len: u32) -> Self {
        Self {
            task: Task { vtable },
            link: AtomicPtr::new(null_mut()),
            missing: AtomicU32::new(len),
            len,
        }
    }

    /// The behaviour that a request belongs to.
    ///
    /// # Safety
    /// The slot is live and lies in a `Multi`.
    pub(crate) unsafe fn of(slot: NonNull<Slot>) -> NonNull<Multi> {
        // SAFETY: a multi slot begins with its slot (`repr(C)`).
        unsafe { slot.cast::<MultiSlot>().as_ref() }.owner
    }

    /// The runtime that it runs on: the one that it is bound to, or else that of its first cown. That may
    /// be moved as long as the behaviour does not hold it; until then this is a hint.
    ///
    /// # Safety
    /// The behaviour is live and settled, and not ready: the scheduler has not got it yet. Its cowns are
    /// alive.
    #[inline]
    pub(crate) unsafe fn home(behaviour: NonNull<Multi>) -> RuntimeId {
        // SAFETY: live, by the caller's word.
        let link = unsafe { &behaviour.as_ref().link };
        // ORDERING: Relaxed. Written by `bind` before the behaviour was appended.
        match NonNull::new(link.load(Ordering::Relaxed)) {
            Some(bound) => RuntimeId::from_raw(bound.addr().get() as u16),
            // SAFETY: alive, by the caller's word. What has no cowns is bound.
            None => unsafe { (*Self::slots(behaviour).as_ptr()).slot.member().header() }.home(),
        }
    }

    /// Says that it runs there, whatever becomes of its first cown.
    fn bind(&mut self, home: RuntimeId) {
        let home = without_provenance_mut(usize::from(home.get()));
        // ORDERING: Relaxed. Nobody else knows the behaviour.
        self.link.store(home, Ordering::Relaxed);
    }

    /// Counts one grant. The last one makes the behaviour ready.
    ///
    /// # Safety
    /// The behaviour misses this grant. It may be gone after this call.
    #[inline(always)]
    pub(crate) unsafe fn resolve_one(behaviour: NonNull<Multi>, ready: &mut impl Ready) {
        // SAFETY: by the caller's word. If it was the last grant the behaviour is the caller's to pass on, and it has all
        // its cowns now, so nobody moves the first one. (That it was moved by a behaviour before this one was known to
        // whoever granted it, and is acquired with the count.)
        unsafe {
            if Self::count_grant(behaviour) {
                ready.ready(behaviour.cast(), Self::home(behaviour));
            }
        }
    }

    /// Counts one grant; says whether it was the last: then the behaviour is ready, and the caller's to pass on. If not it
    /// may be gone.
    ///
    /// # Safety
    /// The behaviour misses this grant.
    #[inline(always)]
    pub(super) unsafe fn count_grant(behaviour: NonNull<Multi>) -> bool {
        // SAFETY: it misses a grant, and so has not run.
        let multi = unsafe { behaviour.as_ref() };
        // ORDERING: AcqRel. Release passes on what this thread knows of the granted cown's state
        // (acquired with the token); the last one acquires that of all others, and runs. It need
        // not write: nobody else looks at the count any more.
        multi.missing.load(Ordering::Acquire) == 1
            || multi.missing.fetch_sub(1, Ordering::AcqRel) == 1
    }

    /// Whether it surely runs on this runtime. It may if not.
    ///
    /// # Safety
    /// The behaviour is ready, has cowns, and the scheduler has not got it yet.
    #[inline(always)]
    pub(super) unsafe fn is_plainly_at(behaviour: NonNull<Multi>, home: RuntimeId) -> bool {
        // SAFETY: it is live, and holds its cowns.
        let (link, first) = unsafe {
            let first = &(*Self::slots(behaviour).as_ptr()).slot;
            (&behaviour.as_ref().link, first.member().header())
        };
        // ORDERING: Relaxed, as in `home`.
        link.load(Ordering::Relaxed).is_null() && first.flags.is_plain(home, Flags::GROUPED)
    }

    /// The first request.
    #[inline]
    pub(super) fn slots(behaviour: NonNull<Multi>) -> NonNull<MultiSlot> {
        // SAFETY: the slots lie straight behind the header, in the same block.
        unsafe { behaviour.add(1) }.cast()
    }

    /// Its requests' slots.
    ///
    /// # Safety
    /// The behaviour is live for `'a`.
    pub(crate) unsafe fn requests<'a>(
        behaviour: NonNull<Multi>,
    ) -> impl Iterator<Item = &'a Slot> + Clone {
        let first = Self::slots(behaviour);
        // SAFETY: so many slots lie behind the header.
        (0..Self::len(behaviour)).map(move |index| unsafe { &(*first.add(index).as_ptr()).slot })
    }

    /// Asks for those that stand behind this behaviour: their counts are written at its end.
    ///
    /// # Safety
    /// The behaviour is live.
    #[inline]
    pub(super) unsafe fn prefetch_successors(behaviour: NonNull<Multi>) {
        // SAFETY: by the caller's word.
        for slot in unsafe { Self::requests(behaviour) } {
            // ORDERING: Relaxed. Only a hint is made of it.
            prefetch::for_writing(slot.next.load(Ordering::Relaxed));
        }
    }

    fn len(behaviour: NonNull<Multi>) -> usize {
        // SAFETY: constant since the node was made.
        unsafe { (*behaviour.as_ptr()).len as usize }
    }

    /// Runs over the members of a behaviour.
    ///
    /// # Safety
    /// The behaviour is live for `'a`.
    #[inline]
    unsafe fn cursor<'a>(behaviour: NonNull<Multi>) -> Cursor<'a> {
        // SAFETY: the member of the first slot lies this far into it; the others follow at the
        // distance of a `MultiSlot`.
        let first = unsafe { &(*Self::slots(behaviour).as_ptr()).slot }.member_ptr();
        // SAFETY: live, by the caller's word.
        unsafe { Cursor::new(first, size_of::<MultiSlot>(), Self::len(behaviour)) }
    }
}

pub(super) unsafe fn link(task: TaskPtr) -> NonNull<AtomicPtr<()>> {
    // SAFETY: the task is a live `Multi`.
    NonNull::from(unsafe { &task.cast::<Multi>().as_ref().link })
}

/// Where a block of `len` requests has its body, and its whole layout.
fn layout_of<B>(len: usize) -> (Layout, usize) {
    let slots = Layout::array::<MultiSlot>(len).expect("as many slots as a set has handles");
    let (front, _) = Layout::new::<Multi>().extend(slots).expect("far below isize::MAX");
    let (whole, offset) = front.extend(Layout::new::<B>()).expect("a body fits into memory");
    (whole.pad_to_align(), offset)
}

/// The block of a behaviour that is being made. Foreign handles are asked for their cowns meanwhile, and
/// may panic.
struct Block {
    start: NonNull<u8>,
    layout: Layout,
}

impl Block {
    #[inline]
    fn new(layout: Layout) -> Self {
        Self { start: pool::alloc(layout), layout }
    }
}

impl Drop for Block {
    #[cold]
    fn drop(&mut self) {
        // SAFETY: ours alone, and nothing in it has a destructor yet.
        unsafe { pool::dealloc(self.start, self.layout) };
    }
}

/// A behaviour whose requests are not appended yet.
pub(crate) struct Prepared<S: CownSet, F, C> {
    node: NonNull<Multi>,
    /// All its cowns are members of one group.
    in_group: bool,
    body: std::marker::PhantomData<Body<S, F, C>>,
}

impl<S, F, C> Prepared<S, F, C>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    const VTABLE: TaskVTable = TaskVTable::new(Self::run, link, type_name::<F>);
    const HALVES: InGroup = InGroup { body: Self::run_body, dispose: Self::dispose };
    const VTABLE_IN_GROUP: TaskVTable =
        TaskVTable::new(Self::run_in_group, link, type_name::<F>).in_group(Self::HALVES);

    /// Makes the behaviour, which is yet to be [settled](Self::settle), and passes its requests on in
    /// the order of the members, of which there are [`len`](count_members).
    ///
    /// # Panics
    /// If a foreign handle does: the closure and the completion are dropped then.
    pub(crate) fn new(
        set: &S,
        len: u32,
        closure: F,
        completion: C,
        requests: &mut dyn FnMut(Request),
    ) -> Self {
        let (layout, body_offset) = layout_of::<Body<S, F, C>>(len as usize);
        let block = Block::new(layout);
        let node = block.start.cast::<Multi>();
        // SAFETY: the block is fresh, and has room for the front.
        unsafe { node.write(Multi::new(&Self::VTABLE, len)) };
        let (mut at, mut left) = (Multi::slots(node), len);
        let mut grouped = Grouped::default();
        set.visit(&mut Visitor(&mut |member| {
            assert!(left > 0, "a cown set has more members than it said");
            // SAFETY: one of the `len` slots that the block was made for, not written before. The
            // set's handles keep the cowns alive.
            unsafe {
                at.write(MultiSlot::new(member, node));
                if member.header().is_grouped() {
                    grouped.push(at.cast());
                } else {
                    requests(Request::new(at.cast(), member.header_ptr()));
                }
                at = at.add(1);
            }
            left -= 1;
        }));
        assert!(left == 0, "a cown set has fewer members than it said");
        let body = Body::<S, F, C>::new(set.shape(), closure, completion);
        // SAFETY: the node's slots are written, and the set keeps the cowns alive.
        let queue = |slot: &Slot| unsafe { slot.member().queue_ptr() }.addr().get();
        // SAFETY: as above.
        body.spawned.stands_in(node.addr().get(), unsafe { Multi::requests(node) }.map(queue));
        // SAFETY: the block has room for the body.
        unsafe { node.byte_add(body_offset).cast::<Body<S, F, C>>().write(body) };
        std::mem::forget(block);
        // SAFETY: prepared above, and not appended; the set keeps its cowns alive.
        let in_group = !grouped.is_empty() && unsafe { Self::join(node, grouped, requests) };
        Self { node, in_group, body: std::marker::PhantomData }
    }

    /// Decides what the place where the behaviour runs depends on. `is_distinct` says whether its cowns surely are; if not, they
    /// are compared here.
    ///
    /// # Errors
    /// Its cowns cannot be held by one behaviour: it is only to be dismantled.
    #[inline]
    pub(crate) fn settle(&mut self, is_distinct: impl FnOnce() -> bool) -> Result<(), Refusal> {
        // SAFETY: the node is ours, and its cowns alive by the caller's set.
        let members = unsafe { Multi::requests(self.node) }.map(|slot| slot.member());
        let bound = spawn::bound_among(members.clone()).map_err(Refusal::PinnedApart)?;
        if !is_distinct() {
            let cowns: SmallVec<[_; 8]> = members.map(Member::header_ptr).collect();
            if let Some(overlap) = spawn::overlap_among(&cowns) {
                return Err(Refusal::Overlap(overlap));
            }
        }
        if let Some(home) = bound {
            // SAFETY: the node is ours.
            unsafe { self.node.as_mut() }.bind(home);
        }
        Ok(())
    }

    /// Leaves one request for each group, and passes it on. Returns whether nothing else is left.
    ///
    /// # Safety
    /// The behaviour is fresh, its slots are written, and its cowns alive.
    #[cold]
    unsafe fn join(
        node: NonNull<Multi>,
        grouped: Grouped,
        requests: &mut dyn FnMut(Request),
    ) -> bool {
        let mut queue = |leader, slot| requests(Request::new(slot, leader));
        // SAFETY: by the caller's word; the node is ours alone.
        unsafe {
            let joined = grouped.join(&mut queue);
            let multi = &mut *node.as_ptr();
            // As many as the behaviour has members, at most.
            let queued = multi.len - joined.count as u32;
            // ORDERING: Relaxed. Published when it is appended.
            multi.missing.store(queued, Ordering::Relaxed);
            let first = Self::queued_slot(node);
            let in_group = queued == 1 && first.as_ref().member().header().is_grouped();
            if in_group {
                multi.task.vtable = &Self::VTABLE_IN_GROUP;
            }
            in_group
        }
    }

    /// The first request that stands in a queue.
    ///
    /// # Safety
    /// The behaviour is live, and has one.
    unsafe fn queued_slot(node: NonNull<Multi>) -> NonNull<Slot> {
        // SAFETY: by the caller's word.
        let mut slots = unsafe { Multi::requests(node) };
        NonNull::from(
            slots.find(|slot| !slot.is_joined()).expect("one request of each group is left"),
        )
    }

    /// The leader, if the behaviour is on members of one group and nothing else.
    pub(crate) fn group(&self) -> Option<NonNull<CownHeader>> {
        // SAFETY: the node is ours, and its cowns are alive.
        self.in_group.then(|| unsafe { Self::queued_slot(self.node).as_ref().member().queue_ptr() })
    }

    /// Spawns such a behaviour.
    ///
    /// # Safety
    /// The leader is its group's, and the members are alive.
    pub(crate) unsafe fn spawn_in_group(self, leader: NonNull<CownHeader>) {
        // SAFETY: by the caller's word; the node is ours, and given away.
        unsafe {
            let slot = Self::queued_slot(self.node);
            if group::spawn::goes_into_ring(leader) {
                group::spawn::push(leader, slot.as_ref().member(), self.node, Self::run_in_ring);
            } else {
                group::spawn::spawn_request(leader, slot);
            }
        }
    }

    /// Runs the body of a behaviour that holds its cowns.
    ///
    /// # Safety
    /// It does, and is run once.
    unsafe fn execute(node: NonNull<Multi>, context: &RunContext) -> Ended<C> {
        let (_, offset) = layout_of::<Body<S, F, C>>(Multi::len(node));
        // SAFETY: by the caller's word; the body lies there.
        unsafe {
            let body = take(node.byte_add(offset).cast::<ManuallyDrop<Body<S, F, C>>>().as_mut());
            body.execute(Multi::cursor(node), context)
        }
    }

    /// # Safety
    /// As for every [`InGroup::body`].
    unsafe fn run_body(task: TaskPtr, context: &RunContext) {
        // SAFETY: by the caller's word.
        unsafe { Self::execute(task.cast(), context) }.deliver();
    }

    /// Runs a behaviour on members of one group, and what it leaves in the ring.
    ///
    /// # Safety
    /// As for `run`.
    unsafe fn run_in_group(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
        let node = task.cast::<Multi>();
        // SAFETY: the request of a task that is ready is the head of the leader's queue.
        unsafe {
            let slot = Self::queued_slot(node);
            let leader = slot.as_ref().member().queue_ptr();
            let anchor = Anchor::new(slot, task, Self::dispose);
            turn::run(leader, anchor, context, || Self::execute(node, context))
        }
    }

    /// # Safety
    /// The task is of this type, has run, and its requests have left their queues.
    unsafe fn dispose(task: TaskPtr) {
        let (layout, _) = layout_of::<Body<S, F, C>>(Multi::len(task.cast()));
        // SAFETY: the block is ours alone, and its body was taken.
        unsafe { pool::dealloc(task.cast(), layout) };
    }

    /// Runs a behaviour from the ring.
    ///
    /// # Safety
    /// As for every [`RunEntry`](group::ring::RunEntry); the entry was pushed with such a node.
    unsafe fn run_in_ring(entry: NonNull<Entry>, context: &RunContext) {
        // SAFETY: taken before anything can be pushed; the group is held, and so all members.
        let ended = unsafe {
            let (_, node) = Entry::take::<NonNull<Multi>>(entry);
            let ended = Self::execute(node, context);
            Self::dispose(node.cast());
            ended
        };
        ended.deliver();
    }

    /// Drops the handles that the set gave; for a behaviour that is then dismantled.
    pub(crate) fn abandon(&self) {
        let (_, offset) = layout_of::<Body<S, F, C>>(Multi::len(self.node));
        // SAFETY: nothing is appended, so the node, with its members and its body, is ours alone.
        drop_quietly(|| unsafe {
            let body = self.node.byte_add(offset).cast::<Body<S, F, C>>();
            S::abandon(body.as_ref().shape, &mut Multi::cursor(self.node));
        });
    }

    /// Undoes [`Prepared::new`].
    pub(crate) fn dismantle(self) -> (F, C) {
        let (layout, offset) = layout_of::<Body<S, F, C>>(Multi::len(self.node));
        // SAFETY: nothing is appended, so the node is ours alone; it was made with this layout.
        let body = unsafe {
            let body = self.node.byte_add(offset).cast::<Body<S, F, C>>().read();
            pool::dealloc(self.node.cast(), layout);
            body
        };
        (body.closure, body.completion)
    }

    /// The reverse of [`Prepared::into_node`].
    ///
    /// # Safety
    /// The node is of these types, and not appended. What is made of it is only to be undone.
    pub(crate) unsafe fn from_node(node: NonNull<Multi>) -> Self {
        Self { node, in_group: false, body: std::marker::PhantomData }
    }

    /// The behaviour's front.
    pub(crate) fn into_node(self) -> NonNull<Multi> {
        self.node
    }

    /// # Safety
    /// The task is ready, of this type, and run once.
    unsafe fn run(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
        let node = task.cast::<Multi>();
        let len = Multi::len(node);
        // SAFETY: the task is live.
        unsafe { Multi::prefetch_successors(node) };
        let mut successor = Successor::new(context.home);
        // SAFETY: a ready behaviour holds all its cowns. Its exclusive requests stay in their
        // queues, where a successor may write to `next`, until they are released one by one; after
        // the last the block is ours alone.
        let ended = unsafe {
            let ended = Self::execute(node, context);
            let mut deferring = Deferring::new(&mut successor);
            for index in 0..len {
                release(Multi::slots(node).add(index).cast(), &mut deferring);
            }
            deferring.finish();
            Self::dispose(task);
            ended
        };
        ended.deliver();
        successor.take()
    }
}
