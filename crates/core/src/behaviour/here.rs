//! Behaviours that run at once on the thread that asks for them, if their cowns are free.

use crate::current;
use std::mem::size_of;
use std::ptr::{NonNull, null};

use coact_sync::patience::Patience;
use smallvec::SmallVec;

use super::pair;
use super::placing::{self, count_members};
use crate::behaviour::answer::Answer;
use crate::body::{Body, Completion, Ended, Forget};
use crate::cown::cursor::Cursor;
use crate::cown::set::{CownSet, sealed::Visitor};
use crate::current::AsWorker;
use crate::fault::Broken;
use crate::group::join::Grouped;
use crate::ids::RuntimeId;
use crate::paths::Path;
use crate::queue::claim;
use crate::queue::header::{CownHeader, Flags};
use crate::queue::leave::leave_alone;
use crate::queue::member::Member;
use crate::queue::release::{release, release_exclusive};
use crate::queue::slot::Slot;
use crate::sched::Ready;
use crate::sched::{Deferring, Successor, context, external, schedule, shared};
use crate::simulated;
use crate::task::{Mode, RunContext, TaskPtr, run_task};

/// How many bodies may lie on top of each other on one stack.
pub const MAX_NESTED_HERE: u32 = 32;

/// Runs a behaviour at once, on the calling thread, if all its cowns are free and nothing stands in
/// their queues; otherwise spawns it as [`when`](crate::when) does. Returns whether it had its turn
/// at once: to run, or to be skipped for poison.
///
/// The order is that of `when`: a behaviour may run any time after it is spawned, so it may run
/// right away. What the caller gives for it is its own time.
///
/// **Cost.** With free cowns, two atomic operations a cown and no allocation: about what locking
/// and unlocking a mutex for each costs. With a busy cown, that attempt on top of `when`; a thread that is no worker
/// first tries again for some microseconds (for one or two cowns, and less where that has been in vain), since a worker
/// would have to be woken.
///
/// If one of the cowns belongs to a [`Pump`](crate::runtime::Pump), it runs at once on that pump's thread only,
/// and is spawned elsewhere.
///
/// Calls from inside such behaviours nest up to [`MAX_NESTED_HERE`] deep; deeper ones are spawned.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, when_here};
///
/// let (a, b) = (Cown::new(1), Cown::new(2));
/// let ran = when_here((&a, &b), |(a, b)| std::mem::swap(a, b));
/// assert!(ran);
/// assert_eq!((a.into_inner().unwrap(), b.into_inner().unwrap()), (2, 1));
/// ```
///
/// # Panics
/// If the set names a cown twice, cowns of different pumps, or an actor that takes no more behaviours for now
/// ([`Refusal::Full`](crate::behaviour::Refusal::Full)). A panic of the closure is caught as in `when`.
#[doc(alias = "try_lock")]
#[inline]
#[track_caller]
pub fn when_here<S, F>(set: S, closure: F) -> bool
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
{
    match try_here_for_a_while(set, closure, Forget) {
        None => true,
        Some((set, closure, Forget)) => spawn_instead(set, closure),
    }
}

/// [`ask`](crate::ask), at once and on the calling thread if all cowns of the set are free, as
/// [`when_here`]: then the answer is there when this returns, and is not put into a promise. Otherwise the
/// behaviour is spawned, and the answer is a promise.
///
/// **Cost.** As [`when_here`]; if it is spawned, that attempt on top of [`ask`](crate::ask).
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, ask_here};
///
/// let words = Cown::new(vec!["one", "two"]);
/// let count = ask_here(&words, |words| words.len());
/// assert!(count.is_ready());
/// assert_eq!(count.wait(), Ok(2));
/// ```
///
/// # Panics
/// If the set names a cown twice, cowns of different pumps, or an actor that takes no more behaviours for now
/// ([`Refusal::Full`](crate::behaviour::Refusal::Full)). A panic of the closure is caught as in `ask`.
#[inline]
#[track_caller]
pub fn ask_here<S, F, R>(set: S, closure: F) -> Answer<R>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> R + Send + 'static,
    R: Send + 'static,
{
    let mut result = None;
    match try_here_for_a_while(set, closure, Keep(&mut result)) {
        None => Answer::ready(result.expect("a behaviour that has ended has told how")),
        Some((set, closure, _)) => Answer::pending(crate::ask(set, closure)),
    }
}

/// Keeps a behaviour's result for the caller, on whose stack it has run.
struct Keep<'a, R>(&'a mut Option<Result<R, Broken>>);

impl<R: Send> Completion for Keep<'_, R> {
    type Value = R;

    #[inline]
    fn done(self, value: R) {
        *self.0 = Some(Ok(value));
    }

    fn failed(self, why: Broken) {
        *self.0 = Some(Err(why));
    }
}

/// As [`when_here`], and the caller goes on with what others have queued on the cowns meanwhile, up to so
/// many behaviours, before it hands over to the workers: **caller runs**. So a burst from several threads
/// is worked off by one of them, which has the state in its cache, and the workers are not woken for it.
///
/// What becomes ready at the end of such a behaviour runs here as it would on a worker: the next one on the
/// same cown, or one over several cowns that has waited for this cown. Those of other runtimes are left to
/// these.
///
/// ```
/// # use coact_core as coact;
/// use coact::Cown;
/// use coact::behaviour::serve_here;
///
/// let sum = Cown::new(0);
/// assert!(serve_here(&sum, 10, |sum| *sum += 1));
/// assert_eq!(sum.into_inner(), Ok(1));
/// ```
///
/// # Panics
/// As [`when_here`].
#[track_caller]
pub fn serve_here<S, F>(set: S, batch: u32, closure: F) -> bool
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
{
    match serve(set, batch, closure) {
        None => true,
        Some((set, closure)) => spawn_instead(set, closure),
    }
}

/// The same; gives the set and the closure back instead of spawning.
#[inline]
pub(crate) fn serve<S, F>(set: S, batch: u32, closure: F) -> Option<(S, F)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
{
    let members = Few::of(&set);
    let Some(place) = place_here(&set, members) else { return Some((set, closure)) };
    let home = place.home;
    let refused = place.at_work(|| {
        let mut next = Successor::new(home);
        let refused = claim_and_run(set, members, home, closure, Forget, &mut next);
        if let Some(task) = next.take() {
            run_batch(task, home, batch);
        }
        refused
    });
    refused.map(|(set, closure, Forget)| (set, closure))
}

/// Spawns what is not to run here, and says that it did not.
#[cold]
#[track_caller]
fn spawn_instead<S, F>(set: S, closure: F) -> bool
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
{
    crate::when(set, closure);
    false
}

/// Runs a task of a runtime, and those that follow it, up to so many; the rest is the workers'.
#[cold]
fn run_batch(task: TaskPtr, home: RuntimeId, batch: u32) {
    // The runtime of a model does not exist.
    let in_model = RunContext::new(home, Mode::Run);
    let run = if cfg!(loom) { &in_model } else { shared::get(home).run_context() };
    let nested = current::Nested::enter();
    let before = current::enter(home);
    let mut next = Some(task);
    for _ in 0..batch {
        let Some(task) = next else { break };
        // This may be a worker of another runtime, which goes on. (Looked at each time: the task before may have
        // run past a shutdown's deadline.)
        let _cancelling = (run.mode() == Mode::Cancel).then(current::Cancelling::enter);
        // SAFETY: a successor is ready, and ours alone.
        next = unsafe { run_task(task, run) };
    }
    current::enter(before);
    drop(nested);
    if let Some(task) = next {
        schedule(task, home);
    }
}

/// Gives the set, the closure and the completion back if it is not to run here. What becomes ready in the end
/// is passed to `ready`.
#[inline]
fn try_here<S, F, C>(set: S, closure: F, completion: C, ready: &mut impl Ready) -> Option<(S, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    let members = Few::of(&set);
    let Some(place) = place_here(&set, members) else { return Some((set, closure, completion)) };
    place.at_work(|| claim_and_run(set, members, place.home, closure, completion, ready))
}

/// As [`try_here`]; if the cowns are taken, tries again for a while.
#[inline]
fn try_here_for_a_while<S, F, C>(set: S, closure: F, completion: C) -> Option<(S, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    let (set, closure, completion) = try_here(set, closure, completion, &mut schedule)?;
    keep_trying(set, closure, completion)
}

/// Whether to wait a moment for cowns that are taken, in place of waking a worker: other threads may be running short
/// behaviours on them, as this one wants to. A worker does not wait, as it has other tasks; nor does a thread inside a
/// behaviour on the spot, which may hold the cowns itself, or one that may not use them at once at all. (A behaviour on a
/// blocking thread may look in vain, if it asks for what it holds: some microseconds, and less each time.)
fn is_worth_waiting<S: CownSet>(set: &S) -> bool {
    let is_outside = context::worker().is_none() && current::nested_bodies() == 0;
    let members = Few::of(set);
    // A loom model would explore each look.
    is_outside
        && !cfg!(loom)
        && !simulated::is_inside()
        && !matches!(members, Few::No)
        && place_here(set, members).is_some()
}

thread_local! {
    static PATIENCE: Patience = const { Patience::new() };
}

/// Tries again whenever the cowns look free, if that is worth it.
#[cold]
#[inline(never)]
fn keep_trying<S, F, C>(set: S, closure: F, completion: C) -> Option<(S, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    if !is_worth_waiting(&set) {
        return Some((set, closure, completion));
    }
    let mut rest = Some((set, closure, completion));
    // A closure, for a copy of `try_here` of its own: the first attempt then has one caller, and stays inline.
    let mut ready = |task, home| schedule(task, home);
    let mut attempt = || {
        let look_free = rest.as_ref().is_some_and(|(set, ..)| Few::look_free(set));
        if look_free {
            let (set, closure, completion) = rest.take()?;
            rest = try_here(set, closure, completion, &mut ready);
        }
        rest.is_none().then(|| Path::HereAfterAll.take())
    };
    PATIENCE.with(|patience| patience.look_for(&mut attempt));
    rest
}

/// The members of a set that is always one or two cowns, held exclusively, if they are in no group.
#[derive(Clone, Copy)]
enum Few {
    One(Member),
    /// Neither is pinned.
    Two([Member; 2]),
    /// It is another set.
    No,
}

impl Few {
    #[inline(always)]
    fn of<S: CownSet>(set: &S) -> Self {
        if S::SINGLE {
            let member = placing::only_member(set);
            // SAFETY: the set's handle keeps the cown alive.
            let is_grouped = unsafe { member.header() }.is_grouped();
            return if is_grouped { Few::No } else { Few::One(member) };
        }
        pair::members(set).map_or(Few::No, Few::Two)
    }

    /// Whether nothing stands in the queues of such a set; a hint. It writes nothing, so that whoever is at work there keeps
    /// the lines.
    fn look_free<S: CownSet>(set: &S) -> bool {
        // SAFETY: the set's handles keep the cowns alive, which have queues of their own.
        let is_free = |member: Member| unsafe { !member.header().is_in_use(false) };
        match pair::named(set, |_| ()) {
            Some(members) => members.into_iter().all(is_free),
            None => S::SINGLE && is_free(placing::only_member(set)),
        }
    }

    /// Where a behaviour on them runs; a hint while that may be moved.
    ///
    /// # Safety
    /// They are alive.
    #[inline(always)]
    unsafe fn home(self) -> Option<RuntimeId> {
        match self {
            // SAFETY: by the caller's word; a cown that is in no group has a queue of its own.
            Few::One(member) | Few::Two([member, _]) => unsafe {
                Some(member.header().home_of_queue())
            },
            Few::No => None,
        }
    }
}

/// Where a behaviour runs at once.
#[derive(Clone, Copy)]
struct HerePlace {
    home: RuntimeId,
    /// The current thread is no worker of that runtime, but maybe of another.
    is_external: bool,
}

impl HerePlace {
    /// `None` if the current thread must not run behaviours there.
    #[inline(always)]
    fn at(home: RuntimeId) -> Option<Self> {
        let is_external = !context::is_worker_of(home);
        // A worker of another runtime is refused as a plain thread is.
        let home = if is_external { open_to_external_threads(home)? } else { home };
        Some(Self { home, is_external })
    }

    /// Does something there, where the current thread is seen to be at work.
    #[inline(always)]
    fn at_work<R>(self, work: impl FnOnce() -> R) -> R {
        let _guest = self.is_external.then(|| {
            simulated::point();
            // SAFETY: dropped at the end of this call.
            let visiting = unsafe { external::enter(self.home) };
            // A worker of another runtime is none for what is done here.
            (AsWorker::none(), visiting)
        });
        work()
    }
}

/// Where a behaviour on the set runs, if the current thread may run it at once.
#[inline]
fn place_here<S: CownSet>(set: &S, members: Few) -> Option<HerePlace> {
    if current::nested_bodies() >= MAX_NESTED_HERE {
        return None;
    }
    // SAFETY: the set's handles keep the cowns alive.
    match unsafe { members.home() } {
        Some(home) => HerePlace::at(home),
        None => place_elsewhere(set),
    }
}

/// The same for any set.
#[inline(never)]
fn place_elsewhere<S: CownSet>(set: &S) -> Option<HerePlace> {
    // What is refused is refused by `when`.
    if count_members(set).is_err() {
        return None;
    }
    HerePlace::at(placing::place_of(set).ok()?)
}

/// The runtime, if a thread that is none of its workers may run its behaviours now. (So the caller need not keep it.)
#[inline(never)]
fn open_to_external_threads(home: RuntimeId) -> Option<RuntimeId> {
    (!placing::is_closed_at(home) && can_run_here(home)).then_some(home)
}

/// Whether the current thread may run behaviours of the runtime.
fn can_run_here(home: RuntimeId) -> bool {
    // The runtime of a model does not exist.
    if cfg!(loom) {
        return true;
    }
    let shared = shared::get(home);
    !shared.is_pumped() || shared.is_pump_thread()
}

/// Gives the set, the closure and the completion back if some cown is not free.
#[inline]
fn claim_and_run<S, F, C>(
    set: S,
    members: Few,
    home: RuntimeId,
    closure: F,
    completion: C,
    ready: &mut impl Ready,
) -> Option<(S, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    // SAFETY: the set's, whose handles keep them alive.
    unsafe {
        match members {
            Few::One(member) => {
                return claim_and_run_one(set, member, home, closure, completion, ready);
            }
            Few::Two(members) => {
                return claim_and_run_two(set, members, home, closure, completion, ready);
            }
            Few::No => {}
        }
    }
    let mut slots = SmallVec::<[Slot; 8]>::new();
    set.visit(&mut Visitor(&mut |member: Member| slots.push(Slot::new(member.in_multi()))));
    // From here on the slots do not move: they stand in queues.
    // SAFETY: the set's handles keep the cowns alive, and the slots stay until they are released
    // below. (A cown that is named twice is not free the second time.)
    if !unsafe { take_all(&slots) } {
        return Some((set, closure, completion));
    }
    // Others may have moved a cown before it was taken, and a foreign handle may name another one than before.
    if placing::place_among(slots.iter().map(|slot| slot.member())) != Ok(home) {
        // SAFETY: taken, and not given back yet.
        unsafe { release_unused(&slots, ready) };
        return Some((set, closure, completion));
    }
    let body = Body::<S, F, C>::new(set.shape(), closure, completion);
    set.give();
    // SAFETY: all cowns of the set are held, in its order.
    let ended =
        unsafe { execute_here(body, cursor_over(&slots), &RunContext::new(home, Mode::Run)) };
    // SAFETY: held until here.
    unsafe { release_all(&slots, ready) };
    ended.deliver();
    None
}

/// Gives cowns back that were taken, and cannot be used here.
///
/// # Safety
/// As [`release_all`].
#[cold]
#[inline(never)]
unsafe fn release_unused(slots: &[Slot], ready: &mut impl Ready) {
    // SAFETY: by the caller's word.
    unsafe { release_all(slots, ready) };
}

/// Gives the cowns of the slots back.
///
/// # Safety
/// They were taken by [`take_all`], and are held still. The slots are gone from the queues after that.
#[inline]
unsafe fn release_all(slots: &[Slot], ready: &mut impl Ready) {
    let mut deferring = Deferring::new(ready);
    for slot in slots {
        // SAFETY: by the caller's word.
        unsafe { release(NonNull::from(slot), &mut deferring) };
    }
    deferring.finish();
}

/// The same on one cown.
///
/// # Safety
/// The member is [the set's](Few::One).
#[inline(always)]
unsafe fn claim_and_run_one<S, F, C>(
    set: S,
    member: Member,
    home: RuntimeId,
    closure: F,
    completion: C,
    ready: &mut impl Ready,
) -> Option<(S, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    let slot = Slot::new(member.in_multi());
    // SAFETY: the set's handle keeps the cown alive; it is in no group. The slot stays until it is released below.
    let header = unsafe { member.header() };
    // SAFETY: as above.
    if !unsafe { claim::take_one(&slot, header) } {
        return Some((set, closure, completion));
    }
    let is_sound = header.flags.is_plain(home, Flags::POISONED | Flags::CLOSED);
    // Others may have moved it before it was taken, and a foreign handle may name another one than before.
    if !is_sound && header.home_of_queue() != home {
        // SAFETY: taken, and not given back yet.
        unsafe { release_unused(std::slice::from_ref(&slot), ready) };
        return Some((set, closure, completion));
    }
    let body = Body::<S, F, C>::new(set.shape(), closure, completion);
    set.give();
    Path::HereOne.take();
    // SAFETY: the cown of the set is held, until it is released.
    let give_back = || unsafe { release_one(&slot, header, ready) };
    // SAFETY: as above.
    unsafe { run_held(body, || Cursor::single(&member), is_sound, home, give_back) };
    None
}

/// The same on two cowns.
///
/// # Safety
/// The members are [the set's](Few::Two).
#[inline(always)]
unsafe fn claim_and_run_two<S, F, C>(
    set: S,
    members: [Member; 2],
    home: RuntimeId,
    closure: F,
    completion: C,
    ready: &mut impl Ready,
) -> Option<(S, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    let slots = members.map(|member| Slot::new(member.in_multi()));
    let [a, b] = &slots;
    // SAFETY: the set's handles keep the cowns alive, which are distinct and in no group. The slots stay until they are
    // released below.
    let headers = unsafe { members.map(|member| member.header()) };
    // SAFETY: as above.
    if !unsafe { claim::take_two([a, b], headers) } {
        return Some((set, closure, completion));
    }
    let is_first_sound = headers[0].flags.is_plain(home, Flags::POISONED | Flags::CLOSED);
    // As in `claim_and_run_one`.
    if !is_first_sound && headers[0].home_of_queue() != home {
        // SAFETY: taken, and not given back yet.
        unsafe { release_unused(&slots, ready) };
        return Some((set, closure, completion));
    }
    let body = Body::<S, F, C>::new(set.shape(), closure, completion);
    set.give();
    Path::HereTwo.take();
    let are_sound = is_first_sound && !headers[1].has(Flags::POISONED | Flags::CLOSED);
    // SAFETY: the cowns of the set are held, until they are released.
    let give_back = || unsafe { release_two(&slots, headers, ready) };
    // SAFETY: as above.
    unsafe { run_held(body, || cursor_over(&slots), are_sound, home, give_back) };
    None
}

/// Runs a body on the caller's stack, gives its cowns back, and delivers what has come of it.
///
/// # Safety
/// The behaviour holds the cowns that the members run over, and they match its shape. If they are sound, none of them
/// is poisoned or closed.
#[inline(always)]
unsafe fn run_held<'m, S, F, C>(
    body: Body<S, F, C>,
    members: impl Fn() -> Cursor<'m>,
    are_sound: bool,
    home: RuntimeId,
    give_back: impl FnOnce(),
) where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    // SAFETY: by the caller's word.
    let ended = unsafe {
        if are_sound {
            match on_this_stack(home, || body.call(&mut members())) {
                Ok((completion, value)) => {
                    give_back();
                    return Ended::Done(completion, value).deliver();
                }
                Err(panicked) => on_this_stack(home, || panicked.tell::<F>(&members(), home)),
            }
        } else {
            execute_here(body, members(), &RunContext::new(home, Mode::Run))
        }
    };
    give_back();
    ended.deliver();
}

/// Gives a cown back that was held exclusively, and is in no group.
///
/// # Safety
/// As [`release_all`]; the header is that of the cown.
#[inline(always)]
unsafe fn release_one(slot: &Slot, header: &CownHeader, ready: &mut impl Ready) {
    // SAFETY: by the caller's word.
    unsafe {
        if !leave_alone(header, NonNull::from(slot)) {
            release_exclusive_to_others(NonNull::from(slot), ready);
        }
    }
}

/// The same where something stands behind.
///
/// # Safety
/// As [`release_exclusive`].
#[cold]
#[inline(never)]
unsafe fn release_exclusive_to_others(slot: NonNull<Slot>, ready: &mut impl Ready) {
    // SAFETY: by the caller's word.
    unsafe { release_exclusive(slot, ready) };
}

/// Gives two cowns back that were held exclusively, and are in no group.
///
/// # Safety
/// As [`release_all`]; the headers are theirs.
#[inline(always)]
unsafe fn release_two(slots: &[Slot; 2], headers: [&CownHeader; 2], ready: &mut impl Ready) {
    let [a, b] = slots;
    // SAFETY: by the caller's word.
    unsafe {
        if !leave_alone(headers[0], NonNull::from(a)) {
            release_two_to_others(slots, ready);
        } else {
            release_one(b, headers[1], ready);
        }
    }
}

/// The same where something stands behind.
///
/// # Safety
/// As [`release_all`].
#[cold]
#[inline(never)]
unsafe fn release_two_to_others(slots: &[Slot; 2], ready: &mut impl Ready) {
    let mut deferring = Deferring::new(ready);
    for slot in slots {
        // SAFETY: by the caller's word.
        unsafe { release_exclusive(NonNull::from(slot), &mut deferring) };
    }
    deferring.finish();
}

/// Runs a body on the stack of whoever has asked for it.
///
/// # Safety
/// As [`Body::execute`].
#[inline(never)]
unsafe fn execute_here<S, F, C>(
    body: Body<S, F, C>,
    members: Cursor<'_>,
    run: &RunContext,
) -> Ended<C>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    // SAFETY: by the caller's word.
    on_this_stack(run.home, || unsafe { body.execute(members, run) })
}

/// Runs a body of a runtime on the stack of whoever has asked for it.
#[inline]
fn on_this_stack<R>(home: RuntimeId, body: impl FnOnce() -> R) -> R {
    let _nested = current::Nested::enter();
    let before = current::enter(home);
    let result = body();
    current::enter(before);
    result
}

/// Takes the cowns of the slots if all of them are free.
///
/// # Safety
/// As [`claim::take_all`]; but a cown may be named twice, and is not free then.
#[inline]
unsafe fn take_all(slots: &[Slot]) -> bool {
    // SAFETY: alive, by the caller's word.
    if slots.iter().any(|slot| unsafe { slot.member().header() }.is_grouped()) {
        // SAFETY: by the caller's word.
        return unsafe { take_groups(slots) };
    }
    // SAFETY: by the caller's word.
    if !unsafe { claim::take_all(slots.iter()) } {
        return false;
    }
    for slot in slots.iter().filter(|slot| slot.member().is_read()) {
        // SAFETY: taken, and read from here on.
        unsafe { claim::become_reader(slot) };
    }
    true
}

/// The same where some of the cowns are members of groups, each of which is taken once.
///
/// # Safety
/// As [`take_all`].
#[cold]
unsafe fn take_groups(slots: &[Slot]) -> bool {
    // SAFETY: alive, by the caller's word.
    let is_grouped = |slot: &&Slot| unsafe { slot.member().header() }.is_grouped();
    let mut grouped = Grouped::default();
    slots.iter().filter(is_grouped).for_each(|slot| grouped.push(NonNull::from(slot)));
    // SAFETY: not queued yet, and alive.
    if unsafe { grouped.join(&mut |_, _| ()) }.overlaps {
        return false;
    }
    // SAFETY: by the caller's word; one request of each group is left.
    if !unsafe { claim::take_all(slots.iter().filter(|slot| !slot.is_joined())) } {
        return false;
    }
    for slot in slots.iter().filter(|slot| slot.member().is_read() && !is_grouped(slot)) {
        // SAFETY: taken, and read from here on.
        unsafe { claim::become_reader(slot) };
    }
    true
}

fn cursor_over(slots: &[Slot]) -> Cursor<'_> {
    let first = slots.first().map_or(null(), Slot::member_ptr);
    // SAFETY: the members lie in the slots, one slot's size apart.
    unsafe { Cursor::new(first, size_of::<Slot>(), slots.len()) }
}

#[cfg(all(test, loom))]
mod loom;
