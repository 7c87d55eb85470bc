//! Actors on the thread of a pump.

use coact_core::runtime::Pump;

use crate::parts::{Actor, Addr};
use crate::spawn::{Spawn, actor_local};

/// Spawns actors on the thread of a [`Pump`]. They need not be [`Send`]; see [`actor_local`].
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, Context, Handler, Message, Runtime};
/// use coact::system::PumpActors;
/// use std::rc::Rc;
///
/// struct Window { title: Rc<str> }
/// impl Actor for Window {}
///
/// struct Title;
/// impl Message for Title { type Reply = String; }
/// impl Handler<Title> for Window {
///     fn handle(&mut self, _: Title, _: &mut Context<Self>) -> String { self.title.to_string() }
/// }
///
/// let pump = Runtime::builder().build_pumped()?;
/// let window = pump.spawn(Window { title: "main".into() });
/// assert_eq!(pump.run_future(window.ask(Title)).as_deref(), Ok("main"));
/// # Ok::<(), coact::runtime::BuildError>(())
/// ```
pub trait PumpActors {
    /// Returns the settings of an actor to spawn here; a restart makes its new state on this thread
    /// as well.
    fn actor<A: Actor>(&self, state: A) -> Spawn<A>;

    /// Spawns an actor here.
    fn spawn<A: Actor>(&self, state: A) -> Addr<A> {
        self.actor(state).spawn()
    }
}

impl PumpActors for Pump {
    fn actor<A: Actor>(&self, state: A) -> Spawn<A> {
        let _entered = self.enter();
        actor_local(state)
    }
}
