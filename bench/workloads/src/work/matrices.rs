//! Savina's matrices, of which every value is its row or its column.

use crate::workload::Setup;

/// 1,024, or the greatest power of two whose work is within the scale.
pub fn size(setup: &Setup) -> u64 {
    let most = setup.scaled(1024 * 1024 * 1024);
    (3..=10).rev().map(|power| 1 << power).find(|size: &u64| size.pow(3) <= most).unwrap_or(8)
}

/// The sum of the product: row i and column j hold `size` times i·j.
pub fn product(size: u64) -> u64 {
    let numbers = size * (size - 1) / 2;
    size * numbers * numbers
}

/// What is multiplied.
pub struct Matrices {
    /// Rows, and columns.
    pub size: usize,
    /// Values of the largest block that is not split.
    pub threshold: usize,
    a: Vec<f64>,
    b: Vec<f64>,
}

impl Matrices {
    /// Two of this size.
    pub fn new(size: u64, threshold: u64) -> Matrices {
        let (size, threshold) = (size as usize, threshold as usize);
        let a = (0..size * size).map(|place| (place / size) as f64).collect();
        let b = (0..size * size).map(|place| (place % size) as f64).collect();
        Matrices { size, threshold, a, b }
    }

    /// Values of a row of A.
    #[inline]
    pub fn a(&self, row: usize, column: usize, values: usize) -> &[f64] {
        &self.a[row * self.size + column..][..values]
    }

    /// Values of a row of B.
    #[inline]
    pub fn b(&self, row: usize, column: usize, values: usize) -> &[f64] {
        &self.b[row * self.size + column..][..values]
    }
}
