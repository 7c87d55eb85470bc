//! Every way, tiny, with its result checked by the tool's own workload.

use std::collections::HashSet;

use coact_bench_workloads::Setup;
use coact_bench_workloads::program::{Given, Offer};
use coact_bench_programs::{headline, micro};

use super::{about, offers};

#[test]
fn every_way_has_the_right_result_at_a_tiny_scale_on_one_and_on_two_workers() {
    let workloads = [headline::ALL, micro::ALL].concat();
    for Offer { workload, name, run, .. } in offers() {
        let found = workloads.iter().find(|known| known.name() == workload);
        let known = found.unwrap_or_else(|| panic!("the tool knows no {workload}"));
        for workers in [1, 2] {
            let setup = Setup { scale: 0.0001, workers };
            let mut words = vec![format!("workers={workers}")];
            words.extend(known.parameters(&setup).iter().map(|(name, n)| format!("{name}={n}")));
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let measured = run(&Given::parse(&words).expect("they are words"))
                .unwrap_or_else(|error| panic!("{workload} / {name}: {error:#}"));
            known
                .check(&setup, &measured)
                .unwrap_or_else(|wrong| panic!("{workload} / {name} on {workers}: {wrong}"));
            assert!(measured.operations > 0, "{workload} / {name}");
        }
    }
}

#[test]
fn no_way_is_offered_twice() {
    let mut seen = HashSet::new();
    for Offer { workload, name, .. } in offers() {
        assert!(seen.insert((workload, name)), "{workload} / {name}");
    }
}

#[test]
fn the_versions_are_told() {
    let about = about();
    assert!(about.contains("kameo 0.") && !about.contains("unknown"), "{about}");
}
