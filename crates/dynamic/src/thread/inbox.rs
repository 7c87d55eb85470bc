//! The mailbox of a thread: an actor puts messages there, on the threads that send them.

use std::any::Any;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::mem::take;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use coact_actor::actor::{Context, ExitReason, Reply, WeakAddr, actor};
use coact_actor::internals::Unwinding;
use coact_actor::system::Host;
use coact_core::Promise;
use coact_core::internals::{WorkerPlace, wait_for};
use coact_core::promise::Resolver;
use coact_core::runtime::{Busy, RuntimeHandle};
use coact_tuple::AnyTuple;

use super::exchange::Stopped;
use crate::cases::Unmatched;
use crate::received::QueuedMessage;
use crate::types::{DynActor, DynAddr, DynMessage, Machine};

/// The thread's end.
#[derive(Default)]
pub(super) struct ThreadInbox {
    shared: Arc<SharedInbox>,
    own: RefCell<Option<Own>>,
    /// Whether the thread is an actor that was spawned: it ends when it is stopped.
    is_spawned: bool,
    /// Why it is unwound, for what is on its stack.
    unwinding: Unwinding,
}

/// The address of the thread. It keeps the actor alive, unless the thread waits for a message: then
/// others do, or there will be none.
struct Own {
    strong: Option<DynAddr>,
    weak: WeakAddr<DynActor>,
}

impl Own {
    fn has_ended(&self) -> bool {
        self.weak.upgrade().is_none_or(|address| address.has_ended())
    }

    /// Waits until it is known, for an actor that has ended.
    fn exit_reason(&self) -> Option<ExitReason> {
        self.weak.upgrade().and_then(|address| address.ended().wait().ok())
    }
}

#[derive(Default)]
struct SharedInbox(Mutex<InboxState>);

#[derive(Default)]
struct InboxState {
    messages: VecDeque<QueuedMessage>,
    /// Wakes the thread if it waits.
    waiting: Option<Resolver<()>>,
    /// The thread has ended.
    is_closed: bool,
    /// The runtime of a thread that was spawned, which is idle only while that waits without a time.
    home: Option<RuntimeHandle>,
    busy: Option<Busy>,
}

impl InboxState {
    /// Returns whom to wake. From now on its runtime has work.
    fn wake(&mut self) -> Option<Resolver<()>> {
        let waiting = self.waiting.take()?;
        if self.busy.is_none() {
            self.busy = self.home.map(RuntimeHandle::hold_open);
        }
        Some(waiting)
    }
}

/// What a thread has waited for.
pub(super) enum Next {
    Message(QueuedMessage),
    /// Nothing has come in time.
    Late,
    /// Nothing has come, and there is time left.
    Nothing,
}

impl SharedInbox {
    fn lock(&self) -> MutexGuard<'_, InboxState> {
        // No code of the user runs while it is locked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, queued: QueuedMessage) {
        let mut state = self.lock();
        if state.is_closed {
            drop(state);
            drop(queued);
            return;
        }
        state.messages.push_back(queued);
        let waiting = state.wake();
        drop(state);
        if let Some(thread) = waiting {
            thread.resolve(());
        }
    }

    fn wake(&self) {
        let waiting = self.lock().wake();
        if let Some(thread) = waiting {
            thread.resolve(());
        }
    }

    fn take(&self) -> Option<QueuedMessage> {
        self.lock().messages.pop_front()
    }

    /// Takes a message, or registers who is to be woken by the next one: at some time, or perhaps never.
    fn take_or_wait(&self, waiting: Resolver<()>, has_time: bool) -> Option<QueuedMessage> {
        let mut state = self.lock();
        let queued = state.messages.pop_front();
        if queued.is_none() {
            let waited = state.waiting.replace(waiting);
            let idle = if has_time { None } else { state.busy.take() };
            drop(state);
            drop((waited, idle));
        }
        queued
    }
}

impl ThreadInbox {
    /// The inbox of a thread that is about to be spawned, with its address.
    pub(super) fn spawned() -> (Self, DynAddr) {
        let home = RuntimeHandle::current();
        let mut inbox = Self::default();
        inbox.is_spawned = true;
        {
            let mut state = inbox.shared.lock();
            state.home = Some(home);
            state.busy = Some(home.hold_open());
        }
        let address = inbox.address();
        (inbox, address)
    }

    pub(super) fn address(&self) -> DynAddr {
        let mut own = self.own.borrow_mut();
        let known = own.as_ref().and_then(|own| own.strong.clone());
        // A thread that was spawned is one actor only.
        let is_good = |address: &DynAddr| self.is_spawned || !address.has_ended();
        known.filter(is_good).unwrap_or_else(|| {
            let inbox = InboxActor { inbox: Arc::clone(&self.shared), state: () };
            let address = DynAddr(actor(DynActor::of(inbox)).on(Host::caller()).spawn());
            *own = Some(Own { strong: Some(address.clone()), weak: address.downgrade() });
            address
        })
    }

    pub(super) fn weak_address(&self) -> WeakAddr<DynActor> {
        if let Some(Own { strong: Some(address), weak }) = &*self.own.borrow()
            && (self.is_spawned || !address.has_ended())
        {
            return weak.clone();
        }
        self.address().downgrade()
    }

    /// What tells destructors why the stack of the thread is unwound.
    pub(super) fn unwinding(&self) -> Unwinding {
        self.unwinding.clone()
    }

    /// Waits for a message: for ever, or for so long.
    #[track_caller]
    pub(super) fn next(&self, left: Option<Duration>) -> Next {
        loop {
            if self.is_spawned && self.own.borrow().as_ref().is_some_and(Own::has_ended) {
                let reason = self.own.borrow().as_ref().and_then(Own::exit_reason);
                self.unwinding.begin(reason);
                // Without a word of the panic hook: it is no fault.
                resume_unwind(Box::new(Stopped));
            }
            let (resolver, woken) = Promise::channel();
            if let Some(queued) = self.shared.take_or_wait(resolver, left.is_some()) {
                return Next::Message(queued);
            }
            match left {
                Some(left) => {
                    let is_woken = woken.wait_timeout(left).is_ok();
                    // By a message, or by the end of its actor.
                    let nothing = if is_woken { Next::Nothing } else { Next::Late };
                    return self.shared.take().map_or(nothing, Next::Message);
                }
                None => self.wait_while_it_is_known(woken),
            }
        }
    }

    /// Waits as long as someone has the address.
    ///
    /// # Panics
    /// If there is no address left, and no message.
    #[track_caller]
    fn wait_while_it_is_known(&self, woken: Promise<()>) {
        let strong = self.own.borrow_mut().as_mut().and_then(|own| own.strong.take());
        drop(strong);
        let is_known = || {
            let own = self.own.borrow();
            let address = own.as_ref().and_then(|own| own.weak.upgrade());
            address.filter(|address| !address.has_ended()).map(DynAddr)
        };
        if is_known().is_some() {
            drop(wait_for(woken, &"a tuple to this thread"));
        }
        let strong = is_known();
        let is_alone = strong.is_none() && self.shared.lock().messages.is_empty();
        if let Some(own) = &mut *self.own.borrow_mut() {
            own.strong = strong;
        }
        assert!(
            !is_alone || self.is_spawned,
            "this thread would wait for ever for a tuple: no address of it is left (`DynThread::address`), or the \
             runtime has ended in which it had one, and there is no `after`"
        );
    }
}

/// The thread has ended.
impl Drop for ThreadInbox {
    fn drop(&mut self) {
        let messages = {
            let mut state = self.shared.lock();
            state.is_closed = true;
            take(&mut state.messages)
        };
        // One that was spawned is told why its body has ended.
        if let Some(own) = self.own.take().filter(|_| !self.is_spawned)
            && let Some(address) = own.weak.upgrade()
        {
            // It may have ended.
            let _ = address.stop();
        }
        // Unless it was unwound for another reason.
        self.unwinding.begin(Some(ExitReason::Normal));
        self.unwinding.on(|| drop(messages));
    }
}

/// What puts messages into the inbox.
struct InboxActor {
    inbox: Arc<SharedInbox>,
    state: (),
}

impl Machine for InboxActor {
    fn start(&mut self, _: &mut Context<DynActor>) -> Option<WorkerPlace> {
        None
    }

    fn receive(&mut self, message: &mut DynMessage, _: &mut Context<DynActor>) {
        self.inbox.put(QueuedMessage { message: take(message), reply: None });
    }

    fn receive_asked(
        &mut self,
        message: &mut DynMessage,
        reply: Reply<AnyTuple>,
        _: &mut Context<DynActor>,
    ) {
        self.inbox.put(QueuedMessage { message: take(message), reply: Some(reply) });
    }

    fn go_on(&mut self, _: &mut Context<DynActor>) {}

    fn give_back(&mut self, _: &mut Context<DynActor>) {}

    fn skipped(&self) -> Vec<Unmatched> {
        // Those are the thread's.
        Vec::new()
    }

    fn state(&self) -> &dyn Any {
        &self.state
    }

    fn state_mut(&mut self) -> &mut dyn Any {
        &mut self.state
    }
}

/// Its last address is gone, or its runtime.
impl Drop for InboxActor {
    fn drop(&mut self) {
        self.inbox.wake();
    }
}
