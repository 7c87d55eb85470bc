//! How messages are given to cases where a body waits for them, and which are skipped.

use std::mem::{forget, take};

use coact_actor::actor::{AskError, WeakAddr};
use coact_tuple::AnyTuple;
use tracing::{Level, debug, enabled};

use crate::cases::Cases;
use crate::dyn_actor::{DynActor, DynMessage};
use crate::received::{QueuedMessage, ReceivedMessage};
use crate::skipped::SkippedMessages;

/// What waits for messages in the middle of its code.
pub(super) trait ReceivingBody: Sized {
    fn received(&mut self) -> &mut ReceivedMessage;

    /// Works with the messages that were skipped. It must not wait meanwhile.
    fn with_skipped<R>(&mut self, work: impl FnOnce(&mut SkippedMessages<QueuedMessage>) -> R)
    -> R;

    fn with_own<R>(&self, work: impl FnOnce(&WeakAddr<DynActor>) -> R) -> R;

    /// Keeps the message that was received last, since no case takes it.
    #[cold]
    fn skip<R>(&mut self, cases: &Cases<'_, Self, R>, tuple: AnyTuple) {
        if enabled!(Level::DEBUG) {
            let actor = self.with_own(WeakAddr::id);
            debug!(%actor, "skipped: {}", cases.explain(&tuple));
        }
        let type_key = tuple.type_key();
        let queued = self.received().take_message(tuple);
        // Until the body goes on.
        self.with_own(|own| queued.note_kept(own, true));
        self.with_skipped(|skipped| skipped.push(type_key, false, queued));
    }

    /// Takes the oldest message that was skipped and that a case takes.
    #[inline]
    fn take_skipped<R>(&mut self, cases: &mut Cases<'_, Self, R>) -> Option<R> {
        if self.with_skipped(|skipped| skipped.is_empty()) {
            return None;
        }
        self.look_at_skipped(cases)
    }

    #[inline(never)]
    fn look_at_skipped<R>(&mut self, cases: &mut Cases<'_, Self, R>) -> Option<R> {
        let fits = |queued: &QueuedMessage| cases.may_take(&queued.message.tuple);
        let mut places = self.with_skipped(|skipped| {
            skipped.refit(fits);
            skipped.fitting()
        });
        loop {
            // Not borrowed while cases run, which may receive as well.
            let place = self.with_skipped(|skipped| places.next(skipped))?;
            let queued = self.with_skipped(|skipped| skipped.take(place));
            let Some(queued) = queued else { continue };
            self.with_own(|own| queued.note_kept(own, false));
            let QueuedMessage { message: DynMessage { mut tuple, header }, reply } = queued;
            self.received().begin(header, reply);
            let result = self.apply(cases, &mut tuple);
            if result.is_some() {
                self.with_skipped(|skipped| skipped.remove(place));
                return result;
            }
            let queued = self.received().take_message(tuple);
            self.with_own(|own| queued.note_kept(own, true));
            self.with_skipped(|skipped| skipped.put_back(place, queued));
        }
    }

    /// Gives what was received to the cases. If none takes it, it is as before.
    #[inline]
    fn apply<R>(&mut self, cases: &mut Cases<'_, Self, R>, tuple: &mut AnyTuple) -> Option<R> {
        let mut room = self.received().header.take_room();
        let turn = HandlingGuard { me: self };
        let result = cases.apply_in_place(turn.me, tuple, &mut room);
        if result.is_none() {
            turn.me.received().header.give_room(room);
            forget(turn);
        }
        result
    }
}

/// Gives what has come of a request to its cases.
///
/// # Panics
/// If none of them takes it.
#[track_caller]
pub(super) fn take_answer<C, R>(
    me: &mut C,
    cases: &mut Cases<'_, C, R>,
    answered: Result<AnyTuple, AskError>,
) -> R {
    let answered = match answered {
        Ok(tuple) => cases.apply(me, tuple),
        Err(AskError::Timeout(_)) => return cases.time_out(me).expect("there is an `after`"),
        Err(error) => cases.apply(me, AnyTuple::new(error)),
    };
    match answered {
        Ok(result) => result,
        Err(tuple) => panic!("there is no case for an answer: {}", cases.explain(&tuple)),
    }
}

/// While a message is handled. After a panic, what was received is dropped with it, so that an ask
/// fails for that reason.
struct HandlingGuard<'a, T: ReceivingBody> {
    me: &'a mut T,
}

impl<T: ReceivingBody> Drop for HandlingGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        self.me.received().clear();
    }
}

/// While another message is handled, whose cases receive themselves: that one comes back.
pub(super) struct NestedHandling<'a, T: ReceivingBody> {
    pub(super) me: &'a mut T,
    outer: ReceivedMessage,
}

impl<'a, T: ReceivingBody> NestedHandling<'a, T> {
    pub(super) fn new(me: &'a mut T) -> Self {
        let outer = take(me.received());
        me.with_own(|own| outer.note_kept(own, true));
        Self { me, outer }
    }
}

impl<T: ReceivingBody> Drop for NestedHandling<'_, T> {
    fn drop(&mut self) {
        self.me.with_own(|own| self.outer.note_kept(own, false));
        *self.me.received() = take(&mut self.outer);
    }
}
