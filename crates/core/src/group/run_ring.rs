//! Holding a group: runs the behaviour from the queue, then those in the ring, then the next from
//! the queue.

use crate::body::NoResult;
use crate::queue::group_header::LeaderKind;
use crate::queue::group_header::{HoldingRequest, with};
use crate::queue::live_cown::LiveCown;
use crate::queue::live_slot::LiveSlot;
use crate::queue::single_block::request;
use crate::task::TaskKind;
use std::ptr::NonNull;

use coact_sync::shim::atomic::AtomicPtr;

use super::current::{self, RingAccess};
use super::serve_interrupts;
use crate::body::{BodyOutcome, Completion};
use crate::queue::dequeue::{leave, successor};
use crate::queue::grant::{grant, task_in_group};
use crate::queue::group_header::{HeldGroup, Leader};
use crate::queue::group_ring::RingEntry;
use crate::queue::interrupt_header::CALLS_IN_A_ROW;
use crate::queue::interrupt_header::{Gate, try_park};
use crate::sched::ReadySink;
use crate::sched::worker::Worker;
use crate::sched::{Successor, schedule_last};
use crate::simulated;
use crate::task::{RunContext, TaskPtr, TaskVTable};

/// The functions of the group as a task, which continues where its holder stopped.
pub(super) static VTABLE: TaskVTable =
    TaskVTable::new(go_on, link_of_group, || "the behaviours of a group")
        .of_kind(TaskKind::new(&KIND));

static KIND: LeaderKind = LeaderKind { run: run_forgetting_in_group };

/// Runs a behaviour that holds a group and nothing else, and then the ring.
///
/// # Safety
/// The header is the leader's. The request of `holding` is the head of its queue and has the token,
/// which is given away. The holding request's task is gone when this returns, or when the ring has
/// run.
#[inline]
pub(crate) unsafe fn run<C: Completion>(
    leader: LiveCown,
    holding: HoldingRequest,
    context: &RunContext,
    body: impl FnOnce() -> BodyOutcome<C>,
) -> Option<TaskPtr> {
    let leader = leader.cast::<Leader>();
    let worker = current::worker(context);
    let entered = RingAccess::enter(leader, worker);
    // SAFETY: this thread holds the group until it gives the token away below.
    unsafe {
        with(leader, |held| held.holding = Some(holding));
        let ended = body();
        if with(leader, |held| held.ring.is_empty()) && leader.as_ref().is_unfollowed() {
            let successor = let_go(leader, entered, context);
            ended.deliver();
            return successor;
        }
        // The group may continue for long, and waiters for the result have no part in that.
        ended.deliver();
        go_on_with(leader, entered, worker, context)
    }
}

/// Like [`finish`]; returns the next task.
///
/// # Safety
/// See [`finish`].
#[inline]
unsafe fn let_go(
    leader: NonNull<Leader>,
    entered: RingAccess,
    context: &RunContext,
) -> Option<TaskPtr> {
    entered.end();
    let mut successor = Successor::new(context.home);
    // SAFETY: the conditions are those of `finish`.
    unsafe { finish(leader, &mut successor) };
    successor.take()
}

/// # Safety
/// See [`drive`].
unsafe fn go_on_with(
    leader: NonNull<Leader>,
    entered: RingAccess,
    worker: Option<&Worker>,
    context: &RunContext,
) -> Option<TaskPtr> {
    // SAFETY: the conditions are those of `drive`, and the token gives access to the held state.
    unsafe {
        with(leader, |held| held.renew_budget(worker, context));
        drive(leader, entered, worker, context)
    }
}

/// # Safety
/// The task is a leader's, and has come with the token.
unsafe fn go_on(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
    let worker = current::worker(context);
    // SAFETY: the task is a leader's, and has come with the token.
    unsafe {
        let leader = Leader::of_task(task);
        go_on_with(leader, RingAccess::enter(leader, worker), worker, context)
    }
}

/// Interrupts members, and runs the ring until it is empty or the throughput is reached; then
/// releases the group.
///
/// The thread must not use the ring once it gives the token away: giving it away may run user code,
/// a hook or a waker, that spawns on a member while another thread holds the group. So `entered`
/// ends before.
///
/// # Safety
/// The caller has the token, which is given away. There is a holding request or a head.
unsafe fn drive(
    leader: NonNull<Leader>,
    entered: RingAccess,
    worker: Option<&Worker>,
    context: &RunContext,
) -> Option<TaskPtr> {
    // SAFETY: this thread has the token, so a member is alive, which keeps the leader alive.
    unsafe {
        let mut calls = 0;
        loop {
            // Looked up each time: the previous behaviour may have run past a shutdown's deadline.
            let context = current::context(worker, context);
            let header = &leader.as_ref().header;
            simulated::point();
            if header.is_interrupted() {
                calls += 1;
                // A group that was moved continues in its new home.
                if calls > CALLS_IN_A_ROW || header.home_of_queue() != context.home {
                    return yield_worker(leader, entered);
                }
                match serve_interrupts::interrupt_all(leader, context) {
                    Gate::Shut if try_park(header) => return None,
                    Gate::Open | Gate::Shut => continue,
                    Gate::Reserved => return yield_worker(leader, entered),
                }
            }
            match with(leader, HeldGroup::next) {
                NextInRing::Run(entry) => RingEntry::run_of(entry)(entry, context),
                NextInRing::Yield => return yield_worker(leader, entered),
                NextInRing::Finish if adopt(leader) => {}
                NextInRing::Finish => return let_go(leader, entered, context),
                NextInRing::Grant(head) => {
                    entered.end();
                    let mut successor = Successor::new(context.home);
                    grant(LiveCown::new(leader.cast()), head, &mut successor);
                    return successor.take();
                }
            }
        }
    }
}

/// Yields the worker to other tasks; the token goes with the group's task.
///
/// # Safety
/// The caller has the token, which is given away.
#[cold]
unsafe fn yield_worker(leader: NonNull<Leader>, entered: RingAccess) -> Option<TaskPtr> {
    entered.end();
    // SAFETY: the token implies that a member is alive, which keeps the leader alive.
    let home = unsafe { leader.as_ref() }.header.home_of_queue();
    schedule_last(Leader::task(leader), home);
    None
}

/// What the holder does next.
enum NextInRing {
    Run(NonNull<RingEntry>),
    /// Releases the group.
    Finish,
    /// Grants the group to the request for which the token was left before members were
    /// interrupted.
    Grant(LiveSlot),
    /// Yields the worker to other tasks.
    Yield,
}

impl HeldGroup {
    #[inline]
    fn next(&mut self) -> NextInRing {
        if self.budget == 0 && !self.ring.is_empty() {
            return NextInRing::Yield;
        }
        match self.ring.pop() {
            Some(entry) => {
                self.budget -= 1;
                NextInRing::Run(entry)
            }
            None if self.holding.is_some() => NextInRing::Finish,
            // SAFETY: without a holding request the token was left with a head
            // (`member_interrupt::enter_group`).
            None => NextInRing::Grant(unsafe { LiveSlot::new(NonNull::new_unchecked(self.head)) }),
        }
    }

    /// Each task that a worker takes from its queues has one budget, together with everything that
    /// follows it.
    fn renew_budget(&mut self, worker: Option<&Worker>, context: &RunContext) {
        match worker {
            None => self.budget = current::throughput(context),
            Some(worker)
                if worker.ticks() != self.budget_of || self.budget > worker.throughput() =>
            {
                (self.budget, self.budget_of) = (worker.throughput(), worker.ticks());
            }
            Some(_) => {}
        }
    }
}

/// The most requests moved at a time.
const BULK: usize = 256;

/// Moves requests from the queue into the ring, as long as they need nothing but the group. The
/// last one moved is the new holding request. Returns whether there is any.
///
/// So a group with many messages in flight has them in the ring, wherever they come from.
///
/// # Safety
/// The caller has the token; there is a holding request, and the ring is empty.
unsafe fn adopt(leader: NonNull<Leader>) -> bool {
    // SAFETY: the holding request keeps the leader alive.
    let last = unsafe { leader.as_ref() }.header.tail.look();
    for _ in 0..BULK {
        // SAFETY: the caller has the token, and all requests up to the holding request are taken.
        // The block of the former holding request is no longer in the queue, so it can be freed: it
        // has run, or runs from the ring, which then frees it.
        unsafe {
            let slot = with(leader, |held| held.holding.as_ref().unwrap_unchecked().slot);
            if last.is(slot) {
                break;
            }
            let next = successor(slot);
            let Some((task, halves)) = task_in_group(next) else { break };
            let holding = HoldingRequest::new(next, task, halves.dispose);
            let before = with(leader, |held| {
                let has_run = held.ring.is_empty();
                held.ring.push(next.slot().member(), task, run_adopted);
                held.holding.replace(holding).filter(|_| has_run)
            });
            if let Some(before) = before {
                (before.dispose)(before.task);
            }
        }
    }
    // SAFETY: the caller has the token.
    unsafe { !with(leader, |held| held.ring.is_empty()) }
}

/// Runs a behaviour that was moved into the ring. The block of the holding request stays.
///
/// # Safety
/// See [`RunRingEntry`](crate::queue::group_ring::RunRingEntry); the entry was pushed by [`adopt`].
unsafe fn run_adopted(entry: NonNull<RingEntry>, context: &RunContext) {
    // SAFETY: the entry is taken before anything can be pushed. The leader is alive: the holding
    // request keeps it alive, or its count if it is the last request of a member.
    unsafe {
        let (member, task) = RingEntry::take::<TaskPtr>(entry);
        let leader = member.queue().cast::<Leader>();
        let halves = task.as_ref().vtable.in_group.unwrap_unchecked();
        (halves.body)(task, context);
        if !with(leader, |held| held.holding.as_ref().is_some_and(|holding| holding.task == task)) {
            (halves.dispose)(task);
        }
    }
}

/// Releases the group to the next request in its queue.
///
/// # Safety
/// The caller has the token, which is given away; there is a holding request, and the ring is
/// empty.
#[inline]
unsafe fn finish(leader: NonNull<Leader>, ready: &mut impl ReadySink) {
    // SAFETY: the holding request is the head. Its block can be freed after it has left the queue.
    // The leader may be gone if nothing is behind it.
    unsafe {
        let holding = with(leader, |held| {
            held.ring.shrink();
            held.holding.take().unwrap_unchecked()
        });
        if let Some(next) = leave(&leader.as_ref().header, holding.slot) {
            grant(LiveCown::new(leader.cast()), next, ready);
        }
        (holding.dispose)(holding.task);
    }
}

/// The scheduler's link: the word of the leader that only its holder uses.
unsafe fn link_of_group(task: TaskPtr) -> NonNull<AtomicPtr<()>> {
    // SAFETY: the task is a leader's, and has come with the token, so the leader is alive.
    NonNull::from(unsafe { &Leader::of_task(task).as_ref().header.waiter })
}

/// Runs a task of any type on a member of a group, whose result has no waiter, and then the ring.
///
/// # Safety
/// The task is ready, is in a `Single`, has halves, and is run once.
pub(crate) unsafe fn run_forgetting_in_group(
    task: TaskPtr,
    context: &RunContext,
) -> Option<TaskPtr> {
    // SAFETY: the task is ready and in a `Single`, so its request is the head of the leader's
    // queue.
    unsafe {
        let slot = request(task);
        let leader = slot.slot().member().queue();
        let halves = task.as_ref().vtable.in_group.unwrap_unchecked();
        run(leader, HoldingRequest::new(slot, task, halves.dispose), context, || {
            (halves.body)(task, context);
            BodyOutcome::Done(NoResult, ())
        })
    }
}
