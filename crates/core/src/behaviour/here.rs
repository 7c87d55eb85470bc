//! Behaviours that run inline, on the calling thread, if their cowns are free.

use crate::current;
use std::mem::size_of;
use std::ptr::{NonNull, null};

use coact_sync::patience::Patience;
use smallvec::SmallVec;

use super::pair;
use super::placing::{self, count_members};
use crate::behaviour::answer::Answer;
use crate::body::{Body, Completion, Ended, Forget, Panicked};
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

/// The most bodies that can be nested on one stack.
pub const MAX_NESTED_HERE: u32 = 32;

/// Runs a behaviour inline, on the calling thread, if all its cowns are free and nothing is queued
/// on them; otherwise spawns it like [`when`](crate::when). Returns `true` if it ran inline, or was
/// skipped inline because of poison.
///
/// The order is that of `when`: a behaviour may run at any time after it is spawned, including
/// right away. The price is the caller's time.
///
/// **Cost.** With free cowns, two atomic operations per cown and no allocation: about as much as
/// locking and unlocking a mutex for each. With a busy cown, that attempt in addition to `when`. A
/// thread that is not a worker first tries again for some microseconds (for one or two cowns, and
/// less if that has been in vain before), since otherwise a worker would have to be woken.
///
/// If one of the cowns belongs to a [`Pump`](crate::runtime::Pump), the behaviour runs inline only
/// on that pump's thread, and is spawned elsewhere.
///
/// Calls inside such behaviours nest up to [`MAX_NESTED_HERE`] deep; deeper ones are spawned.
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
/// Panics if the set names a cown twice, cowns of different pumps, or an actor that is full
/// ([`Refusal::Full`](crate::behaviour::Refusal::Full)). A panic of the closure is caught as in
/// `when`.
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

/// [`ask`](crate::ask), run inline if all cowns of the set are free, like [`when_here`]: then the
/// result is available when this returns, without a promise. Otherwise the behaviour is spawned,
/// and the answer is a promise.
///
/// **Cost.** See [`when_here`]; if it is spawned, that attempt in addition to [`ask`](crate::ask).
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
/// Panics if the set names a cown twice, cowns of different pumps, or an actor that is full
/// ([`Refusal::Full`](crate::behaviour::Refusal::Full)). A panic of the closure is caught as in
/// `ask`.
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
        None => Answer::ready(result.expect("an ended behaviour has a result")),
        Some((set, closure, _)) => Answer::pending(crate::ask(set, closure)),
    }
}

/// Stores the result of an inline behaviour for the caller.
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

/// Like [`when_here`], and the caller then also runs what others have queued on the cowns
/// meanwhile, up to `batch` behaviours, before it hands over to the workers: **caller runs**. So
/// one of several threads works off their burst, with the state in its cache, and no worker is
/// woken for it.
///
/// What becomes ready at the end of such a behaviour runs here as it would on a worker: the next
/// one on the same cown, or one on several cowns that has waited for this cown. Behaviours of other
/// runtimes are left to these.
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
/// See [`when_here`].
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

/// The same; returns the set and the closure instead of spawning.
#[inline]
pub(crate) fn serve<S, F>(set: S, batch: u32, closure: F) -> Option<(S, F)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
{
    let Some((place, members)) = place_here(&set) else { return Some((set, closure)) };
    let home = place.home;
    let refused = place.at_work(|| {
        let mut next = Successor::new(home);
        let refused = match members {
            Few::No => claim_and_run(set, home, closure, Forget, &mut next),
            // SAFETY: the members are those of the set, whose handles keep them alive.
            _ => unsafe {
                run_plain::<false, _, _, _>(set, members, home, closure, Forget, &mut next)
            },
        };
        if let Some(task) = next.take() {
            run_batch(task, home, batch);
        }
        refused
    });
    refused.map(|(set, closure, Forget)| (set, closure))
}

/// Spawns what cannot run inline, and returns `false`.
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

/// Runs a task of a runtime, and those that follow it, up to `batch`; leaves the rest to the
/// workers.
#[cold]
fn run_batch(task: TaskPtr, home: RuntimeId, batch: u32) {
    // A model has no runtime.
    let in_model = RunContext::new(home, Mode::Run);
    let run = if cfg!(loom) { &in_model } else { shared::get(home).run_context() };
    let nested = current::Nested::enter();
    let before = current::enter(home);
    let mut next = Some(task);
    for _ in 0..batch {
        let Some(task) = next else { break };
        // This may be a worker of another runtime, which continues. (Checked each time: the
        // previous task may have run past a shutdown's deadline.)
        let _cancelling = (run.mode() == Mode::Cancel).then(current::Cancelling::enter);
        // SAFETY: a successor is ready, and owned by this thread.
        next = unsafe { run_task(task, run) };
    }
    current::enter(before);
    drop(nested);
    if let Some(task) = next {
        schedule(task, home);
    }
}

/// Returns the set, the closure and the completion if the behaviour cannot run inline. Passes what
/// becomes ready in the end to `ready`.
#[inline]
fn try_here<S, F, C>(set: S, closure: F, completion: C, ready: &mut impl Ready) -> Option<(S, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    if !may_nest() {
        return Some((set, closure, completion));
    }
    let members = Few::of(&set);
    // SAFETY: the set's handles keep the cowns alive.
    let home = unsafe { members.plain_home() };
    // A worker of that runtime has found the cowns in use before, or special.
    let Some(home) = home.filter(|home| !context::is_worker_of(*home)) else {
        return try_any_here(set, closure, completion, ready);
    };
    let Some(home) = open_to_external_threads(home) else {
        return Some((set, closure, completion));
    };
    visiting(home, || {
        // SAFETY: the members are those of the set, whose handles keep them alive.
        unsafe { run_plain::<false, _, _, _>(set, members, home, closure, completion, ready) }
    })
}

/// Like [`try_here`], for any set.
#[inline(never)]
fn try_any_here<S, F, C>(
    set: S,
    closure: F,
    completion: C,
    ready: &mut impl Ready,
) -> Option<(S, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    let Some(place) = place_elsewhere(&set) else { return Some((set, closure, completion)) };
    place.at_work(|| claim_and_run(set, place.home, closure, completion, ready))
}

/// Like [`try_here`], but tries again for a while if the cowns are taken.
#[inline(always)]
fn try_here_for_a_while<S, F, C>(set: S, closure: F, completion: C) -> Option<(S, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    if let Some(worker) = context::worker() {
        let (members, home) = (Few::of(&set), worker.id());
        // SAFETY: the set's handles keep its members alive.
        unsafe {
            if members.are_plain(home) && may_nest() {
                let ready = &mut schedule;
                return run_plain::<true, _, _, _>(set, members, home, closure, completion, ready);
            }
        }
    }
    try_elsewhere(set, closure, completion)
}

/// The same on a thread that is not a worker, or on a set that is not plain.
#[inline(never)]
fn try_elsewhere<S, F, C>(set: S, closure: F, completion: C) -> Option<(S, F, C)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    let (set, closure, completion) = try_here(set, closure, completion, &mut schedule)?;
    keep_trying(set, closure, completion)
}

/// Returns whether to wait briefly for cowns that are taken, instead of waking a worker: other
/// threads may be running similarly short behaviours on them. A worker does not wait, since it has
/// other tasks; neither does a thread inside an inline behaviour, which may itself hold the cowns,
/// nor one that cannot run behaviours on them inline at all. (A behaviour on a blocking thread may
/// poll in vain, if it asks for what it holds: for some microseconds, and less each time.)
fn is_worth_waiting<S: CownSet>(set: &S) -> bool {
    let is_outside = context::worker().is_none() && current::nested_bodies() == 0;
    // A loom model would explore each poll.
    is_outside
        && !cfg!(loom)
        && !simulated::is_inside()
        && Few::has_few_queues(set)
        && place_elsewhere(set).is_some()
}

thread_local! {
    static PATIENCE: Patience = const { Patience::new() };
}

/// Tries again whenever the cowns look free, if that is worthwhile.
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
    // A closure, so that this is a separate instance of `try_here`: the first attempt then has one
    // caller, and stays inline.
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

/// The members of a set that always holds one or two cowns exclusively.
#[derive(Clone, Copy)]
enum Few {
    One(Member),
    /// Two distinct cowns.
    Two([Member; 2]),
    /// Any other set.
    No,
}

impl Few {
    #[inline(always)]
    fn of<S: CownSet>(set: &S) -> Self {
        if S::SINGLE {
            return Few::One(placing::only_member(set));
        }
        pair::distinct(set).map_or(Few::No, Few::Two)
    }

    /// Returns whether the set is one cown outside of groups, or two that can form a pair.
    fn has_few_queues<S: CownSet>(set: &S) -> bool {
        // SAFETY: the set's handles keep the cowns alive.
        let is_grouped = |member: Member| unsafe { member.header() }.is_grouped();
        S::SINGLE && !is_grouped(placing::only_member(set)) || pair::named(set, |_| ()).is_some()
    }

    /// Returns whether a behaviour on the cowns runs in this runtime, and only has to claim them; a
    /// hint.
    ///
    /// # Safety
    /// The cowns are alive.
    #[inline(always)]
    unsafe fn are_plain(self, home: RuntimeId) -> bool {
        // SAFETY: the cowns are alive, as this function requires.
        unsafe {
            match self {
                Few::One(member) => is_plain(member.header(), home),
                Few::Two([a, b]) => are_plain([a.header(), b.header()], home),
                Few::No => false,
            }
        }
    }

    /// Returns whether the queues of such a set look empty; a hint. It does not write, so the
    /// threads that use the cowns keep the cache lines.
    fn look_free<S: CownSet>(set: &S) -> bool {
        // SAFETY: the set's handles keep the cowns alive, which have queues of their own.
        let is_free = |member: Member| unsafe { !member.header().is_in_use(false) };
        match pair::named(set, |_| ()) {
            Some(members) => members.into_iter().all(is_free),
            None => S::SINGLE && is_free(placing::only_member(set)),
        }
    }

    /// Returns the runtime of a behaviour on the cowns if they [are plain](Self::are_plain) there;
    /// a hint.
    ///
    /// # Safety
    /// The cowns are alive.
    #[inline(always)]
    unsafe fn plain_home(self) -> Option<RuntimeId> {
        // SAFETY: the cowns are alive, as this function requires.
        unsafe {
            let first = match self {
                Few::One(first) | Few::Two([first, _]) => first.header(),
                Few::No => return None,
            };
            // (Meaningless for a member of a group, which is not plain.)
            let home = first.home_of_queue();
            self.are_plain(home).then_some(home)
        }
    }
}

/// The flags of a cown that a behaviour cannot simply claim, use and release.
const SPECIAL: u16 = Flags::GROUPED | Flags::INTERRUPT | Flags::POISONED | Flags::CLOSED;

/// Returns whether a behaviour on a cown runs in this runtime, and only has to claim it. Exact for
/// the token holder.
#[inline(always)]
fn is_plain(cown: &CownHeader, home: RuntimeId) -> bool {
    cown.flags.is_plain(home, SPECIAL | Flags::READ) || is_plain_unread(cown, home)
}

/// The same for a cown that has been read.
#[cold]
#[inline(never)]
fn is_plain_unread(cown: &CownHeader, home: RuntimeId) -> bool {
    cown.flags.is_plain(home, SPECIAL) && cown.is_unread()
}

/// The same for two cowns; the runtime is that of the first.
#[inline(always)]
fn are_plain([a, b]: [&CownHeader; 2], home: RuntimeId) -> bool {
    a.flags.is_plain_beside(&b.flags, home, SPECIAL | Flags::PINNED | Flags::READ)
        || are_plain_unread([a, b], home)
}

/// The same for two cowns of which one has been read.
#[cold]
#[inline(never)]
fn are_plain_unread([a, b]: [&CownHeader; 2], home: RuntimeId) -> bool {
    a.flags.is_plain_beside(&b.flags, home, SPECIAL | Flags::PINNED)
        && a.is_unread()
        && b.is_unread()
}

/// Where a behaviour runs inline.
#[derive(Clone, Copy)]
struct HerePlace {
    home: RuntimeId,
    /// The current thread is not a worker of that runtime, but possibly of another.
    is_external: bool,
}

impl HerePlace {
    /// Returns `None` if the current thread must not run behaviours there.
    #[inline(always)]
    fn at(home: RuntimeId) -> Option<Self> {
        let is_external = !context::is_worker_of(home);
        // A worker of another runtime is refused like a plain thread.
        let home = if is_external { open_to_external_threads(home)? } else { home };
        Some(Self { home, is_external })
    }

    /// Runs `work` there, with the current thread visible as being at work.
    #[inline(always)]
    fn at_work<R>(self, work: impl FnOnce() -> R) -> R {
        if self.is_external { visiting(self.home, work) } else { work() }
    }
}

/// Runs `work` while the current thread, which is not a worker of the runtime, is visible to it as
/// being at work.
#[inline(always)]
fn visiting<R>(home: RuntimeId, work: impl FnOnce() -> R) -> R {
    simulated::point();
    // SAFETY: the guard is dropped at the end of this call.
    let _visiting = unsafe { external::enter(home) };
    // A worker of another runtime does not act as a worker meanwhile.
    let _no_worker = AsWorker::none();
    work()
}

/// Returns whether one more body can be nested on this stack.
#[inline(always)]
fn may_nest() -> bool {
    current::nested_bodies() < MAX_NESTED_HERE
}

/// Returns where a behaviour on the set runs, if the current thread may run it inline, and the
/// set's members if they are plain.
#[inline]
fn place_here<S: CownSet>(set: &S) -> Option<(HerePlace, Few)> {
    if !may_nest() {
        return None;
    }
    let members = Few::of(set);
    // SAFETY: the set's handles keep the cowns alive.
    match unsafe { members.plain_home() } {
        Some(home) => Some((HerePlace::at(home)?, members)),
        None => Some((place_elsewhere(set)?, Few::No)),
    }
}

/// The same for any set.
#[inline(never)]
fn place_elsewhere<S: CownSet>(set: &S) -> Option<HerePlace> {
    // A set that is refused is refused by `when`.
    if count_members(set).is_err() {
        return None;
    }
    HerePlace::at(placing::place_of(set).ok()?)
}

/// Returns the runtime if a thread that is not one of its workers may run its behaviours now. (So
/// the caller need not keep the id.)
#[inline(never)]
fn open_to_external_threads(home: RuntimeId) -> Option<RuntimeId> {
    (!placing::is_closed_at(home) && can_run_here(home)).then_some(home)
}

/// Returns whether the current thread may run behaviours of the runtime.
fn can_run_here(home: RuntimeId) -> bool {
    // A model has no runtime.
    if cfg!(loom) {
        return true;
    }
    let shared = shared::get(home);
    !shared.is_pumped() || shared.is_pump_thread()
}

/// Returns the set, the closure and the completion if some cown is not free.
#[inline]
fn claim_and_run<S, F, C>(
    set: S,
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
    let mut slots = SmallVec::<[Slot; 8]>::new();
    set.visit(&mut Visitor(&mut |member: Member| slots.push(Slot::new(member.in_multi()))));
    // From here on the slots do not move: they are in queues.
    // SAFETY: the set's handles keep the cowns alive, and the slots stay until they are released
    // below. (A cown that is named twice is not free the second time.)
    if !unsafe { take_all(&slots) } {
        return Some((set, closure, completion));
    }
    // A cown may have moved before it was taken, and a foreign handle may name another one than
    // before.
    if placing::place_among(slots.iter().map(|slot| slot.member())) != Ok(home) {
        // SAFETY: the cowns were taken, and not given back yet.
        unsafe { release_unused(&slots, ready) };
        return Some((set, closure, completion));
    }
    let body = Body::<S, F, C>::new(set.shape(), closure, completion);
    set.give();
    // SAFETY: all cowns of the set are held, in its order.
    let ended =
        unsafe { execute_here(body, cursor_over(&slots), &RunContext::new(home, Mode::Run)) };
    // SAFETY: the cowns are held up to here.
    unsafe { release_all(&slots, ready) };
    ended.deliver();
    None
}

/// Like [`claim_and_run`], on one or two cowns that [looked plain](Few::are_plain) in this runtime.
/// `BY_WORKER` says that the thread is a worker of it.
///
/// # Safety
/// The members are [those of the set](Few::of), whose handles keep them alive.
#[inline(always)]
unsafe fn run_plain<const BY_WORKER: bool, S, F, C>(
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
    // SAFETY: the cowns are alive, distinct, and in no group, as those that are plain. The slots stay
    // where they are until they are released after the body, and keep the cowns alive up to then. A
    // body that is called holds its cowns: nothing has changed since `is_plain` or `are_plain`, which
    // are exact for the holder, said that it may run here.
    unsafe {
        match members {
            Few::One(member) => {
                // An array, since `end_panicked` takes one: a request that is queued must not move.
                let slots = [Slot::new(member.in_multi())];
                let [slot] = &slots;
                let header = member.header();
                if !claim::take_one_if(slot, header, || is_plain(header, home)) {
                    return Some((set, closure, completion));
                }
                let body = Body::<S, F, C>::new(set.shape(), closure, completion);
                set.give();
                Path::HereOne.take();
                match call_here::<BY_WORKER, _, _, _>(body, &[member], home) {
                    Ok((completion, value)) => {
                        release_one(slot, header, ready);
                        Ended::Done(completion, value).deliver();
                    }
                    Err(panicked) => end_panicked::<F, C>(panicked, &slots, home, ready),
                }
            }
            Few::Two(members) => {
                let slots = members.map(|member| Slot::new(member.in_multi()));
                let [a, b] = &slots;
                let headers = members.map(|member| member.header());
                // A hint, which often saves taking the first in vain.
                if headers[1].is_in_use(true)
                    || !claim::take_two_if([a, b], headers, || are_plain(headers, home))
                {
                    return Some((set, closure, completion));
                }
                let body = Body::<S, F, C>::new(set.shape(), closure, completion);
                set.give();
                Path::HereTwo.take();
                match call_here::<BY_WORKER, _, _, _>(body, &members, home) {
                    Ok((completion, value)) => {
                        release_two(&slots, headers, ready);
                        Ended::Done(completion, value).deliver();
                    }
                    Err(panicked) => end_panicked::<F, C>(panicked, &slots, home, ready),
                }
            }
            Few::No => return Some((set, closure, completion)),
        }
    }
    None
}

/// Calls a body on the caller's stack. A worker enters nothing: on its thread its own runtime is the
/// current one, whatever is entered.
///
/// # Safety
/// The members are those of the body's set, which are held.
#[inline(always)]
unsafe fn call_here<const BY_WORKER: bool, S, F, C>(
    body: Body<S, F, C>,
    members: &[Member],
    home: RuntimeId,
) -> Result<(C, C::Value), Panicked<C>>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>) -> C::Value + Send,
    C: Completion,
{
    // SAFETY: the members are side by side in the slice.
    let mut cursor = unsafe { Cursor::new(members.as_ptr(), size_of::<Member>(), members.len()) };
    // SAFETY: the members are held, and match the body's shape.
    let call = || unsafe { body.call(&mut cursor) };
    if !BY_WORKER {
        return on_this_stack(home, call);
    }
    Path::HereOnWorker.take();
    let _nested = current::Nested::enter();
    call()
}

/// Handles a body that has panicked: poisons and releases its cowns, and delivers the outcome.
///
/// # Safety
/// The slots, where they were queued, hold the cowns of the body exclusively. Afterwards they are in
/// no queue.
#[cold]
#[inline(never)]
unsafe fn end_panicked<F, C: Completion>(
    panicked: Panicked<C>,
    slots: &[Slot],
    home: RuntimeId,
    ready: &mut impl Ready,
) {
    // SAFETY: the slots hold the cowns of the body up to `release_all`.
    let ended = unsafe {
        let ended = on_this_stack(home, || panicked.tell::<F>(&cursor_over(slots), home));
        release_all(slots, ready);
        ended
    };
    ended.deliver();
}

/// Gives back cowns that were taken but cannot be used here.
///
/// # Safety
/// See [`release_all`].
#[cold]
#[inline(never)]
unsafe fn release_unused(slots: &[Slot], ready: &mut impl Ready) {
    // SAFETY: the conditions are those of `release_all`.
    unsafe { release_all(slots, ready) };
}

/// Releases the cowns of the slots.
///
/// # Safety
/// The slots hold their cowns. Afterwards they are in no queue.
#[inline]
unsafe fn release_all(slots: &[Slot], ready: &mut impl Ready) {
    let mut deferring = Deferring::new(ready);
    for slot in slots {
        // SAFETY: the slot still holds its cown, and is released once.
        unsafe { release(NonNull::from(slot), &mut deferring) };
    }
    deferring.finish();
}

/// Releases a cown that was held exclusively, and is in no group.
///
/// # Safety
/// See [`release_all`]; the header is that of the cown.
#[inline(always)]
unsafe fn release_one(slot: &Slot, header: &CownHeader, ready: &mut impl Ready) {
    // SAFETY: the slot holds the cown exclusively, so it is the head and this thread has the token.
    unsafe {
        if !leave_alone(header, NonNull::from(slot)) {
            release_exclusive_to_others(NonNull::from(slot), ready);
        }
    }
}

/// The same if there is a successor.
///
/// # Safety
/// See [`release_exclusive`].
#[cold]
#[inline(never)]
unsafe fn release_exclusive_to_others(slot: NonNull<Slot>, ready: &mut impl Ready) {
    // SAFETY: the conditions are those of `release_exclusive`.
    unsafe { release_exclusive(slot, ready) };
}

/// Releases two cowns that were held exclusively, and are in no group.
///
/// # Safety
/// See [`release_all`]; the headers are those of the cowns.
#[inline(always)]
unsafe fn release_two(slots: &[Slot; 2], headers: [&CownHeader; 2], ready: &mut impl Ready) {
    let [a, b] = slots;
    // SAFETY: the slots hold the cowns exclusively, so they are the heads and this thread has the
    // tokens.
    unsafe {
        if !leave_alone(headers[0], NonNull::from(a)) {
            release_two_to_others(slots, ready);
        } else {
            release_one(b, headers[1], ready);
        }
    }
}

/// The same if there are successors.
///
/// # Safety
/// See [`release_all`].
#[cold]
#[inline(never)]
unsafe fn release_two_to_others(slots: &[Slot; 2], ready: &mut impl Ready) {
    let mut deferring = Deferring::new(ready);
    for slot in slots {
        // SAFETY: the slot holds its cown exclusively, and is released once.
        unsafe { release_exclusive(NonNull::from(slot), &mut deferring) };
    }
    deferring.finish();
}

/// Runs a body on the caller's stack.
///
/// # Safety
/// See [`Body::execute`].
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
    // SAFETY: the conditions are those of `Body::execute`.
    on_this_stack(run.home, || unsafe { body.execute(members, run) })
}

/// Runs a body of a runtime on the caller's stack.
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
/// See [`claim::take_all`]; but a cown may be named twice, and is then not free.
#[inline]
unsafe fn take_all(slots: &[Slot]) -> bool {
    // SAFETY: the cowns are alive, as this function requires.
    if slots.iter().any(|slot| unsafe { slot.member().header() }.is_grouped()) {
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
    // SAFETY: the cowns are alive, as this function requires.
    let is_grouped = |slot: &&Slot| unsafe { slot.member().header() }.is_grouped();
    let mut grouped = Grouped::default();
    slots.iter().filter(is_grouped).for_each(|slot| grouped.push(NonNull::from(slot)));
    // SAFETY: the slots are unqueued, and their cowns alive.
    if unsafe { grouped.join(&mut |_, _| ()) }.overlaps {
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

fn cursor_over(slots: &[Slot]) -> Cursor<'_> {
    let first = slots.first().map_or(null(), Slot::member_ptr);
    // SAFETY: the members are in the slots, one slot's size apart.
    unsafe { Cursor::new(first, size_of::<Slot>(), slots.len()) }
}

#[cfg(all(test, loom))]
mod loom;
