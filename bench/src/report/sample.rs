//! Made-up records for the tests.

use std::collections::BTreeMap;

use coact_bench_workloads::{Drawing, Group};

use crate::measure::calibration::Calibration;
use crate::measure::machine::Machine;
use crate::measure::record::Record;
use crate::measure::statistics::{Summary, paired_ratio};

/// A micro workload's record in nanoseconds, as if our own figure were one in each round.
pub fn record(workload: &str, implementation: &str, workers: usize, values: &[f64]) -> Record {
    Record {
        workload: workload.to_owned(),
        group: Group::Micro,
        about: "what is done".to_owned(),
        drawing: Drawing::Bars,
        implementation: implementation.to_owned(),
        how: "how it is done".to_owned(),
        program: "program 1.0".to_owned(),
        share: 1,
        parameters: BTreeMap::from([("messages".to_owned(), 1000)]),
        scale: 1.0,
        workers,
        repetitions: values.len(),
        summary: Summary::of(values).expect("a record has values"),
        unit: "ns".to_owned(),
        values: values.to_vec(),
        count: 1000,
        ratio: paired_ratio(values, &vec![1.0; values.len()]),
        peak_resident: Some(5 << 20),
        bytes_each: None,
        p99_ns: None,
        memory: Vec::new(),
        calibration: Calibration { step_ns: 1.0, atomic_add_ns: 5.0, round_trip_ns: 100.0 },
        machine: Machine {
            processor: "a processor".to_owned(),
            processors: 2,
            memory: None,
            system: "a system".to_owned(),
            allocator: "system".to_owned(),
            version: "0.1.0".to_owned(),
            optimised: true,
        },
    }
}
