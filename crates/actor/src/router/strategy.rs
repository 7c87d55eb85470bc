//! Strategies: how the next routee is chosen.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::id::ActorId;

/// How a router or a pool chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Routing {
    /// Each in turn. Costs one atomic addition per message.
    #[default]
    RoundRobin,
    /// At random, all equally likely; the same seed gives the same choices. Costs one atomic
    /// addition per message.
    Random {
        /// The seed of the choices.
        seed: u64,
    },
    /// The one with the fewest messages that wait or are being handled, of those that came through
    /// this router; of several, the next one in turn. Messages that others send to the routee do
    /// not count, nor do those that wait for room in a bounded mailbox.
    ///
    /// Costs a look at each routee, two more atomic operations per message, and 8 bytes in each
    /// message.
    SmallestMailbox,
}

/// A strategy and its position.
pub(super) struct RoutingState {
    pub(super) strategy: Routing,
    next: AtomicU64,
}

/// The step of `splitmix64` (G. L. Steele, D. Lea and C. H. Flood, *Fast splittable pseudorandom
/// number generators*, OOPSLA 2014), which turns numbers with this distance into good random
/// numbers.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The mixing function of `splitmix64`.
fn mix(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

impl RoutingState {
    pub(super) fn new(strategy: Routing) -> Self {
        let first = if let Routing::Random { seed } = strategy { seed } else { 0 };
        Self { strategy, next: AtomicU64::new(first) }
    }

    /// Returns the index at which to begin, of this many; `load` returns how busy one is.
    pub(super) fn start(&self, of: usize, load: impl Fn(usize) -> usize) -> usize {
        let size = of.max(1) as u64;
        // ORDERING: Relaxed, both. The number need only be distinct, and publishes nothing.
        let in_turn = || self.next.fetch_add(1, Ordering::Relaxed) % size;
        let at = match self.strategy {
            Routing::RoundRobin => in_turn(),
            Routing::Random { .. } => {
                let drawn = mix(self.next.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP));
                // Maps into the range, with a negligible bias.
                ((u128::from(drawn) * u128::from(size)) >> 64) as u64
            }
            Routing::SmallestMailbox => {
                let first = in_turn() as usize;
                let in_order = (0..of).map(|step| (first + step) % of);
                return in_order.min_by_key(|at| load(*at)).unwrap_or(0);
            }
        };
        at as usize
    }
}

/// Returns how well an actor matches a key: the highest number wins.
pub(super) fn weight(key: u64, actor: ActorId) -> (u64, ActorId) {
    (mix(key ^ mix(actor.get().wrapping_mul(STEP))), actor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn starts(strategy: Routing, of: usize, count: usize) -> Vec<usize> {
        let turn = RoutingState::new(strategy);
        (0..count).map(|_| turn.start(of, |_| 0)).collect()
    }

    #[test]
    fn round_robin_takes_turns() {
        assert_eq!(starts(Routing::RoundRobin, 3, 5), [0, 1, 2, 0, 1]);
    }

    #[test]
    fn random_is_even_and_follows_its_seed() {
        let drawn = starts(Routing::Random { seed: 7 }, 4, 4000);
        assert_eq!(drawn, starts(Routing::Random { seed: 7 }, 4, 4000));
        assert_ne!(drawn, starts(Routing::Random { seed: 8 }, 4, 4000));
        for at in 0..4 {
            let count = drawn.iter().filter(|drawn| **drawn == at).count();
            assert!((850..1150).contains(&count), "{at} was drawn {count} times");
        }
    }

    #[test]
    fn the_least_busy_is_taken_and_ties_go_in_turn() {
        let turn = RoutingState::new(Routing::SmallestMailbox);
        assert_eq!(turn.start(3, |at| [2, 1, 3][at]), 1);
        assert_eq!(turn.start(3, |_| 0), 1);
        assert_eq!(turn.start(3, |_| 0), 2);
        assert_eq!(turn.start(0, |_| 0), 0, "there are no routees");
    }

    #[test]
    fn only_the_keys_of_a_routee_that_goes_move() {
        let actors: Vec<_> = (0..8).map(|_| ActorId::next()).collect();
        let owner = |key, of: &[ActorId]| of.iter().copied().max_by_key(|id| weight(key, *id));
        let (gone, rest) = actors.split_last().unwrap();
        let mut moved = 0;
        for key in 0..8000 {
            let (before, after) = (owner(key, &actors), owner(key, rest));
            if before == Some(*gone) {
                moved += 1;
            } else {
                assert_eq!(before, after);
            }
        }
        assert!((800..1200).contains(&moved), "an eighth of the keys, not {moved}");
    }
}
