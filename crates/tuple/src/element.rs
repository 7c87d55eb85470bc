//! What tuples are made of.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, HashSet, LinkedList, VecDeque};
use std::fmt::Debug;
use std::num::NonZero;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::any_tuple::AnyTuple;
use crate::atom::Atom;

/// A type that can be an element of an [`AnyTuple`].
///
/// Numbers, strings, and the containers of the standard library are elements. Derive it for your
/// own types, `#[derive(Clone, Debug, Element)]`, or write what the derive writes, as here; a type
/// of another crate goes into [`Opaque`].
///
/// ```
/// # mod coact { pub mod dynamic { pub use coact_tuple::*; } }
/// use coact::dynamic::{AnyTuple, Element, atom};
///
/// #[derive(Clone, Debug, PartialEq)]
/// struct Point { x: f64, y: f64 }
/// impl Element for Point {}
///
/// let moved = AnyTuple::new((atom!("move_to"), Point { x: 1.0, y: 2.0 }));
/// assert_eq!(moved.get::<Point>(1), Some(&Point { x: 1.0, y: 2.0 }));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no element of tuples",
    label = "an element is needed here",
    note = "derive `Element` for your own types; types of other crates go into `Opaque(..)`"
)]
pub trait Element: Clone + Send + Sync + Debug + 'static {
    /// The name by which other programs know the type, if it has one.
    const WIRE_NAME: Option<&'static str> = None;

    /// The tuple that the element alone is: of one element, unless it is a tuple itself.
    #[doc(hidden)]
    #[inline]
    fn into_any(self) -> AnyTuple {
        AnyTuple::of((self,))
    }
}

/// What becomes an [`Element`]: each of them, and `&'static str`, of which a [`String`] is made.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no element of tuples",
    label = "an element is needed here",
    note = "derive `Element` for your own types; types of other crates go into `Opaque(..)`"
)]
pub trait IntoElement {
    /// What it becomes.
    type Element: Element;

    /// Makes the element.
    fn into_element(self) -> Self::Element;

    /// See [`Element::into_any`].
    #[doc(hidden)]
    #[inline]
    fn into_any(self) -> AnyTuple
    where
        Self: Sized,
    {
        Element::into_any(self.into_element())
    }
}

impl<E: Element> IntoElement for E {
    type Element = E;

    #[inline]
    fn into_element(self) -> E {
        self
    }
}

impl IntoElement for &'static str {
    type Element = String;

    fn into_element(self) -> String {
        self.to_owned()
    }
}

/// Makes an [`Element`] of a type of another crate.
///
/// ```
/// # mod coact { pub mod dynamic { pub use coact_tuple::*; } }
/// use coact::dynamic::{AnyTuple, Opaque};
/// use std::net::TcpListener;
/// use std::sync::Arc;
///
/// # fn main() -> std::io::Result<()> {
/// let listener = Arc::new(TcpListener::bind("127.0.0.1:0")?);
/// let accept = AnyTuple::new(("accept", Opaque(listener)));
/// let Opaque(listener) = accept.get::<Opaque<Arc<TcpListener>>>(1).unwrap();
/// assert_eq!(Arc::strong_count(listener), 1);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Opaque<T>(pub T);

impl<T: Clone + Send + Sync + Debug + 'static> Element for Opaque<T> {}

impl<T> Deref for Opaque<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Opaque<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

macro_rules! named {
    ($($type:ty),* $(,)?) => {
        $(impl Element for $type {
            const WIRE_NAME: Option<&'static str> = Some(stringify!($type));
        })*
    };
}

named!(
    bool, char, f32, f64, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, String,
    Atom
);

macro_rules! unnamed {
    ($($type:ty),* $(,)?) => {
        $(impl Element for $type {})*
    };
}

/// As the only thing that an [`AnyTuple`] is made of, it is that tuple, and not an element of one.
impl Element for AnyTuple {
    fn into_any(self) -> AnyTuple {
        self
    }
}

unnamed!(
    std::any::TypeId,
    std::cmp::Ordering,
    std::ffi::CString,
    std::ffi::OsString,
    std::net::IpAddr,
    std::net::Ipv4Addr,
    std::net::Ipv6Addr,
    std::net::SocketAddr,
    std::net::SocketAddrV4,
    std::net::SocketAddrV6,
    std::path::PathBuf,
    std::thread::ThreadId,
    std::time::Duration,
    std::time::Instant,
    std::time::SystemTime,
    Cow<'static, str>,
);

macro_rules! containers {
    ($($type:ident<$($of:ident),*>),* $(,)?) => {
        $(impl<$($of: Clone + Send + Sync + Debug + 'static),*> Element for $type<$($of),*> {})*
    };
}

containers!(
    BTreeMap<K, V>,
    BTreeSet<T>,
    BinaryHeap<T>,
    LinkedList<T>,
    Option<T>,
    Result<T, E>,
    Vec<T>,
    VecDeque<T>,
);

impl<K, V, S> Element for HashMap<K, V, S>
where
    K: Clone + Send + Sync + Debug + 'static,
    V: Clone + Send + Sync + Debug + 'static,
    S: Clone + Send + Sync + 'static,
{
}

impl<T, S> Element for HashSet<T, S>
where
    T: Clone + Send + Sync + Debug + 'static,
    S: Clone + Send + Sync + 'static,
{
}

impl<T: ?Sized + Send + Sync + Debug + 'static> Element for Arc<T> {}
impl<T: ?Sized + Send + Sync + Debug + 'static> Element for Box<T> where Box<T>: Clone {}
impl<T: Clone + Send + Sync + Debug + 'static, const N: usize> Element for [T; N] {}

macro_rules! non_zero {
    ($($type:ty),*) => {
        $(impl Element for NonZero<$type> {})*
    };
}

non_zero!(i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);
