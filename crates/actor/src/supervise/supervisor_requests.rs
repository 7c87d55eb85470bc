//! What a supervisor is told and asked: by its children, its handles, and its own supervisor.

use coact_core::Promise;
use coact_core::internals::{Ending, owed_by};

use super::child_handle::ChildHandle;
use super::command_waiters::{AwaitedState, CommandReply, CommandWaiter};
use super::info::ChildInfo;
use super::plan::{ChildSpec, SupervisionPlan};
use super::readiness::{ReadyPromise, ReadyWaiter};
use super::supervisor_actor::SupervisorActor;
use crate::exit::ExitReason;
use crate::handler::Handler;
use crate::id::ActorId;
use crate::message::Message;
use crate::parts::{Actor, Addr, Context, WeakAddr};
use crate::supervised_side::{AnySupervisor, ChildEvent};

impl Actor for SupervisorActor {
    fn started(&mut self, context: &mut Context<Self>) {
        let this = context.weak();
        // It takes its children down first.
        context.on_runtime_end(move || this.send(StopRequest::with_runtime()).is_ok());
        self.table().readiness.begin_run();
        self.decide(context, SupervisionPlan::on_start);
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
pub(crate) enum ChildCommand {
    Add(ChildHandle, ChildSpec),
    Terminate(ActorId),
    Restart(ActorId),
    Delete(ActorId),
}

/// Asks the supervisor to execute a command and to answer it.
pub(crate) struct ExecuteCommand(pub(crate) ChildCommand, pub(crate) CommandReply);

impl Message for ExecuteCommand {
    type Reply = ();
}

impl Handler<ExecuteCommand> for SupervisorActor {
    fn handle(
        &mut self,
        ExecuteCommand(command, answer): ExecuteCommand,
        context: &mut Context<Self>,
    ) {
        let until = |until| CommandWaiter { until, answer };
        match command {
            ChildCommand::Add(handle, spec) => {
                let child = handle.id();
                self.table().handles.insert(child, handle);
                let add = |plan: &mut SupervisionPlan, now| plan.on_add(child, spec, now);
                self.command(context, child, until(AwaitedState::Up), add);
                self.forget_refused(child);
            }
            ChildCommand::Terminate(child) => {
                let terminate = |plan: &mut SupervisionPlan, now| plan.on_terminate(child, now);
                self.command(context, child, until(AwaitedState::Down), terminate);
            }
            ChildCommand::Restart(child) => {
                let restart = |plan: &mut SupervisionPlan, now| plan.on_restart(child, now);
                self.command(context, child, until(AwaitedState::Up), restart);
            }
            ChildCommand::Delete(child) => {
                let delete = |plan: &mut SupervisionPlan, now| plan.on_delete(child, now);
                self.command(context, child, until(AwaitedState::Gone), delete);
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
pub(crate) struct ListChildren;

impl Message for ListChildren {
    type Reply = Vec<ChildInfo>;
}

impl Handler<ListChildren> for SupervisorActor {
    fn handle(&mut self, _: ListChildren, _: &mut Context<Self>) -> Vec<ChildInfo> {
        self.table().info()
    }
}

/// Asks whether a supervisor and all below it are up.
pub(super) fn ask_ready(supervisor: &Addr<SupervisorActor>) -> ReadyPromise {
    let (answer, promise) = Promise::channel();
    owed_by(&promise, |f| f.write_str("a supervisor, until all below it are up"));
    // If the send fails, the request is dropped, and says why.
    let this = supervisor.downgrade();
    let waiter = ReadyWaiter::new(answer, move || this.shared().end().cloned());
    let _ = supervisor.send(AwaitReady(waiter));
    promise
}

struct AwaitReady(ReadyWaiter);

impl Message for AwaitReady {
    type Reply = ();
}

impl Handler<AwaitReady> for SupervisorActor {
    fn handle(&mut self, AwaitReady(waiter): AwaitReady, context: &mut Context<Self>) {
        self.table().readiness.push(waiter);
        self.check_ready(context);
    }
}
