//! Savina's integral, approximated by trapezoids.

use std::ops::Range;

/// What is integrated, and by how many.
#[derive(Clone, Copy)]
pub struct Integral {
    /// Trapezoids.
    pub pieces: u64,
    /// Workers.
    pub workers: u64,
    /// Where it begins.
    pub left: u64,
    /// Where it ends.
    pub right: u64,
}

impl Integral {
    fn width(self) -> f64 {
        (self.right - self.left) as f64 / self.pieces as f64
    }

    /// Where a piece begins.
    fn at(self, piece: u64) -> f64 {
        self.left as f64 + piece as f64 * self.width()
    }

    /// The pieces of each worker.
    pub fn parts(self) -> impl Iterator<Item = Range<u64>> {
        let each = self.pieces / self.workers;
        (0..self.workers).map(move |worker| worker * each..(worker + 1) * each)
    }
}

fn function(x: f64) -> f64 {
    1.0 / (x + 1.0) * (1.0 + (2.0 * x).sqrt().exp()).sqrt() * (x.powi(3) - 1.0).sin()
}

/// The area below some pieces.
pub fn area(integral: Integral, pieces: Range<u64>) -> f64 {
    let width = integral.width();
    let trapezoid = |piece| {
        let left = integral.at(piece);
        (function(left) + function(left + width)) / 2.0 * width
    };
    pieces.map(trapezoid).sum()
}

/// In millionths.
pub fn result(area: f64) -> u64 {
    (area * 1e6).round() as i64 as u64
}

/// The whole: each place is computed once here, and the width multiplied last.
pub fn expected(integral: Integral) -> u64 {
    let ends = function(integral.at(0)) / 2.0 + function(integral.at(integral.pieces)) / 2.0;
    let inner: f64 = (1..integral.pieces).map(|piece| function(integral.at(piece))).sum();
    result((ends + inner) * integral.width())
}
