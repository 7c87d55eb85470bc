//! Programs under test: run on real workers, few and many, over again, and some in deterministic
//! mode.

use std::any::Any;
use std::cell::RefCell;
use std::panic::resume_unwind;
use std::rc::Rc;

use coact::Runtime;
use coact::runtime::{Builder, Fault};
use coact::sim::{Config, Method, Sim};

use crate::executor::Executor;
use crate::journal::Log;

/// The number of workers with which each program runs: more than there are cores as well, since
/// then a worker may be preempted anywhere.
const WORKERS: [usize; 3] = [1, 2, 4];

/// How often it runs with each number.
const REPEATS: usize = 5;

/// How many schedules of each kind it runs under in deterministic mode.
const SCHEDULES: u64 = 5;

/// What a runtime has told its hook.
pub type Faults = Log<Fault>;

type Verdict = Box<dyn FnOnce()>;

thread_local! {
    static VERDICTS: RefCell<Vec<Verdict>> = const { RefCell::new(Vec::new()) };
}

/// Runs a program in which no behaviour panics or is skipped, on real workers.
///
/// # Panics
/// If the program panics, or a behaviour of it.
#[track_caller]
pub fn check(program: impl Fn() + 'static) {
    on_threads(&without_faults(program));
}

/// Runs a program in which behaviours panic, and which may look at what the runtime has reported,
/// on real workers.
///
/// # Panics
/// If the program panics.
#[track_caller]
pub fn check_with_faults(program: impl Fn(&Faults) + 'static) {
    on_threads(&program);
}

/// As [`check`], and in deterministic mode as well.
///
/// The program depends on nothing but the semantics: it has no threads of its own, does not look at
/// the time, and blocks on nothing but promises.
///
/// # Panics
/// If the program panics, or a behaviour of it.
#[track_caller]
pub fn everywhere(program: impl Fn() + 'static) {
    everywhere_with_faults(without_faults(program));
}

/// As [`check_with_faults`], and in deterministic mode as well: see [`everywhere`].
///
/// # Panics
/// If the program panics.
#[track_caller]
pub fn everywhere_with_faults(program: impl Fn(&Faults) + 'static) {
    on_threads(&program);
    // A sanitizer does not know of fibers.
    if std::env::var_os("COACT_TEST_SIMULATED").is_none_or(|value| value != "0") {
        simulated(Rc::new(program));
    }
}

/// The program, and behind it the verdict that nothing has gone wrong.
fn without_faults(program: impl Fn() + 'static) -> impl Fn(&Faults) + 'static {
    move |faults| {
        program();
        let faults = faults.clone();
        finally(move || assert!(faults.is_empty(), "went wrong: {:?}", faults.take()));
    }
}

// From here on programs have one type: each is compiled once, and what runs it once for all of
// them.

fn on_threads(program: &dyn Fn(&Faults)) {
    for workers in WORKERS {
        for _ in 0..REPEATS {
            let faults = Faults::new();
            run(&runtime(workers, &faults), &faults, program);
        }
        // And where the workers have no threads of their own.
        let (executor, faults) = (Executor::new(2), Faults::new());
        run(&hosted_runtime(workers, &executor, &faults), &faults, program);
    }
}

#[track_caller]
fn simulated(program: Rc<dyn Fn(&Faults)>) {
    for method in [Method::Random, Method::Pct { depth: 3 }] {
        let program = Rc::clone(&program);
        let sim = Sim::new().config(Config::new().method(method).runs(SCHEDULES));
        sim.allow_faults(true).check(move || {
            let faults = Faults::new();
            run(&runtime(2, &faults), &faults, &*program);
        });
    }
}

fn run(runtime: &Runtime, faults: &Faults, program: &dyn Fn(&Faults)) {
    run_on(runtime, || program(faults));
}

/// Runs a program on a runtime, until no work of it is left, and then what it wants to be looked at
/// [finally].
pub fn run_on(runtime: &Runtime, program: impl FnOnce()) {
    runtime.run(program);
    for verdict in VERDICTS.take() {
        verdict();
    }
}

/// Sets what is to be looked at when no work of the program is left.
pub fn finally(verdict: impl FnOnce() + 'static) {
    VERDICTS.with_borrow_mut(|verdicts| verdicts.push(Box::new(verdict)));
}

/// A runtime that reports to `faults`.
///
/// # Panics
/// If the operating system refuses the threads.
pub fn runtime(workers: usize, faults: &Faults) -> Runtime {
    builder(workers, faults).build().expect("the system has threads")
}

/// The same on the threads of an executor.
///
/// # Panics
/// As [`runtime`].
pub fn hosted_runtime(workers: usize, executor: &Executor, faults: &Faults) -> Runtime {
    let spawner = executor.spawner();
    let builder = builder(workers, faults).on_executor(move |worker| spawner.spawn(worker));
    builder.build().expect("the system has threads")
}

fn builder(workers: usize, faults: &Faults) -> Builder {
    let faults = faults.clone();
    let builder = Runtime::builder().workers(workers).name("test");
    builder.panic_hook(move |fault| faults.push(fault.clone()))
}

/// Panics, without the message that the hook of the process would print.
pub fn fail(message: &str) -> ! {
    resume_unwind(Box::new(message.to_owned()))
}

/// The message of a caught panic.
pub fn message_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// The message with which a call panics.
///
/// # Panics
/// If it does not.
#[track_caller]
pub fn panic_of<R>(call: impl FnOnce() -> R) -> String {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)) {
        Ok(_) => panic!("this had to panic"),
        Err(payload) => message_of(&*payload),
    }
}
