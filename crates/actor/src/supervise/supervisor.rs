//! Supervisors from the user's side: declared as a tree, and then commanded.

use std::fmt;
use std::sync::Arc;

use coact_core::Promise;
use coact_core::internals::owed_by;

use super::error::{ChildError, ReadyError, StartError};
use super::info::{ChildCounts, ChildInfo};
use super::request_future::Request;
use super::spec::{ChildParts, IntoChild};
use super::strategy::AutoShutdown;
use super::supervisor_actor::SupervisorActor;
use super::supervisor_requests::{
    ChildCommand, ExecuteCommand, ListChildren, StopRequest, ask_ready,
};
use crate::any_addr::AnyAddr;
use crate::exit::{ExitReason, Stopped};
use crate::id::ActorId;
use crate::monitor::OnDownId;
use crate::parts::Addr;

/// A supervisor: an actor that starts others, restarts them when they fail, and ends them when it
/// ends.
///
/// It is declared as a [`Tree`](crate::supervise::Tree). Children's addresses exist from the
/// beginning, and stay the same through all restarts, those of their supervisors included; so do
/// the waiting messages.
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
pub struct Supervisor(Arc<SupervisorHandle>);

struct SupervisorHandle {
    /// `None` only during drop.
    address: Option<Addr<SupervisorActor>>,
    auto_shutdown: AutoShutdown,
    is_child: bool,
}

impl Drop for SupervisorHandle {
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

impl Supervisor {
    pub(super) fn new(
        address: Addr<SupervisorActor>,
        auto_shutdown: AutoShutdown,
        is_child: bool,
    ) -> Self {
        Self(Arc::new(SupervisorHandle { address: Some(address), auto_shutdown, is_child }))
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
        if let Err(why) = spec.check(self.0.auto_shutdown) {
            return Request::failed(why);
        }
        let (resolver, promise) = Promise::channel();
        owed_by(&promise, |f| f.write_str("a supervisor's answer"));
        let done = self.command(ChildCommand::Add(handle, spec));
        let done = done.then((), move |(), result| {
            let result = result.unwrap_or_else(|broken| Err(broken.into()));
            resolver.resolve(result.map(|()| address).map_err(StartError::from));
        });
        drop(done);
        Request::new(promise)
    }

    /// Stops a child: its address and its messages stay, and it can be
    /// [restarted](Self::restart_child). A [temporary](crate::supervise::Restart::Temporary) one is
    /// gone.
    ///
    /// # Errors
    /// The request fails if the supervisor has no such child, or has ended.
    pub fn terminate_child(&self, child: ActorId) -> Request<(), ChildError> {
        Request::new(self.command(ChildCommand::Terminate(child)))
    }

    /// Starts a child that was [terminated](Self::terminate_child).
    ///
    /// # Errors
    /// The request fails if the child was not terminated, or does not start: then it stays down.
    pub fn restart_child(&self, child: ActorId) -> Request<(), ChildError> {
        Request::new(self.command(ChildCommand::Restart(child)))
    }

    /// Stops a child if it runs, and ends it for good.
    ///
    /// # Errors
    /// The request fails if the supervisor has no such child, or has ended.
    pub fn delete_child(&self, child: ActorId) -> Request<(), ChildError> {
        Request::new(self.command(ChildCommand::Delete(child)))
    }

    /// Returns all children, in the order in which they were added.
    ///
    /// # Errors
    /// The request fails if the supervisor has ended.
    pub fn children(&self) -> Request<Vec<ChildInfo>, ChildError> {
        self.ask_children(|children| children)
    }

    /// Returns how many children there are.
    ///
    /// # Errors
    /// The request fails if the supervisor has ended.
    pub fn counts(&self) -> Request<ChildCounts, ChildError> {
        self.ask_children(|children| children.into_iter().collect())
    }

    /// Asks for all children, and returns what the closure makes of them.
    fn ask_children<R: Send + 'static>(
        &self,
        convert: impl FnOnce(Vec<ChildInfo>) -> R + Send + 'static,
    ) -> Request<R, ChildError> {
        let (resolver, promise) = Promise::channel();
        owed_by(&promise, |f| f.write_str("a supervisor's answer"));
        let done = self.address().ask(ListChildren).then((), move |(), children| {
            resolver.resolve(children.map(convert).map_err(|_| ChildError::Ended));
        });
        drop(done);
        Request::new(promise)
    }

    fn command(&self, command: ChildCommand) -> Promise<Result<(), ChildError>> {
        let (answer, promise) = Promise::channel();
        owed_by(&promise, |f| f.write_str("a supervisor's answer"));
        // If the send fails, the request is dropped, and its answer fails.
        let _ = self.address().send(ExecuteCommand(command, answer));
        promise
    }

    /// Completes when the supervisor and all below it are up: when this supervisor, and each one
    /// below it, has had all its children up at one moment since the call. Children that were
    /// [terminated](Self::terminate_child) do not count.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Addr, Context};
    /// use coact::supervise::{Supervisor, permanent};
    ///
    /// struct Store;
    /// impl Actor for Store {
    ///     fn started(&mut self, _: &mut Context<Self>) { /* opens files */ }
    /// }
    ///
    /// let mut tree = Supervisor::one_for_one();
    /// let mut stores = Supervisor::one_for_all();
    /// let store: Addr<Store> = stores.child(permanent(|| Store).name("store"));
    /// tree.child(stores);
    /// let supervisor = tree.spawn();
    /// supervisor.ready().wait()?; // All have started; or this names the one that has not.
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A child that fails meanwhile, in its start or later, and is restarted, is waited for, with
    /// its [`Backoff`](crate::supervise::Backoff); so is a supervisor below that is restarted. Do
    /// not wait for this in the start of one of the children, which waits for itself then.
    ///
    /// **Cost.** Linear in the number of children, and one message for each supervisor below.
    ///
    /// # Errors
    /// The request fails with [`ReadyError::Failed`] if a declared child, here or below, did not
    /// start and is not restarted (it is temporary, for instance), whether before the call or after
    /// it; and with [`ReadyError::Ended`] if the supervisor ends first.
    pub fn ready(&self) -> Request<(), ReadyError> {
        Request::new(ask_ready(self.address()))
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
    pub fn on_down(&self, tell: impl FnOnce(crate::actor::Down) + Send + 'static) -> OnDownId {
        self.address().on_down(tell)
    }

    /// Undoes [`on_down`](Self::on_down).
    pub fn cancel_on_down(&self, callback: OnDownId) {
        self.address().cancel_on_down(callback);
    }

    /// Returns its address without its type, for links. Ending it by this address, with
    /// [`AnyAddr::stop`] or a [link](crate::Context::link), works like [`kill`](Self::kill),
    /// without waiting for its children; [`stop`](Self::stop) is the orderly way.
    pub fn to_any(&self) -> AnyAddr {
        self.address().to_any()
    }
}

impl From<Supervisor> for AnyAddr {
    fn from(supervisor: Supervisor) -> Self {
        supervisor.to_any()
    }
}

impl From<&Supervisor> for AnyAddr {
    fn from(supervisor: &Supervisor) -> Self {
        supervisor.to_any()
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
