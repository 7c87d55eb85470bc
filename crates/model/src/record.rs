//! The recorder: takes a trace of a real runtime, from many threads at once.

#[cfg(test)]
mod tests;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::program::{BehaviourId, Op, Spawner, Variable};
use crate::trace::{BodyExit, Event, Seq, Trace};

/// Records what a runtime does. Clones record into one trace.
///
/// Here a runtime that runs each behaviour at once, on the thread that spawns it:
///
/// ```
/// use coact_model::{Op, Program, TraceRecorder, SpawnCall, Spawner, check, write};
///
/// let program = Program::over(1).thread([SpawnCall::on([write(0)]).into()]);
/// let recorder = TraceRecorder::new();
/// for op in &program.threads()[0] {
///     let Op::Spawn(spawn) = op else { continue };
///     let ticket = recorder.ticket(spawn.id);
///     let call = recorder.tick();
///     (move || {
///         let _running = ticket.start();
///         // .. the operations of spawn.body, then the panic if spawn.panics
///     })();
///     recorder.spawned(Spawner::Thread(0), op, call);
/// }
/// assert_eq!(check(&program, &recorder.finish()), Ok(()));
/// ```
#[derive(Clone, Debug, Default)]
pub struct TraceRecorder(Arc<RecordedEvents>);

#[derive(Debug, Default)]
struct RecordedEvents {
    counter: AtomicU64,
    events: Mutex<Vec<Event>>,
}

impl TraceRecorder {
    /// A recorder that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next sequence number.
    pub fn tick(&self) -> Seq {
        // ORDERING: AcqRel. Each tick acquires what every earlier tick released, so "earlier
        // number" means "happens before", which is what the checker takes it for. With Relaxed an
        // action could take effect on the far side of its tick, and a correct runtime would be
        // accused.
        self.0.counter.fetch_add(1, Ordering::AcqRel)
    }

    /// The spawn of `op` by `by`, called at `call`, has returned just now.
    pub fn spawned(&self, by: Spawner, op: &Op, call: Seq) {
        let ret = self.tick();
        let ids = op.spawns().iter().map(|spawn| spawn.id);
        self.events().extend(ids.map(|id| Event::Spawned { id, by, call, ret }));
    }

    /// The spawn of `op` was refused. To be called before the closures that came back are dropped:
    /// the tickets in them are void from now on.
    pub fn rejected(&self, op: &Op) {
        let ids = op.spawns().iter().map(|spawn| spawn.id);
        self.events().extend(ids.map(|id| Event::Rejected { id }));
    }

    /// A ticket to move into the closure of behaviour `id`.
    pub fn ticket(&self, id: BehaviourId) -> RunTicket {
        RunTicket { recorder: self.clone(), id, used: false }
    }

    /// Records any other event.
    pub fn push(&self, event: Event) {
        self.events().push(event);
    }

    /// What has been recorded so far.
    pub fn finish(&self) -> Trace {
        self.events().iter().copied().collect()
    }

    fn events(&self) -> MutexGuard<'_, Vec<Event>> {
        self.0.events.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The right of a behaviour to run once, owned by its closure. A closure that is dropped without
/// having run was skipped, and its ticket records that, unless the spawn was rejected.
#[derive(Debug)]
pub struct RunTicket {
    recorder: TraceRecorder,
    id: BehaviourId,
    used: bool,
}

impl RunTicket {
    /// To be called first thing in the body; the result is to be dropped last.
    pub fn start(mut self) -> RunningBody {
        let seq = self.recorder.tick();
        self.used = true;
        self.recorder.push(Event::Started { id: self.id, seq });
        RunningBody { recorder: self.recorder.clone(), id: self.id }
    }
}

impl Drop for RunTicket {
    fn drop(&mut self) {
        if self.used {
            return;
        }
        let id = self.id;
        let seq = self.recorder.tick();
        let mut events = self.recorder.events();
        if !events.contains(&Event::Rejected { id }) {
            events.push(Event::Skipped { id, seq });
        }
    }
}

/// A body that runs. Dropping it, by return or by panic, records its end.
#[derive(Debug)]
pub struct RunningBody {
    recorder: TraceRecorder,
    id: BehaviourId,
}

impl RunningBody {
    /// The body looked at the checked member `variable`.
    pub fn saw(&self, variable: Variable, poisoned: bool) {
        self.recorder.push(Event::Saw { id: self.id, variable, poisoned });
    }
}

impl Drop for RunningBody {
    fn drop(&mut self) {
        let exit = if std::thread::panicking() { BodyExit::Panicked } else { BodyExit::Done };
        let seq = self.recorder.tick();
        self.recorder.push(Event::Ended { id: self.id, seq, exit });
    }
}
