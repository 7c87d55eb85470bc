//! What everybody who has an actor's address can see of it, whatever the actor is doing.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};

use coact_sync::shim::atomic::{AtomicU64, Ordering, fence};
use once_cell::race::OnceBox;
use parking_lot::Mutex;

use crate::begun::Begun;
use crate::directive::Directive;
use crate::mailbox::{Count, Queue};
use crate::once::OnceLock;
use crate::{ActorId, ExitReason};

/// The front of every actor: 16 bytes, and a block for those that need it.
pub struct Front {
    /// The actor's number, with [`ENTANGLED`], [`ENDED`] and [`TOLD`].
    identity: AtomicU64,
    control: OnceBox<Control>,
}

/// The bit of an actor's number that says that it is entangled.
const ENTANGLED: u64 = 1 << 63;

/// The bit that says that it has ended, for no other reason than that nobody needs it any more.
const ENDED: u64 = 1 << 62;

/// The bit that says that its end is told: a monitor that comes from now on need not wait for the actor.
const TOLD: u64 = 1 << 61;

static NORMAL: ExitReason = ExitReason::Normal;

/// What most actors never need.
#[derive(Default)]
pub(crate) struct Control {
    /// Directives that wait for the actor's attention.
    directives: Mutex<VecDeque<Directive>>,
    /// Whether the actor was told to let messages wait, and not yet to go on.
    suspended: AtomicBool,
    /// Why the actor has ended, if it is not [`NORMAL`].
    end: OnceLock<ExitReason>,
    /// The mailbox, if it was given settings.
    queue: OnceLock<Arc<Queue>>,
    dead_letters: Count,
    /// Timers that anybody has set for the actor.
    begun: OnceLock<Arc<Begun>>,
    /// Whether senders handle their messages themselves: 0 if they do not, else one more than the number of
    /// others that they go on with.
    caller_batch: AtomicU32,
}

impl Control {
    fn caller_batch(&self) -> Option<u32> {
        // ORDERING: Relaxed. See `set_caller_batch`.
        self.caller_batch.load(Ordering::Relaxed).checked_sub(1)
    }
}

impl Front {
    pub(crate) fn new(id: ActorId) -> Self {
        Self { identity: AtomicU64::new(id.get()), control: OnceBox::new() }
    }

    #[inline]
    pub(crate) fn id(&self) -> ActorId {
        // ORDERING: Relaxed. The number is constant.
        let number = self.identity.load(Ordering::Relaxed) & !(ENTANGLED | ENDED | TOLD);
        ActorId::from_number(number).expect("made from an identity")
    }

    /// Other cowns may hold up what waits for the actor: it is in a group, or behaviours other than
    /// messages are queued for it. It stays so for good.
    #[inline]
    pub(crate) fn entangle(&self) {
        // ORDERING: Relaxed, both. Whoever finds something behind such a behaviour in the queue is
        // ordered after this by the queue.
        if self.identity.load(Ordering::Relaxed) & ENTANGLED == 0 {
            self.identity.fetch_or(ENTANGLED, Ordering::Relaxed);
        }
    }

    /// Whether other cowns may hold up what waits for the actor by now.
    pub(crate) fn is_entangled(&self) -> bool {
        // ORDERING: Relaxed. See `entangle`.
        self.identity.load(Ordering::Relaxed) & ENTANGLED != 0
    }

    fn control(&self) -> &Control {
        self.control.get_or_init(Box::default)
    }

    /// Leaves a directive. The actor must be alerted after this.
    pub(crate) fn leave(&self, directive: Directive) {
        let control = self.control();
        let mut directives = control.directives.lock();
        // Under the lock, so that of two who disagree the same one is the last here and there.
        // ORDERING: Relaxed, both. See `is_suspended`.
        match directive {
            Directive::Suspend => control.suspended.store(true, Ordering::Relaxed),
            Directive::Resume => control.suspended.store(false, Ordering::Relaxed),
            _ => {}
        }
        directives.push_back(directive);
    }

    /// Whether the last of those who could tell was to let messages wait.
    pub(crate) fn is_suspended(&self) -> bool {
        // ORDERING: Relaxed. It is asked when the last address goes, which comes after all that was done
        // with other addresses: see `Cown::drop_unless_last`.
        self.control.get().is_some_and(|control| control.suspended.load(Ordering::Relaxed))
    }

    /// Leaves a directive that comes before those that wait. The actor must be alerted after this.
    pub(crate) fn leave_first(&self, directive: Directive) {
        self.control().directives.lock().push_front(directive);
    }

    /// The directive that has waited longest.
    pub(crate) fn take_directive(&self) -> Option<Directive> {
        self.control.get()?.directives.lock().pop_front()
    }

    /// Whether some wait.
    pub(crate) fn has_directives(&self) -> bool {
        self.control.get().is_some_and(|control| !control.directives.lock().is_empty())
    }

    /// How many messages of others senders handle beside their own, if the actor runs on its callers.
    pub(crate) fn caller_batch(&self) -> Option<u32> {
        self.control.get()?.caller_batch()
    }

    /// The same of an actor that lives and whose mailbox has no settings: there is nothing else to look at
    /// before a message is sent.
    #[inline]
    pub(crate) fn calls_alone(&self) -> Option<u32> {
        let control = self.control.get()?;
        // ORDERING: Relaxed. A hint: a message that comes after the end is dropped, as one that was on its way.
        let is_ended = self.identity.load(Ordering::Relaxed) & ENDED != 0;
        if is_ended || control.end.get().is_some() || control.queue.get().is_some() {
            return None;
        }
        control.caller_batch()
    }

    /// From now on senders handle their messages themselves, and so many of others, or none.
    pub(crate) fn set_caller_batch(&self, batch: Option<u32>) {
        let stored = batch.map_or(0, |batch| batch.saturating_add(1));
        // ORDERING: Relaxed. A stale read is harmless: the send goes into the same queue, as it did before.
        if stored > 0 || self.control.get().is_some() {
            self.control().caller_batch.store(stored, Ordering::Relaxed);
        }
    }

    /// Why the actor has ended, if it has.
    pub(crate) fn end(&self) -> Option<&ExitReason> {
        // ORDERING: Acquire pairs with `set_end`, as reading the reason does.
        if self.identity.load(Ordering::Acquire) & ENDED != 0 {
            return Some(&NORMAL);
        }
        self.control.get()?.end.get()
    }

    pub(crate) fn set_end(&self, reason: ExitReason) {
        if reason == NORMAL {
            // Most actors end so, and without ever having needed a block.
            // ORDERING: Release pairs with `end`.
            self.identity.fetch_or(ENDED, Ordering::Release);
        } else {
            // An actor ends once.
            let _ = self.control().end.set(reason);
        }
    }

    /// The end has been told to all who wanted to know of it. To be followed by a look for those who have come since.
    pub(crate) fn set_told(&self) {
        // ORDERING: Release pairs with the acquire in `is_told`: what is told later comes behind that.
        self.identity.fetch_or(TOLD, Ordering::Release);
        // ORDERING: SeqCst pairs with the fence in `is_told`.
        fence(Ordering::SeqCst);
    }

    /// Whether that is so. To be asked by those who have left a directive: if not, the actor sees it.
    pub(crate) fn is_told(&self) -> bool {
        // ORDERING: SeqCst pairs with the fence in `set_told`: the look that follows that sees the directive, or we see
        // the bit.
        fence(Ordering::SeqCst);
        // ORDERING: Acquire, see `set_told`.
        self.identity.load(Ordering::Acquire) & TOLD != 0
    }

    /// The mailbox, if it was given settings.
    pub(crate) fn queue(&self) -> Option<&Arc<Queue>> {
        self.control.get()?.queue.get()
    }

    pub(crate) fn set_queue(&self, queue: Queue) {
        // A mailbox is set up once, before anybody sees the front.
        let _ = self.control().queue.set(Arc::new(queue));
    }

    /// Nobody waits for room in the mailbox any more.
    pub(crate) fn open_mailbox(&self) {
        if let Some(queue) = self.queue() {
            queue.open();
        }
    }

    /// What ends with the actor.
    pub(crate) fn begun(&self) -> &Arc<Begun> {
        self.control().begun.get_or_init(Arc::default)
    }

    /// The actor has ended: so does what ends with it. To be called after [`set_end`](Self::set_end).
    pub(crate) fn end_begun(&self) {
        // ORDERING: see `timers::set`: it looks for the end once it has begun something.
        if let Some(begun) = self.control.get().and_then(|control| control.begun.get()) {
            begun.end();
        }
    }

    /// How many messages came when the actor had ended.
    pub(crate) fn dead_letters(&self) -> u64 {
        self.control.get().map_or(0, |control| control.dead_letters.get())
    }

    pub(crate) fn count_dead_letter(&self) {
        self.control().dead_letters.rise();
    }
}

#[cfg(all(test, loom))]
mod loom;
