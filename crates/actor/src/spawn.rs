//! Bringing actors to life.

use coact_core::{Cown, Group, Home};

use crate::cell::{Cell, Factory};
use crate::front::Front;
use crate::mailbox::{Mailbox, Queue};
use crate::{Actor, ActorId, Addr};

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
    Spawn { state, factory: None, home: None, group: None, mailbox: Mailbox::unbounded() }
}

/// Settings for an actor; see [`actor`].
#[must_use = "nothing is spawned before `spawn` is called"]
pub struct Spawn<A: Actor> {
    state: A,
    factory: Option<Factory<A>>,
    home: Option<Home>,
    group: Option<Group>,
    mailbox: Mailbox,
}

impl<A: Actor> Spawn<A> {
    /// How to make a new state for a restart.
    pub fn restartable(mut self, make: impl FnMut() -> A + Send + 'static) -> Self {
        self.factory = Some(Box::new(make));
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

    /// Spawns the actor. Returns at once; [`Actor::started`] is called before the first message.
    pub fn spawn(self) -> Addr<A> {
        let Self { state, factory, home, group, mailbox } = self;
        let front = Front::new(ActorId::next());
        if let Some(queue) = Queue::new(&mailbox) {
            front.set_queue(queue);
        }
        let make_cell = |this| Cell::new(state, this, factory);
        let cown = match group {
            Some(group) => group.attended(front, make_cell),
            None => Cown::attended(home.unwrap_or_else(Home::current), front, make_cell),
        };
        if mailbox.concerns_senders() {
            cown.mark(true);
        }
        cown.alert();
        Addr::new(cown)
    }
}
