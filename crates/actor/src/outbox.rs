//! Messages of an actor that wait for room, beside the actor.
//!
//! Those to one recipient stand in a line: each waits for room when the one before is sent, so they arrive in
//! the order in which they were handed over. What was handed over is sent whatever becomes of the actor.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use coact_core::runtime::spawn_future;
use coact_sync::shim::process::Mutex;

use crate::caught::Caught;
use crate::id::ActorId;

type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The lines of one state of an actor.
#[derive(Default)]
pub(crate) struct Outbox {
    lines: HashMap<ActorId, Arc<Line>>,
    /// So many lines may there be before those that have come to their end are looked for.
    sweep_at: usize,
}

#[derive(Default)]
struct Line(Mutex<State>);

#[derive(Default)]
struct State {
    jobs: VecDeque<Caught<Job>>,
    is_driven: bool,
}

impl Outbox {
    /// Has something done when all that was handed over before for the same recipient is done.
    pub(crate) fn add(&mut self, to: ActorId, job: impl Future<Output = ()> + Send + 'static) {
        self.sweep();
        let line = self.lines.entry(to).or_default();
        let is_driven = {
            let mut state = line.0.lock();
            state.jobs.push_back(Caught::new(Box::pin(job)));
            std::mem::replace(&mut state.is_driven, true)
        };
        if !is_driven {
            drop(spawn_future(drive(Arc::clone(line))));
        }
    }

    fn sweep(&mut self) {
        if self.lines.len() >= self.sweep_at {
            self.lines.retain(|_, line| line.0.lock().is_driven);
            self.sweep_at = 2 * self.lines.len() + 8;
        }
    }
}

async fn drive(line: Arc<Line>) {
    while let Some(job) = line.next() {
        // A destructor of a message that panics is not the concern of the next.
        let _ = spawn_future(job).await;
    }
}

impl Line {
    fn next(&self) -> Option<Job> {
        let mut state = self.0.lock();
        let next = state.jobs.pop_front();
        state.is_driven = next.is_some();
        next.map(Caught::into_inner)
    }
}
