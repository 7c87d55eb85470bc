//! Which cases a tuple can fit, found once for each type of tuples.

use std::mem::{replace, swap};

use coact_tuple::AnyTuple;

use super::shape::CaseShape;

/// The shapes of some cases, and what was found for the tuples seen so far.
///
/// A program has few types of tuples for one actor, so a search is faster than a hash; and the last
/// one is in place, since the next is often the same.
pub(crate) struct CandidateCache {
    shapes: Box<[CaseShape]>,
    last: TypeCandidates,
    others: Vec<TypeCandidates>,
}

/// What was found for a type of tuples.
struct TypeCandidates {
    /// By [`AnyTuple::type_key`].
    type_key: usize,
    /// The shapes that fit it, of the first [`IN_MASK`]: a bit each.
    mask: u64,
    /// And those behind them, by their numbers.
    behind: Box<[u16]>,
}

/// How many shapes have a bit.
const IN_MASK: usize = u64::BITS as usize;

/// The numbers of shapes that fit, in order.
pub(crate) struct CandidateShapes<'d> {
    mask: u64,
    behind: &'d [u16],
}

impl CandidateShapes<'_> {
    fn is_empty(&self) -> bool {
        self.mask == 0 && self.behind.is_empty()
    }
}

impl Iterator for CandidateShapes<'_> {
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

impl CandidateCache {
    pub(crate) fn new(shapes: Vec<CaseShape>) -> Self {
        // No tuple has the key 0.
        let last = TypeCandidates { type_key: 0, mask: 0, behind: Box::default() };
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
    pub(crate) fn fitting(&mut self, tuple: &AnyTuple) -> CandidateShapes<'_> {
        let type_key = tuple.type_key();
        if self.last.type_key != type_key {
            self.look_up(type_key, tuple);
        }
        let TypeCandidates { mask, behind, .. } = &self.last;
        CandidateShapes { mask: *mask, behind }
    }

    #[inline(never)]
    fn look_up(&mut self, type_key: usize, tuple: &AnyTuple) {
        if let Some(known) = self.others.iter_mut().find(|known| known.type_key == type_key) {
            swap(&mut self.last, known);
        } else {
            let last = replace(&mut self.last, TypeCandidates::of(type_key, &self.shapes, tuple));
            if last.type_key != 0 {
                self.others.push(last);
            }
        }
    }
}

impl TypeCandidates {
    fn of(type_key: usize, shapes: &[CaseShape], tuple: &AnyTuple) -> Self {
        let (masked, behind) = shapes.split_at(shapes.len().min(IN_MASK));
        let bits = masked.iter().enumerate().filter(|(_, shape)| shape.fits(tuple));
        let mask = bits.fold(0, |mask, (number, _)| mask | 1 << number);
        let behind = (IN_MASK as u16..).zip(behind).filter(|(_, shape)| shape.fits(tuple));
        Self { type_key, mask, behind: behind.map(|(number, _)| number).collect() }
    }
}
