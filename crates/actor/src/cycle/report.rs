//! A circle of asks, as users see it.

use std::fmt;

use crate::any_addr::AnyAddr;

/// Asks that wait for one another in a circle, so that none of them could ever be answered.
/// (Waiting for room in a mailbox counts as an ask of its actor.)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskCycle {
    /// The asks, starting with the one that closed the circle and failed. Each can be answered only
    /// after the actor that made the next has continued.
    pub asks: Vec<CycleAsk>,
}

/// One ask of an [`AskCycle`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CycleAsk {
    /// The actor that is held until it is answered.
    pub by: AnyAddr,
    /// The actor that should answer it.
    pub of: AnyAddr,
    /// The message waits for room in a full mailbox: it is an ask that is not sent yet, or not an
    /// ask at all.
    pub for_room: bool,
}

impl fmt::Display for AskCycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, CycleAsk { by, of, for_room }) in self.asks.iter().enumerate() {
            let what = if *for_room { "room at " } else { "" };
            let next = &self.asks[(index + 1) % self.asks.len()].by;
            let comma = if index == 0 { "" } else { ", " };
            write!(f, "{comma}{by:?} waits for {what}{of:?}")?;
            if of != next {
                write!(f, " (which waits behind a behaviour that needs {next:?})")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for AskCycle {}
