//! What is durable, and the numbers by which it is known.

use std::fmt::{self, Debug, Display, Formatter};
use std::sync::Arc;

/// The identity of an entity: a type's stable name, and a key among those of its type.
///
/// ```
/// use coact_persist::EntityId;
///
/// let account = EntityId::new("bank.account", "alice");
/// assert_eq!((account.kind(), account.key()), ("bank.account", "alice"));
/// assert_eq!(account.to_string(), "bank.account/alice");
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EntityId {
    kind: Arc<str>,
    key: Arc<str>,
}

impl EntityId {
    /// The entity of this type with this key. Both may be any text.
    pub fn new(kind: impl Into<Arc<str>>, key: impl Into<Arc<str>>) -> Self {
        Self { kind: kind.into(), key: key.into() }
    }

    /// The stable name of its type, which does not change with the program.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Its key among those of its type.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }
}

impl Display for EntityId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind, self.key)
    }
}

impl Debug for EntityId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

/// A number that grows.
macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
        pub struct $name(u64);

        impl $name {
            /// Before the first one.
            pub const ZERO: Self = Self(0);

            /// This one.
            #[must_use]
            pub const fn new(number: u64) -> Self {
                Self(number)
            }

            /// As a number.
            #[must_use]
            pub const fn get(self) -> u64 {
                self.0
            }

            /// The next one.
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0 + 1)
            }
        }

        impl Display for $name {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                Display::fmt(&self.0, f)
            }
        }
    };
}

number! {
    /// The sequence number of an event among those of its entity. The first is 1, and there are no gaps.
    Seq
}
number! {
    /// How often an entity was claimed. An owner with an older one is fenced: its commits are refused.
    Epoch
}
number! {
    /// Where a commit is among all of a store. A greater one was committed later, but may be seen earlier.
    Position
}
