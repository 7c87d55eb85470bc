//! Where actors run: [hosts](Host), and [systems](System): a main runtime with named dispatchers
//! beside it.

mod builder;
mod error;
mod shutdown_report;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use coact_core::Runtime;
use coact_core::internals::assert_may_end;
use coact_core::runtime::{EnterGuard, RuntimeHandle};

use crate::handler::SendActor;
use crate::host::FamilyHosts;
pub use crate::host::{CALLER_BATCH, Host};
use crate::parts::Addr;
use crate::spawn::actor;
pub use crate::spawn_on_pump::PumpActors;
pub use builder::SystemBuilder;
pub use error::{SystemError, UnknownDispatcher};
pub use shutdown_report::SystemReport;

/// A main runtime, and **dispatchers**: named runtimes beside it, each with its own workers and
/// throughput, so that slow or bursty work does not delay the rest. Together they form one family:
/// what is kept per runtime (names, events) is shared by all of them.
///
/// Programs that need no dispatcher, and need not know when all actors are done, need no system:
/// [`spawn`](crate::spawn) uses the global runtime. In a program with a system, using the global
/// runtime is rarely intended: threads [enter](Self::enter) the system, or it is the
/// [default](SystemBuilder::as_default).
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, Context, Handler, Message, spawn};
/// use coact::actor::actor;
/// use coact::system::{Host, System};
///
/// struct Greeter;
/// impl Actor for Greeter {}
///
/// struct Greet(&'static str);
/// impl Message for Greet { type Reply = String; }
/// impl Handler<Greet> for Greeter {
///     fn handle(&mut self, Greet(whom): Greet, _: &mut Context<Self>) -> String {
///         format!("Hello, {whom}!")
///     }
/// }
///
/// let system = System::builder()
///     .workers(2)
///     .dispatcher("io", |d| d.workers(1).throughput(10))
///     .build()?;
/// let io = system.dispatcher("io")?;
/// let answer = system.run(|| {
///     let greeter = spawn(Greeter); // In the system, since it is entered.
///     let far = actor(Greeter).on(io).spawn();
///     greeter.send(Greet("nobody")).unwrap();
///     far.ask(Greet("world"))
/// });
/// assert_eq!(answer.wait()?, "Hello, world!");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// In a handler, [`spawn`](crate::spawn) spawns where that handler runs: on its dispatcher. To
/// spawn elsewhere, use [`Spawn::on`](crate::actor::Spawn::on), with
/// [`Host::workers`](crate::system::Host::workers) for the main runtime, or with what
/// [`dispatcher`] returns.
///
/// Dropping the system shuts it down without waiting for queued work.
#[doc(alias = "ActorSystem")]
pub struct System {
    main: RuntimeHandle,
    /// The main runtime comes first.
    runtimes: Vec<(Arc<str>, Runtime)>,
}

impl System {
    /// Returns the main runtime.
    pub fn runtime(&self) -> RuntimeHandle {
        self.main
    }

    /// Returns a dispatcher, as a host for actors; in a handler, see [`dispatcher`].
    ///
    /// # Errors
    /// Fails if there is none with this name.
    pub fn dispatcher(&self, name: &str) -> Result<RuntimeHandle, UnknownDispatcher> {
        find_dispatcher(self.main, name)
    }

    /// Spawns an actor in the main runtime.
    pub fn spawn<A: SendActor>(&self, state: A) -> Addr<A> {
        actor(state).on(self.main).spawn()
    }

    /// Makes the main runtime the current one of this thread, until the guard is dropped, which
    /// must be before [`shutdown`](Self::shutdown): that takes the system by value. For other
    /// threads, and for futures on them, see [`RuntimeHandle::enter`],
    /// [`RuntimeHandle::enter_thread`] and [`RuntimeHandle::within`].
    pub fn enter(&self) -> EnterGuard<'_> {
        self.runtimes[0].1.enter()
    }

    /// Runs `main` on the calling thread, inside the system, then waits until no work is left: in
    /// the main runtime, in all dispatchers, and on all threads of detached and resource actors, at
    /// one moment.
    ///
    /// # Panics
    /// Panics if `main` panics (after the wait), or if called from a behaviour or a handler.
    #[track_caller]
    pub fn run<R>(&self, main: impl FnOnce() -> R) -> R {
        let result = {
            let _entered = self.enter();
            catch_unwind(AssertUnwindSafe(main))
        };
        self.wait_idle();
        result.unwrap_or_else(|payload| resume_unwind(payload))
    }

    /// Waits until no work is left in any runtime of the system, at one moment.
    ///
    /// # Panics
    /// Panics if called from a behaviour or a handler.
    #[track_caller]
    pub fn wait_idle(&self) {
        loop {
            let homes = self.homes();
            Runtime::wait_idle_all(&homes);
            // One of these runtimes created any new host before it was idle.
            if self.homes().len() == homes.len() {
                return;
            }
        }
    }

    /// Like [`wait_idle`](Self::wait_idle), for at most `timeout`; returns whether there was such a
    /// moment.
    ///
    /// # Panics
    /// See [`wait_idle`](Self::wait_idle).
    #[track_caller]
    pub fn wait_idle_timeout(&self, timeout: Duration) -> bool {
        let until = Instant::now().checked_add(timeout);
        loop {
            let homes = self.homes();
            let left =
                until.map_or(timeout, |until| until.saturating_duration_since(Instant::now()));
            if !Runtime::wait_idle_all_timeout(&homes, left) {
                return false;
            }
            if self.homes().len() == homes.len() {
                return true;
            }
        }
    }

    fn homes(&self) -> Vec<RuntimeHandle> {
        let own = self.runtimes.iter().map(|(_, runtime)| runtime.handle());
        own.chain(FamilyHosts::of(self.main).homes()).collect()
    }

    /// Stops the system: waits up to `deadline` for its work to end, then drops what is still
    /// queued without running it, and ends all threads.
    ///
    /// When no work is left, or when half of the deadline is over, the actors that are still alive
    /// are [stopped](Addr::stop), children before their supervisors; work that their `stopped`
    /// hooks start is waited for. Actors that have not ended by the deadline are cut off: they end
    /// as [killed](crate::actor::ExitReason::Killed), without `stopped`, and their links and
    /// monitors are notified.
    ///
    /// # Panics
    /// Panics at once if called from a behaviour or a handler. As the system is dropped by that, it
    /// is cut off.
    #[track_caller]
    pub fn shutdown(mut self, deadline: Duration) -> SystemReport {
        assert_may_end(&self.homes());
        let home = self.main;
        let until = home.elapsed().saturating_add(deadline);
        // Hosts created meanwhile are created by work that this waits for.
        self.wait_idle_timeout(deadline / 2);
        let all = self.take_all();
        let homes: Vec<RuntimeHandle> = all.iter().map(|(_, runtime)| runtime.handle()).collect();
        let left = until.saturating_sub(home.elapsed());
        stop(all, Runtime::end_all(&homes, left))
    }

    fn take_all(&mut self) -> Vec<(Arc<str>, Runtime)> {
        let mut all = std::mem::take(&mut self.runtimes);
        let hosts = FamilyHosts::of(self.main).close();
        all.extend(hosts.into_iter().map(|host| (host.handle().name().into(), host)));
        all
    }
}

/// Shuts down runtimes whose work has ended or is abandoned.
fn stop(all: Vec<(Arc<str>, Runtime)>, done: bool) -> SystemReport {
    if !done {
        // All at once: one may wait for another.
        all.iter().for_each(|(_, runtime)| runtime.cancel());
    }
    let stop =
        |(name, runtime): (Arc<str>, Runtime)| (name.to_string(), runtime.shutdown(Duration::ZERO));
    SystemReport { runtimes: all.into_iter().map(stop).collect() }
}

impl Drop for System {
    fn drop(&mut self) {
        let all = self.take_all();
        all.iter().for_each(|(_, runtime)| runtime.cancel());
    }
}

impl fmt::Debug for System {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("System").field("runtimes", &self.runtimes).finish()
    }
}

/// Finds a dispatcher of the caller's system; in a handler, of the system of its actor.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, Context};
/// use coact::actor::actor;
/// use coact::system::{System, dispatcher};
///
/// struct Parent;
/// impl Actor for Parent {
///     fn started(&mut self, _: &mut Context<Self>) {
///         let io = dispatcher("io").expect("the system has one");
///         actor(Child).on(io).spawn();
///     }
/// }
/// struct Child;
/// impl Actor for Child {}
///
/// let system = System::builder().dispatcher("io", |d| d.workers(1)).build()?;
/// system.run(|| drop(actor(Parent).spawn()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Fails if there is none with this name.
pub fn dispatcher(name: &str) -> Result<RuntimeHandle, UnknownDispatcher> {
    find_dispatcher(RuntimeHandle::current(), name)
}

fn find_dispatcher(home: RuntimeHandle, name: &str) -> Result<RuntimeHandle, UnknownDispatcher> {
    FamilyHosts::of(home).dispatcher(name).map_err(|known| UnknownDispatcher {
        name: name.to_string(),
        known: known.iter().map(ToString::to_string).collect(),
    })
}
