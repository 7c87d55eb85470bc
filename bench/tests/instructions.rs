//! Counting, from the program to the table.

use std::path::{Path, PathBuf};

use coact_bench::instructions::count::Counter;
use coact_bench::instructions::{Table, callgrind, cases};

/// What a build without optimisation takes is of no interest, but that it is counted is.
#[test]
fn a_case_is_counted_twice_alike_with_its_atomics() {
    if let Err(reason) = callgrind::version() {
        eprintln!("skipped: {reason:#}");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder can be made");
    let counter = Counter::new(PathBuf::from(env!("CARGO_BIN_EXE_coact-bench")), folder.path());
    let case = cases::named(&["here-one/coact-behaviour".to_owned()]).expect("it is counted")[0];
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
