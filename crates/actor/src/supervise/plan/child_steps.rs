//! The steps of one child.

use std::time::Duration;

use super::entry::{ChildEntry, EntryState, TargetState};
use super::{ChildOutcome, PlanAction, SupervisionPlan};
use crate::exit::ExitReason;

impl SupervisionPlan {
    pub(super) fn launch_at_its_time(&mut self, number: u64, now: Duration) {
        let not_before = self.entry(number).not_before;
        if not_before > now {
            self.set_alarm(number, not_before);
        } else {
            self.launch(number);
        }
    }

    pub(super) fn launch(&mut self, number: u64) {
        self.silence(number);
        let entry = self.entry(number);
        entry.state = EntryState::Starting;
        (entry.since, entry.fell_for) = (None, None);
        entry.run += 1;
        let start = PlanAction::Start { child: entry.child, run: entry.run };
        self.up += 1;
        self.changes += 1;
        self.actions.push(start);
    }

    pub(super) fn stop(&mut self, number: u64, now: Duration) {
        let entry = self.entry(number);
        entry.state = EntryState::Stopping;
        let (child, run, last) = (entry.child, entry.run, entry.aim == TargetState::Gone);
        let shutdown = entry.spec.shutdown;
        let for_restart = self.is_running() && self.entry(number).aim == TargetState::Up;
        let mode = if for_restart { shutdown.for_restart() } else { shutdown.mode };
        if let Some(deadline) = shutdown.deadline() {
            self.set_alarm(number, now.saturating_add(deadline));
        }
        self.actions.push(PlanAction::Stop { child, run, mode, last });
    }

    /// A child has not gone down in time: it is treated as down, and will follow.
    pub(super) fn give_up(&mut self, number: u64, now: Duration) {
        let entry = self.entry(number);
        entry.late = true;
        let child = entry.child;
        self.actions.push(PlanAction::Kill { child });
        self.mark_down(number);
        self.after_stop(number, now);
    }

    pub(super) fn mark_down(&mut self, number: u64) {
        self.silence(number);
        self.stops.remove(&number);
        self.entry(number).state = EntryState::Down;
        self.up -= 1;
        self.changes += 1;
    }

    /// Ends a child that is down, and removes it.
    pub(super) fn end(&mut self, number: u64, reason: ExitReason) {
        self.end_as(number, reason, ChildOutcome::Gone);
    }

    /// Ends it like `end`; `what` is reported when the child has ended: only then are its names
    /// free.
    pub(super) fn end_as(&mut self, number: u64, reason: ExitReason, what: ChildOutcome) {
        let entry = self.remove(number, reason);
        let child = entry.child;
        // A child that was never started has no supervisor to report to.
        if entry.late || entry.run == 0 {
            self.actions.push(PlanAction::Tell { child, what });
        } else {
            self.ending.insert(child, what);
        }
    }

    /// Removes a child that is down, and lets it end.
    pub(super) fn remove(&mut self, number: u64, reason: ExitReason) -> ChildEntry {
        self.silence(number);
        self.starts.remove(&number);
        self.significant.remove(&number);
        self.changes += 1;
        let entry = self.entries.remove(&number).expect("the child exists");
        self.numbers.remove(&entry.child);
        self.actions.push(PlanAction::End { child: entry.child, reason });
        entry
    }

    pub(super) fn tell(&mut self, number: u64, what: ChildOutcome) {
        let child = self.entry(number).child;
        self.actions.push(PlanAction::Tell { child, what });
    }

    pub(super) fn set_alarm(&mut self, number: u64, time: Duration) {
        self.silence(number);
        self.entry(number).alarm = Some(time);
        self.alarms.insert((time, number));
    }

    pub(super) fn silence(&mut self, number: u64) {
        if let Some(time) = self.entry(number).alarm.take() {
            self.alarms.remove(&(time, number));
        }
    }
}
