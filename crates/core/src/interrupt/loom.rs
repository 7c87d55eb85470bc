//! Models of interrupts and blocked sets: no interrupt is lost, and the token holder is alone.

use std::sync::Arc;

use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;

use super::{Interruptible, UnreachableCown, registry};
use crate::behaviour::when::when;
use crate::cown::handle::{Cown, WeakCown};
use crate::fault::Broken;
use crate::queue::interrupt_header::Gate;
use crate::sched::loom::{Log, check, check_bounded, log, run_ready};
use crate::sched::runtime_handle::RuntimeHandle;

/// Logged by a call of `on_interrupt`.
const CALL: u8 = 100;

/// A state whose gate is shut until it has seen a number of orders.
struct OrderedGate {
    log: Log,
    opens_after: usize,
    /// Whether it closes its cown when no handle is left.
    closes: Option<WeakCown<OrderedGate>>,
    /// Whether it tries to end its cown before it closes it.
    ends: bool,
    /// Whether it leaves a call to its end.
    leaves_calls: bool,
}

impl OrderedGate {
    fn new(opens_after: usize) -> Self {
        OrderedGate {
            log: Log::default(),
            opens_after,
            closes: None,
            ends: false,
            leaves_calls: false,
        }
    }
}

/// The orders given, which an interrupt must make visible.
type OrderCount = AtomicUsize;

impl Interruptible for OrderedGate {
    type SharedState = Arc<OrderCount>;

    fn on_interrupt(&mut self, orders: &Arc<OrderCount>) -> Gate {
        self.log.push(CALL);
        if orders.load(Ordering::Relaxed) >= self.opens_after { Gate::Open } else { Gate::Shut }
    }

    fn on_last_interrupt(&mut self, orders: &Arc<OrderCount>) -> Gate {
        if self.leaves_calls { Gate::Open } else { self.on_interrupt(orders) }
    }

    fn last_handle_gone(&mut self, _: &Arc<OrderCount>, cown: &UnreachableCown<'_, Self>) {
        self.log.push(END);
        if self.ends
            && let Some(this) = self.closes.take()
        {
            self.closes = cown.try_end(this).err();
        }
        self.closes.iter().for_each(WeakCown::close);
    }

    fn cancel(&mut self, _: &Arc<OrderCount>) {}

    fn failed(&mut self, _: &Arc<OrderCount>, _: &Broken) {}
}

fn interruptible(opens_after: usize) -> Cown<OrderedGate> {
    let orders = Arc::new(OrderCount::new(0));
    Cown::interruptible(RuntimeHandle::current(), orders, |_| OrderedGate::new(opens_after))
}

/// Gives an order, which the next call must see.
fn order(cown: &Cown<OrderedGate>) {
    cown.shared_state().fetch_add(1, Ordering::Relaxed);
    cown.interrupt();
}

fn push(cown: &Cown<OrderedGate>, who: u8) {
    when(cown, move |state| state.log.push(who));
}

fn written(cown: Cown<OrderedGate>) -> Vec<u8> {
    let state = cown.into_inner().expect("no behaviour is left, and no other handle");
    state.log.read()
}

fn count(log: &[u8], who: u8) -> usize {
    log.iter().filter(|entry| **entry == who).count()
}

/// Two threads interrupt an idle cown: the state is called at least once, and at most once for
/// each; the last call sees both orders, since the gate is open in the end.
///
/// Fails if the exchange in `interrupt_inside` or the one in `run` is `Relaxed`.
#[test]
fn interrupt_against_interrupt() {
    check(|| {
        let cown = interruptible(2);
        let other = thread::spawn({
            let cown = cown.clone();
            move || {
                order(&cown);
                drop(cown);
                run_ready();
            }
        });
        order(&cown);
        run_ready();
        other.join().unwrap();
        let calls = count(&written(cown), CALL);
        assert!((1..=3).contains(&calls), "{calls} calls");
    });
}

/// An interrupt comes while a behaviour is spawned and runs: the behaviour runs once, and the state
/// is called.
#[test]
fn interrupt_against_behaviour() {
    check(|| {
        let cown = interruptible(0);
        let other = thread::spawn({
            let cown = cown.clone();
            move || {
                push(&cown, 1);
                drop(cown);
                run_ready();
            }
        });
        order(&cown);
        run_ready();
        other.join().unwrap();
        let log = written(cown);
        assert_eq!(count(&log, 1), 1);
        assert_eq!(count(&log, CALL), 1);
    });
}

/// A behaviour waits at a gate that another thread opens: it runs once, after the call that opened
/// the gate.
///
/// Fails if `try_park` does not check for the interrupt, or parks with a `Relaxed` exchange.
#[test]
fn a_gate_is_opened() {
    check(|| {
        let cown = interruptible(2);
        order(&cown);
        run_ready();
        let other = thread::spawn({
            let cown = cown.clone();
            move || {
                order(&cown);
                drop(cown);
                run_ready();
            }
        });
        push(&cown, 1);
        run_ready();
        other.join().unwrap();
        let log = written(cown);
        assert_eq!(log.last(), Some(&1), "{log:?}");
        assert_eq!(count(&log, 1), 1);
    });
}

/// A reader, and an interrupt that must wait for its end.
#[test]
fn interrupt_against_reader() {
    check(|| {
        let cown = interruptible(0);
        let other = thread::spawn({
            let cown = cown.clone();
            move || {
                when(cown.read(), |state| drop(state.log.read()));
                drop(cown);
                run_ready();
            }
        });
        order(&cown);
        push(&cown, 1);
        run_ready();
        other.join().unwrap();
        let log = written(cown);
        assert_eq!(count(&log, CALL), 1);
        assert_eq!(count(&log, 1), 1);
    });
}

/// A blocked set examines the queue of a cown with a shut gate while a behaviour on it and another
/// cown is appended: the behaviour is seen or not, and runs once the gate is open.
///
/// Fails if `successor` takes a request without a link for the last one.
#[test]
fn a_blocked_set_against_append() {
    // With one more preemption it takes a minute and a half.
    check_bounded(3, || {
        let (cown, plain) = (interruptible(2), log());
        order(&cown);
        run_ready();
        let other = thread::spawn({
            let (cown, plain) = (cown.clone(), plain.clone());
            move || {
                when((&cown, &plain), |(state, plain)| {
                    state.log.push(1);
                    plain.push(1);
                });
                when(&plain, |plain| plain.push(2));
                drop((cown, plain));
                run_ready();
            }
        });
        let seen = cown.blocked_set(10).expect("the gate is shut").blocked.len();
        assert!((1..=3).contains(&seen), "{seen} behaviours");
        run_ready();
        order(&cown);
        run_ready();
        other.join().unwrap();
        run_ready();
        assert_eq!(plain.into_inner().unwrap().read(), [1, 2]);
        assert_eq!(count(&written(cown), 1), 1);
    });
}

/// A blocked set and an interrupt at the same time: one of them has the token, and the other's
/// effect is not lost.
#[test]
fn a_blocked_set_against_an_interrupt() {
    check(|| {
        let cown = interruptible(2);
        order(&cown);
        run_ready();
        push(&cown, 1);
        let other = thread::spawn({
            let cown = cown.clone();
            move || {
                order(&cown);
                drop(cown);
                run_ready();
            }
        });
        if let Some(blocked_set) = cown.blocked_set(10) {
            assert!(blocked_set.is_complete);
        }
        run_ready();
        other.join().unwrap();
        assert_eq!(count(&written(cown), 1), 1);
    });
}

/// Logged when no handle is left.
const END: u8 = 200;

/// Drops a handle; the last one is checked.
fn leave(cown: Cown<OrderedGate>) {
    if let Some(last) = cown.drop_unless_last() {
        last.spawn_last_handle_check();
    }
}

/// Leaves the cown while another thread is active, and runs everything that results.
fn leave_beside(cown: Cown<OrderedGate>, other: thread::JoinHandle<()>) {
    leave(cown);
    run_ready();
    other.join().unwrap();
    run_ready();
}

/// A state that closes its cown at the last-handle check, which then drops it at once. With `ends`
/// it ends its cown instead if it can.
fn mortal(ends: bool) -> Cown<OrderedGate> {
    let orders = Arc::new(OrderCount::new(0));
    Cown::interruptible(RuntimeHandle::current(), orders, |this| OrderedGate {
        closes: Some(this),
        ends,
        ..OrderedGate::new(0)
    })
}

/// The last handle is dropped, and a behaviour before its last-handle check gives a new one to
/// another thread, which spawns with it: the end comes once, and behind that.
///
/// Fails if a handle that is dropped while another one waits does not record that, and if
/// `check_last_handle` does not check.
#[test]
fn a_last_handle_check_against_a_handle_that_comes_and_goes() {
    check(|| {
        let gift = Arc::new(loom::sync::Mutex::new(None::<Cown<OrderedGate>>));
        // Not part of the model: what was spawned and has run.
        let open = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let cown = interruptible(0);
        let (weak, given) = (cown.downgrade(), Arc::clone(&gift));
        when(&cown, move |_| *given.lock().unwrap() = weak.upgrade());
        let other = thread::spawn({
            let open = Arc::clone(&open);
            move || {
                let Some(cown) = gift.lock().unwrap().take() else { return };
                open.fetch_add(1, Ordering::Relaxed);
                when(cown.unchecked(), move |state| {
                    assert_eq!(count(&state.log.read(), END), 0, "it has ended before");
                    open.fetch_sub(1, Ordering::Relaxed);
                });
                leave(cown);
                run_ready();
            }
        });
        leave_beside(cown, other);
        assert_eq!(open.load(Ordering::Relaxed), 0, "it has not run, or not before the end");
    });
}

/// The last handle is checked while a weak one is upgraded: that finds a live state or none, and
/// the state is dropped once.
///
/// Fails if `upgrade` mistakes the marks of a last-handle check for handles.
#[test]
fn a_last_handle_check_against_upgrade() {
    check(|| {
        let cown = interruptible(0);
        let orders = Arc::clone(cown.shared_state());
        let weak = cown.downgrade();
        let other = thread::spawn(move || {
            if let Some(cown) = weak.upgrade() {
                when(cown.unchecked(), |state| state.log.push(1));
                leave(cown);
                run_ready();
            }
        });
        leave_beside(cown, other);
        assert_eq!(Arc::strong_count(&orders), 1, "the shared is dropped with the block");
    });
}

/// The last handle is dropped, and the state ends with the last-handle check, while another thread
/// interrupts it through a weak handle, spawns with it, and drops it: the state is dropped once,
/// behind what was spawned before the end.
///
/// Fails if the request of the last-handle check destroys a state with something behind it, or with
/// a handle left.
#[test]
fn an_end_against_a_handle_that_comes_and_goes() {
    end_against_a_handle(false);
}

/// The same with a state that ends its cown if it can.
///
/// Fails if it does while there is another weak handle.
#[test]
fn an_unseen_end_against_a_handle_that_comes_and_goes() {
    end_against_a_handle(true);
}

fn end_against_a_handle(ends: bool) {
    check_bounded(3, move || {
        let cown = mortal(ends);
        let orders = Arc::clone(cown.shared_state());
        let weak = cown.downgrade();
        let other = thread::spawn(move || {
            if let Some(cown) = weak.upgrade() {
                order(&cown);
                when(cown.unchecked(), |state| state.log.push(1));
                leave(cown);
                run_ready();
            }
        });
        leave_beside(cown, other);
        assert_eq!(Arc::strong_count(&orders), 1, "the state is left, or its shared");
    });
}

/// A state must be called before anything else, and its creator is still at work, while another
/// thread that already has the handle interrupts it and spawns: the call comes first, and the last
/// call sees the orders.
///
/// Fails if the first request is omitted.
#[test]
fn a_birth_against_a_behaviour() {
    check(|| {
        let orders = Arc::new(OrderCount::new(0));
        let make = |_| OrderedGate::new(0);
        let (cown, other) = Cown::interrupted_at_once(
            RuntimeHandle::current(),
            Arc::clone(&orders),
            make,
            |cown| {
                let other = cown.clone();
                let other = thread::spawn(move || {
                    push(&other, 1);
                    order(&other);
                    drop(other);
                    run_ready();
                });
                (cown, other)
            },
        );
        run_ready();
        other.join().unwrap();
        run_ready();
        let log = written(cown);
        assert_eq!((log[0], count(&log, 1)), (CALL, 1), "{log:?}");
        assert!((1..=2).contains(&count(&log, CALL)), "{log:?}");
    });
}

/// A state must be called before anything else, and leaves that to its end, which comes next, while
/// another thread upgrades a weak handle: it is called, or has ended.
///
/// Fails if it is not called when its last-handle check finds another handle.
#[test]
fn an_end_that_is_put_off() {
    check(|| {
        let make = |_| OrderedGate { leaves_calls: true, ..OrderedGate::new(0) };
        let orders = Arc::new(OrderCount::new(0));
        let home = RuntimeHandle::current();
        let other = Cown::interrupted_at_once(home, orders, make, |cown| {
            let weak = cown.downgrade();
            let other = thread::spawn(move || weak.upgrade());
            leave(cown);
            other
        });
        run_ready();
        let cown = other.join().unwrap();
        run_ready();
        if let Some(cown) = cown {
            let log = written(cown);
            assert!(log.contains(&CALL) || log.contains(&END), "{log:?}");
        }
    });
}

/// A runtime is searched while a state is created and ends: it is found or not, and its block is
/// not accessed after it is freed.
///
/// Fails without either barrier, and if a removal does not wait for a search.
#[test]
fn a_search_against_an_end() {
    search_against_an_end(false);
}

/// The same with a state that ends its cown, unless that is found.
///
/// Fails if the cown stays in the table meanwhile, and if its handles are not counted again once it
/// is out of it.
#[test]
fn a_search_against_an_unseen_end() {
    search_against_an_end(true);
}

fn search_against_an_end(ends: bool) {
    check(move || {
        registry::use_table();
        let home = RuntimeHandle::current();
        let other = thread::spawn(move || {
            let cown = mortal(ends);
            leave(cown);
            run_ready();
        });
        for living in registry::find(&[home]) {
            living.interrupt();
        }
        run_ready();
        other.join().unwrap();
        run_ready();
    });
}

/// Drops a handle while another thread drops the other one, and runs everything that results: the
/// state is dropped.
fn drop_beside(cown: Cown<OrderedGate>, other: thread::JoinHandle<()>) {
    let orders = Arc::clone(cown.shared_state());
    drop(cown);
    run_ready();
    other.join().unwrap();
    run_ready();
    assert_eq!(Arc::strong_count(&orders), 1, "the state is left");
}

/// The last handles are dropped while the gate is being shut: what waits there runs, and the state
/// is dropped.
///
/// Fails if `is_ungated` does not check for handles, and if dropping the last one does not
/// interrupt.
#[test]
fn the_last_handles_against_a_gate() {
    check(|| {
        // Not part of the model.
        let ran = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let cown = interruptible(usize::MAX);
        let done = Arc::clone(&ran);
        when(&cown, move |_| {
            done.fetch_add(1, Ordering::Relaxed);
        });
        let other = thread::spawn({
            let cown = cown.clone();
            move || {
                order(&cown);
                drop(cown);
                run_ready();
            }
        });
        drop_beside(cown, other);
        assert_eq!(ran.load(Ordering::Relaxed), 1, "what waits at the gate is left there");
    });
}

/// A behaviour fails, and its state is told and interrupted through a temporary handle, while the
/// last handles are dropped.
///
/// Fails if that handle is not given back.
#[test]
fn a_failure_against_the_last_handles() {
    check(|| {
        let cown = interruptible(0);
        let fail = |cown: &Cown<OrderedGate>| {
            when(cown, |_| std::panic::resume_unwind(Box::new("a model's")));
        };
        let other = thread::spawn({
            let cown = cown.clone();
            move || {
                fail(&cown);
                drop(cown);
                run_ready();
            }
        });
        drop_beside(cown, other);
    });
}
