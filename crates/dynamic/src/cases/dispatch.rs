//! Which cases a tuple can fit, found once for each type of tuples.

use std::collections::HashMap;

use coact_tuple::AnyTuple;

use super::shape::Shape;

/// The shapes that fit a type of tuples, by their numbers, in order.
type Fitting = Box<[u16]>;

/// The shapes of some cases, and what was found for the tuples seen so far.
pub(crate) struct Dispatch {
    shapes: Box<[Shape]>,
    /// By [`AnyTuple::shape`].
    known: HashMap<usize, Fitting>,
    /// The last one that was looked for, since the next is often the same.
    last: (usize, Fitting),
}

impl Dispatch {
    pub(crate) fn new(shapes: Vec<Shape>) -> Self {
        Self { shapes: shapes.into(), known: HashMap::new(), last: (0, Box::default()) }
    }

    pub(crate) fn shapes(&self) -> &[Shape] {
        &self.shapes
    }

    /// The numbers of the shapes that fit the tuple.
    #[inline]
    pub(crate) fn fitting(&mut self, tuple: &AnyTuple) -> &[u16] {
        if self.last.0 != tuple.shape() {
            self.look_up(tuple);
        }
        &self.last.1
    }

    #[cold]
    fn look_up(&mut self, tuple: &AnyTuple) {
        let shapes = &self.shapes;
        let find = || {
            let fits = (0..).zip(shapes).filter(|(_, shape)| shape.fits(tuple));
            fits.map(|(number, _)| number).collect::<Fitting>()
        };
        let fitting = self.known.entry(tuple.shape()).or_insert_with(find);
        self.last = (tuple.shape(), fitting.clone());
    }
}
