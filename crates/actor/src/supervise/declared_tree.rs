//! A supervisor that is declared, with its children, and not spawned yet.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use coact_core::internals::ThreadBound;

use super::backoff::Backoff;
use super::child_handle::ChildHandle;
use super::child_table::ChildTable;
use super::error::StartError;
use super::nested_supervisor::ChildSupervisor;
use super::plan::{ChildSpec, SupervisionPlan};
use super::spec::{ChildParts, IntoChild, Parts};
use super::strategy::{AutoShutdown, Restart, Shutdown, Strategy};
use super::supervisor::Supervisor;
use super::supervisor_actor::SupervisorActor;
use crate::host::Host;
use crate::id::ActorId;
use crate::intensity::RestartIntensity;
use crate::parts::ActorCell;
use crate::registry::NameTaken;
use crate::settings::ActorSettings;
use crate::spawn::actor;

/// A supervisor to be spawned, with its children.
///
/// Children are started in the order in which they were added, each when the one before is up: when
/// its [`started`](crate::Actor::started), and what that [holds](crate::Context::hold), have ended.
/// They are stopped in reverse.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, Addr};
/// use coact::actor::ExitReason;
/// use coact::supervise::{Supervisor, permanent};
///
/// struct Store(Vec<String>);
/// impl Actor for Store {}
/// struct Reader(Addr<Store>);
/// impl Actor for Reader {}
///
/// // A reader is useless without its store: both are restarted if the store fails.
/// let mut tree = Supervisor::rest_for_one();
/// let store = tree.child(permanent(|| Store(Vec::new())).name("store"));
/// let reader = tree.child(permanent(move || Reader(store.clone())).name("reader"));
/// let supervisor = tree.spawn();
/// let names: Vec<_> = supervisor.children().wait()?.into_iter().map(|child| child.name).collect();
/// assert_eq!(names, [Some("store".into()), Some("reader".into())]);
/// supervisor.stop()?;
/// assert_eq!(reader.ended().wait(), Ok(ExitReason::Shutdown));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "nothing is started until the tree is spawned"]
pub struct Tree {
    table: ChildTable,
    spec: ChildSpec,
    name: Option<Arc<str>>,
    host: Host,
}

impl Supervisor {
    /// Declares a supervisor that restarts the child that failed.
    pub fn one_for_one() -> Tree {
        Self::with(Strategy::OneForOne)
    }

    /// Declares a supervisor that restarts all children when one fails.
    pub fn one_for_all() -> Tree {
        Self::with(Strategy::OneForAll)
    }

    /// Declares a supervisor that restarts the child that failed, and those that were added after
    /// it.
    pub fn rest_for_one() -> Tree {
        Self::with(Strategy::RestForOne)
    }

    /// Declares a supervisor for many children that are [added](Self::start_child) at run time.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::Actor;
    /// use coact::supervise::{Supervisor, transient};
    ///
    /// struct Session(u32);
    /// impl Actor for Session {}
    ///
    /// let sessions = Supervisor::dynamic().spawn();
    /// let session = sessions.start_child(transient(|| Session(7))).wait()?;
    /// assert_eq!(coact::call(&session, |session| session.0).wait(), Ok(7));
    /// sessions.delete_child(session.id()).wait()?;
    /// assert!(session.has_ended());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "simple_one_for_one")]
    #[doc(alias = "DynamicSupervisor")]
    pub fn dynamic() -> Tree {
        Self::with(Strategy::Dynamic)
    }

    /// Declares a supervisor with this strategy.
    pub fn with(strategy: Strategy) -> Tree {
        let plan = SupervisionPlan::new(strategy, RestartIntensity::default(), Backoff::none());
        let shutdown = Shutdown::stop().without_deadline();
        let spec =
            ChildSpec { restart: Restart::Permanent, shutdown, backoff: None, significant: false };
        Tree { table: ChildTable::new(plan), spec, name: None, host: Host::current() }
    }
}

impl Tree {
    /// Sets how many failures of children within a time lead to restarts (by default 3 within 5
    /// seconds), whether one restarts one child or all. On the next failure, the supervisor gives
    /// up: it ends its children and itself, with
    /// [`ExitReason::TooManyRestarts`](crate::actor::ExitReason::TooManyRestarts), and leaves the
    /// rest to its own supervisor.
    pub fn intensity(mut self, restarts: u32, within: Duration) -> Self {
        self.table.plan.set_intensity(RestartIntensity::new(restarts, within));
        self
    }

    /// Sets how long children wait for a restart, unless they have their own setting (by default
    /// not at all).
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.table.plan.set_backoff(backoff);
        self
    }

    /// Sets whether the supervisor ends, with [`ExitReason::Shutdown`](crate::actor::ExitReason),
    /// when [significant](crate::supervise::Child::significant) children have ended for good (by
    /// default never). Its other children are stopped as by [`Supervisor::stop`].
    ///
    /// As a child of another supervisor it should be [transient](Restart::Transient) or
    /// [temporary](Restart::Temporary): a permanent one is restarted, with the child that has ended
    /// last, but without those that had ended before.
    ///
    /// # Panics
    /// Panics if it is set to [`AutoShutdown::Never`] and there are significant children.
    #[track_caller]
    pub fn auto_shutdown(mut self, auto_shutdown: AutoShutdown) -> Self {
        let is_possible =
            auto_shutdown != AutoShutdown::Never || !self.table.plan.has_significant();
        assert!(is_possible, "{}", StartError::NoAutoShutdown);
        self.table.plan.set_auto_shutdown(auto_shutdown);
        self
    }

    /// Makes it [significant](crate::supervise::Child::significant) as the child of another
    /// supervisor.
    pub fn significant(mut self) -> Self {
        self.spec.significant = true;
        self
    }

    /// Sets where the supervisor runs, not its children (by default on the current runtime): see
    /// [`Host`].
    pub fn on(mut self, host: impl Into<Host>) -> Self {
        self.host = host.into();
        self
    }

    /// Sets whether this supervisor, as a child of another one, is restarted (by default always).
    pub fn restart(mut self, restart: Restart) -> Self {
        self.spec.restart = restart;
        self
    }

    /// Sets how long another supervisor, whose child this one is, waits for its end (by default as
    /// long as it takes; this one's children have deadlines of their own).
    pub fn shutdown(mut self, shutdown: Shutdown) -> Self {
        self.spec.shutdown = shutdown;
        self
    }

    /// Sets a name, for [`ChildInfo`](crate::supervise::ChildInfo) and reports, as a child of
    /// another supervisor.
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Adds a child, and returns its address: an [`Addr`](crate::Addr), or a [`Supervisor`] if the
    /// child is a tree itself. Messages can be sent to it at once, and wait for its start.
    ///
    /// A tree that is dropped unspawned ends its children.
    ///
    /// # Panics
    /// See [`Spawn::spawn`](crate::actor::Spawn::spawn). If another actor has a name of the child,
    /// [`try_child`](Self::try_child) returns an error instead. Panics if the child is
    /// [significant](crate::supervise::Child::significant), and either permanent, or the supervisor
    /// has no [`auto_shutdown`](Self::auto_shutdown).
    #[track_caller]
    pub fn child<C: IntoChild>(&mut self, child: C) -> C::Address {
        match self.try_child(child) {
            Ok(address) => address,
            Err(taken) => panic!("{taken}; `try_child` returns this error"),
        }
    }

    /// Adds a child, like [`child`](Self::child).
    ///
    /// # Errors
    /// Fails if another actor has a name of the child. The error returns the child.
    ///
    /// # Panics
    /// Panics like [`child`](Self::child), except for names that are taken.
    #[track_caller]
    pub fn try_child<C: IntoChild>(&mut self, child: C) -> Result<C::Address, NameTaken<C>> {
        let (address, ChildParts { handle, spec }) = child.into_parts()?;
        if let Err(why) = spec.check(self.table.plan.auto_shutdown()) {
            panic!("{why}");
        }
        self.table.declare(handle, spec);
        Ok(address)
    }

    /// Spawns the supervisor, which starts its children. Keep the returned handle: when the last
    /// one is dropped, the supervisor ends, and its children with it.
    ///
    /// # Panics
    /// Panics if its [`Host`] needs a thread that the operating system refuses.
    #[must_use = "the supervisor and its children end when its last handle is dropped: keep it, as in \
                  `let supervisor = tree.spawn();` (`let _ =` drops it at once)"]
    #[track_caller]
    pub fn spawn(self) -> Supervisor {
        let auto_shutdown = self.table.plan.auto_shutdown();
        let address = actor(SupervisorActor::root(self.table)).on(self.host).spawn();
        Supervisor::new(address, auto_shutdown, false)
    }
}

impl Parts for Tree {
    type Address = Supervisor;

    #[track_caller]
    fn into_parts(self) -> Result<(Supervisor, ChildParts), NameTaken<Self>> {
        let settings = ActorSettings { host: self.host, ..ActorSettings::default() };
        let claim = match settings.claim() {
            Ok(claim) => claim,
            Err(taken) => return Err(taken.map(|()| self)),
        };
        let auto_shutdown = self.table.plan.auto_shutdown();
        let mut make = SupervisorActor::factory(self.table);
        let factory = Box::new(move || ThreadBound::free(make()));
        let address = settings.make(claim, |this| ActorCell::supervised(this, factory));
        let handle = ChildHandle::supervisor(ChildSupervisor(address.clone()), self.name);
        Ok((Supervisor::new(address, auto_shutdown, true), ChildParts { handle, spec: self.spec }))
    }
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let children: Vec<ActorId> = self.table.plan.view().map(|view| view.child).collect();
        f.debug_struct("Tree").field("children", &children).finish_non_exhaustive()
    }
}
