//! A program of a few tasks and one lock, run under a strategy or in every possible way.

use coact_sim::{Choice, SchedulingStrategy, TaskId};
use proptest::prelude::{Just, prop, prop_oneof};
use proptest::strategy::Strategy as Generator;

/// One step of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Op {
    /// Something that only this task sees.
    Step,
    /// Gives up the turn.
    Yield,
    /// Takes the lock, and cannot run before it is free.
    Lock,
    /// Frees the lock.
    Unlock,
    /// Asks for a value below this.
    Flip(u64),
}

/// The tasks' steps, and how far each is.
#[derive(Clone, Debug)]
pub struct Program {
    tasks: Vec<Vec<Op>>,
    at: Vec<usize>,
    holder: Option<TaskId>,
    /// The task that ran last, if it did not yield.
    running: Option<TaskId>,
}

impl Program {
    pub fn new(tasks: Vec<Vec<Op>>) -> Self {
        let at = vec![0; tasks.len()];
        Program { tasks, at, holder: None, running: None }
    }

    /// `tasks` tasks of `steps` steps each.
    pub fn steps(tasks: usize, steps: usize) -> Self {
        Program::new(vec![vec![Op::Step; steps]; tasks])
    }

    fn next_op(&self, TaskId(task): TaskId) -> Option<Op> {
        self.tasks[task as usize].get(self.at[task as usize]).copied()
    }

    fn runnable(&self) -> Vec<TaskId> {
        let can_run = |&task: &TaskId| match self.next_op(task) {
            None => false,
            Some(Op::Lock) => self.holder.is_none(),
            Some(_) => true,
        };
        (0..self.tasks.len() as u32).map(TaskId).filter(can_run).collect()
    }

    fn current(&self, runnable: &[TaskId]) -> Option<TaskId> {
        self.running.filter(|task| runnable.contains(task))
    }

    /// Takes a step of `task`. The bound is that of a value the task asks for.
    fn step(&mut self, task: TaskId) -> Option<u64> {
        let op = self.next_op(task).expect("a runnable task has a step");
        self.at[task.0 as usize] += 1;
        self.running = Some(task).filter(|_| op != Op::Yield);
        match op {
            Op::Lock => self.holder = Some(task),
            Op::Unlock => self.holder = None,
            Op::Flip(bound) => return Some(bound),
            Op::Step | Op::Yield => {}
        }
        None
    }

    /// Runs to the end, or to a deadlock, and returns the choices made.
    pub fn run(&self, strategy: &mut impl SchedulingStrategy) -> Vec<Choice> {
        let (mut program, mut trace) = (self.clone(), Vec::new());
        loop {
            let runnable = program.runnable();
            if runnable.is_empty() {
                return trace;
            }
            let task = strategy.choose_task(&runnable, program.current(&runnable));
            assert!(runnable.contains(&task), "task {task} cannot run");
            trace.push(Choice::Task(task));
            if let Some(bound) = program.step(task) {
                trace.push(Choice::Value(strategy.choose_value(bound)));
            }
        }
    }

    /// Every run there is, by brute force, with the number of its preemptions.
    pub fn every_run(&self) -> Vec<(Vec<Choice>, u32)> {
        let mut runs = Vec::new();
        self.extend_runs(&mut Vec::new(), 0, &mut runs);
        runs
    }

    fn extend_runs(
        &self,
        trace: &mut Vec<Choice>,
        preemptions: u32,
        runs: &mut Vec<(Vec<Choice>, u32)>,
    ) {
        let runnable = self.runnable();
        if runnable.is_empty() {
            runs.push((trace.clone(), preemptions));
        }
        let current = self.current(&runnable);
        for &task in &runnable {
            let left = current.is_some_and(|current| current != task);
            let mut after = self.clone();
            let bound = after.step(task);
            for value in 0..bound.unwrap_or(1) {
                let before = trace.len();
                trace.push(Choice::Task(task));
                trace.extend(bound.map(|_| Choice::Value(value)));
                after.extend_runs(trace, preemptions + u32::from(left), runs);
                trace.truncate(before);
            }
        }
    }
}

/// The tasks chosen in a run, without its values.
pub fn tasks(trace: &[Choice]) -> Vec<u32> {
    let task = |choice: &Choice| match choice {
        Choice::Task(TaskId(task)) => Some(*task),
        Choice::Value(_) => None,
    };
    trace.iter().filter_map(task).collect()
}

/// The place in a run of step `step` of `task`.
pub fn place(trace: &[u32], task: u32, step: usize) -> usize {
    let mut steps = (0..trace.len()).filter(|&i| trace[i] == task);
    steps.nth(step).expect("the task took that step")
}

/// Programs of up to three tasks and seven steps; they may deadlock.
pub fn programs() -> impl Generator<Value = Program> {
    let op = prop_oneof![
        4 => Just(Op::Step),
        1 => Just(Op::Yield),
        1 => Just(Op::Lock),
        1 => Just(Op::Unlock),
        1 => (1_u64..3).prop_map(Op::Flip),
    ];
    let task = |most| prop::collection::vec(op.clone(), 0..=most);
    (task(3), task(2), task(2)).prop_map(|(a, b, c)| Program::new(vec![a, b, c]))
}
