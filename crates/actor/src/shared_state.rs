//! The shared state of an actor: visible to all its addresses, whatever the actor is doing.

mod state_word;

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use coact_core::behaviour::NotCommitted;
use coact_core::internals::FastPath;
use coact_sync::shim::process::Mutex;
use once_cell::race::OnceBox;

use self::state_word::{KnownReason, MeetingOrder, StateWord};
use crate::exit::ExitReason;
use crate::id::ActorId;
use crate::mailbox::{DropCounter, Mailbox, SharedMailbox};
use crate::once_lock::OnceLock;
use crate::owned_work::OwnedWork;
use crate::send_error::AskError;
use crate::signal::Signal;

/// The shared state of an actor: 16 bytes, and a block for actors that need more.
pub struct SharedState {
    word: StateWord,
    control: OnceBox<ControlState>,
}

/// State that most actors never need.
#[derive(Default)]
pub(crate) struct ControlState {
    /// Signals that wait to be applied.
    signals: Mutex<VecDeque<Signal>>,
    /// Whether the actor is suspended, or about to be.
    suspended: AtomicBool,
    /// Why the actor has ended, if the [word](StateWord) does not contain the reason.
    end: OnceLock<ExitReason>,
    /// What asks are told if the actor ends for this reason.
    ask_refusal: Mutex<Option<(ExitReason, NotCommitted)>>,
    /// The mailbox, if it has settings.
    queue: OnceLock<Arc<SharedMailbox>>,
    dead_letters: DropCounter,
    /// What others have begun that ends with the actor.
    begun: OnceLock<Arc<OwnedWork>>,
    /// 0 unless senders handle their messages themselves; otherwise one more than the number of
    /// other senders' messages that they handle as well.
    caller_batch: AtomicU32,
}

impl ControlState {
    fn caller_batch(&self) -> Option<u32> {
        // ORDERING: Relaxed. See `set_caller_batch`.
        self.caller_batch.load(Ordering::Relaxed).checked_sub(1)
    }
}

impl SharedState {
    pub(crate) fn new(id: ActorId) -> Self {
        Self { word: StateWord::new(id), control: OnceBox::new() }
    }

    /// Creates the state of an actor that does not start before [`allow_start`](Self::allow_start).
    pub(crate) fn deferred(id: ActorId) -> Self {
        Self { word: StateWord::deferred(id), control: OnceBox::new() }
    }

    /// Allows the actor to start. It must be interrupted after this.
    pub(crate) fn allow_start(&self) {
        self.word.allow_start();
    }

    /// Returns whether the actor must not start yet.
    pub(crate) fn is_deferred(&self) -> bool {
        self.word.is_deferred()
    }

    #[inline]
    pub(crate) fn id(&self) -> ActorId {
        self.word.id()
    }

    /// Notes, for good, that other cowns may hold up what waits for the actor: it is in a group, or
    /// behaviours other than messages are queued for it.
    #[inline]
    pub(crate) fn set_multi_cown_waiters(&self) {
        self.word.set_multi_cown_waiters();
    }

    /// Returns whether other cowns may hold up what waits for the actor.
    pub(crate) fn has_multi_cown_waiters(&self) -> bool {
        self.word.has_multi_cown_waiters()
    }

    fn control(&self) -> &ControlState {
        self.control.get_or_init(Box::default)
    }

    /// Pushes a signal. Returns whether the actor sees it once it is interrupted; if not, the
    /// actor's end has been announced, and the caller must answer the signal.
    #[must_use = "a signal that the actor does not see must be answered by the caller"]
    pub(crate) fn push_signal(&self, signal: Signal) -> bool {
        // Most actors receive no other signal, and this one needs no block.
        if matches!(signal, Signal::Stop(ExitReason::Shutdown)) && self.control.get().is_none() {
            FastPath::StopBit.take();
            return self.word.push_stop() == MeetingOrder::First;
        }
        let control = self.control();
        let mut signals = control.signals.lock();
        // Under the lock, so that the flag agrees with the last of these signals in the list.
        // ORDERING: Relaxed, both. See `is_suspended`.
        match signal {
            Signal::Suspend => control.suspended.store(true, Ordering::Relaxed),
            Signal::Resume => control.suspended.store(false, Ordering::Relaxed),
            _ => {}
        }
        signals.push_back(signal);
        drop(signals);
        self.word.set_signalled() == MeetingOrder::First
    }

    /// Returns whether the last `Suspend` or `Resume` was a `Suspend`.
    pub(crate) fn is_suspended(&self) -> bool {
        // ORDERING: Relaxed. Read when the last address is dropped, which comes after everything
        // done with other addresses: see `Cown::drop_unless_last`.
        self.control.get().is_some_and(|control| control.suspended.load(Ordering::Relaxed))
    }

    /// Pushes a signal ahead of those that wait. The actor must be interrupted after this.
    pub(crate) fn push_signal_first(&self, signal: Signal) {
        let mut signals = self.control().signals.lock();
        if self.word.take_stop() {
            signals.push_front(Signal::Stop(ExitReason::Shutdown));
        }
        signals.push_front(signal);
    }

    /// Takes the signal that has waited longest.
    pub(crate) fn take_signal(&self) -> Option<Signal> {
        // It was pushed before there was a block, so before all others.
        if self.word.take_stop() {
            return Some(Signal::Stop(ExitReason::Shutdown));
        }
        self.control.get()?.signals.lock().pop_front()
    }

    /// Returns whether a signal may ever have been pushed; takes no lock.
    pub(crate) fn may_have_signals(&self) -> bool {
        self.has_stop() || self.has_control()
    }

    /// Returns whether a stop waits that was pushed before all other signals.
    pub(crate) fn has_stop(&self) -> bool {
        self.word.has_stop()
    }

    /// Drops that stop, for an actor that has ended.
    pub(crate) fn forget_stop(&self) {
        self.word.take_stop();
    }

    /// Returns whether the actor has the block that most actors never need.
    pub(crate) fn has_control(&self) -> bool {
        self.control.get().is_some()
    }

    /// Returns whether signals wait.
    pub(crate) fn has_signals(&self) -> bool {
        let has_others = |control: &ControlState| !control.signals.lock().is_empty();
        self.word.has_stop() || self.control.get().is_some_and(has_others)
    }

    /// Returns how many messages of others senders handle besides their own, if the actor runs on
    /// its callers.
    pub(crate) fn caller_batch(&self) -> Option<u32> {
        self.control.get()?.caller_batch()
    }

    /// Returns the same for an actor that is alive and whose mailbox has no settings: nothing else
    /// need be checked before a message is sent.
    #[inline]
    pub(crate) fn calls_alone(&self) -> Option<u32> {
        let control = self.control.get()?;
        // (A hint: a message that arrives after the end is dropped, like one in transit.)
        if self.word.may_have_ended() || control.queue.get().is_some() {
            return None;
        }
        control.caller_batch()
    }

    /// Sets how many messages of others senders handle besides their own; `None`: the actor runs on
    /// workers.
    pub(crate) fn set_caller_batch(&self, batch: Option<u32>) {
        let stored = batch.map_or(0, |batch| batch.saturating_add(1));
        // ORDERING: Relaxed. A stale read is harmless: the send goes into the same queue, as it did
        // before.
        if stored > 0 || self.control.get().is_some() {
            self.control().caller_batch.store(stored, Ordering::Relaxed);
        }
    }

    /// Returns why the actor has ended, if it has.
    pub(crate) fn end(&self) -> Option<&ExitReason> {
        Some(match self.word.ended()? {
            KnownReason::For(reason) => reason,
            KnownReason::Other => {
                self.control().end.get().expect("stored before the end was marked")
            }
        })
    }

    /// Ends the actor, and what others have [begun](Self::owned_work) that ends with it.
    pub(crate) fn set_end(&self, reason: &ExitReason) {
        if !matches!(reason, ExitReason::Normal | ExitReason::Shutdown | ExitReason::Killed) {
            // An actor ends once.
            let _ = self.control().end.set(reason.clone());
        }
        if self.word.end(reason) == MeetingOrder::Second {
            self.owned_work().end();
        }
    }

    /// Sets what asks are told that wait, or come, when the actor ends for this reason. To be
    /// called before the actor is told to end.
    pub(crate) fn set_ask_refusal(&self, reason: ExitReason, why: NotCommitted) {
        let before = self.control().ask_refusal.lock().replace((reason, why));
        drop(before);
    }

    /// Returns why an ask has no answer if the actor has ended for this reason.
    #[cold]
    pub(crate) fn ask_error(&self, reason: &ExitReason) -> AskError {
        let refusal = self.control.get().and_then(|control| {
            let refusal = control.ask_refusal.lock();
            refusal.as_ref().filter(|(of, _)| of == reason).map(|(_, why)| why.clone())
        });
        refusal.map_or_else(|| AskError::Stopped(reason.clone()), AskError::NotCommitted)
    }

    /// Notes that the end has been announced. Returns whether signals were ever pushed: some may
    /// have arrived since.
    pub(crate) fn set_announced(&self) -> bool {
        self.word.set_announced() == MeetingOrder::Second
    }

    /// Returns the mailbox, if it has settings.
    pub(crate) fn queue(&self) -> Option<&Arc<SharedMailbox>> {
        self.control.get()?.queue.get()
    }

    /// Gives a new actor a mailbox with settings. Returns whether senders must look at them: the
    /// cown is marked then.
    pub(crate) fn set_mailbox(&self, mailbox: &Mailbox) -> bool {
        if let Some(queue) = SharedMailbox::new(mailbox) {
            // A mailbox is set up once, before the actor has an address.
            let _ = self.control().queue.set(Arc::new(queue));
        }
        mailbox.concerns_senders()
    }

    /// Lifts the mailbox's limits: senders no longer wait for room.
    pub(crate) fn open_mailbox(&self) {
        if let Some(queue) = self.queue() {
            queue.open();
        }
    }

    /// Returns what ends with the actor. Call [`note_owned_work`](Self::note_owned_work) after
    /// adding something.
    pub(crate) fn owned_work(&self) -> &Arc<OwnedWork> {
        self.control().begun.get_or_init(Arc::default)
    }

    /// Notes that something was begun; if the actor has ended, it ends at once.
    pub(crate) fn note_owned_work(&self) {
        if self.word.begin() == MeetingOrder::Second {
            self.owned_work().end();
        }
    }

    /// Returns how many messages arrived after the actor had ended.
    pub(crate) fn dead_letters(&self) -> u64 {
        self.control.get().map_or(0, |control| control.dead_letters.get())
    }

    pub(crate) fn count_dead_letter(&self) {
        self.control().dead_letters.increment();
    }
}

#[cfg(all(test, loom))]
mod loom;
