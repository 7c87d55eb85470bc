//! A small executor, for runtimes whose workers are futures.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake};
use std::thread;

use coact_sync::shim::process::{Condvar, Mutex};

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Some threads that poll futures in the order in which they are woken. Dropping it ends the
/// threads, and drops the futures.
#[derive(Debug)]
pub struct Executor {
    shared: Arc<Shared>,
    threads: Vec<thread::JoinHandle<()>>,
}

/// What spawns futures; it may outlive the executor, which then drops them.
#[derive(Clone, Debug)]
pub struct Spawner(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    woken: VecDeque<Arc<Spawned>>,
    all: Vec<Arc<Spawned>>,
    has_ended: bool,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State").field("woken", &self.woken.len()).finish_non_exhaustive()
    }
}

struct Spawned {
    task: Mutex<Option<Task>>,
    is_woken: Mutex<bool>,
    executor: Arc<Shared>,
}

impl Executor {
    /// An executor with this number of threads, which are called `executor`.
    ///
    /// # Panics
    /// If the operating system refuses the threads.
    pub fn new(threads: usize) -> Self {
        let shared = Arc::new(Shared::default());
        let start = |_| {
            let shared = Arc::clone(&shared);
            let settings = thread::Builder::new().name("executor".to_owned());
            settings.spawn(move || shared.serve()).expect("the system has threads")
        };
        let threads = (0..threads).map(start).collect();
        Self { shared, threads }
    }

    /// What spawns futures on it.
    pub fn spawner(&self) -> Spawner {
        Spawner(Arc::clone(&self.shared))
    }
}

impl Spawner {
    /// Spawns a future.
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) {
        let spawned = Arc::new(Spawned {
            task: Mutex::new(Some(Box::pin(future))),
            is_woken: Mutex::new(false),
            executor: Arc::clone(&self.0),
        });
        self.0.state.lock().all.push(Arc::clone(&spawned));
        spawned.wake();
    }
}

impl Shared {
    fn serve(&self) {
        while let Some(spawned) = self.take() {
            *spawned.is_woken.lock() = false;
            let mut task = spawned.task.lock();
            let waker = Arc::clone(&spawned).into();
            if let Some(future) = &mut *task
                && let Poll::Ready(()) = future.as_mut().poll(&mut Context::from_waker(&waker))
            {
                *task = None;
            }
        }
    }

    fn take(&self) -> Option<Arc<Spawned>> {
        let mut state = self.state.lock();
        loop {
            if state.has_ended {
                return None;
            }
            if let Some(task) = state.woken.pop_front() {
                return Some(task);
            }
            state = self.changed.wait(state);
        }
    }
}

impl Wake for Spawned {
    fn wake(self: Arc<Self>) {
        if !std::mem::replace(&mut *self.is_woken.lock(), true) {
            let executor = Arc::clone(&self.executor);
            executor.state.lock().woken.push_back(self);
            executor.changed.notify_one();
        }
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        self.shared.state.lock().has_ended = true;
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            // What it has polled has panicked, and said so.
            let _ = thread.join();
        }
        let (all, woken) = {
            let mut state = self.shared.state.lock();
            (std::mem::take(&mut state.all), std::mem::take(&mut state.woken))
        };
        all.iter().for_each(|spawned| *spawned.task.lock() = None);
        drop(woken);
    }
}
