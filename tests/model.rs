//! Property tests: random programs run on the real runtime, and every trace must be one that the
//! executable model allows.
//!
//! Several hundred programs by default; for more:
//! `PROPTEST_CASES=20000 cargo test -p coact-tests --test model`.

use std::array;
use std::sync::Arc;
use std::thread;

use coact::behaviour::{Batch, Refusal, serve_here};
use coact::cown::{Checked, CownSet, Poisoned};
use coact::internals::{FastPath, mark_crowded};
use coact::prelude::*;
use coact::runtime::{Builder, Fault};
use coact::sim::{self, Sim};
use coact_model::{
    Access, BehaviourId, Event, Op, Outcome, Program, ProgramShape, RunTicket, SpawnCall, Spawner,
    Trace, TraceRecorder, check, checked, clear, outcomes, programs, read, write,
};
use coact_tests::{Executor, Log, fail, side_by_side};
use once_cell::sync::Lazy;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

/// The runtimes on which each program runs; the last one's workers have no threads of their own.
/// Those with a small throughput put tasks aside, and find cowns crowded, in programs of any size.
/// All cases share them: a process can make only a limited number. (`Lazy`, and not the standard
/// library's, into which the thread sanitizer does not see.)
static RUNTIMES: Lazy<[Runtime; 4]> = Lazy::new(|| {
    let executor = Box::leak(Box::new(Executor::new(2))).spawner();
    let hosted = move |builder: Builder| builder.on_executor(move |worker| executor.spawn(worker));
    let builders = [(1, 100), (2, 2), (4, 100), (2, 3)].map(|(workers, throughput)| {
        let hook = |fault: &Fault| match fault {
            Fault::Skipped { .. } => {}
            Fault::Panicked { message, .. } if **message == *PANIC => {}
            fault => FAULTS.push(fault.clone()),
        };
        Runtime::builder().workers(workers).throughput(throughput).panic_hook(hook)
    });
    let [one, two, four, last] = builders;
    [one, two, four, hosted(last)].map(|builder| builder.build().expect("the system has threads"))
});

/// What behaviours reported that no program says: their own assertions, first of all.
static FAULTS: Lazy<Log<Fault>> = Lazy::new(Log::new);

/// How many behaviours a thread runs that have come while it ran one inline.
const FOLLOWERS: u32 = 3;

/// How the behaviours panic that a program says must.
const PANIC: &str = "the program says so";

/// Runs a program until no work is left. Its cowns end with the last of their behaviours, whose
/// bodies have handles.
fn run(runtime: &Runtime, program: &Program, seed: u64) -> Trace {
    let recorder = runtime.run(|| {
        let run = Run {
            program: Arc::new(program.clone()),
            recorder: TraceRecorder::new(),
            cowns: cowns(program.cowns(), seed),
            seed,
        };
        // In one program of four, threads wait in front of half of the queues.
        if seed.is_multiple_of(4) {
            run.cowns.iter().step_by(2).for_each(mark_crowded);
        }
        let threads = program.threads().iter().enumerate();
        side_by_side(threads.map(|(thread, ops)| {
            let run = &run;
            move || run.interpret(Spawner::Thread(thread), ops)
        }));
        run.recorder
    });
    assert!(FAULTS.is_empty(), "{program}\n{:?}", FAULTS.take());
    recorder.finish()
}

/// Runs a program in deterministic mode, on one schedule.
fn run_simulated(program: &Program, seed: u64, config: sim::Config) -> Result<Trace, sim::Failure> {
    let recorder = TraceRecorder::new();
    let run = {
        let (program, recorder) = (Arc::new(program.clone()), recorder.clone());
        move || {
            let cowns = cowns(program.cowns(), seed);
            let (program, recorder) = (Arc::clone(&program), recorder.clone());
            let run = Run { program, recorder, cowns, seed };
            for (thread, ops) in run.program.threads().iter().enumerate() {
                let (run, ops) = (run.clone(), ops.clone());
                drop(sim::thread(move || run.interpret(Spawner::Thread(thread), &ops)));
            }
        }
    };
    Sim::new().workers(3).allow_faults(true).config(config).run(run)?;
    Ok(recorder.finish())
}

/// Runs the program in deterministic mode, on several schedules.
fn assert_allowed_simulated(program: &Program, seed: u64) -> Result<(), TestCaseError> {
    for schedule in 0..4 {
        let seed = seed.wrapping_add(schedule);
        let method = if schedule < 2 { sim::Method::Random } else { sim::Method::Pct { depth: 3 } };
        let config = sim::Config::new().method(method).seed(sim::Seed::new(seed)).runs(1);
        let trace = match run_simulated(program, seed, config) {
            Ok(trace) => trace,
            Err(failure) => return Err(TestCaseError::fail(format!("{program}\n{failure}"))),
        };
        prop_assert_eq!(check(program, &trace), Ok(()), "simulated\n{}\n{:?}", program, trace);
    }
    Ok(())
}

/// The cowns of a program. The seed puts some of them, or all, or none, into one of two groups: the
/// model knows no groups, and what they do must be what it allows.
fn cowns(count: usize, seed: u64) -> Arc<[Cown<u64>]> {
    let groups = [Group::new(), Group::new()];
    let shape = seed.wrapping_mul(0xD134_2543_DE82_EF95) >> 32;
    let of = |cown: usize| match shape % 4 {
        0 => None,
        1 => groups.first(),
        _ => groups.get((shape >> (2 + 2 * (cown % 15)) & 3) as usize),
    };
    (0..count).map(|cown| of(cown).map_or_else(|| Cown::new(0), |group| group.cown(0))).collect()
}

/// The interpreter: all that the bodies of one run share.
#[derive(Clone)]
struct Run {
    program: Arc<Program>,
    recorder: TraceRecorder,
    cowns: Arc<[Cown<u64>]>,
    /// Decides which behaviours run inline where they can, and which cowns are in groups.
    seed: u64,
}

/// How a behaviour runs inline, or is spawned if it cannot.
enum Inline {
    When,
    Ask,
    Serve,
}

/// How a behaviour is spawned.
enum Way<'a> {
    When,
    Inline(Inline),
    Batch(&'a mut Option<Batch>),
}

impl Run {
    /// Performs the operations of one thread or body.
    fn interpret(&self, by: Spawner, ops: &[Op]) {
        for op in ops {
            let call = self.recorder.tick();
            if self.perform(op) {
                self.recorder.spawned(by, op, call);
            }
        }
    }

    /// Performs one operation. Returns false if it was rejected.
    fn perform(&self, op: &Op) -> bool {
        let spawns = match op {
            Op::Spawn(spawn) => {
                // What runs inline does not give the closure back: it panics if the set overlaps.
                let inline = self.inline(spawn.id).filter(|_| !self.program.rejects(op));
                return self.spawn(inline.map_or(Way::When, Way::Inline), op, spawn);
            }
            Op::Batch(spawns) => spawns,
        };
        let mut together = Some(Batch::new());
        let accepted = spawns.iter().all(|spawn| self.spawn(Way::Batch(&mut together), op, spawn));
        if let Some(batch) = together {
            batch.spawn();
        }
        accepted
    }

    fn inline(&self, id: BehaviourId) -> Option<Inline> {
        match (self.seed ^ id.0 as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 61 {
            0 => Some(Inline::When),
            1 => Some(Inline::Ask),
            2 => Some(Inline::Serve),
            _ => None,
        }
    }

    fn spawn(&self, way: Way<'_>, op: &Op, spawn: &SpawnCall) -> bool {
        let with = |wanted: fn(Access) -> bool| -> Vec<Cown<u64>> {
            let members = spawn.set.iter().filter(|member| wanted(member.access));
            members.map(|member| self.cowns[self.program.cown(member.variable).0].clone()).collect()
        };
        let writes = with(|access| access == Access::Write);
        let reads = with(|access| access == Access::Read);
        let checks = with(Access::is_checked);
        let body = self.body(spawn);
        // On one cown, exclusively, or on two, a behaviour has another shape in the runtime.
        match (&writes[..], &reads[..], &checks[..]) {
            ([cown], [], []) => self.place(way, op, cown, move |state| body.run(&mut [state], [])),
            ([a, b], [], []) => {
                self.place(way, op, (a, b), move |(a, b)| body.run(&mut [a, b], []))
            }
            ([], [], [cown]) => {
                self.place(way, op, cown.checked(), move |state| body.run(&mut [], [state]))
            }
            (_, _, []) => self.place_checking::<0>(way, op, &writes, &reads, &checks, body),
            (_, _, [_]) => self.place_checking::<1>(way, op, &writes, &reads, &checks, body),
            (_, _, [_, _]) => self.place_checking::<2>(way, op, &writes, &reads, &checks, body),
            (_, _, [_, _, _]) => self.place_checking::<3>(way, op, &writes, &reads, &checks, body),
            (_, _, [_, _, _, _]) => {
                self.place_checking::<4>(way, op, &writes, &reads, &checks, body)
            }
            _ => unreachable!("the shapes have sets of up to 4"),
        }
    }

    /// Spawns a behaviour on a set of which `N` members are checked.
    fn place_checking<const N: usize>(
        &self,
        way: Way<'_>,
        op: &Op,
        writes: &[Cown<u64>],
        reads: &[Cown<u64>],
        checks: &[Cown<u64>],
        body: Body,
    ) -> bool {
        let checks: [Checked<'_, u64>; N] = array::from_fn(|index| checks[index].checked());
        self.place(
            way,
            op,
            (writes, checks, read_all(reads)),
            move |(mut writes, checks, reads)| {
                let before: u64 = reads.iter().sum();
                body.run(&mut writes.iter_mut().collect::<Vec<_>>(), checks);
                assert_eq!(before, reads.iter().sum::<u64>(), "a state changed while it was read");
            },
        )
    }

    /// Spawns in one way or another. Returns false if the set was rejected.
    fn place<S, F>(&self, way: Way<'_>, op: &Op, set: S, closure: F) -> bool
    where
        S: CownSet,
        F: for<'a> FnOnce(S::Access<'a>) + Send + 'static,
    {
        // The tickets in the closures that come back are void once the rejection is recorded.
        let reject = |refusal: &Refusal| {
            assert!(matches!(refusal, Refusal::Overlap(_)), "{refusal}");
            self.recorder.rejected(op);
        };
        match way {
            Way::When => try_when(set, closure).inspect_err(|error| reject(&error.refusal)).is_ok(),
            Way::Inline(inline) => {
                match inline {
                    Inline::When => _ = when_here(set, closure),
                    Inline::Ask => drop(coact::call_here(set, closure)),
                    Inline::Serve => _ = serve_here(set, FOLLOWERS, closure),
                }
                true
            }
            Way::Batch(slot) => {
                let Some(batch) = slot.take() else { return false };
                match batch.try_when(set, closure) {
                    Ok(batch) => *slot = Some(batch),
                    Err(error) => reject(&error.refusal),
                }
                slot.is_some()
            }
        }
    }

    fn body(&self, spawn: &SpawnCall) -> Body {
        let ticket = self.recorder.ticket(spawn.id);
        Body { run: self.clone(), spawn: spawn.clone(), ticket }
    }
}

/// What a behaviour does.
struct Body {
    run: Run,
    spawn: SpawnCall,
    ticket: RunTicket,
}

impl Body {
    fn run<const N: usize>(
        self,
        writes: &mut [&mut u64],
        checks: [Result<&mut u64, Poisoned<'_, u64>>; N],
    ) {
        let Self { run, spawn, ticket } = self;
        let running = ticket.start();
        let before: Vec<u64> = writes.iter().map(|state| **state).collect();
        let members = spawn.set.iter().filter(|member| member.access.is_checked());
        for (member, state) in members.zip(checks) {
            running.saw(member.variable, state.is_err());
            match state {
                Err(poisoned) if member.access == Access::Clear => *poisoned.clear() += 1,
                _ => {}
            }
        }
        run.interpret(Spawner::Behaviour(spawn.id), &spawn.body);
        for (state, before) in writes.iter_mut().zip(before) {
            assert_eq!(**state, before, "a state changed while it was held");
            **state += 1;
        }
        if spawn.panics {
            fail(PANIC);
        }
    }
}

/// Runs the program on all runtimes, and holds the traces to the model.
fn assert_allowed(program: &Program, seed: u64) -> Result<(), TestCaseError> {
    for runtime in RUNTIMES.iter() {
        let trace = run(runtime, program, seed);
        let workers = runtime.workers();
        prop_assert_eq!(
            check(program, &trace),
            Ok(()),
            "{} workers\n{}\n{:?}",
            workers,
            program,
            trace
        );
    }
    Ok(())
}

fn config() -> ProptestConfig {
    // What fails by chance need not fail again, so there is nothing to be kept.
    ProptestConfig {
        failure_persistence: None,
        max_shrink_iters: 2_000,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn mixed_programs(program in programs(ProgramShape::default()), seed: u64) {
        assert_allowed(&program, seed)?;
    }

    #[test]
    fn mixed_programs_in_deterministic_mode(
        program in programs(ProgramShape { ops: 8, depth: 3, ..ProgramShape::default() }),
        seed: u64,
    ) {
        assert_allowed_simulated(&program, seed)?;
    }

    /// Everything is on two cowns: long queues, and readers beside writers.
    #[test]
    fn crowded_programs(
        program in programs(ProgramShape { cowns: 2, ops: 12, body: 4, set: 2, ..ProgramShape::default() }),
        seed: u64,
    ) {
        assert_allowed(&program, seed)?;
    }

    /// Large sets over many cowns: atomic appends that cross each other.
    #[test]
    fn wide_programs(
        program in programs(ProgramShape { cowns: 7, aliases: 0, ops: 10, set: 4, batch: 4, ..ProgramShape::default() }),
        seed: u64,
    ) {
        assert_allowed(&program, seed)?;
    }

    /// Behaviours that spawn behaviours that spawn behaviours.
    #[test]
    fn deep_programs(
        program in programs(ProgramShape { threads: 2, ops: 2, body: 2, depth: 5, ..ProgramShape::default() }),
        seed: u64,
    ) {
        assert_allowed(&program, seed)?;
    }

    /// What tiny programs come to is in the list of all that they may come to.
    #[test]
    fn tiny_programs_come_to_enumerated_outcomes(program in programs(ProgramShape::tiny()), seed: u64) {
        prop_assume!(program.len() <= 6);
        let allowed = outcomes(&program);
        for runtime in RUNTIMES.iter() {
            let outcome = Outcome::of(&program, &run(runtime, &program, seed));
            prop_assert!(allowed.contains(&outcome), "{}\n{:?}", program, outcome);
        }
    }
}

/// What is quick in the runtime is quick since it does less: random programs on real workers have
/// been on each such way, and not only now and then.
#[test]
fn random_programs_take_every_way() {
    let mut runner = TestRunner::deterministic();
    // Two cowns that are free, for a body that holds others, need room.
    let crowded = ProgramShape { cowns: 2, ops: 12, body: 4, set: 2, ..ProgramShape::default() };
    let roomy = ProgramShape {
        cowns: 9,
        aliases: 0,
        threads: 1,
        ops: 4,
        set: 2,
        batch: 1,
        ..ProgramShape::default()
    };
    let shapes = [ProgramShape::default(), crowded, roomy];
    let rare = || -> Vec<_> {
        // Only threads that meet take one of them, and only actors the others.
        let elsewhere = [
            FastPath::HereAfterAll,
            FastPath::Continued,
            FastPath::FirstRequest,
            FastPath::EndedUnseen,
            FastPath::StopBit,
        ];
        let here = FastPath::ALL.iter().filter(|path| !elsewhere.contains(path));
        here.filter(|path| path.count() < 20).collect()
    };
    for seed in 0..1_000 {
        for shape in &shapes {
            let program = programs(*shape).new_tree(&mut runner).expect("there are programs");
            assert_allowed(&program.current(), seed).unwrap();
        }
        if rare().is_empty() {
            return;
        }
    }
    panic!("hardly ever taken: {:?}", rare());
}

/// The way that is left: threads which meet at two cowns, until one has waited for the other twenty
/// times, do not do anything twice, or not at all, or at the same time.
#[test]
fn threads_that_meet_at_cowns_get_them_after_all() {
    if thread::available_parallelism().is_ok_and(|processors| processors.get() == 1) {
        return;
    }
    let _entered = RUNTIMES[0].enter();
    let cowns = [Cown::new(0_u64), Cown::new(0)];
    let until = FastPath::HereAfterAll.count() + 20;
    let meet = |turned: bool| {
        let [a, b] = if turned { [&cowns[1], &cowns[0]] } else { [&cowns[0], &cowns[1]] };
        (0_u64..)
            .take_while(|_| FastPath::HereAfterAll.count() < until)
            .map(|_| {
                when_here((a, b), |(a, b)| {
                    assert_eq!(a, b, "nobody is between the two");
                    *a += 1;
                    *b += 1;
                });
            })
            .count() as u64
    };
    let spawned = thread::scope(|scope| {
        let other = scope.spawn(|| meet(true));
        meet(false) + other.join().expect("nothing panics in there")
    });
    let [a, b] = &cowns;
    assert_eq!(call((a, b), |(a, b)| (*a, *b)).wait(), Ok((spawned, spawned)));
}

/// More threads than processors append to the same two cowns, one of them also alone, until some
/// have waited in front of a queue: each behaviour runs once, and those of a thread in their order.
/// (When all waited inside of the queues, whose order is that of arrival, each behaviour took a
/// hundred microseconds and more.)
#[test]
fn a_crowd_waits_in_front_of_the_queues() {
    const CROWD: usize = 16;
    let _entered = RUNTIMES[0].enter();
    let cowns = [Cown::new([0_u64; CROWD]), Cown::new([0; CROWD])];
    let until = FastPath::Turnstile.count() + 20_000;
    let append = |thread: usize| {
        (0_u64..)
            .take_while(|_| FastPath::Turnstile.count() < until)
            .map(|nth| {
                let [a, b] = if thread.is_multiple_of(2) {
                    [&cowns[1], &cowns[0]]
                } else {
                    [&cowns[0], &cowns[1]]
                };
                when((a, b), move |(a, b)| {
                    assert_eq!((a[thread], b[thread]), (2 * nth, nth));
                    a[thread] += 1;
                    b[thread] += 1;
                });
                when(a, move |a| a[thread] += 1);
            })
            .count() as u64
    };
    let spawned = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..CROWD).map(|thread| scope.spawn(move || append(thread))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().expect("nothing panics in there"))
            .collect::<Vec<_>>()
    });
    let [a, b] = &cowns;
    let ran = call((a, b), |(a, b)| (*a, *b)).wait().expect("no behaviour has panicked");
    let by_thread = |thread: usize| (ran.0[thread], ran.1[thread]);
    for (thread, spawned) in spawned.into_iter().enumerate() {
        let doubled = (2 * spawned, spawned);
        let expected = if thread.is_multiple_of(2) { (doubled.1, doubled.0) } else { doubled };
        assert_eq!(by_thread(thread), expected);
    }
    assert!(FAULTS.is_empty(), "{:?}", FAULTS.take());
}

/// A program in which every feature occurs, over and over: the traces differ from run to run.
#[test]
fn one_program_many_times() {
    let nested = |set: Vec<_>| Op::from(SpawnCall::on(set));
    let ops = || {
        [
            SpawnCall::on([write(0)])
                .body([nested(vec![write(1)]), nested(vec![read(0), write(2)])])
                .into(),
            Op::Batch(vec![
                SpawnCall::on([read(0)]),
                SpawnCall::on([write(1)]),
                SpawnCall::on([read(0)]),
            ]),
            SpawnCall::on([write(0), write(1)]).panics().into(),
            SpawnCall::on([read(0), checked(1)]).into(),
            SpawnCall::on([clear(0), clear(1)]).body([nested(vec![write(0), write(2)])]).into(),
            SpawnCall::on([write(2), write(1), write(0)]).into(),
        ]
    };
    let program = Program::over(3).thread(ops()).thread(ops()).thread(ops());
    for seed in 0..100 {
        for runtime in RUNTIMES.iter() {
            let trace = run(runtime, &program, seed);
            assert_eq!(check(&program, &trace), Ok(()), "{program}\n{trace:?}");
        }
    }
}

/// Behaviours of a group that send to each other, to a cown outside, and back, beside steps over
/// both.
#[test]
fn one_program_of_groups_many_times() {
    let send = |set: Vec<_>| Op::from(SpawnCall::on(set));
    let ops = || {
        [
            SpawnCall::on([write(0)])
                .body([
                    send(vec![write(3)]),
                    SpawnCall::on([write(1)])
                        .body([send(vec![write(3)]), send(vec![write(0)])])
                        .into(),
                    send(vec![write(1), read(2)]),
                    send(vec![write(3), write(0)]),
                ])
                .into(),
            SpawnCall::on([write(3), write(1)]).body([send(vec![write(0)])]).into(),
            SpawnCall::on([write(3)]).body([send(vec![write(1)]), send(vec![write(2)])]).into(),
            SpawnCall::on([read(2), write(0)])
                .body([send(vec![write(2)]), send(vec![read(1)])])
                .into(),
        ]
    };
    let program = Program::over(4).thread(ops()).thread(ops());
    for seed in 0..200 {
        for runtime in RUNTIMES.iter() {
            let trace = run(runtime, &program, seed);
            assert_eq!(check(&program, &trace), Ok(()), "{program}\n{trace:?}");
        }
    }
}

/// The interpreter itself: a set that names a cown twice is rejected, and the checker knows.
#[test]
fn rejections_are_recorded() {
    let program = Program::over(1).alias(0).thread([
        SpawnCall::on([write(0), write(1)]).into(),
        Op::Batch(vec![SpawnCall::on([write(0)]), SpawnCall::on([read(0), read(1)])]),
        SpawnCall::on([write(1)]).into(),
    ]);
    let trace = run(&RUNTIMES[0], &program, 1);
    assert_eq!(check(&program, &trace), Ok(()), "{trace:?}");
    let rejected = trace.events.iter().filter(|event| matches!(event, Event::Rejected { .. }));
    assert_eq!(rejected.count(), 3);
}
