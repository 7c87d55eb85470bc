//! Asks that could never be answered: actors that are held while they wait for one another.
//!
//! An actor that [holds](crate::Context::hold) itself while it awaits an answer keeps everything
//! else waiting: messages to it, behaviours over it, and whatever waits behind those on other
//! actors. If the actor that should answer is among them, all of them wait forever. An ask closes
//! such a circle (or an answer that is left to another actor does), so that is when it is looked
//! for:
//!
//! 1. An ask that is first awaited while its actor is held becomes an [`AskWait`]: the waiting
//!    actor, and where the message is (in which queue, or with which actor the answer lies). It is
//!    put into a [`table`].
//! 2. There it is followed [forwards](table), from the actor that should answer to the one that
//!    this actor waits for, and so on. Most asks end this immediately, at an actor that waits for
//!    nothing and for which no behaviour was ever queued that others could hold up.
//! 3. Otherwise the next [`pass`] examines it. In the pass a [`search`] goes backwards from its
//!    actor, once that is parked: which of the waits can end only after the actor has continued?
//!    Those whose message it has, those whose answer lies with it, and those whose message waits
//!    behind a behaviour that needs it: the core's
//!    [`blocked_set`](coact_core::internals::BlockedSet) contains these. Then the same for each
//!    actor that waits this way, until the search returns to an actor on its path, or finds nothing
//!    more.
//! 4. If it returns to one, the most recent ask on the circle fails; the error names the circle.
//!
//! A held actor that waits for room in a full mailbox is in the same situation as the messages that
//! take up the room: its wait is treated like an ask of that actor.
//!
//! What is found is certain: every actor on the path stays parked, so nothing on the circle moves.
//! Asks of actors that are not held have none of this cost.

mod held_actor;
mod record_waits;
mod report;
mod search;
mod search_schedule;
mod table;
mod wait;

pub(crate) use self::held_actor::{HeldActorGuard, held_actor};
pub(crate) use self::record_waits::TrackedWait;
pub use self::report::{AskCycle, CycleAsk};
pub(crate) use self::wait::{AskWait, QueueBlockage, SortedMailbox};
