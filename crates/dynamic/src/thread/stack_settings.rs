//! Which stack an actor gets, and where.

use std::panic::Location;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use coact_core::internals::{WorkerPlace, is_simulated};
use coact_fiber::{DEFAULT_STACK_SIZE, IS_SUPPORTED, MIN_STACK_SIZE, Stack, StackError};

/// Which stack an actor gets, each time it starts.
pub(super) struct StackSettings {
    kind: StackKind,
    /// What runs on it, for reports.
    name: &'static str,
    /// Where the actor was spawned, for reports as well.
    spawned_at: &'static Location<'static>,
    /// In bytes; 0 for the usual size.
    size: AtomicUsize,
    /// That of the first start.
    first: Mutex<Option<Stack>>,
    /// Where it begins, if that is where others do.
    together: Mutex<Option<SameWorker>>,
}

/// A worker on which several fibers begin: the one of the first. Fibers of several runtimes have
/// one in each of these. See [`ThreadSpawn::same_worker`](crate::ThreadSpawn::same_worker).
#[derive(Clone, Debug, Default)]
pub struct SameWorker(Arc<Mutex<Vec<WorkerPlace>>>);

impl SameWorker {
    /// One that no fiber has begun on.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The worker for a fiber that begins here.
    fn or(&self, current: WorkerPlace) -> WorkerPlace {
        let mut places = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = places.iter().find(|place| place.is_in_same_runtime(current)) {
            return *place;
        }
        places.push(current);
        current
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StackKind {
    Fiber,
    Thread,
}

impl StackSettings {
    #[track_caller]
    pub(super) fn new(kind: StackKind, name: &'static str) -> Self {
        let (spawned_at, (first, together)) = (Location::caller(), Default::default());
        Self { kind, name, spawned_at, size: AtomicUsize::new(0), first, together }
    }

    pub(super) fn kind(&self) -> StackKind {
        self.kind
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn spawned_at(&self) -> &'static Location<'static> {
        self.spawned_at
    }

    /// Whether it is to be a fiber, and can be one here.
    pub(super) fn wants_fiber(&self) -> bool {
        self.kind == StackKind::Fiber && IS_SUPPORTED && !is_simulated()
    }

    pub(super) fn set_together(&self, with: &SameWorker) {
        *self.together() = Some(with.clone());
    }

    /// The worker on which a fiber is to begin, if this is the current one.
    pub(super) fn worker(&self, current: WorkerPlace) -> WorkerPlace {
        self.together().as_ref().map_or(current, |together| together.or(current))
    }

    fn together(&self) -> MutexGuard<'_, Option<SameWorker>> {
        self.together.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set_size(&self, bytes: usize) {
        // ORDERING: Relaxed, here and in `size`. What hands the settings on orders it.
        self.size.store(bytes.max(MIN_STACK_SIZE), Ordering::Relaxed);
    }

    pub(super) fn size(&self) -> Option<usize> {
        Some(self.size.load(Ordering::Relaxed)).filter(|bytes| *bytes > 0)
    }

    /// Takes the stack of the first start, so that its spawner is told if there is none.
    pub(super) fn reserve(&self) -> Result<(), StackError> {
        if self.wants_fiber() {
            let stack = Stack::take(self.size().unwrap_or(DEFAULT_STACK_SIZE))?;
            *self.first() = Some(stack);
        }
        Ok(())
    }

    pub(super) fn take(&self) -> Result<Stack, StackError> {
        let first = self.first().take();
        first.map_or_else(|| Stack::take(self.size().unwrap_or(DEFAULT_STACK_SIZE)), Ok)
    }

    fn first(&self) -> MutexGuard<'_, Option<Stack>> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
