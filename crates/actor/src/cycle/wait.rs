//! An ask for which its actor is held, and where its message is.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;

use coact_core::cown::CownId;
use coact_core::internals::{QueuePosition, drop_quietly};
use coact_sync::shim::process::Mutex;

use super::held_actor::HeldActor;
use super::report::{AskCycle, CycleAsk};
use crate::any_addr::AnyAddr;
use crate::id::ActorId;
use crate::once_lock::OnceLock;

/// An ask by an actor that is held until the answer arrives.
pub(crate) struct AskWait {
    held_actor: Arc<HeldActor>,
    /// Its sequence number among all waits.
    serial: u64,
    /// A later one, if its message was sent again since.
    number: AtomicU64,
    message: Mutex<MessageLocation>,
    failure: OnceLock<Arc<AskCycle>>,
    /// The waker of the task that polls the ask: not always that of the actor.
    waker: Mutex<Option<Waker>>,
}

/// Where the message of an ask is.
struct MessageLocation {
    /// The actor that should answer it.
    of: AnyAddr,
    /// The queue in which that actor's messages wait.
    queue: CownId,
    stage: MessageStage,
    /// How often it was passed on.
    hops: u32,
    /// Whether the future that holds the actor waits for the answer.
    is_awaited: bool,
    /// The queue under which the table has it; `None` if it is not in the table.
    listed: Option<Option<CownId>>,
    /// Not an ask: the message is sent when there is room for it. So it waits like those that take
    /// up the room, one of which must be handled first.
    for_room: bool,
}

enum MessageStage {
    /// Not handled yet; with its place, if it waits in a queue itself.
    Queued(Option<(CownId, QueuePosition)>),
    /// Not handled yet, in a mailbox in which it may be called in the place of others.
    Sorted(Arc<dyn SortedMailbox>),
    /// A future that holds an actor has the answer.
    HeldBy(AnswerHolder),
    /// The answer lies elsewhere, and may be given at any time.
    Loose,
}

/// The actor held by a future that has the answer.
#[derive(Clone, Copy)]
struct AnswerHolder {
    actor: ActorId,
    queue: CownId,
    has_multi_cown_waiters: bool,
}

/// A mailbox that sorts its messages.
pub(crate) trait SortedMailbox: Send + Sync {
    /// Returns whether its messages wait for something that certain places in queues wait for.
    fn is_stuck(&self, is_blocked: &dyn Fn(QueuePosition) -> bool) -> QueueBlockage;
}

/// Whether something waits for what certain places in queues wait for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum QueueBlockage {
    No,
    Yes,
    /// Possibly, now or soon.
    Unclear,
}

/// The keys of a wait in the table.
#[derive(Clone, Copy, Default)]
pub(super) struct WaitKeys {
    /// The queue in which the message waits, or that of the held actor with the answer.
    pub(super) queue: Option<CownId>,
    /// The message's place in that queue.
    pub(super) place: Option<(CownId, QueuePosition)>,
    /// Whether it has no fixed place in that queue.
    pub(super) sorted: bool,
}

/// The actors that must continue before a wait can end, as an estimate.
pub(super) enum ActorsAhead {
    Nothing,
    Actor(ActorId),
    /// This actor and others.
    Unclear,
}

impl AskWait {
    /// Creates the wait for the answer of an actor; `queue` is where that actor's messages wait.
    pub(crate) fn new(held_actor: Arc<HeldActor>, of: AnyAddr, queue: CownId) -> Arc<Self> {
        let message = Mutex::new(MessageLocation {
            of,
            queue,
            stage: MessageStage::Queued(None),
            hops: 0,
            is_awaited: false,
            listed: None,
            for_room: false,
        });
        let serial = next_number();
        let number = AtomicU64::new(serial);
        let (failure, waker) = (OnceLock::new(), Mutex::default());
        Arc::new(Self { held_actor, serial, number, message, failure, waker })
    }

    /// Creates the wait of a held actor for room in a full mailbox.
    ///
    /// Whatever takes up the room is in the actor's queue, or will be shortly (a sender with room
    /// sends at once): so the wait can end only after the actor has continued, as if its own
    /// message were there.
    pub(crate) fn for_room(held_actor: Arc<HeldActor>, of: AnyAddr, queue: CownId) -> Arc<Self> {
        let wait = Self::new(held_actor, of, queue);
        wait.message.lock().for_room = true;
        wait
    }

    pub(crate) fn hops(&self) -> u32 {
        self.message.lock().hops
    }

    /// Notes that the message was sent, after this many hops; it may have been handled by now.
    /// `place` is its place, if it waits in a queue itself. Returns whether it is still unhandled.
    pub(super) fn set_sent(&self, hops: u32, place: Option<(CownId, QueuePosition)>) -> bool {
        let mut message = self.message.lock();
        let waits = message.hops == hops && matches!(message.stage, MessageStage::Queued(_));
        if waits && place.is_some() {
            message.stage = MessageStage::Queued(place);
        }
        waits
    }

    /// Notes that the message was put into a mailbox that sorts, after this many hops. Returns
    /// whether it is still unhandled.
    pub(super) fn set_sorted(&self, hops: u32, mailbox: Arc<dyn SortedMailbox>) -> bool {
        let mut message = self.message.lock();
        let waits = message.hops == hops && matches!(message.stage, MessageStage::Queued(_));
        if waits {
            message.stage = MessageStage::Sorted(mailbox);
        }
        waits
    }

    /// Notes that a handler has the message. Returns whether it is still wanted.
    pub(crate) fn begin(&self) -> bool {
        self.message.lock().stage = MessageStage::Loose;
        self.failure.get().is_none()
    }

    /// Notes that the answer was given, never will be, or may be given at any time.
    pub(crate) fn released(&self) {
        self.message.lock().stage = MessageStage::Loose;
    }

    /// Notes that a future that holds an actor has the answer. Returns whether the table has the
    /// wait elsewhere.
    pub(super) fn set_held_by(&self, actor: &AnyAddr) -> bool {
        let Some(queue) = actor.queue_id() else { return false };
        let has_multi_cown_waiters = actor.has_multi_cown_waiters();
        let keeper = AnswerHolder { actor: actor.id(), queue, has_multi_cown_waiters };
        let mut message = self.message.lock();
        message.stage = MessageStage::HeldBy(keeper);
        message.listed.is_some_and(|listed| listed != Some(queue))
    }

    /// Notes that the answer is left to another actor, to which a message is sent.
    pub(crate) fn forwarded(&self, to: AnyAddr, queue: CownId) {
        // The previous address is dropped without the lock.
        let _before = {
            let mut message = self.message.lock();
            message.hops += 1;
            message.queue = queue;
            message.stage = MessageStage::Queued(None);
            std::mem::replace(&mut message.of, to)
        };
        // ORDERING: Relaxed. The number publishes nothing: numbers are compared only of waits that
        // have stopped.
        self.number.store(next_number(), Ordering::Relaxed);
    }

    /// Marks the wait as listed in the table. Returns its keys there.
    pub(super) fn list(&self) -> WaitKeys {
        let mut message = self.message.lock();
        let keys = match &message.stage {
            MessageStage::Queued(place) => {
                WaitKeys { queue: Some(message.queue), place: *place, sorted: false }
            }
            MessageStage::Sorted(_) => {
                WaitKeys { queue: Some(message.queue), place: None, sorted: true }
            }
            MessageStage::HeldBy(keeper) => {
                WaitKeys { queue: Some(keeper.queue), place: None, sorted: false }
            }
            MessageStage::Loose => WaitKeys::default(),
        };
        message.listed = Some(keys.queue);
        keys
    }

    /// Returns whether the wait can end only after an actor whose blocked set is known has
    /// continued: its message is in that actor's queue (where the other actors of a group wait as
    /// well), or is blocked.
    pub(super) fn is_blocked_by(
        &self,
        queue: CownId,
        blocked: &HashSet<(CownId, QueuePosition)>,
    ) -> QueueBlockage {
        let message = self.message.lock();
        let yes = match &message.stage {
            MessageStage::Queued(place) => {
                message.queue == queue || place.is_some_and(|place| blocked.contains(&place))
            }
            MessageStage::Sorted(_) if message.queue == queue => true,
            MessageStage::Sorted(mailbox) => {
                return mailbox.is_stuck(&|place| blocked.contains(&(message.queue, place)));
            }
            MessageStage::HeldBy(keeper) => keeper.queue == queue,
            MessageStage::Loose => false,
        };
        if yes { QueueBlockage::Yes } else { QueueBlockage::No }
    }

    /// Returns the actors that must continue before the wait can end.
    pub(super) fn ahead(&self) -> ActorsAhead {
        if self.failure.get().is_some() {
            return ActorsAhead::Nothing;
        }
        let message = self.message.lock();
        let (actor, has_multi_cown_waiters) = match message.stage {
            MessageStage::Queued(_) | MessageStage::Sorted(_) => {
                (message.of.id(), message.of.has_multi_cown_waiters())
            }
            MessageStage::HeldBy(keeper) => (keeper.actor, keeper.has_multi_cown_waiters),
            MessageStage::Loose => return ActorsAhead::Nothing,
        };
        if has_multi_cown_waiters { ActorsAhead::Unclear } else { ActorsAhead::Actor(actor) }
    }

    /// Returns the waiting actor.
    pub(super) fn by(&self) -> &AnyAddr {
        &self.held_actor.actor
    }

    /// Returns whether the actor still waits, as far as is known: for certain while it is parked.
    pub(super) fn goes_on(&self) -> bool {
        self.failure.get().is_none()
            && !self.held_actor.has_ended()
            && self.message.lock().is_awaited
    }

    /// Returns its sequence number among all waits.
    pub(super) fn serial(&self) -> u64 {
        self.serial
    }

    /// Returns the sequence number that it had when its message was last sent.
    pub(super) fn number(&self) -> u64 {
        // ORDERING: Relaxed. See `forwarded`.
        self.number.load(Ordering::Relaxed)
    }

    /// Fails the ask: there will be no answer. (It may have failed already, as part of another
    /// circle.)
    pub(super) fn fail(&self, why: AskCycle) {
        let _ = self.failure.set(Arc::new(why));
        // A future that joins several may poll this one only when its own waker is woken, which may
        // be user code.
        let waker = self.take_waker();
        drop_quietly(|| _ = waker.map(Waker::wake));
        self.by().interrupt();
    }

    /// Sets the waker to wake if the ask fails.
    pub(super) fn wake_by(&self, waker: &Waker) {
        let is_kept = self.waker.lock().as_ref().is_some_and(|kept| kept.will_wake(waker));
        if !is_kept {
            // User code is called without the lock.
            let waker = waker.clone();
            let before = self.waker.lock().replace(waker);
            drop(before);
        }
    }

    /// Returns whether it is the wait of that held actor.
    pub(super) fn is_of(&self, held_actor: &Arc<HeldActor>) -> bool {
        Arc::ptr_eq(held_actor, &self.held_actor)
    }

    /// Returns why there will be no answer, if that is known.
    pub(super) fn failure(&self) -> Option<Arc<AskCycle>> {
        self.failure.get().cloned()
    }

    /// Notes that the future that holds the actor begins to wait for the answer.
    pub(super) fn set_awaited(&self) {
        self.message.lock().is_awaited = true;
    }

    /// Notes that the future no longer waits.
    pub(super) fn set_unawaited(&self) {
        let mut message = self.message.lock();
        message.is_awaited = false;
        message.listed = None;
    }

    /// Takes the waker of the future.
    pub(super) fn take_waker(&self) -> Option<Waker> {
        self.waker.lock().take()
    }

    pub(super) fn describe(&self) -> CycleAsk {
        let message = self.message.lock();
        CycleAsk { by: self.by().clone(), of: message.of.clone(), for_room: message.for_room }
    }
}

/// Returns a number that no wait has had.
fn next_number() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    // ORDERING: Relaxed. The numbers are distinct, and increase for each thread.
    NEXT.fetch_add(1, Ordering::Relaxed)
}
