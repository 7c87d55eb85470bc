//! Bringing actors to life.

use std::fmt;
use std::sync::Arc;

use coact_core::{Anchored, Cown, Group, Home};

use crate::cell::{Cell, Factory};
use crate::front::Front;
use crate::host::Host;
use crate::mailbox::{Mailbox, Queue};
use crate::supervise::Intensity;
use crate::{Actor, ActorId, Addr, NameTaken, Registry, SendActor};

/// Spawns an actor in the current runtime, with the default settings: see [`actor`] for others.
///
/// Returns at once; [`Actor::started`] is called before the first message.
pub fn spawn<A: SendActor>(state: A) -> Addr<A> {
    actor(state).spawn()
}

/// An actor that is there, but waits for its supervisor to start it. Messages wait with it.
pub(crate) fn supervised<A: Actor>(make: Factory<A>, home: Option<Home>) -> Addr<A> {
    let home = home.unwrap_or_else(Home::current);
    let front = Front::new(ActorId::next());
    let cown = Cown::attended(home, front, |this| Cell::supervised(this, make));
    // So that its door is shut before the first message comes.
    cown.alert();
    Addr::new(cown)
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
    group: Option<Group>,
    mailbox: Mailbox,
    names: Vec<Arc<str>>,
    limit: Option<Box<Intensity>>,
}

impl<A: Actor> Spawn<A> {
    fn new(state: A, wrap: fn(A) -> Anchored<A>, host: Host) -> Self {
        Self {
            state: wrap(state),
            wrap,
            make: None,
            host,
            group: None,
            mailbox: Mailbox::unbounded(),
            names: Vec::new(),
            limit: None,
        }
    }

    /// How to make a new state for a restart. It is called where the actor runs.
    pub fn restartable(mut self, make: impl FnMut() -> A + Send + 'static) -> Self {
        self.make = Some(Box::new(make));
        self
    }

    /// Has a restartable actor restart by itself after panics.
    pub(crate) fn restarts_itself(mut self, limit: Intensity) -> Self {
        self.limit = Some(Box::new(limit));
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

    /// The [group](Group) that the actor is a member of: messages among its members cost a fraction
    /// of others, and a behaviour over several of them is one acquisition; the members never work at
    /// the same time. The group decides where the actor runs.
    ///
    /// ```
    /// use coact_actor::{Actor, actor};
    /// use coact_core::{Group, ask};
    ///
    /// struct Stage(u32);
    /// impl Actor for Stage {}
    ///
    /// let line = Group::new();
    /// let (first, second) =
    ///     (actor(Stage(1)).in_group(&line).spawn(), actor(Stage(2)).in_group(&line).spawn());
    /// assert_eq!(ask((&first, &second), |(first, second)| first.0 + second.0).wait(), Ok(3));
    /// ```
    pub fn in_group(mut self, group: &Group) -> Self {
        self.group = Some(group.clone());
        self
    }

    /// How its mailbox is to be (by default unbounded, with one lane).
    pub fn mailbox(mut self, mailbox: Mailbox) -> Self {
        self.mailbox = mailbox;
        self
    }

    /// Gives the actor a name, by which [`lookup`](crate::lookup) finds it. It may be given several.
    pub fn named(mut self, name: impl Into<Arc<str>>) -> Self {
        self.names.push(name.into());
        self
    }

    /// Spawns the actor. Returns at once; [`Actor::started`] is called before the first message.
    ///
    /// # Panics
    /// If another actor has one of its names, see [`try_spawn`](Self::try_spawn); or if its [`Host`] needs a
    /// thread that the operating system refuses.
    #[track_caller]
    pub fn spawn(self) -> Addr<A> {
        if self.names.is_empty() {
            return self.begin(ActorId::next(), |_| {});
        }
        self.try_spawn().unwrap_or_else(|taken| panic!("{taken}; `try_spawn` returns that"))
    }

    /// As [`spawn`](Self::spawn).
    ///
    /// ```
    /// use coact_actor::{Actor, actor, lookup};
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
    /// Another actor has one of its names: the actor is given back, with its settings, and has none
    /// of them.
    #[expect(clippy::result_large_err, reason = "the actor is given back with its settings")]
    pub fn try_spawn(self) -> Result<Addr<A>, NameTaken<Self>> {
        let id = ActorId::next();
        if self.names.is_empty() {
            return Ok(self.begin(id, |_| {}));
        }
        let home = self.group.as_ref().map(Group::home).unwrap_or_else(|| self.host.family());
        let registry = Registry::of(home);
        match registry.0.table.claim(id, &self.names) {
            Ok(_) => Ok(self.begin(id, |address| registry.settle(address))),
            Err(taken) => Err(taken.map(|()| self)),
        }
    }

    /// Makes the actor; the closure sees its address before the actor begins.
    fn begin(self, id: ActorId, prepare: impl FnOnce(&Addr<A>)) -> Addr<A> {
        let Self { state, wrap, make, host, group, mailbox, limit, names: _ } = self;
        let factory = make.map(|mut make| -> Factory<A> { Box::new(move || wrap(make())) });
        let front = Front::new(id);
        if let Some(queue) = Queue::new(&mailbox) {
            front.set_queue(queue);
        }
        let make_cell = |this| Cell::new(state, this, factory, limit);
        let address = match group {
            Some(group) => {
                front.entangle();
                Addr::new(group.attended(front, make_cell))
            }
            None => host.take_place::<A>().settle(front, make_cell),
        };
        if mailbox.concerns_senders() {
            address.cown().mark(true);
        }
        prepare(&address);
        address.begin();
        address
    }
}

impl<A: Actor> fmt::Debug for Spawn<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spawn")
            .field("host", &self.host)
            .field("group", &self.group)
            .field("names", &self.names)
            .field("restartable", &self.make.is_some())
            .finish_non_exhaustive()
    }
}
