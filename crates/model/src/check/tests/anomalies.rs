//! Traces by hand, each with the violation that it shows, and near misses that are allowed.

use super::{by, end, on, over, panic, run, skip, thread, trace_of};
use crate::program::{BehaviourId as B, CownIndex, Op, Program, SpawnCall, Spawner, Variable};
use crate::trace::{BodyExit, Event, Trace};
use crate::violation::{BehaviourStep, ConflictOrder, NumberFault, OrderReason, Violation};
use crate::{check, checked, clear, read, write};

fn rejects(program: &Program, run: &[crate::Rule]) -> Violation {
    check(program, &trace_of(program, run)).unwrap_err()
}

fn accepts(program: &Program, run: &[crate::Rule]) {
    assert_eq!(check(program, &trace_of(program, run)), Ok(()));
}

fn before(first: usize, second: usize, cown: usize) -> ConflictOrder {
    ConflictOrder { first: B(first), second: B(second), cown: CownIndex(cown) }
}

/// Thread 0 spawns s1 = b0 on X and s2 = b1 on Y, thread 1 spawns b = b2 on both.
fn crossing() -> Program {
    Program::over(2).thread([on([write(0)]), on([write(1)])]).thread([on([write(0), write(1)])])
}

/// Intervals of the two threads' spawns that overlap, and turns as given.
fn crossed(turns: [(usize, u64, u64); 3], first_ret: u64) -> Trace {
    let (one, two) = (Spawner::Thread(0), Spawner::Thread(1));
    let spawned = [
        Event::Spawned { id: B(2), by: two, call: 0, ret: 99 },
        Event::Spawned { id: B(0), by: one, call: 1, ret: first_ret },
        Event::Spawned { id: B(1), by: one, call: first_ret + 1, ret: first_ret + 2 },
    ];
    let turns = turns.into_iter().flat_map(|(id, seq, end)| {
        [
            Event::Started { id: B(id), seq },
            Event::Ended { id: B(id), seq: end, exit: BodyExit::Done },
        ]
    });
    spawned.into_iter().chain(turns).collect()
}

#[test]
fn a_behaviour_appended_at_two_cowns_at_different_times_is_caught() {
    // X: b2, b0. Y: b1, b2. Each cown alone is in order, and both spawns of thread 0 are concurrent
    // with b2's; but no single instant of b2's spawn is before b0's and after b1's.
    let trace = crossed([(1, 10, 11), (2, 12, 13), (0, 14, 15)], 2);
    let violation = check(&crossing(), &trace).unwrap_err();
    let ran = vec![before(1, 2, 1), before(2, 0, 0)];
    let because = OrderReason::ProgramOrder(Spawner::Thread(0));
    assert_eq!(violation, Violation::Order { first: B(0), second: B(1), because, ran });
    assert_eq!(
        violation.to_string(),
        "b0 was spawned before b1 (by thread 0, in this order), but ran as if after it: b1 ran \
         before b2 on c1, which ran before b0 on c0; behaviours that conflict run in the order of \
         their spawns (premise 1 of rule run)"
    );
}

#[test]
fn a_behaviour_between_two_others_is_allowed() {
    // X: b0, b2. Y: b2, b1: the spawn of b2 fell between those of thread 0.
    let trace = crossed([(0, 10, 11), (2, 12, 13), (1, 14, 15)], 2);
    assert_eq!(check(&crossing(), &trace), Ok(()));
}

#[test]
fn a_spawn_that_returned_precedes_one_called_later_by_another_thread() {
    let program = Program::over(1).thread([on([write(0)])]).thread([on([write(0)])]);
    let runs = [thread(0), thread(1), run(1), end(1), run(0), end(0), over(0), over(1)];
    let Violation::Order { first, second, because, .. } = rejects(&program, &runs) else {
        panic!("a violation of order")
    };
    assert_eq!((first, second), (B(0), B(1)));
    assert!(matches!(because, OrderReason::RealTime { done, called } if done < called));
}

#[test]
fn a_behaviour_precedes_those_that_it_spawns() {
    // b0 on X spawns b1 on Y after another thread has spawned b2 on Y; then b1 may not run before
    // b2.
    let child = SpawnCall::on([write(0)]).body([on([write(1)])]);
    let program = Program::over(2).thread([child.into()]).thread([on([write(1)])]);
    let allowed = [thread(1), thread(0), run(0), by(0), over(0), over(1), end(0)];
    accepts(&program, &[&allowed[..], &[run(2), end(2), run(1), end(1)]].concat());
    rejects(&program, &[&allowed[..], &[run(1), end(1), run(2), end(2)]].concat());
}

#[test]
fn a_batch_has_taken_effect_once_one_of_its_behaviours_has_started() {
    // The call of the batch {b0 on X, b1 on Y} returns late. b2 on Y was spawned after the start of
    // b0, and ran before b1.
    let batch = Op::Batch(vec![SpawnCall::on([write(0)]), SpawnCall::on([write(1)])]);
    let program = Program::over(2).thread([batch]).thread([on([write(1)])]);
    let trace = |called| {
        let spawned = [(0, 0, 0, 50), (1, 0, 0, 50), (2, 1, called, 52)];
        let spawned = spawned.map(|(id, thread, call, ret)| Event::Spawned {
            id: B(id),
            by: Spawner::Thread(thread),
            call,
            ret,
        });
        let turns =
            [(0, 10, 11), (2, 20, 21), (1, 30, 31)].into_iter().flat_map(|(id, seq, end)| {
                let ended = Event::Ended { id: B(id), seq: end, exit: BodyExit::Done };
                [Event::Started { id: B(id), seq }, ended]
            });
        Trace::from_iter(spawned.into_iter().chain(turns))
    };
    assert_eq!(check(&program, &trace(5)), Ok(()));
    let because = OrderReason::RealTime { done: 10, called: 15 };
    let ran = vec![before(2, 1, 1)];
    let violation = Violation::Order { first: B(1), second: B(2), because, ran };
    assert_eq!(check(&program, &trace(15)), Err(violation));
}

#[test]
fn conflicting_behaviours_do_not_overlap_but_readers_may() {
    let program = |other| Program::over(1).thread([on([read(0)]), on([other])]);
    let runs = [thread(0), thread(0), over(0), run(0), run(1), end(1), end(0)];
    accepts(&program(read(0)), &runs);
    let violation = rejects(&program(write(0)), &runs);
    assert!(
        matches!(violation, Violation::Overlap { first: B(0), second: B(1), .. }),
        "{violation}"
    );
    let swapped = [thread(0), thread(0), over(0), run(1), run(0), end(1), end(0)];
    accepts(&program(read(0)), &swapped);
    assert!(matches!(
        rejects(&program(write(0)), &swapped),
        Violation::Overlap { first: B(1), .. }
    ));
}

#[test]
fn a_reader_does_not_overtake_a_writer() {
    let program = Program::over(1).thread([on([read(0)]), on([write(0)]), on([read(0)])]);
    let start = [thread(0), thread(0), thread(0), over(0)];
    let violation = rejects(
        &program,
        &[&start[..], &[run(0), run(2), end(0), end(2), run(1), end(1)]].concat(),
    );
    assert!(matches!(violation, Violation::Order { first: B(1), second: B(2), .. }), "{violation}");
}

#[test]
fn nothing_comes_between_the_spawns_of_a_batch() {
    let batch = Op::Batch(vec![SpawnCall::on([write(0)]), SpawnCall::on([write(1)])]);
    let program = Program::over(2).thread([batch]).thread([on([write(0), write(1)])]);
    let trace = |turns: [usize; 3]| {
        let spawned = [(0, 0), (1, 0), (2, 1)].map(|(id, thread)| {
            let (by, call) = (Spawner::Thread(thread), thread as u64);
            Event::Spawned { id: B(id), by, call, ret: call + 50 }
        });
        let turns = turns.into_iter().zip((10u64..).step_by(2)).flat_map(|(id, seq)| {
            let ended = Event::Ended { id: B(id), seq: seq + 1, exit: BodyExit::Done };
            [Event::Started { id: B(id), seq }, ended]
        });
        Trace::from_iter(spawned.into_iter().chain(turns))
    };
    assert_eq!(check(&program, &trace([0, 1, 2])), Ok(()));
    assert_eq!(check(&program, &trace([2, 1, 0])), Ok(()));
    let violation = check(&program, &trace([1, 2, 0])).unwrap_err();
    assert_eq!(violation, Violation::BatchSplit(vec![before(1, 2, 1), before(2, 0, 0)]));
    assert_eq!(
        violation.to_string(),
        "b1 ran before b2 on c1, which ran before b0 on c0, which is in one batch with the first; \
         nothing comes between the spawns of a batch"
    );
}

#[test]
fn a_batch_has_an_order_inside() {
    let batch = Op::Batch(vec![SpawnCall::on([write(0)]), SpawnCall::on([write(0)])]);
    let program = Program::over(1).thread([batch]);
    accepts(&program, &[thread(0), over(0), run(0), end(0), run(1), end(1)]);
    let violation = rejects(&program, &[thread(0), over(0), run(1), end(1), run(0), end(0)]);
    assert_eq!(violation, Violation::BatchOrder(before(1, 0, 0)));
}

#[test]
fn a_panic_poisons_exclusive_cowns_and_only_those() {
    let panics = SpawnCall::on([write(0), read(1)]).panics();
    let program = Program::over(2).thread([panics.into(), on([read(0)]), on([write(1)])]);
    let start = [thread(0), thread(0), thread(0), over(0), run(0), panic(0), end(0)];
    accepts(&program, &[&start[..], &[skip(1), run(2), end(2)]].concat());
    assert_eq!(
        rejects(&program, &[&start[..], &[run(1), end(1), run(2), end(2)]].concat()),
        Violation::NotSkipped { id: B(1), cown: CownIndex(0), by: B(0) }
    );
    assert_eq!(
        rejects(&program, &[&start[..], &[skip(1), skip(2)]].concat()),
        Violation::WronglySkipped(B(2))
    );
}

#[test]
fn a_checked_access_sees_poison_and_only_a_clearing_one_removes_it() {
    let ops = [
        SpawnCall::on([write(0)]).panics().into(),
        on([checked(0)]),
        on([write(0)]),
        on([clear(0)]),
        on([write(0)]),
    ];
    let program = Program::over(1).thread(ops);
    let start = [thread(0), thread(0), thread(0), thread(0), thread(0), over(0), run(0), panic(0)];
    let rest = [end(0), run(1), end(1), skip(2), run(3), end(3), run(4), end(4)];
    let mut trace = trace_of(&program, &[start, rest].concat());
    assert_eq!(check(&program, &trace), Ok(()));

    let sight = trace.events.iter_mut().find_map(|event| match event {
        Event::Saw { poisoned, .. } => Some(poisoned),
        _ => None,
    });
    *sight.expect("b1 looks at v0") = false;
    let (id, variable) = (B(1), Variable(0));
    let poisoned_by = Some(B(0));
    assert_eq!(check(&program, &trace), Err(Violation::WrongSight { id, variable, poisoned_by }));
}

#[test]
fn a_panic_of_a_checked_access_poisons_again() {
    let program =
        Program::over(1).thread([SpawnCall::on([clear(0)]).panics().into(), on([write(0)])]);
    let start = [thread(0), thread(0), over(0), run(0), panic(0), end(0)];
    accepts(&program, &[&start[..], &[skip(1)]].concat());
    rejects(&program, &[&start[..], &[run(1), end(1)]].concat());
}

#[test]
fn a_skipped_behaviour_takes_its_turn_in_order() {
    let program = Program::over(2).thread([
        SpawnCall::on([write(0)]).panics().into(),
        on([write(1)]),
        on([write(0), write(1)]),
        on([write(1)]),
    ]);
    let start = [thread(0), thread(0), thread(0), thread(0), over(0), run(0), panic(0), end(0)];
    accepts(&program, &[&start[..], &[run(1), end(1), skip(2), run(3), end(3)]].concat());
    let early =
        rejects(&program, &[&start[..], &[skip(2), run(1), end(1), run(3), end(3)]].concat());
    assert!(matches!(early, Violation::Order { first: B(1), second: B(2), .. }), "{early}");
}

#[test]
fn overlapping_sets_are_rejected_with_their_whole_batch() {
    let batch = Op::Batch(vec![SpawnCall::on([write(0)]), SpawnCall::on([write(0), write(1)])]);
    let program = Program::over(1).alias(0).thread([batch, on([write(0)])]);
    let step = crate::Rule::Step(Spawner::Thread(0));
    let allowed = trace_of(&program, &[step, thread(0), over(0), run(2), end(2)]);
    assert_eq!(check(&program, &allowed), Ok(()));
    let silent: Trace =
        allowed.events.iter().copied().filter(|e| *e != Event::Rejected { id: B(0) }).collect();
    assert_eq!(check(&program, &silent), Err(Violation::NotSpawned(B(0), Spawner::Thread(0))));
    let accepted =
        trace_of(&program, &[thread(0), run(0), end(0), run(1), end(1), thread(0), over(0)]);
    assert_eq!(check(&program, &accepted), Err(Violation::NotRejected(B(0), CownIndex(0))));
}

#[test]
fn impossible_recordings_are_told_from_violations_of_order() {
    let program = Program::over(1).thread([on([write(0)])]);
    let spawned = Event::Spawned { id: B(0), by: Spawner::Thread(0), call: 2, ret: 3 };
    let turn = |start, end| {
        let ended = Event::Ended { id: B(0), seq: end, exit: BodyExit::Done };
        check(
            &program,
            &Trace::from_iter([spawned, Event::Started { id: B(0), seq: start }, ended]),
        )
    };
    assert_eq!(turn(4, 5), Ok(()));
    assert_eq!(turn(1, 5), Err(Violation::Timing(B(0), NumberFault::StartBeforeCall)));
    assert_eq!(turn(5, 4), Err(Violation::Timing(B(0), NumberFault::EndBeforeStart)));
    assert_eq!(turn(3, 5), Err(Violation::Timing(B(0), NumberFault::NumberTwice(3))));
    let twice = Trace::from_iter([spawned, spawned]);
    assert_eq!(check(&program, &twice), Err(Violation::Twice(B(0), BehaviourStep::Spawned)));
}

/// Thread 0 spawns b0, which spawns b1, then the batch of b2 and b3, each on a cown of its own.
fn family() -> (Program, Trace) {
    let parent = SpawnCall::on([write(0)]).body([on([write(1)])]);
    let batch = Op::Batch(vec![SpawnCall::on([write(2)]), SpawnCall::on([write(3)])]);
    let program = Program::over(4).thread([parent.into(), batch]);
    let (outside, inside) = (Spawner::Thread(0), super::behaviour(0));
    let spawned =
        [(0, outside, 0, 10), (1, inside, 22, 24), (2, outside, 12, 14), (3, outside, 12, 14)];
    let spawned = spawned.map(|(id, by, call, ret)| Event::Spawned { id: B(id), by, call, ret });
    let turns = [(0, 20, 26), (1, 30, 32), (2, 34, 36), (3, 38, 40)];
    let turns = turns.into_iter().flat_map(|(id, seq, end)| {
        [
            Event::Started { id: B(id), seq },
            Event::Ended { id: B(id), seq: end, exit: BodyExit::Done },
        ]
    });
    let trace = Trace::from_iter(spawned.into_iter().chain(turns));
    assert_eq!(check(&program, &trace), Ok(()));
    (program, trace)
}

/// The violation after `change` has been made to the spawn of `id`.
fn respawned(id: usize, change: impl Fn(&mut Spawner, &mut u64, &mut u64)) -> Violation {
    let (program, mut trace) = family();
    for event in &mut trace.events {
        match event {
            Event::Spawned { id: spawned, by, call, ret } if spawned.0 == id => {
                change(by, call, ret)
            }
            _ => {}
        }
    }
    check(&program, &trace).unwrap_err()
}

#[test]
fn spawns_lie_where_the_program_puts_them() {
    let timing = |id, fault| Violation::Timing(B(id), fault);
    let by = Spawner::Thread(0);
    assert_eq!(respawned(1, |spawner, _, _| *spawner = by), Violation::WrongSpawner(B(1), by));
    assert_eq!(respawned(1, |_, call, _| *call = 19), timing(1, NumberFault::OutsideParent(B(0))));
    assert_eq!(respawned(1, |_, _, ret| *ret = 27), timing(1, NumberFault::OutsideParent(B(0))));
    assert_eq!(respawned(3, |_, _, ret| *ret = 15), timing(3, NumberFault::TornBatch(B(2))));
    assert_eq!(
        respawned(0, |_, _, ret| *ret = 13),
        timing(2, NumberFault::OutOfProgramOrder(B(0)))
    );
    assert_eq!(respawned(1, |_, call, _| *call = 25), timing(1, NumberFault::ReturnBeforeCall));
}

/// The violation after the events of `id` for which `drop` holds have given way to `more`.
fn altered(id: usize, drop: impl Fn(&Event) -> bool, more: &[Event]) -> Violation {
    let (program, mut trace) = family();
    trace.events.retain(|event| event.id() != B(id) || !drop(event));
    trace.events.extend(more);
    check(&program, &trace).unwrap_err()
}

#[test]
fn each_behaviour_has_the_events_that_its_program_demands() {
    let (nothing, ended) = (|_: &Event| false, |e: &Event| matches!(e, Event::Ended { .. }));
    let turn = |e: &Event| !matches!(e, Event::Spawned { .. });
    let skipped = |id| Event::Skipped { id: B(id), seq: 50 };
    let panicked = Event::Ended { id: B(3), seq: 40, exit: BodyExit::Panicked };
    assert_eq!(altered(3, |_| true, &[]), Violation::NotSpawned(B(3), Spawner::Thread(0)));
    assert_eq!(altered(3, turn, &[]), Violation::Lost(B(3)));
    assert_eq!(altered(3, ended, &[]), Violation::Unfinished(B(3)));
    assert_eq!(altered(3, ended, &[panicked]), Violation::WrongExit(B(3), BodyExit::Panicked));
    assert_eq!(altered(3, nothing, &[skipped(3)]), Violation::RanAndSkipped(B(3)));
    assert_eq!(altered(0, turn, &[skipped(0)]), Violation::Orphan(B(1), super::behaviour(0)));
    let rejected = Event::Rejected { id: B(3) };
    assert_eq!(altered(3, |_| true, &[rejected]), Violation::WronglyRejected(B(3)));
    assert_eq!(altered(3, nothing, &[skipped(4)]), Violation::Unknown(B(4)));
    let saw = Event::Saw { id: B(3), variable: Variable(3), poisoned: false };
    assert_eq!(altered(3, nothing, &[saw]), Violation::NoSuchMember(B(3), Variable(3)));
}
