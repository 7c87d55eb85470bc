//! Messages of an actor that wait for room, in the background.
//!
//! Messages to one recipient form a line: each waits for room once the one before is sent, so they
//! arrive in the order in which they were added. They are sent whatever happens to the actor.

use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use coact_core::internals::CatchDrop;
use coact_core::runtime::spawn_future;
use coact_sync::shim::process::Mutex;

use crate::id::ActorId;

type PendingSend = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The lines of one state of an actor.
#[derive(Default)]
pub(crate) struct PendingSends {
    lines: HashMap<ActorId, Arc<SendLine>>,
    /// How many lines there may be before finished ones are removed.
    sweep_at: usize,
}

#[derive(Default)]
struct SendLine(Mutex<SendQueue>);

#[derive(Default)]
struct SendQueue {
    jobs: VecDeque<CatchDrop<PendingSend>>,
    is_driven: bool,
}

impl PendingSends {
    /// Runs a job after all jobs added before for the same recipient.
    pub(crate) fn add(&mut self, to: ActorId, job: impl Future<Output = ()> + Send + 'static) {
        self.sweep();
        let line = self.lines.entry(to).or_default();
        let is_driven = {
            let mut state = line.0.lock();
            state.jobs.push_back(CatchDrop::new(Box::pin(job)));
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

async fn drive(line: Arc<SendLine>) {
    while let Some(job) = line.next() {
        // A message whose destructor panics does not affect the next one.
        let _ = spawn_future(job).await;
    }
}

impl SendLine {
    fn next(&self) -> Option<PendingSend> {
        let mut state = self.0.lock();
        let next = state.jobs.pop_front();
        state.is_driven = next.is_some();
        next.map(CatchDrop::into_inner)
    }
}
