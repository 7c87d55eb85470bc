//! How actors with a stack of their own are created.

use std::any::type_name;
use std::error::Error;
use std::fmt::{self, Debug, Display, Formatter};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use coact_actor::actor::Spawn;
use coact_actor::registry::NameTaken;
use coact_fiber::StackError;

use super::DynThread;
use super::body_machine::BodyMachine;
use super::place::{BodyMain, StackMain};
use super::source::MessageSource;
use super::stack_settings::{SameWorker, StackKind, StackSettings};
use crate::address::StateAddr;
use crate::dyn_actor::{DynActor, DynAddr};
use crate::forwarded_settings::forwarded_settings;

/// Spawns an actor with a stack of its own, a *fiber*: it waits for messages wherever its body
/// [receives](DynThread::receive), and its worker does other things meanwhile.
///
/// It ends when the body returns, and when nothing can come any more: it waits without an `after`,
/// and no address of it is left. What ends an actor, or restarts it, ends a body that waits: its
/// stack is unwound, and destructors run. (If the body catches that, it comes again where it
/// receives next.)
///
/// ```
/// use coact::dynamic::{DynThread, atom, cases, spawn_fiber};
/// use std::ops::ControlFlow::{Break, Continue};
///
/// let counter = spawn_fiber(|me: &mut DynThread| {
///     let mut sum = 0;
///     me.receive_loop(cases! { ref |me: &mut DynThread|
///         (n: i32) => { sum += n; Continue(()) },
///         (atom!("sum")) => { me.reply(sum); Break(()) },
///     });
/// });
/// counter.send(20)?;
/// counter.send(22)?;
/// assert_eq!(counter.ask(atom!("sum")).wait()?, (42,));
/// # counter.ended().wait()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// **The worker.** A body goes on where it began: on the thread of one worker, whatever is on its
/// stack. So nothing on it need be [`Send`]. But a worker that is busy with something else holds up
/// the fibers that it has started, and what a body holds over a `receive` (a
/// [`MutexGuard`](std::sync::MutexGuard), a borrow of a thread-local value) it holds against all
/// that this worker runs meanwhile. Do not receive inside of a call that lends something of the
/// stack to the thread for its own time, as the crate `scoped-tls` does: the call is not over while
/// the worker goes on. Behaviours over the actor run on any worker. Blocking calls are refused, as
/// in handlers.
///
/// Where stacks cannot be switched (a processor that is not ported, workers on the threads of an
/// executor or of the program, the spare of a watchdog), and in a simulation, a thread takes the
/// fiber's place.
///
/// **Cost.** A message costs what one to other actors does, and two switches of stacks, a few
/// nanoseconds each. If it is handled on another worker, the body's worker is woken up. A stack has
/// 256 KiB of addresses ([`ThreadSpawn::stack_size`]), of which only what was used takes up memory.
///
/// # Panics
/// If there is no stack: [`fiber`] and [`try_spawn`](ThreadSpawn::try_spawn) return an error
/// instead.
#[doc(alias = "spawn_blocking")]
#[doc(alias = "goroutine")]
#[track_caller]
pub fn spawn_fiber<F>(body: F) -> DynAddr
where
    F: FnOnce(&mut DynThread) + Send + 'static,
{
    match DynActor::with_fiber((), body) {
        Ok(actor) => coact_actor::spawn(actor).into(),
        Err(error) => panic!("a fiber has no stack: {error}"),
    }
}

/// Returns the settings of an actor with a fiber to spawn, with its state and its body: after a
/// restart, too. See [`spawn_fiber`].
///
/// ```
/// use coact::dynamic::{DynThread, atom, cases, fiber};
/// use coact::call;
///
/// let greeter = fiber(String::new(), |me: &mut DynThread<String>| loop {
///     let name = me.receive(cases! { |_me: &mut DynThread<String>|
///         (atom!("hello"), name: String) => name,
///     });
///     *me.state_mut() = name;
/// })
/// .stack_size(64 * 1024)
/// .named("greeter")
/// .spawn();
/// greeter.send((atom!("hello"), "Ada"))?;
/// assert_eq!(call(&greeter, |name| name.clone()).wait()?, "Ada");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[track_caller]
pub fn fiber<S, F>(state: S, body: F) -> ThreadSpawn<S>
where
    S: Send + 'static,
    F: Fn(&mut DynThread<S>) + Send + Sync + 'static,
{
    ThreadSpawn::new(StackKind::Fiber, state, body)
}

/// Returns the settings of an actor with a thread of its own to spawn, with its state and its body:
/// after a restart, too. It is to block where a fiber must not. See also
/// [`spawn_detached`](crate::spawn_detached), which has no state and takes messages off its mailbox
/// at once.
///
/// ```
/// use coact::dynamic::{DynThread, cases, detached};
///
/// let reader = detached((), |me: &mut DynThread| loop {
///     me.receive(cases! { |me: &mut DynThread|
///         (path: String) => match std::fs::read_to_string(&path) {
///             Ok(text) => me.reply(text.len()),
///             Err(error) => me.reply(error.to_string()),
///         },
///     });
/// })
/// .spawn();
/// assert!(reader.ask("Cargo.toml").wait()?.get::<usize>(0).is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// **Cost.** A thread of the operating system, two wake-ups of threads for each message, and a
/// future.
#[track_caller]
pub fn detached<S, F>(state: S, body: F) -> ThreadSpawn<S>
where
    S: Send + 'static,
    F: Fn(&mut DynThread<S>) + Send + Sync + 'static,
{
    ThreadSpawn::new(StackKind::Thread, state, body)
}

impl DynActor {
    /// Creates an actor with a fiber, this state and this body, to be supervised or pooled like any
    /// other: see [`spawn_fiber`].
    ///
    /// # Errors
    /// Fails if there is no stack for it.
    #[track_caller]
    pub fn with_fiber<S, F>(state: S, body: F) -> Result<Self, StackError>
    where
        S: Send + 'static,
        F: FnOnce(&mut DynThread<S>) + Send + 'static,
    {
        let stack = StackSettings::new(StackKind::Fiber, type_name::<F>());
        stack.reserve()?;
        Ok(Self::of(BodyMachine::new(state, BodyMain::Stack(main(body), Arc::new(stack)))))
    }

    /// Creates an actor with a thread of its own, this state and this body, like that of
    /// [`detached`].
    #[track_caller]
    pub fn with_thread<S, F>(state: S, body: F) -> Self
    where
        S: Send + 'static,
        F: FnOnce(&mut DynThread<S>) + Send + 'static,
    {
        let stack = StackSettings::new(StackKind::Thread, type_name::<F>());
        Self::of(BodyMachine::new(state, BodyMain::Stack(main(body), Arc::new(stack))))
    }
}

/// What the stack of an actor with this body runs.
fn main<S, F>(body: F) -> StackMain<S>
where
    S: Send + 'static,
    F: FnOnce(&mut DynThread<S>) + Send + 'static,
{
    Box::new(move |address, lent, parking| {
        let unwinding = parking.unwinding().clone();
        let mut me = DynThread::of(MessageSource::body(address, lent, parking));
        unwinding.on(move || {
            // It is not used after a panic.
            let ended = catch_unwind(AssertUnwindSafe(|| body(&mut me)));
            me.end(ended);
        });
    })
}

/// Settings for an actor with a stack of its own: see [`fiber`] and [`detached`].
#[must_use = "nothing is spawned until `spawn` is called"]
pub struct ThreadSpawn<S: Send + 'static> {
    spawn: Spawn<DynActor>,
    stack: Arc<StackSettings>,
    body: Arc<BodyFn<S>>,
}

/// What an actor does, each time.
type BodyFn<S> = dyn Fn(&mut DynThread<S>) + Send + Sync;

impl<S: Send + 'static> ThreadSpawn<S> {
    #[track_caller]
    fn new<F>(kind: StackKind, state: S, body: F) -> Self
    where
        F: Fn(&mut DynThread<S>) + Send + Sync + 'static,
    {
        let stack = Arc::new(StackSettings::new(kind, type_name::<F>()));
        let body: Arc<BodyFn<S>> = Arc::new(body);
        let actor = actor(state, &stack, &body);
        Self { spawn: coact_actor::actor::actor(actor), stack, body }
    }

    /// Sets the size of the stack in bytes. By default a fiber's has 256 KiB, and a thread's what
    /// the system gives it. It is rounded up, to 64 KiB at least: with less, a panic that prints
    /// its backtrace would overflow it (`RUST_BACKTRACE=1`), and only addresses would be saved.
    ///
    /// A body that needs more ends the process, with a message that names it: the stack that is
    /// left is [`remaining_stack`](crate::remaining_stack).
    pub fn stack_size(self, bytes: usize) -> Self {
        self.stack.set_size(bytes);
        self
    }

    /// Has the fiber begin, and stay, on the worker on which the others begin that are given the
    /// same. For those that mostly talk to each other: a message between two workers costs several
    /// times as much. But they do not run in parallel. Fibers of another runtime begin together on
    /// a worker of that one.
    ///
    /// ```
    /// use coact::dynamic::{DynThread, SameWorker, cases, fiber};
    ///
    /// let together = SameWorker::new();
    /// let stages: Vec<_> = (0..3)
    ///     .map(|_| {
    ///         let stage = fiber((), |me: &mut DynThread| loop {
    ///             me.receive(cases! { |me: &mut DynThread| (n: i32) => me.reply(n + 1) });
    ///         });
    ///         stage.same_worker(&together).spawn()
    ///     })
    ///     .collect();
    /// assert_eq!(stages[2].ask(1).wait()?, (2,));
    /// # Ok::<(), coact::actor::AskError>(())
    /// ```
    pub fn same_worker(self, together: &SameWorker) -> Self {
        self.stack.set_together(together);
        self
    }

    /// Makes the actor restartable: `make` creates the new state of each restart, and the body
    /// begins anew. The messages that were skipped come first.
    pub fn restartable(mut self, mut make: impl FnMut() -> S + Send + 'static) -> Self {
        let (stack, body) = (Arc::clone(&self.stack), Arc::clone(&self.body));
        self.spawn = self.spawn.restartable(move || actor(make(), &stack, &body));
        self
    }

    forwarded_settings!();

    /// Spawns the actor.
    ///
    /// # Panics
    /// Where [`try_spawn`](Self::try_spawn) fails, and see [`Spawn::spawn`].
    #[track_caller]
    pub fn spawn(self) -> StateAddr<S> {
        match self.stack.reserve() {
            Ok(()) => StateAddr::new(self.spawn.spawn()),
            Err(error) => panic!("a fiber has no stack: {error}"),
        }
    }

    /// Spawns the actor.
    ///
    /// # Errors
    /// Fails if another actor has one of its names, and if there is no stack for a fiber. (If the
    /// system refuses a thread, the actor ends, with a reason that says so.)
    #[track_caller]
    pub fn try_spawn(self) -> Result<StateAddr<S>, ThreadSpawnError<S>> {
        if let Err(error) = self.stack.reserve() {
            return Err(ThreadSpawnError::Stack(error));
        }
        let Self { spawn, stack, body } = self;
        let spawned = spawn.try_spawn().map(StateAddr::new);
        spawned.map_err(|taken| {
            let taken = taken.map(|spawn| Self { spawn, stack, body });
            ThreadSpawnError::NameTaken(Box::new(taken))
        })
    }
}

fn actor<S: Send + 'static>(
    state: S,
    stack: &Arc<StackSettings>,
    body: &Arc<BodyFn<S>>,
) -> DynActor {
    let body = Arc::clone(body);
    let main = main(move |me: &mut DynThread<S>| body(me));
    DynActor::of(BodyMachine::new(state, BodyMain::Stack(main, Arc::clone(stack))))
}

impl<S: Send + 'static> Debug for ThreadSpawn<S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.spawn.fmt(f)
    }
}

/// Why an actor with a stack of its own was not spawned.
#[non_exhaustive]
pub enum ThreadSpawnError<S: Send + 'static> {
    /// Another actor has one of its names; the settings come back.
    NameTaken(Box<NameTaken<ThreadSpawn<S>>>),
    /// There is no stack for it.
    Stack(StackError),
}

impl<S: Send + 'static> Display for ThreadSpawnError<S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NameTaken(taken) => Display::fmt(taken, f),
            Self::Stack(error) => write!(f, "a fiber has no stack: {error}"),
        }
    }
}

impl<S: Send + 'static> Debug for ThreadSpawnError<S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NameTaken(taken) => f.debug_tuple("NameTaken").field(taken).finish(),
            Self::Stack(error) => f.debug_tuple("Stack").field(error).finish(),
        }
    }
}

impl<S: Send + 'static> Error for ThreadSpawnError<S> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NameTaken(_) => None,
            Self::Stack(error) => Some(error),
        }
    }
}
