//! Which cases a tuple can fit, found once for each type of tuples.

use std::mem::{replace, swap};

use coact_tuple::AnyTuple;

use super::shape::CaseShape;

/// The shapes of some cases, and what was found for the tuples seen so far.
///
/// A program has few types of tuples for one actor, so a search is faster than a hash; and the last
/// one is in place, since the next is often the same.
pub(crate) struct Dispatch {
    shapes: Box<[CaseShape]>,
    last: FoundShapes,
    others: Vec<FoundShapes>,
}

/// What was found for a type of tuples.
struct FoundShapes {
    /// By [`AnyTuple::shape`].
    shape: usize,
    /// The shapes that fit it, of the first [`IN_MASK`]: a bit each.
    mask: u64,
    /// And those behind them, by their numbers.
    behind: Box<[u16]>,
}

/// How many shapes have a bit.
const IN_MASK: usize = u64::BITS as usize;

/// The numbers of shapes that fit, in order.
pub(crate) struct FittingShapes<'d> {
    mask: u64,
    behind: &'d [u16],
}

impl FittingShapes<'_> {
    fn is_empty(&self) -> bool {
        self.mask == 0 && self.behind.is_empty()
    }
}

impl Iterator for FittingShapes<'_> {
    type Item = u16;

    #[inline]
    fn next(&mut self) -> Option<u16> {
        if self.mask != 0 {
            let number = self.mask.trailing_zeros() as u16;
            self.mask &= self.mask - 1;
            return Some(number);
        }
        let (first, others) = self.behind.split_first()?;
        self.behind = others;
        Some(*first)
    }
}

impl Dispatch {
    pub(crate) fn new(shapes: Vec<CaseShape>) -> Self {
        // No tuple has the number 0.
        let last = FoundShapes { shape: 0, mask: 0, behind: Box::default() };
        Self { shapes: shapes.into(), last, others: Vec::new() }
    }

    pub(crate) fn shapes(&self) -> &[CaseShape] {
        &self.shapes
    }

    /// Whether any shape fits the tuple.
    pub(crate) fn has_fitting(&mut self, tuple: &AnyTuple) -> bool {
        !self.fitting(tuple).is_empty()
    }

    /// The shapes that fit the tuple.
    #[inline]
    pub(crate) fn fitting(&mut self, tuple: &AnyTuple) -> FittingShapes<'_> {
        let shape = tuple.shape();
        if self.last.shape != shape {
            self.look_up(shape, tuple);
        }
        let FoundShapes { mask, behind, .. } = &self.last;
        FittingShapes { mask: *mask, behind }
    }

    #[inline(never)]
    fn look_up(&mut self, shape: usize, tuple: &AnyTuple) {
        if let Some(known) = self.others.iter_mut().find(|known| known.shape == shape) {
            swap(&mut self.last, known);
        } else {
            let last = replace(&mut self.last, FoundShapes::of(shape, &self.shapes, tuple));
            if last.shape != 0 {
                self.others.push(last);
            }
        }
    }
}

impl FoundShapes {
    fn of(shape: usize, shapes: &[CaseShape], tuple: &AnyTuple) -> Self {
        let (masked, behind) = shapes.split_at(shapes.len().min(IN_MASK));
        let bits = masked.iter().enumerate().filter(|(_, shape)| shape.fits(tuple));
        let mask = bits.fold(0, |mask, (number, _)| mask | 1 << number);
        let behind = (IN_MASK as u16..).zip(behind).filter(|(_, shape)| shape.fits(tuple));
        Self { shape, mask, behind: behind.map(|(number, _)| number).collect() }
    }
}
