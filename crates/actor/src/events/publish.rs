//! Reporting: publishing and counting the runtime's own events.

use std::any::type_name;

use coact_core::runtime::RuntimeHandle;

use super::bus::{EventBus, are_lives_watched};
use super::counts::count;
use super::kinds::{
    ActorFailed, ActorRestarted, ActorStarted, ActorStopped, DeadLetter, DropCause, LateReply,
    MessageDropped,
};
use super::undelivered::UndeliveredCause;
use crate::exit::ExitReason;
use crate::id::ActorId;
use crate::message::Message;
use crate::runtime_singleton::RuntimeService;

/// The actor that an event is about. Its type is only a name here, so that this code exists once.
#[derive(Clone, Copy)]
pub(crate) struct EventSubject {
    actor: ActorId,
    actor_type: &'static str,
}

impl EventSubject {
    #[inline]
    pub(crate) fn new<A>(actor: ActorId) -> Self {
        Self::named(actor, type_name::<A>())
    }

    /// The same with the name of its type.
    #[inline]
    pub(crate) fn named(actor: ActorId, actor_type: &'static str) -> Self {
        Self { actor, actor_type }
    }

    #[cold]
    pub(crate) fn missed(self, message: &'static str, reason: &ExitReason) {
        let Self { actor, actor_type } = self;
        let bus = EventBus::here();
        count(&bus.counts.dead_letters);
        let event = || DeadLetter { message, actor, actor_type, reason: reason.clone() };
        bus.dead_letters.publish_with(event);
    }

    #[cold]
    fn tell_start(self) {
        let Self { actor, actor_type } = self;
        EventBus::here().started.publish_with(|| ActorStarted { actor, actor_type });
    }

    #[cold]
    fn tell_end(self, reason: &ExitReason) {
        let Self { actor, actor_type } = self;
        let event = || ActorStopped { actor, actor_type, reason: reason.clone() };
        EventBus::here().stopped.publish_with(event);
    }

    #[cold]
    pub(crate) fn failed(self, reason: &ExitReason) {
        let Self { actor, actor_type } = self;
        let bus = EventBus::here();
        count(&bus.counts.failures);
        bus.failed.publish_with(|| ActorFailed { actor, actor_type, reason: reason.clone() });
    }

    #[cold]
    pub(crate) fn restarted(self, reason: &ExitReason) {
        let Self { actor, actor_type } = self;
        let bus = EventBus::here();
        count(&bus.counts.restarts);
        bus.restarted.publish_with(|| ActorRestarted { actor, actor_type, reason: reason.clone() });
    }
}

/// Reports that an actor has started. Inlined: in most programs only the look is left.
#[inline(always)]
pub(crate) fn actor_started(subject: impl FnOnce() -> EventSubject) {
    if are_lives_watched() {
        subject().tell_start();
    }
}

/// Reports that an actor has stopped.
#[inline(always)]
pub(crate) fn actor_stopped(subject: impl FnOnce() -> EventSubject, reason: &ExitReason) {
    if are_lives_watched() {
        subject().tell_end(reason);
    }
}

/// Reports that a mailbox drops a message, and hands the message to its hook.
#[cold]
pub(crate) fn message_dropped<M: Message>(
    home: RuntimeHandle,
    subject: EventSubject,
    message: M,
    cause: DropCause,
) {
    let bus = EventBus::of(home);
    report_dropped(bus, subject.actor, type_name::<M>(), cause);
    let EventSubject { actor, actor_type } = subject;
    bus.hooks.hand_over(message, actor, actor_type, || UndeliveredCause::Dropped(cause));
}

#[cold]
fn report_dropped(bus: &EventBus, actor: ActorId, message: &'static str, cause: DropCause) {
    count(&bus.counts.dropped_messages);
    if message == type_name::<MessageDropped>() {
        // The receiver has no room for the event that reports this.
        return;
    }
    bus.dropped.publish_with(|| MessageDropped { message, actor, cause });
}

/// Hands a dead letter to its hook.
#[cold]
pub(crate) fn drop_undelivered<M: Message>(subject: EventSubject, message: M, reason: &ExitReason) {
    let EventSubject { actor, actor_type } = subject;
    let cause = || UndeliveredCause::Ended(reason.clone());
    EventBus::here().hooks.hand_over(message, actor, actor_type, cause);
}

/// Reports that an answer of this type arrived too late.
#[cold]
pub(crate) fn late_reply(reply: &'static str) {
    let bus = EventBus::here();
    count(&bus.counts.late_replies);
    bus.late.publish_with(|| LateReply { reply });
}
