//! From a set and a closure to a queued behaviour.

use crate::queue::spawn::launch_externally;
use std::mem::{self, ManuallyDrop};

use coact_sync::prefetch;
use smallvec::SmallVec;

use super::admission;
use super::in_group;
use super::multi::Prepared;
use super::pair::{self, PairBehaviour};
use super::placing::{count_members, home_of, only_member};
use super::refusal::Refusal;
use super::single::SingleBehaviour;
use crate::body::{Body, Completion, Forget};
use crate::cown::set::{CownSet, sealed::Visitor};
use crate::fault::Broken;
use crate::panic::drop_quietly;
use crate::queue::append::{Request, append_all};
use crate::queue::claim;
use crate::queue::member::Member;
use crate::queue::multi::Multi;
use crate::queue::single::Single;
use crate::queue::slot::QueuePosition;
use crate::sched::{at_work_in, context, external, schedule};
use crate::simulated;

/// Requests of the usual number of cowns lie on the stack.
type Requests = SmallVec<[Request; 8]>;

/// Spawns a behaviour.
///
/// # Errors
/// A set that cannot be used gives the closure and the completion back.
#[inline]
pub(crate) fn spawn<S, F, C>(set: S, closure: F, completion: C) -> Result<(), (Refusal, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    if let Err(refusal) = count_members(&set) {
        return Err((refusal, closure, completion));
    }
    if !S::ANNOUNCES {
        spawn_on(&set, closure, completion)?;
        // As `Given` says.
        set.give();
        return Ok(());
    }
    let (announced, asks) = Announced::new(&set);
    let spawned = if asks {
        spawn_admitted(&set, closure, completion)
    } else {
        spawn_on(&set, closure, completion)
    };
    spawned?;
    mem::forget(announced);
    let set = Given(ManuallyDrop::new(set));
    set.0.announced_all();
    Ok(())
}

/// A set of which a behaviour has been made, which may have run, and used the handles, already: here they are only
/// given, even if foreign code panics.
struct Given<S: CownSet>(ManuallyDrop<S>);

impl<S: CownSet> Drop for Given<S> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: taken once, here.
        unsafe { ManuallyDrop::take(&mut self.0) }.give();
    }
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

/// The handles of a set were told that a behaviour on it is about to be queued. When this is dropped they are told that
/// it will not, or stands in its queues.
struct Announced<'a, S: CownSet>(&'a S);

impl<'a, S: CownSet> Announced<'a, S> {
    /// Tells whether one of the handles is to be asked, too.
    #[inline]
    fn new(set: &'a S) -> (Self, bool) {
        let asks = set.announce_all();
        (Self(set), asks)
    }
}

impl<S: CownSet> Drop for Announced<'_, S> {
    #[inline]
    fn drop(&mut self) {
        // It may be a panic of such a handle that has led here.
        drop_quietly(|| self.0.announced_all());
    }
}

/// Foreign handles may name other cowns each time that they are asked: they are asked once for what
/// stands in queues, and all that must be true of it is looked up there.
#[inline]
fn spawn_on<S, F, C>(set: &S, closure: F, completion: C) -> Result<(), (Refusal, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    if S::SINGLE {
        let body = Body::<S, F, C>::new(set.shape(), closure, completion);
        spawn_single(only_member(set), body);
        return Ok(());
    }
    if context::worker().is_some() {
        return match pair::members(set) {
            Some(members) => {
                // SAFETY: those of the set, which is the caller's.
                unsafe { spawn_pair(set, members, closure, completion) };
                Ok(())
            }
            None => spawn_multi(set, closure, completion),
        };
    }
    spawn_externally(set, closure, completion)
}

/// The same on several cowns, by a thread that is no worker.
#[inline(never)]
fn spawn_externally<S, F, C>(set: &S, closure: F, completion: C) -> Result<(), (Refusal, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    simulated::point();
    // No worker may be up to see that there is work: so be seen as an external thread.
    external::within(home_of(set), || match pair::members(set) {
        Some(members) => {
            // SAFETY: those of the set, which is the caller's.
            unsafe { spawn_pair(set, members, closure, completion) };
            Ok(())
        }
        None => spawn_multi(set, closure, completion),
    })
}

/// Spawns on two cowns of which a pair is made.
///
/// # Safety
/// They are the [members](pair::members) of the set.
#[inline]
unsafe fn spawn_pair<S, F, C>(set: &S, members: [Member; 2], closure: F, completion: C)
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    let body = Body::<S, F, C>::new(set.shape(), closure, completion);
    // SAFETY: by the caller's word; the set keeps them alive.
    unsafe { PairBehaviour::spawn(members, body) };
}

/// Spawns on one cown, which a handle of the caller's keeps alive.
#[inline]
fn spawn_single<S, F, C>(member: Member, body: Body<S, F, C>)
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    // SAFETY: alive, by the set's handle.
    let header = unsafe { member.header() };
    if let Some(leader) = header.leader() {
        // SAFETY: as above; the member is of the leader's group, and the body for it.
        return unsafe { in_group::spawn_single(leader, member, body) };
    }
    let Some(worker) = context::worker() else { return spawn_single_externally(member, body) };
    // SAFETY: the set's handle keeps the cown, which is in no group, alive.
    unsafe { SingleBehaviour::spawn_by(worker, member, body) };
}

/// The same by a thread that is no worker.
#[inline(never)]
fn spawn_single_externally<S, F, C>(member: Member, body: Body<S, F, C>)
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    simulated::point();
    let node = SingleBehaviour::allocate(member, body);
    // SAFETY: the node is ours, and the set's handle keeps the cown, which is in no group, alive.
    unsafe { launch_externally(Single::slot(node)) };
}

/// Spawns on one cown, and tells where the behaviour stands in the queue. It stands in none if it is on a
/// member of a group that the caller holds, and comes before all that is queued.
pub(crate) fn spawn_placed<S, F>(set: &S, closure: F) -> Option<QueuePosition>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send,
{
    let member = only_member(set);
    let body = Body::<S, F, Forget>::new(set.shape(), closure, Forget);
    // SAFETY: alive, by the set's handle.
    let header = unsafe { member.header() };
    if let Some(leader) = header.leader() {
        // SAFETY: as above; the member is of the leader's group, and the body for it.
        return unsafe { in_group::spawn_placed(leader, member, body) };
    }
    at_work_in(header.home(), || {
        let node = SingleBehaviour::allocate(member, body);
        let place = QueuePosition::of(Single::slot(node));
        // SAFETY: the node is ours, and the set's handle keeps the cown alive.
        unsafe { Single::spawn(node) };
        Some(place)
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
    // `spawn` has looked that there are no more.
    let len = set.member_count() as u32;
    let mut requests = Requests::new();
    let mut collect = |request| requests.push(request);
    let mut behaviour = Prepared::new(set, len, closure, completion, &mut collect);
    sort(&mut requests);
    if let Err(refusal) = behaviour.settle(|| has_no_overlap(set, &requests)) {
        let (closure, completion) = behaviour.dismantle();
        return Err((refusal, closure, completion));
    }
    let all_queued = requests.len() == set.member_count();
    if let Some(leader) = behaviour.group() {
        // SAFETY: prepared above; the set's handles keep the cowns alive.
        unsafe { behaviour.spawn_in_group(leader) };
        return Ok(());
    }
    let node = behaviour.into_node();
    // SAFETY: prepared above; the set's handles keep the cowns alive, which are distinct.
    unsafe {
        if !S::HAS_READS && all_queued && claim::take_all(Multi::requests(node))
            || requests.is_empty()
        {
            schedule(node.cast(), Multi::home(node));
        } else {
            append_all(&mut requests, &mut schedule);
        }
    }
    Ok(())
}

/// Asks for the cowns' headers, which may have been used by other processors, all at once and
/// before the behaviour is made.
#[inline]
fn prefetch_cowns<S: CownSet>(set: &S) {
    set.visit(&mut Visitor(&mut |member: Member| {
        prefetch::for_writing(member.header_ptr().as_ptr());
    }));
}

/// Sorts requests by cown. The order among those of one cown is kept.
#[inline]
pub(crate) fn sort(requests: &mut [Request]) {
    match requests {
        [a, b] => {
            if b.rank() < a.rank() {
                std::mem::swap(a, b);
            }
        }
        _ => requests.sort_by_key(Request::rank),
    }
}

/// Spawns on a set with handles of its own that has passed `assert_spawnable`.
pub(crate) fn with_owned<S, F, C>(set: S::Owned, closure: F, completion: C)
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    match spawn(set, closure, completion) {
        Ok(()) => {}
        Err((Refusal::Full { position }, closure, completion)) => {
            let behaviour = std::any::type_name::<F>();
            tracing::warn!(
                behaviour,
                position,
                "a behaviour that was to be spawned later is refused"
            );
            drop_quietly(move || drop(closure));
            drop_quietly(move || completion.failed(Broken::Full { position }));
        }
        Err((refusal, ..)) => {
            panic!("a handle of the set says something else than before (`AsCown`): {refusal}")
        }
    }
}

/// Whether sorted requests of one behaviour surely name no cown twice.
#[inline]
fn has_no_overlap<S: CownSet>(set: &S, sorted: &[Request]) -> bool {
    // Members of one group are joined, and those that are named twice with them.
    sorted.len() == set.member_count()
        && sorted.windows(2).all(|pair| pair[0].header != pair[1].header)
}
