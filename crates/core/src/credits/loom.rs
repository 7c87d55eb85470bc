//! Models of credits that are returned while others queue for them.

use loom::thread;

use super::{Acquire, Credits, Permit};
use crate::sched::loom::check;

fn must_be_ready(acquire: Acquire) -> Permit {
    acquire.try_wait().expect("all credits are free")
}

/// The only credit is returned while a thread queues for it: that thread gets it.
///
/// Fails without `seq_cst_accesses` on either side, and without the second `serve`.
#[test]
fn give_back_against_acquire() {
    check(|| {
        let credits = Credits::new(1);
        let permit = credits.try_acquire(1).unwrap();
        let other = thread::spawn(move || drop(permit));
        let promise = credits.acquire(1);
        other.join().unwrap();
        drop(must_be_ready(promise));
        assert_eq!(credits.available(), 1);
    });
}

/// Two threads queue, and are served one after the other.
#[test]
fn give_back_against_two_acquires() {
    check(|| {
        let credits = Credits::new(1);
        let permit = credits.try_acquire(1).unwrap();
        let other = thread::spawn(move || drop(permit));
        let (first, second) = (credits.acquire(1), credits.acquire(1));
        other.join().unwrap();
        drop(must_be_ready(first));
        drop(must_be_ready(second));
        assert_eq!(credits.available(), 1);
    });
}

/// Two threads together return what a third needs.
#[test]
fn give_back_against_give_back() {
    check(|| {
        let credits = Credits::new(2);
        let others = [1, 1].map(|amount| {
            let permit = credits.try_acquire(amount).unwrap();
            thread::spawn(move || drop(permit))
        });
        let promise = credits.acquire(2);
        others.into_iter().for_each(|other| other.join().unwrap());
        drop(must_be_ready(promise));
        assert_eq!(credits.available(), 2);
    });
}

/// The credit is returned while the thread that queues for it gives up: it is not lost.
#[test]
fn give_back_against_giving_up() {
    check(|| {
        let credits = Credits::new(1);
        let permit = credits.try_acquire(1).unwrap();
        let other = thread::spawn(move || drop(permit));
        drop(credits.acquire(1));
        other.join().unwrap();
        assert_eq!(credits.available(), 1);
    });
}

/// The limit is lifted while a thread queues: it is not left waiting.
#[test]
fn lift_against_acquire() {
    check(|| {
        let credits = Credits::new(1);
        let _permit = credits.try_acquire(1).unwrap();
        let other = {
            let credits = credits.clone();
            thread::spawn(move || credits.lift())
        };
        let promise = credits.acquire(1);
        other.join().unwrap();
        drop(must_be_ready(promise));
    });
}
