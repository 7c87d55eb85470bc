//! No number of cowns, members, behaviours or waiters is too large: here it is one that does not
//! fit into 16 bits.

use std::sync::OnceLock;

use coact::behaviour::{Overlap, Refusal};
use coact::cown::AsCown;
use coact::credits::Credits;
use coact::internals::SealedHandle;
use coact::prelude::*;
use coact::promise::Resolver;
use coact_tests::{Faults, panic_of, runtime};

const MANY: usize = 70_000;

fn cowns() -> Vec<Cown<usize>> {
    (0..MANY).map(Cown::new).collect()
}

/// What the states add up to.
const SUM: usize = MANY * (MANY - 1) / 2;

fn run(main: impl FnOnce()) {
    runtime(2, &Faults::new()).run(main);
}

#[test]
fn members_of_one_set() {
    run(|| {
        let all = cowns();
        when(&all, |mut all| all.iter_mut().for_each(|n| *n += 1));
        let sum = call(&all[..], |all| all.iter().sum::<usize>());
        assert_eq!(sum.wait(), Ok(SUM + MANY));
        let last =
            call((&all[..MANY - 1], all[MANY - 1].read()), |(rest, last)| rest.len() + *last);
        assert_eq!(last.wait(), Ok(MANY - 1 + MANY));
        assert!(try_when(&all, |mut all| all[MANY - 1] = 0).is_ok());
        assert_eq!(call(&all[MANY - 1], |n| *n).wait(), Ok(0));
    });
}

#[test]
fn readers_of_one_set() {
    run(|| {
        let all = cowns();
        let sums = [0, 1].map(|_| call(read_all(&all), |all| all.iter().sum::<usize>()));
        assert!(sums.into_iter().all(|sum| sum.wait() == Ok(SUM)));
    });
}

#[test]
fn an_overlap_of_one_set() {
    run(|| {
        let mut all = cowns();
        all.push(all[MANY - 2].clone());
        let refused = try_when(&all, |_| ()).map_err(|error| error.refusal);
        let overlap = Overlap { first: MANY - 2, second: MANY };
        assert_eq!(refused.unwrap_err(), Refusal::Overlap(overlap));
    });
}

#[test]
fn members_on_the_spot() {
    run(|| {
        let all = cowns();
        assert!(when_here(&all, |mut all| all[MANY - 1] = 7));
        assert!(when_here(read_all(&all), |all| assert_eq!(all[MANY - 1], 7)));
    });
}

#[test]
fn members_of_a_behaviour_that_waits() {
    run(|| {
        let all = cowns();
        let (go, gate) = Promise::channel();
        let held = all[MANY - 1].clone();
        when(&all[0], move |_| drop(gate));
        drop(held);
        let sum = call(&all, |all| all.iter().sum::<usize>());
        drop::<Resolver<()>>(go);
        assert_eq!(sum.wait(), Ok(SUM));
    });
}

#[test]
fn behaviours_of_a_batch() {
    run(|| {
        let (all, one) = (cowns(), Cown::new(0));
        let mut many = Batch::new();
        for cown in &all {
            many = many.when((cown, &one), |(n, one)| *one += *n);
        }
        many = many.when(&all, |mut all| all[0] = 1);
        assert_eq!(many.len(), MANY + 1);
        many.spawn();
        assert_eq!(call((&one, &all[0]), |(one, first)| (*one, *first)).wait(), Ok((SUM, 1)));
    });
}

#[test]
fn behaviours_of_a_scope() {
    run(|| {
        let all = cowns();
        let mut seen = vec![0; MANY];
        scope(|s| {
            for (cown, seen) in all.iter().zip(&mut seen) {
                s.when(cown, |n| *seen = *n);
            }
            s.when(read_all(&all), |_| ());
        });
        assert_eq!(seen.into_iter().sum::<usize>(), SUM);
    });
}

#[test]
fn members_of_a_group() {
    run(|| {
        let group = Group::new();
        let all: Vec<Cown<usize>> = (0..MANY).map(|n| group.cown(n)).collect();
        let sum = call(&all, |all| all.iter().sum::<usize>());
        assert_eq!(sum.wait(), Ok(SUM));
        let far = all.clone();
        // Through the ring.
        let again = call(&all[0], move |_| {
            far.iter().for_each(|cown| when(cown, |n| *n += 1));
            call(read_all(&far), |all| all.iter().sum::<usize>())
        });
        assert_eq!(again.wait().unwrap().wait(), Ok(SUM + MANY));
        assert!(when_here(&all, |all| assert_eq!(all.len(), MANY)));
    });
}

#[test]
fn groups_in_one_set() {
    run(|| {
        let all: Vec<Cown<usize>> = (0..MANY).map(|n| Group::new().cown(n)).collect();
        let sum = call(&all, |all| all.iter().sum::<usize>());
        assert_eq!(sum.wait(), Ok(SUM));
    });
}

#[test]
fn readers_and_writers_of_one_cown() {
    run(|| {
        let (cown, total) = (Cown::new(1_usize), Cown::new(0));
        let sums: Vec<_> = (0..MANY).map(|_| call(cown.read(), |n| *n)).collect();
        for sum in sums {
            let add = |total: &mut usize, n: Result<usize, Broken>| *total += n.unwrap();
            drop(sum.then(&total, add));
        }
        (0..MANY).for_each(|_| when(&cown, |n| *n += 1));
        assert_eq!(call(&cown, |n| *n).wait(), Ok(MANY + 1));
        coact_tests::finally(move || assert_eq!(total.into_inner(), Ok(MANY)));
    });
}

#[test]
fn credits_and_those_who_wait_for_them() {
    let credits = Credits::new(MANY);
    let all = credits.try_acquire(MANY).unwrap();
    let waiting: Vec<_> = (0..MANY).map(|_| credits.acquire(1)).collect();
    drop(all);
    let permits: Vec<_> = waiting.into_iter().map(futures::executor::block_on).collect();
    assert_eq!((permits.len(), credits.available()), (MANY, 0));
    drop(permits);
    assert_eq!(credits.available(), MANY);
}

#[test]
fn a_limit_without_end_is_lifted_and_credits_come_back() {
    let credits = Credits::new(usize::MAX);
    let limit = credits.limit();
    assert!(limit >= usize::MAX / 4);
    let all = credits.try_acquire(limit).unwrap();
    credits.lift();
    drop(all);
    assert_eq!(credits.acquire_blocking(limit).amount(), limit);
    assert!(credits.available() >= limit);
}

#[test]
fn those_who_give_up_waiting_for_credits() {
    let credits = Credits::new(1);
    let all = credits.try_acquire(1).unwrap();
    let first = credits.acquire(1);
    (0..MANY).for_each(|_| drop(credits.acquire(1)));
    let mut waiting: Vec<_> = (0..MANY).map(|_| credits.acquire(1)).collect();
    let last = waiting.pop().unwrap();
    waiting.into_iter().rev().for_each(drop);
    drop(all);
    drop(futures::executor::block_on(first));
    drop(futures::executor::block_on(last));
    assert_eq!(credits.available(), 1);
}

/// A handle that takes no room: so a slice can have more of them than memory could hold.
#[derive(Clone, Copy)]
struct Everywhere;

impl SealedHandle for Everywhere {}

impl AsCown for Everywhere {
    type State = ();
    type View = ();

    fn as_cown(&self) -> &Cown<()> {
        static COWN: OnceLock<Cown<()>> = OnceLock::new();
        COWN.get_or_init(|| Cown::new(()))
    }

    fn view(state: &()) -> &() {
        state
    }

    fn view_mut(state: &mut ()) -> &mut () {
        state
    }
}

#[test]
fn s6_more_members_than_memory_could_hold_are_refused() {
    let all = &[Everywhere; 1 << 32];
    let refused = try_when(all, |_| ()).unwrap_err();
    assert_eq!(refused.refusal, Refusal::TooMany { members: 1 << 32 });
    let refused = Batch::new().try_when(all, |_| ()).unwrap_err();
    assert_eq!(refused.refusal, Refusal::TooMany { members: 1 << 32 });
    let message = "a behaviour can name up to 4294967295 cowns, not 4294967296";
    assert_eq!(panic_of(|| when(all, |_| ())), message);
    assert_eq!(panic_of(|| drop(call(all, |_| ()))), message);
    assert_eq!(panic_of(|| when_here(all, |_| ())), message);
    assert_eq!(panic_of(|| scope(|s| s.when(all, |_| ()))), message);
    let promise = call((), |()| ());
    assert_eq!(panic_of(|| drop(promise.then(all, |_, _| ()))), message);
}
