//! The limit on the frequency of restarts.

use std::collections::VecDeque;
use std::time::Duration;

/// Limits restarts to `most` per `within`.
#[derive(Clone, Debug)]
pub(crate) struct RestartIntensity {
    most: u32,
    within: Duration,
    /// When children were restarted, oldest first; never more than `most`.
    past: VecDeque<Duration>,
}

impl RestartIntensity {
    pub(crate) fn new(most: u32, within: Duration) -> Self {
        Self { most, within, past: VecDeque::new() }
    }

    /// Returns whether another restart is allowed, and counts it.
    pub(crate) fn allows(&mut self, now: Duration) -> bool {
        while self.past.front().is_some_and(|&past| now.saturating_sub(past) > self.within) {
            self.past.pop_front();
        }
        if self.past.len() >= self.most as usize {
            return false;
        }
        self.past.push_back(now);
        true
    }

    pub(crate) fn forget(&mut self) {
        self.past.clear();
    }
}

impl Default for RestartIntensity {
    fn default() -> Self {
        Self::new(3, Duration::from_secs(5))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restarts_count_as_long_as_they_are_recent() {
        let at = Duration::from_secs;
        let mut intensity = RestartIntensity::new(2, at(5));
        assert!(intensity.allows(at(0)));
        assert!(intensity.allows(at(3)));
        assert!(!intensity.allows(at(5)), "both were within the last 5 s");
        assert!(intensity.allows(at(6)), "the first is older");
        assert!(!intensity.allows(at(7)));
    }

    #[test]
    fn none_at_all_may_be_allowed() {
        assert!(!RestartIntensity::new(0, Duration::ZERO).allows(Duration::ZERO));
    }
}
