//! The threads for blocking jobs of one runtime.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Duration;

use coact_sync::shim::sync::{Condvar, Mutex};
use slab::Slab;

use super::job::{JobClosure, PoolJob};
use crate::config::ThreadKind;
use crate::current::{BlockingMark, CancelMark};
use crate::sched::runtime_shared::RuntimeShared;
use crate::sched::services::SharedService;
use crate::sched::stuck_thread::Stuck;
use crate::sched::thread_hooks::call_hook;
use crate::sched::tracked_thread::TrackedThread;
use crate::simulated::{self, BlockingJob};
use crate::task::{TaskPtr, run_task};

/// The threads for blocking jobs of one runtime.
pub(crate) struct BlockingPool {
    state: Mutex<PoolState>,
    work: Condvar,
    max_threads: usize,
    keep_alive: Duration,
}

#[derive(Default)]
struct PoolState {
    jobs: VecDeque<PoolJob>,
    threads: usize,
    waiting: usize,
    /// The jobs that the threads are running.
    running: Slab<RunningJob>,
    /// The total number of these that have begun, plus those that have ended.
    turns: u64,
    /// The pool no longer counts as alive, if it ever did.
    counted_out: bool,
    /// No more closures are accepted.
    stopped: bool,
    /// No thread runs tasks any more: a thread that submits one cancels it.
    closed: bool,
    /// A thread is cancelling jobs, including those that arrive meanwhile.
    cancelling: bool,
    /// The handles of running threads, and of some that have ended.
    handles: Vec<TrackedThread>,
}

/// A job that a thread of the pool is running.
struct RunningJob {
    /// The number in the thread's name.
    thread: usize,
    is_task: bool,
    /// The name of its type.
    name: &'static str,
}

impl SharedService for BlockingPool {
    fn new(shared: &RuntimeShared) -> Self {
        let config = &shared.config;
        Self {
            state: Mutex::new(PoolState::default()),
            work: Condvar::new(),
            max_threads: config.max_blocking,
            keep_alive: config.blocking_keep_alive,
        }
    }

    /// Drops the closures that have not started, and accepts no more. Tasks continue: those of a
    /// runtime past its deadline run without their bodies.
    fn stop(&self, shared: &RuntimeShared) {
        let closures = {
            let mut state = self.state.lock();
            state.stopped = true;
            let jobs = std::mem::take(&mut state.jobs).into_iter();
            let (closures, tasks): (VecDeque<_>, _) =
                jobs.partition(|job| matches!(job, PoolJob::Closure(_)));
            state.jobs = tasks;
            closures
        };
        self.work.notify_all();
        closures.into_iter().for_each(|job| BlockingPool::abandon(shared, job));
    }
}

impl BlockingPool {
    /// Accepts a ready task.
    pub(crate) fn submit_task(shared: &'static RuntimeShared, task: TaskPtr) {
        shared.begin_outstanding();
        shared.service::<Self>().take_in(shared, PoolJob::Task(task));
    }

    /// Accepts a job that completes a promise at its end.
    pub(super) fn submit_closure(
        shared: &'static RuntimeShared,
        closure: JobClosure,
        promise: usize,
    ) {
        shared.begin_outstanding();
        if shared.config.simulated {
            return Self::simulate(shared, closure, promise);
        }
        shared.service::<Self>().take_in(shared, PoolJob::Closure(closure));
    }

    fn simulate(shared: &'static RuntimeShared, closure: JobClosure, promise: usize) {
        let job = BlockingJob { home: shared.id, name: closure.name, promise };
        let run = move || {
            (closure.run)(true);
            shared.end_outstanding();
        };
        simulated::spawn_blocking(job, Box::new(run));
    }

    fn take_in(&self, shared: &'static RuntimeShared, job: PoolJob) {
        let mut state = self.state.lock();
        if state.stopped && matches!(job, PoolJob::Closure(_)) {
            drop(state);
            return Self::abandon(shared, job);
        }
        state.jobs.push_back(job);
        if state.closed {
            drop(state);
            return Self::cancel_tasks(shared);
        }
        if state.waiting >= state.jobs.len() {
            self.work.notify_one();
        } else if state.threads < self.max_threads {
            state.threads += 1;
            let number = state.threads;
            drop(state);
            self.start_thread(shared, number);
        }
    }

    /// Starts another thread. If the system refuses, the jobs wait for the existing threads; if
    /// there are none, the jobs are abandoned.
    fn start_thread(&self, shared: &'static RuntimeShared, number: usize) {
        let mut thread =
            thread::Builder::new().name(format!("{}-blocking-{number}", shared.config.name));
        if let (ThreadKind::Blocking, Some(bytes)) = (shared.config.host, shared.config.stack_size)
        {
            thread = thread.stack_size(bytes);
        }
        let error = match TrackedThread::start(thread, move || {
            shared.service::<Self>().host(shared, number)
        }) {
            Ok(handle) => return self.keep(handle),
            Err(error) => error,
        };
        tracing::error!("could not start a thread for blocking jobs: {error}");
        let mut state = self.state.lock();
        state.threads -= 1;
        let stranded =
            if state.threads == 0 { std::mem::take(&mut state.jobs) } else { VecDeque::new() };
        drop(state);
        stranded.into_iter().for_each(|job| Self::abandon(shared, job));
        self.end_if_deserted(shared);
    }

    fn keep(&self, handle: TrackedThread) {
        let mut state = self.state.lock();
        state.handles.retain(|handle| !handle.has_returned());
        state.handles.push(handle);
    }

    /// Returns whether no thread is running a job, and none is queued.
    pub(crate) fn is_at_rest(&self) -> bool {
        let state = self.state.lock();
        state.jobs.is_empty() && state.running.is_empty()
    }

    /// Returns a number that changes whenever a thread begins or ends a job.
    pub(crate) fn turns(&self) -> u64 {
        self.state.lock().turns
    }

    /// Returns whether all threads of a stopped pool have ended, except those in a job.
    pub(crate) fn has_ended_but_stuck(&self) -> bool {
        let mut state = self.state.lock();
        let ended = state.handles.extract_if(.., |handle| handle.is_over()).collect::<Vec<_>>();
        let running = state.running.len();
        let rest = state.threads == running && state.handles.len() <= running;
        drop(state);
        ended.into_iter().for_each(TrackedThread::join_if_over);
        rest
    }

    /// Stops waiting for the threads.
    pub(crate) fn detach(&self) {
        let handles = std::mem::take(&mut self.state.lock().handles);
        drop(handles);
    }

    /// Returns what the threads are still running: tasks, and jobs.
    pub(crate) fn stuck(&self, name: &str) -> (Vec<Stuck>, Vec<Stuck>) {
        let state = self.state.lock();
        let (mut tasks, mut jobs) = (Vec::new(), Vec::new());
        for (_, running) in &state.running {
            let thread = format!("{name}-blocking-{}", running.thread);
            let kind = if running.is_task { &mut tasks } else { &mut jobs };
            kind.push(Stuck { thread, work: Some(running.name) });
        }
        (tasks, jobs)
    }

    /// Called when a runtime is stopped, and by each thread that ends afterwards: if no thread is
    /// left, from now on only threads that submit tasks handle them.
    pub(crate) fn end_if_deserted(&self, shared: &RuntimeShared) {
        let mut state = self.state.lock();
        if !state.stopped || state.threads > 0 {
            return;
        }
        state.closed = true;
        let counts = shared.config.host == ThreadKind::Blocking && !state.counted_out;
        state.counted_out = true;
        drop(state);
        Self::cancel_tasks(shared);
        if counts {
            shared.count_out();
        }
    }

    /// Runs the whole of a thread, with the hooks if it takes the place of a worker.
    fn host(&self, shared: &'static RuntimeShared, number: usize) {
        let config = &shared.config;
        let has_hooks = config.host == ThreadKind::Blocking;
        shared.around_thread(|| {
            if has_hooks {
                call_hook(config.on_start.as_deref());
            }
            self.serve(shared, number);
            if has_hooks {
                call_hook(config.on_stop.as_deref());
            }
        });
        self.end_if_deserted(shared);
        shared.tell();
    }

    fn serve(&self, shared: &'static RuntimeShared, number: usize) {
        let _serving = BlockingMark::new(shared.id);
        let mut state = self.state.lock();
        loop {
            while let Some(job) = state.jobs.pop_front() {
                let running =
                    RunningJob { thread: number, is_task: job.is_task(), name: job.name() };
                state.turns += 1;
                let running = state.running.insert(running);
                drop(state);
                let rest = Self::run(shared, job);
                state = self.state.lock();
                state.turns += 1;
                state.running.remove(running);
                match rest {
                    Some(task) => state.jobs.push_back(PoolJob::Task(task)),
                    None => {
                        // After the removal: if that makes the runtime idle, no thread is in a job.
                        drop(state);
                        shared.end_outstanding();
                        state = self.state.lock();
                    }
                }
            }
            // It may have been told to end before it started to wait.
            if state.stopped {
                state.threads -= 1;
                return;
            }
            state.waiting += 1;
            let (woken, timeout) = self.work.wait_timeout(state, self.keep_alive);
            state = woken;
            state.waiting -= 1;
            if state.jobs.is_empty() && timeout {
                state.threads -= 1;
                return;
            }
        }
    }

    /// Runs a closure, or a task and those that follow it on the same cown, up to the throughput.
    /// Returns the task that follows, which goes behind all others. If there is none, the caller
    /// counts the job out.
    fn run(shared: &RuntimeShared, job: PoolJob) -> Option<TaskPtr> {
        let mut next = match job {
            PoolJob::Task(task) => Some(task),
            PoolJob::Closure(closure) => {
                (closure.run)(true);
                return None;
            }
        };
        for _ in 0..shared.config.throughput {
            let Some(task) = next else { break };
            // SAFETY: the task is ready, and owned by this thread.
            next = unsafe { run_task(task, shared.run_context()) };
        }
        next
    }

    /// Cancels the tasks of a stopped runtime, and those submitted from now on. Only one thread
    /// does so at a time: what becomes ready comes back to the same loop instead of nesting.
    pub(crate) fn cancel_tasks(shared: &RuntimeShared) {
        let pool = shared.service::<Self>();
        let mut state = pool.state.lock();
        state.closed = true;
        if std::mem::replace(&mut state.cancelling, true) {
            return;
        }
        while let Some(job) = state.jobs.pop_front() {
            drop(state);
            Self::abandon(shared, job);
            state = pool.state.lock();
        }
        state.cancelling = false;
    }

    fn abandon(shared: &RuntimeShared, job: PoolJob) {
        let _cancelling = CancelMark::enter();
        match job {
            PoolJob::Closure(closure) => {
                (closure.run)(false);
                shared.abandoned.fetch_add(1, Ordering::Relaxed);
            }
            // SAFETY: the task is ready, and owned by this thread. It counts itself.
            PoolJob::Task(task) => unsafe { shared.cancel(task) },
        }
        shared.end_outstanding();
    }
}
