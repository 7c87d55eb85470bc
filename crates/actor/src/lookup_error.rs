//! What can go wrong with finding something by its name.

use std::any::type_name;
use std::fmt;

/// There is no such actor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LookupError {
    /// Nobody has the name, or whoever had it has ended.
    Unknown,
    /// What has the name is of another type.
    #[non_exhaustive]
    OtherType {
        /// The name, or the identity.
        name: Box<str>,
        /// The type that was asked for.
        expected: &'static str,
        /// The type that is there.
        found: &'static str,
    },
}

impl LookupError {
    pub(crate) fn other_type<T>(name: impl Into<Box<str>>, found: &'static str) -> Self {
        Self::OtherType { name: name.into(), expected: type_name::<T>(), found }
    }
}

impl fmt::Display for LookupError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LookupError::Unknown => f.write_str("nobody has this name"),
            LookupError::OtherType { name, expected, found } => {
                write!(f, "{name:?} is a `{found}`, not a `{expected}`")
            }
        }
    }
}

impl std::error::Error for LookupError {}
