//! The table of a runtime's [services](super::services).

use std::any::Any;

use coact_sync::shim::process::OnceLock;

/// The services of a runtime, in the order of their first use.
#[derive(Default)]
pub(super) struct ServiceTable(
    pub(super) [OnceLock<Box<dyn Any + Send + Sync>>; ServiceTable::MOST],
);

impl ServiceTable {
    /// The number of service types.
    const MOST: usize = 4;
}
