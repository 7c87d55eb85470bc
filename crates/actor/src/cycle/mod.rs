//! Asks that could never be answered: actors that are held while they wait for one another.
//!
//! An actor that [holds](crate::Context::hold) itself while it awaits an answer lets everything
//! else wait: messages to it, behaviours over it, and whatever stands behind those on other actors.
//! If the one that is to answer is among them, all of them wait for ever. Such a circle is closed
//! by an ask (or by an answer that is left to another actor), so that is when it is looked for:
//!
//! 1. An ask that is first awaited while its actor is held becomes a [`Wait`]: who waits, and where
//!    the message is (in whose queue, or with whom the answer lies). It is put into a [`table`].
//! 2. There it is followed [forwards](table::Table::may_be_closed_by), from whoever is to answer to
//!    whom that one waits for, and so on. Most asks end this at once, at an actor that waits for
//!    nobody and for which no behaviour was ever queued that others could hold up.
//! 3. Otherwise, when the actor is parked, a [`search`] goes backwards from it: which of the waits can
//!    end only after it has gone on? Those whose message it has, those whose answer lies with it, and
//!    those whose message stands behind a behaviour that needs it: the core's
//!    [`survey`](coact_core::Survey) tells. Then the same for each actor that waits so, until the ask
//!    is found that began it, or nothing more is.
//! 4. If it is found, the ask on the circle fails that was made last: with the circle, by name.
//!
//! What is found is certain: while an actor is looked at it stays parked, so nothing on the circle
//! moves. Asks of actors that are not held cost nothing of this.

mod holder;
mod search;
mod table;
mod wait;

use std::fmt;

pub(crate) use self::holder::{Holding, holder};
pub(crate) use self::wait::{Wait, Waiting};
use crate::AnyAddr;

/// Asks that wait for one another in a circle: none of them could ever be answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskCycle {
    /// The asks, beginning with the one that has closed the circle and has failed. Each can be
    /// answered only after the one that asked the next has gone on.
    pub asks: Vec<CycleAsk>,
}

/// One ask of an [`AskCycle`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CycleAsk {
    /// Who is held until it is answered.
    pub by: AnyAddr,
    /// Who is to answer it.
    pub of: AnyAddr,
}

impl fmt::Display for AskCycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, CycleAsk { by, of }) in self.asks.iter().enumerate() {
            let next = &self.asks[(index + 1) % self.asks.len()].by;
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{by:?} waits for {of:?}")?;
            if of != next {
                write!(f, " (which stands behind a behaviour that needs {next:?})")?;
            }
        }
        Ok(())
    }
}
