//! How often is too often.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// How many restarts a member of a pool may have within a time; the state that counts them.
#[derive(Clone, Debug)]
pub(crate) struct Limit {
    most: usize,
    within: Duration,
    /// When the last restarts were, the oldest first.
    times: VecDeque<Instant>,
}

impl Limit {
    pub(super) fn new(most: usize, within: Duration) -> Self {
        Self { most, within, times: VecDeque::new() }
    }

    /// Notes one more restart, if it is not one too many. In deterministic mode the time that counts
    /// is the real one: there all restarts of a run fall together.
    pub(crate) fn allows_one_more(&mut self) -> bool {
        self.allows_at(Instant::now())
    }

    fn allows_at(&mut self, now: Instant) -> bool {
        while self.times.front().is_some_and(|time| now.duration_since(*time) >= self.within) {
            self.times.pop_front();
        }
        let allows = self.times.len() < self.most;
        if allows {
            self.times.push_back(now);
        }
        allows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_within_the_time_and_no_more() {
        let start = Instant::now();
        let mut limit = Limit::new(2, Duration::from_secs(10));
        let mut allows = |seconds| limit.allows_at(start + Duration::from_secs(seconds));
        assert!(allows(0) && allows(4));
        assert!(!allows(9), "the third within ten seconds");
        assert!(allows(10), "the first is forgotten");
        assert!(!allows(13));
        assert!(allows(14));
    }

    #[test]
    fn none_at_all() {
        assert!(!Limit::new(0, Duration::from_secs(10)).allows_one_more());
    }
}
