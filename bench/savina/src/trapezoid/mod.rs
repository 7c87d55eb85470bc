//! Approximates an integral by trapezoids.

mod actor;
mod full;

use std::ops::Range;

use coact_bench_workloads::workload::{Mismatch, expect};
use coact_bench_workloads::{Group, Implementation, Measured, Setup, Workload};

/// What is integrated, and by how many.
#[derive(Clone, Copy)]
struct Integral {
    pieces: u64,
    workers: u64,
    left: u64,
    right: u64,
}

impl Integral {
    fn of(setup: &Setup) -> Integral {
        let workers = 100;
        Integral { pieces: workers * setup.scaled(100_000), workers, left: 1, right: 5 }
    }

    fn width(self) -> f64 {
        (self.right - self.left) as f64 / self.pieces as f64
    }

    /// Where a piece begins.
    fn at(self, piece: u64) -> f64 {
        self.left as f64 + piece as f64 * self.width()
    }

    /// The pieces of each worker.
    fn parts(self) -> impl Iterator<Item = Range<u64>> {
        let each = self.pieces / self.workers;
        (0..self.workers).map(move |worker| worker * each..(worker + 1) * each)
    }
}

fn function(x: f64) -> f64 {
    1.0 / (x + 1.0) * (1.0 + (2.0 * x).sqrt().exp()).sqrt() * (x.powi(3) - 1.0).sin()
}

/// The area below some pieces.
fn area(integral: Integral, pieces: Range<u64>) -> f64 {
    let width = integral.width();
    let trapezoid = |piece| {
        let left = integral.at(piece);
        (function(left) + function(left + width)) / 2.0 * width
    };
    pieces.map(trapezoid).sum()
}

fn result(area: f64) -> u64 {
    (area * 1e6).round() as i64 as u64
}

/// Each place is computed once here, and the width multiplied last.
fn expected(integral: Integral) -> u64 {
    let ends = function(integral.at(0)) / 2.0 + function(integral.at(integral.pieces)) / 2.0;
    let inner: f64 = (1..integral.pieces).map(|piece| function(integral.at(piece))).sum();
    result((ends + inner) * integral.width())
}

/// Computations that share nothing.
pub struct Trapezoid;

impl Workload for Trapezoid {
    fn name(&self) -> &'static str {
        "trapezoid"
    }

    fn about(&self) -> &'static str {
        "100 workers compute parts of an integral; a piece"
    }

    fn group(&self) -> Group {
        Group::Savina
    }

    fn parameters(&self, setup: &Setup) -> Vec<(&'static str, u64)> {
        let Integral { pieces, workers, left, right } = Integral::of(setup);
        vec![("pieces", pieces), ("workers_n", workers), ("left", left), ("right", right)]
    }

    fn check(&self, setup: &Setup, measured: &Measured) -> Result<(), Mismatch> {
        expect("the area in millionths", expected(Integral::of(setup)), measured)
    }

    fn implementations(&self) -> &[Implementation] {
        &[
            Implementation {
                name: "coact",
                about: "a master asks each worker for its area",
                run: |setup| {
                    let integral = Integral::of(setup);
                    super::run(setup, integral.pieces, 1, move |done| actor::start(integral, done))
                },
            },
            Implementation {
                name: "coact-full",
                about: "a cown an area, and one behaviour over all of them",
                run: |setup| {
                    let integral = Integral::of(setup);
                    super::run(setup, integral.pieces, 1, move |done| full::start(integral, done))
                },
            },
        ]
    }
}
