//! If behaviour b is spawned before b' and their cown sets overlap, b runs before b'. Spawning is
//! synchronous, so order is causal.

use std::sync::mpsc;
use std::thread;

use coact::prelude::*;
use coact_tests::{Faults, Journal, everywhere, runtime};

#[test]
fn o1_behaviours_on_one_cown_run_in_the_order_of_spawning() {
    everywhere(|| {
        let log = Cown::new(Vec::new());
        (0..300).for_each(|n| when(&log, move |log| log.push(n)));
        assert_eq!(call(&log, |log| log.clone()).wait().unwrap(), (0..300).collect::<Vec<_>>());
    });
}

#[test]
fn o1_one_common_cown_is_enough() {
    everywhere(|| {
        let journal = Journal::new();
        let [a, b, c, d] = [(); 4].map(Cown::new);
        let note = |name| {
            let journal = journal.clone();
            move || journal.note(name)
        };
        let [first, second, third] = ["first", "second", "third"].map(note);
        when((&a, &b), move |_| first());
        when((&c, &b), move |_| second());
        when((&d, &c), move |_| third());
        call([&a, &b, &c, &d], |_| ()).wait().unwrap();
        journal.assert_chain(&["first", "second", "third"]);
    });
}

#[test]
fn o1_single_and_multiple_requests_share_one_order() {
    everywhere(|| {
        let (log, other) = (Cown::new(Vec::new()), Cown::new(()));
        for n in (0..60).step_by(4) {
            when(&log, move |log| log.push(n));
            when((&other, &log), move |(_, log)| log.push(n + 1));
            when(log.checked(), move |log| log.unwrap().push(n + 2));
            Batch::new().when(&log, move |log| log.push(n + 3)).spawn();
        }
        assert_eq!(call(&log, |log| log.clone()).wait().unwrap(), (0..60).collect::<Vec<_>>());
    });
}

#[test]
fn o2_what_a_behaviour_spawns_comes_after_what_was_spawned_before_it() {
    everywhere(|| {
        let (log, other) = (Cown::new(Vec::new()), Cown::new(()));
        let far = log.clone();
        when(&log, |log| log.push(1));
        let nested = call(&other, move |_| when(&far, |log| log.push(2)));
        nested.wait().unwrap();
        assert_eq!(call(&log, |log| log.clone()).wait(), Ok(vec![1, 2]));
    });
}

/// b1 happens before b2, b1 spawned on x, b2 spawns on x: in this order.
#[test]
fn o2_order_is_inherited_by_what_is_spawned() {
    everywhere(|| {
        let (chain, log) = (Cown::new(()), Cown::new(Vec::new()));
        for n in 0..50 {
            let log = log.clone();
            when(&chain, move |_| when(&log, move |log| log.push(n)));
        }
        call(&chain, |_| ()).wait().unwrap();
        assert_eq!(call(&log, |log| log.clone()).wait().unwrap(), (0..50).collect::<Vec<_>>());
    });
}

#[test]
fn o2_order_passes_through_several_cowns() {
    everywhere(|| {
        let (a, b, log) = (Cown::new(()), Cown::new(()), Cown::new(Vec::new()));
        let (far_b, far_log) = (b.clone(), log.clone());
        // Spawns on the log, then on b; what runs on b after that spawns on the log, too.
        when(&a, move |_| {
            when(&far_log, |log| log.push("direct"));
            when(&far_b, move |_| when(&far_log, |log| log.push("through b")));
        });
        call(&a, |_| ()).wait().unwrap();
        call(&b, |_| ()).wait().unwrap();
        assert_eq!(call(&log, |log| log.clone()).wait(), Ok(vec!["direct", "through b"]));
    });
}

#[test]
fn o1_a_behaviour_on_the_spawners_own_cown_runs_after_it() {
    everywhere(|| {
        let (journal, cown) = (Journal::new(), Cown::new(()));
        let (outer, inner, again) = (journal.clone(), journal.clone(), cown.clone());
        let nested = call(&cown, move |_| {
            outer.body("outer", || call(&again, move |_| inner.note("inner")))
        });
        nested.wait().unwrap().wait().unwrap();
        journal.assert_before("outer", "inner");
    });
}

/// Each thread's behaviours keep their order, whatever others bring in between.
#[test]
fn o2_each_threads_order_is_kept() {
    const THREADS: usize = 3;
    const EACH: usize = 500;
    let runtime = runtime(2, &Faults::new());
    let log = runtime.run(|| {
        let (log, other) = (Cown::new(Vec::new()), Cown::new(()));
        thread::scope(|scope| {
            for thread in 0..THREADS {
                let (log, other) = (&log, &other);
                scope.spawn(move || {
                    for n in 0..EACH {
                        match n % 3 {
                            0 => when((log, other), move |(log, _)| log.push((thread, n))),
                            _ => when(log, move |log| log.push((thread, n))),
                        }
                    }
                });
            }
        });
        log
    });
    let log = log.into_inner().unwrap();
    for thread in 0..THREADS {
        let mine = log.iter().filter(|(by, _)| *by == thread).map(|(_, n)| *n);
        assert!(mine.eq(0..EACH), "the order of thread {thread}");
    }
}

/// What one thread has spawned comes before what another spawns once it has heard of it.
#[test]
fn o2_order_is_causal_across_threads() {
    let runtime = runtime(2, &Faults::new());
    let log = runtime.run(|| {
        let (a, b, log) = (Cown::new(()), Cown::new(()), Cown::new(Vec::new()));
        let (tell, told) = mpsc::channel();
        thread::scope(|scope| {
            let (a, b, log) = (&a, &b, &log);
            scope.spawn(move || {
                for n in 0..200 {
                    when((a, log), move |(_, log)| log.push(2 * n));
                    tell.send(n).unwrap();
                }
            });
            scope.spawn(move || {
                for n in told {
                    when((b, log), move |(_, log)| log.push(2 * n + 1));
                }
            });
        });
        log
    });
    let log = log.into_inner().unwrap();
    for n in 0..200 {
        let place = |entry| log.iter().position(|found| *found == entry).unwrap();
        assert!(place(2 * n) < place(2 * n + 1));
    }
}

#[test]
fn o2_order_is_causal_through_promises() {
    everywhere(|| {
        let (a, log) = (Cown::new(()), Cown::new(Vec::new()));
        for n in 0..20 {
            let far = log.clone();
            call(&a, move |_| when(&far, move |log| log.push(n))).wait().unwrap();
        }
        assert_eq!(call(&log, |log| log.clone()).wait().unwrap(), (0..20).collect::<Vec<_>>());
    });
}
