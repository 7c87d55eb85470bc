//! Why a system could not be built, or has no such dispatcher.

use std::fmt;

use coact_core::runtime::BuildError;

/// There is no dispatcher with this name.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownDispatcher {
    /// The name.
    pub name: String,
    /// The names that exist.
    pub known: Vec<String>,
}

impl fmt::Display for UnknownDispatcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, known } = self;
        match &known[..] {
            [] => write!(f, "there is no dispatcher `{name}`: the runtime has no dispatchers"),
            known => {
                write!(f, "there is no dispatcher `{name}`, only `{}`", known.join("`, `"))
            }
        }
    }
}

impl std::error::Error for UnknownDispatcher {}

/// Why a [`System`](super::System) could not be built.
#[derive(Debug)]
#[non_exhaustive]
pub enum SystemError {
    /// Two dispatchers have this name.
    Duplicate(String),
    /// A runtime could not be started.
    #[non_exhaustive]
    Build {
        /// The name of the dispatcher, or `main`.
        runtime: String,
        /// The error.
        error: BuildError,
    },
}

impl fmt::Display for SystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SystemError::Duplicate(name) => write!(f, "there are two dispatchers `{name}`"),
            SystemError::Build { runtime, error } => write!(f, "the runtime `{runtime}`: {error}"),
        }
    }
}

impl std::error::Error for SystemError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            SystemError::Duplicate(_) => None,
            SystemError::Build { error, .. } => Some(error),
        }
    }
}
