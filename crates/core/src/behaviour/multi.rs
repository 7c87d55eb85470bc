//! Behaviours on any number of cowns, with any mix of access.
//!
//! One block from the pool: a [`Multi`] (24 bytes), one [`MultiSlot`] (24 bytes) per cown in the
//! order in which the user named them, then the body.

use crate::queue::enqueue_request::spawn_request;
use crate::queue::live_cown::LiveCown;
use crate::queue::live_slot::LiveSlot;
use crate::queue::single_block::take;
use std::alloc::Layout;
use std::any::type_name;
use std::mem::{ManuallyDrop, size_of};
use std::ptr::NonNull;

use coact_sync::pool;
use smallvec::SmallVec;

use super::refusal::Refusal;
use super::spawn_checks;
use crate::body::{BehaviourName, Body, BodyOutcome, Completion};
use crate::cown::member_cursor::MemberCursor;
use crate::cown::set::{CownSet, sealed::MemberVisitor};
use crate::group;
use crate::group::joined_requests::GroupedRequests;
use crate::group::run_ring;
use crate::panic::drop_quietly;
use crate::queue::append::StepEntry;
use crate::queue::group_header::HoldingRequest;
use crate::queue::group_ring::RingEntry;
use crate::queue::multi_block::{LiveMulti, Multi, MultiSlot, link};
use crate::queue::release::release;
use crate::queue::requested_cown::RequestedCown;
use crate::sched::{DeferredReady, Successor};
use crate::task::{GroupTaskFns, RunContext, TaskPtr, TaskVTable};

/// Iterates over the members of a behaviour.
///
/// # Safety
/// The behaviour is live for `'a`.
#[inline]
pub(super) unsafe fn cursor<'a>(behaviour: LiveMulti) -> MemberCursor<'a> {
    // SAFETY: the behaviour is live. The member of the first slot is at this offset in it; the
    // others follow at the distance of a `MultiSlot`.
    let first = unsafe { behaviour.first() }.member_ptr();
    // SAFETY: the behaviour is live for `'a` and has `len` members.
    unsafe { MemberCursor::new(first, size_of::<MultiSlot>(), behaviour.len()) }
}

/// The layout of a block of `len` requests, and the offset of its body.
pub(super) fn layout_of<B>(len: usize) -> (Layout, usize) {
    let slots = Layout::array::<MultiSlot>(len).expect("as many slots as a set has handles");
    let (front, _) = Layout::new::<Multi>().extend(slots).expect("far below isize::MAX");
    let (whole, offset) = front.extend(Layout::new::<B>()).expect("a body fits into memory");
    (whole.pad_to_align(), offset)
}

/// A behaviour whose requests are not appended yet.
pub(crate) struct PreparedBehaviour<S: CownSet, F, C> {
    node: LiveMulti,
    /// Whether all its cowns are members of one group.
    in_group: bool,
    body: std::marker::PhantomData<Body<S, F, C>>,
}

/// A behaviour of any type that was made, and is in no queue.
pub(super) struct UnqueuedBehaviour {
    pub(super) node: LiveMulti,
    /// Drops its closure and frees its block.
    pub(super) discard: unsafe fn(LiveMulti),
}

impl<S, F, C> PreparedBehaviour<S, F, C>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    const VTABLE: TaskVTable =
        TaskVTable::new(Self::run, link, type_name::<F>).with_own_name(Self::OWN_NAME);
    const HALVES: GroupTaskFns = GroupTaskFns { body: Self::run_body, dispose: Self::dispose };
    const VTABLE_IN_GROUP: TaskVTable = TaskVTable::new(Self::run_in_group, link, type_name::<F>)
        .with_own_name(Self::OWN_NAME)
        .in_group(Self::HALVES);
    const OWN_NAME: Option<unsafe fn(TaskPtr) -> BehaviourName> =
        if C::MAY_RENAME { Some(Self::own_name) } else { None };

    /// Creates the behaviour, which must then be [checked and bound](Self::check_and_bind), and
    /// passes its requests on in the order of the members, of which there are
    /// [`len`](spawn_checks::count_members).
    pub(crate) fn new(
        set: &S,
        len: u32,
        closure: F,
        completion: C,
        requests: &mut dyn FnMut(StepEntry),
    ) -> Self {
        let (layout, body_offset) = layout_of::<Body<S, F, C>>(len as usize);
        let block = pool::alloc(layout).cast::<Multi>();
        // SAFETY: the block was just allocated, and has room for the front.
        let node = unsafe {
            block.write(Multi::new(&Self::VTABLE, len));
            LiveMulti::new(block)
        };
        let (mut at, mut left) = (node.first_slot(), len);
        let mut grouped = GroupedRequests::default();
        set.visit(&mut MemberVisitor(&mut |member| {
            assert!(left > 0, "a cown set has more members than it counted");
            // SAFETY: this is one of the `len` slots of the block, not written before. The set's
            // handles keep the cowns alive.
            unsafe {
                at.write(MultiSlot::new(member, block));
                if member.header().is_grouped() {
                    grouped.push(LiveSlot::new(at.cast()));
                } else {
                    requests(StepEntry::new(LiveSlot::new(at.cast()), member.live_cown()));
                }
                at = at.add(1);
            }
            left -= 1;
        }));
        assert!(left == 0, "a cown set has fewer members than it counted");
        let body = Body::<S, F, C>::new(set.shape(), closure, completion);
        body.spawned.stands_in(node.ptr().addr().get(), queues_of(node));
        // SAFETY: the block has room for the body.
        unsafe { node.ptr().byte_add(body_offset).cast::<Body<S, F, C>>().write(body) };
        // SAFETY: the behaviour was prepared above, and is not appended; the set keeps its cowns
        // alive.
        let in_group = !grouped.is_empty() && unsafe { Self::join(node, grouped, requests) };
        Self { node, in_group, body: std::marker::PhantomData }
    }

    /// Checks that a behaviour can hold the cowns, and binds it to a runtime if one of them is
    /// bound. `is_distinct` returns whether its cowns are certainly
    /// distinct; if not, they are compared here.
    ///
    /// # Errors
    /// Returns why no behaviour can hold these cowns: then it can only be dismantled.
    #[inline]
    pub(crate) fn check_and_bind(
        &mut self,
        is_distinct: impl FnOnce() -> bool,
    ) -> Result<(), Refusal> {
        let members = self.node.requests().map(|slot| slot.member());
        let bound = spawn_checks::bound_among(members.clone()).map_err(Refusal::PinnedApart)?;
        if !is_distinct() {
            let cowns: SmallVec<[_; 8]> = members.map(RequestedCown::live_cown).collect();
            if let Some(overlap) = spawn_checks::overlap_among(&cowns) {
                return Err(Refusal::Overlap(overlap));
            }
        }
        if let Some(home) = bound {
            // SAFETY: this thread owns the node.
            unsafe { self.node.ptr().as_mut() }.bind(home);
        }
        Ok(())
    }

    /// Keeps one request per group, and passes it on. Returns whether there are no other requests.
    ///
    /// # Safety
    /// The behaviour is new, its slots are initialised, and its cowns are alive.
    #[cold]
    unsafe fn join(
        node: LiveMulti,
        grouped: GroupedRequests,
        requests: &mut dyn FnMut(StepEntry),
    ) -> bool {
        let mut queue = |leader, slot| requests(StepEntry::new(slot, leader));
        // SAFETY: the slots are initialised, the cowns alive, and this thread owns the node.
        unsafe {
            let joined = grouped.join(&mut queue);
            let queued = (*node.ptr().as_ptr()).stand_for(joined.count);
            let first = Self::queued_slot(node);
            let in_group = queued == 1 && first.slot().member().header().is_grouped();
            if in_group {
                (*node.ptr().as_ptr()).set_vtable(&Self::VTABLE_IN_GROUP);
            }
            in_group
        }
    }

    /// Returns the first request that is in a queue.
    fn queued_slot(node: LiveMulti) -> LiveSlot {
        let is_queued = |slot: &LiveSlot| !slot.slot().is_joined();
        node.slots().find(is_queued).expect("one request of each group is left")
    }

    /// Returns the leader if the behaviour is on members of one group and nothing else.
    pub(crate) fn group(&self) -> Option<LiveCown> {
        self.in_group.then(|| Self::queued_slot(self.node).slot().member().queue())
    }

    /// Spawns such a behaviour.
    ///
    /// # Safety
    /// The leader is that of its group, and the members are alive.
    pub(crate) unsafe fn spawn_in_group(self, leader: LiveCown) {
        // SAFETY: this thread owns the node and gives it away; the members, and so the leader, are
        // alive.
        unsafe {
            let slot = Self::queued_slot(self.node);
            if group::spawn::goes_into_ring(leader) {
                group::spawn::push(leader, slot.slot().member(), self.node, Self::run_in_ring);
            } else {
                spawn_request(leader, slot);
            }
        }
    }

    /// Runs the body of a behaviour that holds its cowns.
    ///
    /// # Safety
    /// It holds them, and is run once.
    unsafe fn execute(node: LiveMulti, context: &RunContext) -> BodyOutcome<C> {
        let (_, offset) = layout_of::<Body<S, F, C>>(node.len());
        // SAFETY: the behaviour holds its cowns, and its body, at this offset, is taken once.
        unsafe {
            let body =
                take(node.ptr().byte_add(offset).cast::<ManuallyDrop<Body<S, F, C>>>().as_mut());
            body.execute(cursor(node), context)
        }
    }

    /// # Safety
    /// The task is ready, of this type, and has not run.
    unsafe fn own_name(task: TaskPtr) -> BehaviourName {
        // SAFETY: the task has not run, so it is live, and its body is there.
        unsafe {
            let (_, offset) = layout_of::<Body<S, F, C>>(LiveMulti::new(task.cast()).len());
            task.byte_add(offset).cast::<Body<S, F, C>>().as_ref().name()
        }
    }

    /// # Safety
    /// See [`GroupTaskFns::body`].
    unsafe fn run_body(task: TaskPtr, context: &RunContext) {
        // SAFETY: the behaviour holds its group, and is run once.
        unsafe { Self::execute(LiveMulti::new(task.cast()), context) }.deliver();
    }

    /// Runs a behaviour on members of one group, and then the ring.
    ///
    /// # Safety
    /// See `run`.
    unsafe fn run_in_group(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
        // SAFETY: the task is ready, so it holds the group, and its request is the head of the
        // leader's queue.
        unsafe {
            let node = LiveMulti::new(task.cast());
            let slot = Self::queued_slot(node);
            let leader = slot.slot().member().queue();
            let holding = HoldingRequest::new(slot, task, Self::dispose);
            run_ring::run(leader, holding, context, || Self::execute(node, context))
        }
    }

    /// # Safety
    /// The task is of this type, has run, and its requests have left their queues.
    unsafe fn dispose(task: TaskPtr) {
        // SAFETY: the task is live until the end of this call.
        let (layout, _) = layout_of::<Body<S, F, C>>(unsafe { LiveMulti::new(task.cast()) }.len());
        // SAFETY: the task has left its queues, so this thread owns the block, and its body was
        // taken.
        unsafe { pool::dealloc(task.cast(), layout) };
    }

    /// Runs a behaviour from the ring.
    ///
    /// # Safety
    /// See `RunRingEntry`; the entry was pushed with such a node.
    unsafe fn run_in_ring(entry: NonNull<RingEntry>, context: &RunContext) {
        // SAFETY: the entry is taken before anything can be pushed; the group is held, and so are
        // all members.
        let ended = unsafe {
            let (_, node) = RingEntry::take::<LiveMulti>(entry);
            let ended = Self::execute(node, context);
            Self::dispose(node.task());
            ended
        };
        ended.deliver();
    }

    /// Drops the handles that the set gave, for a behaviour that is then dismantled.
    pub(crate) fn abandon(&self) {
        let (_, offset) = layout_of::<Body<S, F, C>>(self.node.len());
        // SAFETY: nothing is appended, so this thread owns the node with its members and its body.
        drop_quietly(|| unsafe {
            let body = self.node.ptr().byte_add(offset).cast::<Body<S, F, C>>();
            S::abandon(body.as_ref().shape, &mut cursor(self.node));
        });
    }

    /// Undoes [`PreparedBehaviour::new`].
    pub(crate) fn dismantle(self) -> (F, C) {
        let (layout, offset) = layout_of::<Body<S, F, C>>(self.node.len());
        // SAFETY: nothing is appended, so this thread owns the node, which was allocated with this
        // layout.
        let body = unsafe {
            let body = self.node.ptr().byte_add(offset).cast::<Body<S, F, C>>().read();
            pool::dealloc(self.node.ptr().cast(), layout);
            body
        };
        (body.closure, body.completion)
    }

    /// Undoes [`PreparedBehaviour::into_node`].
    ///
    /// # Safety
    /// The node is of these types, and not appended. The result may only be undone.
    pub(crate) unsafe fn from_node(node: LiveMulti) -> Self {
        Self { node, in_group: false, body: std::marker::PhantomData }
    }

    /// Returns the behaviour's front.
    pub(crate) fn into_node(self) -> LiveMulti {
        self.node
    }

    /// # Safety
    /// The task is ready, of this type, and run once.
    unsafe fn run(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
        // SAFETY: the task is ready, and its block freed at the end of this.
        let node = unsafe { LiveMulti::new(task.cast()) };
        node.prefetch_successors();
        let mut successor = Successor::new(context.home);
        // SAFETY: a ready behaviour holds all its cowns. Its exclusive requests stay in their
        // queues, where a successor may write `next`, until they are released one by one; after the
        // last this thread owns the block.
        let ended = unsafe {
            let ended = Self::execute(node, context);
            let mut deferring = DeferredReady::new(&mut successor);
            for slot in node.slots() {
                release(slot, &mut deferring);
            }
            deferring.finish();
            Self::dispose(task);
            ended
        };
        ended.deliver();
        successor.take()
    }
}

/// The queues of a behaviour, as the simulation knows them: see [`single`](super::single).
fn queues_of(node: LiveMulti) -> impl Iterator<Item = usize> {
    let requests = node.requests();
    requests.map(|slot| slot.member().queue().address())
}
