//! The entry: all rules, one after the other.

use super::facts::TraceFacts;
use super::promise_violation::PromiseViolation;
use super::trace::ActorTrace;
use super::{end_notices, homes, items, lifecycle, mailboxes, order, sorted_messages, turns};

/// Whether a trace keeps what actors promise.
///
/// # Errors
/// The first broken promise.
pub fn check(trace: &ActorTrace) -> Result<(), PromiseViolation> {
    let facts = TraceFacts::of(trace)?;
    items::check(&facts)?;
    turns::check(&facts)?;
    lifecycle::check(&facts)?;
    homes::check(&facts)?;
    end_notices::check(&facts)?;
    mailboxes::check(&facts)?;
    sorted_messages::check(&facts)?;
    order::check(&facts)
}
