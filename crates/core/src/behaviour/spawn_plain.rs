//! Turns a set and a closure into a queued behaviour, which ends when its closure has returned.

use super::admission;
use super::announcement::SetAnnouncement;
use super::multi::{PreparedBehaviour, UnqueuedBehaviour};
use super::pair::{self, PairBehaviour};
use super::refusal::Refusal;
use super::refuse::refuse_outside;
use super::single::{NamedVTables, SingleBehaviour};
use super::single_in_group;
use super::sorted_requests::{RequestList, has_no_overlap, sort};
use super::spawn_checks::{count_members, home_of, is_set_out_of_reach, only_member};
use crate::body::{Body, Completion, NamedCompletion, NoResult};
use crate::cown::handle::Cown;
use crate::cown::set::{CownSet, UncheckedIn, sealed::MemberVisitor};
use crate::current::refuse_in_decision;
use crate::panic::drop_quietly;
use crate::queue::append::{StepEntry, append_all};
use crate::queue::claim;
use crate::queue::header::Flags;
use crate::queue::multi_block::LiveMulti;
use crate::queue::requested_cown::RequestedCown;
use crate::queue::single_block::Single;
use crate::queue::slot::QueuePosition;
use crate::sched::refuse_outside_simulation::is_outside_its_simulation;
use crate::sched::{at_work_in, context, external_threads, schedule};
use crate::simulated;

use coact_sync::prefetch;

/// Spawns a behaviour whose members take part in no commit, or that does not use them.
///
/// # Errors
/// Returns the closure and the completion if the set cannot be used.
#[inline]
#[cfg_attr(feature = "sim", track_caller)]
pub(crate) fn spawn_plain<S, F, C>(set: S, closure: F, completion: C) -> Result<(), (Refusal, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    if let Err(refusal) = count_members(&set) {
        return Err((refusal, closure, completion));
    }
    if is_set_out_of_reach(&set) {
        refuse_outside(closure, completion);
    }
    if !const { S::KIND.announces } {
        spawn_on(&set, closure, completion)?;
        // The behaviour may have run, and used the handles.
        set.give();
        return Ok(());
    }
    let (announced, asks) = SetAnnouncement::new(&set);
    let spawned = if asks {
        spawn_admitted(&set, closure, completion)
    } else {
        spawn_on(&set, closure, completion)
    };
    spawned?;
    drop(announced);
    // The behaviour may have run, and used the handles.
    set.give();
    Ok(())
}

/// Spawns a behaviour if the handles of its set admit it.
#[cold]
#[inline(never)]
fn spawn_admitted<S, F, C>(set: &S, closure: F, completion: C) -> Result<(), (Refusal, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    match admission::ask(set) {
        Ok(admitted) => spawn_on(set, closure, admitted.with(completion))
            .map_err(|(refusal, closure, admitted)| (refusal, closure, admitted.completion)),
        Err(refusal) => Err((refusal, closure, completion)),
    }
}

#[inline]
fn spawn_on<S, F, C>(set: &S, closure: F, completion: C) -> Result<(), (Refusal, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    if const { S::KIND.is_single } {
        let body = Body::<S, F, C>::new(set.shape(), closure, completion);
        spawn_single(only_member(set), body);
        return Ok(());
    }
    // By hand and not by `at_work_in`, as this counts: a worker does not look for the home, and
    // what other threads do is out of its way.
    if context::worker().is_some() {
        return match pair::members(set) {
            Some(members) => {
                // SAFETY: the members are those of the caller's set.
                unsafe { spawn_pair(set, members, closure, completion) };
                Ok(())
            }
            None => spawn_multi(set, closure, completion),
        };
    }
    spawn_externally(set, closure, completion)
}

/// The same on several cowns, on a thread that is not a worker.
#[inline(never)]
fn spawn_externally<S, F, C>(set: &S, closure: F, completion: C) -> Result<(), (Refusal, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    simulated::point();
    // All workers may be asleep and not see the work, so this thread must be visible as an external
    // one.
    external_threads::within(home_of(set), || match pair::members(set) {
        Some(members) => {
            // SAFETY: the members are those of the caller's set.
            unsafe { spawn_pair(set, members, closure, completion) };
            Ok(())
        }
        None => spawn_multi(set, closure, completion),
    })
}

/// Spawns on two cowns that can form a pair.
///
/// # Safety
/// They are the [members](pair::members) of the set.
#[inline]
unsafe fn spawn_pair<S, F, C>(set: &S, members: [RequestedCown; 2], closure: F, completion: C)
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    let body = Body::<S, F, C>::new(set.shape(), closure, completion);
    // SAFETY: they are the members of the set, which keeps them alive.
    unsafe { PairBehaviour::spawn(members, body) };
}

/// Spawns on one cown, which a handle of the caller keeps alive.
#[inline]
fn spawn_single<S, F, C>(member: RequestedCown, body: Body<S, F, C>)
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    let header = member.header();
    let is_special = match const { S::KIND.grouped } {
        Some(is_grouped) => is_grouped,
        None => header.has(Flags::GROUPED | Flags::CROWDED),
    };
    if is_special {
        return spawn_special(member, body);
    }
    // By hand, as in `spawn_on`; and the worker itself is needed.
    let Some(worker) = context::worker() else {
        // SAFETY: the set's handle keeps the cown alive, which is in no group.
        return unsafe { SingleBehaviour::spawn_anywhere(member, body) };
    };
    // SAFETY: the set's handle keeps the cown alive, which is in no group.
    unsafe { SingleBehaviour::spawn_by(worker, member, body) };
}

/// The same on a member of a group, or on a crowded cown, where a worker, too, waits in front of
/// the queue. (Two branches in place of this one call took up to eight instructions more of each
/// spawn.)
#[inline(never)]
fn spawn_special<S, F, C>(member: RequestedCown, body: Body<S, F, C>)
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    // SAFETY: the set's handle keeps the cown alive, and with it its leader; the body is for it.
    unsafe {
        let leader = if const { matches!(S::KIND.grouped, Some(true)) } {
            Some(member.live_cown().leader_of_member())
        } else {
            member.live_cown().leader()
        };
        match leader {
            Some(leader) => single_in_group::spawn_single(leader, member, body),
            None => SingleBehaviour::spawn_anywhere(member, body),
        }
    }
}

/// Spawns on a cown alone, [unchecked](crate::Cown::unchecked), with the code of those who know
/// whether it is in a group.
#[cold]
#[cfg_attr(feature = "sim", track_caller)]
pub(crate) fn spawn_unchecked<T, F>(cown: &Cown<T>, closure: F)
where
    T: Send + 'static,
    F: FnOnce(&mut T) + Send + 'static,
{
    if is_outside_its_simulation(|| cown.header().home()) {
        refuse_outside(closure, NoResult);
    }
    // SAFETY: the handle keeps the cown alive, and with it its leader.
    if let Some(leader) = unsafe { cown.live_cown() }.leader() {
        let set = UncheckedIn::<T, true>(cown);
        let body = Body::<UncheckedIn<'_, T, true>, _, _>::new((), closure, NoResult);
        // SAFETY: the handle keeps the member alive, which is in the leader's group, and the body
        // is for it.
        unsafe { single_in_group::spawn_single(leader, only_member(&set), body) };
    } else {
        let set = UncheckedIn::<T, false>(cown);
        let body = Body::<UncheckedIn<'_, T, false>, _, _>::new((), closure, NoResult);
        let member = only_member(&set);
        // SAFETY: the handle keeps the cown alive, which is in no group, and the body is for it.
        unsafe {
            match context::worker() {
                Some(worker) => SingleBehaviour::spawn_refilled(worker, member, body),
                None => SingleBehaviour::spawn_anywhere(member, body),
            }
        }
    }
}

/// Spawns on one cown, with functions that name the behaviour, and returns its position in the
/// queue. There is none if the cown is a member of a group that the caller holds, and the behaviour
/// comes before everything queued.
#[inline(never)]
#[cfg_attr(feature = "sim", track_caller)]
pub(crate) fn spawn_placed<S, F>(
    set: &S,
    closure: F,
    named: NamedVTables<S, F>,
) -> Option<QueuePosition>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send,
{
    refuse_in_decision();
    if is_set_out_of_reach(set) {
        refuse_outside(closure, NoResult);
    }
    let member = only_member(set);
    let body = Body::<S, F, _>::new(
        set.shape(),
        closure,
        NamedCompletion { completion: NoResult, name: named.name },
    );
    let header = member.header();
    if let Some(leader) = member.live_cown().leader() {
        // SAFETY: the set's handle keeps the member alive, which is in the leader's group, and the
        // body is for it.
        return unsafe { single_in_group::spawn_placed(leader, member, body, named.in_group) };
    }
    at_work_in(header.home(), || {
        let node = SingleBehaviour::allocate_with(named.alone, member, body);
        // SAFETY: this thread owns the node until it spawns it, and the set's handle keeps the cown
        // alive.
        unsafe {
            let place = QueuePosition::of(Single::slot(node).slot());
            Single::spawn(node);
            Some(place)
        }
    })
}

#[inline(never)]
fn spawn_multi<S, F, C>(set: &S, closure: F, completion: C) -> Result<(), (Refusal, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    prefetch_cowns(set);
    // `spawn_plain` has checked that there are no more.
    let len = set.member_count() as u32;
    let mut requests = RequestList::new();
    let mut collect = |request| requests.push(request);
    let mut behaviour = PreparedBehaviour::new(set, len, closure, completion, &mut collect);
    sort(&mut requests);
    if let Err(refusal) = behaviour.check_and_bind(|| has_no_overlap(set, &requests)) {
        let (closure, completion) = behaviour.dismantle();
        return Err((refusal, closure, completion));
    }
    let all_queued = requests.len() == set.member_count();
    if let Some(leader) = behaviour.group() {
        // SAFETY: the behaviour was prepared above; the set's handles keep the cowns alive.
        unsafe { behaviour.spawn_in_group(leader) };
        return Ok(());
    }
    let node = behaviour.into_node();
    // SAFETY: the behaviour was prepared above; the set's handles keep the cowns alive, which are
    // distinct.
    unsafe {
        if !S::KIND.has_reads && all_queued && claim::take_all(node.requests())
            || requests.is_empty()
        {
            schedule(node.task(), node.home());
        } else {
            append_all(&mut requests, &mut schedule);
        }
    }
    Ok(())
}

/// Prefetches the cowns' headers, which other processors may have used, all at once and before the
/// behaviour is created.
#[inline]
fn prefetch_cowns<S: CownSet>(set: &S) {
    set.visit(&mut MemberVisitor(&mut |member: RequestedCown| {
        prefetch::for_writing(member.live_cown().as_ptr());
    }));
}

/// Makes a behaviour that is queued later, and passes its requests on.
///
/// # Errors
/// Returns the closure if no behaviour can hold these cowns.
pub(super) fn prepare<S, F, C>(
    set: &S,
    closure: F,
    completion: C,
    requests: &mut dyn FnMut(StepEntry),
) -> Result<UnqueuedBehaviour, (Refusal, F)>
where
    S: CownSet + Send + 'static,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
    C: Completion<Value = ()> + 'static,
{
    let len = set.member_count() as u32;
    let mut prepared = PreparedBehaviour::<S, F, C>::new(set, len, closure, completion, requests);
    if let Err(refusal) = prepared.check_and_bind(|| false) {
        let (closure, _) = prepared.dismantle();
        return Err((refusal, closure));
    }
    Ok(UnqueuedBehaviour { node: prepared.into_node(), discard: discard::<S, F, C> })
}

/// Drops a behaviour that was [prepared](prepare), and not appended.
///
/// # Safety
/// The node was prepared with these types, and was not appended.
unsafe fn discard<S, F, C>(node: LiveMulti)
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
    C: Completion<Value = ()>,
{
    // SAFETY: the node is of these types, and was not appended.
    let prepared = unsafe { PreparedBehaviour::<S, F, C>::from_node(node) };
    prepared.abandon();
    let (closure, completion) = prepared.dismantle();
    drop_quietly(move || drop(closure));
    drop_quietly(move || drop(completion));
}
