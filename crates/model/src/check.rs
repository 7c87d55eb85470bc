//! The checker: decides whether the model allows a trace.
//!
//! # What is decided
//!
//! A trace is allowed if some run of the [machine](crate::Machine) explains it: the run performs
//! the program; each spawn rule fires between the call and the return of its spawn; each
//! behaviour's run rule fires before its `Started` and its end rule after its `Ended`; a skip fires
//! at its `Skipped`.
//!
//! # How
//!
//! First, what needs no order: each behaviour has exactly the events that its program demands
//! (`history`). What is left is a question about spawns. Let *n* range over the spawn operations of
//! the trace (a batch is one operation), and let
//!
//! - `call(n)` be the number before the call, and `done(n)` the least of the number after its
//!   return and the numbers at which its behaviours had their turns: the spawn took effect in
//!   between;
//! - **conflict edges** go from the operation of *b* to that of *b'* if they conflict and *b* had
//!   its turn first; it must have ended before *b'* started (`order` checks that first), and inside
//!   a batch the order must be that of the batch;
//! - **time edges** go from *n* to *m* if `done(n) < call(m)`. Program order, causality (a parent's
//!   own spawn before those that it makes) and "the spawns made in *b* precede those made in *b'*
//!   if *b* ended before *b'* started" are all time edges, because a body's spawns lie inside it.
//!
//! **The order is allowed if and only if these edges have no cycle.**
//!
//! *Necessary.* In a run that explains the trace, let *s(n)* be the instant at which *n*'s spawn
//! rule fires; `call(n) < s(n) < done(n)`, since a turn comes after its spawn. A time edge gives
//! `s(n) < done(n) < call(m) < s(m)`. For a conflict edge suppose `s(m) < s(n)`: then *b'* would be
//! before *b* in the pending list, or running, when *b* runs, against a premise of run. So *s*
//! increases along every edge, and there is no cycle.
//!
//! *Sufficient.* Without a cycle, let `earliest(n)` be the greatest `call(a)` over all *a* from
//! which conflict edges lead to *n*, *n* included. Then `earliest(n) < done(n)`: if
//! `done(n) < call(a)`, the time edge from *n* to *a* would close a cycle. So *s(n)* can be chosen
//! right after `earliest(n)`, ties in topological order, with `call(n) < s(n) < done(n)` and
//! increasing along conflict edges. Fire each spawn at *s(n)*, each run right before its `Started`,
//! each end right after its `Ended`. When *b* runs it is pending, since `s < done`. A conflicting
//! behaviour that runs at that moment would overlap with *b*; one that is pending before *b* was
//! spawned before it and has its turn after it, against *s* increasing along the edge from *b* to
//! it. So both premises of run hold, and the run explains the trace. ∎
//!
//! The checker follows the second half: it computes `earliest` along the conflict edges and
//! compares it with `done`, so time edges are never built. Neighbouring conflicts on each cown
//! suffice for the edges, as the others follow from them. The cost is that of sorting the turns on
//! each cown.
//!
//! Last, poison: on each cown it is changed only by behaviours that hold it exclusively, whose
//! order is now known; so replaying the turns in the order of their starts tells exactly who is
//! skipped, and what checked accesses see (`sight`).

mod history;
mod order;
mod sight;

#[cfg(test)]
mod tests;

use crate::plan::ProgramPlan;
use crate::program::Program;
use crate::trace::Trace;
use crate::violation::Violation;

/// Whether the model allows `trace` for `program`; the violation names the rule that is broken.
///
/// The trace must be complete: recorded until the runtime had no work left.
///
/// ```
/// use coact_model::{BehaviourId as B, BodyExit, Event, Program, Trace};
/// use coact_model::{SpawnCall, Spawner, check, write};
///
/// // Two spawns from one thread on one cown, which ran in the wrong order.
/// let program = Program::over(1)
///     .thread([SpawnCall::on([write(0)]).into(), SpawnCall::on([write(0)]).into()]);
/// let by = Spawner::Thread(0);
/// let trace = Trace::from_iter([
///     Event::Spawned { id: B(0), by, call: 0, ret: 1 },
///     Event::Spawned { id: B(1), by, call: 2, ret: 3 },
///     Event::Started { id: B(1), seq: 4 },
///     Event::Ended { id: B(1), seq: 5, exit: BodyExit::Done },
///     Event::Started { id: B(0), seq: 6 },
///     Event::Ended { id: B(0), seq: 7, exit: BodyExit::Done },
/// ]);
/// let violation = check(&program, &trace).unwrap_err();
/// assert_eq!(
///     violation.to_string(),
///     "b0 was spawned before b1 (by thread 0, in this order), but ran as if after it: b1 ran \
///      before b0 on c0; behaviours that conflict run in the order of their spawns (premise 1 of \
///      rule run)",
/// );
/// ```
///
/// # Errors
/// The first violation found. Order and poison are looked at only once all events are there.
pub fn check(program: &Program, trace: &Trace) -> Result<(), Violation> {
    let plan = ProgramPlan::of(program);
    let history = history::gather(&plan, trace)?;
    order::check(&history)?;
    sight::check(&history)
}
