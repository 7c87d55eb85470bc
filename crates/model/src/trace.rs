//! Traces: what a runtime did with a program, as seen from inside the recorded actions.
//!
//! All sequence numbers of a trace come from one counter, so they are distinct and a smaller one
//! was taken earlier. Where each is taken decides what a trace can prove:
//!
//! | number | taken |
//! | --- | --- |
//! | `Spawned::call`, `Spawned::ret` | right before the call that spawns, right after it returned |
//! | `Started::seq` | first thing in the body |
//! | `Ended::seq` | last thing in the body, before the panic of a body that panics leaves it |
//! | `Skipped::seq` | while the skipped behaviour has its turn: when its closure is dropped |
//!
//! So the body lies inside the time for which the behaviour holds its cowns, and the moment at
//! which a spawn took effect lies between its call and its return. The list is in no particular
//! order. [`TraceRecorder`](crate::TraceRecorder) takes the numbers at these places.

use crate::program::{BehaviourId, Spawner, Variable};

/// A reading of the counter that orders a trace.
pub type Seq = u64;

/// How a body left.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BodyExit {
    /// It returned.
    Done,
    /// It panicked.
    Panicked,
}

/// One thing that a runtime did.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Event {
    /// A behaviour was spawned. The behaviours of a batch share `call` and `ret`.
    Spawned {
        /// The behaviour.
        id: BehaviourId,
        /// Who spawned it.
        by: Spawner,
        /// Before the call.
        call: Seq,
        /// After it returned.
        ret: Seq,
    },
    /// A spawn was refused because the set names a cown twice.
    Rejected {
        /// The behaviour that there will never be.
        id: BehaviourId,
    },
    /// A behaviour's body started.
    Started {
        /// The behaviour.
        id: BehaviourId,
        /// When.
        seq: Seq,
    },
    /// A running behaviour looked at a checked member. Optional: checked if it is there.
    Saw {
        /// The behaviour.
        id: BehaviourId,
        /// The member it looked at.
        variable: Variable,
        /// Whether the cown was poisoned when the body started.
        poisoned: bool,
    },
    /// A behaviour's body left.
    Ended {
        /// The behaviour.
        id: BehaviourId,
        /// When.
        seq: Seq,
        /// How.
        exit: BodyExit,
    },
    /// A behaviour took its turn on a poisoned cown and did not run.
    Skipped {
        /// The behaviour.
        id: BehaviourId,
        /// When.
        seq: Seq,
    },
}

impl Event {
    /// The behaviour that the event is about.
    pub fn id(&self) -> BehaviourId {
        match *self {
            Event::Spawned { id, .. }
            | Event::Rejected { id }
            | Event::Started { id, .. }
            | Event::Saw { id, .. }
            | Event::Ended { id, .. }
            | Event::Skipped { id, .. } => id,
        }
    }
}

/// Everything that a runtime did until no work was left.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trace {
    /// The events, in any order: their sequence numbers order them.
    pub events: Vec<Event>,
}

impl FromIterator<Event> for Trace {
    fn from_iter<I: IntoIterator<Item = Event>>(events: I) -> Self {
        Trace { events: events.into_iter().collect() }
    }
}
