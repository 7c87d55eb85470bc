//! Tasks: type-erased units of work with a one-word header, which the scheduler runs.

use std::ptr::NonNull;

use coact_sync::shim::atomic::AtomicPtr;
use coact_sync::shim::process::{AtomicU32, Ordering};

use crate::runtime_ids::RuntimeId;

/// The header of everything that can be scheduled. The concrete type begins with it (`repr(C)`).
#[repr(C)]
pub(crate) struct Task {
    pub(crate) vtable: &'static TaskVTable,
}

/// A pointer to a task that is ready to run. Its owner runs it exactly once.
pub(crate) type TaskPtr = NonNull<Task>;

/// How a runtime treats its tasks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RunMode {
    /// Run the bodies.
    Run,
    /// The runtime is past its shutdown deadline: drop the bodies, but release their cowns, so that
    /// the requests behind them are dropped as well.
    Cancel,
}

/// The context of a running task. There is one per runtime, which says how its tasks currently run.
pub(crate) struct RunContext {
    pub(crate) home: RuntimeId,
    /// [`REFUSAL`](Self::REFUSAL), [`WATCHED`](Self::WATCHED), or all bits.
    refusal: AtomicU32,
}

impl RunContext {
    pub(crate) fn new(home: RuntimeId, mode: RunMode) -> Self {
        let refusal = if mode == RunMode::Cancel { Self::ANY } else { Self::REFUSAL };
        Self { home, refusal: AtomicU32::new(refusal) }
    }

    #[inline]
    pub(crate) fn mode(&self) -> RunMode {
        if self.refusal() == Self::ANY { RunMode::Cancel } else { RunMode::Run }
    }

    /// All bits; at least one of them is set in the word of any queue: that of its home.
    const ANY: u32 = u32::MAX;

    /// The bits in a queue's word that refuse a task on it while bodies run: its state is poisoned,
    /// or gone. The queues' own flags are checked against this where they are defined.
    pub(crate) const REFUSAL: u32 = 0b11 << 16;

    /// Returns the bits in a queue's word that refuse a task on it: any bit, if bodies are dropped.
    #[inline]
    pub(crate) fn refusal(&self) -> u32 {
        // ORDERING: Relaxed. A caller that needs an exact answer asks for the runtime's phase.
        self.refusal.load(Ordering::Relaxed)
    }

    /// The same bits, and one that is set in no queue's word, in a runtime with a watchdog: its
    /// tasks say which body they run.
    pub(crate) const WATCHED: u32 = Self::REFUSAL | 1 << 31;

    /// Makes the runtime's tasks say which body they run. Comes before everything else.
    pub(crate) fn watched(self) -> Self {
        Self { refusal: AtomicU32::new(Self::WATCHED), ..self }
    }

    /// Returns whether bodies just run, without further ado.
    #[inline]
    pub(crate) fn just_runs(&self) -> bool {
        self.refusal() == Self::REFUSAL
    }

    /// Makes the runtime drop bodies from here on, permanently.
    pub(crate) fn cancel(&self) {
        // ORDERING: Relaxed, see `refusal`.
        self.refusal.store(Self::ANY, Ordering::Relaxed);
    }
}

/// Returns the name of a task: that of a type.
pub(crate) type TaskName = fn() -> &'static str;

/// Returns the name of a task in reports.
///
/// # Safety
/// The task is ready, and has not run.
pub(crate) unsafe fn name_of(task: TaskPtr) -> TaskName {
    // SAFETY: a ready task is live, and begins with its header.
    let vtable = unsafe { task.as_ref() }.vtable;
    match vtable.own_name {
        // SAFETY: the task is ready, and of the type of its functions.
        Some(own_name) => unsafe { own_name(task) },
        None => vtable.name,
    }
}

/// The functions of a task's concrete type.
pub(crate) struct TaskVTable {
    /// Runs the task to its end and frees it. Returns a task that this has made ready, belongs to
    /// the same runtime, and is best run next on this thread because its cown is in the cache.
    ///
    /// # Safety
    /// The task is ready, and is run once.
    pub(crate) run: unsafe fn(TaskPtr, &RunContext) -> Option<TaskPtr>,
    /// The word that links the task into a list of the scheduler.
    ///
    /// # Safety
    /// The task is ready, and the word is used only before the task runs.
    pub(crate) link: unsafe fn(TaskPtr) -> NonNull<AtomicPtr<()>>,
    /// For a task with others behind it in a queue of its own: how the scheduler inspects these.
    pub(crate) backlog: Option<&'static TaskBacklog>,
    /// For a task that holds a group and nothing else.
    pub(crate) in_group: Option<GroupTaskFns>,
    /// The task's name in reports: the type of its closure, state or future. Called only on cold
    /// paths.
    pub(crate) name: TaskName,
    /// For a task that may have another name.
    ///
    /// # Safety
    /// The task is ready, and has not run.
    pub(crate) own_name: Option<unsafe fn(TaskPtr) -> TaskName>,
    /// What the layer that created the task knows of its type.
    pub(crate) kind: Option<TaskKind>,
}

impl TaskVTable {
    /// Creates the functions of a task without further properties.
    pub(crate) const fn new(
        run: unsafe fn(TaskPtr, &RunContext) -> Option<TaskPtr>,
        link: unsafe fn(TaskPtr) -> NonNull<AtomicPtr<()>>,
        name: TaskName,
    ) -> Self {
        Self { run, link, backlog: None, in_group: None, name, own_name: None, kind: None }
    }

    /// Adds how to find the name of a task that may have another one.
    pub(crate) const fn with_own_name(
        self,
        own_name: Option<unsafe fn(TaskPtr) -> TaskName>,
    ) -> Self {
        Self { own_name, ..self }
    }

    /// Adds the backlog of a task with others behind it in a queue of its own.
    pub(crate) const fn with_backlog(self, backlog: &'static TaskBacklog) -> Self {
        Self { backlog: Some(backlog), ..self }
    }

    /// Adds the halves of a task that holds a group and nothing else.
    pub(crate) const fn in_group(self, halves: GroupTaskFns) -> Self {
        Self { in_group: Some(halves), ..self }
    }

    /// Adds what the task's layer knows of its type.
    pub(crate) const fn of_kind(self, kind: TaskKind) -> Self {
        Self { kind: Some(kind), ..self }
    }
}

/// The requests behind a task, as far as the scheduler inspects them.
pub(crate) struct TaskBacklog {
    /// Identifies the queue: equal for all tasks in it. Only compared.
    ///
    /// # Safety
    /// The task is ready, and has not run.
    pub(crate) queue: unsafe fn(TaskPtr) -> *const (),
    /// Counts the requests behind the task, and records whether there are at least `many`.
    ///
    /// # Safety
    /// As for `queue`; and the caller owns the task.
    pub(crate) look: unsafe fn(TaskPtr, many: u32),
}

/// A constant of a type known only to the layer that created the task.
#[derive(Clone, Copy)]
pub(crate) struct TaskKind(*const ());

// SAFETY: it holds a reference to a `Sync` value, as `new` requires.
unsafe impl Send for TaskKind {}
// SAFETY: it holds a reference to a `Sync` value, as `new` requires.
unsafe impl Sync for TaskKind {}

impl TaskKind {
    pub(crate) const fn new<K: Sync>(kind: &'static K) -> Self {
        Self(std::ptr::from_ref(kind).cast())
    }

    /// Returns whether this was created from that constant.
    #[inline]
    pub(crate) fn is<K>(self, constant: &'static K) -> bool {
        std::ptr::eq(self.0, std::ptr::from_ref(constant).cast())
    }

    /// # Safety
    /// This was created from a `K`.
    #[inline]
    pub(crate) unsafe fn get<K: Sync>(self) -> &'static K {
        // SAFETY: `new` created it from a `&'static K`, as the caller promises.
        unsafe { &*self.0.cast() }
    }
}

/// The two halves of a task that holds a group: what the holder runs, and the disposal of its
/// block.
#[derive(Clone, Copy)]
pub(crate) struct GroupTaskFns {
    /// Runs the body and delivers its result. The request stays in the queue.
    ///
    /// # Safety
    /// The group is held, and the task is run once.
    pub(crate) body: unsafe fn(TaskPtr, &RunContext),
    /// Frees the task's block.
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
    // SAFETY: the task is ready and the caller runs it once, as `run` requires.
    unsafe { (vtable.run)(task, context) }
}
