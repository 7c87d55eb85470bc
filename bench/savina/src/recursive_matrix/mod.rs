//! Multiplies matrices block by block, which workers split until they are small.

mod actor;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Unit, Workload};

const WORKERS: u64 = 20;

/// 1,024, or the greatest power of two whose work is within the scale.
fn size(setup: &Setup) -> u64 {
    let most = setup.scaled(1024 * 1024 * 1024);
    (3..=10).rev().map(|power| 1 << power).find(|size: &u64| size.pow(3) <= most).unwrap_or(8)
}

/// An eighth of the size, so that there are always as many blocks.
fn threshold(setup: &Setup) -> u64 {
    (size(setup) / 8).pow(2)
}

/// What is multiplied.
struct Matrices {
    size: usize,
    threshold: usize,
    a: Vec<f64>,
    b: Vec<f64>,
}

impl Matrices {
    fn of(setup: &Setup) -> Matrices {
        let (size, threshold) = (size(setup) as usize, threshold(setup) as usize);
        let a = (0..size * size).map(|place| (place / size) as f64).collect();
        let b = (0..size * size).map(|place| (place % size) as f64).collect();
        Matrices { size, threshold, a, b }
    }

    /// Values of a row of A.
    fn a(&self, row: usize, column: usize, values: usize) -> &[f64] {
        &self.a[row * self.size + column..][..values]
    }

    /// Values of a row of B.
    fn b(&self, row: usize, column: usize, values: usize) -> &[f64] {
        &self.b[row * self.size + column..][..values]
    }
}

/// Row i and column j hold `size` times i·j.
fn expected(setup: &Setup) -> u64 {
    let size = size(setup);
    let numbers = size * (size - 1) / 2;
    size * numbers * numbers
}

/// Work that makes work.
pub struct RecursiveMatrix;

impl Workload for RecursiveMatrix {
    fn name(&self) -> &'static str {
        "recursive-matrix"
    }

    fn about(&self) -> &'static str {
        "two matrices of 1,024 x 1,024 in 512 blocks; the whole"
    }

    fn group(&self) -> Group {
        Group::Savina
    }

    fn unit(&self) -> Unit {
        Unit::Seconds
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        vec![("size", size(setup)), ("workers_n", WORKERS), ("threshold", threshold(setup))]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the sum of the product", expected(setup), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[Implementation {
            name: "coact",
            about: "a master deals blocks to 20 workers",
            run: |setup| {
                let matrices = Matrices::of(setup);
                super::run(setup, 1, 1, move |done| actor::start(WORKERS, matrices, done))
            },
        }]
    }
}
