//! The mailbox of a thread: an actor puts messages there, on the threads that send them.

use std::any::Any;
use std::cell::RefCell;
use std::mem::take;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::time::Duration;

use coact_actor::actor::{Context, ExitReason, Reply, WeakAddr, actor};
use coact_actor::internals::{ThreadQueue, UnwindReason};
use coact_actor::system::Host;
use coact_core::Promise;
use coact_core::internals::{WorkerPlace, wait_for};
use coact_core::runtime::RuntimeHandle;
use coact_tuple::AnyTuple;

use super::exchange::UnwindPayload;
use crate::cases::NoMatch;
use crate::dyn_actor::{ActorMachine, DynActor, DynAddr, DynMessage};
use crate::received::QueuedMessage;

/// The thread's end.
#[derive(Default)]
pub(super) struct ThreadInbox {
    queue: Arc<ThreadQueue<QueuedMessage>>,
    own: RefCell<Option<OwnAddress>>,
    /// Whether the thread is an actor that was spawned: it ends when it is stopped.
    is_spawned: bool,
    /// Why it is unwound, for what is on its stack.
    unwinding: UnwindReason,
}

/// The address of the thread. It keeps the actor alive, unless the thread waits for a message: then
/// others do, or there will be none.
struct OwnAddress {
    strong: Option<DynAddr>,
    weak: WeakAddr<DynActor>,
}

impl OwnAddress {
    fn has_ended(&self) -> bool {
        self.weak.upgrade().is_none_or(|address| address.has_ended())
    }

    /// Waits until it is known, for an actor that has ended.
    fn exit_reason(&self) -> Option<ExitReason> {
        self.weak.upgrade().and_then(|address| address.ended().wait().ok())
    }
}

/// What a thread has waited for.
pub(super) enum InboxNext {
    Message(QueuedMessage),
    /// Nothing has come in time.
    Late,
    /// Nothing has come, and there is time left.
    Nothing,
}

impl ThreadInbox {
    /// The inbox of a thread that is about to be spawned, with its address.
    pub(super) fn spawned() -> (Self, DynAddr) {
        let mut inbox = Self::default();
        inbox.is_spawned = true;
        inbox.queue = Arc::new(ThreadQueue::of_runtime(RuntimeHandle::current()));
        let address = inbox.address();
        (inbox, address)
    }

    pub(super) fn address(&self) -> DynAddr {
        let mut own = self.own.borrow_mut();
        let known = own.as_ref().and_then(|own| own.strong.clone());
        // A thread that was spawned is one actor only.
        let is_good = |address: &DynAddr| self.is_spawned || !address.has_ended();
        known.filter(is_good).unwrap_or_else(|| {
            let inbox = InboxActor { queue: Arc::clone(&self.queue), state: () };
            let address = DynAddr(actor(DynActor::of(inbox)).on(Host::caller()).spawn());
            *own = Some(OwnAddress { strong: Some(address.clone()), weak: address.downgrade() });
            address
        })
    }

    pub(super) fn weak_address(&self) -> WeakAddr<DynActor> {
        if let Some(OwnAddress { strong: Some(address), weak }) = &*self.own.borrow()
            && (self.is_spawned || !address.has_ended())
        {
            return weak.clone();
        }
        self.address().downgrade()
    }

    /// What tells destructors why the stack of the thread is unwound.
    pub(super) fn unwinding(&self) -> UnwindReason {
        self.unwinding.clone()
    }

    /// Waits for a message: for ever, or for so long.
    #[track_caller]
    pub(super) fn next(&self, left: Option<Duration>) -> InboxNext {
        loop {
            if self.is_spawned && self.own.borrow().as_ref().is_some_and(OwnAddress::has_ended) {
                let reason = self.own.borrow().as_ref().and_then(OwnAddress::exit_reason);
                self.unwinding.begin(reason);
                // Without a word of the panic hook: it is no fault.
                resume_unwind(Box::new(UnwindPayload));
            }
            let (resolver, woken) = Promise::channel();
            if let Some(queued) = self.queue.take_or_wait(resolver, left.is_some()) {
                return InboxNext::Message(queued);
            }
            match left {
                Some(left) => {
                    let is_woken = woken.wait_timeout(left).is_ok();
                    // By a message, or by the end of its actor.
                    let nothing = if is_woken { InboxNext::Nothing } else { InboxNext::Late };
                    return self.queue.take().map_or(nothing, InboxNext::Message);
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
        let is_alone = strong.is_none() && self.queue.is_empty();
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
        let messages = self.queue.close();
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
    queue: Arc<ThreadQueue<QueuedMessage>>,
    state: (),
}

impl InboxActor {
    /// Adds a message, which is dropped if the thread has ended.
    fn add(&self, message: DynMessage, reply: Option<Reply<AnyTuple>>) {
        drop(self.queue.add(QueuedMessage { message, reply }));
    }
}

impl ActorMachine for InboxActor {
    fn start(&mut self, _: &mut Context<DynActor>) -> Option<WorkerPlace> {
        None
    }

    fn receive(&mut self, message: &mut DynMessage, _: &mut Context<DynActor>) {
        self.add(take(message), None);
    }

    fn receive_asked(
        &mut self,
        message: &mut DynMessage,
        reply: Reply<AnyTuple>,
        _: &mut Context<DynActor>,
    ) {
        self.add(take(message), Some(reply));
    }

    fn go_on(&mut self, _: &mut Context<DynActor>) {}

    fn give_back(&mut self, _: &mut Context<DynActor>) {}

    fn skipped(&self) -> Vec<NoMatch> {
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
        self.queue.wake();
    }
}
