//! How actors that take tuples are created.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use coact_actor::actor::Spawn;
use coact_actor::registry::NameTaken;

use crate::address::StateAddr;
use crate::case_machine::CaseMachine;
use crate::context::DynContext;
use crate::dyn_actor::{DynActor, DynAddr};
use crate::forwarded_settings::forwarded_settings;

/// Spawns an actor that does this first, and then takes what it has become.
///
/// What the closure captures was evaluated by the spawner: its own address, for instance. In the
/// closure, `me` is the new actor. If it becomes nothing, and waits for no answer, the actor ends
/// normally.
///
/// ```
/// use coact::dynamic::{DynContext, atom, cases, spawn_dyn};
///
/// let calculator = spawn_dyn(|me: &mut DynContext| {
///     me.become_(cases! { |me: &mut DynContext|
///         (atom!("add"), a: i32, b: i32) => me.reply(a + b),
///         (atom!("quit")) => me.stop(),
///     });
/// });
/// assert_eq!(calculator.ask((atom!("add"), 1, 2)).wait()?.get::<i32>(0), Some(&3));
/// calculator.send(atom!("quit"))?;
/// calculator.ended().wait()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn spawn_dyn(init: impl FnOnce(&mut DynContext) + Send + 'static) -> DynAddr {
    spawn_dyn_with((), init).into()
}

/// Spawns an actor with a state: see [`spawn_dyn`].
pub fn spawn_dyn_with<S: Send + 'static>(
    state: S,
    init: impl FnOnce(&mut DynContext<S>) + Send + 'static,
) -> StateAddr<S> {
    StateAddr::new(coact_actor::spawn(DynActor::new(state, init)))
}

/// Returns the settings of an actor to spawn, with its state and what it does first: after a
/// restart, too.
///
/// ```
/// use coact::dynamic::{DynContext, atom, cases, dyn_actor};
/// use coact::mailbox::Mailbox;
///
/// let init = |me: &mut DynContext<u32>| {
///     me.become_(cases! { |me: &mut DynContext<u32>|
///         (atom!("hit")) => *me.state_mut() += 1,
///         (atom!("hits")) => me.reply(*me.state()),
///     });
/// };
/// let hits = dyn_actor(7, init).restartable(|| 0).mailbox(Mailbox::bounded(100)).named("hits");
/// let hits = hits.spawn();
/// hits.restart()?;
/// hits.send(atom!("hit"))?;
/// assert_eq!(hits.ask(atom!("hits")).wait()?.get::<u32>(0), Some(&1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn dyn_actor<S: Send + 'static>(
    state: S,
    init: impl Fn(&mut DynContext<S>) + Send + Sync + 'static,
) -> DynSpawn<S> {
    let init = Arc::new(init);
    let first = Arc::clone(&init);
    let spawn = coact_actor::actor::actor(DynActor::new(state, move |me| first(me)));
    DynSpawn { spawn, init }
}

impl DynActor {
    /// Creates an actor with this state that does this first, to be spawned, supervised or pooled
    /// like any other.
    pub fn new<S: Send + 'static>(
        state: S,
        init: impl FnOnce(&mut DynContext<S>) + Send + 'static,
    ) -> Self {
        Self::of(CaseMachine::new(state, Box::new(init)))
    }
}

/// Settings for an actor that takes tuples: see [`dyn_actor`].
#[must_use = "nothing is spawned until `spawn` is called"]
pub struct DynSpawn<S> {
    spawn: Spawn<DynActor>,
    init: Arc<RestartInit<S>>,
}

/// What an actor does first, each time.
type RestartInit<S> = dyn Fn(&mut DynContext<S>) + Send + Sync;

impl<S: Send + 'static> DynSpawn<S> {
    /// Makes the actor restartable: `make` creates the new state of each restart.
    pub fn restartable(mut self, mut make: impl FnMut() -> S + Send + 'static) -> Self {
        let init = Arc::clone(&self.init);
        self.spawn = self.spawn.restartable(move || {
            let init = Arc::clone(&init);
            DynActor::new(make(), move |me| init(me))
        });
        self
    }

    forwarded_settings!();

    /// Spawns the actor.
    ///
    /// # Panics
    /// See [`Spawn::spawn`].
    #[track_caller]
    pub fn spawn(self) -> StateAddr<S> {
        StateAddr::new(self.spawn.spawn())
    }

    /// Spawns the actor.
    ///
    /// # Errors
    /// Fails if another actor has one of its names: see [`Spawn::try_spawn`].
    #[expect(clippy::result_large_err, reason = "the error returns the actor with its settings")]
    #[track_caller]
    pub fn try_spawn(self) -> Result<StateAddr<S>, NameTaken<Self>> {
        let Self { spawn, init } = self;
        let spawned = spawn.try_spawn().map(StateAddr::new);
        spawned.map_err(|taken| taken.map(|spawn| Self { spawn, init }))
    }
}

impl<S> Debug for DynSpawn<S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.spawn.fmt(f)
    }
}
