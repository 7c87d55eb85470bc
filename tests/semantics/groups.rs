//! Cowns of one group share one queue and are scheduled as one; all that is promised of cowns holds
//! for them.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::task::{Context as TaskContext, Wake, Waker};
use std::thread;
use std::time::Duration;

use coact::behaviour::{Overlap, Refusal};
use coact::internals::{Gate, Interruptible};
use coact::prelude::*;
use coact_tests::{
    Faults, Journal, Log, Meeting, PATIENCE, everywhere, everywhere_with_faults, fail, finally,
    runtime,
};

fn three<T: Send + 'static>(make: impl Fn() -> T) -> [Cown<T>; 3] {
    let group = Group::new();
    std::array::from_fn(|_| group.cown(make()))
}

#[test]
fn membership_is_known() {
    everywhere(|| {
        let (group, other) = (Group::new(), Group::new());
        let (member, outsider) = (group.cown(1), Cown::new(2));
        assert!(group.contains(&member) && !other.contains(&member));
        assert!(!group.contains(&outsider));
        assert_eq!(member.group(), Some(group.clone()));
        assert_eq!(outsider.group(), None);
        assert_eq!(member.runtime(), group.runtime());
        drop((group, other));
        assert_eq!(call(&member, |n| *n).wait(), Ok(1));
    });
}

#[test]
fn g2_behaviours_on_different_members_never_overlap_in_time() {
    everywhere(|| {
        let inside = Arc::new(AtomicBool::new(false));
        let alone = |inside: &AtomicBool| {
            assert!(!inside.swap(true, Ordering::Relaxed), "somebody else is in the group");
            thread::yield_now();
            inside.store(false, Ordering::Relaxed);
        };
        let cowns = three(|| 0);
        for n in 0..60 {
            let (far, near) = (Arc::clone(&inside), Arc::clone(&inside));
            let next = cowns[(n + 1) % 3].clone();
            when(&cowns[n % 3], move |_| {
                alone(&near);
                when(&next, move |_| alone(&far));
            });
            let reader = Arc::clone(&inside);
            when(cowns[n % 3].read(), move |_| alone(&reader));
        }
    });
}

/// The order is one for the whole group, and the same as without one: that of spawning.
#[test]
fn g2_behaviours_run_in_the_order_of_spawning_across_members() {
    everywhere(|| {
        let cowns = three(|| ());
        let log = Log::new();
        for n in 0..90 {
            let log = log.clone();
            match n % 4 {
                0 => when(&cowns[0], move |()| log.push(n)),
                1 => when((&cowns[2], &cowns[1]), move |_| log.push(n)),
                2 => when(cowns[1].read(), move |()| log.push(n)),
                _ => Batch::new().when(&cowns[n % 3], move |()| log.push(n)).spawn(),
            }
        }
        call(&cowns[0], |()| ()).wait().unwrap();
        assert_eq!(log.take(), (0..90).collect::<Vec<_>>());
    });
}

/// What a member sends to others comes in the order of sending, behind what was spawned before it.
#[test]
fn g2_members_are_sent_to_in_order() {
    everywhere(|| {
        let [a, b, c] = three(|| ());
        let log = Log::new();
        let note = |n: usize| {
            let log = log.clone();
            move || log.push(n)
        };
        let (first, second, third, fourth) = (note(1), note(2), note(3), note(4));
        let (b1, c1) = (b.clone(), c.clone());
        when(&a, move |()| {
            when(&b1, move |()| first());
            when((&c1, &b1), move |_| second());
            when(&c1, move |()| third());
            when(b1.read(), move |()| fourth());
        });
        finally(move || assert_eq!(log.take(), [1, 2, 3, 4]));
    });
}

/// While something from outside stands in the queue, what members send goes behind it.
#[test]
fn g4_outside_work_is_not_overtaken() {
    for workers in [1, 2] {
        let runtime = runtime(workers, &Faults::new());
        let _entered = runtime.enter();
        let [a, b, _] = three(Vec::new);
        let (in_body, body) = mpsc::channel();
        let (go, wait) = mpsc::channel::<()>();
        let far = b.clone();
        when(&a, move |_| {
            when(&far, |log| log.push("sent before"));
            in_body.send(()).unwrap();
            wait.recv().unwrap();
            when(&far, |log| log.push("sent after"));
        });
        body.recv().unwrap();
        when(&b, |log| log.push("outside"));
        go.send(()).unwrap();
        runtime.wait_idle();
        let log = call(&b, |log| log.clone()).wait().unwrap();
        assert_eq!(log, ["sent before", "outside", "sent after"]);
    }
}

/// b1 sends to a member and then to a cown outside; what comes there afterwards and goes back into
/// the group comes behind b1's first.
#[test]
fn g1_order_passes_through_cowns_outside() {
    everywhere(|| {
        let [a, b, _] = three(|| ());
        let (outside, log) = (Cown::new(()), Log::new());
        for n in 0..40 {
            let (far, via) = (b.clone(), outside.clone());
            let (first, second) = (log.clone(), log.clone());
            when(&a, move |()| {
                let back = far.clone();
                when(&far, move |()| first.push(2 * n));
                when(&via, move |()| when(&back, move |()| second.push(2 * n + 1)));
            });
        }
        finally(move || {
            let log = log.take();
            let at = |n| log.iter().position(|entry| *entry == n).unwrap();
            (0..40).for_each(|n| assert!(at(2 * n) < at(2 * n + 1), "{log:?}"));
        });
    });
}

#[test]
fn g3_several_members_are_held_together() {
    everywhere(|| {
        let [a, b, c] = three(|| 0_u64);
        let outside = Cown::new(0_u64);
        let all = [a.clone(), b.clone(), c.clone()];
        for n in 1..=50 {
            when((&b, &a), move |(b, a)| (*a, *b) = (*a + n, *b + n));
            when(&all, move |mut all| all.iter_mut().for_each(|state| *state += n));
            when((&outside, &c, &a), move |(o, c, a)| (*o, *c, *a) = (*o + n, *c + n, *a + n));
            when((a.read(), &b), |(a, b)| assert!(*a >= *b));
        }
        let sums =
            call((&a, outside.read(), read_all(&[b, c])), |(a, o, bc)| (*a, *o, bc[0], bc[1]));
        assert_eq!(sums.wait(), Ok((3 * 1275, 1275, 2 * 1275, 2 * 1275)));
    });
}

/// Sets over two groups and a cown outside, in all orders, from inside and outside: no deadlock.
#[test]
fn g1_sets_over_several_groups() {
    everywhere(|| {
        let (x, y, o) = (three(|| 0), three(|| 0), Cown::new(0));
        for n in 0..60 {
            let (a, b) = (x[n % 3].clone(), y[(n + 1) % 3].clone());
            let (third, outside) = (x[(n + 1) % 3].clone(), o.clone());
            when((&b, &a, &third), |(b, a, third)| (*a, *b, *third) = (*a + 1, *b + 1, *third + 1));
            when(&a.clone(), move |_| {
                when((&outside, &b), |(o, b)| (*o, *b) = (*o + 1, *b + 1));
                when((&a, &outside, &b), |(a, o, b)| (*a, *o, *b) = (*a + 1, *o + 1, *b + 1));
            });
        }
        finally(move || {
            let total =
                |cowns: [Cown<i32>; 3]| cowns.map(|c| c.into_inner().unwrap()).iter().sum::<i32>();
            assert_eq!((total(x), total(y), o.into_inner().unwrap()), (180, 180, 120));
        });
    });
}

#[test]
fn g3_naming_a_member_twice_is_an_overlap() {
    everywhere(|| {
        let [a, b, _] = three(|| 0);
        let error = try_when((&b, &a, &b), |_| ()).unwrap_err();
        assert_eq!(error.refusal, Refusal::Overlap(Overlap { first: 0, second: 2 }));
        let error = try_when((&Cown::new(0), a.read(), &b, &a), |_| ()).unwrap_err();
        assert_eq!(error.refusal, Refusal::Overlap(Overlap { first: 1, second: 3 }));
        let error = Batch::new().try_when((&a, &a), |_| ()).unwrap_err();
        assert!(matches!(error.refusal, Refusal::Overlap(_)));
        let here = std::panic::catch_unwind(|| when_here((&a, &b, &a), |_| ()));
        assert!(here.is_err());
        // Nothing is left behind.
        assert_eq!(call((&a, &b), |(a, b)| *a + *b).wait(), Ok(0));
    });
}

#[test]
fn a_free_group_is_used_at_once() {
    let runtime = runtime(1, &Faults::new());
    let _entered = runtime.enter();
    let ([a, b, _], outside) = (three(|| 0), Cown::new(0));
    assert!(when_here(&a, |a| *a += 1));
    assert!(when_here((&b, &a), |(b, a)| (*a, *b) = (*a + 1, *b + 1)));
    assert!(when_here((&b, outside.read(), a.read()), |(b, o, a)| *b += *a + *o));
    let again = b.clone();
    assert!(when_here(&a, move |_| assert!(!when_here(&again, |b| *b += 10), "the group is held")));
    assert_eq!(call((&a, &b), |(a, b)| (*a, *b)).wait(), Ok((2, 13)));
}

#[test]
fn g1_results_are_delivered() {
    everywhere(|| {
        let [a, b, c] = three(|| 1);
        let (far, out) = (b.clone(), Cown::new(Vec::new()));
        let log = out.clone();
        let nested = call(&a, move |a| {
            drop(call(&far, |b| *b + 1).then(&log, |log, n| log.push(n.unwrap())));
            let sum = call((&far, c.read()), |(b, c)| *b + *c);
            *a += 1;
            sum
        });
        assert_eq!(nested.wait().unwrap().wait(), Ok(2));
        let last = call(&b, |b| *b).then(&a, |a, b| *a + b.unwrap());
        assert_eq!(last.wait(), Ok(3));
        assert_eq!(call(&out, |log| log.clone()).wait(), Ok(vec![2]));
    });
}

/// The first of two has ended, and the second keeps the group: who waits for the first goes on.
#[test]
fn g10_a_promise_is_kept_when_its_behaviour_has_ended_though_the_group_goes_on() {
    let runtime = runtime(1, &Faults::new());
    let _entered = runtime.enter();
    let [a, b, _] = three(|| 0);
    let (begin, may_begin) = mpsc::channel::<()>();
    let (end, may_end) = mpsc::channel::<()>();
    when(&a, move |_| may_begin.recv().unwrap());
    let first = call(&a, |n| *n + 1);
    let second = call(&b, move |_| may_end.recv_timeout(PATIENCE).is_ok());
    begin.send(()).unwrap();
    assert_eq!(first.wait(), Ok(1));
    a.into_inner().expect_err("the group was released in between");
    end.send(()).unwrap();
    assert_eq!(second.wait(), Ok(true), "the first was kept from those who wait for it");
}

#[test]
fn g1_timers_scopes_and_values_reach_members() {
    everywhere(|| {
        let [a, b, c] = three(|| 0);
        let mut seen = 0;
        scope(|s| s.when((&a, &b), |(a, b)| seen = *a + *b + 1));
        assert_eq!(seen, 1);
        after(Duration::from_millis(1), (&a, &c), |(a, c)| (*a, *c) = (*a + 1, *c + 1));
        when(b.clone(), |held| {
            let (state, cown) = held.into_parts();
            *state += 1;
            when(cown, |mut held| *held += 1);
        });
        finally(move || {
            assert_eq!([a, b, c].map(|cown| cown.into_inner().unwrap()), [1, 2, 1]);
        });
    });
}

#[test]
fn large_captures_and_many_messages() {
    everywhere(|| {
        let [a, b, _] = three(|| 0_u64);
        when(&a, move |_| {
            for n in 0..1_000_u64 {
                let large = [n; 40];
                when(&b, move |b| *b += large[39]);
            }
            finally_in(&b, 999 * 1_000 / 2);
        });
    });
}

/// What is small enough for a place in the ring may be aligned to more than the place offers.
#[test]
fn captures_with_large_alignments() {
    #[repr(align(32))]
    struct Aligned([u64; 4]);
    #[repr(align(256))]
    struct Page(u64);

    everywhere(|| {
        let [a, b, _] = three(|| 0_u64);
        when(&a, move |_| {
            for n in 0..100_u64 {
                let (aligned, page) = (Aligned([n; 4]), Page(n));
                when(&b, move |b| *b += aligned.0[3]);
                when(&b, move |b| *b += page.0);
            }
            finally_in(&b, 99 * 100);
        });
    });
}

/// Asserts, behind all that was sent so far.
fn finally_in(cown: &Cown<u64>, expected: u64) {
    when(cown, move |state| assert_eq!(*state, expected));
}

/// A token goes round in a group for ever: others have their turn on the one worker.
#[test]
fn g5_a_busy_group_leaves_its_worker_to_others() {
    struct Node {
        next: Option<Cown<Node>>,
    }
    static STOP: AtomicBool = AtomicBool::new(false);
    fn pass(node: &mut Node) {
        match &node.next {
            Some(next) if !STOP.load(Ordering::Relaxed) => when(next, pass),
            _ => {}
        }
    }
    let runtime = runtime(1, &Faults::new());
    let _entered = runtime.enter();
    let ring = three(|| Node { next: None });
    for (node, next) in ring.iter().zip(ring.iter().cycle().skip(1)) {
        let next = next.clone();
        when(node, move |node| node.next = Some(next));
    }
    when(&ring[0], pass);
    // On other cowns, and on the group itself.
    assert_eq!(call(&Cown::new(1), |n| *n).wait(), Ok(1));
    assert_eq!(call(&ring[1], |_| 2).wait(), Ok(2));
    STOP.store(true, Ordering::Relaxed);
    runtime.wait_idle();
    for node in &ring {
        when(node, |node| node.next = None);
    }
    runtime.wait_idle();
}

/// Whatever waits in the ring: after a turn of them the worker does other work.
#[test]
fn g5_a_group_gives_its_worker_to_others_after_the_throughput_of_the_runtime() {
    const THROUGHPUT: u32 = 3;
    let runtime = Runtime::builder().workers(1).throughput(THROUGHPUT).build().unwrap();
    let (log, [a, b, _]) = (Log::new(), runtime.run(|| three(|| ())));
    let (in_group, outside) = (log.clone(), log.clone());
    runtime.run(|| {
        when(&a, move |()| {
            for _ in 0..4 * THROUGHPUT {
                let log = in_group.clone();
                when(&b, move |()| log.push("member"));
            }
            when(&Cown::new(()), move |()| outside.push("outside"));
        });
    });
    let log = log.take();
    let waited = log.iter().position(|name| *name == "outside").unwrap();
    assert_eq!(log.len(), 4 * THROUGHPUT as usize + 1);
    assert!(waited <= THROUGHPUT as usize, "{waited} behaviours: {log:?}");
}

/// `run` returns when the ring is empty, not before.
#[test]
fn the_ring_is_work() {
    everywhere(|| {
        let ran = Arc::new(AtomicUsize::new(0));
        let [a, b, _] = three(|| ());
        fn again(cowns: (Cown<()>, Cown<()>), left: usize, ran: Arc<AtomicUsize>) {
            ran.fetch_add(1, Ordering::Relaxed);
            if left > 0 {
                let (a, b) = cowns;
                when(&b.clone(), move |()| again((b, a), left - 1, ran));
            }
        }
        let counted = Arc::clone(&ran);
        when(&a.clone(), move |()| again((a, b), 1_000, counted));
        finally(move || assert_eq!(ran.load(Ordering::Relaxed), 1_001));
    });
}

#[test]
fn g6_a_panic_poisons_the_members_that_were_held() {
    everywhere_with_faults(|faults| {
        let [a, b, c] = three(|| 0);
        let (far, third) = (b.clone(), c.clone());
        when(&a, move |_| {
            when(&far, |_| fail("on its way through the ring"));
            when((&far, &third), |_| unreachable!("b is poisoned"));
            when((far.checked(), third.read()), |(b, _)| *b.unwrap_err().get_mut() += 1);
            when((third.read(), &third.group().unwrap().cown(0)), |_| fail("reading"));
            when(&third, |c| *c += 1);
        });
        let faults = faults.clone();
        finally(move || {
            assert_eq!([&a, &b, &c].map(Cown::is_poisoned), [false, true, false]);
            assert_eq!(c.into_inner().unwrap(), 1);
            let told = faults.take();
            assert_eq!(told.len(), 3, "{told:?}");
        });
    });
}

/// Counts how many of it live.
struct Counted(Arc<AtomicUsize>);

impl Counted {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn g7_states_are_dropped_once_behind_the_last_behaviour() {
    everywhere(|| {
        let alive = Arc::new(AtomicUsize::new(0));
        let group = Group::new();
        let (a, b) = (group.cown(Counted::new(&alive)), group.cown(Some(Counted::new(&alive))));
        let weak = b.downgrade();
        let captured = Counted::new(&alive);
        when(&a, move |_| {
            // The only handle of b, dropped in the middle of the group's work.
            when(&b, move |b| assert!(b.is_some()));
            drop((b, captured));
        });
        drop((a, group));
        finally(move || {
            assert_eq!(alive.load(Ordering::Relaxed), 0);
            assert!(weak.upgrade().is_none());
        });
    });
}

/// States that own the next member's last handle, through the whole group.
#[test]
fn a_long_chain_of_members_ends() {
    struct Link(#[expect(dead_code, reason = "it is owned")] Option<Cown<Link>>);
    everywhere(|| {
        let group = Group::new();
        let mut last = group.cown(Link(None));
        for _ in 0..20_000 {
            last = group.cown(Link(Some(last)));
        }
        when(&last, |_| ());
    });
}

#[test]
fn g7_the_state_is_given_out_when_the_group_is_idle() {
    let runtime = runtime(1, &Faults::new());
    let _entered = runtime.enter();
    let [a, b, _] = three(|| 5);
    let (go, wait) = mpsc::channel::<()>();
    when(&a, move |_| wait.recv().unwrap());
    let b = b.into_inner().unwrap_err();
    go.send(()).unwrap();
    runtime.wait_idle();
    assert_eq!(b.into_inner(), Ok(5));
}

#[test]
fn a_shutdown_drops_what_is_in_the_ring() {
    let alive = Arc::new(AtomicUsize::new(0));
    let runtime = runtime(1, &Faults::new());
    let group = Group::new_in(runtime.handle());
    let [a, b] = [(); 2].map(|()| group.cown(()));
    let (in_body, body) = mpsc::channel();
    let (go, wait) = mpsc::channel::<()>();
    let (captured, far) = (Counted::new(&alive), b.clone());
    when(&a, move |()| {
        for _ in 0..300 {
            let captured = Counted::new(&captured.0);
            when(&far, move |()| panic!("{} bodies have run", captured.0.load(Ordering::Relaxed)));
        }
        in_body.send(()).unwrap();
        wait.recv().unwrap();
    });
    body.recv().unwrap();
    let probe = {
        let _entered = runtime.enter();
        Cown::new(())
    };
    let ended = thread::spawn(move || runtime.shutdown(Duration::ZERO));
    // Past the deadline nothing is taken from outside.
    while try_when(&probe, |()| ()).is_ok() {
        thread::yield_now();
    }
    go.send(()).unwrap();
    ended.join().unwrap();
    drop((a, b, group));
    assert_eq!(alive.load(Ordering::Relaxed), 0);
}

#[test]
fn g8_a_group_moves_as_a_whole() {
    let (first, second) = (runtime(1, &Faults::new()), runtime(1, &Faults::new()));
    let group = Group::new_in(first.handle());
    let (a, b) = (group.cown(()), group.cown(()));
    let home =
        |cown: &Cown<()>| call(cown, |()| coact::runtime::RuntimeHandle::current()).wait().unwrap();
    assert_eq!((home(&a), home(&b)), (first.handle(), first.handle()));
    a.move_to(second.handle()).unwrap();
    first.wait_idle();
    assert_eq!((home(&a), home(&b)), (second.handle(), second.handle()));
    assert_eq!((b.runtime(), group.runtime()), (second.handle(), second.handle()));
}

/// State that is interruptible: keeps what it was told by, and whether its gate is open.
struct Clerk {
    calls: Vec<&'static str>,
    panics: usize,
}

#[derive(Default)]
struct Desk {
    shut: AtomicBool,
}

impl Interruptible for Clerk {
    type SharedState = Desk;

    fn on_interrupt(&mut self, desk: &Desk) -> Gate {
        self.calls.push("on_interrupt");
        if desk.shut.load(Ordering::Relaxed) { Gate::Shut } else { Gate::Open }
    }

    fn cancel(&mut self, _: &Desk) {
        self.calls.push("cancel");
    }

    fn failed(&mut self, _: &Desk, _: &Broken) {
        self.panics += 1;
    }
}

fn clerk(group: &Group) -> Cown<Clerk> {
    group.interruptible(Desk::default(), |_| Clerk { calls: Vec::new(), panics: 0 })
}

#[test]
fn g9_an_interrupted_member_is_called_before_the_next_behaviour() {
    everywhere(|| {
        let group = Group::new();
        let (a, b) = (clerk(&group), clerk(&group));
        let (far, near) = (b.clone(), a.clone());
        when(&a, move |a| {
            a.calls.push("first");
            when(&far, |b| b.calls.push("sent")); // In the ring; the interrupt overtakes it.
            far.interrupt();
            far.interrupt();
            near.interrupt();
        });
        finally(move || {
            assert_eq!(a.into_inner().ok().unwrap().calls, ["first", "on_interrupt"]);
            assert_eq!(b.into_inner().ok().unwrap().calls, ["on_interrupt", "sent"]);
        });
    });
}

#[test]
fn an_idle_member_is_interrupted() {
    everywhere(|| {
        let group = Group::new();
        let (a, b) = (clerk(&group), clerk(&group));
        for _ in 0..20 {
            a.interrupt();
            b.interrupt();
        }
        drop(b); // In the list of interrupts, perhaps.
        assert!(!call(&a, |a| a.calls.is_empty()).wait().unwrap());
    });
}

#[test]
fn g9_a_shut_gate_shuts_the_group() {
    for workers in [1, 2] {
        let runtime = runtime(workers, &Faults::new());
        let _entered = runtime.enter();
        let group = Group::new();
        let (a, b, plain) = (clerk(&group), clerk(&group), group.cown(Journal::new()));
        for clerk in [&a, &b] {
            clerk.shared_state().shut.store(true, Ordering::Relaxed);
            clerk.interrupt();
        }
        when(&plain, |journal| journal.note("behind the gates"));
        let journal = Journal::new();
        let noted = journal.clone();
        when(&Cown::new(()), move |()| noted.note("outside"));
        // One of two gates is not enough.
        a.shared_state().shut.store(false, Ordering::Relaxed);
        a.interrupt();
        let passed = call(&plain, |journal| journal.has("behind the gates"));
        runtime.wait_idle();
        assert!(journal.has("outside"));
        let passed = passed.wait_timeout(Duration::ZERO).unwrap_err();
        b.shared_state().shut.store(false, Ordering::Relaxed);
        b.interrupt();
        assert_eq!(passed.wait(), Ok(true));
    }
}

/// The gate is shut from within, with something in the ring, which waits too.
#[test]
fn g9_the_ring_waits_at_a_shut_gate() {
    let runtime = runtime(2, &Faults::new());
    let _entered = runtime.enter();
    let group = Group::new();
    let (a, b) = (clerk(&group), clerk(&group));
    let (near, far) = (a.clone(), b.clone());
    when(&a, move |_| {
        for _ in 0..3 {
            when(&far, |b| b.calls.push("sent"));
        }
        near.shared_state().shut.store(true, Ordering::Relaxed);
        near.interrupt();
    });
    runtime.wait_idle();
    let sent = call(&b, |b| b.calls.len());
    runtime.wait_idle();
    let sent = sent.wait_timeout(Duration::ZERO).unwrap_err();
    a.shared_state().shut.store(false, Ordering::Relaxed);
    a.interrupt();
    assert_eq!(sent.wait(), Ok(3));
}

/// State with turns of its own, which does something in the first.
struct Busy {
    log: Log<&'static str>,
    turns: usize,
    at_first: Option<Box<dyn FnOnce() + Send>>,
}

impl Busy {
    fn gate(&self) -> Gate {
        if self.turns > 0 { Gate::Reserved } else { Gate::Open }
    }
}

impl Interruptible for Busy {
    type SharedState = ();

    fn on_interrupt(&mut self, (): &()) -> Gate {
        self.log.push("on_interrupt");
        self.gate()
    }

    fn take_turn(&mut self, (): &()) -> Gate {
        self.log.push("turn");
        self.turns -= 1;
        if let Some(work) = self.at_first.take() {
            work();
        }
        self.gate()
    }

    fn cancel(&mut self, (): &()) {}

    fn failed(&mut self, (): &(), _: &Broken) {}
}

/// Each as the next behaviour would: not while another gate is shut, and before all that waits.
#[test]
fn g9_a_member_takes_its_own_turns_when_no_gate_is_shut() {
    for workers in [1, 2] {
        let runtime = runtime(workers, &Faults::new());
        let _entered = runtime.enter();
        let group = Group::new();
        let (other, log) = (clerk(&group), Log::new());
        let far = other.clone();
        let shut = move || {
            far.shared_state().shut.store(true, Ordering::Relaxed);
            far.interrupt();
        };
        let state = Busy { log: log.clone(), turns: 3, at_first: Some(Box::new(shut) as Box<_>) };
        let busy = group.interruptible((), |_| state);
        busy.interrupt();
        let noted = log.clone();
        runtime.wait_idle();
        when(&other, move |_| noted.push("behaviour"));
        runtime.wait_idle();
        assert_eq!(log.take(), ["on_interrupt", "turn"]);
        // It is interrupted meanwhile, and stands in line once.
        for _ in 0..2 {
            busy.interrupt();
            runtime.wait_idle();
        }
        assert_eq!(log.take(), ["on_interrupt", "on_interrupt"]);
        other.shared_state().shut.store(false, Ordering::Relaxed);
        other.interrupt();
        runtime.wait_idle();
        assert_eq!(log.take(), ["turn", "turn", "behaviour"]);
    }
}

/// More turns than others wait for.
#[test]
fn a_member_with_many_turns_leaves_the_worker_to_others() {
    const TURNS: usize = 100_000;
    let runtime = runtime(1, &Faults::new());
    let _entered = runtime.enter();
    for group in [Some(Group::new()), None] {
        let (log, outside) = (Log::new(), Log::new());
        let state = Busy { log: log.clone(), turns: TURNS, at_first: None };
        let busy = match &group {
            Some(group) => group.interruptible((), |_| state),
            None => Cown::interruptible(runtime.handle(), (), |_| state),
        };
        let (begin, seen, turns) = (busy.clone(), outside.clone(), log.clone());
        // Both wait for the one worker.
        when((), move |()| {
            begin.interrupt();
            when(&Cown::new(()), move |()| seen.push(turns.len()));
        });
        runtime.wait_idle();
        let turns = log.take().into_iter().filter(|entry| *entry == "turn").count();
        assert_eq!(turns, TURNS);
        assert!(outside.take()[0] < TURNS);
    }
}

#[test]
fn an_interruptible_member_is_told_of_a_panic() {
    everywhere_with_faults(|faults| {
        let group = Group::new();
        let (a, b) = (clerk(&group), clerk(&group));
        let far = b.clone();
        when(&a, move |_| {
            when(&far, |_| fail("in the ring"));
            when(&far, |b| b.calls.push("after"));
        });
        let faults = faults.clone();
        finally(move || {
            let b = b.into_inner().ok().unwrap();
            assert_eq!((b.panics, b.calls), (1, vec!["on_interrupt", "after"]));
            assert!(!a.is_poisoned());
            assert_eq!(faults.len(), 1);
        });
    });
}

/// Interrupts from many threads, while the group works: each is followed by a call.
#[test]
fn no_interrupt_is_lost() {
    let runtime = runtime(2, &Faults::new());
    let _entered = runtime.enter();
    let group = Group::new();
    let clerks = [clerk(&group), clerk(&group)];
    for round in 0..300 {
        for clerk in &clerks {
            clerk.shared_state().shut.store(true, Ordering::Relaxed);
            clerk.interrupt();
        }
        thread::scope(|scope| {
            for clerk in &clerks {
                scope.spawn(move || {
                    when(clerk, |clerk| clerk.calls.clear());
                    clerk.shared_state().shut.store(false, Ordering::Relaxed);
                    clerk.interrupt();
                });
            }
        });
        let both = call((&clerks[0], &clerks[1]), |_| ());
        assert!(both.wait_timeout(Duration::from_secs(30)).is_ok(), "stuck in round {round}");
    }
}

/// Code of the user that runs when a group has been let go on this thread, while another one holds
/// the group. Both then send to a member as fast as they can.
struct LetGo {
    both: Meeting,
    to: Cown<u64>,
}

/// How many messages each of the two sends.
const SENT: u64 = 50_000;

impl LetGo {
    fn of(group: &Group) -> Arc<Self> {
        Arc::new(Self { both: Meeting::of(2), to: group.cown(0) })
    }

    /// Waits for the other one, and sends.
    fn send(&self) {
        assert!(self.both.wait(), "the other one did not come");
        (0..SENT).for_each(|_| when(&self.to, |count| *count += 1));
    }

    fn assert_all_counted(&self, runtime: &Runtime) {
        runtime.wait_idle();
        assert_eq!(call(&self.to, |count| *count).wait(), Ok(2 * SENT));
    }
}

impl Wake for LetGo {
    fn wake(self: Arc<Self>) {
        self.send();
    }
}

/// The last cown that a set waits for is a member of a group, and another one belongs to a runtime
/// that is shut down: the thread that lets the group go drops the behaviour, which wakes a task.
#[test]
fn a_waker_that_runs_when_the_group_was_let_go_uses_its_queue() {
    let (runtime, ended) = (runtime(2, &Faults::new()), runtime(1, &Faults::new()));
    let lost = ended.run(|| Cown::new(()));
    drop(ended);
    let group = Group::new_in(runtime.handle());
    let (member, let_go) = (group.cown(()), LetGo::of(&group));
    let woken = Arc::clone(&let_go);
    let (woken_too, other) = (Arc::clone(&let_go), member.clone());
    when(&member, move |()| {
        let mut promise = call((&lost, &other), |_| ());
        let waker = Waker::from(woken);
        assert!(Pin::new(&mut promise).poll(&mut TaskContext::from_waker(&waker)).is_pending());
        when(&other, move |()| woken_too.send());
        // A promise that is dropped takes its waker back.
        std::mem::forget(promise);
    });
    let_go.assert_all_counted(&runtime);
}

/// The same with a set that waits for a group and a cown of a pump, of which a hook is told.
#[test]
fn a_hook_that_runs_when_the_group_was_let_go_uses_its_queue() {
    let runtime = runtime(2, &Faults::new());
    let group = Group::new_in(runtime.handle());
    let (member, let_go) = (group.cown(()), LetGo::of(&group));
    let (hooked, (tell, told)) = (Arc::clone(&let_go), mpsc::channel());
    let told_once = AtomicBool::new(false);
    let pump = Runtime::builder().on_ready(move || {
        if !told_once.swap(true, Ordering::Relaxed) {
            tell.send(()).unwrap();
            hooked.send();
        }
    });
    let pump = pump.build_pumped().unwrap();
    let pinned = {
        let _entered = pump.enter();
        Cown::new(())
    };
    let (other, sends) = (member.clone(), Arc::clone(&let_go));
    when(&member, move |()| {
        when((&pinned, &other), |_| ());
        when(&other, move |()| sends.send());
    });
    told.recv().unwrap();
    pump.run_pending();
    let_go.assert_all_counted(&runtime);
}
