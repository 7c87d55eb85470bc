//! A program under test: the deterministic mode runs it on many schedules, finds the one that
//! breaks it, and runs that one again from what it printed.
//!
//! In a test of yours this is `sim::check(|| { .. })`; when it fails, the report says which
//! environment variables run the failing schedule again.

use coact::prelude::*;
use coact::sim::{Bounds, Config, Method, Sim};

/// Pays twice from one account, looking before each time whether there is enough. But the look and
/// the payment are two behaviours, and something may come between them.
fn pay_twice() {
    let account = Cown::new(100_i64);
    for _ in 0..2 {
        let again = account.clone();
        when(&account, move |balance| {
            if *balance >= 60 {
                when(&again, |balance| {
                    *balance -= 60;
                    assert!(*balance >= 0, "overdrawn: {balance}");
                });
            }
        });
    }
}

/// The same as it should be: one behaviour looks and pays.
fn pay_twice_atomically() {
    let account = Cown::new(100_i64);
    for _ in 0..2 {
        when(&account, |balance| {
            if *balance >= 60 {
                *balance -= 60;
            }
            assert!(*balance >= 0, "overdrawn: {balance}");
        });
    }
}

fn main() {
    // Every schedule of so small a program can be tried.
    let every_schedule = || Config::new().method(Method::Dfs(Bounds::new())).runs(10_000);
    let failure = Sim::new().config(every_schedule()).run(pay_twice).expect_err("there is a flaw");
    println!("{failure}\n");
    assert!(failure.cause().contains("overdrawn"));

    // What was printed is all that is needed to see it again.
    let printed = failure.schedule().to_string();
    let replay = Method::Replay(printed.parse().expect("it was printed by a schedule"));
    let again = Sim::new().config(Config::new().method(replay)).run(pay_twice).unwrap_err();
    assert_eq!(again.schedule(), failure.schedule());

    Sim::new().config(every_schedule()).check(pay_twice_atomically);
    println!("the atomic program holds on all schedules");
}
