//! From a set and a closure to a queued behaviour.

use crate::queue::spawn::launch_externally;
use crate::sched::runtime_handle::current_id;
use std::fmt;
use std::mem::{self, ManuallyDrop};
use std::ptr::NonNull;

use coact_sync::prefetch;
use smallvec::SmallVec;

use super::admission;
use super::in_group;
use super::multi::{Prepared, count_members};
use super::pair::{self, PairBehaviour};
use super::single::SingleBehaviour;
use crate::body::{Body, Completion, Forget};
use crate::cown::set::{CownSet, sealed::Visitor};
use crate::fault::Broken;
use crate::ids::RuntimeId;
use crate::panic::drop_quietly;
use crate::queue::append::{Request, append_all};
use crate::queue::claim;
use crate::queue::header::CownHeader;
use crate::queue::member::Member;
use crate::queue::multi::Multi;
use crate::queue::single::Single;
use crate::queue::slot::QueuePosition;
use crate::sched::shared::{self, Phase};
use crate::sched::{at_work_in, context, external, schedule};
use crate::simulated;

/// Requests of the usual number of cowns lie on the stack.
type Requests = SmallVec<[Request; 8]>;

/// A set names a cown twice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overlap {
    /// The position of the first naming, counting all cowns of the set from 0.
    pub first: usize,
    /// The position of the second.
    pub second: usize,
}

impl fmt::Display for Overlap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, second } = self;
        write!(f, "members {first} and {second} of the set are the same cown: name each cown once")
    }
}

impl std::error::Error for Overlap {}

/// A set names cowns of different [pumps](crate::runtime::Pump): no thread may touch all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PinnedApart {
    /// The position of a cown of one pump, counting all cowns of the set from 0.
    pub first: usize,
    /// The position of a cown of another.
    pub second: usize,
}

impl fmt::Display for PinnedApart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, second } = self;
        write!(
            f,
            "members {first} and {second} of the set belong to different pumps: no thread may touch \
             both"
        )
    }
}

impl std::error::Error for PinnedApart {}

/// Why a behaviour was not spawned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// The set names a cown twice.
    Overlap(Overlap),
    /// The set names cowns of different pumps.
    PinnedApart(PinnedApart),
    /// The set names more cowns than one behaviour can: 4,294,967,295. Only a slice of handles that take
    /// no room can be so long.
    TooMany {
        /// How many it names.
        members: usize,
    },
    /// A member of the set takes no more behaviours for now, as an actor whose
    /// [bound](https://docs.rs/coact/latest/coact/struct.Mailbox.html#method.behaviours) is reached.
    Full {
        /// Which member of the set, counted from 0.
        position: usize,
    },
    /// The runtime that the cowns belong to is shut down.
    Closed,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Overlap(overlap) => overlap.fmt(f),
            Refusal::PinnedApart(apart) => apart.fmt(f),
            Refusal::TooMany { members } => {
                write!(f, "a behaviour can name up to {} cowns, not {members}", u32::MAX)
            }
            Refusal::Full { position } => write!(
                f,
                "member {position} of the set takes no more behaviours for now, since its mailbox is full \
                 (`try_when` returns that)"
            ),
            Refusal::Closed => f.write_str("the runtime that the cowns belong to is shut down"),
        }
    }
}

impl std::error::Error for Refusal {}

/// A behaviour that was not spawned, with its closure.
pub struct WhenError<F> {
    /// Why.
    pub refusal: Refusal,
    /// The closure, as it was given.
    pub closure: F,
}

impl<F> fmt::Debug for WhenError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WhenError").field("refusal", &self.refusal).finish_non_exhaustive()
    }
}

impl<F> fmt::Display for WhenError<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.refusal.fmt(f)
    }
}

impl<F> std::error::Error for WhenError<F> {}

/// The reason alone is of one type for all closures.
impl<F> From<WhenError<F>> for Refusal {
    fn from(error: WhenError<F>) -> Self {
        error.refusal
    }
}

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

/// The one cown of a set that is [`SINGLE`](CownSet::SINGLE).
#[inline]
pub(super) fn only_member<S: CownSet>(set: &S) -> Member {
    let mut only = None;
    set.visit(&mut Visitor(&mut |member| only = Some(member)));
    only.expect("a single set has one member")
}

/// The runtime that a behaviour on the set runs on: that of its pinned cowns, and if it has none,
/// that of its first cown; a hint while that one may be moved.
///
/// # Errors
/// Cowns that are pinned to different places.
pub(crate) fn place_of<S: CownSet>(set: &S) -> Result<RuntimeId, PinnedApart> {
    let mut placing = Placing::default();
    set.visit(&mut Visitor(&mut |member: Member| placing.add(member)));
    placing.finish()
}

/// The same of members that are known, which are alive.
pub(crate) fn place_among(members: impl Iterator<Item = Member>) -> Result<RuntimeId, PinnedApart> {
    let mut placing = Placing::default();
    members.for_each(|member| placing.add(member));
    placing.finish()
}

/// The runtime that a behaviour on such members is bound to: that of the pinned ones, or, if there are no
/// members at all, the caller's. Otherwise it runs where its first cown is when its turn comes.
///
/// # Errors
/// As [`place_of`].
pub(crate) fn bound_among(
    members: impl Iterator<Item = Member>,
) -> Result<Option<RuntimeId>, PinnedApart> {
    let mut placing = Placing::default();
    members.for_each(|member| placing.add(member));
    match placing {
        Placing { apart: Some(apart), .. } => Err(apart),
        Placing { pinned: None, first: Some(_), .. } => Ok(None),
        other => Ok(Some(other.home())),
    }
}

/// Where a behaviour is to run, as far as is known.
#[derive(Default)]
struct Placing {
    at: usize,
    first: Option<Member>,
    pinned: Option<(usize, RuntimeId)>,
    apart: Option<PinnedApart>,
}

impl Placing {
    #[inline]
    fn add(&mut self, member: Member) {
        // SAFETY: the set's handle keeps the cown alive.
        let header = unsafe { member.header() };
        if header.is_pinned() {
            let (before, home) = *self.pinned.get_or_insert((self.at, header.home()));
            if home != header.home() {
                self.apart.get_or_insert(PinnedApart { first: before, second: self.at });
            }
        } else {
            self.first.get_or_insert(member);
        }
        self.at += 1;
    }

    #[inline]
    fn finish(self) -> Result<RuntimeId, PinnedApart> {
        self.apart.map_or_else(|| Ok(self.home()), Err)
    }

    #[inline]
    fn home(&self) -> RuntimeId {
        let pinned = self.pinned.map(|(_, home)| home);
        // SAFETY: as in `add`.
        let first = || self.first.map(|member| unsafe { member.header() }.home());
        pinned.or_else(first).unwrap_or_else(current_id)
    }
}

/// The same for a set that may still be refused: then it is that of one of its cowns.
pub(crate) fn home_of<S: CownSet>(set: &S) -> RuntimeId {
    let mut placing = Placing::default();
    set.visit(&mut Visitor(&mut |member: Member| placing.add(member)));
    placing.home()
}

/// Whether sorted requests of one behaviour surely name no cown twice.
#[inline]
fn has_no_overlap<S: CownSet>(set: &S, sorted: &[Request]) -> bool {
    // Members of one group are joined, and those that are named twice with them.
    sorted.len() == set.member_count()
        && sorted.windows(2).all(|pair| pair[0].header != pair[1].header)
}

/// Why no behaviour can ever be spawned on the set, if there is a reason.
pub(crate) fn refusal_of<S: CownSet>(set: &S) -> Option<Refusal> {
    if S::SINGLE {
        return None;
    }
    if let Err(refusal) = count_members(set) {
        return Some(refusal);
    }
    let mut placing = Placing::default();
    set.visit(&mut Visitor(&mut |member: Member| placing.add(member)));
    if let Some(apart) = placing.apart {
        return Some(Refusal::PinnedApart(apart));
    }
    overlap_in(set).map(Refusal::Overlap)
}

/// The overlap in a set, if there is one.
fn overlap_in<S: CownSet>(set: &S) -> Option<Overlap> {
    let mut members = SmallVec::<[_; 8]>::new();
    set.visit(&mut Visitor(&mut |member: Member| members.push(member.header_ptr())));
    overlap_among(&members)
}

/// The first two positions of the same cown.
#[cold]
pub(crate) fn overlap_among(cowns: &[NonNull<CownHeader>]) -> Option<Overlap> {
    let mut sorted = SmallVec::<[_; 8]>::from_slice(cowns);
    sorted.sort_unstable();
    let twice = sorted.windows(2).find(|pair| pair[0] == pair[1])?[0];
    let mut positions = (0..cowns.len()).filter(|at| cowns[*at] == twice);
    Some(Overlap { first: positions.next()?, second: positions.next()? })
}

/// # Panics
/// If the set names a cown twice, or cowns of different pumps. (A set that passes does so for good:
/// no cown is pinned later.)
#[track_caller]
pub(crate) fn assert_spawnable<S: CownSet>(set: &S) {
    if let Some(refusal) = refusal_of(set) {
        panic!("{refusal}");
    }
}

/// Whether the runtime of the set takes no more behaviours. (A set that is refused anyway has none.)
pub(crate) fn is_closed<S: CownSet>(set: &S) -> bool {
    count_members(set).is_ok() && is_closed_at(home_of(set))
}

/// Whether the runtime takes no more behaviours from this thread. (A worker that works it off may bring
/// more until the end.)
pub(crate) fn is_closed_at(home: RuntimeId) -> bool {
    // The runtime of a model does not exist.
    !cfg!(loom) && !context::is_worker_of(home) && shared::get(home).phase() != Phase::Running
}

/// Spawns on a set with handles of its own that has passed [`assert_spawnable`].
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
