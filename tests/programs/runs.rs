//! How each program is run.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::LazyLock;

use coact::prelude::*;
use coact::sim::{Config, Method, Seed, Sim};
use coact_tests::{PATIENCE, side_by_side};
use proptest::prelude::*;

/// The runtimes on which each program runs. All cases share them: a process can make only a limited
/// number.
static RUNTIMES: LazyLock<[Runtime; 3]> = LazyLock::new(|| {
    [1, 2, 4].map(|workers| {
        let builder = Runtime::builder().workers(workers).panic_hook(|_| ());
        builder.build().expect("the system has threads")
    })
});

/// What is to be done at the same time, and what must be true once no work is left.
pub struct Program {
    pub threads: Vec<Box<dyn FnOnce() + Send>>,
    pub verdict: Box<dyn FnOnce() -> Result<(), String>>,
}

pub fn config(cases: u32) -> ProptestConfig {
    // What fails by chance need not fail again, so there is nothing to be kept.
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { config.cases } else { cases };
    ProptestConfig { cases, max_shrink_iters: 500, ..config }
}

/// Runs the program that `make` makes on all runtimes, and in deterministic mode.
pub fn everywhere(
    seed: u64,
    make: impl Fn() -> Program + Clone + 'static,
) -> Result<(), TestCaseError> {
    on_workers(&make)?;
    // A sanitizer does not know of fibers.
    if std::env::var_os("COACT_TEST_SIMULATED").is_some_and(|value| value == "0") {
        return Ok(());
    }
    simulated(seed, make)
}

fn on_workers(make: &impl Fn() -> Program) -> Result<(), TestCaseError> {
    for runtime in RUNTIMES.iter() {
        let entered = runtime.enter();
        let Program { threads, verdict } = make();
        drop(entered);
        side_by_side(threads.into_iter().map(|main| {
            move || {
                let _entered = runtime.enter();
                main();
            }
        }));
        let workers = runtime.workers();
        let is_idle = Runtime::wait_idle_all_timeout(&[runtime.handle()], PATIENCE);
        prop_assert!(is_idle, "hangs, with {} workers", workers);
        let verdict = verdict();
        prop_assert!(verdict.is_ok(), "{} workers: {}", workers, verdict.unwrap_err());
    }
    Ok(())
}

fn simulated(seed: u64, make: impl Fn() -> Program + Clone + 'static) -> Result<(), TestCaseError> {
    let verdict = Rc::new(RefCell::new(None));
    for schedule in 0..4 {
        let method = if schedule < 2 { Method::Random } else { Method::Pct { depth: 3 } };
        let config = Config::new().method(method).seed(Seed::new(seed + schedule)).runs(1);
        let (make, slot) = (make.clone(), Rc::clone(&verdict));
        let main = move || {
            let Program { threads, verdict } = make();
            *slot.borrow_mut() = Some(verdict);
            for main in threads {
                drop(coact::sim::thread(main));
            }
        };
        let ran = Sim::new().workers(3).allow_faults(true).config(config).run(main);
        prop_assert!(ran.is_ok(), "{}", ran.unwrap_err());
        let verdict = verdict.take().expect("it has run")();
        prop_assert!(verdict.is_ok(), "simulated, {}: {}", schedule, verdict.unwrap_err());
    }
    Ok(())
}
