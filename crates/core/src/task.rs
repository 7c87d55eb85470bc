//! What the scheduler runs: a type-erased piece of work with a one-word header.

use std::ptr::NonNull;

use coact_sync::shim::atomic::AtomicPtr;
use coact_sync::shim::process::{AtomicU32, Ordering};

use crate::attend::guard::Kind;
use crate::behaviour::slot::Slot;
use crate::ids::RuntimeId;
use crate::sched::offer_to_worker;

/// The header of everything that can be scheduled. The concrete type begins with it (`repr(C)`).
#[repr(C)]
pub(crate) struct Task {
    pub(crate) vtable: &'static TaskVTable,
}

/// A pointer to a task that is ready to run: whoever has it runs it exactly once.
pub(crate) type TaskPtr = NonNull<Task>;

/// Takes the tasks that an operation on the queues makes ready, with the runtime each belongs to.
pub(crate) trait Ready {
    fn ready(&mut self, task: TaskPtr, home: RuntimeId);

    /// The same for a task that is taken without running foreign code; says whether it was.
    #[inline]
    fn offer(&mut self, task: TaskPtr, home: RuntimeId) -> bool {
        offer_to_worker(task, home)
    }
}

impl<F: FnMut(TaskPtr, RuntimeId)> Ready for F {
    #[inline]
    fn ready(&mut self, task: TaskPtr, home: RuntimeId) {
        self(task, home);
    }
}

/// How the tasks of a runtime are to be treated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Run the bodies.
    Run,
    /// The runtime is past its shutdown deadline: drop the bodies, but let their cowns go, so that
    /// whatever stands behind them is dropped as well.
    Cancel,
}

/// Where and how a task runs. There is one for each runtime, which says how its tasks run now.
pub(crate) struct RunContext {
    pub(crate) home: RuntimeId,
    /// 0, or all bits.
    refusal: AtomicU32,
}

impl RunContext {
    pub(crate) fn new(home: RuntimeId, mode: Mode) -> Self {
        Self { home, refusal: AtomicU32::new(if mode == Mode::Cancel { u32::MAX } else { 0 }) }
    }

    #[inline]
    pub(crate) fn mode(&self) -> Mode {
        if self.refusal() != 0 { Mode::Cancel } else { Mode::Run }
    }

    /// All bits if bodies are dropped, for [`Flags::may_be_refused`](crate::cown::header::Flags::may_be_refused).
    #[inline]
    pub(crate) fn refusal(&self) -> u32 {
        // ORDERING: Relaxed. Whoever must be exact asks for the runtime's phase.
        self.refusal.load(Ordering::Relaxed)
    }

    /// From here on bodies are dropped, for good.
    pub(crate) fn cancel(&self) {
        // ORDERING: Relaxed, as in `refusal`.
        self.refusal.store(u32::MAX, Ordering::Relaxed);
    }
}

/// The functions of a task's concrete type.
pub(crate) struct TaskVTable {
    /// Runs the task to its end and frees it. Returns a task that this has made ready, that
    /// belongs to the same runtime, and that would best run next on this thread since it works on
    /// a cown that is in the cache now.
    ///
    /// # Safety
    /// The task is ready, and is run once.
    pub(crate) run: unsafe fn(TaskPtr, &RunContext) -> Option<TaskPtr>,
    /// The word that links the task into a list of the scheduler.
    ///
    /// # Safety
    /// The task is ready, and the word is used before the task runs only.
    pub(crate) link: unsafe fn(TaskPtr) -> NonNull<AtomicPtr<()>>,
    /// For a task that is a behaviour on one cown which is in no group: its request.
    ///
    /// # Safety
    /// The task is ready, and the request is used before it runs only.
    pub(crate) request: Option<unsafe fn(TaskPtr) -> NonNull<Slot>>,
    /// For a task that holds a group, and nothing else.
    pub(crate) in_group: Option<InGroup>,
    /// What the task is, for people: the type of its closure, state or future. Called on cold paths
    /// only.
    pub(crate) name: fn() -> &'static str,
    /// For the task of a cown that is attended to.
    pub(crate) attended: Option<&'static Kind>,
}

impl TaskVTable {
    /// The functions of a task of which there is nothing else to be known.
    pub(crate) const fn new(
        run: unsafe fn(TaskPtr, &RunContext) -> Option<TaskPtr>,
        link: unsafe fn(TaskPtr) -> NonNull<AtomicPtr<()>>,
        name: fn() -> &'static str,
    ) -> Self {
        Self { run, link, request: None, in_group: None, name, attended: None }
    }

    /// The same of a behaviour on one cown, in no group.
    pub(crate) const fn on_one(self, request: unsafe fn(TaskPtr) -> NonNull<Slot>) -> Self {
        Self { request: Some(request), ..self }
    }

    /// The same of a task that holds a group, and nothing else.
    pub(crate) const fn in_group(self, halves: InGroup) -> Self {
        Self { in_group: Some(halves), ..self }
    }

    /// The same of the task of a cown that is attended to.
    pub(crate) const fn attended(self, kind: &'static Kind) -> Self {
        Self { attended: Some(kind), ..self }
    }
}

/// The two halves of a task that holds a group: what its holder runs, and what is left of it.
#[derive(Clone, Copy)]
pub(crate) struct InGroup {
    /// Runs the body, and delivers its result. The request stays in the queue.
    ///
    /// # Safety
    /// The group is held, and the task is run once.
    pub(crate) body: unsafe fn(TaskPtr, &RunContext),
    /// Gives the block back.
    ///
    /// # Safety
    /// The body has run, and the request has left the queue.
    pub(crate) dispose: unsafe fn(TaskPtr),
}

/// Runs a task.
///
/// # Safety
/// The task is ready, and is run once.
#[inline]
pub(crate) unsafe fn run_task(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
    // SAFETY: a ready task is live, and begins with its header.
    let vtable = unsafe { task.as_ref() }.vtable;
    // SAFETY: by the caller's word.
    unsafe { (vtable.run)(task, context) }
}
