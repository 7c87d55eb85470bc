//! Every implementation of every workload, tiny, with its result checked; and that the checks do check.

use std::collections::HashSet;
use std::time::Duration;

use super::all;
use coact_bench_workloads::{Measured, Setup};

const TINY: Setup = Setup { scale: 0.0001, workers: 2 };

#[test]
fn every_implementation_has_the_right_result_at_a_tiny_scale() {
    for workload in all() {
        for implementation in workload.implementations() {
            let measured = (implementation.run)(&TINY);
            workload.check(&TINY, &measured).unwrap_or_else(|wrong| {
                panic!("{} / {}: {wrong}", workload.name(), implementation.name)
            });
            assert!(measured.operations > 0, "{} / {}", workload.name(), implementation.name);
        }
    }
}

#[test]
fn every_check_refuses_a_wrong_result() {
    for workload in all() {
        let implementation = &workload.implementations()[0];
        let right = (implementation.run)(&TINY);
        workload.check(&TINY, &right).expect("the result is right");
        let wrong = Measured { result: right.result.wrapping_add(1), ..right };
        assert!(
            workload.check(&TINY, &wrong).is_err(),
            "{} accepts a wrong result",
            workload.name()
        );
    }
}

#[test]
fn names_are_unique_and_ours_comes_first() {
    let mut workloads = HashSet::new();
    for workload in all() {
        assert!(workloads.insert(workload.name()));
        assert_eq!(workload.implementations()[0].name, "coact");
        let mut names = HashSet::new();
        assert!(
            workload
                .implementations()
                .iter()
                .all(|implementation| names.insert(implementation.name))
        );
    }
}

#[test]
fn a_figure_is_time_by_operations() {
    let measured = Measured::new(Duration::from_micros(3), 1_000, 0);
    assert_eq!(measured.value(coact_bench_workloads::Unit::NanosPerOperation), 3.0);
    assert_eq!(measured.value(coact_bench_workloads::Unit::Seconds), 3e-6);
}
