//! The log messages of supervisors.

use std::sync::Arc;
use std::time::Duration;

use crate::exit::ExitReason;
use crate::id::ActorId;

/// A child went down, and is restarted after a delay.
pub(super) fn restarts(
    child: ActorId,
    name: &Option<Arc<str>>,
    reason: &ExitReason,
    delay: Duration,
) {
    let name = name.as_deref().unwrap_or_default();
    tracing::warn!(%child, name, %reason, ?delay, "a child went down and is restarted");
}

/// A child has not stopped in time; its supervisor continues.
pub(super) fn is_late(child: ActorId, name: &Option<Arc<str>>) {
    let name = name.as_deref().unwrap_or_default();
    tracing::warn!(%child, name, "a child has not stopped in time");
}
