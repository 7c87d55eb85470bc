//! The actor behind a supervisor: carries out the decisions of the [`Plan`](super::plan).
//!
//! No user code runs on it and no user behaviour names it, so nothing delays its decisions, not
//! even behaviours that wait for its children.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use coact_core::internals::{Ending, catch};
use coact_core::promise::Resolver;
use coact_core::runtime::RuntimeHandle;
use coact_core::time::{Timer, after};
use coact_sync::shim::process::Mutex;

use super::child_handle::{AnyChild, ChildHandle};
use super::child_table::ChildTable;
use super::error::ChildError;
use super::info::ChildInfo;
use super::log;
use super::plan::{Action, ChildOutcome, ChildSpec, Plan, Refused};
use crate::definitions::{Actor, Addr, Context, WeakAddr};
use crate::exit::ExitReason;
use crate::handler::Handler;
use crate::id::ActorId;
use crate::message::Message;
use crate::signal::Signal;
use crate::supervision::{AnySupervisor, ChildEvent};

/// Keeps the children of a supervisor while it has no state.
pub(crate) type SavedChildren = Arc<Mutex<Option<ChildTable>>>;

/// A supervisor's state.
pub(crate) struct SupervisorActor {
    /// `None` only during drop.
    table: Option<ChildTable>,
    /// Takes the children when this state is dropped. `None` for a root, which is never restarted.
    saved: Option<SavedChildren>,
    /// Counts its starts, if it is a child.
    run: u64,
    alarm: Option<(Duration, Timer)>,
    waiters: BTreeMap<ActorId, Vec<CommandWaiter>>,
    /// Keeps it alive while it stops after its last handle is gone.
    _keep: Option<Addr<SupervisorActor>>,
}

/// Answers a command.
pub(crate) type CommandReply = Resolver<Result<(), ChildError>>;

struct CommandWaiter {
    until: Until,
    answer: CommandReply,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    Up,
    Down,
    Gone,
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

    fn table(&mut self) -> &mut ChildTable {
        self.table.as_mut().expect("present until drop")
    }

    /// Lets the plan decide, and performs its actions.
    fn decide<R>(
        &mut self,
        context: &mut Context<Self>,
        what: impl FnOnce(&mut Plan, Duration) -> R,
    ) -> R {
        let now = RuntimeHandle::current().elapsed();
        let plan = &mut self.table().plan;
        let result = what(plan, now);
        let actions = plan.take_actions();
        for action in actions {
            self.perform(action, context);
        }
        self.set_alarm(now, context);
        result
    }

    fn perform(&mut self, action: Action, context: &mut Context<Self>) {
        let handles = &self.table().handles;
        match action {
            Action::Start { child, run } => handles[&child].start(Box::new(context.weak()), run),
            Action::Stop { child, run, mode, last } => handles[&child].stop(run, mode, last),
            Action::Kill { child } => {
                handles[&child].kill();
                log::is_late(child, &handles[&child].name);
            }
            Action::Restarting { child, reason, delay } => {
                log::restarts(child, &handles[&child].name, &reason, delay);
            }
            Action::End { child, reason } => self.table().end(child, reason),
            Action::Tell { child, what } => self.tell(child, &what),
            Action::Halt { child } => handles[&child].halt(),
            Action::Exit(reason) => context.stop_with(reason),
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
            let wake = move |()| drop(this.send(Wake(time)));
            (time, after(time.saturating_sub(now), (), wake))
        });
    }

    fn silence(&mut self) {
        if let Some((_, timer)) = self.alarm.take() {
            timer.cancel();
        }
    }

    /// Passes a command to the plan; the answer is sent when it is done.
    fn command(
        &mut self,
        context: &mut Context<Self>,
        child: ActorId,
        waiter: CommandWaiter,
        command: impl FnOnce(&mut Plan, Duration) -> Result<(), Refused>,
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

impl Until {
    /// Returns the answer to a waiter after an outcome, if there is one yet.
    fn answer(self, what: &ChildOutcome) -> Option<Result<(), ChildError>> {
        match (self, what) {
            (Until::Up, ChildOutcome::Up)
            | (Until::Down, ChildOutcome::Down | ChildOutcome::Gone)
            | (Until::Gone, ChildOutcome::Gone) => Some(Ok(())),
            (Until::Up, ChildOutcome::Failed(reason)) => {
                Some(Err(ChildError::Failed(reason.clone())))
            }
            (Until::Up, ChildOutcome::Down | ChildOutcome::Gone) => {
                Some(Err(ChildError::Failed(ExitReason::Shutdown)))
            }
            // It is down already, and stays down.
            (Until::Down, ChildOutcome::Failed(_)) => Some(Ok(())),
            _ => None,
        }
    }
}

impl Actor for SupervisorActor {
    fn started(&mut self, context: &mut Context<Self>) {
        let this = context.weak();
        // It takes its children down first.
        context.on_runtime_end(move || this.send(StopRequest::with_runtime()).is_ok());
        self.decide(context, Plan::on_start);
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

impl AnySupervisor for WeakAddr<SupervisorActor> {
    fn report(&self, child: ActorId, run: u64, event: ChildEvent) -> bool {
        self.send(ChildReport { child, run, event }).is_ok()
    }

    fn ends_with(&self, ending: &Ending) -> bool {
        let supervisor = self.upgrade().filter(|supervisor| !supervisor.has_ended());
        supervisor.is_some_and(|supervisor| ending.concerns(supervisor.runtime()))
    }
}

/// The report of an event by a child.
struct ChildReport {
    child: ActorId,
    run: u64,
    event: ChildEvent,
}

impl Message for ChildReport {
    type Reply = ();
}

impl Handler<ChildReport> for SupervisorActor {
    fn handle(&mut self, report: ChildReport, context: &mut Context<Self>) {
        let ChildReport { child, run, event } = report;
        self.decide(context, |plan, now| match event {
            ChildEvent::Up => plan.on_up(child, run, now),
            ChildEvent::Ended => plan.on_ended(child, now),
            ChildEvent::Down(reason) => plan.on_down(child, run, reason, now),
        });
    }
}

/// The alarm has fired.
struct Wake(Duration);

impl Message for Wake {
    type Reply = ();
}

impl Handler<Wake> for SupervisorActor {
    fn handle(&mut self, wake: Wake, context: &mut Context<Self>) {
        if self.alarm.as_ref().is_some_and(|(time, _)| *time == wake.0) {
            self.alarm = None;
        }
        self.decide(context, Plan::on_time);
    }
}

/// Asks the supervisor to end, after its children.
pub(crate) struct StopRequest {
    reason: ExitReason,
    /// If set, the request is void unless the supervisor is in this run.
    run: Option<u64>,
    last: bool,
    keep: Option<Addr<SupervisorActor>>,
}

impl StopRequest {
    /// The request of its own supervisor.
    pub(crate) fn by_supervisor(run: u64, last: bool) -> Self {
        Self { reason: ExitReason::Shutdown, run: Some(run), last, keep: None }
    }

    /// The request of a user.
    pub(crate) fn by_user() -> Self {
        Self { reason: ExitReason::Shutdown, run: None, last: false, keep: None }
    }

    /// The request of its runtime, which is about to end.
    pub(crate) fn with_runtime() -> Self {
        Self { reason: ExitReason::Shutdown, run: None, last: true, keep: None }
    }

    /// The request of its last handle, when dropped.
    pub(crate) fn unreachable(keep: Addr<SupervisorActor>) -> Self {
        Self { reason: ExitReason::Normal, run: None, last: true, keep: Some(keep) }
    }
}

impl Message for StopRequest {
    type Reply = ();
}

impl Handler<StopRequest> for SupervisorActor {
    fn handle(&mut self, request: StopRequest, context: &mut Context<Self>) {
        let StopRequest { reason, run, last, keep } = request;
        if run.is_some_and(|run| run != self.run) {
            return;
        }
        self._keep = keep;
        let last = last || self.saved.is_none();
        self.decide(context, |plan, now| plan.on_stop(reason, last, now));
    }
}

/// A command about a child.
pub(crate) enum Command {
    Add(ChildHandle, ChildSpec),
    Terminate(ActorId),
    Restart(ActorId),
    Delete(ActorId),
}

/// Asks the supervisor to execute a command and to answer it.
pub(crate) struct Execute(pub(crate) Command, pub(crate) CommandReply);

impl Message for Execute {
    type Reply = ();
}

impl Handler<Execute> for SupervisorActor {
    fn handle(&mut self, Execute(command, answer): Execute, context: &mut Context<Self>) {
        let until = |until| CommandWaiter { until, answer };
        match command {
            Command::Add(handle, spec) => {
                let child = handle.id();
                self.table().handles.insert(child, handle);
                let add = |plan: &mut Plan, now| plan.on_add(child, spec, now);
                self.command(context, child, until(Until::Up), add);
                self.forget_refused(child);
            }
            Command::Terminate(child) => {
                let terminate = |plan: &mut Plan, now| plan.on_terminate(child, now);
                self.command(context, child, until(Until::Down), terminate);
            }
            Command::Restart(child) => {
                let restart = |plan: &mut Plan, now| plan.on_restart(child, now);
                self.command(context, child, until(Until::Up), restart);
            }
            Command::Delete(child) => {
                let delete = |plan: &mut Plan, now| plan.on_delete(child, now);
                self.command(context, child, until(Until::Gone), delete);
            }
        }
    }
}

impl SupervisorActor {
    /// Drops a child that the plan has refused.
    fn forget_refused(&mut self, child: ActorId) {
        let table = self.table();
        if !table.plan.is_running() && !table.plan.knows(child) {
            table.end(child, ExitReason::Shutdown);
        }
    }
}

/// Asks for a list of the children.
pub(crate) struct Children;

impl Message for Children {
    type Reply = Vec<ChildInfo>;
}

impl Handler<Children> for SupervisorActor {
    fn handle(&mut self, _: Children, _: &mut Context<Self>) -> Vec<ChildInfo> {
        self.table().info()
    }
}

/// A child that is a supervisor: it takes its own children down before it goes down.
pub(crate) struct ChildSupervisor(pub(crate) Addr<SupervisorActor>);

impl AnyChild for ChildSupervisor {
    fn id(&self) -> ActorId {
        self.0.id()
    }

    fn push_signal(&self, signal: Signal) {
        self.0.push_signal(signal);
    }

    fn push_signal_first(&self, signal: Signal) {
        self.0.push_signal_first(signal);
    }

    fn stop(&self, run: u64, last: bool) {
        // A supervisor that has ended has no children left to stop.
        let _ = self.0.send(StopRequest::by_supervisor(run, last));
    }

    fn drain(&self, run: u64, last: bool) {
        self.stop(run, last);
    }
}
