//! Every way, tiny, with its result checked by the tool's own workload.

use std::collections::HashSet;

use coact_bench_workloads::{Given, Setup, Way, table};

use super::{WAYS, about};

fn ways() -> impl Iterator<Item = &'static Way> {
    WAYS.iter().copied().flatten()
}

#[test]
fn every_way_has_the_right_result_at_a_tiny_scale_on_one_and_on_two_workers() {
    for Way { workloads, name, run, .. } in ways() {
        for workload in *workloads {
            let known = table::named(workload);
            let known = known.unwrap_or_else(|| panic!("the tool knows no {workload}"));
            for workers in [1, 2] {
                let setup = Setup { scale: 0.0001, workers };
                let measured = run(&Given::of(&known.sizes(&setup)))
                    .unwrap_or_else(|error| panic!("{workload} / {name}: {error:#}"));
                known
                    .check(&setup, &measured)
                    .unwrap_or_else(|wrong| panic!("{workload} / {name} on {workers}: {wrong}"));
                assert!(measured.operations > 0, "{workload} / {name}");
            }
        }
    }
}

#[test]
fn no_way_is_offered_twice() {
    let mut seen = HashSet::new();
    for way in ways() {
        for workload in way.workloads {
            assert!(seen.insert((workload, way.name)), "{workload} / {}", way.name);
        }
    }
}

#[test]
fn the_versions_are_told() {
    let about = about();
    assert!(about.contains("kameo 0.") && !about.contains("unknown"), "{about}");
}
