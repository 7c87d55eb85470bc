//! The decisions of a supervisor, as a state machine: events and times go in, actions come out.
//!
//! It knows neither actors nor clocks nor threads, so it can be tested directly. `actor.rs` drives
//! it.
//!
//! Every child has a *number*, its position in the order of adding. A child that is started or
//! stopped *in order* waits for others: stops go from last to first, one at a time, and after them
//! starts go from first to last, one at a time. These children are in `stops` and `starts`. All
//! others do not wait, and need no look at their siblings, so that a supervisor can have many.

mod entry;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use super::backoff::Backoff;
use super::strategy::{Restart, StopMode, Strategy};
use crate::exit::ExitReason;
use crate::id::ActorId;
use crate::intensity::Intensity;

pub use entry::ChildState;
use entry::{Aim, ChildEntry, State, Trial};
pub(crate) use entry::{ChildSpec, View};

/// An action that the supervisor must perform.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Action {
    /// Create the child's state, and let it receive messages.
    Start { child: ActorId, run: u64 },
    /// Take it down. `last`: for good, which a supervisor passes on to its children.
    Stop { child: ActorId, run: u64, mode: StopMode, last: bool },
    /// It has not stopped in time.
    Kill { child: ActorId },
    /// It is down, and is not restarted.
    End { child: ActorId, reason: ExitReason },
    /// Answer the commands that wait for this outcome.
    Tell { child: ActorId, what: Outcome },
    /// Log that a child is restarted.
    Restarting { child: ActorId, reason: ExitReason, delay: Duration },
    /// Take it down without waiting for it, because its supervisor is down.
    Halt { child: ActorId },
    /// All children are down: end.
    Exit(ExitReason),
}

/// What has happened to a child.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Outcome {
    Up,
    /// It failed to start on command.
    Failed(ExitReason),
    Down,
    Gone,
}

/// Why a child cannot be restarted, terminated or deleted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refused {
    Unknown,
    /// It is up, or starting.
    Running,
    /// The supervisor is about to end.
    Stopping,
}

#[derive(Clone, PartialEq, Debug)]
enum Course {
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
pub(crate) struct Plan {
    strategy: Strategy,
    intensity: Intensity,
    backoff: Backoff,
    /// The supervisor has no supervisor: it is never started again.
    root: bool,
    course: Course,
    entries: BTreeMap<u64, ChildEntry>,
    numbers: HashMap<ActorId, u64>,
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
    ending: HashMap<ActorId, Outcome>,
    actions: Vec<Action>,
}

impl Plan {
    pub(crate) fn new(strategy: Strategy, intensity: Intensity, backoff: Backoff) -> Self {
        Self {
            strategy,
            intensity,
            backoff,
            root: true,
            course: Course::Waiting,
            entries: BTreeMap::new(),
            numbers: HashMap::new(),
            next_number: 0,
            stops: BTreeSet::new(),
            starts: BTreeSet::new(),
            alarms: BTreeSet::new(),
            up: 0,
            ending: HashMap::new(),
            actions: Vec::new(),
        }
    }

    pub(crate) fn set_intensity(&mut self, intensity: Intensity) {
        self.intensity = intensity;
    }

    pub(crate) fn set_backoff(&mut self, backoff: Backoff) {
        self.backoff = backoff;
    }

    /// Notes that the supervisor is itself a child, and may be started again.
    pub(crate) fn set_child(&mut self) {
        self.root = false;
    }

    /// Returns the actions to perform now, in this order.
    pub(crate) fn take_actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }

    /// Returns when [`on_time`](Self::on_time) must be called, if nothing else happens before.
    pub(crate) fn next_alarm(&self) -> Option<Duration> {
        self.alarms.first().map(|(time, _)| *time)
    }

    /// Returns whether children may be added and commanded.
    pub(crate) fn is_running(&self) -> bool {
        self.course == Course::Running
    }

    pub(crate) fn knows(&self, child: ActorId) -> bool {
        self.numbers.contains_key(&child)
    }

    /// Returns all children, in their order.
    pub(crate) fn view(&self) -> impl Iterator<Item = View> {
        self.entries.values().map(ChildEntry::view)
    }

    // Events.

    /// Adds a child before the supervisor is started.
    pub(crate) fn declare(&mut self, child: ActorId, spec: ChildSpec) {
        self.insert(child, spec, false);
    }

    /// The supervisor is started, or started again.
    pub(crate) fn on_start(&mut self, now: Duration) {
        self.course = Course::Running;
        self.intensity.forget();
        let numbers: Vec<u64> = self.entries.keys().copied().collect();
        for number in numbers {
            let entry = self.entry(number);
            (entry.aim, entry.not_before, entry.streak) = (Aim::Up, now, 0);
            if self.strategy.is_ordered() {
                self.starts.insert(number);
            } else {
                self.launch(number);
            }
        }
        self.advance(now);
    }

    /// A child is added while the supervisor runs. [`Outcome`] reports whether it started; if not,
    /// it is gone.
    pub(crate) fn on_add(
        &mut self,
        child: ActorId,
        spec: ChildSpec,
        now: Duration,
    ) -> Result<(), Refused> {
        if !self.is_running() {
            return Err(Refused::Stopping);
        }
        let number = self.insert(child, spec, true);
        self.entry(number).trial = Some(Trial::New);
        self.launch(number);
        self.advance(now);
        Ok(())
    }

    /// A child's start has succeeded.
    pub(crate) fn on_up(&mut self, child: ActorId, run: u64, now: Duration) {
        let Some((number, entry)) = self.find(child) else { return };
        if entry.run != run || entry.state != State::Starting {
            return;
        }
        entry.state = State::Up;
        entry.late = false;
        entry.since = Some(now);
        if entry.trial.take().is_some() {
            self.tell(number, Outcome::Up);
        }
        self.starts.remove(&number);
        self.advance(now);
    }

    /// A child is down: it has failed, has stopped itself, or was stopped.
    pub(crate) fn on_down(&mut self, child: ActorId, run: u64, reason: ExitReason, now: Duration) {
        let Some((number, entry)) = self.find(child) else { return };
        if entry.run != run || entry.state == State::Down {
            return;
        }
        let meant = entry.state == State::Stopping || self.stops.contains(&number);
        self.touch_down(number);
        if meant {
            self.after_stop(number, now);
        } else {
            self.after_fall(number, reason, now);
        }
        self.advance(now);
    }

    /// A child has ended for good.
    pub(crate) fn on_ended(&mut self, child: ActorId, now: Duration) {
        if let Some(what) = self.ending.remove(&child) {
            self.actions.push(Action::Tell { child, what });
            self.advance(now);
        }
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
                State::Stopping => self.give_up(number, now),
                State::Down if !in_order => self.launch(number),
                _ => {}
            }
        }
        self.advance(now);
    }

    /// Requests that a child go down and stay down. [`Outcome::Down`] or [`Outcome::Gone`] follows.
    pub(crate) fn on_terminate(&mut self, child: ActorId, now: Duration) -> Result<(), Refused> {
        let number = self.commanded(child)?;
        let temporary = self.entry(number).spec.restart == Restart::Temporary;
        self.put_away(number, if temporary { Aim::Gone } else { Aim::Down }, now);
        Ok(())
    }

    /// Requests that a child go down and not be restarted. [`Outcome::Gone`] follows.
    pub(crate) fn on_delete(&mut self, child: ActorId, now: Duration) -> Result<(), Refused> {
        let number = self.commanded(child)?;
        self.put_away(number, Aim::Gone, now);
        Ok(())
    }

    /// Requests that a terminated child start again. [`Outcome::Up`] or [`Outcome::Failed`]
    /// follows.
    pub(crate) fn on_restart(&mut self, child: ActorId, now: Duration) -> Result<(), Refused> {
        let number = self.commanded(child)?;
        let entry = self.entry(number);
        if entry.aim != Aim::Down {
            return Err(Refused::Running);
        }
        (entry.aim, entry.trial, entry.not_before) = (Aim::Up, Some(Trial::Again), now);
        if entry.state == State::Down {
            self.launch(number);
        }
        self.advance(now);
        Ok(())
    }

    /// Requests that the supervisor end: its children go down, last first, and [`Action::Exit`]
    /// follows. If it is not the `last` time, the declared children can be started again.
    pub(crate) fn on_stop(&mut self, reason: ExitReason, last: bool, now: Duration) {
        match &mut self.course {
            Course::Stopped => return,
            Course::Stopping { last: before, .. } if *before || !last => return,
            Course::Stopping { last, .. } => *last = true,
            course => *course = Course::Stopping { reason, last },
        }
        self.stop_all(last, now);
        self.advance(now);
    }

    /// The supervisor's state is gone. All children that are not down are halted, and those added
    /// at run time end; the declared ones can be [started](Self::on_start) again.
    pub(crate) fn reset(&mut self) -> Vec<Action> {
        self.actions.clear();
        self.course = Course::Waiting;
        self.stops.clear();
        self.starts.clear();
        self.alarms.clear();
        self.up = 0;
        self.ending.clear();
        let numbers: Vec<u64> = self.entries.keys().rev().copied().collect();
        for number in numbers {
            let entry = self.entry(number);
            let (child, added) = (entry.child, entry.added);
            let was = std::mem::replace(&mut entry.state, State::Down);
            (entry.alarm, entry.trial) = (None, None);
            if added {
                self.end(number, ExitReason::Shutdown);
            } else if was != State::Down {
                self.actions.push(Action::Halt { child });
            }
        }
        self.take_actions()
    }

    // Reactions.

    /// A child has gone down on its own.
    fn after_fall(&mut self, number: u64, reason: ExitReason, now: Duration) {
        let entry = self.entry(number);
        match entry.trial.take() {
            Some(Trial::New) => {
                return self.end_as(number, reason.clone(), Outcome::Failed(reason));
            }
            Some(Trial::Again) => {
                entry.aim = Aim::Down;
                return self.tell(number, Outcome::Failed(reason));
            }
            None => {}
        }
        let again = match entry.spec.restart {
            Restart::Permanent => true,
            Restart::Transient => !reason.is_normal(),
            Restart::Temporary => false,
        };
        if !again {
            self.end(number, reason);
        } else if self.intensity.allows(now) {
            self.restart(number, reason, now);
        } else {
            self.escalate(number, reason, now);
        }
    }

    /// A child has gone down on request.
    fn after_stop(&mut self, number: u64, now: Duration) {
        let aim = self.entry(number).aim;
        match aim {
            Aim::Gone => self.end(number, ExitReason::Shutdown),
            Aim::Down => self.tell(number, Outcome::Down),
            // In order, it waits for its turn.
            Aim::Up if self.starts.contains(&number) => {}
            Aim::Up if self.is_running() => self.launch_at_its_time(number, now),
            Aim::Up => {}
        }
    }

    fn restart(&mut self, number: u64, reason: ExitReason, now: Duration) {
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
        self.actions.push(Action::Restarting { child, reason, delay });
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
    fn restart_from(&mut self, first: u64, fallen: u64) {
        let not_before = self.entry(fallen).not_before;
        let numbers: Vec<u64> = self.entries.range(first..).map(|(number, _)| *number).collect();
        for number in numbers {
            let entry = self.entry(number);
            if entry.aim != Aim::Up {
                continue;
            }
            let is_down = entry.state == State::Down;
            if entry.spec.restart == Restart::Temporary {
                entry.aim = Aim::Gone;
            } else {
                entry.not_before = entry.not_before.max(not_before);
                self.starts.insert(number);
                self.silence(number);
            }
            match (is_down, self.entry(number).aim) {
                (false, _) => {
                    self.stops.insert(number);
                }
                (true, Aim::Gone) => self.end(number, ExitReason::Shutdown),
                (true, _) => {}
            }
        }
    }

    /// A child has failed once too often.
    fn escalate(&mut self, number: u64, reason: ExitReason, now: Duration) {
        let ChildEntry { child, added, .. } = *self.entry(number);
        tracing::error!(%child, %reason, "a supervisor gives up: its children fail too often");
        let last = self.root;
        if last || added {
            self.end(number, reason.clone());
        }
        let reason = ExitReason::TooManyRestarts(reason.into_cause());
        self.course = Course::Stopping { reason, last };
        self.stop_all(last, now);
    }

    /// Takes all children down, last first.
    fn stop_all(&mut self, last: bool, now: Duration) {
        self.starts.clear();
        let numbers: Vec<u64> = self.entries.keys().rev().copied().collect();
        for number in numbers {
            let ordered = self.strategy.is_ordered();
            let entry = self.entry(number);
            if last || entry.added {
                entry.aim = Aim::Gone;
            }
            match entry.state {
                State::Down => {
                    self.silence(number);
                    if self.entry(number).aim == Aim::Gone {
                        self.end(number, ExitReason::Shutdown);
                    }
                }
                State::Stopping => {}
                State::Starting | State::Up if ordered => {
                    self.stops.insert(number);
                }
                State::Starting | State::Up => self.stop(number, now),
            }
        }
    }

    /// Takes one child down by command, independent of the order of the others.
    fn put_away(&mut self, number: u64, aim: Aim, now: Duration) {
        self.starts.remove(&number);
        let entry = self.entry(number);
        entry.aim = aim;
        match entry.state {
            State::Down => {
                self.silence(number);
                self.after_stop(number, now);
            }
            State::Stopping => {}
            State::Starting | State::Up => {
                self.stops.remove(&number);
                self.stop(number, now);
            }
        }
        self.advance(now);
    }

    /// Performs the ordered stops and starts that are possible now.
    fn advance(&mut self, now: Duration) {
        if let Some(&number) = self.stops.last()
            && self.entry(number).is_up()
        {
            self.stop(number, now);
        }
        if self.stops.is_empty() && self.is_running() {
            self.start_in_order(now);
        }
        if self.up == 0 && self.ending.is_empty() && matches!(self.course, Course::Stopping { .. })
        {
            let before = std::mem::replace(&mut self.course, Course::Stopped);
            if let Course::Stopping { reason, .. } = before {
                self.actions.push(Action::Exit(reason));
            }
        }
    }

    /// Starts the next one, once those before it are up. A child that has not gone down in time may
    /// be held by a behaviour that waits for those behind it, so they do not wait for it.
    fn start_in_order(&mut self, now: Duration) {
        let mut next = self.starts.first().copied();
        while let Some(number) = next {
            match self.entry(number).state {
                State::Down => self.launch_at_its_time(number, now),
                State::Up => _ = self.starts.remove(&number),
                State::Starting | State::Stopping => {}
            }
            if self.starts.contains(&number) && !self.entry(number).late {
                break;
            }
            next = self.starts.range(number + 1..).next().copied();
        }
    }

    // Steps of one child.

    fn launch_at_its_time(&mut self, number: u64, now: Duration) {
        let not_before = self.entry(number).not_before;
        if not_before > now {
            self.set_alarm(number, not_before);
        } else {
            self.launch(number);
        }
    }

    fn launch(&mut self, number: u64) {
        self.silence(number);
        let entry = self.entry(number);
        entry.state = State::Starting;
        entry.since = None;
        entry.run += 1;
        let start = Action::Start { child: entry.child, run: entry.run };
        self.up += 1;
        self.actions.push(start);
    }

    fn stop(&mut self, number: u64, now: Duration) {
        let entry = self.entry(number);
        entry.state = State::Stopping;
        let (child, run, last) = (entry.child, entry.run, entry.aim == Aim::Gone);
        let shutdown = entry.spec.shutdown;
        let for_restart = self.is_running() && self.entry(number).aim == Aim::Up;
        let mode = if for_restart { shutdown.for_restart() } else { shutdown.mode };
        if let Some(deadline) = shutdown.deadline() {
            self.set_alarm(number, now.saturating_add(deadline));
        }
        self.actions.push(Action::Stop { child, run, mode, last });
    }

    /// A child has not gone down in time: it is treated as down, and will follow.
    fn give_up(&mut self, number: u64, now: Duration) {
        let entry = self.entry(number);
        entry.late = true;
        let child = entry.child;
        self.actions.push(Action::Kill { child });
        self.touch_down(number);
        self.after_stop(number, now);
    }

    fn touch_down(&mut self, number: u64) {
        self.silence(number);
        self.stops.remove(&number);
        self.entry(number).state = State::Down;
        self.up -= 1;
    }

    /// Ends a child that is down, and removes it.
    fn end(&mut self, number: u64, reason: ExitReason) {
        self.end_as(number, reason, Outcome::Gone);
    }

    /// Ends it like `end`; `what` is reported when the child has ended: only then are its names
    /// free.
    fn end_as(&mut self, number: u64, reason: ExitReason, what: Outcome) {
        self.silence(number);
        self.starts.remove(&number);
        let entry = self.entries.remove(&number).expect("the child exists");
        let child = entry.child;
        self.numbers.remove(&child);
        self.actions.push(Action::End { child, reason });
        // A child that was never started has no supervisor to report to.
        if entry.late || entry.run == 0 {
            self.actions.push(Action::Tell { child, what });
        } else {
            self.ending.insert(child, what);
        }
    }

    fn tell(&mut self, number: u64, what: Outcome) {
        let child = self.entry(number).child;
        self.actions.push(Action::Tell { child, what });
    }

    fn set_alarm(&mut self, number: u64, time: Duration) {
        self.silence(number);
        self.entry(number).alarm = Some(time);
        self.alarms.insert((time, number));
    }

    fn silence(&mut self, number: u64) {
        if let Some(time) = self.entry(number).alarm.take() {
            self.alarms.remove(&(time, number));
        }
    }

    // Lookups.

    fn insert(&mut self, child: ActorId, spec: ChildSpec, added: bool) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
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

    fn commanded(&self, child: ActorId) -> Result<u64, Refused> {
        if !self.is_running() {
            return Err(Refused::Stopping);
        }
        self.numbers.get(&child).copied().ok_or(Refused::Unknown)
    }
}

#[cfg(test)]
mod tests;
