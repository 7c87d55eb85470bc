//! Bringing actors to life.

use coact_core::{Anchored, Cown, Home};

use crate::cell::{Cell, Factory};
use crate::front::Front;
use crate::host::{Host, Place};
use crate::{Actor, ActorId, Addr, SendActor};

/// Spawns an actor in the current runtime, with the default settings: see [`actor`] for others.
///
/// Returns at once; [`Actor::started`] is called before the first message.
pub fn spawn<A: SendActor>(state: A) -> Addr<A> {
    actor(state).spawn()
}

/// An actor that is about to be spawned.
///
/// ```
/// use coact_actor::{Actor, actor};
///
/// #[derive(Default)]
/// struct Counter(u64);
/// impl Actor for Counter {}
///
/// let counter = actor(Counter(7)).restartable(Counter::default).spawn();
/// counter.restart()?;
/// assert_eq!(coact_core::ask(&counter, |counter| counter.0).wait(), Ok(0));
/// # Ok::<(), coact_actor::Stopped>(())
/// ```
pub fn actor<A: SendActor>(state: A) -> Spawn<A> {
    Spawn::new(state, Anchored::free, Host::current())
}

/// Spawns an actor that stays on this thread, that of a [`Pump`](coact_core::Pump); see
/// [`actor_local`].
///
/// # Panics
/// As [`actor_local`].
#[track_caller]
pub fn spawn_local<A: Actor>(state: A) -> Addr<A> {
    actor_local(state).spawn()
}

/// An actor that is about to be spawned on this thread, that of a [`Pump`](coact_core::Pump), and stays on
/// it: it need not be [`Send`]. For handlers of such actors; who has the pump uses
/// [`PumpActors`](crate::PumpActors).
///
/// Its state is touched by this thread only, whoever sends and whatever behaviour names it; it is checked
/// at each access. Its address goes everywhere, and so must messages and answers.
///
/// ```
/// use coact_actor::{Actor, actor_local};
/// use coact_core::{Runtime, when};
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
/// pump.run_until_idle();
/// assert_eq!(shown.get(), 7);
/// # Ok::<(), coact_core::BuildError>(())
/// ```
///
/// # Panics
/// If the current runtime is not that of a pump, or this is not its thread.
#[track_caller]
pub fn actor_local<A: Actor>(state: A) -> Spawn<A> {
    let home = Home::current();
    assert!(
        home.is_pumped() && home.is_within_reach(),
        "a local actor is spawned on the thread of a pump: in a handler there, or by the pump itself"
    );
    Spawn::new(state, Anchored::here, home.into())
}

/// Settings for an actor; see [`actor`].
#[must_use = "nothing is spawned before `spawn` is called"]
pub struct Spawn<A: Actor> {
    state: Anchored<A>,
    /// How states are wrapped: free, or anchored to the actor's thread.
    wrap: fn(A) -> Anchored<A>,
    make: Option<Box<dyn FnMut() -> A + Send>>,
    host: Host,
}

impl<A: Actor> Spawn<A> {
    fn new(state: A, wrap: fn(A) -> Anchored<A>, host: Host) -> Self {
        Self { state: wrap(state), wrap, make: None, host }
    }

    /// How to make a new state for a restart. It is called where the actor runs.
    pub fn restartable(mut self, make: impl FnMut() -> A + Send + 'static) -> Self {
        self.make = Some(Box::new(make));
        self
    }

    /// Where the actor runs (by default on the current runtime): see [`Host`].
    pub fn on(mut self, host: impl Into<Host>) -> Self
    where
        A: Send,
    {
        self.host = host.into();
        self.state = Anchored::free(self.state.into_inner());
        self.wrap = Anchored::free;
        self
    }

    /// Spawns the actor. Returns at once; [`Actor::started`] is called before the first message.
    ///
    /// # Panics
    /// If its [`Host`] needs a thread that the operating system refuses.
    #[track_caller]
    pub fn spawn(self) -> Addr<A> {
        let Self { state, wrap, make, host } = self;
        let factory = make.map(|mut make| -> Factory<A> { Box::new(move || wrap(make())) });
        let Place { home, lease, caller_batch } = host.take_place::<A>();
        let front = Front::new(ActorId::next());
        let cown = Cown::attended(home, front, |this| Cell::new(state, this, factory));
        let address = Addr::new(cown);
        if let Some(lease) = lease {
            address.on_down(move |_| drop(lease));
        }
        if let Some(batch) = caller_batch {
            address.run_on_callers(batch);
        }
        address.begin();
        address
    }
}
