//! Mutations: a trace that the model produced, changed in one place so that no run explains it.

use proptest::prelude::*;
use proptest::sample::Index;

use crate::generate::{ProgramShape, programs};
use crate::plan::ProgramPlan;
use crate::program::{BehaviourId, Program};
use crate::trace::{BodyExit, Event, Seq, Trace};
use crate::violation::Violation;
use crate::{check, random_trace};

/// The turns of a trace: behaviour, start and end.
fn turns(trace: &Trace) -> Vec<(BehaviourId, Seq, Seq)> {
    let ends = |id| {
        trace.events.iter().find_map(move |event| match *event {
            Event::Ended { id: ended, seq, .. } if ended == id => Some(seq),
            _ => None,
        })
    };
    let mut turns: Vec<_> = trace
        .events
        .iter()
        .filter_map(|event| match *event {
            Event::Started { id, seq } => Some((id, seq, ends(id)?)),
            _ => None,
        })
        .collect();
    turns.sort_by_key(|&(_, start, _)| start);
    turns
}

/// Two behaviours that conflict, ran, and have no children whose places would betray the change.
fn conflicting_leaves(program: &Program, trace: &Trace) -> Vec<[(BehaviourId, Seq, Seq); 2]> {
    let plan = ProgramPlan::of(program);
    let leaf = |id: BehaviourId| plan[id].spawn.body.is_empty();
    let leaves: Vec<_> = turns(trace).into_iter().filter(|turn| leaf(turn.0)).collect();
    let pairs =
        leaves.iter().enumerate().flat_map(|(i, &b)| leaves[..i].iter().map(move |&a| [a, b]));
    pairs.filter(|[a, b]| plan[a.0].footprint.conflicts(&plan[b.0].footprint)).collect()
}

fn retimed(trace: &Trace, id: BehaviourId, start: Seq, end: Seq) -> Trace {
    let retime = |event: &Event| match *event {
        Event::Started { id: other, .. } if other == id => Event::Started { id, seq: start },
        Event::Ended { id: other, exit, .. } if other == id => Event::Ended { id, seq: end, exit },
        event => event,
    };
    trace.events.iter().map(retime).collect()
}

/// Makes room behind each number, so that others fit in between.
fn spread(trace: &Trace) -> Trace {
    let wide = |seq: Seq| 4 * seq;
    let spread = |event: &Event| match *event {
        Event::Spawned { id, by, call, ret } => {
            Event::Spawned { id, by, call: wide(call), ret: wide(ret) }
        }
        Event::Started { id, seq } => Event::Started { id, seq: wide(seq) },
        Event::Ended { id, seq, exit } => Event::Ended { id, seq: wide(seq), exit },
        Event::Skipped { id, seq } => Event::Skipped { id, seq: wide(seq) },
        event => event,
    };
    trace.events.iter().map(spread).collect()
}

/// Programs in which much conflicts and nothing panics.
fn crowded() -> impl Strategy<Value = Program> {
    programs(ProgramShape { cowns: 2, aliases: 0, panics: false, ..ProgramShape::default() })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn swapped_turns_are_rejected(program in crowded(), seed: u64, pick: Index) {
        let program = one_thread(program);
        let trace = random_trace(&program, seed);
        let pairs = conflicting_leaves(&program, &trace);
        prop_assume!(!pairs.is_empty());
        let [(a, start_a, end_a), (b, start_b, end_b)] = *pick.get(&pairs);
        let swapped = retimed(&retimed(&trace, a, start_b, end_b), b, start_a, end_a);
        prop_assert!(check(&program, &swapped).is_err(), "{}\n{:?}", program, trace);
    }

    #[test]
    fn overlapping_turns_are_rejected(program in crowded(), seed: u64, pick: Index) {
        let trace = spread(&random_trace(&program, seed));
        let pairs = conflicting_leaves(&program, &trace);
        prop_assume!(!pairs.is_empty());
        let [(a, start_a, _), (_, start_b, _)] = *pick.get(&pairs);
        let late = retimed(&trace, a, start_a, start_b + 1);
        let violation = check(&program, &late).expect_err("a conflict overlaps");
        prop_assert!(matches!(violation, Violation::Overlap { .. }), "{}", violation);
    }

    #[test]
    fn lost_events_are_rejected(program in programs(ProgramShape::default()), seed: u64, pick: Index) {
        let mut trace = random_trace(&program, seed);
        trace.events.retain(|event| !matches!(event, Event::Saw { .. }));
        trace.events.swap_remove(pick.index(trace.events.len()));
        prop_assert!(check(&program, &trace).is_err());
    }

    #[test]
    fn doubled_events_are_rejected(program in programs(ProgramShape::default()), seed: u64, pick: Index) {
        let mut trace = random_trace(&program, seed);
        trace.events.retain(|event| !matches!(event, Event::Saw { .. }));
        trace.events.push(*pick.get(&trace.events));
        let violation = check(&program, &trace).expect_err("something happened twice");
        prop_assert!(matches!(violation, Violation::Twice(..)), "{}", violation);
    }

    #[test]
    fn wrongly_skipped_behaviours_are_rejected(program in crowded(), seed: u64, pick: Index) {
        let trace = random_trace(&program, seed);
        let plan = ProgramPlan::of(&program);
        let leaves = turns(&trace).into_iter().filter(|turn| plan[turn.0].spawn.body.is_empty());
        let leaves: Vec<_> = leaves.collect();
        let (id, seq, _) = *pick.get(&leaves);
        let looked_at = |event: &Event| event.id() == id && !matches!(event, Event::Spawned { .. });
        let mut skipped = trace;
        skipped.events.retain(|event| !looked_at(event));
        skipped.events.push(Event::Skipped { id, seq });
        prop_assert_eq!(check(&program, &skipped), Err(Violation::WronglySkipped(id)));
    }

    #[test]
    fn behaviours_that_had_to_be_skipped_are_rejected(
        program in programs(ProgramShape { aliases: 0, depth: 1, ..ProgramShape::default() }),
        seed: u64,
    ) {
        let trace = spread(&random_trace(&program, seed));
        let plan = ProgramPlan::of(&program);
        let skips = trace.events.iter().find_map(|event| match *event {
            Event::Skipped { id, seq } if plan[id].spawn.body.is_empty() => Some((id, seq)),
            _ => None,
        });
        prop_assume!(skips.is_some());
        let (id, seq) = skips.expect("assumed");
        let exit = if plan[id].spawn.panics { BodyExit::Panicked } else { BodyExit::Done };
        let mut ran = trace.clone();
        ran.events.retain(|event| *event != Event::Skipped { id, seq });
        ran.events.push(Event::Started { id, seq });
        ran.events.push(Event::Ended { id, seq: seq + 1, exit });
        let violation = check(&program, &ran).expect_err("it had to be skipped");
        prop_assert!(matches!(violation, Violation::NotSkipped { .. }), "{}", violation);
    }
}

/// The program's first thread alone, without nesting: its order is total on each cown.
fn one_thread(program: Program) -> Program {
    let mut ops = program.threads()[0].clone();
    for op in &mut ops {
        let spawns = match op {
            crate::Op::Spawn(spawn) => std::slice::from_mut(spawn),
            crate::Op::Batch(spawns) => spawns,
        };
        spawns.iter_mut().for_each(|spawn| spawn.body.clear());
    }
    Program::over(program.cowns()).thread(ops)
}
