//! The contract between a workload and the tool.
//!
//! A workload says what is done, how much of it at a given scale, and which result is right. A
//! program does it: see [`Way`](crate::program::Way).

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// One thing to measure, for all implementations: a row of the tables
/// [`headline`](crate::table::headline), [`savina`](crate::table::savina) and
/// [`micro`](crate::table::micro).
#[derive(Clone, Copy)]
pub struct Workload {
    /// The name on the command line and in the records.
    pub name: &'static str,
    /// One line for `list`: what is done, and what one operation is.
    pub about: &'static str,
    /// Where it belongs.
    pub group: Group,
    /// The unit of the figure.
    pub unit: Unit,
    /// How the report draws it, beside its table.
    pub drawing: fn(&Sizes) -> Drawing,
    /// How much of it, by the names that programs are given.
    pub sizes: &'static [(&'static str, Size)],
    /// What the result is.
    pub result: &'static str,
    /// What the result must be.
    pub expected: fn(&Sizes) -> u64,
}

impl Workload {
    /// The sizes at this setup.
    pub fn sizes(&self, setup: &Setup) -> Sizes {
        let values = self.sizes.iter().map(|(name, size)| (*name, size.at(setup))).collect();
        Sizes { setup: *setup, values }
    }

    /// How the report draws it at this setup.
    pub fn drawing(&self, setup: &Setup) -> Drawing {
        (self.drawing)(&self.sizes(setup))
    }

    /// Compares the result of a run with the one that the work must have.
    ///
    /// # Errors
    /// It is another one, so the measurement cannot be trusted.
    pub fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        let (expected, found) = ((self.expected)(&self.sizes(setup)), measured.result);
        if found == expected {
            Ok(())
        } else {
            Err(Mismatch { what: self.result, expected, found })
        }
    }
}

/// How much of something there is.
#[derive(Clone, Copy)]
pub enum Size {
    /// As much at every scale.
    Fixed(u64),
    /// The full size, scaled, and at least one.
    Scaled(u64),
    /// A multiple (first) of a full size (second), which is scaled, and at least one.
    Times(u64, u64),
    /// By a rule of its own.
    By(fn(&Setup) -> u64),
}

impl Size {
    fn at(self, setup: &Setup) -> u64 {
        match self {
            Size::Fixed(size) => size,
            Size::Scaled(full) => setup.scaled(full),
            Size::Times(times, full) => times * setup.scaled(full),
            Size::By(rule) => rule(setup),
        }
    }
}

/// The sizes of a workload at a setup: `sizes["hops"]`.
pub struct Sizes {
    /// What they were made for.
    pub setup: Setup,
    values: Vec<(&'static str, u64)>,
}

impl Sizes {
    /// Each with its name, in the order of the table.
    pub fn named(&self) -> &[(&'static str, u64)] {
        &self.values
    }

    /// As a program is told of them.
    pub fn words(&self) -> Vec<String> {
        let Setup { workers, scale } = self.setup;
        let sizes = self.values.iter().map(|(name, size)| format!("{name}={size}"));
        [format!("workers={workers}"), format!("scale={scale}")].into_iter().chain(sizes).collect()
    }
}

impl std::ops::Index<&str> for Sizes {
    type Output = u64;

    /// # Panics
    /// If the table has no such size.
    fn index(&self, name: &str) -> &u64 {
        let found = self.values.iter().find(|(known, _)| *known == name);
        found.map(|(_, size)| size).unwrap_or_else(|| panic!("the workload has no size {name}"))
    }
}

/// A family of workloads, which can be run by its name.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// What the papers and pages measure that this runtime stands on.
    Headline,
    /// The actor benchmark suite.
    Savina,
    /// One path through the runtime each.
    Micro,
}

impl Group {
    /// All of them, in the order of the reports.
    pub const ALL: [Group; 3] = [Group::Headline, Group::Savina, Group::Micro];

    /// As it is written on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Group::Headline => "headline",
            Group::Savina => "savina",
            Group::Micro => "micro",
        }
    }
}

/// What the reference of a workload draws, and so do we.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Drawing {
    /// A bar an implementation.
    Bars,
    /// Time over workers, and so it is measured on 1, 2, 4 … workers; beside the ideal line where
    /// there is one.
    Workers {
        /// Processor time of the whole work, in seconds: on n workers it takes an n-th at best.
        ideal: Option<f64>,
    },
    /// Throughput over the number of actors: the workloads of one name in this field are points of
    /// one plot.
    Actors {
        /// The plot, in which this workload is a point.
        plot: String,
        /// Actors of this workload.
        actors: u64,
    },
    /// Private memory over time, beside time over workers.
    Memory,
}

/// How much work, and on how many workers.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Factor on every size; 1 is the full size.
    pub scale: f64,
    /// Worker threads of a runtime.
    pub workers: usize,
}

impl Setup {
    /// A full size of `count`, scaled, and at least one.
    pub fn scaled(&self, count: u64) -> u64 {
        self.scaled_at_least(count, 1)
    }

    /// A full size of `count`, scaled, and at least `least`.
    pub fn scaled_at_least(&self, count: u64, least: u64) -> u64 {
        ((count as f64 * self.scale).round() as u64).max(least)
    }

    /// The same on another number of workers.
    pub fn on(&self, workers: usize) -> Setup {
        Setup { workers, ..*self }
    }

    /// A share of the work, for a peer that is so slow an operation that the whole would take
    /// minutes.
    pub fn share(&self, divisor: u32) -> Setup {
        Setup { scale: self.scale / f64::from(divisor), ..*self }
    }
}

/// What one run of an implementation found.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Measured {
    /// Time of the timed part only: no start-up, no tear-down.
    pub elapsed: Duration,
    /// Messages or behaviours (or what the workload counts) that were processed in it.
    pub operations: u64,
    /// What the work computed; the workload knows what it must be.
    pub result: u64,
    /// Memory taken by each thing made, where the workload is about that.
    pub bytes_each: Option<f64>,
    /// What 99 of 100 operations took at the most, in nanoseconds, where the workload is about
    /// that.
    pub p99_ns: Option<f64>,
}

impl Measured {
    /// A measurement without other figures.
    pub fn new(elapsed: Duration, operations: u64, result: u64) -> Measured {
        Measured { elapsed, operations, result, bytes_each: None, p99_ns: None }
    }

    /// The figure in the workload's unit.
    pub fn value(&self, unit: Unit) -> f64 {
        match unit {
            Unit::NanosPerOperation => self.elapsed.as_nanos() as f64 / self.operations as f64,
            Unit::Seconds => self.elapsed.as_secs_f64(),
        }
    }
}

/// The unit of a figure.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unit {
    /// Nanoseconds an operation.
    NanosPerOperation,
    /// Seconds for the whole.
    Seconds,
}

impl Unit {
    /// As it is printed.
    pub fn symbol(self) -> &'static str {
        match self {
            Unit::NanosPerOperation => "ns",
            Unit::Seconds => "s",
        }
    }
}

/// A result that the workload cannot have produced if it was done right.
#[derive(Debug, Eq, PartialEq)]
pub struct Mismatch {
    /// What was looked at.
    pub what: &'static str,
    /// What it must be.
    pub expected: u64,
    /// What it was.
    pub found: u64,
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "wrong result: {} is {} but must be {}", self.what, self.found, self.expected)
    }
}

impl std::error::Error for Mismatch {}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Measured, Unit};

    #[test]
    fn a_figure_is_time_by_operations() {
        let measured = Measured::new(Duration::from_micros(3), 1_000, 0);
        assert_eq!(measured.value(Unit::NanosPerOperation), 3.0);
        assert_eq!(measured.value(Unit::Seconds), 3e-6);
    }
}
