//! Tuples of any type, which is known when the program runs.

use std::fmt::{self, Debug, Display, Formatter};
use std::marker::PhantomData;
use std::mem::replace;
use std::ops::Deref;

use crate::depth::{drop_within, print_within};
use crate::erased_tuple::ErasedTuple;
use crate::tuple::{ElementType, Tuple};

/// A tuple of elements of any types, with up to twelve of them: a dynamically typed message.
///
/// A clone shares the elements. The first write to a tuple that is shared copies them; tuples are
/// values, and never change under a reader. Plain data of up to three words, with nothing to drop,
/// is in place, costs no allocation and is copied by a clone; everything else is in one block with
/// a count.
///
/// ```
/// # mod coact { pub mod dynamic { pub use coact_tuple::*; } }
/// use coact::dynamic::{AnyTuple, atom};
///
/// let push = AnyTuple::new((atom!("push"), vec![1, 2]));
/// let mut other = push.clone();
/// other.get_mut::<Vec<i32>>(1).unwrap().push(3);
/// assert_eq!(push.to_string(), "('push', [1, 2])");
/// assert_eq!(other.to_string(), "('push', [1, 2, 3])");
///
/// assert_eq!(push.get::<String>(1), None);
/// assert_eq!(push.types().to_string(), "(Atom, Vec<i32>)");
/// ```
#[derive(Clone)]
pub struct AnyTuple(ErasedTuple);

impl AnyTuple {
    #[inline]
    pub(crate) fn of(tuple: impl Tuple) -> Self {
        Self(ErasedTuple::new(tuple))
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.elements().len()
    }

    /// Whether it is the tuple without elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The types of the elements.
    #[must_use]
    pub fn elements(&self) -> &'static [ElementType] {
        self.0.types()
    }

    /// The types of the elements, to be printed.
    #[must_use]
    pub fn types(&self) -> Types {
        Types(self.elements())
    }

    /// A number for the types of the elements: tuples of other types have another one. Those of the
    /// same types may have several.
    #[must_use]
    #[inline]
    pub fn type_key(&self) -> usize {
        self.0.type_key()
    }

    /// Whether other tuples share the elements of this one now.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.0.is_shared()
    }

    /// Whether it has nothing to drop.
    #[doc(hidden)]
    #[must_use]
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.0.is_in_place()
    }

    /// Whether it is a `T`, all in all.
    #[must_use]
    #[inline]
    pub fn is<T: Tuple>(&self) -> bool {
        self.0.is::<T>()
    }

    /// An element; `None` if there is none at this position, or of another type.
    #[must_use]
    #[inline]
    pub fn get<E: 'static>(&self, at: usize) -> Option<&E> {
        self.0.get(at)
    }

    /// The same to write to, after a copy of all elements if the tuple is
    /// [shared](Self::is_shared).
    ///
    /// # Panics
    /// If the `clone` of an element does; the tuple is then as before.
    #[must_use]
    pub fn get_mut<E: 'static>(&mut self, at: usize) -> Option<&mut E> {
        self.0.get_mut(at)
    }

    /// An element, to be printed; `None` if there is none at this position.
    #[must_use]
    pub fn element(&self, at: usize) -> Option<&dyn Debug> {
        self.0.element(at)
    }

    /// All elements, if it is a `T`.
    #[must_use]
    #[inline]
    pub fn view<T: Tuple>(&self) -> Option<&T> {
        self.0.view()
    }

    /// The tuple with its type, if it is a `T`. Shares the elements.
    ///
    /// ```
    /// # mod coact { pub mod dynamic { pub use coact_tuple::*; } }
    /// use coact::dynamic::AnyTuple;
    ///
    /// let pair = AnyTuple::new((1, 2.5));
    /// let mut typed = pair.cast::<(i32, f64)>().unwrap();
    /// typed.get_mut().0 += 1;
    /// assert_eq!((typed.0, typed.1), (2, 2.5));
    /// assert_eq!(pair.to_string(), "(1, 2.5)");
    /// assert!(pair.cast::<(i32, f32)>().is_none());
    /// ```
    #[must_use]
    pub fn cast<T: Tuple>(&self) -> Option<CowTuple<T>> {
        self.is::<T>().then(|| CowTuple { tuple: self.clone(), of: PhantomData })
    }

    /// The elements by value, if it is a `T`: moved, or copied if they are shared.
    ///
    /// # Errors
    /// Gives the tuple back if it is of another type.
    ///
    /// # Panics
    /// If the `clone` of an element does.
    #[inline]
    pub fn take<T: Tuple>(mut self) -> Result<T, Self> {
        self.take_out().ok_or(self)
    }

    /// The same; leaves the empty tuple behind. `None`, and the tuple as it was, if it is of
    /// another type.
    ///
    /// # Panics
    /// If the `clone` of an element does.
    #[inline]
    pub fn take_out<T: Tuple>(&mut self) -> Option<T> {
        self.0.take_out()
    }
}

impl Drop for AnyTuple {
    #[inline]
    fn drop(&mut self) {
        if !self.0.is_in_place() {
            drop_within(replace(&mut self.0, ErasedTuple::new(())));
        }
    }
}

impl Default for AnyTuple {
    fn default() -> Self {
        Self::new(())
    }
}

/// Whether it is a `T`, and equal to that one.
///
/// ```
/// # mod coact { pub mod dynamic { pub use coact_tuple::*; } }
/// use coact::dynamic::{AnyTuple, atom};
///
/// assert_eq!(AnyTuple::new((atom!("ok"), 1)), (atom!("ok"), 1));
/// assert_ne!(AnyTuple::new((atom!("ok"), 1)), (atom!("ok"), 1_u8));
/// ```
impl<T: Tuple + PartialEq> PartialEq<T> for AnyTuple {
    fn eq(&self, other: &T) -> bool {
        self.view::<T>() == Some(other)
    }
}

impl<T: Tuple> From<CowTuple<T>> for AnyTuple {
    fn from(typed: CowTuple<T>) -> Self {
        typed.tuple
    }
}

/// As Rust writes tuples: strings in quotes, and numbers with their types, if these are not those
/// of numbers without one. What is more than 64 tuples deep is `(..)`.
///
/// ```
/// # mod coact { pub mod dynamic { pub use coact_tuple::*; } }
/// use coact::dynamic::AnyTuple;
///
/// assert_eq!(format!("{:?}", AnyTuple::new((1, 2_u8, "x"))), "(1, 2_u8, \"x\")");
/// assert_eq!(format!("{}", AnyTuple::new((1, 2_u8, "x"))), "(1, 2, \"x\")");
/// ```
impl Debug for AnyTuple {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.print(f, true)
    }
}

/// The same without the types of numbers.
impl Display for AnyTuple {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.print(f, false)
    }
}

impl AnyTuple {
    fn print(&self, f: &mut Formatter<'_>, has_types: bool) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("()");
        }
        let print = || {
            let mut tuple = f.debug_tuple("");
            for (at, of) in self.elements().iter().enumerate() {
                let element = self.element(at).expect("it has so many");
                let name = of.name();
                if has_types && TYPED_NUMBERS.contains(&name) {
                    tuple.field(&format_args!("{element:?}_{name}"));
                } else {
                    tuple.field(element);
                }
            }
            tuple.finish()
        };
        print_within(print).unwrap_or_else(|| f.write_str("(..)"))
    }
}

/// The types of numbers that are written with them.
const TYPED_NUMBERS: [&str; 12] =
    ["f32", "i8", "i16", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize"];

/// An [`AnyTuple`] of which the type is known. Shares its elements with others until it is written
/// to.
pub struct CowTuple<T> {
    tuple: AnyTuple,
    // Neither a subtype nor a supertype: the tuple has one type.
    of: PhantomData<fn(T) -> T>,
}

impl<T: Tuple> CowTuple<T> {
    /// Makes one.
    #[must_use]
    pub fn new(tuple: T) -> Self {
        Self { tuple: AnyTuple(ErasedTuple::new(tuple)), of: PhantomData }
    }

    /// The elements to write to, after a copy if they are shared. (Reading goes by `Deref`, and
    /// never copies.)
    ///
    /// # Panics
    /// If the `clone` of an element does; the tuple is then as before.
    #[must_use]
    pub fn get_mut(&mut self) -> &mut T {
        self.tuple.0.view_mut().expect("it is a `T`")
    }

    /// The elements: moved, or copied if they are shared.
    ///
    /// # Panics
    /// If the `clone` of an element does.
    #[must_use]
    pub fn into_inner(self) -> T {
        self.tuple.take().expect("it is a `T`")
    }
}

impl<T: Tuple> Deref for CowTuple<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.tuple.view().expect("it is a `T`")
    }
}

impl<T> Clone for CowTuple<T> {
    fn clone(&self) -> Self {
        Self { tuple: self.tuple.clone(), of: PhantomData }
    }
}

impl<T> Debug for CowTuple<T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Debug::fmt(&self.tuple, f)
    }
}

/// The types of a tuple's elements, printed without the names of modules: `(Atom, Vec<i32>)`.
#[derive(Clone, Copy)]
pub struct Types(&'static [ElementType]);

impl Display for Types {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (at, element) in self.0.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            write!(f, "{comma}{}", short(element.name()))?;
        }
        f.write_str(if self.0.len() == 1 { ",)" } else { ")" })
    }
}

impl Debug for Types {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

/// The name of a type without the modules that it and its parameters are in.
#[must_use]
pub fn short(name: &str) -> String {
    let is_in_path = |symbol: char| symbol.is_alphanumeric() || symbol == '_' || symbol == ':';
    let mut short = String::new();
    for piece in name.split_inclusive(|symbol| !is_in_path(symbol)) {
        let end = piece.rfind("::").map_or(0, |at| at + 2);
        short.push_str(&piece[end..]);
    }
    short
}
