//! First come, first served.

use coact_sim::{FifoOrder, SchedulingStrategy, TaskId};

use crate::toy::{Op, Program, tasks};

fn run(program: &Program) -> Vec<u32> {
    let mut fifo = FifoOrder::new();
    assert!(fifo.begin_run());
    let trace = program.run(&mut fifo);
    assert!(!fifo.begin_run(), "there is one run");
    tasks(&trace)
}

#[test]
fn no_task_is_preempted() {
    assert_eq!(run(&Program::steps(3, 2)), [0, 0, 1, 1, 2, 2]);
}

#[test]
fn those_who_yield_take_turns() {
    let program = Program::new(vec![vec![Op::Yield; 3]; 3]);
    assert_eq!(run(&program), [0, 1, 2, 0, 1, 2, 0, 1, 2]);
}

#[test]
fn the_task_that_waited_longest_goes_first() {
    let mut fifo = FifoOrder::new();
    fifo.begin_run();
    let ids = |ids: &[u32]| ids.iter().copied().map(TaskId).collect::<Vec<_>>();
    assert_eq!(fifo.choose_task(&ids(&[1, 3]), None), TaskId(1));
    assert_eq!(fifo.choose_task(&ids(&[0, 3]), None), TaskId(3));
    // Task 3 is blocked and runnable again: behind 0, and behind 2, which came meanwhile.
    assert_eq!(fifo.choose_task(&ids(&[0, 2]), None), TaskId(0));
    assert_eq!(fifo.choose_task(&ids(&[2, 3]), None), TaskId(2));
    assert_eq!(fifo.choose_task(&ids(&[3]), None), TaskId(3));
}

#[test]
fn a_task_that_is_blocked_while_waiting_loses_its_place() {
    let mut fifo = FifoOrder::new();
    fifo.begin_run();
    let ids = |ids: &[u32]| ids.iter().copied().map(TaskId).collect::<Vec<_>>();
    assert_eq!(fifo.choose_task(&ids(&[0, 1, 2]), None), TaskId(0));
    // Task 1 waited from the start, but task 0 took what it needs.
    assert_eq!(fifo.choose_task(&ids(&[2]), None), TaskId(2));
    assert_eq!(fifo.choose_task(&ids(&[3]), None), TaskId(3));
    assert_eq!(fifo.choose_task(&ids(&[1, 4]), None), TaskId(1));
}

#[test]
fn a_lock_keeps_those_who_wait_for_it_out() {
    let task = vec![Op::Lock, Op::Yield, Op::Unlock];
    assert_eq!(run(&Program::new(vec![task; 2])), [0, 0, 0, 1, 1, 1]);
}
