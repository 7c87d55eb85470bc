//! What the scheduler runs: a type-erased piece of work with a one-word header.

use std::ptr::NonNull;

use coact_sync::shim::atomic::AtomicPtr;
use coact_sync::shim::process::{AtomicU32, Ordering};

use crate::ids::RuntimeId;

/// The header of everything that can be scheduled. The concrete type begins with it (`repr(C)`).
#[repr(C)]
pub(crate) struct Task {
    pub(crate) vtable: &'static TaskVTable,
}

/// A pointer to a task that is ready to run: whoever has it runs it exactly once.
pub(crate) type TaskPtr = NonNull<Task>;

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
    /// [`REFUSAL`](Self::REFUSAL), or all bits.
    refusal: AtomicU32,
}

impl RunContext {
    pub(crate) fn new(home: RuntimeId, mode: Mode) -> Self {
        let refusal = if mode == Mode::Cancel { Self::ANY } else { Self::REFUSAL };
        Self { home, refusal: AtomicU32::new(refusal) }
    }

    #[inline]
    pub(crate) fn mode(&self) -> Mode {
        if self.refusal() == Self::ANY { Mode::Cancel } else { Mode::Run }
    }

    /// All bits, some of which are in the word of any queue: its home's.
    const ANY: u32 = u32::MAX;

    /// The bits in the word of a queue that refuse a task of it while bodies run: that its state is poisoned, or gone. The
    /// queues' own flags are held to this where they are defined.
    pub(crate) const REFUSAL: u32 = 0b11 << 16;

    /// Which bits in the word of a queue refuse a task of it: any if bodies are dropped.
    #[inline]
    pub(crate) fn refusal(&self) -> u32 {
        // ORDERING: Relaxed. Whoever must be exact asks for the runtime's phase.
        self.refusal.load(Ordering::Relaxed)
    }

    /// From here on bodies are dropped, for good.
    pub(crate) fn cancel(&self) {
        // ORDERING: Relaxed, as in `refusal`.
        self.refusal.store(Self::ANY, Ordering::Relaxed);
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
    /// For a task behind which others wait in a queue of its own: how the scheduler looks at these.
    pub(crate) backlog: Option<&'static Backlog>,
    /// For a task that holds a group, and nothing else.
    pub(crate) in_group: Option<InGroup>,
    /// What the task is, for people: the type of its closure, state or future. Called on cold paths
    /// only.
    pub(crate) name: fn() -> &'static str,
    /// What the layer that made the task knows of its type.
    pub(crate) kind: Option<Kind>,
}

impl TaskVTable {
    /// The functions of a task of which there is nothing else to be known.
    pub(crate) const fn new(
        run: unsafe fn(TaskPtr, &RunContext) -> Option<TaskPtr>,
        link: unsafe fn(TaskPtr) -> NonNull<AtomicPtr<()>>,
        name: fn() -> &'static str,
    ) -> Self {
        Self { run, link, backlog: None, in_group: None, name, kind: None }
    }

    /// The same of a task behind which others wait in a queue of its own.
    pub(crate) const fn with_backlog(self, backlog: &'static Backlog) -> Self {
        Self { backlog: Some(backlog), ..self }
    }

    /// The same of a task that holds a group, and nothing else.
    pub(crate) const fn in_group(self, halves: InGroup) -> Self {
        Self { in_group: Some(halves), ..self }
    }

    /// The same with what its layer knows of its type.
    pub(crate) const fn of_kind(self, kind: Kind) -> Self {
        Self { kind: Some(kind), ..self }
    }
}

/// What waits behind a task, as far as the scheduler looks at it.
pub(crate) struct Backlog {
    /// Whose queue it is: the same for all tasks that stand in it. Only compared.
    ///
    /// # Safety
    /// The task is ready, and has not run.
    pub(crate) queue: unsafe fn(TaskPtr) -> *const (),
    /// Looks how many wait behind the task, and notes whether they are many.
    ///
    /// # Safety
    /// As of `queue`; and the task is the caller's.
    pub(crate) look: unsafe fn(TaskPtr, many: u32),
}

/// Something constant of a type that only the layer knows which made it.
#[derive(Clone, Copy)]
pub(crate) struct Kind(*const ());

// SAFETY: made of a reference to what is `Sync`.
unsafe impl Send for Kind {}
// SAFETY: as above.
unsafe impl Sync for Kind {}

impl Kind {
    pub(crate) const fn new<K: Sync>(kind: &'static K) -> Self {
        Self(std::ptr::from_ref(kind).cast())
    }

    /// # Safety
    /// It was made of a `K`.
    #[inline]
    pub(crate) unsafe fn get<K: Sync>(self) -> &'static K {
        // SAFETY: by the caller's word; made of a reference for ever.
        unsafe { &*self.0.cast() }
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
