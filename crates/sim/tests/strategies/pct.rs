//! PCT keeps its promise: a bug of depth d shows with probability 1/(n k^(d-1)) or better.

use coact_sim::{Pct, RandomWalk, SchedulingStrategy, Seed, TaskId};

use crate::toy::{Op, Program, place, tasks};

const TASKS: usize = 3;

/// In how many of `runs` runs of three tasks of `steps` steps the bug shows.
fn hits(
    mut strategy: impl SchedulingStrategy,
    steps: usize,
    runs: usize,
    bug: impl Fn(&[u32]) -> bool,
) -> usize {
    let program = Program::steps(TASKS, steps);
    let shows = |_: &usize| {
        strategy.begin_run();
        bug(&tasks(&program.run(&mut strategy)))
    };
    (0..runs).filter(shows).count()
}

/// The number of hits that the paper promises on average.
fn promised(runs: usize, steps: usize, depth: u32) -> usize {
    runs / (TASKS * (TASKS * steps).pow(depth - 1))
}

#[test]
fn depth_1_a_task_that_is_late() {
    // Task 0 begins only after task 1 has ended.
    let bug = |run: &[u32]| place(run, 1, 9) < place(run, 0, 0);
    let found = hits(Pct::new(Seed::new(0), 1), 10, 2000, bug);
    assert!(found >= promised(2000, 10, 1), "{found}");
}

#[test]
fn depth_2_a_task_that_is_interrupted() {
    // Task 1's step 7 comes between two steps of task 0.
    let bug = |run: &[u32]| {
        let interruption = place(run, 1, 7);
        place(run, 0, 11) < interruption && interruption < place(run, 0, 12)
    };
    let found = hits(Pct::new(Seed::new(0), 2), 20, 20_000, bug);
    assert!(found >= promised(20_000, 20, 2), "{found}");
}

#[test]
fn depth_3_two_tasks_that_interrupt_each_other() {
    let bug = |run: &[u32]| {
        let places = [place(run, 0, 2), place(run, 1, 4), place(run, 0, 3), place(run, 1, 5)];
        places.is_sorted()
    };
    let found = hits(Pct::new(Seed::new(0), 3), 7, 60_000, bug);
    assert!(found >= promised(60_000, 7, 3), "{found}");
}

#[test]
fn a_long_interruption_is_found_where_random_picks_fail() {
    // All of task 1 fits between two steps of task 0: one in millions for uniform picks.
    let bug =
        |run: &[u32]| place(run, 0, 9) < place(run, 1, 0) && place(run, 1, 19) < place(run, 0, 10);
    assert!(hits(Pct::new(Seed::new(0), 2), 20, 5000, bug) >= promised(5000, 20, 2));
    assert_eq!(hits(RandomWalk::new(Seed::new(0)), 20, 5000, bug), 0);
}

#[test]
fn a_task_that_waits_by_yielding_lets_the_others_go_on() {
    let mut pct = Pct::new(Seed::new(0), 3);
    for _ in 0..200 {
        pct.begin_run();
        // Task 0 spins until tasks 1 and 2 have each run 5 times.
        let (mut steps, mut turns) = ([0; 3], 0);
        let mut current = None;
        while steps[1] < 5 || steps[2] < 5 {
            let runnable: Vec<_> =
                (0..3).filter(|&t| t == 0 || steps[t] < 5).map(|t| TaskId(t as u32)).collect();
            let task = pct.choose_task(&runnable, current);
            steps[task.0 as usize] += 1;
            current = Some(task).filter(|t| t.0 != 0 && steps[t.0 as usize] < 5);
            turns += 1;
            assert!(turns <= 20, "task 0 spins while others could run");
        }
    }
}

#[test]
fn a_task_that_blocks_keeps_its_priority() {
    let all = [TaskId(0), TaskId(1), TaskId(2)];
    let mut pct = Pct::new(Seed::new(0), 1);
    for _ in 0..50 {
        pct.begin_run();
        let first = pct.choose_task(&all, None);
        let others: Vec<_> = all.into_iter().filter(|&task| task != first).collect();
        let second = pct.choose_task(&others, None);
        assert_eq!(pct.choose_task(&all, Some(second)), first);
    }
}

#[test]
fn a_program_with_locks_runs_to_its_end() {
    let program = Program::new(vec![vec![Op::Lock, Op::Step, Op::Flip(9), Op::Unlock]; 4]);
    let mut pct = Pct::new(Seed::new(1), 4);
    for _ in 0..100 {
        pct.begin_run();
        assert_eq!(program.run(&mut pct).len(), 4 * 5);
    }
}

#[test]
#[should_panic(expected = "the depth of a bug is at least 1")]
fn depth_0_is_refused() {
    let _ = Pct::new(Seed::new(0), 0);
}
