//! The entry: all rules, one after the other.

use super::breach::Breach;
use super::facts::Facts;
use super::trace::ActorTrace;
use super::{items, lives, moves, order, places, rooms, told, turns};

/// Whether a trace keeps what actors promise.
///
/// # Errors
/// The first broken promise.
pub fn check(trace: &ActorTrace) -> Result<(), Breach> {
    let facts = Facts::of(trace)?;
    items::check(&facts)?;
    turns::check(&facts)?;
    lives::check(&facts)?;
    moves::check(&facts)?;
    told::check(&facts)?;
    rooms::check(&facts)?;
    places::check(&facts)?;
    order::check(&facts)
}
