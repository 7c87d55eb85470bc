//! The decisions of a supervisor, as a state machine: events and times go in, actions come out.
//!
//! It knows neither actors nor clocks nor threads, so it can be tested directly.
//! `supervisor_actor.rs` drives it.
//!
//! Every child has a *number*, its position in the order of adding. A child that is started or
//! stopped *in order* waits for others: stops go from last to first, one at a time, and after them
//! starts go from first to last, one at a time. These children are in `stops` and `starts`. All
//! others do not wait, and need no look at their siblings, so that a supervisor can have many.

mod action;
mod child_steps;
mod entry;
mod reactions;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use super::backoff::Backoff;
use super::strategy::{AutoShutdown, Restart, Strategy};
use crate::exit::ExitReason;
use crate::id::ActorId;
use crate::intensity::RestartIntensity;

pub(crate) use action::{ChildOutcome, CommandRefusal, PlanAction};
pub use entry::ChildState;
use entry::{ChildEntry, EntryState, StartTrial, TargetState};
pub(crate) use entry::{ChildSpec, ChildView};

#[derive(Clone, PartialEq, Debug)]
enum SupervisorPhase {
    /// Not started, or not started again yet.
    Waiting,
    Running,
    Stopping {
        reason: ExitReason,
        last: bool,
    },
    Stopped,
}

/// The plan of one supervisor.
pub(crate) struct SupervisionPlan {
    strategy: Strategy,
    intensity: RestartIntensity,
    backoff: Backoff,
    auto_shutdown: AutoShutdown,
    /// The supervisor has no supervisor: it is never started again.
    root: bool,
    course: SupervisorPhase,
    entries: BTreeMap<u64, ChildEntry>,
    numbers: HashMap<ActorId, u64>,
    /// The significant children.
    significant: BTreeSet<u64>,
    next_number: u64,
    /// The children to stop, last first.
    stops: BTreeSet<u64>,
    /// The children to start, first first, once `stops` is empty.
    starts: BTreeSet<u64>,
    /// The children to check again, by time.
    alarms: BTreeSet<(Duration, u64)>,
    /// How many children are not down.
    up: usize,
    /// The children that must end and have not reported it, with the outcome to report then.
    ending: HashMap<ActorId, ChildOutcome>,
    /// Counts starts and ends of children.
    changes: u64,
    /// The child that was last found missing: the search for the next one begins there.
    missing: u64,
    actions: Vec<PlanAction>,
}

impl SupervisionPlan {
    pub(crate) fn new(strategy: Strategy, intensity: RestartIntensity, backoff: Backoff) -> Self {
        Self {
            strategy,
            intensity,
            backoff,
            auto_shutdown: AutoShutdown::Never,
            root: true,
            course: SupervisorPhase::Waiting,
            entries: BTreeMap::new(),
            numbers: HashMap::new(),
            significant: BTreeSet::new(),
            next_number: 0,
            stops: BTreeSet::new(),
            starts: BTreeSet::new(),
            alarms: BTreeSet::new(),
            up: 0,
            ending: HashMap::new(),
            changes: 0,
            missing: 0,
            actions: Vec::new(),
        }
    }

    pub(crate) fn set_intensity(&mut self, intensity: RestartIntensity) {
        self.intensity = intensity;
    }

    pub(crate) fn set_backoff(&mut self, backoff: Backoff) {
        self.backoff = backoff;
    }

    pub(crate) fn set_auto_shutdown(&mut self, auto_shutdown: AutoShutdown) {
        self.auto_shutdown = auto_shutdown;
    }

    pub(crate) fn auto_shutdown(&self) -> AutoShutdown {
        self.auto_shutdown
    }

    /// Returns whether there are significant children.
    pub(crate) fn has_significant(&self) -> bool {
        !self.significant.is_empty()
    }

    /// Notes that the supervisor is itself a child, and may be started again.
    pub(crate) fn set_child(&mut self) {
        self.root = false;
    }

    /// Returns the actions to perform now, in this order.
    pub(crate) fn take_actions(&mut self) -> Vec<PlanAction> {
        std::mem::take(&mut self.actions)
    }

    /// Returns when [`on_time`](Self::on_time) must be called, if nothing else happens before.
    pub(crate) fn next_alarm(&self) -> Option<Duration> {
        self.alarms.first().map(|(time, _)| *time)
    }

    /// Returns whether children may be added and commanded.
    pub(crate) fn is_running(&self) -> bool {
        self.course == SupervisorPhase::Running
    }

    pub(crate) fn knows(&self, child: ActorId) -> bool {
        self.numbers.contains_key(&child)
    }

    /// Returns all children, in their order.
    pub(crate) fn view(&self) -> impl Iterator<Item = ChildView> {
        self.entries.values().map(ChildEntry::view)
    }

    /// Returns all children, in their order, each with why it ends if it is not started again.
    pub(crate) fn end_reasons(&self) -> impl DoubleEndedIterator<Item = (ActorId, ExitReason)> {
        self.entries.values().map(|entry| (entry.child, entry.end_reason()))
    }

    /// Returns a number that grows whenever a child is added, is started, goes down or is removed.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns whether all children are up, except for those that were terminated. While children
    /// come up one after the other, many calls take linear time together.
    pub(crate) fn are_all_up(&mut self) -> bool {
        if !self.is_running() || !self.stops.is_empty() || !self.starts.is_empty() {
            return false;
        }
        let (behind, before) =
            (self.entries.range(self.missing..), self.entries.range(..self.missing));
        let missing = behind.chain(before).find(|(_, entry)| entry.is_missing());
        self.missing = missing.map_or(0, |(number, _)| *number);
        missing.is_none()
    }

    // Events.

    /// Adds a child before the supervisor is started.
    pub(crate) fn declare(&mut self, child: ActorId, spec: ChildSpec) {
        self.insert(child, spec, false);
    }

    /// The supervisor is started, or started again.
    pub(crate) fn on_start(&mut self, now: Duration) {
        self.course = SupervisorPhase::Running;
        self.intensity.forget();
        let numbers: Vec<u64> = self.entries.keys().copied().collect();
        for number in numbers {
            let entry = self.entry(number);
            (entry.aim, entry.not_before, entry.streak) = (TargetState::Up, now, 0);
            if self.strategy.is_ordered() {
                self.starts.insert(number);
            } else {
                self.launch(number);
            }
        }
        self.advance(now);
    }

    /// A child is added while the supervisor runs. [`ChildOutcome`] reports whether it started; if
    /// not, it is gone.
    pub(crate) fn on_add(
        &mut self,
        child: ActorId,
        spec: ChildSpec,
        now: Duration,
    ) -> Result<(), CommandRefusal> {
        if !self.is_running() {
            return Err(CommandRefusal::Stopping);
        }
        let number = self.insert(child, spec, true);
        self.entry(number).trial = Some(StartTrial::New);
        self.launch(number);
        self.advance(now);
        Ok(())
    }

    /// A child's start has succeeded.
    pub(crate) fn on_up(&mut self, child: ActorId, run: u64, now: Duration) {
        let Some((number, entry)) = self.find(child) else { return };
        if entry.run != run || entry.state != EntryState::Starting {
            return;
        }
        entry.state = EntryState::Up;
        entry.late = false;
        entry.since = Some(now);
        if entry.trial.take().is_some() {
            self.tell(number, ChildOutcome::Up);
        }
        self.starts.remove(&number);
        self.advance(now);
    }

    /// A child is down: it has failed, has stopped itself, or was stopped.
    pub(crate) fn on_down(&mut self, child: ActorId, run: u64, reason: ExitReason, now: Duration) {
        let Some((number, entry)) = self.find(child) else { return };
        if entry.run != run || entry.state == EntryState::Down {
            return;
        }
        let meant = entry.state == EntryState::Stopping || self.stops.contains(&number);
        self.mark_down(number);
        if meant {
            self.after_stop(number, now);
        } else {
            self.after_fall(number, reason, now);
        }
        self.advance(now);
    }

    /// A child has ended for good: it had to, or its runtime has ended. In that case it cannot be
    /// restarted, and is removed; its siblings go on.
    pub(crate) fn on_ended(&mut self, child: ActorId, now: Duration) {
        if let Some(what) = self.ending.remove(&child) {
            self.actions.push(PlanAction::Tell { child, what });
        } else if let Some((number, entry)) = self.find(child) {
            let was_tried = entry.trial.is_some();
            if entry.state != EntryState::Down {
                self.mark_down(number);
            }
            let reason = ExitReason::Shutdown;
            let what = if was_tried { ChildOutcome::Failed(reason) } else { ChildOutcome::Gone };
            let ends = !was_tried && self.ends_with(number);
            self.remove(number, ExitReason::Shutdown);
            self.actions.push(PlanAction::Tell { child, what });
            if ends {
                self.shut_down(ExitReason::Shutdown, now);
            }
        }
        self.advance(now);
    }

    /// Time has passed.
    pub(crate) fn on_time(&mut self, now: Duration) {
        while let Some(&(time, number)) = self.alarms.first() {
            if time > now {
                break;
            }
            self.alarms.pop_first();
            let in_order = self.starts.contains(&number);
            let entry = self.entry(number);
            entry.alarm = None;
            match entry.state {
                EntryState::Stopping => self.give_up(number, now),
                EntryState::Down if !in_order => self.launch(number),
                _ => {}
            }
        }
        self.advance(now);
    }

    /// Requests that a child go down and stay down. [`ChildOutcome::Down`] or
    /// [`ChildOutcome::Gone`] follows.
    pub(crate) fn on_terminate(
        &mut self,
        child: ActorId,
        now: Duration,
    ) -> Result<(), CommandRefusal> {
        let number = self.commanded(child)?;
        let temporary = self.entry(number).spec.restart == Restart::Temporary;
        self.put_away(number, if temporary { TargetState::Gone } else { TargetState::Down }, now);
        Ok(())
    }

    /// Requests that a child go down and not be restarted. [`ChildOutcome::Gone`] follows.
    pub(crate) fn on_delete(
        &mut self,
        child: ActorId,
        now: Duration,
    ) -> Result<(), CommandRefusal> {
        let number = self.commanded(child)?;
        self.put_away(number, TargetState::Gone, now);
        Ok(())
    }

    /// Requests that a terminated child start again. [`ChildOutcome::Up`] or
    /// [`ChildOutcome::Failed`] follows.
    pub(crate) fn on_restart(
        &mut self,
        child: ActorId,
        now: Duration,
    ) -> Result<(), CommandRefusal> {
        let number = self.commanded(child)?;
        let entry = self.entry(number);
        if entry.aim != TargetState::Down {
            return Err(CommandRefusal::Running);
        }
        (entry.aim, entry.trial, entry.not_before) =
            (TargetState::Up, Some(StartTrial::Again), now);
        if entry.state == EntryState::Down {
            self.launch(number);
        }
        self.advance(now);
        Ok(())
    }

    /// Requests that the supervisor end: its children go down, last first, and [`PlanAction::Exit`]
    /// follows. If it is not the `last` time, the declared children can be started again.
    pub(crate) fn on_stop(&mut self, reason: ExitReason, last: bool, now: Duration) {
        match &mut self.course {
            SupervisorPhase::Stopped => return,
            SupervisorPhase::Stopping { last: before, .. } if *before || !last => return,
            SupervisorPhase::Stopping { last, .. } => *last = true,
            course => *course = SupervisorPhase::Stopping { reason, last },
        }
        self.stop_all(last, now);
        self.advance(now);
    }

    /// The supervisor's state is gone. All children that are not down are halted, and those added
    /// at run time end; the declared ones can be [started](Self::on_start) again.
    pub(crate) fn reset(&mut self) -> Vec<PlanAction> {
        self.actions.clear();
        self.course = SupervisorPhase::Waiting;
        self.stops.clear();
        self.starts.clear();
        self.alarms.clear();
        self.up = 0;
        self.ending.clear();
        let numbers: Vec<u64> = self.entries.keys().rev().copied().collect();
        for number in numbers {
            let entry = self.entry(number);
            let (child, added) = (entry.child, entry.added);
            let was = std::mem::replace(&mut entry.state, EntryState::Down);
            (entry.alarm, entry.trial) = (None, None);
            if added {
                self.end(number, ExitReason::Shutdown);
            } else if was != EntryState::Down {
                self.actions.push(PlanAction::Halt { child });
            }
        }
        self.take_actions()
    }

    fn insert(&mut self, child: ActorId, spec: ChildSpec, added: bool) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        self.changes += 1;
        if spec.significant {
            self.significant.insert(number);
        }
        self.entries.insert(number, ChildEntry::new(child, spec, added));
        self.numbers.insert(child, number);
        number
    }

    fn entry(&mut self, number: u64) -> &mut ChildEntry {
        self.entries.get_mut(&number).expect("only existing children are looked up")
    }

    fn find(&mut self, child: ActorId) -> Option<(u64, &mut ChildEntry)> {
        let number = *self.numbers.get(&child)?;
        Some((number, self.entries.get_mut(&number)?))
    }

    fn commanded(&self, child: ActorId) -> Result<u64, CommandRefusal> {
        if !self.is_running() {
            return Err(CommandRefusal::Stopping);
        }
        self.numbers.get(&child).copied().ok_or(CommandRefusal::Unknown)
    }
}

#[cfg(test)]
mod tests;
