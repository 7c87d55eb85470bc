//! Why no case takes a tuple.

use std::fmt::{self, Display, Formatter};

use coact_tuple::{AnyTuple, short};

use super::shape::{CaseShape, WantedElement};

/// Why no case takes a tuple, in words: see [`Cases::explain`](crate::Cases::explain).
#[derive(Clone, Debug)]
pub struct NoMatch {
    tuple: AnyTuple,
    nearest: Option<NearestCase>,
    /// The cases are in the middle of a body, and not known here.
    of_body: bool,
}

/// The case that comes nearest.
#[derive(Clone, Debug)]
struct NearestCase {
    pattern: &'static str,
    /// What is wrong with it: the positions, and the types that it wants there. Empty if only a
    /// guard, a literal or a projection did not match.
    misfits: Vec<(usize, &'static str)>,
}

impl NoMatch {
    pub(crate) fn of<'s>(shapes: impl Iterator<Item = &'s CaseShape>, tuple: &AnyTuple) -> Self {
        let of_this_length = shapes.filter_map(|shape| {
            let misfits = shape.misfits(tuple)?.filter_map(|(at, wanted)| match wanted {
                WantedElement::Typed(_, name) => Some((at, name())),
                WantedElement::One | WantedElement::Rest => None,
            });
            Some(NearestCase { pattern: shape.patterns.first()?, misfits: misfits.collect() })
        });
        let nearest = of_this_length.min_by_key(|nearest| nearest.misfits.len());
        Self { tuple: tuple.clone(), nearest, of_body: false }
    }

    /// Where there are no cases at all.
    pub(crate) fn without_cases(tuple: &AnyTuple) -> Self {
        Self { tuple: tuple.clone(), nearest: None, of_body: false }
    }

    /// Where a body waits for something else.
    pub(crate) fn of_body(tuple: &AnyTuple) -> Self {
        Self { tuple: tuple.clone(), nearest: None, of_body: true }
    }

    /// The tuple.
    #[must_use]
    pub fn tuple(&self) -> &AnyTuple {
        &self.tuple
    }
}

impl Display for NoMatch {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.of_body {
            return write!(f, "the body waits for something else than {}", self.tuple);
        }
        write!(f, "no case takes {}", self.tuple)?;
        let Some(NearestCase { pattern, misfits }) = &self.nearest else {
            return match self.tuple.len() {
                1 => f.write_str(": none has one element"),
                len => write!(f, ": none has {len} elements"),
            };
        };
        if misfits.is_empty() {
            return write!(f, ": the nearest is `{pattern}`, whose types fit, but not its values");
        }
        write!(f, ": the nearest is `{pattern}`")?;
        for (number, (at, wanted)) in misfits.iter().enumerate() {
            let verb = if number == 0 { ", but" } else { ", and" };
            let element = self.tuple.element(*at).expect("the case has this length");
            let found = short(self.tuple.elements()[*at].name());
            write!(f, "{verb} `{element:?}` is `{found}`, and `{}` is wanted", short(wanted))?;
        }
        Ok(())
    }
}
