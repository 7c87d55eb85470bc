//! Detained behaviours: they keep their cowns until a guard is dropped, without a thread.
//!
//! Such a behaviour is a [`Multi`] that runs in *steps*. The first is the closure; between two of
//! them it is *parked*: a task that holds its cowns, as one does that is ready, but lies in no
//! queue of the scheduler. Its guard has it go on: with another step, or to the end, where the
//! cowns are released.
//!
//! [`DetentionProgress`], behind a lock, records which thread owns the task. The guard may be used
//! while a step still runs, on any thread; then the step's own thread goes on when that has ended.

mod detention_table;
#[cfg(all(test, loom))]
mod loom;
#[cfg_attr(loom, path = "detain/registration_in_model.rs")]
mod registration;

use std::alloc::Layout;
use std::any::type_name;
use std::marker::PhantomData;
use std::mem::replace;
use std::sync::Arc;

use coact_sync::shim::sync::Mutex;

use self::detention_table::CutOff;
pub(crate) use self::detention_table::DetentionTable;
use self::registration::{DetentionRegistration, count_cut_off};
use super::admission::{self, AdmittedCompletion};
use super::announcement::SetAnnouncement;
use super::multi::{PreparedBehaviour, cursor, layout_of};
use super::refusal::{Refusal, WhenError};
use super::refuse::{panic_refused, refuse_outside};
use super::sorted_requests::{RequestList, sort};
use super::spawn_checks;
use crate::body::{BehaviourName, Body, BodyOutcome, Completion, NamedCompletion, NoResult};
use crate::cown::commit_participant::{CommitOutcome, HeldParticipant, PendingCommit};
use crate::cown::member_cursor::MemberCursor;
use crate::cown::set::CownSet;
use crate::fault::Broken;
use crate::panic::drop_quietly;
use crate::queue::append::{StepEntry, append_all};
use crate::queue::claim;
use crate::queue::multi_block::{LiveMulti, link};
use crate::queue::release::release;
use crate::runtime_ids::RuntimeId;
use crate::sched::{DeferredReady, Successor, at_work_in, schedule};
use crate::simulated;
use crate::task::{RunContext, TaskPtr, TaskVTable};

/// Spawns a behaviour that ends when its guard is dropped, not when its closure returns, and keeps
/// its cowns until then. No thread waits: for a commit that takes milliseconds, an answer from
/// elsewhere.
///
/// Its place in the order is that of [`when`](crate::when). The closure also gets the guard, and
/// passes it on, to whatever is waited for. Until it is dropped, behaviours on the same cowns wait,
/// and actors among them handle neither messages nor signals. With [`resume`](Detained::resume) it
/// gets the states once more, as they were left. Dropping the guard keeps what was changed; to undo
/// it, resume.
///
/// ```
/// # use coact_core as coact;
/// use coact::{Cown, call, when};
/// use coact::behaviour::detain;
/// use std::sync::mpsc;
///
/// let (to_disk, requests) = mpsc::channel();
/// let account = Cown::new(100);
/// detain(&account, move |balance, detained| {
///     *balance -= 30;
///     to_disk.send((*balance, detained)).expect("the disk is there");
/// });
/// let seen = call(&account, |balance| *balance);
///
/// let (on_disk, detained) = requests.recv()?;
/// assert_eq!(on_disk, 70);
/// // It is safe now.
/// drop(detained);
/// assert_eq!(seen.wait(), Ok(70));
/// # Ok::<(), std::sync::mpsc::RecvError>(())
/// ```
///
/// **Panics** of a step poison the cowns as those of other behaviours do, at once; they are
/// released when the guard is dropped, and no further step runs.
///
/// **The runtime** is not idle meanwhile. A [shutdown](crate::Runtime::shutdown) waits for the
/// guard until its deadline; then the cowns are released, what waits for them is dropped, and the
/// guard has no effect any more. A guard that is leaked keeps its cowns until then.
///
/// **Cost.** Three allocations, two locks and an entry in a table of the runtime, besides what a
/// behaviour on several cowns costs; another task for each step and for the end, unless the guard
/// is used before the step has ended.
///
/// # Panics
/// See [`when`](crate::when).
#[track_caller]
pub fn detain<S, F>(set: S, closure: F)
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>, Detained<S::Owned>) + Send + 'static,
{
    simulated::spawns();
    if let Err((refusal, closure)) = spawn_first::<S, F>(set, closure) {
        panic_refused((refusal, closure, NoResult));
    }
}

/// Like [`detain`], but returns an error if it cannot spawn.
///
/// ```
/// # use coact_core as coact;
/// use coact::Cown;
/// use coact::behaviour::{Refusal, try_detain};
///
/// let cown = Cown::new(0);
/// let error = try_detain((&cown, &cown), |_, detained| drop(detained)).unwrap_err();
/// assert!(matches!(error.refusal, Refusal::Overlap(_)));
/// ```
///
/// # Errors
/// See [`try_when`](crate::try_when).
#[cfg_attr(feature = "sim", track_caller)]
pub fn try_detain<S, F>(set: S, closure: F) -> Result<(), WhenError<F>>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>, Detained<S::Owned>) + Send + 'static,
{
    if spawn_checks::is_closed(&set) {
        return Err(WhenError { refusal: Refusal::Closed, closure });
    }
    simulated::spawns();
    spawn_first::<S, F>(set, closure).map_err(|(refusal, closure)| WhenError { refusal, closure })
}

/// The guard of a [detained](detain) behaviour, which ends when this is dropped.
///
/// Dropping it does not wait, and runs no code of the user: a worker releases the cowns. Its type
/// names the set with owned handles, which have no names of their own. Where a type has to be
/// named, put what is to happen into a box: `Box<dyn FnOnce() + Send>` for a closure that resumes,
/// `Box<dyn Send>` for a guard that is only dropped.
#[must_use = "the behaviour ends when its guard is dropped"]
pub struct Detained<S: CownSet + Send + 'static> {
    /// `None` once it was used.
    detention: Option<Arc<Detention<S>>>,
}

impl<S: CownSet + Send + 'static> Detained<S> {
    /// Gives the states to another closure, on a worker, with the guard; the cowns stay held in
    /// between. If an earlier step has panicked, or the runtime is past the deadline of its
    /// shutdown, the closure is dropped, and the behaviour ends.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::{Cown, call};
    /// use coact::behaviour::detain;
    /// use std::thread;
    ///
    /// let account = Cown::new((100, "open"));
    /// detain(&account, |account, detained| {
    ///     account.1 = "closing";
    ///     thread::spawn(move || {
    ///         // Whatever takes long.
    ///         detained.resume(|account, _detained| account.1 = "closed");
    ///     });
    /// });
    /// assert_eq!(call(&account, |account| account.1).wait(), Ok("closed"));
    /// ```
    pub fn resume<F>(mut self, step: F)
    where
        F: for<'a> FnOnce(S::Access<'a>, Detained<S>) + Send + 'static,
    {
        self.request(ResumeRequest::Step(DetainedStep::calling(step)));
    }

    /// Has the behaviour take a step of ours.
    pub(super) fn go_on(mut self, name: BehaviourName, step: StepCall<S>) {
        self.request(ResumeRequest::Step(DetainedStep { call: step, name }));
    }

    fn request(&mut self, request: ResumeRequest<S>) {
        if let Some(detention) = self.detention.take() {
            simulated::point();
            detention.request(request);
        }
    }
}

impl<S: CownSet + Send + 'static> Drop for Detained<S> {
    fn drop(&mut self) {
        self.request(ResumeRequest::End);
    }
}

impl<S: CownSet + Send + 'static> std::fmt::Debug for Detained<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Detained").finish_non_exhaustive()
    }
}

/// What is done in a step. Returns whether it has failed: then no other follows.
pub(super) type StepCall<S> = Box<dyn FnOnce(StepTurn<'_, S>, Detained<S>) -> bool + Send>;

/// A step of a detained behaviour.
pub(super) struct DetainedStep<S: CownSet + Send + 'static> {
    pub(super) call: StepCall<S>,
    pub(super) name: BehaviourName,
}

impl<S: CownSet + Send + 'static> DetainedStep<S> {
    /// One that gives the states to a closure.
    fn calling<F>(closure: F) -> Self
    where
        F: for<'a> FnOnce(S::Access<'a>, Detained<S>) + Send + 'static,
    {
        let name: BehaviourName = type_name::<F>;
        let call = move |mut turn: StepTurn<'_, S>, guard: Detained<S>| {
            let closure = move |access: S::Access<'_>| closure(access, guard);
            let ended = turn.run(closure, NamedCompletion { completion: NoResult, name });
            let has_failed = matches!(ended, BodyOutcome::Failed(..));
            ended.deliver();
            has_failed
        };
        Self { call: Box::new(call), name }
    }
}

/// The states of a behaviour, for a step of it.
pub(super) struct StepTurn<'a, S: CownSet + Send + 'static> {
    shape: S::Shape,
    members: MemberCursor<'a>,
    set: &'a S,
    context: &'a RunContext,
    /// What is dropped when the cowns are released.
    pub(super) stages: &'a mut Option<Box<dyn DetainedStages<S>>>,
}

impl<S: CownSet + Send + 'static> StepTurn<'_, S> {
    /// Calls a closure with the states, unless it is refused.
    pub(super) fn run<F, C>(&mut self, closure: F, completion: C) -> BodyOutcome<C>
    where
        F: for<'a> FnOnce(S::Access<'a>) -> C::Value,
        C: Completion,
    {
        // The handles that the access, or its refusal, takes over.
        self.set.to_owned_set().give();
        let body = Body::<S, F, C>::new(self.shape, closure, completion);
        // SAFETY: the behaviour holds the cowns of the cursor, which are those of the shape, and
        // this thread has it: see `take_step`. There is no other access meanwhile, as that would
        // borrow this.
        unsafe { body.execute(self.members.clone(), self.context) }
    }

    /// Fails the members, as a panic of a closure does.
    pub(super) fn fail(&self, why: &Broken) {
        // SAFETY: the behaviour holds the members.
        unsafe { self.members.fail(why) };
    }

    /// Shows the members that take part in the commit.
    pub(super) fn visit_participants(&mut self, look: &mut dyn FnMut(HeldParticipant<'_>)) {
        // SAFETY: as in `run`.
        unsafe { S::visit_participants(self.shape, &mut self.members.clone(), look) };
    }
}

/// What a behaviour of several stages keeps between them. It is dropped when its cowns are
/// released.
pub(super) trait DetainedStages<S: CownSet + Send + 'static>: Send {
    /// Goes on, or hands the guard to what it waits for. (The turn's stages are these, and not
    /// there meanwhile.) Returns what a pipelined behaviour leaves to be committed; it ends then,
    /// without these.
    fn go_on(
        &mut self,
        turn: &mut StepTurn<'_, S>,
        guard: Detained<S>,
    ) -> Option<Box<dyn PendingCommit>>;

    /// Ends, with the outcome of the commit if it is known.
    fn commit_ended(&mut self, turn: &mut StepTurn<'_, S>, outcome: Option<CommitOutcome>);

    /// Tells the outcome of the commit of a pipelined behaviour, which has ended.
    fn pipelined_commit_ended(&mut self, outcome: CommitOutcome);
}

/// How a behaviour is to go on.
enum ResumeRequest<S: CownSet + Send + 'static> {
    Step(DetainedStep<S>),
    End,
    /// The runtime is past its deadline: to the end, unless the guard says that before.
    CutOff,
}

/// Who has the behaviour's task.
enum DetentionProgress<S: CownSet + Send + 'static> {
    /// Its queues or the scheduler, to go on like this.
    Queued(ResumeRequest<S>),
    /// A step that runs. The guard has said by now how to go on, or has not.
    Running(Option<ResumeRequest<S>>),
    /// This: the step has ended, and the guard was not used.
    Parked(ParkedTask),
    /// No thread: it has ended, or is about to.
    Over,
}

/// The task of a parked behaviour.
struct ParkedTask {
    task: TaskPtr,
    home: RuntimeId,
    has_failed: bool,
}

// SAFETY: the task holds its cowns and is in no queue. The thread that takes it out of
// `DetentionProgress`, under the lock, is the only one that has it, and may give it to the
// scheduler: what is in its block is `Send` (a `DetainedBody` of a set that is).
unsafe impl Send for ParkedTask {}

/// What a behaviour and its guard share.
struct Detention<S: CownSet + Send + 'static>(Mutex<DetentionProgress<S>>);

/// What is done when a step has ended.
enum AfterStep {
    /// The guard has the behaviour now.
    Park,
    /// Another step follows.
    GoOn,
    End,
}

impl<S: CownSet + Send + 'static> Detention<S> {
    fn set(&self, progress: DetentionProgress<S>) {
        // User code is dropped without the lock.
        let before = replace(&mut *self.0.lock(), progress);
        drop_quietly(move || drop(before));
    }

    /// Takes the request with which the task was queued.
    fn begin(&self) -> ResumeRequest<S> {
        let mut progress = self.0.lock();
        match replace(&mut *progress, DetentionProgress::Over) {
            DetentionProgress::Queued(ResumeRequest::Step(step)) => {
                *progress = DetentionProgress::Running(None);
                ResumeRequest::Step(step)
            }
            DetentionProgress::Queued(request) => request,
            _ => unreachable!("a task runs as it was queued"),
        }
    }

    /// Says how the behaviour is to go on, and gives it to the scheduler if it is parked.
    fn request(&self, request: ResumeRequest<S>) {
        let mut progress = self.0.lock();
        match replace(&mut *progress, DetentionProgress::Over) {
            DetentionProgress::Running(None) => {
                *progress = DetentionProgress::Running(Some(request))
            }
            DetentionProgress::Running(Some(ResumeRequest::CutOff))
                if matches!(request, ResumeRequest::End) =>
            {
                *progress = DetentionProgress::Running(Some(request));
            }
            DetentionProgress::Parked(ParkedTask { task, home, has_failed }) => {
                let (request, unused) = match request {
                    ResumeRequest::Step(step) if has_failed => (ResumeRequest::End, Some(step)),
                    request => (request, None),
                };
                *progress = DetentionProgress::Queued(request);
                drop(progress);
                schedule(task, home);
                drop_quietly(move || drop(unused));
            }
            // It was cut off.
            before => {
                *progress = before;
                drop(progress);
                drop_quietly(move || drop(request));
            }
        }
    }

    /// Takes note that a step has ended. If the behaviour is parked then, its task may be gone.
    fn step_ended(&self, parked: ParkedTask) -> AfterStep {
        simulated::point();
        let mut progress = self.0.lock();
        match replace(&mut *progress, DetentionProgress::Over) {
            DetentionProgress::Running(None) => {
                *progress = DetentionProgress::Parked(parked);
                AfterStep::Park
            }
            DetentionProgress::Running(Some(ResumeRequest::Step(step))) if !parked.has_failed => {
                *progress = DetentionProgress::Queued(ResumeRequest::Step(step));
                AfterStep::GoOn
            }
            unused => {
                drop(progress);
                if matches!(unused, DetentionProgress::Running(Some(ResumeRequest::CutOff))) {
                    count_cut_off(parked.home);
                }
                drop_quietly(move || drop(unused));
                AfterStep::End
            }
        }
    }
}

impl<S: CownSet + Send + 'static> CutOff for Detention<S> {
    /// The runtime is past its deadline: the behaviour ends, whatever becomes of its guard.
    fn cut_off(&self) {
        let mut progress = self.0.lock();
        match replace(&mut *progress, DetentionProgress::Over) {
            DetentionProgress::Parked(ParkedTask { task, home, .. }) => {
                *progress = DetentionProgress::Queued(ResumeRequest::End);
                drop(progress);
                count_cut_off(home);
                schedule(task, home);
            }
            DetentionProgress::Running(unused @ (None | Some(ResumeRequest::Step(_)))) => {
                *progress = DetentionProgress::Running(Some(ResumeRequest::CutOff));
                drop(progress);
                drop_quietly(move || drop(unused));
            }
            // It is about to run. It must not park once more: no one would cut it off then.
            DetentionProgress::Queued(unused @ ResumeRequest::Step(_)) => {
                *progress = DetentionProgress::Queued(ResumeRequest::CutOff);
                drop(progress);
                drop_quietly(move || drop(unused));
            }
            before => *progress = before,
        }
    }
}

/// What is in the block of a detained behaviour, behind its requests, until it ends. (As a
/// completion: so it is in the place of a body that has one.)
struct DetainedBody<S: CownSet + Send + 'static> {
    detention: Arc<Detention<S>>,
    /// For the handles that each step may get. `None` at the end.
    set: Option<S>,
    /// Until the first step.
    admitted: Option<AdmittedCompletion<NoResult>>,
    name: BehaviourName,
    /// From the first step on.
    enrolled: Option<DetentionRegistration>,
    stages: Option<Box<dyn DetainedStages<S>>>,
}

impl<S: CownSet + Send + 'static> Completion for DetainedBody<S> {
    type Value = ();
    const FORGETS: bool = true;

    fn done(self, (): ()) {}

    fn failed(self, _: Broken) {}

    fn name(&self) -> Option<BehaviourName> {
        Some(self.name)
    }
}

/// The place of the closure, which is in [`DetentionProgress`].
type NoClosure<S> = for<'a> fn(<S as CownSet>::Access<'a>);

type ResidentBody<S> = Body<S, NoClosure<S>, DetainedBody<S>>;

/// What becomes of the content of a behaviour that was not refused: its first step, and its stages.
pub(super) type FirstStep<S> = (DetainedStep<S>, Option<Box<dyn DetainedStages<S>>>);

fn spawn_first<S, F>(set: S, closure: F) -> Result<(), (Refusal, F)>
where
    S: CownSet,
    F: for<'a> FnOnce(S::Access<'a>, Detained<S::Owned>) + Send + 'static,
{
    const {
        assert!(
            !S::KIND.commits,
            "a behaviour over durable members is detained until it is committed: use `when` or `call`"
        );
    }
    let step =
        |closure: F| move |access: S::Access<'_>, guard: Detained<S::Owned>| closure(access, guard);
    spawn::<S, F, F>(set, closure, |closure| (DetainedStep::calling(step(closure)), None), None)
}

/// Runs a behaviour that holds its cowns, on the calling thread.
pub(super) type RunHere = unsafe fn(TaskPtr, RuntimeId);

/// Spawns a detained behaviour, named after `N`. The content comes back if it is refused. If all
/// its cowns are free, and may be taken at once, it is run here.
pub(super) fn spawn<S, N, T>(
    set: S,
    content: T,
    begin: impl FnOnce(T) -> FirstStep<S::Owned>,
    here: Option<RunHere>,
) -> Result<(), (Refusal, T)>
where
    S: CownSet,
{
    if let Err(refusal) = spawn_checks::count_members(&set) {
        return Err((refusal, content));
    }
    if spawn_checks::is_set_out_of_reach(&set) {
        refuse_outside(content, NoResult);
    }
    let owned = set.to_owned_set();
    let (announced, asks) = SetAnnouncement::new(&owned);
    let admitted = match asks.then(|| admission::ask(&owned)).transpose() {
        Ok(admitted) => admitted,
        Err(refusal) => return Err((refusal, content)),
    };
    let mut requests = RequestList::new();
    let mut collect = |request| requests.push(request);
    let node = prepare::<S::Owned, N, T>(&owned, content, begin, admitted, &mut collect)?;
    sort(&mut requests);
    // SAFETY: the node was prepared, and is not appended; the handles of `owned` keep its cowns
    // alive, which are distinct.
    unsafe {
        let home = spawn_checks::home_of(&owned);
        at_work_in(home, || {
            let here =
                here.filter(|_| !S::KIND.has_reads && requests.len() == owned.member_count());
            if let Some(run) = here.filter(|_| claim::take_all(node.requests())) {
                // A cown may have moved before it was taken.
                if node.home() == home {
                    run(node.task(), home);
                } else {
                    schedule(node.task(), node.home());
                }
            } else if requests.is_empty() {
                schedule(node.task(), node.home());
            } else {
                append_all(&mut requests, &mut schedule);
            }
        });
    }
    drop(announced);
    drop_quietly(move || drop((owned, set)));
    Ok(())
}

/// Makes the block of a behaviour, and passes its requests on. It has members that can be counted.
///
/// # Errors
/// No behaviour can hold these cowns.
pub(super) fn prepare<S, N, T>(
    set: &S,
    content: T,
    begin: impl FnOnce(T) -> FirstStep<S>,
    admitted: Option<AdmittedCompletion<NoResult>>,
    requests: &mut dyn FnMut(StepEntry),
) -> Result<LiveMulti, (Refusal, T)>
where
    S: CownSet<Owned = S> + Send + 'static,
{
    let len = set.member_count() as u32;
    let detention = Arc::new(Detention(Mutex::new(DetentionProgress::Over)));
    let resident = DetainedBody {
        detention: Arc::clone(&detention),
        set: Some(set.to_owned_set()),
        admitted,
        name: type_name::<N>,
        enrolled: None,
        stages: None,
    };
    let no_closure: NoClosure<S> = |_| unreachable!("it is not called");
    let mut prepared = PreparedBehaviour::new(set, len, no_closure, resident, requests);
    if let Err(refusal) = prepared.check_and_bind(|| false) {
        let (_, resident) = prepared.dismantle();
        drop_quietly(move || drop(resident));
        return Err((refusal, content));
    }
    let (step, stages) = begin(content);
    detention.set(DetentionProgress::Queued(ResumeRequest::Step(step)));
    let node = prepared.into_node();
    // SAFETY: this thread owns the node, which is not appended, and has the resident in this place.
    unsafe {
        resident_of::<S>(node).stages = stages;
        node.ptr().as_mut().set_vtable(&DetainedVTable::<S, N>::VTABLE);
    }
    Ok(node)
}

/// Drops a behaviour that was [prepared](prepare), and not appended.
///
/// # Safety
/// It is on a set of this type, and the caller owns it.
pub(super) unsafe fn discard<S: CownSet + Send + 'static>(node: LiveMulti) {
    // SAFETY: the node is of these types, and was not appended.
    let prepared =
        unsafe { PreparedBehaviour::<S, NoClosure<S>, DetainedBody<S>>::from_node(node) };
    let (_, resident) = prepared.dismantle();
    drop_quietly(move || drop(resident));
}

/// The functions of a behaviour whose first closure is an `F`.
struct DetainedVTable<S, F>(PhantomData<(S, F)>);

impl<S: CownSet + Send + 'static, F> DetainedVTable<S, F> {
    const VTABLE: TaskVTable = TaskVTable::new(run::<S>, link, type_name::<F>);
}

/// The layout of the block, and where the resident is in it.
fn layout<S: CownSet + Send + 'static>(node: LiveMulti) -> (Layout, usize) {
    layout_of::<ResidentBody<S>>(node.len())
}

/// # Safety
/// The behaviour is one on such a set that has not ended, and the caller has it.
unsafe fn resident_of<'a, S: CownSet + Send + 'static>(node: LiveMulti) -> &'a mut DetainedBody<S> {
    // SAFETY: the block has the body in this place until the behaviour ends.
    unsafe {
        &mut node.ptr().byte_add(layout::<S>(node).1).cast::<ResidentBody<S>>().as_mut().completion
    }
}

/// Goes on with a behaviour.
///
/// # Safety
/// The task is of this type and holds its cowns, and no other thread has it.
unsafe fn run<S: CownSet + Send + 'static>(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
    // SAFETY: this thread has the task, which ends only here.
    let node = unsafe { LiveMulti::new(task.cast()) };
    // SAFETY: this thread has the task, whose block has the resident in this place until it ends.
    let body =
        unsafe { node.ptr().byte_add(layout::<S>(node).1).cast::<ResidentBody<S>>().as_mut() };
    let detention = Arc::clone(&body.completion.detention);
    let request = detention.begin();
    if let ResumeRequest::CutOff = request {
        count_cut_off(context.home);
    }
    if let ResumeRequest::Step(step) = request {
        // SAFETY: the task holds its cowns, and this thread has it.
        let has_failed = unsafe { take_step(node, body, step, context) };
        let parked = ParkedTask { task, home: context.home, has_failed };
        match detention.step_ended(parked) {
            AfterStep::Park => return None,
            AfterStep::GoOn => {
                schedule(task, context.home);
                return None;
            }
            AfterStep::End => {}
        }
    }
    // SAFETY: the task holds its cowns, and this thread has it; nothing refers to the resident any
    // more.
    unsafe { end::<S>(node, context) }
}

/// Takes a step. Returns whether it has failed.
///
/// # Safety
/// The behaviour holds its cowns, and this thread has it.
unsafe fn take_step<S: CownSet + Send + 'static>(
    node: LiveMulti,
    body: &mut ResidentBody<S>,
    step: DetainedStep<S>,
    context: &RunContext,
) -> bool {
    let DetainedBody { detention, set, admitted, enrolled, stages, .. } = &mut body.completion;
    body.spawned.begins();
    if let Some(mut admitted) = admitted.take() {
        admitted.begins();
    }
    if enrolled.is_none() {
        *enrolled = Some(DetentionRegistration::new(context.home, detention));
    }
    let guard = Detained { detention: Some(Arc::clone(detention)) };
    let set = set.as_ref().expect("it is there until the end");
    // SAFETY: the behaviour is live.
    let members = unsafe { cursor(node) };
    let turn = StepTurn { shape: body.shape, members, set, context, stages };
    let has_failed = (step.call)(turn, guard);
    body.spawned.detains();
    has_failed
}

/// Releases the cowns of a behaviour, which is gone then.
///
/// # Safety
/// See [`run`].
unsafe fn end<S: CownSet + Send + 'static>(
    node: LiveMulti,
    context: &RunContext,
) -> Option<TaskPtr> {
    // SAFETY: this thread has the task, whose block has the resident in this place.
    let set = unsafe {
        let body = node.ptr().byte_add(layout::<S>(node).1).cast::<ResidentBody<S>>().as_mut();
        body.completion.set.take()
    };
    // Before others get the cowns, which may take the states out with the last handle. (If one of
    // these is the last, the cown ends when it is released.)
    drop_quietly(move || drop(set));
    let mut successor = Successor::new(context.home);
    // SAFETY: the behaviour holds all its cowns. Its exclusive requests stay in their queues, where
    // a successor may write `next`, until they are released one by one; after the last this thread
    // owns the block.
    let resident = unsafe {
        let (layout, offset) = layout::<S>(node);
        let mut deferring = DeferredReady::new(&mut successor);
        for slot in node.slots() {
            release(slot, &mut deferring);
        }
        deferring.finish();
        let resident = node.ptr().byte_add(offset).cast::<ResidentBody<S>>().read();
        coact_sync::pool::dealloc(node.ptr().cast(), layout);
        resident
    };
    drop_quietly(move || drop(resident));
    successor.take()
}
