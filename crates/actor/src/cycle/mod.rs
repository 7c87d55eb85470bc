//! Asks that could never be answered: actors that are held while they wait for one another.
//!
//! An actor that [holds](crate::Context::hold) itself while it awaits an answer lets everything
//! else wait: messages to it, behaviours over it, and whatever stands behind those on other actors.
//! If the one that is to answer is among them, all of them wait for ever. Such a circle is closed
//! by an ask (or by an answer that is left to another actor), so that is when it is looked for:
//!
//! 1. An ask that is first awaited while its actor is held becomes a [`Wait`]: who waits, and where
//!    the message is (in whose queue, or with whom the answer lies). It is put into a [`table`].
//! 2. There it is followed [forwards](table), from whoever is to answer to
//!    whom that one waits for, and so on. Most asks end this at once, at an actor that waits for
//!    nobody and for which no behaviour was ever queued that others could hold up.
//! 3. Otherwise it is looked for in the next [`pass`], in which a [`search`] goes backwards from its actor, once that
//!    is parked: which of the waits can end only after it has gone on? Those whose message it has, those whose
//!    answer lies with it, and those whose message stands behind a behaviour that needs it: the core's
//!    [`blocked_set`](coact_core::internals::BlockedSet) tells. Then the same for each actor that waits so, until one comes
//!    back to an actor on the way, or nothing more is found.
//! 4. If one comes back, the ask on the circle fails that was made last: with the circle, by name.
//!
//! One who is held and waits for room in a full mailbox is in the same place as those whose messages take it up:
//! it is looked for as an ask of that actor is.
//!
//! What is found is certain: whoever is on the way stays parked, so nothing on the circle
//! moves. Asks of actors that are not held cost nothing of this.

mod holder;
mod pass;
mod report;
mod search;
mod table;
mod track;
mod wait;

pub(crate) use self::holder::{Holding, holder};
pub use self::report::{AskCycle, CycleAsk};
pub(crate) use self::track::Waiting;
pub(crate) use self::wait::{Blocked, SortedMailbox, Wait};
