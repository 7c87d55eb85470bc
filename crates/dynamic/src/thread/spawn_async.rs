//! How actors are created whose bodies are futures.

use super::body_machine::BodyMachine;
use super::place::BodyMain;
use super::task::DynTask;
use crate::address::StateAddr;
use crate::dyn_actor::{DynActor, DynAddr};

/// Spawns an actor whose body is a future: it waits for messages wherever that
/// [receives](DynTask::receive). It is to [`spawn_fiber`](crate::spawn_fiber) as a task is to a
/// thread: it has no stack, takes up less memory, goes on on any worker, and what it keeps over a
/// wait must be [`Send`].
///
/// It ends when the body is done, and when nothing can come any more: it waits without an `after`,
/// and no address of it is left. What ends an actor, or restarts it, drops the future.
///
/// ```
/// use coact::dynamic::{DynTask, atom, cases, spawn_async};
///
/// let counter = spawn_async(|mut me: DynTask| async move {
///     let mut sum = 0;
///     loop {
///         let n = me.receive(cases! { |me: &mut DynTask|
///             (n: i32) => Some(n),
///             (atom!("sum")) => { me.reply(sum); None },
///         }).await;
///         match n {
///             Some(n) => sum += n,
///             None => break,
///         }
///     }
/// });
/// counter.send(20)?;
/// counter.send(22)?;
/// assert_eq!(counter.ask(atom!("sum")).wait()?, (42,));
/// # counter.ended().wait()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// **Other futures.** While the body awaits anything else than a message (a timer, an ask, a future
/// of another library), the actor is held: messages and behaviours wait. To sleep without that,
/// receive with an `after` and no other case. An ask that is to count in the search for circles is
/// a [`request`](DynTask::request).
pub fn spawn_async<F, B>(body: F) -> DynAddr
where
    F: FnOnce(DynTask) -> B + Send + 'static,
    B: Future<Output = ()> + Send + 'static,
{
    spawn_async_with((), body).into()
}

/// Spawns such an actor with a state: see [`spawn_async`].
pub fn spawn_async_with<S, F, B>(state: S, body: F) -> StateAddr<S>
where
    S: Send + 'static,
    F: FnOnce(DynTask<S>) -> B + Send + 'static,
    B: Future<Output = ()> + Send + 'static,
{
    StateAddr::new(coact_actor::spawn(DynActor::with_future(state, body)))
}

impl DynActor {
    /// Creates an actor with this state whose body is a future, to be spawned with settings,
    /// supervised or pooled like any other: see [`spawn_async`](crate::spawn_async).
    pub fn with_future<S, F, B>(state: S, body: F) -> Self
    where
        S: Send + 'static,
        F: FnOnce(DynTask<S>) -> B + Send + 'static,
        B: Future<Output = ()> + Send + 'static,
    {
        let main = BodyMain::Future(Box::new(move |side| Box::pin(body(DynTask::new(side)))));
        Self::of(BodyMachine::new(state, main))
    }
}
