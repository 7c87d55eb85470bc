//! What follows from an event: which children are restarted, and when the supervisor gives up.

use std::time::Duration;

use super::entry::{EntryState, StartTrial, TargetState};
use super::{ChildOutcome, PlanAction, SupervisionPlan, SupervisorPhase};
use crate::exit::ExitReason;
use crate::supervise::strategy::{AutoShutdown, Restart, Strategy};

impl SupervisionPlan {
    /// A child has gone down on its own.
    pub(super) fn after_fall(&mut self, number: u64, reason: ExitReason, now: Duration) {
        let entry = self.entry(number);
        match entry.trial.take() {
            Some(StartTrial::New) => {
                return self.end_as(number, reason.clone(), ChildOutcome::Failed(reason));
            }
            Some(StartTrial::Again) => {
                entry.aim = TargetState::Down;
                return self.tell(number, ChildOutcome::Failed(reason));
            }
            None => {}
        }
        let never_came_up = entry.since.is_none();
        let again = match entry.spec.restart {
            Restart::Permanent => true,
            Restart::Transient => !reason.is_normal(),
            Restart::Temporary => false,
        };
        if !again {
            if never_came_up && !self.entry(number).added && !reason.is_normal() {
                let child = self.entry(number).child;
                self.actions.push(PlanAction::StartFailed { child, reason: reason.clone() });
            }
            if self.ends_with(number) {
                self.give_up_for(number, reason, ExitReason::Shutdown, now);
            } else {
                self.end(number, reason);
            }
        } else if self.intensity.allows(now) {
            self.restart(number, reason, now);
        } else {
            self.escalate(number, reason, now);
        }
    }

    /// A child has gone down on request.
    pub(super) fn after_stop(&mut self, number: u64, now: Duration) {
        let aim = self.entry(number).aim;
        match aim {
            TargetState::Gone => self.end(number, ExitReason::Shutdown),
            TargetState::Down => self.tell(number, ChildOutcome::Down),
            // In order, it waits for its turn.
            TargetState::Up if self.starts.contains(&number) => {}
            TargetState::Up if self.is_running() => self.launch_at_its_time(number, now),
            TargetState::Up => {}
        }
    }

    pub(super) fn restart(&mut self, number: u64, reason: ExitReason, now: Duration) {
        let default = self.backoff;
        let entry = self.entry(number);
        let backoff = entry.spec.backoff.unwrap_or(default);
        if entry.run_was_calm(now, backoff.calm()) {
            entry.streak = 0;
        }
        let delay = backoff.delay_of(entry.streak, number);
        entry.streak = entry.streak.saturating_add(1);
        entry.not_before = now.saturating_add(delay);
        let child = entry.child;
        self.actions.push(PlanAction::Restarting { child, reason, delay });
        match self.strategy {
            Strategy::OneForOne | Strategy::Dynamic => {
                // Children that wait for their first start keep their turn.
                if !self.starts.contains(&number) {
                    self.launch_at_its_time(number, now);
                }
            }
            Strategy::OneForAll => self.restart_from(0, number),
            Strategy::RestForOne => self.restart_from(number, number),
        }
    }

    /// Restarts the children from `first` on, because `fallen` has gone down: stops those that are
    /// up, and then starts all.
    pub(super) fn restart_from(&mut self, first: u64, fallen: u64) {
        let not_before = self.entry(fallen).not_before;
        let numbers: Vec<u64> = self.entries.range(first..).map(|(number, _)| *number).collect();
        for number in numbers {
            let entry = self.entry(number);
            if entry.aim != TargetState::Up {
                continue;
            }
            let is_down = entry.state == EntryState::Down;
            if entry.spec.restart == Restart::Temporary {
                entry.aim = TargetState::Gone;
            } else {
                entry.not_before = entry.not_before.max(not_before);
                self.starts.insert(number);
                self.silence(number);
            }
            match (is_down, self.entry(number).aim) {
                (false, _) => {
                    self.stops.insert(number);
                }
                (true, TargetState::Gone) => self.end(number, ExitReason::Shutdown),
                (true, _) => {}
            }
        }
    }

    /// A child has failed once too often.
    pub(super) fn escalate(&mut self, number: u64, reason: ExitReason, now: Duration) {
        let child = self.entry(number).child;
        tracing::error!(%child, %reason, "a supervisor gives up: its children fail too often");
        let end = ExitReason::TooManyRestarts(reason.clone().into_cause());
        self.give_up_for(number, reason, end, now);
    }

    /// Returns whether the end of this child, which is down and is not restarted, ends the
    /// supervisor.
    pub(super) fn ends_with(&self, number: u64) -> bool {
        if !self.is_running() || !self.significant.contains(&number) {
            return false;
        }
        match self.auto_shutdown {
            AutoShutdown::Never => false,
            AutoShutdown::AnySignificant => true,
            AutoShutdown::AllSignificant => {
                let mut others = self.significant.iter().filter(|other| **other != number);
                !others.any(|other| self.entries[other].aim == TargetState::Up)
            }
        }
    }

    /// Takes all children down and ends, because this one has gone down. If the supervisor is
    /// started again, so is the child.
    fn give_up_for(&mut self, number: u64, fell_for: ExitReason, end: ExitReason, now: Duration) {
        let last = self.root;
        let entry = self.entry(number);
        if last || entry.added {
            self.end(number, fell_for);
        } else {
            entry.fell_for = Some(fell_for);
        }
        self.shut_down(end, now);
    }

    /// Takes all children down and ends.
    pub(super) fn shut_down(&mut self, reason: ExitReason, now: Duration) {
        let last = self.root;
        self.course = SupervisorPhase::Stopping { reason, last };
        self.stop_all(last, now);
    }

    /// Takes all children down, last first.
    pub(super) fn stop_all(&mut self, last: bool, now: Duration) {
        self.starts.clear();
        let numbers: Vec<u64> = self.entries.keys().rev().copied().collect();
        for number in numbers {
            let ordered = self.strategy.is_ordered();
            let entry = self.entry(number);
            if last || entry.added {
                entry.aim = TargetState::Gone;
            }
            match entry.state {
                EntryState::Down => {
                    self.silence(number);
                    let entry = self.entry(number);
                    if entry.aim == TargetState::Gone {
                        let reason = entry.end_reason();
                        self.end(number, reason);
                    }
                }
                EntryState::Stopping => {}
                EntryState::Starting | EntryState::Up if ordered => {
                    self.stops.insert(number);
                }
                EntryState::Starting | EntryState::Up => self.stop(number, now),
            }
        }
    }

    /// Takes one child down by command, independent of the order of the others.
    pub(super) fn put_away(&mut self, number: u64, aim: TargetState, now: Duration) {
        self.starts.remove(&number);
        let entry = self.entry(number);
        entry.aim = aim;
        match entry.state {
            EntryState::Down => {
                self.silence(number);
                self.after_stop(number, now);
            }
            EntryState::Stopping => {}
            EntryState::Starting | EntryState::Up => {
                self.stops.remove(&number);
                self.stop(number, now);
            }
        }
        self.advance(now);
    }

    /// Performs the ordered stops and starts that are possible now.
    pub(super) fn advance(&mut self, now: Duration) {
        if let Some(&number) = self.stops.last()
            && self.entry(number).is_up()
        {
            self.stop(number, now);
        }
        if self.stops.is_empty() && self.is_running() {
            self.start_in_order(now);
        }
        if self.up == 0
            && self.ending.is_empty()
            && matches!(self.course, SupervisorPhase::Stopping { .. })
        {
            let before = std::mem::replace(&mut self.course, SupervisorPhase::Stopped);
            if let SupervisorPhase::Stopping { reason, .. } = before {
                self.actions.push(PlanAction::Exit(reason));
            }
        }
    }

    /// Starts the next one, once those before it are up. A child that has not gone down in time may
    /// be held by a behaviour that waits for those behind it, so they do not wait for it.
    pub(super) fn start_in_order(&mut self, now: Duration) {
        let mut next = self.starts.first().copied();
        while let Some(number) = next {
            match self.entry(number).state {
                EntryState::Down => self.launch_at_its_time(number, now),
                EntryState::Up => _ = self.starts.remove(&number),
                EntryState::Starting | EntryState::Stopping => {}
            }
            if self.starts.contains(&number) && !self.entry(number).late {
                break;
            }
            next = self.starts.range(number + 1..).next().copied();
        }
    }
}
