//! Errors of lookups by name.

use std::any::type_name;
use std::fmt;

/// Why a lookup found no actor.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LookupError {
    /// The name is unknown, or its actor has ended.
    Unknown,
    /// The name belongs to something of another type.
    #[non_exhaustive]
    OtherType {
        /// The name, or the identity.
        name: Box<str>,
        /// The requested type.
        expected: &'static str,
        /// The actual type.
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
            LookupError::Unknown => f.write_str("no actor has this name"),
            LookupError::OtherType { name, expected, found } => {
                write!(f, "{name:?} is a `{found}`, not a `{expected}`")
            }
        }
    }
}

impl std::error::Error for LookupError {}
