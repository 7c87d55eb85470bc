//! Violations: how a trace departs from the model, in terms of its behaviours, cowns and rules.

use std::error::Error;
use std::fmt;

use crate::program::{BehaviourId, CownIndex, Spawner, Variable};
use crate::trace::{BodyExit, Seq};

/// Why the model does not allow a trace. [`Display`](fmt::Display) says it in words.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Violation {
    /// The trace names a behaviour that the program does not have.
    Unknown(BehaviourId),
    /// Something was recorded twice that happens once.
    Twice(BehaviourId, BehaviourStep),
    /// Something was recorded of a behaviour whose spawner never came to spawn it.
    Orphan(BehaviourId, Spawner),
    /// The spawner ran, and did not spawn the behaviour.
    NotSpawned(BehaviourId, Spawner),
    /// The behaviour was spawned by someone else.
    WrongSpawner(BehaviourId, Spawner),
    /// A set that names a cown twice was accepted.
    NotRejected(BehaviourId, CownIndex),
    /// A set without overlap was rejected.
    WronglyRejected(BehaviourId),
    /// A spawned behaviour neither ran nor was skipped.
    Lost(BehaviourId),
    /// A behaviour started and never ended, or ended and never started.
    Unfinished(BehaviourId),
    /// A behaviour ran and was skipped.
    RanAndSkipped(BehaviourId),
    /// A body left in another way than the program says.
    WrongExit(BehaviourId, BodyExit),
    /// The numbers of one behaviour cannot be.
    Timing(BehaviourId, NumberFault),
    /// Two conflicting behaviours ran at the same time.
    Overlap {
        /// The one that started first.
        first: BehaviourId,
        /// When the first one ended.
        ended: Seq,
        /// The one that started before the first had ended.
        second: BehaviourId,
        /// When the second one started.
        started: Seq,
        /// A cown over which they conflict.
        cown: CownIndex,
    },
    /// Conflicting behaviours did not run in the order in which they were spawned.
    Order {
        /// Spawned first.
        first: BehaviourId,
        /// Spawned later.
        second: BehaviourId,
        /// How the order of their spawns is known.
        because: OrderReason,
        /// The order in which they ran, from `second` to `first`.
        ran: Vec<ConflictOrder>,
    },
    /// Two conflicting behaviours of one batch did not run in the order of the batch.
    BatchOrder(ConflictOrder),
    /// Behaviours ran as if their spawns had come between those of a batch: each ran before the
    /// next, and the last one's spawn is one step with the first one's.
    BatchSplit(Vec<ConflictOrder>),
    /// A behaviour ran although a cown that it does not check was poisoned.
    NotSkipped {
        /// The behaviour.
        id: BehaviourId,
        /// The poisoned cown.
        cown: CownIndex,
        /// The behaviour whose panic poisoned it.
        by: BehaviourId,
    },
    /// A behaviour was skipped although all cowns were sound that it does not check.
    WronglySkipped(BehaviourId),
    /// A checked member was seen poisoned although it was sound, or the other way round.
    WrongSight {
        /// The behaviour.
        id: BehaviourId,
        /// The member it looked at.
        variable: Variable,
        /// Who had poisoned the cown: `None` if it was sound.
        poisoned_by: Option<BehaviourId>,
    },
    /// A behaviour looked at the poison of a variable that is no checked member of its set.
    NoSuchMember(BehaviourId, Variable),
}

/// What happens to a behaviour once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BehaviourStep {
    /// It is spawned.
    Spawned,
    /// Its spawn is rejected.
    Rejected,
    /// It starts.
    Started,
    /// It ends.
    Ended,
    /// It is skipped.
    Skipped,
}

/// Numbers that no run can have produced, if they were taken where they must be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NumberFault {
    /// Its spawn returned before it was called.
    ReturnBeforeCall,
    /// It started, or was skipped, before its spawn was called.
    StartBeforeCall,
    /// It ended before it started.
    EndBeforeStart,
    /// Its spawn is not inside the body of its parent.
    OutsideParent(BehaviourId),
    /// Its spawn was called before an earlier operation of the same body had returned.
    OutOfProgramOrder(BehaviourId),
    /// Its spawn has another interval than the rest of its batch.
    TornBatch(BehaviourId),
    /// One of its numbers was given out twice.
    NumberTwice(Seq),
}

/// Two conflicting behaviours, and the order in which they ran.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConflictOrder {
    /// Ran first.
    pub first: BehaviourId,
    /// Ran later.
    pub second: BehaviourId,
    /// A cown over which they conflict.
    pub cown: CownIndex,
}

/// How it is known that one spawn came before another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OrderReason {
    /// They are operations of one body or thread, in this order.
    ProgramOrder(Spawner),
    /// The behaviour given spawned the second, and runs only after the first spawn.
    Parent(BehaviourId),
    /// The first spawn had taken effect at `done`, and the second was called at `called`.
    RealTime {
        /// When the first spawn had returned, or the behaviour had started.
        done: Seq,
        /// When the second spawn was called.
        called: Seq,
    },
}

impl Error for Violation {}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::Unknown(id) => write!(f, "the program has no behaviour {id}"),
            Violation::Twice(id, deed) => {
                write!(f, "{id} {deed} twice; each behaviour is spawned once and has one turn")
            }
            Violation::Orphan(id, by) => {
                write!(f, "{id} is in the trace, but {by}, which spawns it, never came to that")
            }
            Violation::NotSpawned(id, by) => {
                write!(f, "{by} ran, but {id}, which it spawns, was neither spawned nor rejected")
            }
            Violation::WrongSpawner(id, by) => {
                write!(f, "{id} was spawned by {by}, which does not spawn it")
            }
            Violation::NotRejected(id, cown) => write!(
                f,
                "the spawn of {id} was accepted, but names {cown} twice (or is in one batch with a \
                 set that does), so nothing of it may be enqueued"
            ),
            Violation::WronglyRejected(id) => {
                write!(f, "{id} was rejected, but its spawn names no cown twice")
            }
            Violation::Lost(id) => {
                write!(
                    f,
                    "{id} was spawned, but never had its turn: it neither ran nor was skipped"
                )
            }
            Violation::Unfinished(id) => write!(f, "{id} has only one of its start and its end"),
            Violation::RanAndSkipped(id) => write!(f, "{id} ran and was skipped"),
            Violation::WrongExit(id, BodyExit::Done) => {
                write!(f, "{id} returned, but had to panic")
            }
            Violation::WrongExit(id, BodyExit::Panicked) => {
                write!(f, "{id} panicked, but had to return")
            }
            Violation::Timing(id, fault) => write!(f, "{id} {fault}"),
            Violation::Overlap { first, ended, second, started, cown } => write!(
                f,
                "{second} started at {started} while {first} had {cown} until {ended}; behaviours \
                 that conflict never run at the same time (premise 2 of rule run)"
            ),
            Violation::Order { first, second, because, ran } => {
                write!(
                    f,
                    "{first} was spawned before {second} ({because}), but ran as if after it: "
                )?;
                chain(f, ran)?;
                write!(
                    f,
                    "; behaviours that conflict run in the order of their spawns \
                     (premise 1 of rule run)"
                )
            }
            Violation::BatchOrder(ConflictOrder { first, second, cown }) => write!(
                f,
                "{first} ran before {second} on {cown}, but comes after it in their batch"
            ),
            Violation::BatchSplit(ran) => {
                chain(f, ran)?;
                write!(
                    f,
                    ", which is in one batch with the first; nothing comes between the \
                     spawns of a batch"
                )
            }
            Violation::NotSkipped { id, cown, by } => {
                write!(f, "{id} ran, but had to be skipped: the panic of {by} had poisoned {cown}")
            }
            Violation::WronglySkipped(id) => {
                write!(f, "{id} was skipped, but no cown was poisoned that it accesses unchecked")
            }
            Violation::WrongSight { id, variable, poisoned_by: Some(by) } => {
                write!(f, "{id} saw {variable} sound, but the panic of {by} had poisoned it")
            }
            Violation::WrongSight { id, variable, poisoned_by: None } => {
                write!(f, "{id} saw {variable} poisoned, but it was sound")
            }
            Violation::NoSuchMember(id, variable) => {
                write!(f, "{id} looked at {variable}, which is no checked member of its set")
            }
        }
    }
}

/// Writes a chain of behaviours; where one link does not begin with the end of the last, the two
/// behaviours belong to one batch.
fn chain(f: &mut fmt::Formatter<'_>, links: &[ConflictOrder]) -> fmt::Result {
    let mut last = None;
    for &ConflictOrder { first, second, cown } in links {
        match last {
            None => write!(f, "{first}")?,
            Some(last) if last == first => write!(f, ", which")?,
            Some(_) => write!(f, ", in one batch with {first}, which")?,
        }
        write!(f, " ran before {second} on {cown}")?;
        last = Some(second);
    }
    Ok(())
}

impl fmt::Display for BehaviourStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            BehaviourStep::Spawned => "was spawned",
            BehaviourStep::Rejected => "was rejected",
            BehaviourStep::Started => "started",
            BehaviourStep::Ended => "ended",
            BehaviourStep::Skipped => "was skipped",
        })
    }
}

impl fmt::Display for NumberFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NumberFault::ReturnBeforeCall => {
                write!(f, "has a spawn that returned before it was called")
            }
            NumberFault::StartBeforeCall => write!(f, "had its turn before its spawn was called"),
            NumberFault::EndBeforeStart => write!(f, "ended before it started"),
            NumberFault::OutsideParent(parent) => {
                write!(f, "was spawned outside the body of {parent}")
            }
            NumberFault::OutOfProgramOrder(earlier) => {
                write!(f, "was spawned before the spawn of {earlier}, which comes first, returned")
            }
            NumberFault::TornBatch(other) => {
                write!(f, "was not spawned in one call with {other}, which is in its batch")
            }
            NumberFault::NumberTwice(seq) => {
                write!(f, "has number {seq}, which was given out twice")
            }
        }
    }
}

impl fmt::Display for OrderReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OrderReason::ProgramOrder(by) => write!(f, "by {by}, in this order"),
            OrderReason::Parent(parent) => write!(f, "which {parent} spawned while it ran"),
            OrderReason::RealTime { done, called } => {
                write!(f, "the one had taken effect by {done}, the other was called at {called}")
            }
        }
    }
}
