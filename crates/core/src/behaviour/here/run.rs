//! How cowns are claimed for an inline behaviour, and how that runs.

use std::any::type_name;
use std::mem::{self, size_of};
use std::ptr::null;

use smallvec::SmallVec;

use super::one_or_two::{OneOrTwo, are_plain, is_plain};
use super::release::{release_all, release_one, release_slowly, release_two};
use super::where_to_run::on_this_stack;
use crate::behaviour::spawn_checks;
use crate::body::{
    BehaviourName, Body, BodyOutcome, Completion, NamedCompletion, PanickedBody, call_site,
};
use crate::cown::member_cursor::MemberCursor;
use crate::cown::set::{CownSet, sealed::MemberVisitor};
use crate::current;
use crate::group::joined_requests::GroupedRequests;
use crate::path_coverage::FastPath;
use crate::queue::claim;
use crate::queue::live_slot::LiveSlot;
use crate::queue::requested_cown::RequestedCown;
use crate::queue::slot::Slot;
use crate::runtime_ids::RuntimeId;
use crate::sched::ReadySink;
use crate::task::{RunContext, RunMode};

/// Returns the set, the closure and the completion if some cown is not free.
#[inline]
pub(super) fn claim_and_run<S, F, C>(
    set: S,
    home: RuntimeId,
    closure: F,
    completion: C,
    ready: &mut impl ReadySink,
) -> Option<(S, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    let mut slots = SmallVec::<[Slot; 8]>::new();
    set.visit(&mut MemberVisitor(&mut |member: RequestedCown| {
        slots.push(Slot::new(member.in_multi()))
    }));
    // From here on the slots do not move: they are in queues.
    // SAFETY: the set's handles keep the cowns alive, and the slots stay until they are released
    // below. (A cown that is named twice is not free the second time.)
    if !unsafe { take_all(&slots) } {
        return Some((set, closure, completion));
    }
    // A cown may have moved before it was taken.
    if spawn_checks::place_among(members_of(&slots)) != Ok(home) {
        // SAFETY: the cowns were taken, and not given back yet.
        unsafe { release_slowly(&slots, ready) };
        return Some((set, closure, completion));
    }
    let body = Body::<S, F, C>::new(set.shape(), closure, completion);
    set.give();
    // SAFETY: all cowns of the set are held, in its order.
    let ended =
        unsafe { execute_here(body, cursor_over(&slots), &RunContext::new(home, RunMode::Run)) };
    // SAFETY: the cowns are held up to here.
    unsafe { release_all(&slots, ready) };
    ended.deliver();
    None
}

/// [`claim_and_run`], whose code closures share that have the same set and completion.
#[cold]
#[inline(never)]
pub(super) fn claim_and_run_any<S, F, C>(
    set: S,
    home: RuntimeId,
    closure: F,
    completion: C,
    ready: &mut impl ReadySink,
) -> Option<(S, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    let mut closure = Some(closure);
    let mut use_it = |access: Option<S::Access<'_>>| {
        let closure = closure.take()?;
        access.map(closure)
    };
    let lent = lend::<S, C::Value>(LentClosure(&mut use_it));
    // The completion may have a name already.
    let name = completion.name().unwrap_or(type_name::<F>);
    let completion = NamedCompletion { completion, name };
    let (set, lent, NamedCompletion { completion, .. }) =
        claim_and_run(set, home, lent, completion, ready)?;
    mem::forget(lent);
    Some((set, closure.expect("it has not been called"), completion))
}

/// Calls a closure of any type with the access, or drops it, for none.
type UseClosure<'c, S, V> =
    &'c mut (dyn for<'a> FnMut(Option<<S as CownSet>::Access<'a>>) -> Option<V> + Send);

/// A closure that stays with its owner. If this is dropped, so is the closure: a behaviour that is
/// skipped drops it in its place, before it releases its cowns.
struct LentClosure<'c, S: CownSet + 'c, V>(UseClosure<'c, S, V>);

impl<S: CownSet, V> Drop for LentClosure<'_, S, V> {
    fn drop(&mut self) {
        (self.0)(None);
    }
}

/// Makes a closure of it, whose type is the same for all.
fn lend<S: CownSet, V>(
    lent: LentClosure<'_, S, V>,
) -> impl for<'a> FnOnce(S::Access<'a>) -> V + Send {
    move |access| (lent.0)(Some(access)).expect("it is called once")
}

/// Like [`claim_and_run`], on one or two cowns that [looked plain](OneOrTwo::are_plain) in this
/// runtime. `BY_WORKER` says that the thread is a worker of it.
///
/// # Safety
/// The members are [those of the set](OneOrTwo::of), whose handles keep them alive.
#[inline(always)]
pub(super) unsafe fn run_plain<const BY_WORKER: bool, S, F, C>(
    set: S,
    members: OneOrTwo,
    home: RuntimeId,
    closure: F,
    completion: C,
    ready: &mut impl ReadySink,
) -> Option<(S, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    // SAFETY: the cowns are alive, distinct, and in no group, as those that are plain. The slots
    // stay where they are until they are released after the body, and keep the cowns alive up to
    // then. A body that is called holds its cowns: nothing has changed since `is_plain` or
    // `are_plain`, which are exact for the holder, said that it may run here.
    unsafe {
        match members {
            OneOrTwo::One(member) => {
                // An array, since `end_panicked` takes one: a request that is queued must not move.
                let slots = [Slot::new(member.in_multi())];
                let [slot] = &slots;
                let header = member.header();
                if !claim::take_one_if(slot, header, || is_plain(header, home)) {
                    return Some((set, closure, completion));
                }
                (if BY_WORKER { FastPath::HereOneOnWorker } else { FastPath::HereOne }).take();
                run_claimed::<BY_WORKER, _, _, _, _>(
                    (set, closure, completion),
                    &[member],
                    &slots,
                    home,
                    ready,
                    |ready| release_one(slot, header, ready),
                );
            }
            OneOrTwo::Two(members) => {
                // By hand and not by `map`, which would be compiled for each closure.
                let slots = [Slot::new(members[0].in_multi()), Slot::new(members[1].in_multi())];
                let [a, b] = &slots;
                let headers = [members[0].header(), members[1].header()];
                // A hint, which often saves taking the first in vain.
                if headers[1].is_in_use(true)
                    || !claim::take_two_if([a, b], headers, || are_plain(headers, home))
                {
                    return Some((set, closure, completion));
                }
                (if BY_WORKER { FastPath::HereTwoOnWorker } else { FastPath::HereTwo }).take();
                run_claimed::<BY_WORKER, _, _, _, _>(
                    (set, closure, completion),
                    &members,
                    &slots,
                    home,
                    ready,
                    |ready| release_two(&slots, headers, ready),
                );
            }
            OneOrTwo::No => return Some((set, closure, completion)),
        }
    }
    None
}

/// Runs a behaviour whose cowns are claimed, and releases them with `release`, or, if the body
/// panics, all slots.
///
/// # Safety
/// The slots hold the cowns of the set exclusively, whose members are given in its order. `release`
/// releases them.
#[inline(always)]
unsafe fn run_claimed<const BY_WORKER: bool, S, F, C, R>(
    (set, closure, completion): (S, F, C),
    members: &[RequestedCown],
    slots: &[Slot],
    home: RuntimeId,
    ready: &mut R,
    release: impl FnOnce(&mut R),
) where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
    R: ReadySink,
{
    let body = Body::<S, F, C>::new(set.shape(), closure, completion);
    set.give();
    // SAFETY: the members are those of the body's set, which are held; the slots hold them until
    // they are released.
    match unsafe { call_here::<BY_WORKER, _, _, _>(body, members, home) } {
        Ok((completion, value)) => {
            release(ready);
            BodyOutcome::Done(completion, value).deliver();
        }
        // SAFETY: the slots are where they were queued, and hold the cowns.
        Err(panicked) => unsafe { end_panicked(panicked, type_name::<F>, slots, home, ready) },
    }
}

/// Calls a body on the caller's stack. A worker enters nothing: on its thread its own runtime is
/// the current one, whatever is entered.
///
/// # Safety
/// The members are those of the body's set, which are held.
#[inline(always)]
unsafe fn call_here<const BY_WORKER: bool, S, F, C>(
    body: Body<S, F, C>,
    members: &[RequestedCown],
    home: RuntimeId,
) -> Result<(C, C::Value), PanickedBody<C>>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    // SAFETY: the members are side by side in the slice.
    let mut cursor =
        unsafe { MemberCursor::new(members.as_ptr(), size_of::<RequestedCown>(), members.len()) };
    if !BY_WORKER {
        // SAFETY: the members are held, and match the body's shape.
        return on_this_stack(home, || unsafe { body.call::<{ call_site::HERE }>(&mut cursor) });
    }
    let _nested = current::NestedBody::enter();
    // SAFETY: as above.
    unsafe { body.call::<{ call_site::HERE_ON_WORKER }>(&mut cursor) }
}

/// Handles a body that has panicked: poisons and releases its cowns, and delivers the outcome.
///
/// # Safety
/// The slots, where they were queued, hold the cowns of the body exclusively. Afterwards they are
/// in no queue.
#[cold]
#[inline(never)]
unsafe fn end_panicked<C: Completion>(
    panicked: PanickedBody<C>,
    closure: BehaviourName,
    slots: &[Slot],
    home: RuntimeId,
    ready: &mut impl ReadySink,
) {
    // SAFETY: the slots hold the cowns of the body up to `release_all`.
    let ended = unsafe {
        let ended = on_this_stack(home, || panicked.tell(closure, &cursor_over(slots), home));
        release_all(slots, ready);
        ended
    };
    ended.deliver();
}

/// Runs a body on the caller's stack.
///
/// # Safety
/// See [`Body::execute`].
#[inline(never)]
unsafe fn execute_here<S, F, C>(
    body: Body<S, F, C>,
    members: MemberCursor<'_>,
    run: &RunContext,
) -> BodyOutcome<C>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    // SAFETY: the conditions are those of `Body::execute`.
    on_this_stack(run.home, || unsafe { body.execute(members, run) })
}

/// Takes the cowns of the slots if all of them are free.
///
/// # Safety
/// See [`claim::take_all`]; but a cown may be named twice, and is then not free.
#[inline]
pub(super) unsafe fn take_all(slots: &[Slot]) -> bool {
    if slots.iter().any(|slot| slot.member().header().is_grouped()) {
        // SAFETY: the conditions are those of this function.
        return unsafe { take_groups(slots) };
    }
    // SAFETY: the slots are unqueued and the cowns alive; a cown named twice is not free the second
    // time.
    if !unsafe { claim::take_all(slots.iter()) } {
        return false;
    }
    for slot in slots.iter().filter(|slot| slot.member().is_read()) {
        // SAFETY: the slot has taken its cown, which is only read from here on.
        unsafe { claim::become_reader(slot) };
    }
    true
}

/// The same if some of the cowns are members of groups, each of which is taken once.
///
/// # Safety
/// See [`take_all`].
#[cold]
unsafe fn take_groups(slots: &[Slot]) -> bool {
    let is_grouped = |slot: &&Slot| slot.member().header().is_grouped();
    let mut grouped = GroupedRequests::default();
    for slot in slots.iter().filter(is_grouped) {
        // SAFETY: the slot is live while it is borrowed, and the list ends before that.
        grouped.push(unsafe { LiveSlot::from_ref(slot) });
    }
    if grouped.join(&mut |_, _| ()).overlaps {
        return false;
    }
    // SAFETY: the slots are unqueued and the cowns alive; one request per group is left.
    if !unsafe { claim::take_all(slots.iter().filter(|slot| !slot.is_joined())) } {
        return false;
    }
    for slot in slots.iter().filter(|slot| slot.member().is_read() && !is_grouped(slot)) {
        // SAFETY: the slot has taken its cown, which is only read from here on.
        unsafe { claim::become_reader(slot) };
    }
    true
}

fn members_of(slots: &[Slot]) -> impl Iterator<Item = RequestedCown> {
    slots.iter().map(Slot::member)
}

fn cursor_over(slots: &[Slot]) -> MemberCursor<'_> {
    let first = slots.first().map_or(null(), Slot::member_ptr);
    // SAFETY: the members are in the slots, one slot's size apart.
    unsafe { MemberCursor::new(first, size_of::<Slot>(), slots.len()) }
}
