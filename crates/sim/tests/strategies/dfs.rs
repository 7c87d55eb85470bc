//! Depth-first search makes every run within its bounds, exactly once.

use std::collections::BTreeSet;

use coact_sim::{
    Bounds, Choice, DepthFirstSearch, RunDivergence, SchedulingOffer, SchedulingStrategy, TaskId,
};
use proptest::prelude::*;

use crate::toy::{Op, Program, programs, tasks};

fn search(program: &Program, bounds: Bounds) -> (Vec<Vec<Choice>>, DepthFirstSearch) {
    let (mut dfs, mut runs) = (DepthFirstSearch::new(bounds), Vec::new());
    while dfs.begin_run() {
        runs.push(program.run(&mut dfs));
        dfs.end_run().expect("the program is deterministic");
    }
    (runs, dfs)
}

/// In an order of their own; a run made twice stays in twice.
fn sorted(runs: impl IntoIterator<Item = Vec<Choice>>) -> Vec<String> {
    let mut runs: Vec<_> = runs.into_iter().map(|run| format!("{run:?}")).collect();
    runs.sort();
    runs
}

fn expected(program: &Program, limit: u32) -> Vec<String> {
    let runs = program.every_run().into_iter();
    sorted(runs.filter(|&(_, preemptions)| preemptions <= limit).map(|(run, _)| run))
}

fn interleavings(tasks: u64, steps: u64) -> u64 {
    let factorial = |n| (1..=n).product::<u64>();
    factorial(tasks * steps) / factorial(steps).pow(tasks as u32)
}

#[test]
fn the_number_of_interleavings_is_the_multinomial() {
    for (n, k) in [(1, 1), (1, 5), (2, 1), (2, 5), (3, 2), (3, 3), (4, 2), (5, 1)] {
        let (runs, dfs) = search(&Program::steps(n, k), Bounds::new());
        let distinct: BTreeSet<_> = runs.iter().map(|run| tasks(run)).collect();
        assert_eq!(runs.len(), distinct.len(), "{n} tasks of {k} steps");
        assert_eq!(runs.len() as u64, interleavings(n as u64, k as u64));
        assert!(dfs.is_exhaustive());
    }
}

#[test]
fn without_preemption_there_is_one_run_an_order_of_tasks() {
    let (runs, _) = search(&Program::steps(4, 3), Bounds::new().preemptions(0));
    assert_eq!(runs.len(), 4 * 3 * 2);
}

#[test]
fn preemption_bounds_leave_out_the_right_runs() {
    let programs = [
        Program::steps(2, 4),
        Program::steps(3, 3),
        Program::new(vec![vec![Op::Lock, Op::Step, Op::Unlock]; 3]),
        Program::new(vec![vec![Op::Step, Op::Yield, Op::Step]; 3]),
        Program::new(vec![vec![Op::Step, Op::Flip(3), Op::Step]; 2]),
    ];
    for program in programs {
        for limit in 0..5 {
            let (runs, _) = search(&program, Bounds::new().preemptions(limit));
            assert_eq!(sorted(runs), expected(&program, limit), "{program:?}, {limit}");
        }
    }
}

#[test]
fn the_first_run_has_no_preemption() {
    let mut dfs = DepthFirstSearch::new(Bounds::new());
    dfs.begin_run();
    let run = Program::steps(3, 2).run(&mut dfs);
    assert_eq!(tasks(&run), [0, 0, 1, 1, 2, 2]);
}

#[test]
fn a_depth_bound_explores_each_beginning_once() {
    let program = Program::steps(3, 3);
    for depth in 0..=9 {
        let (runs, dfs) = search(&program, Bounds::new().depth(depth as u64));
        let beginning = |run: &Vec<Choice>| run[..depth].to_vec();
        let explored = sorted(runs.iter().map(beginning));
        let mut expected = sorted(program.every_run().iter().map(|(run, _)| beginning(run)));
        expected.dedup();
        assert_eq!(explored, expected, "depth {depth}");
        // Two choices before the end, two tasks can still be left; at the last there is one.
        assert_eq!(dfs.is_exhaustive(), depth >= 8, "depth {depth}");
    }
}

#[test]
fn what_follows_the_depth_bound_is_fair() {
    // Both tasks wait for each other, yielding, until both have run ten times.
    let mut dfs = DepthFirstSearch::new(Bounds::new().depth(3));
    while dfs.begin_run() {
        let mut turns = [0; 2];
        for _ in 0..24 {
            let task = dfs.choose_task(&[TaskId(0), TaskId(1)], None);
            turns[task.0 as usize] += 1;
        }
        assert!(turns.iter().all(|&n| n >= 10), "{turns:?}");
        dfs.end_run().unwrap();
    }
    assert!(!dfs.is_exhaustive());
}

#[test]
fn a_program_without_choices_has_one_run() {
    let (runs, dfs) = search(&Program::steps(0, 0), Bounds::new());
    assert_eq!(runs.len(), 1);
    assert!(dfs.is_exhaustive());
}

const BOTH: [TaskId; 2] = [TaskId(0), TaskId(1)];

#[test]
fn a_runnable_set_that_changed_is_a_divergence() {
    let mut dfs = DepthFirstSearch::new(Bounds::new());
    dfs.begin_run();
    dfs.choose_task(&BOTH, None);
    dfs.choose_task(&BOTH, None);
    dfs.end_run().unwrap();

    dfs.begin_run();
    let strange = dfs.choose_task(&[TaskId(1)], None);
    assert_eq!(strange, TaskId(1), "the run goes on with what there is");
    assert_eq!(dfs.choose_value(7), 0);
    let tasks =
        |runnable: &[TaskId]| SchedulingOffer::Tasks { runnable: runnable.into(), current: None };
    let (expected, found) = (tasks(&BOTH), tasks(&BOTH[1..]));
    match dfs.end_run() {
        Err(RunDivergence::Offer { at: 0, expected: e, found: f }) => {
            assert_eq!((e, f), (expected, found));
        }
        other => panic!("{other:?}"),
    }
    assert!(!dfs.begin_run(), "the search cannot go on");
    assert!(!dfs.is_exhaustive());
}

#[test]
fn another_current_task_or_kind_of_choice_is_a_divergence() {
    let changes: [fn(&mut DepthFirstSearch) -> u64; 3] = [
        |dfs| dfs.choose_task(&BOTH, Some(TaskId(1))).0.into(),
        |dfs| dfs.choose_value(2),
        |dfs| dfs.choose_task(&[TaskId(0), TaskId(2)], None).0.into(),
    ];
    for change in changes {
        let mut dfs = DepthFirstSearch::new(Bounds::new());
        dfs.begin_run();
        dfs.choose_task(&BOTH, None);
        dfs.begin_run();
        change(&mut dfs);
        let divergence = dfs.end_run();
        assert!(matches!(divergence, Err(RunDivergence::Offer { at: 0, .. })), "{divergence:?}");
    }
}

#[test]
fn a_run_that_ends_within_the_repeated_path_is_a_divergence() {
    let mut dfs = DepthFirstSearch::new(Bounds::new());
    dfs.begin_run();
    dfs.choose_value(1);
    dfs.choose_value(2);
    dfs.begin_run();
    dfs.choose_value(1);
    let ended = RunDivergence::EndedEarly { at: 1, expected: 2 };
    assert_eq!(dfs.end_run(), Err(ended));
}

#[test]
#[should_panic(expected = "the run diverged at choice 0: the earlier run of the same choices \
                           offered a value below 2, this one offers a value below 3")]
fn an_unread_divergence_panics() {
    let mut dfs = DepthFirstSearch::new(Bounds::new());
    for bound in 2.. {
        assert!(dfs.begin_run());
        dfs.choose_value(bound);
    }
}

proptest! {
    #[test]
    fn any_program_is_searched_exactly(program in programs()) {
        let (runs, dfs) = search(&program, Bounds::new());
        prop_assert_eq!(sorted(runs), expected(&program, u32::MAX));
        prop_assert!(dfs.is_exhaustive());
    }

    #[test]
    fn any_program_is_searched_exactly_within_a_bound(program in programs(), limit in 0_u32..3) {
        let (runs, _) = search(&program, Bounds::new().preemptions(limit));
        prop_assert_eq!(sorted(runs), expected(&program, limit));
    }
}
