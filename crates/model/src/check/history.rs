//! The history of each behaviour: its events, found complete, single, and possible in themselves.

use std::collections::BTreeMap;

use crate::plan::{PlannedBehaviour, ProgramPlan};
use crate::program::{BehaviourId, Spawner, Variable};
use crate::trace::{BodyExit, Event, Seq, Trace};
use crate::violation::{BehaviourStep, NumberFault, Violation};

/// What a trace tells of all behaviours that were spawned.
pub(super) struct TraceHistory<'p> {
    pub(super) plan: &'p ProgramPlan<'p>,
    /// By behaviour; `None` for one that was rejected, or whose parent did not run.
    lives: Vec<Option<BehaviourLife>>,
}

/// What happened to a behaviour that was spawned.
#[derive(Clone, Debug)]
pub(super) struct BehaviourLife {
    pub(super) id: BehaviourId,
    pub(super) call: Seq,
    pub(super) ret: Seq,
    /// The turn; start and end are the same number for a behaviour that was skipped.
    pub(super) start: Seq,
    pub(super) end: Seq,
    pub(super) skipped: bool,
    pub(super) saw: Vec<(Variable, bool)>,
}

impl TraceHistory<'_> {
    pub(super) fn lives(&self) -> impl Iterator<Item = &BehaviourLife> {
        self.lives.iter().flatten()
    }

    /// The life of a behaviour that was spawned.
    pub(super) fn life(&self, id: BehaviourId) -> &BehaviourLife {
        self.lives[id.0].as_ref().expect("a behaviour that was spawned")
    }

    /// Whether `spawner` came to perform its operations.
    fn ran(&self, spawner: Spawner) -> bool {
        match spawner {
            Spawner::Thread(_) => true,
            Spawner::Behaviour(id) => self.lives[id.0].as_ref().is_some_and(|life| !life.skipped),
        }
    }
}

/// Sorts the events of `trace` by behaviour, and checks what can be checked without order.
pub(super) fn gather<'p>(
    plan: &'p ProgramPlan<'p>,
    trace: &Trace,
) -> Result<TraceHistory<'p>, Violation> {
    let records = collect_records(plan, trace)?;
    let mut history = TraceHistory { plan, lives: Vec::with_capacity(records.len()) };
    for (behaviour, record) in plan.iter().zip(&records) {
        let life = live(behaviour, record, &history)?;
        history.lives.push(life);
    }
    history.lives().try_for_each(|life| check_numbers(life, &history))?;
    check_program_order(&history)?;
    check_distinct(&history)?;
    Ok(history)
}

/// All that was recorded of one behaviour.
#[derive(Clone, PartialEq, Default)]
struct BehaviourRecord {
    spawned: Option<(Spawner, Seq, Seq)>,
    rejected: Option<()>,
    started: Option<Seq>,
    ended: Option<(Seq, BodyExit)>,
    skipped: Option<Seq>,
    saw: Vec<(Variable, bool)>,
}

fn collect_records(
    plan: &ProgramPlan<'_>,
    trace: &Trace,
) -> Result<Vec<BehaviourRecord>, Violation> {
    let mut records = vec![BehaviourRecord::default(); plan.program.len()];
    for event in &trace.events {
        let id = event.id();
        let record = records.get_mut(id.0).ok_or(Violation::Unknown(id))?;
        let (deed, twice) = match *event {
            Event::Spawned { by, call, ret, .. } => {
                (BehaviourStep::Spawned, record.spawned.replace((by, call, ret)).is_some())
            }
            Event::Rejected { .. } => {
                (BehaviourStep::Rejected, record.rejected.replace(()).is_some())
            }
            Event::Started { seq, .. } => {
                (BehaviourStep::Started, record.started.replace(seq).is_some())
            }
            Event::Ended { seq, exit, .. } => {
                (BehaviourStep::Ended, record.ended.replace((seq, exit)).is_some())
            }
            Event::Skipped { seq, .. } => {
                (BehaviourStep::Skipped, record.skipped.replace(seq).is_some())
            }
            Event::Saw { variable, poisoned, .. } => {
                record.saw.push((variable, poisoned));
                continue;
            }
        };
        if twice {
            return Err(Violation::Twice(id, deed));
        }
    }
    Ok(records)
}

/// Whether `record` has what the program demands of `behaviour`, given the history of those before
/// it.
fn live(
    b: &PlannedBehaviour<'_>,
    record: &BehaviourRecord,
    history: &TraceHistory<'_>,
) -> Result<Option<BehaviourLife>, Violation> {
    let id = b.id();
    if !history.ran(b.by) {
        let silent = *record == BehaviourRecord::default();
        return if silent { Ok(None) } else { Err(Violation::Orphan(id, b.by)) };
    }
    if b.rejected {
        return check_rejected(b, record, history.plan).map(|()| None);
    }
    if record.rejected.is_some() {
        return Err(Violation::WronglyRejected(id));
    }
    let (by, call, ret) = record.spawned.ok_or(Violation::NotSpawned(id, b.by))?;
    if by != b.by {
        return Err(Violation::WrongSpawner(id, by));
    }
    let (start, end, skipped) = turn(b, record)?;
    Ok(Some(BehaviourLife { id, call, ret, start, end, skipped, saw: record.saw.clone() }))
}

fn check_rejected(
    b: &PlannedBehaviour<'_>,
    record: &BehaviourRecord,
    plan: &ProgramPlan<'_>,
) -> Result<(), Violation> {
    let nothing_else = BehaviourRecord { rejected: record.rejected, ..BehaviourRecord::default() };
    if *record != nothing_else {
        let overlap = b.op.spawns().iter().find_map(|spawn| plan.program.overlap(spawn));
        return Err(Violation::NotRejected(b.id(), overlap.expect("the cause of the rejection")));
    }
    record.rejected.ok_or(Violation::NotSpawned(b.id(), b.by))
}

fn turn(b: &PlannedBehaviour<'_>, record: &BehaviourRecord) -> Result<(Seq, Seq, bool), Violation> {
    let id = b.id();
    match (record.started, record.ended, record.skipped) {
        (None, None, None) => Err(Violation::Lost(id)),
        (None, None, Some(seq)) if record.saw.is_empty() => Ok((seq, seq, true)),
        (_, _, Some(_)) => Err(Violation::RanAndSkipped(id)),
        (Some(start), Some((end, exit)), None)
            if (exit == BodyExit::Panicked) == b.spawn.panics =>
        {
            Ok((start, end, false))
        }
        (Some(_), Some((_, exit)), None) => Err(Violation::WrongExit(id, exit)),
        _ => Err(Violation::Unfinished(id)),
    }
}

fn check_numbers(life: &BehaviourLife, history: &TraceHistory<'_>) -> Result<(), Violation> {
    let fault = |fault| Err(Violation::Timing(life.id, fault));
    if life.ret < life.call {
        return fault(NumberFault::ReturnBeforeCall);
    }
    if life.start < life.call {
        return fault(NumberFault::StartBeforeCall);
    }
    if life.end < life.start {
        return fault(NumberFault::EndBeforeStart);
    }
    let behaviour = &history.plan[life.id];
    if let Spawner::Behaviour(parent) = behaviour.by {
        let body = history.life(parent).start..history.life(parent).end;
        if !body.contains(&life.call) || !body.contains(&life.ret) {
            return fault(NumberFault::OutsideParent(parent));
        }
    }
    let leader = history.life(behaviour.leader());
    if (leader.call, leader.ret) != (life.call, life.ret) {
        return fault(NumberFault::TornBatch(leader.id));
    }
    Ok(())
}

/// The operations of one body or thread are called one after the other.
fn check_program_order(history: &TraceHistory<'_>) -> Result<(), Violation> {
    let mut last: BTreeMap<Spawner, &BehaviourLife> = BTreeMap::new();
    for life in history.lives() {
        let behaviour = &history.plan[life.id];
        let earlier = last.insert(behaviour.by, life);
        if let Some(earlier) = earlier
            && history.plan[earlier.id].leader() != behaviour.leader()
            && life.call < earlier.ret
        {
            return Err(Violation::Timing(life.id, NumberFault::OutOfProgramOrder(earlier.id)));
        }
    }
    Ok(())
}

/// No number was given out twice. The behaviours of a batch share those of their spawn, and a
/// behaviour that was skipped has one for start and end.
fn check_distinct(history: &TraceHistory<'_>) -> Result<(), Violation> {
    let mut taken = BTreeMap::new();
    for life in history.lives() {
        let leads = history.plan[life.id].leader() == life.id;
        let spawn = [life.call, life.ret].into_iter().filter(|_| leads);
        let end = Some(life.end).filter(|_| !life.skipped);
        for seq in spawn.chain([life.start]).chain(end) {
            if taken.insert(seq, life.id).is_some() {
                return Err(Violation::Timing(life.id, NumberFault::NumberTwice(seq)));
            }
        }
    }
    Ok(())
}
