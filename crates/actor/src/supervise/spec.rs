//! Children as users declare them.

use std::sync::Arc;

use coact_core::internals::ThreadBound;
use coact_core::runtime::RuntimeHandle;

use super::backoff::Backoff;
use super::child_handle::ChildHandle;
use super::plan::ChildSpec;
use super::strategy::{Restart, Shutdown};
use crate::handler::SendActor;
use crate::host::Host;
use crate::parts::{Actor, ActorCell, Addr};
use crate::registry::NameTaken;
use crate::settings::{ActorSettings, settings_methods};

/// Declares a child that is always restarted, with a closure that makes its state each time.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, call, when};
/// use coact::supervise::{Supervisor, permanent};
///
/// struct Cache(Vec<u32>);
/// impl Actor for Cache {}
///
/// let mut tree = Supervisor::one_for_one();
/// let cache = tree.child(permanent(|| Cache(Vec::new())));
/// let supervisor = tree.spawn();
/// when(&cache, |cache| cache.0.push(7));
/// cache.drain()?; // An end that was meant is no end either.
/// assert_eq!(call(&cache, |cache| cache.0.len()).wait(), Ok(0));
/// # drop(supervisor);
/// # Ok::<(), coact::actor::Stopped>(())
/// ```
pub fn permanent<A: SendActor>(make: impl FnMut() -> A + Send + 'static) -> Child<A> {
    Child::free(Restart::Permanent, make)
}

/// Declares a child that is restarted unless its end was
/// [intended](crate::actor::ExitReason::is_normal).
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, call, when};
/// use coact::actor::ExitReason;
/// use coact::supervise::{Supervisor, transient};
///
/// struct Session(u32);
/// impl Actor for Session {}
///
/// let sessions = Supervisor::dynamic().spawn();
/// let session = sessions.start_child(transient(|| Session(7))).wait()?;
/// when(&session, |_| panic!("out of luck"));
/// assert_eq!(call(&session, |session| session.0).wait(), Ok(7), "it is restarted");
/// session.stop()?;
/// assert_eq!(session.ended().wait(), Ok(ExitReason::Shutdown), "it is not");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn transient<A: SendActor>(make: impl FnMut() -> A + Send + 'static) -> Child<A> {
    Child::free(Restart::Transient, make)
}

/// Declares a child that is not restarted.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, when};
/// use coact::actor::ExitReason;
/// use coact::supervise::{Supervisor, temporary};
///
/// struct Job;
/// impl Actor for Job {}
///
/// let jobs = Supervisor::dynamic().spawn();
/// let job = jobs.start_child(temporary(|| Job)).wait()?;
/// when(&job, |_| panic!("out of luck"));
/// assert_eq!(job.ended().wait(), Ok(ExitReason::Panicked("out of luck".into())));
/// assert_eq!(jobs.counts().wait()?.restarts, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn temporary<A: SendActor>(make: impl FnMut() -> A + Send + 'static) -> Child<A> {
    Child::free(Restart::Temporary, make)
}

/// An actor as the child of a supervisor: [`permanent`], [`transient`] or [`temporary`]; for actors
/// that are not [`Send`], [`Child::local`].
///
/// A child has all settings of an [`actor`](crate::actor::actor), and keeps them through restarts:
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, Context, Handler, Message};
/// use coact::mailbox::Mailbox;
/// use coact::registry::lookup;
/// use coact::supervise::{Supervisor, permanent};
/// use coact::system::Host;
///
/// struct Journal(u32);
/// impl Actor for Journal {}
///
/// struct Write(u32);
/// impl Message for Write { type Reply = u32; }
/// impl Handler<Write> for Journal {
///     fn handle(&mut self, Write(by): Write, _: &mut Context<Self>) -> u32 {
///         self.0 += 10 / by;
///         self.0
///     }
/// }
///
/// let mut tree = Supervisor::one_for_one();
/// let journal = tree.child(
///     permanent(|| Journal(0))
///         .on(Host::blocking())
///         .mailbox(Mailbox::bounded(100).fail())
///         .named("the journal"),
/// );
/// let supervisor = tree.spawn();
/// journal.send(Write(0))?; // Panics: the journal is restarted.
/// let found = lookup::<Journal>("the journal")?;
/// assert_eq!(found.ask(Write(2)).wait()?, 5);
/// assert_eq!(found.mailbox().capacity(), Some(100));
/// # drop(supervisor);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// The closure runs where the child does. A panic in it counts as a failure of the child.
#[doc(alias = "child spec")]
#[must_use = "a child does nothing until it is added to a supervisor"]
pub struct Child<A: Actor> {
    make: Box<dyn FnMut() -> A + Send>,
    /// How states are wrapped: free, or thread-bound to the child's thread.
    wrap: fn(A) -> ThreadBound<A>,
    spec: ChildSpec,
    label: Option<Arc<str>>,
    settings: ActorSettings,
}

impl<A: Actor> Child<A> {
    fn free(restart: Restart, make: impl FnMut() -> A + Send + 'static) -> Self
    where
        A: Send,
    {
        Self::new(restart, Box::new(make), ThreadBound::free, ActorSettings::default())
    }

    fn new(
        restart: Restart,
        make: Box<dyn FnMut() -> A + Send>,
        wrap: fn(A) -> ThreadBound<A>,
        settings: ActorSettings,
    ) -> Self {
        let spec =
            ChildSpec { restart, shutdown: Shutdown::stop(), backoff: None, significant: false };
        Self { make, wrap, spec, label: None, settings }
    }

    /// Declares a child that stays on the thread of a [`Pump`](coact_core::runtime::Pump), given by
    /// its home, and need not be [`Send`]: see [`actor_local`](crate::actor::actor_local). The
    /// closure is called on that thread, at the start and at each restart. Child and supervisor may
    /// be declared on any thread, and the supervisor may run anywhere.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Runtime, call};
    /// use coact::supervise::{Child, Restart, Supervisor};
    /// use std::rc::Rc;
    ///
    /// struct Window(Rc<str>);
    /// impl Actor for Window {}
    ///
    /// let pump = Runtime::builder().build_pumped()?;
    /// let mut tree = Supervisor::one_for_one();
    /// let window =
    ///     tree.child(Child::local(pump.runtime(), Restart::Permanent, || Window("main".into())));
    /// let supervisor = tree.spawn();
    /// let title = pump.run_future(call(&window, |window| window.0.to_string()));
    /// assert_eq!(title.as_deref(), Ok("main"));
    /// # drop(supervisor);
    /// # pump.run_future(window.ended()).unwrap();
    /// # Ok::<(), coact::runtime::BuildError>(())
    /// ```
    ///
    /// # Panics
    /// Panics if the home is not that of a pump.
    #[track_caller]
    pub fn local(
        pump: RuntimeHandle,
        restart: Restart,
        make: impl FnMut() -> A + Send + 'static,
    ) -> Self {
        Self::new(restart, Box::new(make), ThreadBound::here, ActorSettings::bound_to(pump))
    }

    /// Sets a name for [`ChildInfo`](crate::supervise::ChildInfo) and reports; by default the first
    /// of its [registered names](Self::named).
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.label = Some(name.into());
        self
    }

    /// Sets how it is stopped (by default [`Shutdown::stop`]).
    pub fn shutdown(mut self, shutdown: Shutdown) -> Self {
        self.spec.shutdown = shutdown;
        self
    }

    /// Sets how long it waits for a restart (by default as its supervisor says).
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.spec.backoff = Some(backoff);
        self
    }

    /// Makes the child significant: its supervisor ends when this child, or the last one of these,
    /// has ended for good, as its [`AutoShutdown`](crate::supervise::AutoShutdown) says. For
    /// supervisors of children that work on one thing together.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::Actor;
    /// use coact::actor::ExitReason;
    /// use coact::supervise::{AutoShutdown, Supervisor, permanent, transient};
    ///
    /// struct Connection;
    /// impl Actor for Connection {}
    /// struct Keepalive;
    /// impl Actor for Keepalive {}
    ///
    /// let mut session = Supervisor::one_for_one().auto_shutdown(AutoShutdown::AnySignificant);
    /// let connection = session.child(transient(|| Connection).significant());
    /// let keepalive = session.child(permanent(|| Keepalive));
    /// let session = session.spawn();
    /// session.ready().wait()?;
    /// connection.stop()?; // It is done. So is the session.
    /// assert_eq!(session.ended().wait(), Ok(ExitReason::Shutdown));
    /// assert!(keepalive.has_ended());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A [permanent](crate::supervise::Restart::Permanent) child cannot be significant, and a
    /// supervisor needs an `AutoShutdown` for it: [`Tree::child`](crate::supervise::Tree::child)
    /// panics otherwise, and [`start_child`](crate::supervise::Supervisor::start_child) fails.
    pub fn significant(mut self) -> Self {
        self.spec.significant = true;
        self
    }

    /// Sets where it runs (by default on the current runtime): see [`Host`]. A thread of its own is
    /// kept through restarts.
    pub fn on(mut self, host: impl Into<Host>) -> Self
    where
        A: Send,
    {
        self.settings.set_host(host.into());
        self.wrap = ThreadBound::free;
        self
    }

    settings_methods!(place);
    settings_methods!(names);
}

/// What can be the child of a supervisor: a [`Child`], or a [`Tree`](crate::supervise::Tree).
pub trait IntoChild: private::Parts {}

impl<P: private::Parts> IntoChild for P {}

pub(crate) mod private {
    use super::{ChildHandle, ChildSpec, NameTaken};

    #[diagnostic::on_unimplemented(
        message = "`{Self}` cannot be the child of a supervisor",
        label = "a child is needed here, which says how to make the actor again",
        note = "write `permanent(|| TheActor)`, `transient(..)` or `temporary(..)`; what is set of it comes behind that: `permanent(|| TheActor).mailbox(Mailbox::bounded(8))`",
        note = "a whole `Tree`, which is not spawned yet, can be a child, too"
    )]
    pub trait Parts {
        /// The type of the child's address.
        type Address: Send + 'static;

        /// # Errors
        /// Fails if another actor has a name of the child.
        #[doc(hidden)]
        fn into_parts(self) -> Result<(Self::Address, ChildParts), NameTaken<Self>>
        where
            Self: Sized;
    }

    /// A child that can be reached, but has no state yet.
    pub struct ChildParts {
        pub(crate) handle: ChildHandle,
        pub(crate) spec: ChildSpec,
    }
}

pub(crate) use private::{ChildParts, Parts};

impl<A: Actor> Parts for Child<A> {
    type Address = Addr<A>;

    #[track_caller]
    fn into_parts(self) -> Result<(Addr<A>, ChildParts), NameTaken<Self>> {
        let claim = match self.settings.claim() {
            Ok(claim) => claim,
            Err(taken) => return Err(taken.map(|()| self)),
        };
        let Self { mut make, wrap, spec, label, settings } = self;
        let label = label.or_else(|| settings.names.first().cloned());
        let factory = Box::new(move || wrap(make()));
        let address = settings.make(claim, |this| ActorCell::supervised(this, factory));
        let handle = ChildHandle::actor(address.clone(), label);
        Ok((address, ChildParts { handle, spec }))
    }
}

/// Drops the claimant, so that the error has the same type for all children.
impl<A: Actor> From<NameTaken<Child<A>>> for NameTaken {
    fn from(taken: NameTaken<Child<A>>) -> Self {
        taken.map(drop)
    }
}

impl<A: Actor> std::fmt::Debug for Child<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Child")
            .field("name", &self.label)
            .field("restart", &self.spec.restart)
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
