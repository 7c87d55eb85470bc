//! The actor behind a supervisor: carries out the decisions of the
//! [`SupervisionPlan`](super::plan).
//!
//! No user code runs on it and no user behaviour names it, so nothing delays its decisions, not
//! even behaviours that wait for its children.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use coact_core::internals::catch;
use coact_core::runtime::RuntimeHandle;
use coact_core::time::{Timer, after};
use coact_sync::shim::process::Mutex;

use super::child_table::ChildTable;
use super::command_waiters::CommandWaiter;
use super::error::ReadyError;
use super::log;
use super::plan::{ChildOutcome, CommandRefusal, PlanAction, SupervisionPlan};
use crate::handler::Handler;
use crate::id::ActorId;
use crate::message::Message;
use crate::parts::{Addr, Context};

/// Keeps the children of a supervisor while it has no state.
pub(crate) type SavedChildren = Arc<Mutex<Option<ChildTable>>>;

/// A supervisor's state.
pub(crate) struct SupervisorActor {
    /// `None` only during drop.
    table: Option<ChildTable>,
    /// Takes the children when this state is dropped. `None` for a root, which is never restarted.
    pub(super) saved: Option<SavedChildren>,
    /// Counts its starts, if it is a child.
    pub(super) run: u64,
    alarm: Option<(Duration, Timer)>,
    waiters: BTreeMap<ActorId, Vec<CommandWaiter>>,
    /// Keeps it alive while it stops after its last handle is gone.
    pub(super) _keep: Option<Addr<SupervisorActor>>,
}

impl SupervisorActor {
    /// Creates a supervisor without a supervisor, which is never restarted.
    pub(crate) fn root(table: ChildTable) -> Self {
        Self::new(table, None, 0)
    }

    /// Returns a factory for a supervisor that is a child, called once per start.
    pub(crate) fn factory(mut table: ChildTable) -> impl FnMut() -> Self + Send {
        table.plan.set_child();
        let saved: SavedChildren = Arc::new(Mutex::new(Some(table)));
        let mut run = 0;
        move || {
            run += 1;
            let table = saved.lock().take().expect("the state before this one left it here");
            Self::new(table, Some(Arc::clone(&saved)), run)
        }
    }

    fn new(table: ChildTable, saved: Option<SavedChildren>, run: u64) -> Self {
        let (table, waiters) = (Some(table), BTreeMap::new());
        Self { table, saved, run, alarm: None, waiters, _keep: None }
    }

    pub(super) fn table(&mut self) -> &mut ChildTable {
        self.table.as_mut().expect("present until drop")
    }

    /// Lets the plan decide, and performs its actions.
    pub(super) fn decide<R>(
        &mut self,
        context: &mut Context<Self>,
        what: impl FnOnce(&mut SupervisionPlan, Duration) -> R,
    ) -> R {
        let now = RuntimeHandle::current().elapsed();
        let plan = &mut self.table().plan;
        let result = what(plan, now);
        let actions = plan.take_actions();
        for action in actions {
            self.perform(action, context);
        }
        self.set_alarm(now, context);
        self.check_ready(context);
        result
    }

    /// Tells those who wait until all are up, if so; asks the supervisors below first.
    pub(super) fn check_ready(&mut self, context: &Context<Self>) {
        let table = self.table();
        while table.readiness.is_awaited() && table.plan.are_all_up() {
            let changes = table.plan.changes();
            let Some(check) = table.readiness.begin_check(changes) else { return };
            let below = table.ask_below();
            table.readiness.await_answers(below.len());
            for answer in below {
                let this = context.weak();
                let answer = answer.then((), move |(), answer| {
                    let answer = answer.unwrap_or_else(|broken| Err(broken.into()));
                    // A supervisor that has ended has told its callers.
                    let _ = this.send(SubtreeAnswer { check, answer });
                });
                drop(answer);
            }
        }
    }

    fn perform(&mut self, action: PlanAction, context: &mut Context<Self>) {
        let handles = &self.table().handles;
        match action {
            PlanAction::Start { child, run } => {
                handles[&child].start(Box::new(context.weak()), run)
            }
            PlanAction::Stop { child, run, mode, last } => handles[&child].stop(run, mode, last),
            PlanAction::Kill { child } => {
                handles[&child].kill();
                log::is_late(child, &handles[&child].name);
            }
            PlanAction::StartFailed { child, reason } => {
                let name = handles[&child].name.clone();
                let failure = ReadyError::Failed { child, name, reason };
                self.table().readiness.note_failure(failure);
            }
            PlanAction::Restarting { child, reason, delay } => {
                log::restarts(child, &handles[&child].name, &reason, delay);
            }
            PlanAction::End { child, reason } => self.table().end(child, reason),
            PlanAction::Tell { child, what } => self.tell(child, &what),
            PlanAction::Halt { child } => handles[&child].halt(),
            PlanAction::Exit(reason) => context.stop_with(reason),
        }
    }

    fn tell(&mut self, child: ActorId, what: &ChildOutcome) {
        let Some(waiters) = self.waiters.remove(&child) else { return };
        let mut left = Vec::new();
        for waiter in waiters {
            match waiter.until.answer(what) {
                // The waker may be user code.
                Some(answer) => drop(catch(|| waiter.answer.resolve(answer))),
                None => left.push(waiter),
            }
        }
        if !left.is_empty() {
            self.waiters.insert(child, left);
        }
    }

    fn set_alarm(&mut self, now: Duration, context: &mut Context<Self>) {
        let next = self.table().plan.next_alarm();
        if self.alarm.as_ref().map(|(time, _)| *time) == next {
            return;
        }
        self.silence();
        self.alarm = next.map(|time| {
            let this = context.weak();
            let wake = move |()| drop(this.send(AlarmWake(time)));
            (time, after(time.saturating_sub(now), (), wake))
        });
    }

    fn silence(&mut self) {
        if let Some((_, timer)) = self.alarm.take() {
            timer.cancel();
        }
    }

    /// Passes a command to the plan; the answer is sent when it is done.
    pub(super) fn command(
        &mut self,
        context: &mut Context<Self>,
        child: ActorId,
        waiter: CommandWaiter,
        command: impl FnOnce(&mut SupervisionPlan, Duration) -> Result<(), CommandRefusal>,
    ) {
        // The waiter is added first, because the command may be done immediately.
        self.waiters.entry(child).or_default().push(waiter);
        if let Err(why) = self.decide(context, command) {
            let mine = self.waiters.get_mut(&child).and_then(Vec::pop);
            if self.waiters.get(&child).is_some_and(Vec::is_empty) {
                self.waiters.remove(&child);
            }
            if let Some(waiter) = mine {
                let _ = catch(|| waiter.answer.resolve(Err(why.into())));
            }
        }
    }
}

impl Drop for SupervisorActor {
    fn drop(&mut self) {
        self.silence();
        let Some(mut table) = self.table.take() else { return };
        table.reset();
        if let Some(saved) = &self.saved {
            *saved.lock() = Some(table);
        }
    }
}

/// The alarm has fired.
struct AlarmWake(Duration);

impl Message for AlarmWake {
    type Reply = ();
}

impl Handler<AlarmWake> for SupervisorActor {
    fn handle(&mut self, wake: AlarmWake, context: &mut Context<Self>) {
        if self.alarm.as_ref().is_some_and(|(time, _)| *time == wake.0) {
            self.alarm = None;
        }
        self.decide(context, SupervisionPlan::on_time);
    }
}

/// The answer of a supervisor below to a check of the tree.
struct SubtreeAnswer {
    check: u64,
    answer: Result<(), ReadyError>,
}

impl Message for SubtreeAnswer {
    type Reply = ();
}

impl Handler<SubtreeAnswer> for SupervisorActor {
    fn handle(&mut self, message: SubtreeAnswer, context: &mut Context<Self>) {
        let SubtreeAnswer { check, answer } = message;
        self.table().readiness.on_answer(check, answer);
        self.check_ready(context);
    }
}
