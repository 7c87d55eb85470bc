//! The order in which other routees are tried after the first has refused.

use std::sync::Arc;

use super::list::Routee;
use super::strategy::weight;
use crate::id::ActorId;

/// The order in which routees are tried after `first`.
pub(super) struct FallbackOrder<'a, R> {
    all: &'a [Arc<Routee<R>>],
    first: ActorId,
    position: FallbackPosition,
}

enum FallbackPosition {
    InTurn {
        start: usize,
        tried: usize,
    },
    /// By how well they match the key, best first; those from `above` on were tried.
    Ranked {
        key: u64,
        above: (u64, ActorId),
    },
}

impl<'a, R> FallbackOrder<'a, R> {
    pub(super) fn new(
        all: &'a [Arc<Routee<R>>],
        first: &Routee<R>,
        start: usize,
        key: Option<u64>,
    ) -> Self {
        let position = match key {
            Some(key) => FallbackPosition::Ranked { key, above: weight(key, first.id) },
            None => FallbackPosition::InTurn { start, tried: 0 },
        };
        Self { all, first: first.id, position }
    }
}

impl<'a, R> Iterator for FallbackOrder<'a, R> {
    type Item = &'a Arc<Routee<R>>;

    fn next(&mut self) -> Option<&'a Arc<Routee<R>>> {
        let Self { all, first, position } = self;
        match position {
            FallbackPosition::InTurn { start, tried } => {
                while *tried < all.len() {
                    let routee = &all[(*start + *tried) % all.len()];
                    *tried += 1;
                    if routee.id != *first {
                        return Some(routee);
                    }
                }
                None
            }
            FallbackPosition::Ranked { key, above } => {
                let ranked = all.iter().map(|routee| (weight(*key, routee.id), routee));
                let left = ranked.filter(|(weight, _)| weight < above);
                let (weight, best) = left.max_by_key(|(weight, _)| *weight)?;
                *above = weight;
                Some(best)
            }
        }
    }
}
