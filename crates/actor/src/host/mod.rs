//! Hosts: where an actor runs.

mod runtime_pool;

use std::any::type_name;
use std::fmt;

use coact_core::runtime::RuntimeHandle;
use coact_core::{Cown, WeakCown};

use crate::id::ActorId;
use crate::parts::{Actor, ActorCell, Addr};
use crate::shared_state::SharedState;

pub(crate) use runtime_pool::{FamilyHosts, ThreadLease};

/// How many other messages in a row a sender handles for an actor on its [callers](Host::caller),
/// by default.
pub const CALLER_BATCH: u32 = 64;

/// Where an actor runs: passed to [`Spawn::on`](crate::actor::Spawn::on). The host does not change
/// the actor: its handlers are the same everywhere, and so are the order of its messages, failure,
/// restarts and links.
///
/// | host | the actor runs on | for |
/// | --- | --- | --- |
/// | none given | the runtime of the spawner | most actors |
/// | a [`RuntimeHandle`] | that runtime: a [dispatcher](crate::system::dispatcher), a pump | work to be isolated |
/// | [`Host::workers`] | the main runtime's workers | leaving a dispatcher |
/// | [`Host::detached`] | a thread of its own | long computations |
/// | [`Host::blocking`] | threads that may block | files, sockets, foreign calls |
/// | [`Host::caller`] | the sender's thread | short work on hot state |
///
/// Actors that are not [`Send`] run on the thread of a pump:
/// [`actor_local`](crate::actor::actor_local).
///
/// ```
/// # mod coact { pub use {coact_actor::*, coact_core::*}; }
/// use coact::{Actor, Context, Handler, Message};
/// use coact::actor::actor;
/// use coact::system::Host;
/// use std::fs;
///
/// struct Files;
/// impl Actor for Files {}
///
/// struct Length(&'static str);
/// impl Message for Length { type Reply = std::io::Result<usize>; }
/// impl Handler<Length> for Files {
///     fn handle(&mut self, Length(of): Length, _: &mut Context<Self>) -> std::io::Result<usize> {
///         fs::read(of).map(|content| content.len())
///     }
/// }
///
/// let files = actor(Files).on(Host::blocking()).spawn();
/// assert!(files.ask(Length("Cargo.toml")).wait()?? > 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A behaviour over several actors runs on the host of the first one in its set (or of the one that
/// is pinned to a pump).
///
/// Threads for detached and blocking actors belong to the *family* of the runtime in which the
/// actor is spawned: a [`System`](crate::system::System), or a runtime and [the others of its
/// group](coact_core::runtime::Builder::grouped_with). A system waits for them, and ends them when
/// it is shut down; those of any other runtime are kept for later actors until the process ends.
/// `Runtime::run`, `wait_idle` and `shutdown` concern that one runtime, not the threads of such
/// actors: use a system to wait for these.
#[doc(alias = "dispatcher")]
#[doc(alias = "Arbiter")]
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Host(HostKind);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum HostKind {
    Current,
    RuntimeHandle(RuntimeHandle),
    Workers,
    Detached,
    Blocking,
    Caller(u32),
}

/// Where an actor to be spawned will run.
pub(crate) struct HostAssignment {
    pub(crate) home: RuntimeHandle,
    /// Returned when the actor ends.
    pub(crate) lease: Option<ThreadLease>,
    pub(crate) caller_batch: Option<u32>,
}

impl Host {
    /// The runtime of the spawner.
    pub(crate) fn current() -> Self {
        Self(HostKind::Current)
    }

    /// The workers of the main runtime, from anywhere in its family.
    pub fn workers() -> Self {
        Self(HostKind::Workers)
    }

    /// A dedicated thread, named after the actor's type: it handles all messages of this actor and
    /// none of others. Its handlers may take as long as they like; waiting for a promise is refused
    /// there as on all workers.
    ///
    /// When the actor ends, the thread is kept for the next detached actor of that type. **Cost:**
    /// a thread, and one of the 65,535 runtimes that a process can create; messages to and from the
    /// actor cross threads.
    pub fn detached() -> Self {
        Self(HostKind::Detached)
    }

    /// Threads that may block, for **resource actors**, which do blocking foreign work: one thread
    /// for each of these actors that has messages, up to the
    /// [limit](crate::system::SystemBuilder::blocking_threads). Handlers may also wait for promises
    /// ([`Ask::wait`](crate::actor::Ask::wait)), unless the awaited result needs the actor itself.
    ///
    /// **Cost:** a message costs one lock more than on workers, and a thread switch unless it
    /// follows another message to the same actor.
    pub fn blocking() -> Self {
        Self(HostKind::Blocking)
    }

    /// The senders' threads: if the actor is idle, its handler runs before
    /// [`send`](crate::Addr::send) returns, and the sender then handles what others have sent
    /// meanwhile, up to [`CALLER_BATCH`] messages, before it leaves the rest to the workers. If the
    /// actor is busy, the message is queued, and the thread at work there handles it. The order is
    /// that of all actors.
    ///
    /// For short handlers of actors that are mostly idle: no queue, no wake-up, and an ask is
    /// answered immediately. Sends inside such handlers nest up to
    /// [`MAX_NESTED_HERE`](coact_core::behaviour::MAX_NESTED_HERE) deep; deeper ones are queued.
    /// Hooks, signals and behaviours run on the workers, unless they come up in such a batch.
    ///
    /// **Cost.** To an idle actor, two atomic operations and a call of the handler. To a busy one,
    /// a plain send and the failed attempt.
    ///
    /// **Handlers run inside `send`.** Locks that the sender holds stay locked while the handler of
    /// its message runs, and while the handlers of *other* senders' messages run that arrived
    /// meanwhile. A handler that locks what the sender has locked deadlocks, and a batch may keep
    /// the sender for its whole duration. So do not send while holding a lock. With
    /// [`caller_for(0)`](Self::caller_for) a sender handles only its own messages.
    ///
    /// In a group, and with a mailbox that has lanes or drops its oldest message, the actor's
    /// messages are handled by the workers.
    ///
    /// ```
    /// # mod coact { pub use {coact_actor::*, coact_core::*}; }
    /// use coact::{Actor, Context, Handler, Message};
    /// use coact::actor::actor;
    /// use coact::system::Host;
    /// use std::sync::{Arc, Mutex};
    ///
    /// struct Journal(Arc<Mutex<Vec<u32>>>);
    /// impl Actor for Journal {}
    ///
    /// struct Note(u32);
    /// impl Message for Note { type Reply = (); }
    /// impl Handler<Note> for Journal {
    ///     fn handle(&mut self, note: Note, _: &mut Context<Self>) {
    ///         self.0.lock().unwrap().push(note.0);
    ///     }
    /// }
    ///
    /// let lines = Arc::new(Mutex::new(vec![1]));
    /// let journal = actor(Journal(Arc::clone(&lines))).on(Host::caller()).spawn();
    /// let next = lines.lock().unwrap().len() as u32 + 1; // unlocked again before the send
    /// journal.send(Note(next))?;
    /// coact::call(&journal, |_| ()).wait()?;
    /// assert_eq!(*lines.lock().unwrap(), [1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn caller() -> Self {
        Self::caller_for(CALLER_BATCH)
    }

    /// Like [`caller`](Self::caller), with at most this many messages of other senders after its
    /// own.
    pub fn caller_for(batch: u32) -> Self {
        Self(HostKind::Caller(batch))
    }

    /// Returns a runtime of the family in which the actor will be, if it is spawned in the current
    /// one.
    pub(crate) fn family(self, current: RuntimeHandle) -> RuntimeHandle {
        match self.0 {
            HostKind::RuntimeHandle(home) => home,
            _ => current,
        }
    }

    /// Assigns where an actor that is spawned in the `current` runtime will run.
    ///
    /// # Panics
    /// Panics if it needs a thread that the operating system refuses.
    #[track_caller]
    pub(crate) fn assign<A>(self, current: RuntimeHandle) -> HostAssignment {
        match self.0 {
            HostKind::Current => HostAssignment::at(current),
            HostKind::RuntimeHandle(home) => HostAssignment::at(home),
            HostKind::Workers => HostAssignment::at(current.group_root()),
            HostKind::Caller(batch) => HostAssignment {
                caller_batch: Some(batch),
                ..HostAssignment::at(current.group_root())
            },
            HostKind::Blocking => HostAssignment::at(FamilyHosts::of(current).blocking(current)),
            HostKind::Detached => match FamilyHosts::of(current).lease(current, type_name::<A>()) {
                Some(lease) => {
                    HostAssignment { home: lease.home(), lease: Some(lease), caller_batch: None }
                }
                None => HostAssignment::at(current.group_root()),
            },
        }
    }
}

impl HostAssignment {
    /// Spawns the actor there; it starts after `prepare` has returned.
    pub(crate) fn spawn<A: Actor>(
        self,
        id: ActorId,
        make_cell: impl FnOnce(WeakCown<ActorCell<A>>) -> ActorCell<A>,
        prepare: impl FnOnce(&Addr<A>),
    ) -> Addr<A> {
        let Self { home, lease, caller_batch } = self;
        Cown::interrupted_at_once(home, SharedState::new(id), make_cell, |cown| {
            let address = Addr::new(cown);
            if let Some(lease) = lease {
                address.on_down(move |_| drop(lease));
            }
            if let Some(batch) = caller_batch {
                address.run_on_callers(batch);
            }
            prepare(&address);
            address
        })
    }

    /// Returns the assignment of an actor whose host is a runtime.
    pub(crate) fn at(home: RuntimeHandle) -> Self {
        Self { home, lease: None, caller_batch: None }
    }
}

impl From<RuntimeHandle> for Host {
    fn from(home: RuntimeHandle) -> Self {
        Self(HostKind::RuntimeHandle(home))
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Host::{:?}", self.0)
    }
}
