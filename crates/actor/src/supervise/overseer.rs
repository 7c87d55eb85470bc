//! The actor behind a supervisor: carries out what the [`Plan`](super::plan) says.
//!
//! No behaviour of the user's ever names it, and nothing of the user's runs on it, so it is never
//! kept from deciding: not even by behaviours that wait for its children.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use coact_core::{Home, Resolver, Timer, after, catch};
use parking_lot::Mutex;

use super::error::ChildError;
use super::info::ChildInfo;
use super::minor::Minor;
use super::notice;
use super::plan::{Action, Outcome, Plan, Refused, Terms};
use super::ward::Fate;
use crate::{Actor, ActorId, Addr, Context, ExitReason, Handler, Message};

/// A supervisor's children and plans: what outlives its restarts.
pub(crate) struct Nursery {
    pub(crate) plan: Plan,
    pub(crate) minors: BTreeMap<ActorId, Minor>,
}

impl Nursery {
    pub(crate) fn new(plan: Plan) -> Self {
        Self { plan, minors: BTreeMap::new() }
    }

    pub(crate) fn declare(&mut self, minor: Minor, terms: Terms) {
        self.plan.declare(minor.id(), terms);
        self.minors.insert(minor.id(), minor);
    }

    /// The supervisor's state is gone: so are those of its children.
    fn reset(&mut self) {
        for action in self.plan.reset() {
            match action {
                Action::Halt { child } => self.minors[&child].halt(),
                Action::End { child, reason } => self.end(child, reason),
                _ => {}
            }
        }
    }

    fn end(&mut self, child: ActorId, reason: ExitReason) {
        if let Some(minor) = self.minors.remove(&child) {
            minor.end(reason);
        }
    }

    fn info(&self) -> Vec<ChildInfo> {
        let describe = |view: super::plan::View| {
            let minor = &self.minors[&view.child];
            ChildInfo {
                id: view.child,
                name: minor.name.clone(),
                is_supervisor: minor.is_supervisor,
                restart: view.restart,
                state: view.state,
                restarts: view.restarts,
            }
        };
        self.plan.view().map(describe).collect()
    }
}

impl Drop for Nursery {
    fn drop(&mut self) {
        // Those that were added last go first.
        let order: Vec<ActorId> = self.plan.view().map(|view| view.child).collect();
        for child in order.into_iter().rev() {
            self.end(child, ExitReason::Shutdown);
        }
    }
}

/// Where the children of a supervisor are while it has no state.
pub(crate) type Shelter = Arc<Mutex<Option<Nursery>>>;

/// A supervisor's state.
pub(crate) struct Overseer {
    /// There until it is dropped.
    nursery: Option<Nursery>,
    /// Where the children go when this state is dropped; for one that is a child itself.
    shelter: Option<Shelter>,
    /// How often it was started, if it is a child.
    run: u64,
    alarm: Option<(Duration, Timer)>,
    waiters: BTreeMap<ActorId, Vec<Waiter>>,
    /// Keeps it alive while it leaves since nobody has its address any more.
    _keep: Option<Addr<Overseer>>,
}

/// Tells somebody how it went.
pub(crate) type Answer = Resolver<Result<(), ChildError>>;

struct Waiter {
    until: Until,
    answer: Answer,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Until {
    Up,
    Down,
    Gone,
}

impl Overseer {
    /// One that nobody restarts.
    pub(crate) fn root(nursery: Nursery) -> Self {
        Self::new(nursery, None, 0)
    }

    /// How to make one that is a child.
    pub(crate) fn factory(mut nursery: Nursery) -> impl FnMut() -> Self + Send {
        nursery.plan.set_child();
        let shelter: Shelter = Arc::new(Mutex::new(Some(nursery)));
        let mut run = 0;
        move || {
            run += 1;
            let nursery = shelter.lock().take().expect("the state before this one left it here");
            Self::new(nursery, Some(Arc::clone(&shelter)), run)
        }
    }

    fn new(nursery: Nursery, shelter: Option<Shelter>, run: u64) -> Self {
        let (nursery, waiters) = (Some(nursery), BTreeMap::new());
        Self { nursery, shelter, run, alarm: None, waiters, _keep: None }
    }

    fn nursery(&mut self) -> &mut Nursery {
        self.nursery.as_mut().expect("there until the end")
    }

    /// Lets the plan decide, and does what it says.
    fn decide<R>(
        &mut self,
        context: &mut Context<Self>,
        what: impl FnOnce(&mut Plan, Duration) -> R,
    ) -> R {
        let now = Home::current().elapsed();
        let plan = &mut self.nursery().plan;
        let result = what(plan, now);
        let actions = plan.take_actions();
        for action in actions {
            self.perform(action, context);
        }
        self.set_alarm(now, context);
        result
    }

    fn perform(&mut self, action: Action, context: &mut Context<Self>) {
        let minors = &self.nursery().minors;
        match action {
            Action::Start { child, run } => minors[&child].start(context.weak(), run),
            Action::Stop { child, run, way, last } => minors[&child].stop(run, way, last),
            Action::Kill { child } => {
                minors[&child].kill();
                notice::is_late(child, &minors[&child].name);
            }
            Action::Restarting { child, reason, delay } => {
                notice::restarts(child, &minors[&child].name, &reason, delay);
            }
            Action::End { child, reason } => self.nursery().end(child, reason),
            Action::Tell { child, what } => self.tell(child, &what),
            Action::Halt { child } => minors[&child].halt(),
            Action::Exit(reason) => context.stop_with(reason),
        }
    }

    fn tell(&mut self, child: ActorId, what: &Outcome) {
        let Some(waiters) = self.waiters.remove(&child) else { return };
        let mut left = Vec::new();
        for waiter in waiters {
            match waiter.until.answer(what) {
                // Whoever waits may have a waker of its own making.
                Some(answer) => drop(catch(|| waiter.answer.resolve(answer))),
                None => left.push(waiter),
            }
        }
        if !left.is_empty() {
            self.waiters.insert(child, left);
        }
    }

    fn set_alarm(&mut self, now: Duration, context: &mut Context<Self>) {
        let next = self.nursery().plan.next_alarm();
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

    /// Commands the plan; the answer comes when it is done.
    fn command(
        &mut self,
        context: &mut Context<Self>,
        child: ActorId,
        waiter: Waiter,
        command: impl FnOnce(&mut Plan, Duration) -> Result<(), Refused>,
    ) {
        // First of all the waiter, since the command may be done at once.
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
    /// What a waiter is told of an outcome, if it is told.
    fn answer(self, what: &Outcome) -> Option<Result<(), ChildError>> {
        match (self, what) {
            (Until::Up, Outcome::Up)
            | (Until::Down, Outcome::Down | Outcome::Gone)
            | (Until::Gone, Outcome::Gone) => Some(Ok(())),
            (Until::Up, Outcome::Failed(reason)) => Some(Err(ChildError::Failed(reason.clone()))),
            (Until::Up, Outcome::Down | Outcome::Gone) => {
                Some(Err(ChildError::Failed(ExitReason::Shutdown)))
            }
            // It is down already, and stays it.
            (Until::Down, Outcome::Failed(_)) => Some(Ok(())),
            _ => None,
        }
    }
}

impl Actor for Overseer {
    fn started(&mut self, context: &mut Context<Self>) {
        self.decide(context, Plan::on_start);
    }
}

impl Drop for Overseer {
    fn drop(&mut self) {
        self.silence();
        let Some(mut nursery) = self.nursery.take() else { return };
        nursery.reset();
        if let Some(shelter) = &self.shelter {
            *shelter.lock() = Some(nursery);
        }
    }
}

/// A child tells what has become of it.
pub(crate) struct Report {
    pub(crate) child: ActorId,
    pub(crate) run: u64,
    pub(crate) fate: Fate,
}

impl Message for Report {
    type Reply = ();
}

impl Handler<Report> for Overseer {
    fn handle(&mut self, report: Report, context: &mut Context<Self>) {
        let Report { child, run, fate } = report;
        self.decide(context, |plan, now| match fate {
            Fate::Up => plan.on_up(child, run, now),
            Fate::Ended => plan.on_ended(child, now),
            Fate::Down(reason) => plan.on_down(child, run, reason, now),
        });
    }
}

/// The time has come for which the alarm was set.
struct Wake(Duration);

impl Message for Wake {
    type Reply = ();
}

impl Handler<Wake> for Overseer {
    fn handle(&mut self, wake: Wake, context: &mut Context<Self>) {
        if self.alarm.as_ref().is_some_and(|(time, _)| *time == wake.0) {
            self.alarm = None;
        }
        self.decide(context, Plan::on_time);
    }
}

/// The supervisor is to end.
pub(crate) struct Leave {
    reason: ExitReason,
    /// Which start of it is meant, if not any.
    run: Option<u64>,
    last: bool,
    keep: Option<Addr<Overseer>>,
}

impl Leave {
    /// Its own supervisor says so.
    pub(crate) fn ordered(run: u64, last: bool) -> Self {
        Self { reason: ExitReason::Shutdown, run: Some(run), last, keep: None }
    }

    /// Somebody who has its address says so.
    pub(crate) fn asked() -> Self {
        Self { reason: ExitReason::Shutdown, run: None, last: false, keep: None }
    }

    /// Its runtime is about to end.
    pub(crate) fn with_runtime() -> Self {
        Self { reason: ExitReason::Shutdown, run: None, last: true, keep: None }
    }

    /// Nobody has its address any more.
    pub(crate) fn unreachable(keep: Addr<Overseer>) -> Self {
        Self { reason: ExitReason::Normal, run: None, last: true, keep: Some(keep) }
    }
}

impl Message for Leave {
    type Reply = ();
}

impl Handler<Leave> for Overseer {
    fn handle(&mut self, leave: Leave, context: &mut Context<Self>) {
        let Leave { reason, run, last, keep } = leave;
        if run.is_some_and(|run| run != self.run) {
            return;
        }
        self._keep = keep;
        let last = last || self.shelter.is_none();
        self.decide(context, |plan, now| plan.on_leave(reason, last, now));
    }
}

/// Somebody wants something done about a child.
pub(crate) enum Command {
    Add(Minor, Terms),
    Terminate(ActorId),
    Restart(ActorId),
    Delete(ActorId),
}

/// A command, and who waits for its end.
pub(crate) struct Order(pub(crate) Command, pub(crate) Answer);

impl Message for Order {
    type Reply = ();
}

impl Handler<Order> for Overseer {
    fn handle(&mut self, Order(command, answer): Order, context: &mut Context<Self>) {
        let until = |until| Waiter { until, answer };
        match command {
            Command::Add(minor, terms) => {
                let child = minor.id();
                self.nursery().minors.insert(child, minor);
                let add = |plan: &mut Plan, now| plan.on_add(child, terms, now);
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

impl Overseer {
    /// Drops a child that the plan did not take.
    fn forget_refused(&mut self, child: ActorId) {
        let nursery = self.nursery();
        if !nursery.plan.is_running() && !nursery.plan.knows(child) {
            nursery.end(child, ExitReason::Shutdown);
        }
    }
}

/// Somebody wants to know of the children.
pub(crate) struct Children;

impl Message for Children {
    type Reply = Vec<ChildInfo>;
}

impl Handler<Children> for Overseer {
    fn handle(&mut self, _: Children, _: &mut Context<Self>) -> Vec<ChildInfo> {
        self.nursery().info()
    }
}
