//! Coact: actors and behaviour-oriented concurrency as one runtime.

#![forbid(unsafe_code)]

pub use coact_core::*;

/// What most programs use: `use coact::prelude::*;`.
pub mod prelude {
    pub use coact_core::*;
}
