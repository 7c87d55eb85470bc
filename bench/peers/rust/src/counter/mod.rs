//! Producers that add to one counter, which is then asked for the sum.

mod actix;
mod common;
mod crossbeam;
mod kameo;
mod mutex;
mod ractor;
mod tokio;

use coact_bench_workloads::Way;
use common::Size;

type StdMutex = std::sync::Mutex<u64>;

type ParkingMutex = parking_lot::Mutex<u64>;

type TokioMutex = ::tokio::sync::Mutex<u64>;

const TWO: &[&str] = &["two-producers"];

const TWENTY: &[&str] = &["many-to-one"];

const SPAWNED: &[&str] = &["two-producers-spawned", "many-to-one-spawned", "one-cown"];

const COUNTERS: &[&str] = &["counter-1", "counter-2", "counter-4", "counter-8"];

const MAILBOX: &[&str] = &["mailbox-n1"];

/// Who does it. Where twenty threads send, a part of it is enough: a sender that the system has
/// interrupted stalls tokio's receiver, on which kameo's and ractor's stand, and what waits in
/// boxes at actix fills the memory.
pub const WAYS: &[Way] = &[
    Way::new(COUNTERS, "tokio", "unbounded mpsc into a task", |given| {
        tokio::unbounded(given, Size::counter(given)?)
    }),
    Way::new(COUNTERS, "kameo", "`tell` without waiting", |given| {
        kameo::run(given, Size::counter(given)?)
    }),
    Way::new(COUNTERS, "ractor", "`cast`", |given| ractor::run(given, Size::counter(given)?)),
    Way::new(COUNTERS, "actix", "`do_send`", |given| actix::run(Size::counter(given)?)),
    Way::new(COUNTERS, "crossbeam", "unbounded channel into a thread", |given| {
        Ok(crossbeam::unbounded(Size::counter(given)?))
    }),
    Way::new(COUNTERS, "mutex", "a std mutex around the counter", |given| {
        Ok(mutex::run::<StdMutex>(Size::counter(given)?))
    }),
    Way::new(COUNTERS, "mutex-parking", "a parking_lot mutex around the counter", |given| {
        Ok(mutex::run::<ParkingMutex>(Size::counter(given)?))
    }),
    Way::new(COUNTERS, "mutex-tokio", "a tokio mutex around the counter", |given| {
        Ok(mutex::run::<TokioMutex>(Size::counter(given)?))
    }),
    Way::new(MAILBOX, "tokio", "unbounded mpsc into a task", |given| {
        tokio::unbounded(given, Size::mailbox(given)?)
    })
    .share(10),
    Way::new(MAILBOX, "tokio-bounded", "mpsc of 1,024 into a task", |given| {
        tokio::bounded(given, Size::mailbox(given)?)
    })
    .share(10),
    Way::new(MAILBOX, "kameo", "`tell` without waiting", |given| {
        kameo::run(given, Size::mailbox(given)?)
    })
    .share(10),
    Way::new(MAILBOX, "ractor", "`cast`", |given| ractor::run(given, Size::mailbox(given)?))
        .share(10),
    Way::new(MAILBOX, "actix", "`do_send`", |given| actix::run(Size::mailbox(given)?)).share(10),
    Way::new(MAILBOX, "crossbeam", "unbounded channel into a thread", |given| {
        Ok(crossbeam::unbounded(Size::mailbox(given)?))
    }),
    Way::new(MAILBOX, "crossbeam-bounded", "channel of 1,024 into a thread", |given| {
        Ok(crossbeam::bounded(Size::mailbox(given)?))
    }),
    Way::new(TWO, "tokio", "unbounded mpsc into a task", |given| {
        tokio::unbounded(given, Size::micro(given)?)
    }),
    Way::new(TWENTY, "tokio", "unbounded mpsc into a task", |given| {
        tokio::unbounded(given, Size::micro(given)?)
    })
    .share(10),
    Way::new(TWENTY, "tokio-bounded", "mpsc of 1,024 into a task", |given| {
        tokio::bounded(given, Size::micro(given)?)
    })
    .share(10),
    Way::new(SPAWNED, "tokio", "tasks, unbounded mpsc into another", |given| {
        tokio::spawned(given, Size::micro(given)?)
    }),
    Way::new(TWO, "crossbeam", "unbounded channel into a thread", |given| {
        Ok(crossbeam::unbounded(Size::micro(given)?))
    }),
    Way::new(TWENTY, "crossbeam", "unbounded channel into a thread", |given| {
        Ok(crossbeam::unbounded(Size::micro(given)?))
    }),
    Way::new(TWENTY, "crossbeam-bounded", "channel of 1,024 into a thread", |given| {
        Ok(crossbeam::bounded(Size::micro(given)?))
    }),
    Way::new(TWO, "mutex", "a std mutex around the counter", |given| {
        Ok(mutex::run::<StdMutex>(Size::micro(given)?))
    }),
    Way::new(TWENTY, "mutex", "a std mutex around the counter", |given| {
        Ok(mutex::run::<StdMutex>(Size::micro(given)?))
    }),
];
