//! Bringing actors to life.

use coact_core::{Cown, Home};

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
    Spawn { state, factory: None, home: None, mailbox: Mailbox::unbounded() }
}

/// Settings for an actor; see [`actor`].
#[must_use = "nothing is spawned before `spawn` is called"]
pub struct Spawn<A: Actor> {
    state: A,
    factory: Option<Factory<A>>,
    home: Option<Home>,
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

    /// How its mailbox is to be (by default unbounded, with one lane).
    pub fn mailbox(mut self, mailbox: Mailbox) -> Self {
        self.mailbox = mailbox;
        self
    }

    /// Spawns the actor. Returns at once; [`Actor::started`] is called before the first message.
    pub fn spawn(self) -> Addr<A> {
        let Self { state, factory, home, mailbox } = self;
        let home = home.unwrap_or_else(Home::current);
        let front = Front::new(ActorId::next());
        if let Some(queue) = Queue::new(&mailbox) {
            front.set_queue(queue);
        }
        let cown = Cown::attended(home, front, |this| Cell::new(state, this, factory));
        if mailbox.concerns_senders() {
            cown.mark(true);
        }
        cown.alert();
        Addr::new(cown)
    }
}
