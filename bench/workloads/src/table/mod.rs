//! What is measured: a row a workload. Who does it is no part of it.

pub mod headline;
pub mod micro;
mod row;
pub mod savina;

use crate::workload::Workload;

/// Every workload, in the order of the reports.
pub fn all() -> impl Iterator<Item = &'static Workload> {
    headline::ALL.iter().chain(savina::ALL).chain(micro::ALL)
}

/// The one of this name.
pub fn named(name: &str) -> Option<&'static Workload> {
    all().find(|workload| workload.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::all;
    use crate::workload::{Measured, Setup, Size};

    const TINY: Setup = Setup { scale: 0.0001, workers: 2 };

    #[test]
    fn every_row_is_whole_and_has_a_name_of_its_own() {
        let mut names = HashSet::new();
        for workload in all() {
            let name = workload.name;
            assert!(names.insert(name), "{name} is there twice");
            assert!(![name, workload.about, workload.result].contains(&""), "{name}");
            assert!(!workload.sizes.is_empty(), "{name}");
        }
    }

    #[test]
    fn every_size_is_above_zero_and_every_check_refuses_a_wrong_result() {
        for workload in all() {
            let sizes = workload.sizes(&TINY);
            let may_be_zero = |name: &str| {
                workload.sizes.iter().any(|(n, size)| *n == name && matches!(size, Size::Fixed(0)))
            };
            let is_right = |(name, size): &(&str, u64)| *size > 0 || may_be_zero(name);
            assert!(sizes.named().iter().all(is_right), "{}", workload.name);
            let right = (workload.expected)(&sizes);
            let measured = |result| Measured::new(std::time::Duration::from_nanos(1), 1, result);
            workload.check(&TINY, &measured(right)).expect("it is right");
            let wrong = workload.check(&TINY, &measured(right.wrapping_add(1)));
            assert!(wrong.is_err(), "{} accepts a wrong result", workload.name);
        }
    }
}
