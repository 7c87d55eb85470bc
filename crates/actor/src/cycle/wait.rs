//! An ask that its actor is held for, and where its message is.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;

use coact_core::cown::CownId;
use coact_core::internals::{QueuePosition, catch};
use coact_sync::shim::process::Mutex;

use super::holder::Holder;
use super::report::{AskCycle, CycleAsk};
use crate::any::AnyAddr;
use crate::id::ActorId;
use crate::once::OnceLock;

/// An ask by an actor that is held until the answer comes.
pub(crate) struct Wait {
    holder: Arc<Holder>,
    /// Its sequence number among all waits.
    serial: u64,
    /// A later one, if its message was sent again since.
    number: AtomicU64,
    message: Mutex<Whereabouts>,
    failure: OnceLock<Arc<AskCycle>>,
    /// Of the task that polls the ask: not always that of the actor.
    waker: Mutex<Option<Waker>>,
}

/// Where the message of an ask is.
struct Whereabouts {
    /// Who is to answer it.
    of: AnyAddr,
    /// The queue that its messages stand in.
    queue: CownId,
    stage: Stage,
    /// How often it was passed on.
    hops: u32,
    /// Whether the future that holds the actor waits for the answer.
    is_awaited: bool,
    /// In whose queue the table has it; `None` if it is not in the table.
    listed: Option<Option<CownId>>,
    /// It is no ask: the message is to be sent when there is room for it. So it is as those that take up the
    /// room, of which one must be handled first.
    for_room: bool,
}

enum Stage {
    /// On its way to a handler; where, if it stands in a queue by itself.
    Queued(Option<(CownId, QueuePosition)>),
    /// On its way to a handler, in a mailbox in which it may be called in the place of others.
    Sorted(Arc<dyn SortedMailbox>),
    /// A future has the answer that holds an actor.
    HeldBy(Keeper),
    /// Somebody has the answer, and nobody knows when he will give it.
    Loose,
}

/// The actor that a future with the answer holds.
#[derive(Clone, Copy)]
struct Keeper {
    actor: ActorId,
    queue: CownId,
    has_multi_cown_waiters: bool,
}

/// A mailbox that sorts its messages.
pub(crate) trait SortedMailbox: Send + Sync {
    /// Whether its messages wait for something that certain places in queues wait for.
    fn is_stuck(&self, is_blocked: &dyn Fn(QueuePosition) -> bool) -> Blocked;
}

/// Whether something waits for what certain places in queues wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Blocked {
    No,
    Yes,
    /// It may, now or soon.
    Unclear,
}

/// By what a wait may be found.
#[derive(Clone, Copy, Default)]
pub(super) struct Keys {
    /// In whose queue the message waits, or with whom the answer lies, who is held.
    pub(super) queue: Option<CownId>,
    /// Where in that queue it stands.
    pub(super) place: Option<(CownId, QueuePosition)>,
    /// Whether it stands at no certain place of that queue.
    pub(super) sorted: bool,
}

/// Who has to go on before a wait can end, seen from afar.
pub(super) enum Ahead {
    Nobody,
    Actor(ActorId),
    /// This actor and others.
    Unclear,
}

impl Wait {
    /// The wait for the answer of an actor, given with the queue that its messages stand in.
    pub(crate) fn new(holder: Arc<Holder>, of: AnyAddr, queue: CownId) -> Arc<Self> {
        let message = Mutex::new(Whereabouts {
            of,
            queue,
            stage: Stage::Queued(None),
            hops: 0,
            is_awaited: false,
            listed: None,
            for_room: false,
        });
        let serial = next_number();
        let number = AtomicU64::new(serial);
        let (failure, waker) = (OnceLock::new(), Mutex::default());
        Arc::new(Self { holder, serial, number, message, failure, waker })
    }

    /// The wait of one who is held for room in a full mailbox.
    ///
    /// Whatever takes up the room stands in the actor's queue, or is about to (who has room sends at once): so
    /// the wait can end only after the actor has gone on, as if its own message stood there.
    pub(crate) fn for_room(holder: Arc<Holder>, of: AnyAddr, queue: CownId) -> Arc<Self> {
        let wait = Self::new(holder, of, queue);
        wait.message.lock().for_room = true;
        wait
    }

    pub(crate) fn hops(&self) -> u32 {
        self.message.lock().hops
    }

    /// The message was sent after so many hops, and may have been handled by now; with the place in which it stands, if it
    /// stands in a queue by itself. Returns whether it is on its way still.
    pub(super) fn set_sent(&self, hops: u32, place: Option<(CownId, QueuePosition)>) -> bool {
        let mut message = self.message.lock();
        let waits = message.hops == hops && matches!(message.stage, Stage::Queued(_));
        if waits && place.is_some() {
            message.stage = Stage::Queued(place);
        }
        waits
    }

    /// The message was put into a mailbox that sorts, after so many hops. Returns whether it is on its way still.
    pub(super) fn set_sorted(&self, hops: u32, mailbox: Arc<dyn SortedMailbox>) -> bool {
        let mut message = self.message.lock();
        let waits = message.hops == hops && matches!(message.stage, Stage::Queued(_));
        if waits {
            message.stage = Stage::Sorted(mailbox);
        }
        waits
    }

    /// A handler has the message. Returns whether it is still wanted.
    pub(crate) fn begin(&self) -> bool {
        self.message.lock().stage = Stage::Loose;
        self.failure.get().is_none()
    }

    /// The answer was given, or never will be.
    pub(crate) fn answered(&self) {
        self.message.lock().stage = Stage::Loose;
    }

    /// A future has the answer that holds an actor. Returns whether the table has the wait elsewhere.
    pub(super) fn set_held_by(&self, actor: &AnyAddr) -> bool {
        let Some(queue) = actor.queue_id() else { return false };
        let has_multi_cown_waiters = actor.has_multi_cown_waiters();
        let keeper = Keeper { actor: actor.id(), queue, has_multi_cown_waiters };
        let mut message = self.message.lock();
        message.stage = Stage::HeldBy(keeper);
        message.listed.is_some_and(|listed| listed != Some(queue))
    }

    /// The answer is left to another actor, which gets a message for it.
    pub(crate) fn forwarded(&self, to: AnyAddr, queue: CownId) {
        // An address is dropped without the lock.
        let _before = {
            let mut message = self.message.lock();
            message.hops += 1;
            message.queue = queue;
            message.stage = Stage::Queued(None);
            std::mem::replace(&mut message.of, to)
        };
        // ORDERING: Relaxed. A number for itself: who came last is asked of those that have stopped.
        self.number.store(next_number(), Ordering::Relaxed);
    }

    /// The wait comes into the table. Returns where it may be found there by what others hold up.
    pub(super) fn list(&self) -> Keys {
        let mut message = self.message.lock();
        let keys = match &message.stage {
            Stage::Queued(place) => {
                Keys { queue: Some(message.queue), place: *place, sorted: false }
            }
            Stage::Sorted(_) => Keys { queue: Some(message.queue), place: None, sorted: true },
            Stage::HeldBy(keeper) => Keys { queue: Some(keeper.queue), place: None, sorted: false },
            Stage::Loose => Keys::default(),
        };
        message.listed = Some(keys.queue);
        keys
    }

    /// Whether the wait can end only after an actor has gone on, which has been surveyed: it stands in
    /// that actor's queue (whose other actors, if it is a group's, wait with it), or is blocked.
    pub(super) fn is_blocked_by(
        &self,
        queue: CownId,
        blocked: &HashSet<(CownId, QueuePosition)>,
    ) -> Blocked {
        let message = self.message.lock();
        let yes = match &message.stage {
            Stage::Queued(place) => {
                message.queue == queue || place.is_some_and(|place| blocked.contains(&place))
            }
            Stage::Sorted(_) if message.queue == queue => true,
            Stage::Sorted(mailbox) => {
                return mailbox.is_stuck(&|place| blocked.contains(&(message.queue, place)));
            }
            Stage::HeldBy(keeper) => keeper.queue == queue,
            Stage::Loose => false,
        };
        if yes { Blocked::Yes } else { Blocked::No }
    }

    /// Who has to go on before the wait can end.
    pub(super) fn ahead(&self) -> Ahead {
        if self.failure.get().is_some() {
            return Ahead::Nobody;
        }
        let message = self.message.lock();
        let (actor, has_multi_cown_waiters) = match message.stage {
            Stage::Queued(_) | Stage::Sorted(_) => {
                (message.of.id(), message.of.has_multi_cown_waiters())
            }
            Stage::HeldBy(keeper) => (keeper.actor, keeper.has_multi_cown_waiters),
            Stage::Loose => return Ahead::Nobody,
        };
        if has_multi_cown_waiters { Ahead::Unclear } else { Ahead::Actor(actor) }
    }

    /// Who waits.
    pub(super) fn by(&self) -> &AnyAddr {
        &self.holder.actor
    }

    /// Whether the one who waits waits still, as far as is known: for certain while it is parked.
    pub(super) fn goes_on(&self) -> bool {
        self.failure.get().is_none() && !self.holder.has_ended() && self.message.lock().is_awaited
    }

    /// Its sequence number among all waits.
    pub(super) fn serial(&self) -> u64 {
        self.serial
    }

    /// The sequence number that it had when its message was last sent.
    pub(super) fn number(&self) -> u64 {
        // ORDERING: Relaxed. See `forwarded`.
        self.number.load(Ordering::Relaxed)
    }

    /// There will be no answer. (Others may have found another circle that it closes.)
    pub(super) fn fail(&self, why: AskCycle) {
        let _ = self.failure.set(Arc::new(why));
        // What joins several futures may poll this one only when its own waker is woken, which may be foreign code.
        let waker = self.take_waker();
        let _ = catch(|| waker.map(Waker::wake));
        self.by().interrupt();
    }

    /// Whom to wake if it fails.
    pub(super) fn wake_by(&self, waker: &Waker) {
        let is_kept = self.waker.lock().as_ref().is_some_and(|kept| kept.will_wake(waker));
        if !is_kept {
            // Foreign code is called without the lock.
            let waker = waker.clone();
            let before = self.waker.lock().replace(waker);
            drop(before);
        }
    }

    /// Whether it is the wait of that holder.
    pub(super) fn is_of(&self, holder: &Arc<Holder>) -> bool {
        Arc::ptr_eq(holder, &self.holder)
    }

    /// Why there will be no answer, if that is known.
    pub(super) fn failure(&self) -> Option<Arc<AskCycle>> {
        self.failure.get().cloned()
    }

    /// The future that holds the actor begins to wait for the answer.
    pub(super) fn set_awaited(&self) {
        self.message.lock().is_awaited = true;
    }

    /// The future does not wait any more.
    pub(super) fn set_unawaited(&self) {
        let mut message = self.message.lock();
        message.is_awaited = false;
        message.listed = None;
    }

    /// Takes what would wake the future.
    pub(super) fn take_waker(&self) -> Option<Waker> {
        self.waker.lock().take()
    }

    pub(super) fn describe(&self) -> CycleAsk {
        let message = self.message.lock();
        CycleAsk { by: self.by().clone(), of: message.of.clone(), for_room: message.for_room }
    }
}

/// A number that no wait had before.
fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    // ORDERING: Relaxed. Distinct, and rising for each thread.
    NEXT.fetch_add(1, Ordering::Relaxed)
}
