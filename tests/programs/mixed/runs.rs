//! How each program is run: until nothing goes on, and then once more when all addresses are
//! dropped.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use coact::runtime::RuntimeHandle;
use coact::sim::{Config, Method, Seed, Sim};
use coact::system::System;
use coact_sync::shim::process::Mutex;
use coact_tests::{PATIENCE, side_by_side};

use super::ops::Script;
use super::play;

/// The number of workers of the main runtime of each system: more than there are cores as well,
/// since then a worker may be preempted anywhere.
const WORKERS: [usize; 3] = [1, 2, 8];

/// The systems that are not in use. Programs share them: a process can make only a limited number.
static SYSTEMS: LazyLock<[Mutex<Vec<System>>; 3]> = LazyLock::new(Default::default);

/// A program that is ready to run.
pub struct Play {
    pub threads: Vec<Box<dyn FnOnce() + Send>>,
    /// Called when they and all that followed from them have ended.
    pub let_go: Box<dyn FnOnce()>,
    /// What must be true in the end.
    pub verdict: Box<dyn FnOnce() -> Result<(), String>>,
}

/// Runs the program on all systems, and in deterministic mode.
pub fn everywhere(script: &Script, seed: u64) -> Result<(), String> {
    for (at, workers) in WORKERS.into_iter().enumerate() {
        let system = SYSTEMS[at].lock().pop().unwrap_or_else(|| system(workers));
        if let Err(why) = on_workers(&system, script) {
            // Whatever goes on in it must not disturb the next.
            std::mem::forget(system);
            return Err(format!("with {workers} workers: {why}"));
        }
        SYSTEMS[at].lock().push(system);
    }
    // A sanitizer does not know of fibers.
    if std::env::var_os("COACT_TEST_SIMULATED").is_some_and(|value| value == "0") {
        return Ok(());
    }
    (0..2).try_for_each(|schedule| simulated(script, seed.wrapping_add(schedule), schedule == 1))
}

fn system(workers: usize) -> System {
    let system = System::builder().workers(workers).main(|main| main.panic_hook(|_| ()));
    system
        .dispatcher("side", |side| side.workers(1).throughput(3))
        .build()
        .expect("there are threads")
}

fn homes(system: &System) -> Vec<RuntimeHandle> {
    vec![system.runtime(), system.dispatcher("side").expect("made with it")]
}

fn on_workers(system: &System, script: &Script) -> Result<(), String> {
    let entered = system.enter();
    let Play { threads, let_go, verdict } = play(script, homes(system), false);
    drop(entered);
    run_threads(system, threads);
    if !comes_to_rest(system) {
        return Err(format!("it goes on for ever: {}", verdict().err().unwrap_or_default()));
    }
    let entered = system.enter();
    let_go();
    drop(entered);
    if !comes_to_rest(system) {
        return Err(format!(
            "it does not come to its end: {}",
            verdict().err().unwrap_or_default()
        ));
    }
    verdict()
}

/// Runs the program on systems that are shut down while it runs.
pub fn cut_short_everywhere(script: &Script, seed: u64) -> Result<(), String> {
    // From none at all to a time in which all may end by itself.
    let deadline = Duration::from_micros([0, 20, 200, 2_000][(seed % 4) as usize]);
    WORKERS.into_iter().try_for_each(|workers| {
        let why = |why| format!("with {workers} workers, cut short after {deadline:?}: {why}");
        cut_short(script, workers, deadline).map_err(why)
    })
}

fn cut_short(script: &Script, workers: usize, deadline: Duration) -> Result<(), String> {
    let system = system(workers);
    let entered = system.enter();
    let Play { threads, let_go, verdict } = play(script, homes(&system), true);
    drop(entered);
    run_threads(&system, threads);
    let_go();
    let report = system.shutdown(deadline);
    let stuck = report.runtimes.iter().find(|(_, report)| report.stuck_workers > 0);
    match stuck {
        Some((name, report)) => Err(format!("{name}: {report}")),
        None => verdict(),
    }
}

fn run_threads(system: &System, threads: Vec<Box<dyn FnOnce() + Send>>) {
    side_by_side(threads.into_iter().map(|main| {
        move || {
            let _entered = system.enter();
            main();
        }
    }));
}

fn comes_to_rest(system: &System) -> bool {
    static HAS_FAILED: AtomicBool = AtomicBool::new(false);
    // When it is only to be made smaller, more haste is right.
    let patience = if HAS_FAILED.load(Ordering::Relaxed) { PATIENCE / 10 } else { PATIENCE };
    let rests = system.wait_idle_timeout(patience);
    HAS_FAILED.fetch_or(!rests, Ordering::Relaxed);
    rests
}

fn simulated(script: &Script, seed: u64, pct: bool) -> Result<(), String> {
    let method = if pct { Method::Pct { depth: 3 } } else { Method::Random };
    let config = Config::new().method(method).seed(Seed::new(seed)).runs(1);
    let verdict = Rc::new(RefCell::new(None));
    let (slot, script) = (Rc::clone(&verdict), script.clone());
    let main = move || {
        let system = Arc::new(system(2));
        let entered = system.enter();
        let Play { threads, let_go, verdict } = play(&script, homes(&system), false);
        *slot.borrow_mut() = Some(verdict);
        let start = |main: Box<dyn FnOnce() + Send>| {
            let system = Arc::clone(&system);
            coact::sim::thread(move || {
                let _entered = system.enter();
                main();
            })
        };
        let threads: Vec<_> = threads.into_iter().map(start).collect();
        for thread in threads {
            thread.wait().expect("it does not panic");
        }
        system.wait_idle();
        let_go();
        drop(entered);
        system.wait_idle();
    };
    let ran = Sim::new().workers(3).allow_faults(true).config(config).run(main);
    ran.map_err(|failure| failure.to_string())?;
    let verdict = verdict.take().expect("it has run");
    verdict().map_err(|why| format!("simulated: {why}"))
}
