//! A behaviour holds all of its cowns from start to end; it is never seen half done. It acquires
//! nothing more while it runs, and releases nothing early.

use coact::prelude::*;
use coact_tests::{Faults, Journal, Meeting, everywhere, runtime};

#[test]
fn a1_nobody_sees_a_behaviour_half_done() {
    everywhere(|| {
        let (a, b) = (Cown::new(0), Cown::new(0));
        let mut looks = Vec::new();
        for n in 1..50 {
            when((&a, &b), move |(a, b)| {
                *a = n;
                *b = n;
            });
            looks.push(call((b.read(), a.read()), |(b, a)| (*a, *b)));
            looks.push(call((&a, &b), |(a, b)| (*a, *b)));
        }
        for look in looks {
            let (a, b) = look.wait().unwrap();
            assert_eq!(a, b);
        }
    });
}

#[test]
fn a4_no_two_behaviours_have_a_cown_at_the_same_time() {
    everywhere(|| {
        let journal = Journal::new();
        let (a, b, c) = (Cown::new(()), Cown::new(()), Cown::new(()));
        let body = |name| {
            let journal = journal.clone();
            move || journal.body(name, std::thread::yield_now)
        };
        let [ab, bc, ca, abc] = ["ab", "bc", "ca", "abc"].map(body);
        when((&a, &b), move |_| ab());
        when((&b, &c), move |_| bc());
        when((&c, &a), move |_| ca());
        when((&a, &b, &c), move |_| abc());
        call([&a, &b, &c], |_| ()).wait().unwrap();
        journal.assert_chain(&["ab", "bc", "ca", "abc"]);
    });
}

/// While a behaviour runs, even after its last use of a cown, nothing else on any of its cowns
/// runs.
#[test]
fn a2_nothing_is_released_early() {
    everywhere(|| {
        let journal = Journal::new();
        let (a, b) = (Cown::new(()), Cown::new(()));
        let (outer, far_a, far_b) = (journal.clone(), a.clone(), b.clone());
        let spawned = call((&a, &b), move |_| {
            let on_a = outer.clone();
            let on_b = outer.clone();
            outer.body("outer", || {
                let spawned = [
                    call(&far_a, move |_| on_a.note("on a")),
                    call(&far_b, move |_| on_b.note("on b")),
                ];
                (0..100).for_each(|_| std::thread::yield_now());
                spawned
            })
        });
        for nested in spawned.wait().unwrap() {
            nested.wait().unwrap();
        }
        journal.assert_before("outer", "on a");
        journal.assert_before("outer", "on b");
    });
}

/// In the middle of its body it meets a behaviour on a cown that it has named and spawned on, and
/// does not hold.
#[test]
fn a2_nothing_more_is_acquired_by_a_behaviour_that_runs() {
    let runtime = runtime(2, &Faults::new());
    let met = runtime.run(|| {
        let (held, other, both) = (Cown::new(()), Cown::new(()), Meeting::of(2));
        let here = both.clone();
        call(&held, move |()| {
            let there = call(&other, move |()| both.wait());
            (here.wait(), there)
        })
    });
    let (here, there) = met.wait().unwrap();
    assert_eq!((here, there.wait()), (true, Ok(true)));
}

#[test]
fn a5_transfers_keep_the_sum_whatever_stands_between() {
    everywhere(|| {
        let accounts: Vec<Cown<i64>> = (0..6).map(|_| Cown::new(100)).collect();
        let mut sums = Vec::new();
        for n in 0..120_usize {
            let (from, to) = (&accounts[n * 5 % 6], &accounts[(n * 5 + 1 + n % 5) % 6]);
            when((from, to), move |(from, to)| {
                *from -= n as i64;
                *to += n as i64;
            });
            if n % 10 == 0 {
                sums.push(call(read_all(&accounts), |all| all.iter().sum::<i64>()));
            }
        }
        for sum in sums {
            assert_eq!(sum.wait(), Ok(600));
        }
    });
}
