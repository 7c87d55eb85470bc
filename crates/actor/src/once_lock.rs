//! Values that are set once. ThreadSanitizer does not see how the standard library publishes
//! them, since that is not instrumented; a crate's are.

#[cfg(coact_tsan)]
pub(crate) use once_cell::sync::OnceCell as OnceLock;
#[cfg(not(coact_tsan))]
pub(crate) use std::sync::OnceLock;
