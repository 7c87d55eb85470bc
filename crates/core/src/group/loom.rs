//! Models of threads that use a group at the same time: the queue of the leader beside the ring.
//!
//! The ring is a loom cell: a model fails if two threads access it without an order. With a
//! `Relaxed` success in `Tail::try_leave` the run of this file's models ends with an abort.

use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

use super::Group;
use crate::behaviour::when::when;
use crate::cown::handle::Cown;
use crate::fault::Broken;
use crate::interrupt::Interruptible;
use crate::queue::interrupt_header::Gate;
use crate::sched::loom::{Log, check, check_bounded, check_long, run_ready, written};

fn member(group: &Group) -> Cown<Log> {
    group.cown(Log::default())
}

fn push(cown: &Cown<Log>, who: u8) {
    when(cown, move |log| log.push(who));
}

/// Two members; `run_ready` runs everything on them.
fn two_members() -> (Cown<Log>, Cown<Log>) {
    let group = Group::new();
    (member(&group), member(&group))
}

/// Two groups, in the order of their leaders: appenders follow that order, and a model must do the
/// same each time.
fn two_groups() -> (Group, Group) {
    let (a, b) = (Group::new(), Group::new());
    if a.leader < b.leader { (a, b) } else { (b, a) }
}

fn position(log: &[u8], who: u8) -> usize {
    assert_eq!(log.iter().filter(|entry| **entry == who).count(), 1, "{who} once in {log:?}");
    log.iter().position(|entry| *entry == who).unwrap()
}

/// A thread appends to one member while another one runs the ring of the group and releases it: all
/// behaviours run once, and each holder sees what the previous one wrote, on either member.
#[test]
fn append_against_drain() {
    check(|| {
        let (x, y) = two_members();
        let other = thread::spawn({
            let x = x.clone();
            move || {
                push(&x, 3);
                run_ready();
            }
        });
        let far = x.clone();
        when(&y, move |log| {
            log.push(1);
            push(&far, 2);
            drop(far);
        });
        run_ready();
        other.join().unwrap();
        let log = written(x);
        position(&log, 2);
        position(&log, 3);
        assert_eq!(log.len(), 2);
        assert_eq!(written(y), [1]);
    });
}

/// What a thread spawns on the group before it notifies a behaviour that holds it is not overtaken
/// by what that behaviour sends.
///
/// Fails if `is_unfollowed` does not check the tail.
#[test]
fn sends_against_what_came_before() {
    check(|| {
        let (x, y) = two_members();
        let told = Arc::new(AtomicBool::new(false));
        let other = thread::spawn({
            let (x, told) = (x.clone(), Arc::clone(&told));
            move || {
                push(&x, 1);
                told.store(true, Ordering::Release);
                run_ready();
            }
        });
        let far = x.clone();
        let heard = Arc::new(AtomicBool::new(false));
        let hears = Arc::clone(&heard);
        when(&y, move |_| {
            hears.store(told.load(Ordering::Acquire), Ordering::Relaxed);
            push(&far, 2);
            drop((far, told, hears));
        });
        run_ready();
        other.join().unwrap();
        let log = written(x);
        if heard.load(Ordering::Relaxed) {
            assert!(position(&log, 1) < position(&log, 2), "{log:?}");
        }
        drop(y);
    });
}

/// The anomaly in `queue/README.md`, "Groups": a step over a cown and the group has passed the cown
/// when a behaviour of the group gets behind it there, and then sends to a member.
///
/// Fails if a request behind the step does not wait until the step is in all its queues.
#[test]
fn sends_cross_a_step_over_the_group() {
    check_bounded(3, || sends_cross(two_groups()));
}

/// The same with the step's requests appended in the other order.
#[test]
fn sends_cross_a_step_over_the_group_from_above() {
    check_bounded(3, || {
        let (low, high) = two_groups();
        sends_cross((high, low));
    });
}

fn sends_cross((group, other): (Group, Group)) {
    let (x, y, outside) = (member(&group), member(&group), member(&other));
    let step = thread::spawn({
        let (x, outside) = (x.clone(), outside.clone());
        move || {
            when((&outside, &x), |(outside, x)| {
                outside.push(3);
                x.push(3);
            });
            run_ready();
        }
    });
    let (far, via) = (x.clone(), outside.clone());
    when(&y, move |_| {
        push(&via, 1);
        push(&far, 2);
        drop((far, via));
    });
    run_ready();
    step.join().unwrap();
    let (x, outside) = (written(x), written(outside));
    assert!(
        !(position(&outside, 3) < position(&outside, 1) && position(&x, 2) < position(&x, 3)),
        "outside: {outside:?}, x: {x:?}"
    );
}

/// The last handles of two members, and that of the group, are dropped while the group works: each
/// state ends once, and the leader last.
#[test]
fn members_end_while_the_group_works() {
    check(|| {
        let (x, y) = two_members();
        let other = thread::spawn({
            let x = x.clone();
            move || {
                push(&x, 1);
                drop(x);
                run_ready();
            }
        });
        push(&y, 2);
        drop(y);
        drop(x);
        run_ready();
        other.join().unwrap();
    });
}

/// A behaviour on two members, and another on one of them and a cown outside, from two threads.
#[test]
fn sets_over_the_group_cross() {
    check_long(|| {
        let (low, high) = two_groups();
        let (x, y, outside) = (member(&low), member(&low), member(&high));
        let other = thread::spawn({
            let (x, outside) = (x.clone(), outside.clone());
            move || {
                when((&x, &outside), |(x, outside)| {
                    x.push(1);
                    outside.push(1);
                });
                run_ready();
            }
        });
        when((&y, &x), |(y, x)| {
            y.push(2);
            x.push(2);
        });
        push(&outside, 2);
        run_ready();
        other.join().unwrap();
        assert_eq!(written(x).len(), 2);
        assert_eq!(written(outside).len(), 2);
        assert_eq!(written(y), [2]);
    });
}

/// A state that records its interrupts.
struct InterruptBell(Log);

impl Interruptible for InterruptBell {
    type SharedState = ();

    fn on_interrupt(&mut self, (): &()) -> Gate {
        self.0.push(9);
        Gate::Open
    }

    fn cancel(&mut self, (): &()) {}

    fn failed(&mut self, (): &(), _: &Broken) {}
}

/// A member is interrupted, and its handle dropped, while another one works and releases the group:
/// the token holder interrupts it.
#[test]
fn interrupt_against_leave() {
    check(|| {
        let group = Group::new();
        let (x, y) = (group.interruptible((), |_| InterruptBell(Log::default())), member(&group));
        let other = thread::spawn({
            let x = x.clone();
            move || {
                x.interrupt();
                drop(x);
                run_ready();
            }
        });
        push(&y, 1);
        run_ready();
        other.join().unwrap();
        assert_eq!(written(y), [1]);
        let bell = x.into_inner().ok().expect("nothing is queued");
        assert_eq!(bell.0.read(), [9]);
    });
}

/// A state that shuts or opens its gate on command.
struct GatedState {
    log: Log,
    is_to_shut: bool,
}

impl Interruptible for GatedState {
    type SharedState = AtomicBool;

    fn on_interrupt(&mut self, opens: &AtomicBool) -> Gate {
        let shut = self.is_to_shut && !opens.load(Ordering::Relaxed);
        if shut { Gate::Shut } else { Gate::Open }
    }

    fn cancel(&mut self, _: &AtomicBool) {}

    fn failed(&mut self, _: &AtomicBool, _: &Broken) {}
}

/// A behaviour shuts its own member's gate while another thread interrupts that member: no
/// behaviour of the group runs afterwards, until the gate is opened.
///
/// Fails if an interrupt returns because of another one before the group's holder can see that one.
#[test]
fn a_gate_is_shut_against_an_interrupt() {
    check(|| {
        let group = Group::new();
        let cell = |_| GatedState { log: Log::default(), is_to_shut: false };
        let (x, y) = (group.interruptible(AtomicBool::new(false), cell), member(&group));
        let other = thread::spawn({
            let x = x.clone();
            move || {
                x.interrupt();
                drop(x);
                run_ready();
            }
        });
        // Not part of the model: which one comes first does not matter.
        let opened = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
        let (own, seen) = (x.clone(), opened.clone());
        when(&x, move |x| {
            x.log.push(1);
            x.is_to_shut = true;
            own.interrupt();
            drop(own);
        });
        when(&y, move |y| {
            assert!(seen.load(std::sync::atomic::Ordering::Relaxed), "the gate is shut");
            y.push(2);
        });
        run_ready();
        other.join().unwrap();
        run_ready();
        opened.store(true, std::sync::atomic::Ordering::Relaxed);
        x.shared_state().store(true, Ordering::Relaxed);
        x.interrupt();
        run_ready();
        assert_eq!(written(y), [2]);
        assert_eq!(x.into_inner().ok().expect("nothing is queued").log.read(), [1]);
    });
}

/// A state with turns of its own.
struct TurnState {
    log: Log,
    left: u8,
}

impl TurnState {
    fn gate(&self) -> Gate {
        if self.left > 0 { Gate::Reserved } else { Gate::Open }
    }
}

impl Interruptible for TurnState {
    type SharedState = ();

    fn on_interrupt(&mut self, (): &()) -> Gate {
        self.gate()
    }

    fn take_turn(&mut self, (): &()) -> Gate {
        self.log.push(8);
        self.left -= 1;
        self.gate()
    }

    fn cancel(&mut self, (): &()) {}

    fn failed(&mut self, (): &(), _: &Broken) {}
}

/// A member takes turns of its own while another thread interrupts it: it takes each once, before
/// the behaviour that is spawned after its interrupt.
#[test]
fn a_turn_of_its_own_against_an_interrupt() {
    check_bounded(3, || {
        let group = Group::new();
        let x = group.interruptible((), |_| TurnState { log: Log::default(), left: 2 });
        let y = member(&group);
        let other = thread::spawn({
            let x = x.clone();
            move || {
                x.interrupt();
                drop(x);
                run_ready();
            }
        });
        x.interrupt();
        when(&x, |x| assert_eq!(x.left, 0, "its own turns come first"));
        push(&y, 1);
        run_ready();
        other.join().unwrap();
        assert_eq!(written(y), [1]);
        assert!(!x.is_poisoned(), "a behaviour has panicked: see above");
        assert_eq!(x.into_inner().ok().expect("nothing is queued").log.read(), [8, 8]);
    });
}

/// A group is moved while another thread interrupts a member: it continues in the new home, and
/// interrupts the member there.
///
/// Fails if the move leaves its mark without an empty request behind it.
#[test]
fn a_move_against_an_interrupt() {
    check(|| {
        let there =
            crate::sched::runtime_handle::RuntimeHandle(crate::runtime_ids::RuntimeId::from_raw(2));
        let group = Group::new();
        let (x, y) = (group.interruptible((), |_| InterruptBell(Log::default())), member(&group));
        let other = thread::spawn({
            let x = x.clone();
            move || {
                x.interrupt();
                drop(x);
                run_ready();
            }
        });
        y.move_to(there).expect("it is on no pump");
        run_ready();
        other.join().unwrap();
        assert_eq!(group.runtime(), there);
        assert!(written(y).is_empty());
        assert_eq!(x.into_inner().ok().expect("nothing is queued").0.read(), [9]);
    });
}
