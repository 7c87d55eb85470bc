//! Notices a simulated run whose thread waits in real time, for something that the simulation does
//! not know: a lock of `std`, for instance, whose owner waits in simulated time.
//!
//! Such a run cannot be failed from outside: its thread is in the operating system's hands, and may
//! never come back. So a second thread looks at it while it runs, and writes a report.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use coact_sim::{Choice, Config, Explorer, Failure, Schedule, TaskId};
use coact_sync::shim::process::Mutex;

use super::sim_fiber::FiberSubject;
use crate::simulated::SpawnSite;

/// The time between two looks.
const LOOK: Duration = Duration::from_millis(100);

/// So many looks in a row find a blocked thread before it is reported. They are counted, so that
/// a machine that sleeps or is overloaded makes no report.
const LOOKS: u32 = 10;

/// Looks at the runs of one thread, until it is dropped.
pub(super) struct StallWatch {
    run: Arc<WatchedRun>,
    /// `None` where the operating system does not say what a thread does.
    thread: Option<JoinHandle<()>>,
}

/// A run, as the watching thread sees it.
#[derive(Default)]
struct WatchedRun {
    is_over: AtomicBool,
    state: Mutex<RunState>,
}

#[derive(Default)]
struct RunState {
    /// Counts the steps of all runs.
    steps: u64,
    /// The task that runs, unless the engine does.
    running: Option<(TaskId, FiberSubject)>,
    /// The tasks that have begun and are suspended; with the place, if they wait for something.
    suspended: BTreeMap<TaskId, (FiberSubject, Option<SpawnSite>)>,
    config: Config,
    run: u64,
    schedule: Schedule,
}

impl StallWatch {
    /// Begins to watch the calling thread.
    pub(super) fn new() -> Self {
        let run = Arc::<WatchedRun>::default();
        let thread = StatusFiles::of_this_thread().and_then(|status| {
            let watched = Arc::clone(&run);
            let settings = thread::Builder::new().name("coact-sim-watch".into());
            settings.spawn(move || watched.watch(&status)).ok()
        });
        Self { run, thread }
    }

    fn note(&self, note: impl FnOnce(&mut RunState)) {
        if self.thread.is_some() {
            note(&mut self.run.state.lock());
        }
    }

    /// Begins a run.
    pub(super) fn begin_run(&self, explorer: &Explorer) {
        self.note(|state| {
            let (steps, schedule) = (state.steps, Schedule::new());
            let (config, run) = (explorer.config().clone(), explorer.runs());
            *state = RunState { steps, config, run, schedule, ..RunState::default() };
        });
    }

    /// A task runs from here on.
    pub(super) fn enter(&self, task: TaskId, who: FiberSubject) {
        self.note(|state| {
            state.steps += 1;
            state.running = Some((task, who));
            state.suspended.remove(&task);
            state.schedule.push(Choice::Task(task));
        });
    }

    /// It is suspended, perhaps to wait.
    pub(super) fn suspend(&self, task: TaskId, who: FiberSubject, waits_at: Option<SpawnSite>) {
        self.note(|state| {
            state.running = None;
            state.suspended.insert(task, (who, waits_at));
        });
    }

    /// It has ended.
    pub(super) fn end_task(&self) {
        self.note(|state| state.running = None);
    }

    /// The program was given a value.
    pub(super) fn note_value(&self, value: u64) {
        self.note(|state| state.schedule.push(Choice::Value(value)));
    }
}

impl Drop for StallWatch {
    fn drop(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        // ORDERING: Relaxed. It guards nothing; the thread is joined.
        self.run.is_over.store(true, Ordering::Relaxed);
        thread.thread().unpark();
        // It runs no code of the program, and does not panic.
        let _ = thread.join();
    }
}

impl WatchedRun {
    fn watch(&self, status: &StatusFiles) {
        let mut blocked = BlockedLooks::default();
        loop {
            thread::park_timeout(LOOK);
            // ORDERING: Relaxed. See `StallWatch::drop`.
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            let (steps, runs) = {
                let state = self.state.lock();
                (state.steps, state.running.is_some())
            };
            let Some(status) = status.read() else { return };
            if blocked.look(steps, runs, status) {
                self.report();
            }
        }
    }

    /// Writes to the standard error itself: what tests print is kept until they end.
    fn report(&self) {
        let text = {
            let state = self.state.lock();
            let Some(cause) = state.describe() else { return };
            let (config, schedule) = (state.config.clone(), state.schedule.clone());
            format!("\n{}\n\n", Failure::unfinished(cause, config, state.run, schedule))
        };
        // No one is left to tell.
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

impl RunState {
    fn describe(&self) -> Option<String> {
        let (task, who) = self.running?;
        let waiting =
            self.suspended.iter().filter_map(|(task, (who, at))| Some((task, who, (*at)?)));
        let suspended = fmt::from_fn(|f| {
            if waiting.clone().next().is_some() {
                f.write_str(
                    "\n  One of these may have what it waits for, and cannot go on before it does:",
                )?;
            }
            for (task, who, at) in waiting.clone() {
                write!(f, "\n    #{task}, {who}, waits at {at}")?;
            }
            Ok(())
        });
        Some(format!(
            "#{task}, {who}, blocks in real time: its thread has used no processor time for a second. \
             It waits for something that the simulation does not know: a lock or channel of `std` that \
             is held across a wait, a thread of `std`, a sleep or a socket. No other task can run \
             meanwhile{suspended}"
        ))
    }
}

/// What the operating system says of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ThreadStatus {
    /// It waits in the operating system, and not for a disk.
    is_waiting: bool,
    /// A measure of the processor time that it has used.
    time: (u64, u64),
}

/// Counts looks at a thread.
#[derive(Default)]
struct BlockedLooks {
    last: Option<(u64, ThreadStatus)>,
    count: u32,
}

impl BlockedLooks {
    /// Adds a look: how many steps there were, whether a task runs, and what its thread does.
    /// Returns whether that is to be reported now.
    fn look(&mut self, steps: u64, runs: bool, status: ThreadStatus) -> bool {
        let is_blocked = runs && status.is_waiting && self.last == Some((steps, status));
        self.last = Some((steps, status));
        self.count = if is_blocked { self.count.saturating_add(1) } else { 0 };
        self.count == LOOKS
    }
}

/// Where the operating system says what a thread does: the files of Linux.
struct StatusFiles {
    stat: String,
    schedstat: String,
}

impl StatusFiles {
    /// Returns `None` where there are no such files.
    fn of_this_thread() -> Option<Self> {
        let this = std::fs::read_link("/proc/thread-self").ok()?;
        let path = |file| format!("/proc/{}/{file}", this.display());
        let found = Self { stat: path("stat"), schedstat: path("schedstat") };
        found.read().is_some().then_some(found)
    }

    fn read(&self) -> Option<ThreadStatus> {
        let stat = std::fs::read_to_string(&self.stat).ok()?;
        // In nanoseconds, where the kernel counts these.
        let exact = std::fs::read_to_string(&self.schedstat).ok();
        parse(&stat, exact.as_deref())
    }
}

/// Reads `stat` and `schedstat` of proc(5).
fn parse(stat: &str, schedstat: Option<&str>) -> Option<ThreadStatus> {
    // The name of the thread, in parentheses, may contain anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace();
    let is_waiting = fields.next()? == "S";
    // The 14th and 15th field of all; the state is the third.
    let mut ticks = fields.skip(10).map(str::parse::<u64>);
    let ticks = ticks.next()?.ok()? + ticks.next()?.ok()?;
    let exact = schedstat.and_then(|text| text.split_whitespace().next()?.parse().ok());
    Some(ThreadStatus { is_waiting, time: (ticks, exact.unwrap_or(0)) })
}

#[cfg(test)]
mod tests;
