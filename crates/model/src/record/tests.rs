//! Tests of the recorder, on a runtime as small as can be: one queue, one worker, real threads.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;

use proptest::prelude::*;

use super::TraceRecorder;
use crate::generate::{ProgramShape, programs};
use crate::program::{Access, CownIndex, Op, Program, SpawnCall, Spawner};
use crate::trace::Trace;
use crate::{Outcome, check, outcomes, write};

/// A closure that is told which of its cowns are poisoned.
type Body = Box<dyn FnOnce(&[bool]) + Send>;

/// A behaviour as the runtime sees it.
struct Job {
    cowns: Vec<(CownIndex, Access)>,
    body: Body,
}

/// A runtime in which everything is in one total order.
#[derive(Clone)]
struct Toy(Sender<Vec<Job>>);

impl Toy {
    /// Appends `jobs` in one step, or gives them back if one of their sets overlaps.
    fn spawn(&self, jobs: Vec<Job>) -> Result<(), Vec<Job>> {
        let overlaps = |job: &Job| {
            let twice = |i: usize| job.cowns[..i].iter().any(|(cown, _)| *cown == job.cowns[i].0);
            (0..job.cowns.len()).any(twice)
        };
        if jobs.iter().any(overlaps) {
            return Err(jobs);
        }
        self.0.send(jobs).expect("the worker waits for all clones of this");
        Ok(())
    }
}

/// Runs jobs in the order of `queue`, or in the opposite order within a batch.
fn work(queue: &Receiver<Vec<Job>>, cowns: usize, reversed: bool) {
    let mut poisoned = vec![false; cowns];
    while let Ok(mut jobs) = queue.recv() {
        if reversed {
            jobs.reverse();
        }
        for Job { cowns, body } in jobs {
            let skips =
                |&(cown, access): &(CownIndex, Access)| !access.is_checked() && poisoned[cown.0];
            if cowns.iter().any(skips) {
                continue;
            }
            let sights: Vec<_> = cowns.iter().map(|(cown, _)| poisoned[cown.0]).collect();
            let cleared = cowns.iter().filter(|(_, access)| *access == Access::Clear);
            cleared.for_each(|(cown, _)| poisoned[cown.0] = false);
            if catch_unwind(AssertUnwindSafe(|| body(&sights))).is_err() {
                let held = cowns.iter().filter(|(_, access)| access.is_exclusive());
                held.for_each(|(cown, _)| poisoned[cown.0] = true);
            }
        }
    }
}

/// Performs `ops` for `by`: all that an interpreter has to do.
fn interpret(program: &Arc<Program>, recorder: &TraceRecorder, toy: &Toy, by: Spawner, ops: &[Op]) {
    for op in ops {
        let jobs = op.spawns().iter().map(|spawn| job(program, recorder, toy, spawn)).collect();
        let call = recorder.tick();
        match toy.spawn(jobs) {
            Ok(()) => recorder.spawned(by, op, call),
            Err(_given_back) => recorder.rejected(op),
        }
    }
}

fn job(program: &Arc<Program>, recorder: &TraceRecorder, toy: &Toy, spawn: &SpawnCall) -> Job {
    let cowns = spawn.set.iter().map(|m| (program.cown(m.variable), m.access)).collect();
    let ticket = recorder.ticket(spawn.id);
    let (program, recorder, toy) = (Arc::clone(program), recorder.clone(), toy.clone());
    let spawn = spawn.clone();
    let body = Box::new(move |sights: &[bool]| {
        let running = ticket.start();
        for (member, &poisoned) in spawn.set.iter().zip(sights) {
            if member.access.is_checked() {
                running.saw(member.variable, poisoned);
            }
        }
        interpret(&program, &recorder, &toy, Spawner::Behaviour(spawn.id), &spawn.body);
        if spawn.panics {
            // Without the panic hook, which would fill the output of the tests.
            resume_unwind(Box::new("the program says so"));
        }
    });
    Job { cowns, body }
}

fn run(program: Program, reversed: bool) -> Trace {
    let (program, recorder) = (Arc::new(program), TraceRecorder::new());
    let (send, receive) = channel();
    let toy = Toy(send);
    thread::scope(|s| {
        for (i, ops) in program.threads().iter().enumerate() {
            let (program, recorder, toy) = (&program, &recorder, toy.clone());
            s.spawn(move || interpret(program, recorder, &toy, Spawner::Thread(i), ops));
        }
        drop(toy);
        work(&receive, program.cowns(), reversed);
    });
    recorder.finish()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_runtime_with_one_queue_passes(program in programs(ProgramShape::default())) {
        let trace = run(program.clone(), false);
        prop_assert_eq!(check(&program, &trace), Ok(()), "{}\n{:?}", program, trace);
    }

    #[test]
    fn a_runtime_comes_to_enumerated_outcomes(program in programs(ProgramShape::tiny())) {
        prop_assume!(program.len() <= 6);
        let outcome = Outcome::of(&program, &run(program.clone(), false));
        prop_assert!(outcomes(&program).contains(&outcome));
    }
}

#[test]
fn a_runtime_that_reverses_batches_is_caught() {
    let batch = || Op::Batch(vec![SpawnCall::on([write(0)]), SpawnCall::on([write(0)])]);
    let program = Program::over(1).thread([batch(), batch()]);
    assert_eq!(check(&program, &run(program.clone(), false)), Ok(()));
    assert!(check(&program, &run(program.clone(), true)).is_err());
}

#[test]
fn clones_record_into_one_trace() {
    let recorder = TraceRecorder::new();
    let ticks = Mutex::new(Vec::new());
    thread::scope(|s| {
        for _ in 0..3 {
            let (recorder, ticks) = (recorder.clone(), &ticks);
            s.spawn(move || {
                let mine: Vec<_> = (0..100).map(|_| recorder.tick()).collect();
                ticks.lock().expect("no thread panics").extend(mine);
            });
        }
    });
    let mut ticks = ticks.into_inner().expect("no thread panics");
    ticks.sort();
    assert_eq!(ticks, (0..300).collect::<Vec<_>>());
}
