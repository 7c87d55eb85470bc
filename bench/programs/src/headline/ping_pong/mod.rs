//! Pairs of actors that send each other messages: one in flight in a pair, or many.

mod actor;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Drawing, Group, Implementation, Measured, Setup, Workload};

/// How many pairs, how many messages fly there, and how often each is sent.
#[derive(Clone, Copy)]
struct Size {
    pairs: u64,
    /// Messages that the first of a pair serves, and the second.
    serves: (u64, u64),
    hops: u64,
}

impl Size {
    /// One message that comes back in the end, so that both handle as many.
    fn single(pairs: u64, setup: &Setup) -> Size {
        Size { pairs, serves: (1, 0), hops: setup.scaled(4_000_000 / pairs / 2) * 2 }
    }

    /// A hundred messages each; fewer only where the whole would be more than the scale wants.
    fn bulk(pairs: u64, setup: &Setup) -> Size {
        let each = setup.scaled_at_least(8_000_000, 2 * pairs) / (2 * pairs);
        let flight = each.min(100);
        Size { pairs, serves: (flight, flight), hops: each / flight }
    }

    fn messages_each(self) -> u64 {
        (self.serves.0 + self.serves.1) * self.hops / 2
    }

    fn messages(self) -> u64 {
        self.pairs * 2 * self.messages_each()
    }
}

/// Pairs with one message in flight.
pub struct Grouped<const PAIRS: u64> {
    /// The name of the workload, in which the number of actors is.
    pub name: &'static str,
}

impl<const PAIRS: u64> Workload for Grouped<PAIRS> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        "pairs of actors in different groups, one message in flight in each; a message"
    }

    fn group(&self) -> Group {
        Group::Headline
    }

    fn drawing(&self, _: &Setup) -> Drawing {
        Drawing::Actors { plot: "pingpong-grouped".to_owned(), actors: 2 * PAIRS }
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("pairs", PAIRS), ("hops", Size::single(PAIRS, setup).hops)]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the number of hops", Size::single(PAIRS, setup).messages(), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "each actor for itself",
                run: |setup| actor::ungrouped(setup, Size::single(PAIRS, setup)),
            },
            Implementation {
                name: "coact-grouped",
                about: "a group a worker; the two of a pair lie in different ones",
                run: |setup| actor::across_groups(setup, Size::single(PAIRS, setup)),
            },
        ]
    }
}

/// Pairs with many messages in flight.
pub struct Bulk<const PAIRS: u64> {
    /// The name of the workload, in which the number of actors is.
    pub name: &'static str,
}

impl<const PAIRS: u64> Workload for Bulk<PAIRS> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn about(&self) -> &'static str {
        "pairs of actors, 100 messages in flight from each side; a message"
    }

    fn group(&self) -> Group {
        Group::Headline
    }

    fn drawing(&self, _: &Setup) -> Drawing {
        Drawing::Actors { plot: "pingpong-bulk".to_owned(), actors: 2 * PAIRS }
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        let Size { pairs, serves: (flight, _), hops } = Size::bulk(PAIRS, setup);
        vec![("pairs", pairs), ("flight", flight), ("hops", hops)]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the number of hops", Size::bulk(PAIRS, setup).messages(), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "each actor for itself",
                run: |setup| actor::ungrouped(setup, Size::bulk(PAIRS, setup)),
            },
            Implementation {
                name: "coact-grouped",
                about: "a pair is a group",
                run: |setup| actor::in_groups(setup, Size::bulk(PAIRS, setup)),
            },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::Size;
    use coact_bench_workloads::Setup;

    #[test]
    fn the_full_sizes_are_those_of_the_programs() {
        let full = Setup { scale: 1.0, workers: 2 };
        let single = [50, 500, 5_000].map(|pairs| Size::single(pairs, &full));
        assert_eq!(single.map(|size| size.hops), [80_000, 8_000, 800]);
        assert_eq!(single.map(Size::messages), [4_000_000; 3]);
        let bulk = [50, 500, 5_000].map(|pairs| Size::bulk(pairs, &full));
        assert_eq!(bulk.map(|size| (size.serves.0, size.hops)), [(100, 800), (100, 80), (100, 8)]);
        assert_eq!(bulk.map(Size::messages), [8_000_000; 3]);
    }
}
