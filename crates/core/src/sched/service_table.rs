//! Where a runtime keeps its [services](super::services).

use std::any::Any;

use coact_sync::shim::process::OnceLock;

/// Those of a runtime, in the order in which they were first used.
#[derive(Default)]
pub(super) struct ServiceTable(
    pub(super) [OnceLock<Box<dyn Any + Send + Sync>>; ServiceTable::MOST],
);

impl ServiceTable {
    /// As many as there are types.
    const MOST: usize = 3;
}
