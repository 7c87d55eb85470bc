//! The handle of a runtime.

use super::blocking::BlockingPool;
use crate::config::Host;
use crate::current;
use crate::current::default_runtime::Claim;
use crate::sched::start;
use std::fmt;
use std::io;
use std::sync::OnceLock;
use std::time::Duration;

use super::build_error::BuildError;
use super::elsewhere::elsewhere;
use super::executor::{self, SpawnWorker};
use super::guard::EnterGuard;
use crate::config::Config;
use crate::ids::RuntimeId;
use crate::interrupt;
use crate::sched::context;
use crate::sched::phase::Phase;
use crate::sched::quiescence::{self, Runtimes};
use crate::sched::runtime_handle::RuntimeHandle;
use crate::sched::shared::{self, Shared};
use crate::simulated;

/// A set of workers with everything that belongs to them.
///
/// Most programs need none: the first cown that is made starts the [global](Runtime::global)
/// runtime. Make one explicitly for other settings, to know when all work is done
/// ([`run`](Runtime::run)), or to stop it ([`shutdown`](Runtime::shutdown)). Runtimes live side by
/// side; a behaviour over cowns of several runs on that of the first member of its set (or on the
/// [`Pump`](super::Pump) that one of them belongs to).
///
/// Dropping the handle shuts the runtime down without waiting for queued work: as
/// `shutdown(Duration::ZERO)`. So it waits for a moment, up to about 100 ms, for behaviours and blocking
/// jobs that are under way. Where it must not wait (in a behaviour, a future or a waker, or in one of its own
/// blocking jobs) it does not: the threads end by themselves.
///
/// A process can make 65,535 runtimes in its life. Each that has ended keeps about 2 KiB.
pub struct Runtime {
    pub(super) shared: &'static Shared,
    claim: Option<Claim>,
}

impl Runtime {
    /// The runtime that is used where no other one is entered, and none is the
    /// [default](super::Builder::as_default). It starts with its first use, with the default settings but for its
    /// name, `coact-global`, and is never shut down.
    ///
    /// # Panics
    /// If the operating system refuses to start its threads.
    pub fn global() -> &'static Runtime {
        static GLOBAL: OnceLock<Runtime> = OnceLock::new();
        GLOBAL.get_or_init(|| Runtime { shared: start::global(), claim: None })
    }

    /// Makes the runtime's threads.
    pub(super) fn start(
        id: RuntimeId,
        config: Config,
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
        if shared.config.host == Host::Blocking {
            // Its threads are the pool's. So it has one to be ended by, if it never runs a task.
            let _: &BlockingPool = shared.service();
        }
        if let Some(spawn) = spawn_worker {
            executor::spawn_workers(shared, &spawn);
        }
        Ok(runtime)
    }

    /// Says what it is to threads that have entered no runtime.
    pub(super) fn claim(&mut self) -> Result<(), BuildError> {
        self.claim = claim(self.id(), &self.shared.config)?;
        Ok(())
    }

    pub(crate) fn id(&self) -> RuntimeId {
        self.shared.id
    }

    /// How many workers it has; of one [on blocking threads](super::Builder::on_blocking_threads), how many
    /// threads it may have.
    pub fn workers(&self) -> usize {
        self.shared.config.workers
    }

    /// Makes this the runtime of new cowns, futures, jobs and timers on the current thread, until
    /// the guard is dropped. Of several guards that which was made last counts, in whatever order they are dropped.
    pub fn enter(&self) -> EnterGuard<'_> {
        EnterGuard::new(self.id())
    }

    /// Runs `main` on the calling thread, inside this runtime, then waits until no work is left:
    /// every behaviour has run, and so have all futures, blocking jobs and timers that were started.
    ///
    /// # Panics
    /// If `main` panics (after the wait). If it is called where it would wait for itself: from a
    /// behaviour, a future or a waker, or from a [blocking](crate::runtime::blocking) job of this runtime.
    #[track_caller]
    pub fn run<R>(&self, main: impl FnOnce() -> R) -> R {
        context::prepare_to_block(
            "`Runtime::run`",
            "spawn the work from the behaviour and let it end",
        );
        assert_may_wait_for(&[self.shared]);
        let result = {
            let _entered = self.enter();
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(main))
        };
        self.wait_idle();
        result.unwrap_or_else(|payload| std::panic::resume_unwind(payload))
    }

    /// Waits until no work is left. New work that other threads bring while this waits is waited
    /// for too.
    ///
    /// # Panics
    /// As [`run`](Self::run), where it would wait for itself.
    #[track_caller]
    pub fn wait_idle(&self) {
        assert_may_wait_idle(&[self.shared]);
        self.shared.wait_idle();
    }

    /// Waits until no work is left in any of the runtimes, at one moment: for those that send work to
    /// each other, of which each may be idle while the next has something for it.
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
    /// A [`Pump`](crate::runtime::Pump) among them must be pumped meanwhile; its own thread waits with
    /// [`Pump::run_until_all_idle`](crate::runtime::Pump::run_until_all_idle).
    ///
    /// # Panics
    /// As [`run`](Self::run), where it would wait for itself; and on the thread of a pump among them.
    #[track_caller]
    pub fn wait_idle_all(homes: &[RuntimeHandle]) {
        let runtimes = runtimes(homes);
        assert_may_wait_idle(&runtimes);
        quiescence::wait(&runtimes, None);
    }

    /// The same for so long at the most; returns whether there was such a moment.
    ///
    /// # Panics
    /// If it is called from a behaviour.
    #[track_caller]
    pub fn wait_idle_all_timeout(homes: &[RuntimeHandle], timeout: Duration) -> bool {
        // It may wait for itself: the time ends that.
        assert_may_wait_idle(&[]);
        quiescence::wait(&runtimes(homes), Some(timeout))
    }

    /// Waits for the end of work, and of what is interruptible.
    pub(super) fn end_in_order(&self, deadline: Duration) -> bool {
        let shared = self.shared;
        if shared.phase() != Phase::Running {
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

    /// Ends all that is [interruptible](crate::internals::Interruptible) in several runtimes, such as actors, and waits until
    /// that has happened and no work is left in any of them, for so long at the most; returns whether it has
    /// come to that. For layers above, which shut runtimes down together.
    ///
    /// # Panics
    /// If it is called from a behaviour.
    #[track_caller]
    pub fn end_all(homes: &[RuntimeHandle], timeout: Duration) -> bool {
        assert_may_wait_idle(&[]);
        let Some(first) = homes.first() else { return true };
        let runtimes = runtimes(homes);
        let clock = || first.elapsed();
        interrupt::end_in_order(homes, timeout, &clock, &mut |time| {
            quiescence::wait(&runtimes, Some(time))
        })
    }
}

impl Runtime {
    /// A handle of the runtime, which can be copied and kept.
    pub fn handle(&self) -> RuntimeHandle {
        RuntimeHandle(self.id())
    }
}

#[track_caller]
fn assert_may_wait_idle(runtimes: &[&'static Shared]) {
    context::prepare_to_block(
        "waiting until a runtime is idle",
        "spawn what is to come after the work on its cowns",
    );
    assert_may_wait_for(runtimes);
}

/// Refuses to wait for work to which the caller belongs, or which the calling thread alone can do.
#[track_caller]
pub(super) fn assert_may_wait_for(runtimes: &[&'static Shared]) {
    for runtime in runtimes {
        let name = &runtime.config.name;
        assert!(
            current::serves() != runtime.id,
            "a blocking job of the runtime `{name}` would wait for the end of all work of `{name}`, \
             and so for its own: do it from a thread of the program, or let the job end and chain the \
             rest with `Promise::then`"
        );
        assert!(
            !runtime.is_pump_thread() || runtime.has_ended(),
            "this thread is the one that runs the work of the pump `{name}`, and would wait for it: use \
             `Pump::run_until_idle` or `Pump::run_until_all_idle`, which run it"
        );
    }
}

fn runtimes(homes: &[RuntimeHandle]) -> Runtimes {
    homes.iter().map(|home| shared::get(home.0)).collect()
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

/// What a runtime that has started is to threads that have entered none.
///
/// # Errors
/// Another one is the default already.
fn claim(id: RuntimeId, config: &Config) -> Result<Option<Claim>, BuildError> {
    if config.simulated {
        return Ok(None);
    }
    if config.as_default {
        let taken = |other| BuildError::DefaultTaken(RuntimeHandle(other).name());
        return Claim::default(id).map(Some).map_err(taken);
    }
    Ok(config.expects_entered.then(|| Claim::expecting(id)))
}
