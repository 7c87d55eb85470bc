//! Why there is no stack.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;

/// Why [`Stack::take`](crate::Stack::take) has no stack to give.
#[derive(Debug)]
#[non_exhaustive]
pub enum StackError {
    /// The system has refused the memory.
    Refused {
        /// The bytes that the stack would have.
        size: usize,
        /// The system's reason.
        source: io::Error,
    },
    /// The process has as many memory mappings as the system allows. Linux before 6.13 needs two
    /// for each stack.
    TooManyMaps {
        /// The system's limit, if it could be found out.
        limit: Option<usize>,
    },
    /// No stack is as large as that.
    TooLarge {
        /// The bytes that were asked for.
        size: usize,
        /// The most that a stack may have.
        most: usize,
    },
    /// Stacks cannot be switched in this build ([`IS_SUPPORTED`](crate::IS_SUPPORTED)).
    Unsupported,
}

impl Display for StackError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { size, source } => {
                let kib = size / 1024;
                write!(f, "the system refuses memory for another stack of {kib} KiB: {source}")
            }
            Self::TooManyMaps { limit } => {
                f.write_str("the process has all memory mappings that the system allows")?;
                if let Some(limit) = limit {
                    write!(f, " ({limit})")?;
                }
                f.write_str(
                    ", and another stack needs more: raise `vm.max_map_count`, for example with \
                     `sysctl -w vm.max_map_count=1048576`, or have fewer stacks at a time",
                )
            }
            Self::TooLarge { size, most } => {
                write!(f, "a stack cannot have {size} bytes: the most is {most}")
            }
            Self::Unsupported => f.write_str(
                "this build cannot switch stacks: its system or its processor has no port",
            ),
        }
    }
}

impl Error for StackError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Refused { source, .. } => Some(source),
            _ => None,
        }
    }
}
