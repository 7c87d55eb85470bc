//! Rings that are torn down and built again, beside a processor's heavy work.

mod actix;
mod common;
mod kameo;
mod ractor;
mod tokio;

use coact_bench_workloads::Way;
use common::Size;

const THIS: &[&str] = &["mixed"];

/// Who does it.
pub const WAYS: &[Way] = &[
    Way::new(THIS, "tokio", "a task and an unbounded mpsc an actor", |given| {
        tokio::run(given, Size::of(given)?)
    }),
    Way::new(THIS, "kameo", "`tell` without waiting", |given| kameo::run(given, Size::of(given)?)),
    Way::new(THIS, "ractor", "`cast`", |given| ractor::run(given, Size::of(given)?)),
    Way::new(THIS, "actix", "all on one arbiter, `do_send`", |given| {
        Ok(actix::run(1, Size::of(given)?))
    }),
    Way::new(THIS, "actix-arbiters", "a ring and its worker an arbiter, by turns", |given| {
        Ok(actix::run(given.workers()?, Size::of(given)?))
    }),
];

#[cfg(test)]
mod tests {
    use super::common::sum_of_factors;

    #[test]
    fn each_factor_counts_as_often_as_it_divides() {
        assert_eq!([1, 2, 12, 97, 101 * 103].map(sum_of_factors), [0, 2, 7, 97, 204]);
    }
}
