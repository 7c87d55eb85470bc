//! Traces small programs, where that is permitted.

#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use std::path::Path;

use coact_bench::coherence::costs::NANOSECOND;
use coact_bench::coherence::traced::{self, Machine, Run};
use coact_bench_workloads::program::Answer;
use coact_bench_workloads::{Setup, table};

const PROGRAM: &str = env!("CARGO_BIN_EXE_coact-bench");

/// Runs a tiny case on a machine with this number of cores; `None` where programs may not be
/// traced.
fn run(workload: &str, cores: usize, is_checked: bool) -> Option<Run> {
    let workload = table::named(workload).expect("there is such a workload");
    let sizes = workload.sizes(&Setup { scale: 0.00001, workers: cores }).words();
    let mut words = vec!["run", workload.name, "coact"];
    words.extend(sizes.iter().map(String::as_str));
    run_words(&words, cores, is_checked)
}

fn run_words(words: &[&str], cores: usize, is_checked: bool) -> Option<Run> {
    traced::stay_on_a_core(0).expect("there is a core");
    let machine = match Machine::start(Path::new(PROGRAM), words, cores, 50 * NANOSECOND) {
        Ok(machine) => machine,
        Err(error) => {
            eprintln!("not tested: {error:#}");
            return None;
        }
    };
    let machine = if is_checked { machine.checked() } else { machine };
    Some(machine.run().expect("the program runs to its end"))
}

fn answer(run: &Run) -> Answer {
    Answer::read(run.printed.trim()).expect("it is an answer")
}

#[test]
fn a_program_runs_to_its_end_and_tells_its_result() {
    let Some(run) = run("cown-pairs", 3, false) else { return };
    assert_eq!(answer(&run).operations, 80);
    assert!(!run.tally.moved.is_empty(), "three cores share something");
}

#[test]
fn one_core_has_every_line_and_each_run_is_the_same() {
    let (Some(one), Some(other)) = (run("one-cown", 1, false), run("one-cown", 1, false)) else {
        return;
    };
    assert!(one.tally.moved.is_empty());
    if traced::has_fixed_addresses() {
        assert_eq!(answer(&one).elapsed_ns, answer(&other).elapsed_ns);
        assert_eq!(one.tally.instructions, other.tally.instructions);
    }
}

/// Each case that the command counts can be run on the machine.
#[test]
fn tasks_of_another_executor_run_to_their_end() {
    // (Eight requests of four tasks for two of twenty accounts: each instruction is a stop of the
    // program.)
    let few =
        ["workers=2", "scale=1", "accounts=20", "wanted=20", "tasks=4", "requests=8", "http=0"];
    let words = [&["run", "tokio-front", "coact-call"][..], &few].concat();
    let Some(run) = run_words(&words, 2, false) else { return };
    assert_eq!(answer(&run).operations, 8);
}

/// Every instruction that is done here is also done by the processor, with the same outcome.
#[test]
fn instructions_do_what_the_processor_does() {
    run("one-cown", 1, true);
}
