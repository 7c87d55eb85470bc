//! Holding a group: the behaviour from the queue, then those in the ring, then the next from the queue.

use crate::body::Forget;
use crate::queue::group_header::LeaderKind;
use crate::queue::group_header::{HoldingRequest, with};
use crate::queue::single::request;
use crate::task::Kind;
use std::ptr::NonNull;

use coact_sync::shim::atomic::{AtomicPtr, Ordering};

use super::current::{self, Current};
use super::interrupt;
use crate::body::{Completion, Ended};
use crate::queue::grant::{grant, task_in_group};
use crate::queue::group_header::{HeldGroup, Leader};
use crate::queue::header::CownHeader;
use crate::queue::interruptible::CALLS_IN_A_ROW;
use crate::queue::interruptible::{Gate, park};
use crate::queue::leave::{leave, successor};
use crate::queue::ring::RingEntry;
use crate::queue::slot::Slot;
use crate::sched::Ready;
use crate::sched::worker::Worker;
use crate::sched::{Successor, schedule_last};
use crate::simulated;
use crate::task::{RunContext, TaskPtr, TaskVTable};

/// The functions of the group as a task: it goes on where its holder has left it.
pub(super) static VTABLE: TaskVTable =
    TaskVTable::new(go_on, link_of_group, || "the behaviours of a group").of_kind(Kind::new(&KIND));

static KIND: LeaderKind = LeaderKind { run: run_forgetting_in_group };

/// Runs a behaviour that holds a group, and nothing else, and then what it has left in the ring.
///
/// # Safety
/// The header is the leader's. The holding request's request is the head of its queue and has the token, which
/// is given away. The holding request's task is gone when this returns, or when the ring has run.
#[inline]
pub(crate) unsafe fn run<C: Completion>(
    leader: NonNull<CownHeader>,
    holding: HoldingRequest,
    context: &RunContext,
    body: impl FnOnce() -> Ended<C>,
) -> Option<TaskPtr> {
    let leader = leader.cast::<Leader>();
    let worker = current::worker(context);
    let entered = Current::enter(leader, worker);
    // SAFETY: we hold the group, to the end of this.
    unsafe {
        with(leader, |held| held.holding = Some(holding));
        let ended = body();
        if with(leader, |held| held.ring.is_empty()) && leader.as_ref().is_unfollowed() {
            let successor = let_go(leader, entered, context);
            ended.deliver();
            return successor;
        }
        // The group goes on, perhaps for long, and whoever waits for the result has no part in it.
        ended.deliver();
        go_on_with(leader, entered, worker, context)
    }
}

/// As [`finish`]; returns what follows.
///
/// # Safety
/// As there.
#[inline]
unsafe fn let_go(
    leader: NonNull<Leader>,
    entered: Current,
    context: &RunContext,
) -> Option<TaskPtr> {
    entered.end();
    let mut successor = Successor::new(context.home);
    // SAFETY: by the caller's word.
    unsafe { finish(leader, &mut successor) };
    successor.take()
}

/// # Safety
/// As [`drive`].
unsafe fn go_on_with(
    leader: NonNull<Leader>,
    entered: Current,
    worker: Option<&Worker>,
    context: &RunContext,
) -> Option<TaskPtr> {
    // SAFETY: by the caller's word.
    unsafe {
        with(leader, |held| held.renew_budget(worker, context));
        drive(leader, entered, worker, context)
    }
}

/// # Safety
/// The task is a leader's, and has come with the token.
unsafe fn go_on(task: TaskPtr, context: &RunContext) -> Option<TaskPtr> {
    let worker = current::worker(context);
    // SAFETY: by the caller's word.
    unsafe {
        let leader = Leader::of_task(task);
        go_on_with(leader, Current::enter(leader, worker), worker, context)
    }
}

/// Interrupts members that want it, and runs the ring to its end, or up to the throughput; then lets
/// the group go.
///
/// The thread must not use the ring any more from the moment in which it gives the token away: to do so may be to
/// run code of the user, a hook or a waker, which spawns on a member while another thread holds the group. So
/// `entered` ends before.
///
/// # Safety
/// The caller has the token, which is given away. A holding request is set, or a head.
unsafe fn drive(
    leader: NonNull<Leader>,
    entered: Current,
    worker: Option<&Worker>,
    context: &RunContext,
) -> Option<TaskPtr> {
    // SAFETY: we have the token, so a member is alive, and with it the leader.
    unsafe {
        let mut calls = 0;
        loop {
            // Looked up each time: the one before may have run past a shutdown's deadline.
            let context = current::context(worker, context);
            let header = &leader.as_ref().header;
            simulated::point();
            if header.is_interrupted() {
                calls += 1;
                // One that was moved goes on in its new home.
                if calls > CALLS_IN_A_ROW || header.home_of_queue() != context.home {
                    return yield_worker(leader, entered);
                }
                match interrupt::interrupt_all(leader, context) {
                    Gate::Shut if park(header) => return None,
                    Gate::Open | Gate::Shut => continue,
                    Gate::Reserved => return yield_worker(leader, entered),
                }
            }
            match with(leader, HeldGroup::next) {
                Next::Run(entry) => RingEntry::run_of(entry)(entry, context),
                Next::Yield => return yield_worker(leader, entered),
                Next::Finish if adopt(leader) => {}
                Next::Finish => return let_go(leader, entered, context),
                Next::Grant(head) => {
                    entered.end();
                    let mut successor = Successor::new(context.home);
                    grant(leader.cast(), head, &mut successor);
                    return successor.take();
                }
            }
        }
    }
}

/// Lets others have the worker; the token goes with the group's task.
///
/// # Safety
/// The caller has the token, which is given away.
#[cold]
unsafe fn yield_worker(leader: NonNull<Leader>, entered: Current) -> Option<TaskPtr> {
    entered.end();
    // SAFETY: the token, so a member is alive, and with it the leader.
    let home = unsafe { leader.as_ref() }.header.home_of_queue();
    schedule_last(Leader::task(leader), home);
    None
}

/// What the holder does next.
enum Next {
    Run(NonNull<RingEntry>),
    /// Lets the group go.
    Finish,
    /// Grants the group to the request that was to have it before members were interrupted.
    Grant(NonNull<Slot>),
    /// Lets others have the worker.
    Yield,
}

impl HeldGroup {
    #[inline]
    fn next(&mut self) -> Next {
        if self.budget == 0 && !self.ring.is_empty() {
            return Next::Yield;
        }
        match self.ring.pop() {
            Some(entry) => {
                self.budget -= 1;
                Next::Run(entry)
            }
            None if self.holding.is_some() => Next::Finish,
            // SAFETY: without a holding request the token was left with a head (`interrupt::enter`).
            None => Next::Grant(unsafe { NonNull::new_unchecked(self.head) }),
        }
    }

    /// Each task that a worker takes from its queues, with all that follows it, has one budget.
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

/// How many requests are taken out of the queue in one go.
const BULK: usize = 256;

/// Moves what stands in the queue into the ring, as far as it needs nothing but the group. The last
/// that is moved is the new holding request. Returns whether there is any.
///
/// So a group in which many messages are under way has them in the ring, wherever they came from.
///
/// # Safety
/// The caller has the token; the holding request is set, and the ring is empty.
unsafe fn adopt(leader: NonNull<Leader>) -> bool {
    // ORDERING: Acquire. What is found through the links is as new as this at least.
    // SAFETY: the holding request keeps the leader alive.
    let last = unsafe { leader.as_ref() }.header.tail.load(Ordering::Acquire);
    for _ in 0..BULK {
        // SAFETY: the token; all requests up to the holding request are taken. The block of the one that was the
        // holding is its own again: it has run, or runs from the ring and is told.
        unsafe {
            let slot = with(leader, |held| held.holding.as_ref().unwrap_unchecked().slot);
            if std::ptr::eq(slot.as_ptr(), last) {
                break;
            }
            let next = successor(slot);
            let Some((task, halves)) = task_in_group(next) else { break };
            let holding = HoldingRequest::new(next, task, halves.dispose);
            let before = with(leader, |held| {
                let has_run = held.ring.is_empty();
                held.ring.push(next.as_ref().member(), task, run_adopted);
                held.holding.replace(holding).filter(|_| has_run)
            });
            if let Some(before) = before {
                (before.dispose)(before.task);
            }
        }
    }
    // SAFETY: the token.
    unsafe { !with(leader, |held| held.ring.is_empty()) }
}

/// Runs a behaviour that was moved into the ring. If it is the holding request, its block stays.
///
/// # Safety
/// As for every [`RunRingEntry`](crate::queue::ring::RunRingEntry); the entry was pushed by [`adopt`].
unsafe fn run_adopted(entry: NonNull<RingEntry>, context: &RunContext) {
    // SAFETY: taken before anything can be pushed. The leader is alive: the holding request's request keeps
    // it, or its count if it is the last of a member.
    unsafe {
        let (member, task) = RingEntry::take::<TaskPtr>(entry);
        let leader = member.queue_ptr().cast::<Leader>();
        let halves = task.as_ref().vtable.in_group.unwrap_unchecked();
        (halves.body)(task, context);
        if !with(leader, |held| held.holding.as_ref().is_some_and(|holding| holding.task == task)) {
            (halves.dispose)(task);
        }
    }
}

/// Lets the group go: to the next in its queue.
///
/// # Safety
/// The caller has the token, which is given away; the holding request is set, and the ring is empty.
#[inline]
unsafe fn finish(leader: NonNull<Leader>, ready: &mut impl Ready) {
    // SAFETY: the holding request is the head. Its block is its own again when it has left the queue. The
    // leader may be gone if nobody stands behind.
    unsafe {
        let holding = with(leader, |held| {
            held.ring.shrink();
            held.holding.take().unwrap_unchecked()
        });
        if let Some(next) = leave(&leader.as_ref().header, holding.slot) {
            grant(leader.cast(), next, ready);
        }
        (holding.dispose)(holding.task);
    }
}

/// The scheduler's link: the word of the leader that only its holder uses.
unsafe fn link_of_group(task: TaskPtr) -> NonNull<AtomicPtr<()>> {
    // SAFETY: a leader's task, which has come with the token, so the leader is alive.
    NonNull::from(unsafe { &Leader::of_task(task).as_ref().header.waiter })
}

/// Runs a task on a member of a group, and what it leaves in the ring: one whose result nobody waits for, of any type.
///
/// # Safety
/// The task is ready, lies in a `Single`, has halves, and is run once.
pub(crate) unsafe fn run_forgetting_in_group(
    task: TaskPtr,
    context: &RunContext,
) -> Option<TaskPtr> {
    // SAFETY: by the caller's word; the request of a task that is ready is the head of the leader's queue.
    unsafe {
        let slot = request(task);
        let leader = slot.as_ref().member().queue_ptr();
        let halves = task.as_ref().vtable.in_group.unwrap_unchecked();
        run(leader, HoldingRequest::new(slot, task, halves.dispose), context, || {
            (halves.body)(task, context);
            Ended::Done(Forget, ())
        })
    }
}
