//! Detects behaviours that have occupied their thread for too long: arithmetic on what was seen,
//! and when.

use std::time::{Duration, Instant};

use super::current_task::RunningTask;

/// What was seen of one thread so far.
#[derive(Default)]
pub(super) struct ThreadSightings(Option<TaskSighting>);

struct TaskSighting {
    turn: u64,
    since: Instant,
    reported: bool,
}

/// A task that has run for longer than the limit.
pub(super) struct StalledTask {
    pub(super) name: fn() -> &'static str,
    /// How long it was seen running.
    pub(super) running_for: Duration,
    /// Whether this is the first time it is found.
    pub(super) is_new: bool,
}

impl ThreadSightings {
    /// Adds an observation. Returns the task if it was already there `limit` ago or earlier.
    pub(super) fn add(
        &mut self,
        running: Option<RunningTask>,
        now: Instant,
        limit: Duration,
    ) -> Option<StalledTask> {
        let Some(RunningTask { turn, name }) = running else {
            self.0 = None;
            return None;
        };
        let sighting = match &mut self.0 {
            Some(sighting) if sighting.turn == turn => sighting,
            other => {
                *other = Some(TaskSighting { turn, since: now, reported: false });
                return None;
            }
        };
        let running_for = now.saturating_duration_since(sighting.since);
        (running_for >= limit).then(|| StalledTask {
            name,
            running_for,
            is_new: !std::mem::replace(&mut sighting.reported, true),
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_millis(100);

    /// Feeds one thread's turns, one per 40 ms, and returns the stalls: for how many ms, and
    /// whether new.
    fn stalls(turns: &[Option<u64>]) -> Vec<(u128, bool)> {
        let (start, mut sightings) = (Instant::now(), ThreadSightings::default());
        let look = |(at, turn): (usize, &Option<u64>)| {
            let running = turn.map(|turn| RunningTask { turn, name: || "task" });
            let now = start + Duration::from_millis(40) * at as u32;
            let stall = sightings.add(running, now, LIMIT)?;
            assert_eq!((stall.name)(), "task");
            Some((stall.running_for.as_millis(), stall.is_new))
        };
        turns.iter().enumerate().filter_map(look).collect()
    }

    #[test]
    fn a_task_that_stays_is_found_once_it_has_stayed_for_the_limit_and_is_new_once() {
        let stays = [Some(1); 5];
        assert_eq!(stalls(&stays), [(120, true), (160, false)]);
    }

    #[test]
    fn tasks_that_change_are_no_stall_however_long_the_thread_is_busy() {
        let turns: Vec<_> = (0..20).map(|at| Some(at * 2 + 1)).collect();
        assert_eq!(stalls(&turns), []);
    }

    #[test]
    fn the_clock_starts_anew_with_the_next_task_and_after_a_rest() {
        let turns = [Some(1), Some(1), Some(3), Some(3), None, Some(3), Some(3), Some(3), Some(3)];
        assert_eq!(stalls(&turns), [(120, true)], "only the last has stayed for long enough");
    }
}
