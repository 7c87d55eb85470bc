//! What a supervisor decides: a machine that is told what happens and when, and says what to do.
//!
//! It knows neither actors nor clocks nor threads, so it can be tested as it is. `overseer.rs`
//! drives it.
//!
//! Every child has a *number*, its place in the order of adding. A child that is started or stopped
//! *in order* waits for others: stops come last first, one at a time, and after them starts, first
//! first, one at a time. These children stand in `stops` and `starts`. All others do not wait, and
//! cost no look at their siblings, so that a supervisor may have many.

mod slot;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use super::backoff::Backoff;
use super::intensity::Intensity;
use super::strategy::{Restart, Strategy, Way};
use crate::{ActorId, ExitReason};

pub use slot::ChildState;
use slot::{Aim, Slot, State, Trial};
pub(crate) use slot::{Terms, View};

/// What is to be done.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Action {
    /// Make the child's state, and let its messages come.
    Start { child: ActorId, run: u64 },
    /// Let it go down. Whether for good is known, so that it can pass that on.
    Stop { child: ActorId, run: u64, way: Way, last: bool },
    /// It has not stopped in time.
    Kill { child: ActorId },
    /// It is down, and does not come back.
    End { child: ActorId, reason: ExitReason },
    /// Something has happened that somebody may wait for.
    Tell { child: ActorId, what: Outcome },
    /// A child is restarted: news for those who watch.
    Restarting { child: ActorId, reason: ExitReason, delay: Duration },
    /// Let it go down, as its supervisor has; nobody waits.
    Halt { child: ActorId },
    /// All children are down: end.
    Exit(ExitReason),
}

/// What has become of a child.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Outcome {
    Up,
    /// It did not come up when somebody had asked for it.
    Failed(ExitReason),
    Down,
    Gone,
}

/// Why a child cannot be brought up, down or away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Refused {
    Unknown,
    /// It is up, or on its way.
    Running,
    /// The supervisor is about to end.
    Leaving,
}

#[derive(Clone, PartialEq, Debug)]
enum Course {
    /// Not started (again).
    Waiting,
    Running,
    Leaving {
        reason: ExitReason,
        last: bool,
    },
    Left,
}

/// The plan of one supervisor.
pub(crate) struct Plan {
    strategy: Strategy,
    intensity: Intensity,
    backoff: Backoff,
    /// There is nobody who would start it again.
    root: bool,
    course: Course,
    slots: BTreeMap<u64, Slot>,
    numbers: HashMap<ActorId, u64>,
    next_number: u64,
    /// Who is to be stopped, last first.
    stops: BTreeSet<u64>,
    /// Who is to be started, first first, when nobody is to be stopped any more.
    starts: BTreeSet<u64>,
    /// Who is to be looked at again, and when.
    alarms: BTreeSet<(Duration, u64)>,
    /// How many children are not down.
    up: usize,
    /// Who was told to end, and has not said yet that it has; and what is told then.
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
            slots: BTreeMap::new(),
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

    /// The supervisor is itself a child, and may be started again.
    pub(crate) fn set_child(&mut self) {
        self.root = false;
    }

    /// What is to be done now, in this order.
    pub(crate) fn take_actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }

    /// When [`on_time`](Self::on_time) must be called, if nothing else happens before.
    pub(crate) fn next_alarm(&self) -> Option<Duration> {
        self.alarms.first().map(|(time, _)| *time)
    }

    /// Whether children may be added and commanded.
    pub(crate) fn is_running(&self) -> bool {
        self.course == Course::Running
    }

    pub(crate) fn knows(&self, child: ActorId) -> bool {
        self.numbers.contains_key(&child)
    }

    /// All children, in their order.
    pub(crate) fn view(&self) -> impl Iterator<Item = View> {
        self.slots.values().map(Slot::view)
    }

    // What happens.

    /// A child is declared before the supervisor is started.
    pub(crate) fn declare(&mut self, child: ActorId, terms: Terms) {
        self.insert(child, terms, false);
    }

    /// The supervisor is started, or started again.
    pub(crate) fn on_start(&mut self, now: Duration) {
        self.course = Course::Running;
        self.intensity.forget();
        let numbers: Vec<u64> = self.slots.keys().copied().collect();
        for number in numbers {
            let slot = self.slot(number);
            (slot.aim, slot.not_before, slot.streak) = (Aim::Up, now, 0);
            if self.strategy.is_ordered() {
                self.starts.insert(number);
            } else {
                self.launch(number);
            }
        }
        self.advance(now);
    }

    /// A child is added while the supervisor runs. [`Outcome`] tells whether it came up; if not, it
    /// is gone.
    pub(crate) fn on_add(
        &mut self,
        child: ActorId,
        terms: Terms,
        now: Duration,
    ) -> Result<(), Refused> {
        if !self.is_running() {
            return Err(Refused::Leaving);
        }
        let number = self.insert(child, terms, true);
        self.slot(number).trial = Some(Trial::New);
        self.launch(number);
        self.advance(now);
        Ok(())
    }

    /// A child's start has succeeded.
    pub(crate) fn on_up(&mut self, child: ActorId, run: u64, now: Duration) {
        let Some((number, slot)) = self.find(child) else { return };
        if slot.run != run || slot.state != State::Starting {
            return;
        }
        slot.state = State::Up;
        slot.late = false;
        slot.since = Some(now);
        if slot.trial.take().is_some() {
            self.tell(number, Outcome::Up);
        }
        self.starts.remove(&number);
        self.advance(now);
    }

    /// A child is down, whatever the reason: it has failed, has stopped, or has done as it was told.
    pub(crate) fn on_down(&mut self, child: ActorId, run: u64, reason: ExitReason, now: Duration) {
        let Some((number, slot)) = self.find(child) else { return };
        if slot.run != run || slot.state == State::Down {
            return;
        }
        let meant = slot.state == State::Stopping || self.stops.contains(&number);
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
            let slot = self.slot(number);
            slot.alarm = None;
            match slot.state {
                State::Stopping => self.give_up(number, now),
                State::Down if !in_order => self.launch(number),
                _ => {}
            }
        }
        self.advance(now);
    }

    /// A child is to go down and stay there. [`Outcome::Down`] or [`Outcome::Gone`] follow.
    pub(crate) fn on_terminate(&mut self, child: ActorId, now: Duration) -> Result<(), Refused> {
        let number = self.commanded(child)?;
        let temporary = self.slot(number).terms.restart == Restart::Temporary;
        self.put_away(number, if temporary { Aim::Gone } else { Aim::Down }, now);
        Ok(())
    }

    /// A child is to go down and not to come back. [`Outcome::Gone`] follows.
    pub(crate) fn on_delete(&mut self, child: ActorId, now: Duration) -> Result<(), Refused> {
        let number = self.commanded(child)?;
        self.put_away(number, Aim::Gone, now);
        Ok(())
    }

    /// A child that was terminated is to come up again. [`Outcome::Up`] or [`Outcome::Failed`]
    /// follow.
    pub(crate) fn on_restart(&mut self, child: ActorId, now: Duration) -> Result<(), Refused> {
        let number = self.commanded(child)?;
        let slot = self.slot(number);
        if slot.aim != Aim::Down {
            return Err(Refused::Running);
        }
        (slot.aim, slot.trial, slot.not_before) = (Aim::Up, Some(Trial::Again), now);
        if slot.state == State::Down {
            self.launch(number);
        }
        self.advance(now);
        Ok(())
    }

    /// The supervisor is to end: its children go down, last first, and [`Action::Exit`] follows. If
    /// it is not the `last` time, those that were declared can be started again.
    pub(crate) fn on_leave(&mut self, reason: ExitReason, last: bool, now: Duration) {
        match &mut self.course {
            Course::Left => return,
            Course::Leaving { last: before, .. } if *before || !last => return,
            Course::Leaving { last, .. } => *last = true,
            course => *course = Course::Leaving { reason, last },
        }
        self.leave(last, now);
        self.advance(now);
    }

    /// The supervisor's state is gone. Whatever is not down is halted, and what was added at run
    /// time ends; what was declared can be [started](Self::on_start) again.
    pub(crate) fn reset(&mut self) -> Vec<Action> {
        self.actions.clear();
        self.course = Course::Waiting;
        self.stops.clear();
        self.starts.clear();
        self.alarms.clear();
        self.up = 0;
        self.ending.clear();
        let numbers: Vec<u64> = self.slots.keys().rev().copied().collect();
        for number in numbers {
            let slot = self.slot(number);
            let (child, added) = (slot.child, slot.added);
            let was = std::mem::replace(&mut slot.state, State::Down);
            (slot.alarm, slot.trial) = (None, None);
            if added {
                self.end(number, ExitReason::Shutdown);
            } else if was != State::Down {
                self.actions.push(Action::Halt { child });
            }
        }
        self.take_actions()
    }

    // What follows from it.

    /// A child has gone down by itself.
    fn after_fall(&mut self, number: u64, reason: ExitReason, now: Duration) {
        let slot = self.slot(number);
        match slot.trial.take() {
            Some(Trial::New) => {
                return self.end_as(number, reason.clone(), Outcome::Failed(reason));
            }
            Some(Trial::Again) => {
                slot.aim = Aim::Down;
                return self.tell(number, Outcome::Failed(reason));
            }
            None => {}
        }
        let again = match slot.terms.restart {
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

    /// A child has gone down since it was told to.
    fn after_stop(&mut self, number: u64, now: Duration) {
        let aim = self.slot(number).aim;
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
        let slot = self.slot(number);
        let backoff = slot.terms.backoff.unwrap_or(default);
        if slot.run_was_calm(now, backoff.calm()) {
            slot.streak = 0;
        }
        let delay = backoff.delay_of(slot.streak, number);
        slot.streak = slot.streak.saturating_add(1);
        slot.not_before = now.saturating_add(delay);
        let child = slot.child;
        self.actions.push(Action::Restarting { child, reason, delay });
        match self.strategy {
            Strategy::OneForOne | Strategy::Dynamic => {
                // Those that wait for their first start keep their turn.
                if !self.starts.contains(&number) {
                    self.launch_at_its_time(number, now);
                }
            }
            Strategy::OneForAll => self.restart_from(0, number),
            Strategy::RestForOne => self.restart_from(number, number),
        }
    }

    /// Restarts the children from `first` on, since `fallen` has fallen: stops those that are up,
    /// and then starts all.
    fn restart_from(&mut self, first: u64, fallen: u64) {
        let not_before = self.slot(fallen).not_before;
        let numbers: Vec<u64> = self.slots.range(first..).map(|(number, _)| *number).collect();
        for number in numbers {
            let slot = self.slot(number);
            if slot.aim != Aim::Up {
                continue;
            }
            let is_down = slot.state == State::Down;
            if slot.terms.restart == Restart::Temporary {
                slot.aim = Aim::Gone;
            } else {
                slot.not_before = slot.not_before.max(not_before);
                self.starts.insert(number);
                self.silence(number);
            }
            match (is_down, self.slot(number).aim) {
                (false, _) => {
                    self.stops.insert(number);
                }
                (true, Aim::Gone) => self.end(number, ExitReason::Shutdown),
                (true, _) => {}
            }
        }
    }

    /// A child has fallen once too often.
    fn escalate(&mut self, number: u64, reason: ExitReason, now: Duration) {
        let Slot { child, added, .. } = *self.slot(number);
        tracing::error!(%child, %reason, "a supervisor gives up: its children fail too often");
        let last = self.root;
        if last || added {
            self.end(number, reason.clone());
        }
        let reason = ExitReason::TooManyRestarts(reason.into_cause());
        self.course = Course::Leaving { reason, last };
        self.leave(last, now);
    }

    /// Takes all children down, last first.
    fn leave(&mut self, last: bool, now: Duration) {
        self.starts.clear();
        let numbers: Vec<u64> = self.slots.keys().rev().copied().collect();
        for number in numbers {
            let ordered = self.strategy.is_ordered();
            let slot = self.slot(number);
            if last || slot.added {
                slot.aim = Aim::Gone;
            }
            match slot.state {
                State::Down => {
                    self.silence(number);
                    if self.slot(number).aim == Aim::Gone {
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

    /// Takes one child down by command, out of the order of the others.
    fn put_away(&mut self, number: u64, aim: Aim, now: Duration) {
        self.starts.remove(&number);
        let slot = self.slot(number);
        slot.aim = aim;
        match slot.state {
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

    /// Does what can be done now of what stands in order.
    fn advance(&mut self, now: Duration) {
        if let Some(&number) = self.stops.last()
            && self.slot(number).is_up()
        {
            self.stop(number, now);
        }
        if self.stops.is_empty() && self.is_running() {
            self.start_in_order(now);
        }
        if self.up == 0 && self.ending.is_empty() && matches!(self.course, Course::Leaving { .. }) {
            let left = std::mem::replace(&mut self.course, Course::Left);
            if let Course::Leaving { reason, .. } = left {
                self.actions.push(Action::Exit(reason));
            }
        }
    }

    /// Starts the next one, once those before it are up. One that has not gone down in time may be held by a
    /// behaviour that waits for those behind it, so they do not wait for it.
    fn start_in_order(&mut self, now: Duration) {
        let mut next = self.starts.first().copied();
        while let Some(number) = next {
            match self.slot(number).state {
                State::Down => self.launch_at_its_time(number, now),
                State::Up => _ = self.starts.remove(&number),
                State::Starting | State::Stopping => {}
            }
            if self.starts.contains(&number) && !self.slot(number).late {
                break;
            }
            next = self.starts.range(number + 1..).next().copied();
        }
    }

    // Steps of one child.

    fn launch_at_its_time(&mut self, number: u64, now: Duration) {
        let not_before = self.slot(number).not_before;
        if not_before > now {
            self.set_alarm(number, not_before);
        } else {
            self.launch(number);
        }
    }

    fn launch(&mut self, number: u64) {
        self.silence(number);
        let slot = self.slot(number);
        slot.state = State::Starting;
        slot.since = None;
        slot.run += 1;
        let start = Action::Start { child: slot.child, run: slot.run };
        self.up += 1;
        self.actions.push(start);
    }

    fn stop(&mut self, number: u64, now: Duration) {
        let slot = self.slot(number);
        slot.state = State::Stopping;
        let (child, run, last) = (slot.child, slot.run, slot.aim == Aim::Gone);
        let shutdown = slot.terms.shutdown;
        let for_restart = self.is_running() && self.slot(number).aim == Aim::Up;
        let way = if for_restart { shutdown.for_restart() } else { shutdown.way };
        if let Some(deadline) = shutdown.deadline() {
            self.set_alarm(number, now.saturating_add(deadline));
        }
        self.actions.push(Action::Stop { child, run, way, last });
    }

    /// A child has not gone down in time: it is taken for down, and follows.
    fn give_up(&mut self, number: u64, now: Duration) {
        let slot = self.slot(number);
        slot.late = true;
        let child = slot.child;
        self.actions.push(Action::Kill { child });
        self.touch_down(number);
        self.after_stop(number, now);
    }

    fn touch_down(&mut self, number: u64) {
        self.silence(number);
        self.stops.remove(&number);
        self.slot(number).state = State::Down;
        self.up -= 1;
    }

    /// Ends a child that is down, and forgets it.
    fn end(&mut self, number: u64, reason: ExitReason) {
        self.end_as(number, reason, Outcome::Gone);
    }

    /// As `end`; this is told when it has ended: only then are its names free.
    fn end_as(&mut self, number: u64, reason: ExitReason, what: Outcome) {
        self.silence(number);
        self.starts.remove(&number);
        let slot = self.slots.remove(&number).expect("it is there");
        let child = slot.child;
        self.numbers.remove(&child);
        self.actions.push(Action::End { child, reason });
        // One that was never started does not know whom to tell.
        if slot.late || slot.run == 0 {
            self.actions.push(Action::Tell { child, what });
        } else {
            self.ending.insert(child, what);
        }
    }

    fn tell(&mut self, number: u64, what: Outcome) {
        let child = self.slot(number).child;
        self.actions.push(Action::Tell { child, what });
    }

    fn set_alarm(&mut self, number: u64, time: Duration) {
        self.silence(number);
        self.slot(number).alarm = Some(time);
        self.alarms.insert((time, number));
    }

    fn silence(&mut self, number: u64) {
        if let Some(time) = self.slot(number).alarm.take() {
            self.alarms.remove(&(time, number));
        }
    }

    // Looking up.

    fn insert(&mut self, child: ActorId, terms: Terms, added: bool) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        self.slots.insert(number, Slot::new(child, terms, added));
        self.numbers.insert(child, number);
        number
    }

    fn slot(&mut self, number: u64) -> &mut Slot {
        self.slots.get_mut(&number).expect("only children that are there are looked at")
    }

    fn find(&mut self, child: ActorId) -> Option<(u64, &mut Slot)> {
        let number = *self.numbers.get(&child)?;
        Some((number, self.slots.get_mut(&number)?))
    }

    fn commanded(&self, child: ActorId) -> Result<u64, Refused> {
        if !self.is_running() {
            return Err(Refused::Leaving);
        }
        self.numbers.get(&child).copied().ok_or(Refused::Unknown)
    }
}

#[cfg(test)]
mod tests;
