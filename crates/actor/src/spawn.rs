//! Spawning actors.

use std::fmt;

use coact_core::internals::ThreadBound;
use coact_core::runtime::RuntimeHandle;

use crate::cell::StateFactory;
use crate::handler::SendActor;
use crate::host::{Host, HostAssignment};
use crate::id::ActorId;
use crate::intensity::RestartIntensity;
use crate::parts::{Actor, ActorCell, Addr};
use crate::registry::NameTaken;
use crate::settings::{ActorSettings, NameClaim, settings_methods};

/// Spawns an actor in the current runtime, with the default settings: see [`actor`] for others.
///
/// Returns at once; [`Actor::started`] is called before the first message.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, Context, Handler, Message, spawn};
///
/// struct Greeter(&'static str);
/// impl Actor for Greeter {}
///
/// struct Greet(&'static str);
/// impl Message for Greet { type Reply = String; }
/// impl Handler<Greet> for Greeter {
///     fn handle(&mut self, Greet(whom): Greet, _: &mut Context<Self>) -> String {
///         format!("{}, {whom}!", self.0)
///     }
/// }
///
/// let greeter = spawn(Greeter("Hello"));
/// assert_eq!(greeter.ask(Greet("Ann")).wait().as_deref(), Ok("Hello, Ann!"));
/// ```
pub fn spawn<A: SendActor>(state: A) -> Addr<A> {
    let make = |this| ActorCell::new(ThreadBound::free(state), this, None, None);
    HostAssignment::at(RuntimeHandle::current()).spawn(ActorId::next(), make, |_| ())
}

/// Returns the settings of an actor to spawn.
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::Actor;
/// use coact::actor::actor;
///
/// #[derive(Default)]
/// struct Counter(u64);
/// impl Actor for Counter {}
///
/// let counter = actor(Counter(7)).restartable(Counter::default).spawn();
/// counter.restart()?;
/// assert_eq!(coact::call(&counter, |counter| counter.0).wait(), Ok(0));
/// # Ok::<(), coact::actor::Stopped>(())
/// ```
pub fn actor<A: SendActor>(state: A) -> Spawn<A> {
    Spawn::new(state, ThreadBound::free, ActorSettings::default())
}

/// Spawns an actor that stays on this thread, that of a [`Pump`](coact_core::runtime::Pump); see
/// [`actor_local`].
///
/// # Panics
/// See [`actor_local`].
#[track_caller]
pub fn spawn_local<A: Actor>(state: A) -> Addr<A> {
    actor_local(state).spawn()
}

/// Returns the settings of an actor to spawn on this thread, that of a
/// [`Pump`](coact_core::runtime::Pump). The actor stays on this thread and need not be [`Send`].
/// This function is for handlers of such actors; the owner of the pump uses
/// [`PumpActors`](crate::system::PumpActors).
///
/// Only this thread touches the state, whatever thread sends to it and whatever behaviour names it;
/// each access checks this. The address can be sent anywhere, so messages and answers must be
/// [`Send`].
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, Runtime, when};
/// use coact::actor::actor_local;
/// use std::cell::Cell;
/// use std::rc::Rc;
///
/// struct Window(Rc<Cell<u32>>);
/// impl Actor for Window {}
///
/// let pump = Runtime::builder().build_pumped()?;
/// let shown = Rc::new(Cell::new(0));
/// let window = pump.run(|| actor_local(Window(Rc::clone(&shown))).spawn());
/// std::thread::spawn(move || when(&window, |window| window.0.set(7))).join().unwrap();
/// pump.run_until_idle(&[]);
/// assert_eq!(shown.get(), 7);
/// # Ok::<(), coact::runtime::BuildError>(())
/// ```
///
/// # Panics
/// Panics if the current runtime is not that of a pump, or this is not its thread.
#[track_caller]
pub fn actor_local<A: Actor>(state: A) -> Spawn<A> {
    let home = RuntimeHandle::current();
    assert!(
        home.is_pumped() && home.is_within_reach(),
        "a local actor is spawned on the thread of a pump: in a handler there, or by the pump itself"
    );
    Spawn::new(state, ThreadBound::here, ActorSettings::bound_to(home))
}

/// Settings for an actor; see [`actor`].
#[must_use = "nothing is spawned until `spawn` is called"]
pub struct Spawn<A: Actor> {
    state: ThreadBound<A>,
    /// How states are wrapped: free, or thread-bound to the actor's thread.
    wrap: fn(A) -> ThreadBound<A>,
    make: Option<Box<dyn FnMut() -> A + Send>>,
    limit: Option<Box<RestartIntensity>>,
    settings: ActorSettings,
}

impl<A: Actor> Spawn<A> {
    fn new(state: A, wrap: fn(A) -> ThreadBound<A>, settings: ActorSettings) -> Self {
        Self { state: wrap(state), wrap, make: None, limit: None, settings }
    }

    /// Makes the actor restartable: `make` creates the new state of each restart, where the actor
    /// runs.
    pub fn restartable(mut self, make: impl FnMut() -> A + Send + 'static) -> Self {
        self.make = Some(Box::new(make));
        self
    }

    /// Has a restartable actor restart itself after panics.
    pub(crate) fn restarts_itself(mut self, limit: RestartIntensity) -> Self {
        self.limit = Some(Box::new(limit));
        self
    }

    /// Sets the runtime to use as the current one, instead of the caller's.
    pub(crate) fn within(mut self, home: RuntimeHandle) -> Self {
        self.settings.within = Some(home);
        self
    }

    /// Sets where the actor runs (by default on the current runtime): see [`Host`].
    pub fn on(mut self, host: impl Into<Host>) -> Self
    where
        A: Send,
    {
        self.settings.set_host(host.into());
        self.state = ThreadBound::free(self.state.into_inner());
        self.wrap = ThreadBound::free;
        self
    }

    settings_methods!(place);
    settings_methods!(names);

    /// Spawns the actor. Returns at once; [`Actor::started`] is called before the first message.
    ///
    /// # Panics
    /// Panics if another actor has one of its names, see [`try_spawn`](Self::try_spawn); if its
    /// [`Host`] needs a thread that the operating system refuses; or if it is [bound to a
    /// thread](actor_local) and its [group](Self::in_group) runs elsewhere.
    #[track_caller]
    pub fn spawn(self) -> Addr<A> {
        match self.try_spawn() {
            Ok(address) => address,
            Err(taken) => panic!("{taken}; `try_spawn` returns this error"),
        }
    }

    /// Spawns the actor, like [`spawn`](Self::spawn).
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::Actor;
    /// use coact::actor::actor;
    /// use coact::registry::lookup;
    ///
    /// struct Shop(u32);
    /// impl Actor for Shop {}
    ///
    /// let first = actor(Shop(1)).named("corner").spawn();
    /// let taken = actor(Shop(2)).named("market").named("corner").try_spawn().unwrap_err();
    /// assert_eq!((&*taken.name, taken.holder), ("corner", first.id()));
    /// assert!(lookup::<Shop>("market").is_err(), "all of the names or none");
    /// ```
    ///
    /// # Errors
    /// Fails if another actor has one of its names. The error returns the actor with its settings;
    /// it has none of the names.
    #[expect(clippy::result_large_err, reason = "the error returns the actor with its settings")]
    #[track_caller]
    pub fn try_spawn(self) -> Result<Addr<A>, NameTaken<Self>> {
        match self.settings.claim() {
            Ok(claim) => Ok(self.begin(claim)),
            Err(taken) => Err(taken.map(|()| self)),
        }
    }

    #[track_caller]
    fn begin(self, claim: NameClaim) -> Addr<A> {
        let Self { state, wrap, make, limit, settings } = self;
        let factory = make.map(|mut make| -> StateFactory<A> { Box::new(move || wrap(make())) });
        settings.make(claim, |this| ActorCell::new(state, this, factory, limit))
    }
}

/// Drops the claimant, so that the error has the same type for all actors.
impl<A: Actor> From<NameTaken<Spawn<A>>> for NameTaken {
    fn from(taken: NameTaken<Spawn<A>>) -> Self {
        taken.map(drop)
    }
}

impl<A: Actor> fmt::Debug for Spawn<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spawn")
            .field("host", &self.settings.host)
            .field("group", &self.settings.group)
            .field("names", &self.settings.names)
            .field("restartable", &self.make.is_some())
            .finish_non_exhaustive()
    }
}
