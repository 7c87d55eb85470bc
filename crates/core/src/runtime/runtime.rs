//! The type [`Runtime`].

use super::blocking::BlockingPool;
use crate::config::ThreadKind;
use crate::current;
use crate::current::default_runtime::DefaultClaim;
use crate::sched::start;
use std::fmt;
use std::io;
use std::sync::OnceLock;
use std::time::Duration;

use super::build_error::BuildError;
use super::enter_guard::EnterGuard;
use super::without_workers::elsewhere;
use super::worker_future::{self, SpawnWorker};
use crate::config::WorkerConfig;
use crate::interrupt;
use crate::runtime_ids::RuntimeId;
use crate::sched::context;
use crate::sched::joint_idleness::{self, RuntimeList};
use crate::sched::phase::RuntimePhase;
use crate::sched::runtime_handle::RuntimeHandle;
use crate::sched::runtime_shared::{self, RuntimeShared};
use crate::simulated;

/// A set of workers with everything that belongs to them.
///
/// Most programs need none: the first cown starts the [global](Runtime::global) runtime. Create one
/// explicitly for other settings, to know when all work is done ([`run`](Runtime::run)), or to stop
/// it ([`shutdown`](Runtime::shutdown)). Several runtimes can coexist; a behaviour on cowns of
/// several runs on that of the first member of its set (or on the [`Pump`](super::Pump) that one of
/// them belongs to).
///
/// Dropping a `Runtime` shuts it down without waiting for queued work, like
/// `shutdown(Duration::ZERO)`. So it waits briefly, up to about 100 ms, for running behaviours and
/// blocking jobs. Where it must not wait (in a behaviour, a future or a waker, or in one of its own
/// blocking jobs) it does not: the threads end by themselves.
///
/// A process can create 65,535 runtimes. Each one that has ended keeps about 2 KiB.
pub struct Runtime {
    pub(super) shared: &'static RuntimeShared,
    claim: Option<DefaultClaim>,
}

impl Runtime {
    /// Returns the runtime of threads that have entered no other one, unless there is a
    /// [default](super::Builder::as_default). It starts on first use, with the default settings
    /// except for its name, `coact-global`, and is never shut down.
    ///
    /// # Panics
    /// Panics if the operating system refuses to start its threads.
    pub fn global() -> &'static Runtime {
        static GLOBAL: OnceLock<Runtime> = OnceLock::new();
        GLOBAL.get_or_init(|| Runtime { shared: start::global(), claim: None })
    }

    /// Starts the runtime's threads.
    pub(super) fn start(
        id: RuntimeId,
        config: WorkerConfig,
        spawn_worker: Option<SpawnWorker>,
    ) -> io::Result<Self> {
        let elsewhere = elsewhere(&config);
        let (shared, parkers) = start::make(id, config, elsewhere);
        let runtime = Self { shared, claim: None };
        if shared.config.simulated {
            simulated::adopt(shared.id);
            return Ok(runtime);
        }
        shared.start(parkers)?;
        if shared.config.host == ThreadKind::Blocking {
            // Its threads are those of the pool, which must exist so that it can end even if it
            // never runs a task.
            let _: &BlockingPool = shared.service();
        }
        if let Some(spawn) = spawn_worker {
            worker_future::spawn_workers(shared, &spawn);
        }
        Ok(runtime)
    }

    /// Claims the threads that have entered no runtime, as configured.
    pub(super) fn claim(&mut self) -> Result<(), BuildError> {
        self.claim = claim(self.id(), &self.shared.config)?;
        Ok(())
    }

    pub(crate) fn id(&self) -> RuntimeId {
        self.shared.id
    }

    /// Returns the number of workers; for a runtime [on blocking
    /// threads](super::Builder::on_blocking_threads), the maximum number of threads.
    pub fn workers(&self) -> usize {
        self.shared.config.workers
    }

    /// Makes this the runtime of new cowns, futures, jobs and timers on the current thread, until
    /// the guard is dropped. With several guards, the one created last takes effect, in whatever
    /// order they are dropped.
    pub fn enter(&self) -> EnterGuard<'_> {
        EnterGuard::new(self.id())
    }

    /// Runs `main` on the calling thread, inside this runtime, then waits until no work is left:
    /// every behaviour has run, and so have all futures, blocking jobs and timers.
    ///
    /// It does not wait for a behaviour that waits for a cown which a behaviour of *another*
    /// runtime holds, or is to have first: what is left is that runtime's work. To wait for both,
    /// use [`wait_idle_all`](Self::wait_idle_all).
    ///
    /// # Panics
    /// Panics if `main` panics (after the wait). Also panics where it would wait for itself: in a
    /// behaviour, a future or a waker, or in a [blocking](crate::runtime::blocking) job of this
    /// runtime.
    #[track_caller]
    pub fn run<R>(&self, main: impl FnOnce() -> R) -> R {
        context::prepare_to_block("`Runtime::run`", "spawn the work from the behaviour and return");
        assert_may_wait_for(&[self.shared]);
        let result = {
            let _entered = self.enter();
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(main))
        };
        self.wait_idle();
        result.unwrap_or_else(|payload| std::panic::resume_unwind(payload))
    }

    /// Waits until no work is left, including new work from other threads during the wait, but not
    /// what waits behind a behaviour of another runtime; see [`run`](Self::run).
    ///
    /// # Panics
    /// Panics where it would wait for itself; see [`run`](Self::run).
    #[track_caller]
    pub fn wait_idle(&self) {
        assert_may_wait_idle(&[self.shared]);
        self.shared.wait_idle();
    }

    /// Waits until no work is left in any of the runtimes at one moment. For runtimes that send
    /// work to each other, each of which may be idle while another has something for it, and for
    /// those whose behaviours share cowns: one that waits behind a behaviour of another runtime is
    /// not waited for by [`wait_idle`](Self::wait_idle) and [`run`](Self::run) of its own.
    ///
    /// ```
    /// # use coact_core as coact;
    /// use coact::{Cown, Runtime, when};
    ///
    /// let [one, two] = [Runtime::new()?, Runtime::new()?];
    /// let (ping, pong) = (one.run(|| Cown::new(0)), two.run(|| Cown::new(0)));
    /// fn serve(ball: u32, from: Cown<u32>, to: Cown<u32>) {
    ///     if ball > 0 {
    ///         let (back, next) = (from.clone(), to.clone());
    ///         when(&to, move |seen| {
    ///             *seen += 1;
    ///             serve(ball - 1, next, back);
    ///         });
    ///     }
    /// }
    /// serve(100, ping.clone(), pong.clone());
    /// Runtime::wait_idle_all(&[one.handle(), two.handle()]);
    /// assert_eq!((ping.into_inner().unwrap(), pong.into_inner().unwrap()), (50, 50));
    /// # Ok::<(), coact::runtime::BuildError>(())
    /// ```
    ///
    /// A [`Pump`](crate::runtime::Pump) among them must be pumped meanwhile; its own thread waits
    /// with [`Pump::run_until_idle`](crate::runtime::Pump::run_until_idle).
    ///
    /// # Panics
    /// Panics where it would wait for itself, see [`run`](Self::run); also on the thread of a pump
    /// among them.
    #[track_caller]
    pub fn wait_idle_all(homes: &[RuntimeHandle]) {
        let runtimes = runtimes(homes);
        assert_may_wait_idle(&runtimes);
        joint_idleness::wait(&runtimes, None);
    }

    /// Like [`wait_idle_all`](Self::wait_idle_all), for at most `timeout`; returns whether there
    /// was such a moment.
    ///
    /// # Panics
    /// Panics in a behaviour.
    #[track_caller]
    pub fn wait_idle_all_timeout(homes: &[RuntimeHandle], timeout: Duration) -> bool {
        // It may wait for itself: the timeout ends that.
        assert_may_wait_idle(&[]);
        joint_idleness::wait(&runtimes(homes), Some(timeout))
    }

    /// Waits for the end of the work and of the interruptible cowns.
    pub(super) fn end_in_order(&self, deadline: Duration) -> bool {
        let shared = self.shared;
        if shared.phase() != RuntimePhase::Running {
            return shared.wait_idle_for(deadline);
        }
        let clock = || shared.elapsed();
        let until = clock().saturating_add(deadline);
        shared.wait_idle_for(deadline / 2);
        let left = until.saturating_sub(clock());
        interrupt::end_in_order(&[self.handle()], left, &clock, &mut |time| {
            shared.wait_idle_for(time)
        })
    }

    /// Ends all [interruptible](crate::internals::Interruptible) cowns of several runtimes, such as
    /// actors, and waits until they have ended and no work is left in any of the runtimes, or the
    /// time has passed; returns whether they have. For layers above, which shut runtimes down
    /// together.
    ///
    /// # Panics
    /// Panics in a behaviour.
    #[track_caller]
    pub fn end_all(homes: &[RuntimeHandle], timeout: Duration) -> bool {
        assert_may_wait_idle(&[]);
        let Some(first) = homes.first() else { return true };
        let runtimes = runtimes(homes);
        let clock = || first.elapsed();
        interrupt::end_in_order(homes, timeout, &clock, &mut |time| {
            joint_idleness::wait(&runtimes, Some(time))
        })
    }
}

impl Runtime {
    /// Returns a handle of the runtime, which can be copied and stored.
    pub fn handle(&self) -> RuntimeHandle {
        RuntimeHandle(self.id())
    }
}

/// Panics where the calling thread must not wait for the end of these runtimes. For layers above,
/// which shut runtimes down together.
#[track_caller]
pub fn assert_may_end(homes: &[RuntimeHandle]) {
    assert_may_wait_idle(&runtimes(homes));
}

#[track_caller]
fn assert_may_wait_idle(runtimes: &[&'static RuntimeShared]) {
    context::prepare_to_block(
        "waiting until a runtime is idle",
        "spawn what follows the work on its cowns",
    );
    for runtime in runtimes {
        assert!(
            runtime.config.simulated || runtime.has_ended() || !simulated::is_active(),
            "the runtime `{}` is not part of this simulation, which cannot wait for it: wait for promises, or \
             with `Runtime::wait_idle_all(&[RuntimeHandle::current()])`",
            runtime.config.name
        );
    }
    assert_may_wait_for(runtimes);
}

/// Panics if the caller would wait for work to which it belongs, or that only the calling thread
/// can do.
#[track_caller]
pub(super) fn assert_may_wait_for(runtimes: &[&'static RuntimeShared]) {
    for runtime in runtimes {
        let name = &runtime.config.name;
        assert!(
            current::serves() != runtime.id,
            "a blocking job of the runtime `{name}` would wait for all work of `{name}`, \
             including itself: wait on a thread of the program, or let the job end and chain the \
             rest with `Promise::then`"
        );
        assert!(
            !runtime.is_pump_thread() || runtime.has_ended(),
            "only this thread runs the work of the pump `{name}`, and would wait for itself: use \
             `Pump::run_until_idle`"
        );
    }
}

fn runtimes(homes: &[RuntimeHandle]) -> RuntimeList {
    homes.iter().map(|home| runtime_shared::get(home.0)).collect()
}

impl fmt::Debug for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime")
            .field("name", &self.shared.config.name)
            .field("workers", &self.workers())
            .field("phase", &self.shared.phase())
            .finish_non_exhaustive()
    }
}

/// Claims the threads that have entered no runtime, as configured.
///
/// # Errors
/// Returns an error if another runtime is already the default.
fn claim(id: RuntimeId, config: &WorkerConfig) -> Result<Option<DefaultClaim>, BuildError> {
    if config.simulated {
        return Ok(None);
    }
    if config.as_default {
        let taken = |other| BuildError::DefaultTaken(RuntimeHandle(other).name());
        return DefaultClaim::default(id).map(Some).map_err(taken);
    }
    Ok(config.expects_entered.then(|| DefaultClaim::expecting(id)))
}
