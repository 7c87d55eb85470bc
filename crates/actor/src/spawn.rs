//! Bringing actors to life.

use std::sync::Arc;

use coact_core::{Cown, Group, Home};

use crate::cell::{Cell, Factory};
use crate::front::Front;
use crate::mailbox::{Mailbox, Queue};
use crate::pool::Limit;
use crate::{Actor, ActorId, Addr, NameTaken, Registry};

/// Spawns an actor in the current runtime, with the default settings: see [`actor`] for others.
///
/// Returns at once; [`Actor::started`] is called before the first message.
pub fn spawn<A: Actor>(state: A) -> Addr<A> {
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
pub fn actor<A: Actor>(state: A) -> Spawn<A> {
    Spawn {
        state,
        factory: None,
        home: None,
        group: None,
        mailbox: Mailbox::unbounded(),
        names: Vec::new(),
        limit: None,
    }
}

/// Settings for an actor; see [`actor`].
#[must_use = "nothing is spawned before `spawn` is called"]
pub struct Spawn<A: Actor> {
    state: A,
    factory: Option<Factory<A>>,
    home: Option<Home>,
    group: Option<Group>,
    mailbox: Mailbox,
    names: Vec<Arc<str>>,
    limit: Option<Box<Limit>>,
}

impl<A: Actor> Spawn<A> {
    /// How to make a new state for a restart.
    pub fn restartable(mut self, make: impl FnMut() -> A + Send + 'static) -> Self {
        self.factory = Some(Box::new(make));
        self
    }

    /// Has a restartable actor restart by itself after panics.
    pub(crate) fn restarts_itself(mut self, limit: Limit) -> Self {
        self.limit = Some(Box::new(limit));
        self
    }

    /// The runtime whose workers run the actor (by default the current one).
    pub fn on(mut self, home: Home) -> Self {
        self.home = Some(home);
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
    /// If another actor has one of its names; see [`try_spawn`](Self::try_spawn).
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
        let home = self.group.as_ref().map(Group::home).or(self.home);
        let registry = Registry::of(home.unwrap_or_else(Home::current));
        match registry.0.table.claim(id, &self.names) {
            Ok(_) => Ok(self.begin(id, |address| registry.settle(address))),
            Err(taken) => Err(taken.map(|()| self)),
        }
    }

    /// Makes the actor; the closure sees its address before the actor begins.
    fn begin(self, id: ActorId, prepare: impl FnOnce(&Addr<A>)) -> Addr<A> {
        let Self { state, factory, home, group, mailbox, limit, names: _ } = self;
        let front = Front::new(id);
        if let Some(queue) = Queue::new(&mailbox) {
            front.set_queue(queue);
        }
        let make_cell = |this| Cell::new(state, this, factory, limit);
        let address = Addr::new(match group {
            Some(group) => group.attended(front, make_cell),
            None => Cown::attended(home.unwrap_or_else(Home::current), front, make_cell),
        });
        if mailbox.concerns_senders() {
            address.cown().mark(true);
        }
        prepare(&address);
        address.begin();
        address
    }
}
