//! Goals on made-up records: met, missed, and open.

use coact_bench_workloads::{Drawing, Group};

use super::{Goal, Verdict, all};
use crate::measure::record::Record;
use crate::report::sample::record;
use crate::report::study::Studies;

/// The goal whose aim has this in it.
fn goal(records: &[Record], named: &str) -> Goal {
    let mut goals = all(&Studies::of(records)).into_iter();
    goals.find(|goal| goal.aim.contains(named)).expect("there is such a goal")
}

fn savina(number: usize, implementation: &str, value: f64) -> Record {
    let record = record(&format!("program-{number}"), implementation, 2, &[value]);
    Record { group: Group::Savina, ..record }
}

#[test]
fn without_records_all_are_open() {
    assert!(all(&Studies::of(&[])).iter().all(|goal| goal.verdict == Verdict::Open));
}

#[test]
fn one_peer_that_is_faster_in_one_workload_is_a_miss_and_is_named() {
    let mut records = vec![record("ring", "coact", 2, &[1.0]), record("ring", "tokio", 2, &[2.0])];
    assert_eq!(goal(&records, "every peer").verdict, Verdict::Met);
    records.push(record("ring", "crossbeam", 2, &[0.5]));
    let missed = goal(&records, "every peer");
    assert_eq!(missed.verdict, Verdict::Missed);
    assert!(missed.found.contains("1 of 2"), "{missed:?}");
    assert!(missed.found.contains("crossbeam in ring on 2 workers (2.0 times)"), "{missed:?}");
}

#[test]
fn savina_is_judged_by_the_geometric_mean_of_all_programs() {
    let caf = (0..22).map(|n| savina(n, "caf", if n % 2 == 0 { 2.0 } else { 18.0 }));
    let pekko = (0..22).map(|n| savina(n, "pekko", 4.0));
    let mut records: Vec<Record> = caf.chain(pekko).collect();
    let met = goal(&records, "CAF");
    assert_eq!(met.verdict, Verdict::Met);
    assert!(met.found.starts_with("6.0 times"), "{met:?}");
    assert_eq!(goal(&records, "Pekko").verdict, Verdict::Missed);
    records.remove(0);
    assert_eq!(goal(&records, "CAF").verdict, Verdict::Open);
}

#[test]
fn the_full_form_must_win_in_nine() {
    let forms = |faster: usize, all: usize| -> Vec<Record> {
        let full = |n| savina(n, "coact-full", if n < faster { 0.5 } else { 2.0 });
        (0..all).flat_map(|n| [savina(n, "coact", 1.0), full(n)]).collect()
    };
    let verdict = |faster, all| goal(&forms(faster, all), "full form").verdict;
    assert_eq!(verdict(9, 11), Verdict::Met);
    assert_eq!(verdict(8, 11), Verdict::Missed);
    assert_eq!(verdict(8, 8), Verdict::Open);
    assert_eq!(verdict(0, 3), Verdict::Missed);
}

#[test]
fn scaling_is_held_against_the_ideal() {
    let case = |workers, seconds| {
        let mut record = record("busy-banking", "coact", workers, &[seconds]);
        record.unit = "s".to_owned();
        record.drawing = Drawing::Workers { ideal: Some(1.0) };
        record
    };
    assert_eq!(goal(&[case(1, 1.02), case(2, 0.52)], "busy-banking").verdict, Verdict::Met);
    assert_eq!(goal(&[case(1, 1.02), case(2, 0.6)], "busy-banking").verdict, Verdict::Missed);
    assert_eq!(goal(&[case(1, 1.02)], "busy-banking").verdict, Verdict::Open);
}

#[test]
fn counters_are_held_against_the_fastest_crate() {
    let mut records = Vec::new();
    for name in super::COUNTERS {
        records.push(record(name, "kameo", 2, &[9.0]));
        records.push(record(name, "actix-arbiters", 2, &[3.5]));
        records.push(record(name, "crossbeam", 2, &[1.1]));
    }
    let crates = goal(&records, "kameo");
    assert_eq!(crates.verdict, Verdict::Met, "{crates:?}");
    assert!(crates.found.contains("3.5 times actix-arbiters in counter-8"), "{crates:?}");
    assert_eq!(goal(&records, "crossbeam").verdict, Verdict::Met);
    records.truncate(6);
    assert_eq!(goal(&records, "crossbeam").verdict, Verdict::Open);
}

#[test]
fn memory_must_be_flat_and_the_lowest() {
    let case = |implementation, late: u64| {
        let mut record = record("mixed", implementation, 2, &[1.0]);
        record.memory = vec![(0.1, 1000), (0.4, 900), (0.6, late), (1.0, 500)];
        record
    };
    let verdict =
        |ours, theirs| goal(&[case("coact", ours), case("caf", theirs)], "memory").verdict;
    assert_eq!(verdict(1100, 5000), Verdict::Met);
    assert_eq!(verdict(1300, 5000), Verdict::Missed);
    assert_eq!(verdict(1100, 1050), Verdict::Missed);
    assert_eq!(goal(&[case("coact", 1000)], "memory").verdict, Verdict::Open);
}

#[test]
fn behaviours_are_held_against_our_own_actors() {
    let records = |actors| {
        [
            record("reasonable-banking", "coact", 2, &[1.0]),
            record("reasonable-banking", "coact-actors", 2, &[actors]),
        ]
    };
    assert_eq!(goal(&records(60.0), "reasonable").verdict, Verdict::Met);
    assert_eq!(goal(&records(40.0), "reasonable").verdict, Verdict::Missed);
}
