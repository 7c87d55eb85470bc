//! The count of messages that are on their way to a routee.

use std::sync::Arc;

/// Travels with a message and counts it as in flight until dropped.
#[derive(Clone)]
pub(crate) struct InFlightToken {
    _load: Arc<()>,
    /// The token of a router in front of this one.
    _outer: Option<Box<InFlightToken>>,
}

impl InFlightToken {
    /// Counts one more message, which an outer router may count as well.
    pub(crate) fn new(load: &Arc<()>, outer: Option<&InFlightToken>) -> Self {
        Self { _load: Arc::clone(load), _outer: outer.cloned().map(Box::new) }
    }
}
