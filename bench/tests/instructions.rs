//! Counting, from the program to the table.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use coact_bench::instructions::count::Counter;
use coact_bench::instructions::{Table, callgrind, cases};
use coact_bench_workloads::table;

/// What a build without optimisation takes is of no interest, but that it is counted is.
#[test]
fn a_case_is_counted_twice_alike_with_its_atomics() {
    if let Err(reason) = callgrind::version() {
        eprintln!("skipped: {reason:#}");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder can be made");
    let counter = Counter::new(PathBuf::from(env!("CARGO_BIN_EXE_coact-bench")), folder.path());
    let case = cases::named(cases::ALL, &["here-one/coact-behaviour".to_owned()])
        .expect("it is counted")[0];
    let [first, second] = [(); 2].map(|()| counter.count(&case).expect("it can be counted"));
    assert!(first.instructions > 100.0, "{first:?}");
    assert!((first.instructions / second.instructions - 1.0).abs() < 0.01, "{first:?}, {second:?}");
    if let Some(atomics) = first.atomics {
        // Appending and leaving take one each. What the runtime's other threads do in either run
        // moves the difference by a few parts in a hundred thousand.
        assert!((1.99..50.0).contains(&atomics), "{first:?}");
    }
    assert!(folder.path().join("here-one-coact-behaviour.large.callgrind").is_file());
}

#[test]
fn the_committed_table_has_a_line_for_each_case_and_no_other() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("instructions.txt");
    let text = std::fs::read_to_string(path).expect("the table is there");
    let table = Table::parse(&text).expect("it is a table");
    assert_eq!(table.to_string(), text, "written by hand?");
    let lines: Vec<_> = table.rows.iter().map(|(case, _)| case.clone()).collect();
    let mut cases: Vec<_> = cases::ALL.iter().map(ToString::to_string).collect();
    let mut sorted = lines.clone();
    sorted.sort();
    cases.sort();
    assert_eq!(sorted, cases);
}

const SEVERAL: &str =
    "several producers on the one worker of a counted run do nothing that one does not";
const CONTENDED: &str = "how often threads meet, and so what they do, is not the same in each run";
const THREADS: &str = "plain threads push while the worker takes, and how often it wakes up is not the same in each run";
const WAITS: &str = "how often a thread that waits falls asleep is not the same in each run";
const ARITHMETIC: &str =
    "a piece of work is 20,000 steps of arithmetic, beside which the runtime is not seen";
const ELSEWHERE: &str =
    "the same code is counted in another workload: rings of other sizes, one cown";

/// What is not counted, and why.
const EXEMPT: &[(&str, &str, &str)] = &[
    ("two-producers", "coact", THREADS),
    ("two-producers", "coact-credits", THREADS),
    ("two-producers-spawned", "coact", SEVERAL),
    ("many-to-one", "coact", THREADS),
    ("many-to-one", "coact-credits", THREADS),
    ("many-to-one-spawned", "coact", SEVERAL),
    ("here-contended", "coact", CONTENDED),
    ("crowd", "coact", CONTENDED),
    ("crowd", "coact-here", CONTENDED),
    ("tokio-front", "coact", THREADS),
    ("tokio-front", "coact-call", THREADS),
    ("tokio-front", "coact-hosted", THREADS),
    ("tokio-front-skewed", "coact", THREADS),
    ("tokio-front-skewed", "coact-call", THREADS),
    ("tokio-front-skewed", "coact-hosted", THREADS),
    ("http-front", "coact", THREADS),
    ("http-front", "coact-call", THREADS),
    ("http-front", "coact-hosted", THREADS),
    ("independent", "coact", ARITHMETIC),
    ("independent", "coact-single", ARITHMETIC),
    ("actor-caller", "coact-workers", THREADS),
    ("actor-wait", "coact", WAITS),
    ("actor-wait", "coact-cowns", WAITS),
    ("cown-rings", "coact", ELSEWHERE),
    ("cown-rings", "coact-grouped", ELSEWHERE),
    ("cown-pairs", "coact-grouped", ELSEWHERE),
    ("cown-pairs-bulk", "coact-grouped", ELSEWHERE),
    ("actor-ring", "coact-cowns", ELSEWHERE),
    ("actor-ring", "coact-fiber-together", ELSEWHERE),
    ("actor-ping-pong", "coact-fiber-together", ELSEWHERE),
    ("actor-ping-pong", "coact-grouped", ELSEWHERE),
    ("actor-ping-pong", "coact-cowns", ELSEWHERE),
    ("actor-pairs", "coact-grouped", ELSEWHERE),
    ("actor-pairs", "coact-cowns", ELSEWHERE),
    ("actor-count", "coact-cowns", ELSEWHERE),
];

/// A new one is counted, or says why not.
#[test]
fn each_of_ours_is_counted_or_exempt() {
    let micro: HashSet<_> = table::micro::ALL.iter().map(|workload| workload.name).collect();
    let all = coact_bench_programs::WAYS.iter();
    let ours: Vec<_> = all
        .flat_map(|way| way.workloads.iter().map(|workload| (*workload, way.name)))
        .filter(|(workload, _)| micro.contains(workload))
        .collect();
    let counted: HashSet<_> =
        cases::ALL.iter().map(|case| (case.workload, case.implementation)).collect();
    let exempt: HashSet<_> =
        EXEMPT.iter().map(|(workload, implementation, _)| (*workload, *implementation)).collect();
    assert_eq!(exempt.len(), EXEMPT.len(), "one is exempt twice");
    let missing: Vec<_> =
        ours.iter().filter(|it| !counted.contains(it) && !exempt.contains(it)).collect();
    assert!(missing.is_empty(), "neither counted nor exempt: {missing:?}");
    let both: Vec<_> = exempt.intersection(&counted).collect();
    assert!(both.is_empty(), "counted and exempt: {both:?}");
    let unknown: Vec<_> = exempt.iter().filter(|it| !ours.contains(it)).collect();
    assert!(unknown.is_empty(), "exempt, but not there: {unknown:?}");
}
