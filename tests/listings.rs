//! Listings 1 to 11 of *When Concurrency Matters: Behaviour-Oriented Concurrency* (OOPSLA 2023),
//! with the order that the paper claims for each.

use coact::prelude::*;
use coact_tests::{Faults, Journal, Meeting, everywhere, runtime};

/// The account of §2.2.
#[derive(Debug, Default)]
struct Account {
    balance: i64,
    frozen: bool,
}

impl Account {
    fn with(balance: i64) -> Cown<Self> {
        Cown::new(Self { balance, frozen: false })
    }
}

fn balance(account: &Cown<Account>) -> i64 {
    call(account.read(), |account| account.balance).wait().unwrap()
}

/// Listing 1, "Creating cowns to protect data". That line 6 is refused is shown by
/// `ui/a3_state_outside.rs`.
#[test]
fn listing_1_plain_data_is_reached_at_once_and_a_cown_only_in_a_behaviour() {
    everywhere(|| {
        let mut first = Account::default();
        first.balance -= 100;
        assert_eq!(first.balance, -100);

        let second = Cown::new(Account::default());
        when(&second, |account| account.balance += 100);
        assert_eq!(balance(&second), 100);
    });
}

mod listing_2 {
    use super::*;

    /// "Scheduling work on each account".
    pub(super) fn transfer(src: &Cown<Account>, dst: &Cown<Account>, amount: i64) {
        when(src, move |src| src.balance -= amount);
        when(dst, move |dst| dst.balance += amount);
    }

    #[test]
    fn both_halves_run() {
        everywhere(|| {
            let (src, dst) = (Account::with(10), Account::with(0));
            transfer(&src, &dst, 15);
            assert_eq!((balance(&src), balance(&dst)), (-5, 15));
        });
    }

    /// "The withdraw behaviour might happen before, at the same time as, or after the deposit."
    #[test]
    fn the_halves_may_run_at_the_same_time() {
        let runtime = runtime(2, &Faults::new());
        let met = runtime.run(|| {
            let (src, dst, both) = (Account::with(10), Account::with(0), Meeting::of(2));
            let other = both.clone();
            (call(&src, move |_| both.wait()), call(&dst, move |_| other.wait()))
        });
        assert_eq!((met.0.wait(), met.1.wait()), (Ok(true), Ok(true)));
    }

    /// §2.6: "If src and dst are aliases, then withdraw will complete before deposit."
    #[test]
    fn with_aliases_the_withdrawal_comes_first() {
        everywhere(|| {
            let (journal, account) = (Journal::new(), Account::with(10));
            let (src, dst) = (account.clone(), account.clone());
            let (first, second) = (journal.clone(), journal.clone());
            when(&src, move |src| first.body("withdraw", || src.balance -= 1));
            when(&dst, move |dst| second.body("deposit", || dst.balance += 1));
            assert_eq!(balance(&account), 10);
            journal.assert_before("withdraw", "deposit");
        });
    }
}

mod listing_3 {
    use super::*;

    /// "Nesting spawning behaviours".
    pub(super) fn transfer(src: &Cown<Account>, dst: &Cown<Account>, amount: i64) {
        let dst = dst.clone();
        when(src, move |src| {
            if src.balance >= amount {
                src.balance -= amount;
                when(&dst, move |dst| dst.balance += amount);
            }
        });
    }

    #[test]
    fn the_deposit_depends_on_the_withdrawal() {
        everywhere(|| {
            let (src, dst) = (Account::with(10), Account::with(0));
            transfer(&src, &dst, 7);
            transfer(&src, &dst, 7);
            // The withdrawals are done once this is, and so the deposits are spawned.
            assert_eq!(balance(&src), 3);
            assert_eq!(balance(&dst), 7);
        });
    }

    /// "The outer behaviour terminates immediately, without waiting for the inner one."
    #[test]
    fn the_outer_behaviour_does_not_wait_for_the_inner() {
        everywhere(|| {
            let journal = Journal::new();
            let account = Account::with(0);
            let (outer, inner, again) = (journal.clone(), journal.clone(), account.clone());
            // The inner one needs the cown that the outer one holds, so waiting would be for ever.
            let spawned = call(&account, move |_| {
                outer.body("outer", || call(&again, move |_| inner.note("inner")))
            });
            spawned.wait().unwrap().wait().unwrap();
            journal.assert_before("outer", "inner");
        });
    }

    /// Listing 4, "Deadlock-free transfers".
    #[test]
    fn listing_4_opposite_transfers_do_not_deadlock() {
        everywhere(|| {
            let (src, dst) = (Account::with(100), Account::with(100));
            transfer(&src, &dst, 1);
            transfer(&dst, &src, 2);
            let withdrawn = call((&src, &dst), |_| ());
            withdrawn.wait().unwrap();
            assert_eq!((balance(&src), balance(&dst)), (101, 99));
        });
    }

    /// Listing 4: "the two withdraw behaviours may run in parallel".
    #[test]
    fn listing_4_the_withdrawals_may_run_at_the_same_time() {
        let runtime = runtime(2, &Faults::new());
        let met = runtime.run(|| {
            let (src, dst, both) = (Account::with(1), Account::with(1), Meeting::of(2));
            let nested = |from: &Cown<Account>, to: &Cown<Account>| {
                let (to, both) = (to.clone(), both.clone());
                call(from, move |_| {
                    let met = both.wait();
                    (met, call(&to, |to| to.balance += 1))
                })
            };
            [nested(&src, &dst), nested(&dst, &src)]
        });
        for withdrawal in met {
            let (met, deposit) = withdrawal.wait().unwrap();
            assert!(met);
            deposit.wait().unwrap();
        }
    }
}

/// Listing 5, "Spawn a behaviour that requires both accounts".
fn transfer(src: &Cown<Account>, dst: &Cown<Account>, amount: i64) {
    when((src, dst), move |(src, dst)| {
        if src.balance >= amount && !src.frozen && !dst.frozen {
            src.balance -= amount;
            dst.balance += amount;
        }
    });
}

#[test]
fn listing_5_a_transfer_looks_at_both_accounts_in_one_step() {
    everywhere(|| {
        let (src, dst) = (Account::with(10), Account::with(0));
        transfer(&src, &dst, 11);
        assert_eq!((balance(&src), balance(&dst)), (10, 0));
        transfer(&src, &dst, 10);
        assert_eq!((balance(&src), balance(&dst)), (0, 10));
        when(&src, |src| src.frozen = true);
        transfer(&dst, &src, 5);
        assert_eq!((balance(&src), balance(&dst)), (0, 10));
    });
}

/// Listing 5, against Listing 3: the destination cannot be frozen between the look and the deposit,
/// so no money is ever in transit.
#[test]
fn listing_5_no_money_is_on_its_way() {
    everywhere(|| {
        let accounts = [Account::with(100), Account::with(100)];
        let mut sums = Vec::new();
        for round in 0..20 {
            transfer(&accounts[round % 2], &accounts[1 - round % 2], 30);
            sums.push(call([accounts[0].read(), accounts[1].read()], |[a, b]| {
                a.balance + b.balance
            }));
        }
        for sum in sums {
            assert_eq!(sum.wait(), Ok(200));
        }
    });
}

/// Listing 6, "Statically Ordered": the second transfer spends what the first brings.
#[test]
fn listing_6_the_second_transfer_sees_the_first() {
    everywhere(|| {
        let [s1, s2, s4] = [Account::with(10), Account::with(10), Account::with(0)];
        transfer(&s1, &s2, 10);
        transfer(&s2, &s4, 20);
        assert_eq!([balance(&s1), balance(&s2), balance(&s4)], [0, 0, 20]);
    });
}

/// Listing 7, "Dynamically Ordered": with `s2` and `s3` the same cown, as in Listing 6.
#[test]
fn listing_7_aliases_are_ordered() {
    fn pay(s1: &Cown<Account>, s2: &Cown<Account>, s3: &Cown<Account>, s4: &Cown<Account>) {
        transfer(s1, s2, 10);
        transfer(s3, s4, 20);
    }
    everywhere(|| {
        let [s1, s2, s4] = [Account::with(10), Account::with(10), Account::with(0)];
        pay(&s1, &s2, &s2.clone(), &s4);
        assert_eq!([balance(&s1), balance(&s2), balance(&s4)], [0, 0, 20]);
        let [s1, s2, s3, s4] = [10, 10, 10, 0].map(Account::with);
        pay(&s1, &s2, &s3, &s4);
        let after = [balance(&s1), balance(&s2), balance(&s3), balance(&s4)];
        assert_eq!(after, [0, 20, 10, 0]);
    });
}

/// Listing 7: four different cowns "may take place in any order, and may overlap".
#[test]
fn listing_7_four_cowns_are_not_ordered() {
    let runtime = runtime(2, &Faults::new());
    let met = runtime.run(|| {
        let [s1, s2, s3, s4] = [(); 4].map(|()| Account::with(0));
        let both = Meeting::of(2);
        let other = both.clone();
        [call((&s1, &s2), move |_| both.wait()), call((&s3, &s4), move |_| other.wait())]
    });
    assert_eq!(met.map(Promise::wait), [Ok(true), Ok(true)]);
}

/// Listing 8, "Creating an accurate log": the green arrows of its figure.
#[test]
fn listing_8_the_log_is_accurate() {
    everywhere(|| {
        let journal = Journal::new();
        let (src, dst) = (Account::with(0), Account::with(0));
        let log = Cown::new(Vec::new());
        let write = |log: &mut Vec<&'static str>, journal: &Journal, name, line| {
            journal.body(name, || log.push(line));
        };

        let j = journal.clone();
        when(&log, move |log| write(log, &j, "b1", "begin"));
        let (j, l) = (journal.clone(), log.clone());
        when(&src, move |_| {
            j.clone().body("b2", || when(&l, move |log| write(log, &j, "b3", "deposit")));
        });
        let (j, l) = (journal.clone(), log.clone());
        when(&dst, move |_| {
            j.clone().body("b4", || when(&l, move |log| write(log, &j, "b5", "freeze")));
        });
        let (j, l) = (journal.clone(), log.clone());
        when((&src, &dst), move |_| {
            j.clone().body("b6", || when(&l, move |log| write(log, &j, "b7", "transfer")));
        });

        call((&src, &dst), |_| ()).wait().unwrap();
        let lines = call(&log, std::mem::take).wait().unwrap();
        assert_eq!((lines[0], lines[3], lines.len()), ("begin", "transfer", 4));
        for (first, second) in [
            ("b2", "b6"),
            ("b4", "b6"),
            ("b1", "b3"),
            ("b1", "b5"),
            ("b1", "b7"),
            ("b3", "b7"),
            ("b5", "b7"),
        ] {
            journal.assert_before(first, second);
        }
    });
}

/// Listing 9, "Sequential scheduling": each philosopher shares a fork with the one before.
#[test]
fn listing_9_neighbours_one_after_the_other() {
    everywhere(|| {
        let journal = Journal::new();
        let [f1, f2, f3, f4] = [(); 4].map(Cown::new);
        for (name, left, right) in
            [("b1", &f1, &f2), ("b2", &f2, &f3), ("b3", &f3, &f4), ("b4", &f4, &f1)]
        {
            let journal = journal.clone();
            when((left, right), move |_| journal.note(name));
        }
        call([&f1, &f2, &f3, &f4], |_| ()).wait().unwrap();
        journal.assert_chain(&["b1", "b2", "b3", "b4"]);
    });
}

/// Listing 10, "Alternating scheduling": two eat at the same time, and then the other two.
#[test]
fn listing_10_opposites_at_the_same_time() {
    let runtime = runtime(2, &Faults::new());
    let journal = Journal::new();
    let met = runtime.run(|| {
        let [f1, f2, f3, f4] = [(); 4].map(Cown::new);
        let (first, second) = (Meeting::of(2), Meeting::of(2));
        let eat = |name, left: &Cown<()>, right: &Cown<()>, table: &Meeting| {
            let (journal, table) = (journal.clone(), table.clone());
            call((left, right), move |_| journal.body(name, || table.wait()))
        };
        [
            eat("b1", &f1, &f2, &first),
            eat("b3", &f3, &f4, &first),
            eat("b2", &f2, &f3, &second),
            eat("b4", &f4, &f1, &second),
        ]
    });
    assert_eq!(met.map(Promise::wait), [(); 4].map(|()| Ok(true)));
    for (first, second) in [("b1", "b2"), ("b1", "b4"), ("b3", "b2"), ("b3", "b4")] {
        journal.assert_before(first, second);
    }
}

/// Listing 11, "Example of ordering", and Fig. 2: the edges of its dependency graph.
#[test]
fn listing_11_the_dependency_graph() {
    everywhere(|| {
        let journal = Journal::new();
        let [c1, c2, c3] = [(); 3].map(Cown::new);
        let note = |name| {
            let journal = journal.clone();
            move || journal.note(name)
        };
        let [b0, b1, b2, b3, b4, b5] = ["b0", "b1", "b2", "b3", "b4", "b5"].map(note);
        when(&c1, move |_| b0());
        when(&c3, move |_| b1());
        when((&c1, &c2), move |_| b2());
        when(&c1, move |_| b3());
        when((&c2, &c3), move |_| b4());
        when(&c3, move |_| b5());
        call([&c1, &c2, &c3], |_| ()).wait().unwrap();
        for (first, second) in
            [("b0", "b2"), ("b1", "b4"), ("b2", "b3"), ("b2", "b4"), ("b4", "b5")]
        {
            journal.assert_before(first, second);
        }
    });
}

/// Fig. 2: `b0` and `b1`, and later `b3` and `b4`, have no edge between them.
#[test]
fn listing_11_what_has_no_edge_may_run_at_the_same_time() {
    let runtime = runtime(2, &Faults::new());
    let met = runtime.run(|| {
        let [c1, c2, c3] = [(); 3].map(Cown::new);
        let (first, second) = (Meeting::of(2), Meeting::of(2));
        let attend = |meeting: &Meeting| {
            let meeting = meeting.clone();
            move || meeting.wait()
        };
        let (b0, b1, b3, b4) = (attend(&first), attend(&first), attend(&second), attend(&second));
        let early = [call(&c1, move |_| b0()), call(&c3, move |_| b1())];
        when((&c1, &c2), |_| ());
        let late = [call(&c1, move |_| b3()), call((&c2, &c3), move |_| b4())];
        when(&c3, |_| ());
        early.into_iter().chain(late).collect::<Vec<_>>()
    });
    for promise in met {
        assert_eq!(promise.wait(), Ok(true));
    }
}
