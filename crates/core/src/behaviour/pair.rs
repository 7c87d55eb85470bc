//! Behaviours on two cowns, both held exclusively, neither pinned nor in a group: a [`Multi`] whose length is known when
//! it is compiled, so that nothing is counted, collected or sorted. To everybody else it is a `Multi`.

use std::alloc::Layout;
use std::any::type_name;
use std::mem::{ManuallyDrop, size_of};
use std::ptr::NonNull;

use coact_sync::{pool, prefetch};

use super::append::append_two;
use super::body::{Body, Completion, take};
use super::claim;
use super::multi::{Multi, MultiSlot, link};
use super::release::release_exclusive;
use super::slot::Slot;
use super::task::{RunContext, TaskPtr, TaskVTable};
use crate::cown::access::Cursor;
use crate::cown::header::{Flags, Member};
use crate::cown::set::{CownSet, sealed::Visitor};
use crate::sched::{Deferring, Successor, schedule};

/// One block: as that of any behaviour on two cowns.
#[repr(C)]
struct Pair<B> {
    front: Multi,
    slots: [MultiSlot; 2],
    body: ManuallyDrop<B>,
}

impl<B> Pair<B> {
    const LAYOUT: Layout = Layout::new::<Self>();

    /// Its requests' slots.
    #[inline(always)]
    fn slots(node: NonNull<Self>) -> [NonNull<Slot>; 2] {
        // SAFETY: the fields lie inside of the node's block, and a multi slot begins with its slot.
        [0, 1]
            .map(|at| unsafe { NonNull::new_unchecked(&raw mut (*node.as_ptr()).slots[at]) }.cast())
    }
}

/// The two cowns of a set that always names two, if a pair can be made of them.
#[inline]
pub(super) fn members<S: CownSet>(set: &S) -> Option<[Member; 2]> {
    if S::EXCLUSIVE != Some(2) {
        return None;
    }
    let (mut found, mut len) = ([None; 2], 0);
    set.visit(&mut Visitor(&mut |member: Member| {
        prefetch::for_writing(member.header_ptr().as_ptr());
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
    const VTABLE: TaskVTable =
        TaskVTable { run: Self::run, link, in_group: None, name: type_name::<F>, attended: None };

    /// Spawns a behaviour on two cowns.
    ///
    /// # Safety
    /// They are the [members](members) of a set of this type, which keeps them alive.
    #[inline]
    pub(super) unsafe fn spawn(members: [Member; 2], body: Body<S, F, C>) {
        let node = pool::alloc(Pair::<Body<S, F, C>>::LAYOUT).cast::<Pair<Body<S, F, C>>>();
        let [a, b] = members.map(|member| MultiSlot::new(member, node.cast()));
        let queue = |member: Member| member.header_ptr().addr().get();
        body.spawned.stands_in(node.addr().get(), members.into_iter().map(queue));
        let front = Multi::new(&Self::VTABLE, 2);
        // SAFETY: the block is fresh, and has the layout of the node. The cowns are alive and distinct, and in no
        // group.
        unsafe {
            node.write(Pair { front, slots: [a, b], body: ManuallyDrop::new(body) });
            let slots = Pair::slots(node);
            if claim::take_all(slots.iter().map(|slot| slot.as_ref())) {
                schedule(node.cast(), Multi::home(node.cast()));
            } else {
                append_two(slots, &mut schedule);
            }
        }
    }

    /// # Safety
    /// The task is ready, of this type, and run once.
    unsafe fn run(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
        let node = task.cast::<Pair<Body<S, F, C>>>();
        let [a, b] = Pair::slots(node);
        let mut successor = Successor::new(context.home);
        // SAFETY: a ready behaviour holds its cowns. Its requests stay in their queues, where a successor may write
        // to `next`, until they are released one by one; after the last the block is ours alone.
        let ended = unsafe {
            Multi::prefetch_successors(node.cast());
            let body = take(&mut (*node.as_ptr()).body);
            // The members lie in the slots, one slot's size apart.
            let members = Cursor::new(a.as_ref().member_ptr(), size_of::<MultiSlot>(), 2);
            let ended = body.execute(members, context);
            let mut deferring = Deferring::new(&mut successor);
            release_exclusive(a, &mut deferring);
            release_exclusive(b, &mut deferring);
            deferring.finish();
            pool::dealloc(node.cast(), Pair::<Body<S, F, C>>::LAYOUT);
            ended
        };
        ended.deliver();
        successor.take()
    }
}
