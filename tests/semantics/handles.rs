//! Handles: cheap, comparable, hashable; weak ones; `into_inner`; and the end of the state.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use coact::WeakCown;
use coact::prelude::*;
use coact_tests::{Faults, Log, everywhere, everywhere_with_faults, fail, finally, runtime};

/// Tells when it is dropped.
struct Noisy(&'static str, Log<&'static str>);

impl Drop for Noisy {
    fn drop(&mut self) {
        self.1.push(self.0);
    }
}

#[test]
fn a_handle_is_one_pointer() {
    assert_eq!(size_of::<Cown<[u64; 100]>>(), size_of::<usize>());
    assert_eq!(size_of::<Option<Cown<u8>>>(), size_of::<usize>());
    assert_eq!(size_of::<Option<WeakCown<u8>>>(), size_of::<usize>());
}

#[test]
fn clones_are_equal_and_others_are_not() {
    everywhere(|| {
        let (a, b) = (Cown::new(1), Cown::new(1));
        let same = a.clone();
        assert!(a == same && a != b);
        assert_eq!(a.id(), same.id());
        assert_ne!(a.id(), b.id());
        assert_eq!(HashSet::from([a.clone(), same.clone(), b.clone()]).len(), 2);
        assert_eq!(BTreeSet::from([a.clone(), same, b]).len(), 2);
        assert_eq!(a.downgrade().id(), a.id());
    });
}

/// Not in deterministic mode, where they are ordered as they were made.
#[test]
fn handles_are_ordered_as_their_identities() {
    let runtime = runtime(1, &Faults::new());
    let _entered = runtime.enter();
    let (a, b) = (Cown::new(1), Cown::new(1));
    assert_eq!(a.cmp(&b), a.id().cmp(&b.id()));
    assert_eq!(a.cmp(&a.clone()), std::cmp::Ordering::Equal);
}

#[test]
fn handles_can_be_printed() {
    everywhere(|| {
        let cown = Cown::new(1_u8);
        let id = cown.id();
        assert_eq!(format!("{cown:?}"), format!("Cown<u8>({id:?})"));
        assert_eq!(format!("{:?}", cown.downgrade()), format!("WeakCown<u8>({id})"));
    });
}

#[test]
fn conversions() {
    everywhere(|| {
        assert_eq!(Cown::from(3).into_inner().unwrap(), 3);
        assert_eq!(Cown::<Vec<u8>>::default().into_inner().unwrap(), Vec::<u8>::new());
    });
}

#[test]
fn l2_into_inner_takes_the_state_from_the_last_handle() {
    everywhere(|| {
        let cown = Cown::new(String::from("state"));
        let other = cown.clone();
        let cown = cown.into_inner().unwrap_err();
        drop(other);
        assert_eq!(cown.into_inner().unwrap(), "state");
    });
}

/// A handle that is given back as the last one is a handle still.
#[test]
fn into_inner_takes_the_state_from_a_handle_that_was_given_back() {
    everywhere(|| {
        let cown = Cown::new(String::from("state"));
        let weak = cown.downgrade();
        let cown = cown.drop_unless_last().expect("the last one");
        let again = weak.upgrade().unwrap();
        let cown = cown.into_inner().unwrap_err();
        assert!(again.drop_unless_last().is_none());
        assert_eq!(cown.into_inner().unwrap(), "state");
    });
}

#[test]
fn l2_into_inner_gives_the_handle_back_while_a_behaviour_is_queued() {
    let runtime = runtime(1, &Faults::new());
    let _entered = runtime.enter();
    let ((resolver, promise), (started, has_started)) =
        (Promise::<()>::channel(), Promise::channel());
    // A future may hold a promise; the behaviour runs when it is kept.
    let cown = Cown::new(0);
    let done = call(&cown, move |n| {
        started.resolve(());
        *n += 1;
        while !resolver.is_abandoned() {
            std::thread::yield_now();
        }
    });
    has_started.wait().unwrap();
    let cown = cown.into_inner().expect_err("a behaviour holds it");
    drop(promise);
    done.wait().unwrap();
    assert_eq!(cown.into_inner().unwrap(), 1);
}

#[test]
fn l2_into_inner_gives_the_handle_back_while_somebody_reads() {
    everywhere(|| {
        let cown = Cown::new(0);
        let again = cown.clone();
        let inner = call(cown.read(), move |_| again.into_inner().is_err());
        assert_eq!(inner.wait(), Ok(true));
    });
}

#[test]
fn the_state_of_a_poisoned_cown_can_be_taken_out() {
    everywhere_with_faults(|_| {
        let cown = Cown::new(1);
        call(&cown, |n| {
            *n = 2;
            fail("half way")
        })
        .wait()
        .unwrap_err() as Broken;
        assert_eq!(cown.into_inner().unwrap(), 2);
    });
}

#[test]
fn l3_weak_handles_do_not_keep_the_state() {
    everywhere(|| {
        let log = Log::new();
        let cown = Cown::new(Noisy("state", log.clone()));
        let weak = cown.downgrade();
        let strong = weak.upgrade().expect("the state is alive");
        assert!(strong == cown);
        drop(cown);
        assert!(log.is_empty());
        drop(strong);
        assert_eq!(log.take(), ["state"]);
        assert!(weak.upgrade().is_none() && weak.clone().upgrade().is_none());
    });
}

#[test]
fn l3_into_inner_ends_weak_handles() {
    everywhere(|| {
        let cown = Cown::new(1);
        let weak = cown.downgrade();
        assert_eq!(cown.into_inner().unwrap(), 1);
        assert!(weak.upgrade().is_none());
    });
}

#[test]
fn a_cown_may_have_a_weak_handle_of_itself() {
    everywhere(|| {
        struct Node(Option<WeakCown<Node>>, #[allow(dead_code)] Noisy);
        let log = Log::new();
        let cown = Cown::new(Node(None, Noisy("node", log.clone())));
        let weak = cown.downgrade();
        when(&cown, move |node| node.0 = Some(weak));
        call(&cown, |node| assert!(node.0.as_ref().unwrap().upgrade().is_some())).wait().unwrap();
        drop(cown);
        assert_eq!(log.take(), ["node"]);
    });
}

#[test]
fn l1_the_last_handle_drops_an_idle_state_at_once() {
    everywhere(|| {
        let log = Log::new();
        drop(Cown::new(Noisy("idle", log.clone())));
        assert_eq!(log.take(), ["idle"]);
    });
}

#[test]
fn l1_queued_behaviours_run_before_the_state_is_dropped() {
    everywhere(|| {
        let log = Log::new();
        let (cown, other) = (Cown::new(Noisy("dropped", log.clone())), Cown::new(()));
        let again = cown.clone();
        when(&cown, move |_| {
            for _ in 0..3 {
                when(&again, |state| state.1.push("ran"));
            }
            when((&other, again.read()), |(_, state)| state.1.push("ran"));
        });
        drop(cown);
        coact_tests::finally(move || {
            assert_eq!(log.take(), ["ran", "ran", "ran", "ran", "dropped"])
        });
    });
}

/// A behaviour may drop the last handle of the very cown that it holds.
#[test]
fn l1_a_behaviour_that_drops_the_last_handle_of_its_own_cown() {
    everywhere(|| {
        let log = Log::new();
        let cown = Cown::new(Noisy("state", log.clone()));
        let (far, last) = (log.clone(), cown.clone());
        when(&cown, move |state| {
            drop(last);
            assert!(far.is_empty(), "the state is in use");
            state.1.push("used");
        });
        drop(cown);
        coact_tests::finally(move || assert_eq!(log.take(), ["used", "state"]));
    });
}

#[test]
fn readers_that_drop_the_last_handle() {
    everywhere(|| {
        let log = Log::new();
        let cown = Cown::new(Guarded(Noisy("state", log.clone())));
        for _ in 0..4 {
            let last = cown.clone();
            when(cown.read(), move |state| {
                drop(last);
                state.0.1.push("read");
            });
        }
        drop(cown);
        coact_tests::finally(move || {
            assert_eq!(log.take(), ["read", "read", "read", "read", "state"])
        });
    });
    struct Guarded(Noisy);
}

struct Node(#[allow(dead_code)] Option<Cown<Node>>);

fn list(length: usize) -> Cown<Node> {
    let mut head = Cown::new(Node(None));
    for _ in 1..length {
        head = Cown::new(Node(Some(head)));
    }
    head
}

/// A list of 100,000 cowns does not fill the stack when it is dropped, wherever that is.
#[test]
fn a_long_list_of_cowns_is_dropped() {
    const LENGTH: usize = 100_000;
    let runtime = runtime(2, &Faults::new());
    let _entered = runtime.enter();
    drop(list(LENGTH));
    let head = list(LENGTH);
    when((), move |()| drop(head));
    let head = list(LENGTH);
    // Dropped behind a behaviour.
    when(&head, |_| ());
    drop(head);
    // By `into_inner`, by a closure that is never run, and by the value of a promise.
    drop(list(LENGTH).into_inner().ok());
    let head = list(LENGTH);
    drop(Batch::new().when((), move |()| drop(head)));
    drop(call((), |()| list(LENGTH)).then((), |(), list| drop(list)));
    runtime.wait_idle();
}

/// A tree of cowns: its nodes are dropped once each, the outer before the inner.
#[test]
fn a_tree_of_cowns_is_dropped() {
    #[allow(dead_code)]
    struct Tree(Noisy, Vec<Cown<Tree>>);
    fn tree(depth: usize, log: &Log<&'static str>) -> Cown<Tree> {
        let children = (0..if depth == 0 { 0 } else { 2 }).map(|_| tree(depth - 1, log));
        Cown::new(Tree(Noisy("node", log.clone()), children.collect()))
    }
    everywhere(|| {
        let log = Log::new();
        drop(tree(9, &log));
        assert_eq!(log.len(), 1023);
    });
}

/// Packed cowns differ from others in nothing but where they lie.
#[test]
fn packed_cowns_are_cowns() {
    everywhere(|| {
        let dropped = Arc::new(AtomicUsize::new(0));
        struct State(u64, Arc<AtomicUsize>);
        impl Drop for State {
            fn drop(&mut self) {
                self.1.fetch_add(1, Ordering::Relaxed);
            }
        }
        let state = |n| State(n, Arc::clone(&dropped));
        let packed: Vec<_> = (0..40).map(|n| Cown::packed(state(n))).collect();
        let other = Cown::new(state(100));
        for cown in &packed {
            when((cown, &other), |(a, b)| {
                a.0 += 1;
                b.0 += 1;
            });
        }
        let weak = packed[3].downgrade();
        let sum = call(read_all(&packed), |all| all.iter().map(|state| state.0).sum::<u64>());
        drop(packed);
        let seen = Arc::clone(&dropped);
        finally(move || {
            assert_eq!(sum.wait(), Ok(780 + 40));
            assert!(weak.upgrade().is_none());
            assert_eq!(call(&other, |state| state.0).wait(), Ok(140));
            assert_eq!(seen.load(Ordering::Relaxed), 40);
        });
    });
}

/// The only handle ends an idle cown at once, whatever happened to others meanwhile.
#[test]
fn the_only_handle_ends_an_idle_cown() {
    let state = Arc::new(());
    let only = Cown::new(Arc::clone(&state));
    drop(only);
    assert_eq!(Arc::strong_count(&state), 1);
    let cown = Cown::new(Arc::clone(&state));
    let (clone, weak) = (cown.clone(), cown.downgrade());
    drop(clone);
    drop(cown);
    assert_eq!(Arc::strong_count(&state), 1, "a weak handle keeps no state");
    assert!(weak.upgrade().is_none());
    // One that was upgraded, and is the last then.
    let cown = Cown::new(Arc::clone(&state));
    let upgraded = cown.downgrade().upgrade().expect("it is there");
    drop(cown);
    assert_eq!((upgraded.strong_count(), Arc::strong_count(&state)), (1, 2));
    drop(upgraded);
    assert_eq!(Arc::strong_count(&state), 1);
}
