//! Hooks that are handed the messages that were not delivered, by type.

use std::any::{Any, TypeId, type_name};
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use coact_core::cown::Deep;
use coact_core::internals::{CatchDrop, catch, drop_quietly, thread_extension};
use coact_sync::shim::process::RwLock;

use super::kinds::DropCause;
use crate::exit::ExitReason;
use crate::id::ActorId;
use crate::message::Message;
use crate::topic::{Subscription, UntypedTopic, next_id};

/// A message that was not delivered: what the hook of
/// [`Events::on_undelivered`](crate::pubsub::Events::on_undelivered) is handed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UndeliveredMessage<M> {
    /// The message.
    pub message: M,
    /// The actor that it was for.
    pub actor: ActorId,
    /// The name of that actor's type.
    pub actor_type: &'static str,
    /// Why it was not delivered.
    pub cause: UndeliveredCause,
}

/// Why a message was not delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UndeliveredCause {
    /// Its receiver ended before the message's turn, for this reason: it is a
    /// [`DeadLetter`](crate::pubsub::DeadLetter).
    Ended(ExitReason),
    /// The receiver's mailbox dropped it: see [`MessageDropped`](crate::pubsub::MessageDropped).
    Dropped(DropCause),
}

impl fmt::Display for UndeliveredCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UndeliveredCause::Ended(reason) => write!(f, "its receiver had ended: {reason}"),
            UndeliveredCause::Dropped(DropCause::Full) => f.write_str("the mailbox was full"),
            UndeliveredCause::Dropped(DropCause::Policy) => {
                f.write_str("the mailbox was full, and its policy is to drop a message")
            }
            UndeliveredCause::Dropped(DropCause::Restart) => {
                f.write_str("its receiver was restarted, and reads it again from its source")
            }
        }
    }
}

/// Undelivered messages of this type have a hook already.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HookTaken {
    /// The name of the messages' type.
    pub message: &'static str,
}

impl fmt::Display for HookTaken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message } = self;
        write!(
            f,
            "undelivered messages of type `{message}` have a hook already: drop its `Subscription` \
             first"
        )
    }
}

impl std::error::Error for HookTaken {}

/// The hooks, by the types of the messages.
#[derive(Default)]
pub(super) struct MessageHooks {
    /// Whether there has ever been one: most programs have none.
    is_used: AtomicBool,
    hooks: RwLock<HashMap<TypeId, MessageHook>>,
}

#[derive(Clone)]
struct MessageHook {
    id: u64,
    /// A `TypedHook` of the type that it is kept by.
    call: Arc<dyn Any + Send + Sync>,
}

/// It may own an actor, and so, in the end, another hook.
struct TypedHook<M: 'static>(CatchDrop<Deep<HookCall<M>>>);

type HookCall<M> = Box<dyn Fn(UndeliveredMessage<M>) + Send + Sync>;

/// Whether a thread runs a hook.
#[derive(Default)]
struct IsInHook(Cell<bool>);

impl MessageHooks {
    /// Sets the hook of a type, unless there is one.
    pub(super) fn set<M: Message>(
        self: &Arc<Self>,
        call: HookCall<M>,
    ) -> Result<Subscription, HookTaken> {
        let id = next_id();
        let hook = TypedHook(CatchDrop::new(Deep::new(call)));
        let hook = MessageHook { id, call: Arc::new(hook) };
        let refused = {
            let mut hooks = self.hooks.write();
            // ORDERING: Relaxed. A message that must come to the hook is lost after this call, in
            // an order that other means establish.
            self.is_used.store(true, Ordering::Relaxed);
            match hooks.entry(TypeId::of::<M>()) {
                std::collections::hash_map::Entry::Occupied(_) => Some(hook),
                std::collections::hash_map::Entry::Vacant(place) => {
                    place.insert(hook);
                    None
                }
            }
        };
        match refused {
            // Dropped without the lock: its destructor may be user code.
            Some(hook) => {
                drop(hook);
                Err(HookTaken { message: type_name::<M>() })
            }
            None => {
                let hooks: Arc<dyn UntypedTopic> = self.clone();
                Ok(Subscription::new(Arc::downgrade(&hooks), id))
            }
        }
    }

    /// Hands a message that was not delivered to the hook for its type, if there is one, and drops
    /// it otherwise. A panic of the hook or of the destructor is reported.
    #[cold]
    pub(super) fn hand_over<M: Message>(
        &self,
        message: M,
        actor: ActorId,
        actor_type: &'static str,
        cause: impl FnOnce() -> UndeliveredCause,
    ) {
        let Some(hook) = self.find(TypeId::of::<M>()) else {
            return drop_quietly(move || drop(message));
        };
        let Some(TypedHook(call)) = hook.downcast_ref::<TypedHook<M>>() else {
            unreachable!("hooks are kept by the types of their messages")
        };
        let undelivered = UndeliveredMessage { message, actor, actor_type, cause: cause() };
        // What a hook sends may be lost in turn, within that call.
        let is_in_hook = thread_extension::<IsInHook>();
        if is_in_hook.0.replace(true) {
            return drop_quietly(move || drop(undelivered));
        }
        let _ = catch(|| call(undelivered));
        is_in_hook.0.set(false);
    }

    fn find(&self, message: TypeId) -> Option<Arc<dyn Any + Send + Sync>> {
        // ORDERING: Relaxed. See `set`.
        if !self.is_used.load(Ordering::Relaxed) {
            return None;
        }
        self.hooks.read().get(&message).map(|hook| Arc::clone(&hook.call))
    }
}

impl UntypedTopic for MessageHooks {
    fn unsubscribe(&self, id: u64) {
        let removed = {
            let mut hooks = self.hooks.write();
            let message = hooks.iter().find(|(_, hook)| hook.id == id).map(|(message, _)| *message);
            message.and_then(|message| hooks.remove(&message))
        };
        drop(removed);
    }
}
