//! What this program itself does.

use coact_bench_workloads::Way;

/// All of it.
pub const WAYS: &[&[Way]] =
    &[coact_bench_programs::WAYS, coact_bench_savina::ACTORS, coact_bench_savina::BEHAVIOURS];

/// The one of this name to do a workload.
pub fn way(workload: &str, name: &str) -> Option<&'static Way> {
    let mut all = WAYS.iter().copied().flatten();
    all.find(|way| way.name == name && way.workloads.contains(&workload))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use coact_bench_workloads::{Given, Setup, table};

    use super::{WAYS, way};

    const TINY: Setup = Setup { scale: 0.0001, workers: 2 };

    #[test]
    fn every_way_has_the_right_result_at_a_tiny_scale() {
        let mut seen = HashSet::new();
        for way in WAYS.iter().copied().flatten() {
            for name in way.workloads {
                let workload = table::named(name).unwrap_or_else(|| panic!("there is no {name}"));
                let case = format!("{name} / {}", way.name);
                let measured = (way.run)(&Given::of(&workload.sizes(&TINY)));
                let measured = measured.unwrap_or_else(|error| panic!("{case}: {error:#}"));
                let checked = workload.check(&TINY, &measured);
                checked.unwrap_or_else(|wrong| panic!("{case}: {wrong}"));
                assert!(measured.operations > 0, "{case}");
                assert!(seen.insert(case.clone()), "{case} is there twice");
            }
        }
    }

    #[test]
    fn each_workload_has_a_way_of_ours_which_comes_first() {
        for workload in table::all() {
            let mut all = WAYS.iter().copied().flatten();
            let first = all.find(|way| way.workloads.contains(&workload.name));
            assert_eq!(first.map(|way| way.name), Some("coact"), "{}", workload.name);
        }
    }

    #[test]
    fn a_way_is_found_by_both_names() {
        assert_eq!(way("counter-8", "coact-here").map(|way| way.workloads.len()), Some(4));
        assert!(way("counter-8", "coact-full").is_none());
        assert!(way("counter-9", "coact").is_none());
    }
}
