//! Supervisors from the user's side: declared as a tree, and then commanded.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use coact_core::Promise;
use coact_core::internals::ThreadBound;

use super::actor::{
    ChildSupervisor, ChildTable, Children, Command, Execute, StopRequest, SupervisorActor,
};
use super::backoff::Backoff;
use super::child_handle::ChildHandle;
use super::error::{ChildError, StartError};
use super::info::{ChildInfo, Counts};
use super::plan::{ChildSpec, Plan};
use super::request::Request;
use super::spec::{ChildParts, IntoChild, Parts};
use super::strategy::{Restart, Shutdown, Strategy};
use crate::any::AnyAddr;
use crate::ask::Ask;
use crate::exit::{ExitReason, Stopped};
use crate::host::Host;
use crate::id::ActorId;
use crate::intensity::Intensity;
use crate::monitor::MonitorId;
use crate::registry::NameTaken;
use crate::settings::Settings;
use crate::spawn::actor;
use crate::types::{Addr, Cell};

/// A supervisor: an actor that starts others, restarts them when they fail, and ends them when it
/// ends.
///
/// It is declared as a [`Tree`]. Children's addresses exist from the beginning, and stay the same
/// through all restarts, those of their supervisors included; so do the waiting messages.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, Addr, Context, Handler, Message};
/// use coact::supervise::{Supervisor, permanent};
/// use std::time::Duration;
///
/// #[derive(Default)]
/// struct Worker(u32);
/// impl Actor for Worker {}
///
/// struct Divide(u32);
/// impl Message for Divide { type Reply = u32; }
///
/// impl Handler<Divide> for Worker {
///     fn handle(&mut self, by: Divide, _: &mut Context<Self>) -> u32 {
///         self.0 += 1;
///         100 / by.0
///     }
/// }
///
/// let mut tree = Supervisor::one_for_one().intensity(3, Duration::from_secs(5));
/// let worker: Addr<Worker> = tree.child(permanent(Worker::default).name("worker"));
/// let supervisor = tree.spawn();
///
/// worker.send(Divide(0))?;
/// assert_eq!(worker.ask(Divide(5)).wait()?, 20);
/// assert_eq!(supervisor.counts().wait()?.restarts, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A supervisor that is not itself a child ends when its last handle is dropped.
#[doc(alias = "supervision tree")]
#[doc(alias = "SupervisorStrategy")]
#[derive(Clone)]
pub struct Supervisor(Arc<Handle>);

struct Handle {
    /// `None` only during drop.
    address: Option<Addr<SupervisorActor>>,
    is_child: bool,
}

impl Drop for Handle {
    fn drop(&mut self) {
        // A child belongs to its supervisor.
        if let Some(address) = self.address.take()
            && !self.is_child
            && !address.has_ended()
        {
            let _ = address.clone().send(StopRequest::unreachable(address));
        }
    }
}

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
    /// assert_eq!(coact::ask(&session, |session| session.0).wait(), Ok(7));
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
        let plan = Plan::new(strategy, Intensity::default(), Backoff::none());
        let shutdown = Shutdown::stop().without_deadline();
        let spec = ChildSpec { restart: Restart::Permanent, shutdown, backoff: None };
        Tree { table: ChildTable::new(plan), spec, name: None, host: Host::current() }
    }
}

impl Tree {
    /// Sets how many failures of children within a time lead to restarts (by default 3 within 5
    /// seconds), whether one restarts one child or all. On the next failure, the supervisor gives
    /// up: it ends its children and itself, with [`ExitReason::TooManyRestarts`], and leaves the
    /// rest to its own supervisor.
    pub fn intensity(mut self, restarts: u32, within: Duration) -> Self {
        self.table.plan.set_intensity(Intensity::new(restarts, within));
        self
    }

    /// Sets how long children wait for a restart, unless they have their own setting (by default
    /// not at all).
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.table.plan.set_backoff(backoff);
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

    /// Sets a name, for [`ChildInfo`] and reports, as a child of another supervisor.
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Adds a child, and returns its address: an [`Addr`], or a [`Supervisor`] if the child is a
    /// tree itself. Messages can be sent to it at once, and wait for its start.
    ///
    /// A tree that is dropped unspawned ends its children.
    ///
    /// # Panics
    /// See [`Spawn::spawn`](crate::actor::Spawn::spawn). If another actor has a name of the child,
    /// [`try_child`](Self::try_child) returns an error instead.
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
    #[track_caller]
    pub fn try_child<C: IntoChild>(&mut self, child: C) -> Result<C::Address, NameTaken<C>> {
        let (address, ChildParts { handle, spec }) = child.into_parts()?;
        self.table.declare(handle, spec);
        Ok(address)
    }

    /// Spawns the supervisor, which starts its children. Keep the returned handle: when the last
    /// one is dropped, the supervisor ends, and its children with it.
    ///
    /// # Panics
    /// Panics if its [`Host`] needs a thread that the operating system refuses.
    #[must_use = "the supervisor and its children end when its last handle is dropped: keep it, as in \
                  `let supervisor = tree.spawn();`"]
    #[track_caller]
    pub fn spawn(self) -> Supervisor {
        let address = actor(SupervisorActor::root(self.table)).on(self.host).spawn();
        Supervisor::new(address, false)
    }
}

impl Parts for Tree {
    type Address = Supervisor;

    #[track_caller]
    fn into_parts(self) -> Result<(Supervisor, ChildParts), NameTaken<Self>> {
        let settings = Settings { host: self.host, ..Settings::default() };
        let claim = match settings.claim() {
            Ok(claim) => claim,
            Err(taken) => return Err(taken.map(|()| self)),
        };
        let mut make = SupervisorActor::factory(self.table);
        let factory = Box::new(move || ThreadBound::free(make()));
        let address = settings.make(claim, |this| Cell::supervised(this, factory));
        let handle = ChildHandle::supervisor(ChildSupervisor(address.clone()), self.name);
        Ok((Supervisor::new(address, true), ChildParts { handle, spec: self.spec }))
    }
}

impl Supervisor {
    fn new(address: Addr<SupervisorActor>, is_child: bool) -> Self {
        Self(Arc::new(Handle { address: Some(address), is_child }))
    }

    fn address(&self) -> &Addr<SupervisorActor> {
        self.0.address.as_ref().expect("taken only in drop")
    }

    /// Adds a child while the supervisor runs; the request completes with its address once it is
    /// up. If it does not start, it has ended, and does not count as a failure.
    ///
    /// Children added this way do not survive a restart of their supervisor.
    ///
    /// # Errors
    /// The request fails with a [`StartError`].
    ///
    /// # Panics
    /// See [`Spawn::spawn`](crate::actor::Spawn::spawn), except for names that are taken: those
    /// fail the request.
    #[track_caller]
    pub fn start_child<C: IntoChild>(&self, child: C) -> Request<C::Address, StartError> {
        let (address, ChildParts { handle, spec }) = match child.into_parts() {
            Ok(parts) => parts,
            Err(taken) => return Request::failed(taken.map(drop).into()),
        };
        let (resolver, promise) = Promise::channel();
        promise.owed_by(|f| f.write_str("a supervisor's answer"));
        let done = self.command(Command::Add(handle, spec));
        let done = done.then((), move |(), result| {
            let result = result.unwrap_or_else(|broken| Err(broken.into()));
            resolver.resolve(result.map(|()| address).map_err(StartError::from));
        });
        drop(done);
        Request::new(promise)
    }

    /// Stops a child: its address and its messages stay, and it can be
    /// [restarted](Self::restart_child). A [temporary](Restart::Temporary) one is gone.
    ///
    /// # Errors
    /// The request fails if the supervisor has no such child, or has ended.
    pub fn terminate_child(&self, child: ActorId) -> Request<(), ChildError> {
        Request::new(self.command(Command::Terminate(child)))
    }

    /// Starts a child that was [terminated](Self::terminate_child).
    ///
    /// # Errors
    /// The request fails if the child was not terminated, or does not start: then it stays down.
    pub fn restart_child(&self, child: ActorId) -> Request<(), ChildError> {
        Request::new(self.command(Command::Restart(child)))
    }

    /// Stops a child if it runs, and ends it for good.
    ///
    /// # Errors
    /// The request fails if the supervisor has no such child, or has ended.
    pub fn delete_child(&self, child: ActorId) -> Request<(), ChildError> {
        Request::new(self.command(Command::Delete(child)))
    }

    /// Returns all children, in the order in which they were added.
    ///
    /// # Errors
    /// The ask fails if the supervisor has ended.
    pub fn children(&self) -> Ask<Vec<ChildInfo>> {
        self.address().ask(Children)
    }

    /// Returns how many children there are.
    ///
    /// # Errors
    /// The request fails if the supervisor has ended.
    pub fn counts(&self) -> Request<Counts, ChildError> {
        let (resolver, promise) = Promise::channel();
        promise.owed_by(|f| f.write_str("a supervisor's answer"));
        let counted = self.children().then((), move |(), children| {
            let counts = children.map(|children| children.into_iter().collect());
            resolver.resolve(counts.map_err(|_| ChildError::Ended));
        });
        drop(counted);
        Request::new(promise)
    }

    fn command(&self, command: Command) -> Promise<Result<(), ChildError>> {
        let (answer, promise) = Promise::channel();
        promise.owed_by(|f| f.write_str("a supervisor's answer"));
        // If the send fails, the request is dropped, and its answer fails.
        let _ = self.address().send(Execute(command, answer));
        promise
    }

    /// Ends the children, last first, and then the supervisor. If it is a child, its supervisor
    /// decides what follows.
    ///
    /// # Errors
    /// Fails if the supervisor has ended.
    pub fn stop(&self) -> Result<(), Stopped> {
        self.address().send(StopRequest::by_user()).map_err(|_| Stopped)
    }

    /// Ends the supervisor immediately. It stops all its children, and those below them, and does
    /// not wait for them. If it is a child, its supervisor decides what follows.
    ///
    /// # Errors
    /// Fails if the supervisor has ended.
    pub fn kill(&self) -> Result<(), Stopped> {
        self.address().kill()
    }

    /// Returns its identity.
    pub fn id(&self) -> ActorId {
        self.address().id()
    }

    /// Returns whether it has ended. A child that waits to be restarted has not.
    pub fn has_ended(&self) -> bool {
        self.address().has_ended()
    }

    /// Returns why it has ended, if it has.
    pub fn exit_reason(&self) -> Option<ExitReason> {
        self.address().exit_reason()
    }

    /// Returns a promise of its exit reason, completed when it ends.
    pub fn ended(&self) -> Promise<ExitReason> {
        self.address().ended()
    }

    /// Calls a closure when it ends: see [`Addr::on_down`].
    pub fn on_down(&self, tell: impl FnOnce(crate::actor::Down) + Send + 'static) -> MonitorId {
        self.address().on_down(tell)
    }

    /// Undoes [`on_down`](Self::on_down).
    pub fn cancel_on_down(&self, monitor: MonitorId) {
        self.address().cancel_on_down(monitor);
    }

    /// Returns its address without its type, for links. Ending it by this address, with
    /// [`AnyAddr::stop`] or a [link](crate::Context::link), works like [`kill`](Self::kill),
    /// without waiting for its children; [`stop`](Self::stop) is the orderly way.
    pub fn any(&self) -> AnyAddr {
        self.address().any()
    }
}

impl From<Supervisor> for AnyAddr {
    fn from(supervisor: Supervisor) -> Self {
        supervisor.any()
    }
}

impl From<&Supervisor> for AnyAddr {
    fn from(supervisor: &Supervisor) -> Self {
        supervisor.any()
    }
}

impl PartialEq for Supervisor {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id()
    }
}

impl Eq for Supervisor {}

impl fmt::Debug for Supervisor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Supervisor({})", self.id())
    }
}

impl fmt::Debug for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let children: Vec<ActorId> = self.table.plan.view().map(|view| view.child).collect();
        f.debug_struct("Tree").field("children", &children).finish_non_exhaustive()
    }
}
