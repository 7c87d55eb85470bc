//! What is durable, and the numbers by which it is known.

use std::cmp::Ordering;
use std::fmt::{self, Debug, Display, Formatter};
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::{Arc, LazyLock};

/// The identity of an entity: a type's stable name, and a key among those of its type.
///
/// ```
/// use coact_persist::EntityId;
///
/// let account = EntityId::new("bank.account", "alice");
/// assert_eq!((account.kind(), account.key()), ("bank.account", "alice"));
/// assert_eq!(account.to_string(), "bank.account/alice");
/// ```
///
/// A clone is the same text in memory. Its hash is computed once, and is another one in each
/// process.
#[derive(Clone)]
pub struct EntityId {
    identity: Arc<KindAndKey>,
    /// (Here, since the identity itself is mostly in the cache of another processor.)
    hash: u64,
}

struct KindAndKey {
    kind: Arc<str>,
    key: Arc<str>,
}

static SEED: LazyLock<RandomState> = LazyLock::new(RandomState::new);

impl EntityId {
    /// The entity of this type with this key. Both may be any text.
    pub fn new(kind: impl Into<Arc<str>>, key: impl Into<Arc<str>>) -> Self {
        let (kind, key) = (kind.into(), key.into());
        let hash = SEED.hash_one((&kind, &key));
        Self { identity: Arc::new(KindAndKey { kind, key }), hash }
    }

    /// The stable name of its type, which does not change with the program.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.identity.kind
    }

    /// Its key among those of its type.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.identity.key
    }
}

impl PartialEq for EntityId {
    fn eq(&self, other: &Self) -> bool {
        // Mostly a clone of one is compared with it.
        Arc::ptr_eq(&self.identity, &other.identity)
            || (self.hash == other.hash && (self.kind(), self.key()) == (other.kind(), other.key()))
    }
}

impl Eq for EntityId {}

/// By kinds, and then by keys.
impl Ord for EntityId {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.kind(), self.key()).cmp(&(other.kind(), other.key()))
    }
}

impl PartialOrd for EntityId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for EntityId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Display for EntityId {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.kind(), self.key())
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

            /// The next one. (None is behind the greatest, which only damage leads to.)
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0.saturating_add(1))
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
    /// The sequence number of an event among those of its entity. The first is 1, and there are no
    /// gaps.
    Seq
}
number! {
    /// How often an entity was claimed. An owner with an older one is fenced: its commits are
    /// refused.
    Epoch
}
number! {
    /// Where a commit is among all of a store: one that is greater was committed later. Once it is
    /// seen, so are all before it.
    Position
}
