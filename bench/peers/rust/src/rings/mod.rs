//! Tokens that go round in rings; a ring of two is a pair that plays ping-pong.

mod actix;
mod crossbeam;
mod kameo;
mod ractor;
mod tokio;

use coact_bench_workloads::Way;
use coact_bench_workloads::work::rings::RingSizes;

const COWNS: &[&str] = &["cown-ring", "cown-pairs"];

const COWNS_IN_BULK: &[&str] = &["cown-pairs-bulk"];

const NFOLD: &[&str] = &["ring-nfold-100", "ring-nfold-1000", "ring-nfold-10000"];

const GROUPED: &[&str] =
    &["pingpong-grouped-100", "pingpong-grouped-1000", "pingpong-grouped-10000"];

const BULK: &[&str] = &["pingpong-bulk-100", "pingpong-bulk-1000", "pingpong-bulk-10000"];

/// Who does it. A part of it is enough where a hop wakes a thread.
pub const WAYS: &[Way] = &[
    Way::new(NFOLD, "tokio", "a task and an unbounded mpsc a node", |given| {
        tokio::run(given, RingSizes::nfold(given)?)
    }),
    Way::new(NFOLD, "kameo", "an actor a node, `tell` without waiting", |given| {
        kameo::run(given, RingSizes::nfold(given)?)
    }),
    Way::new(NFOLD, "ractor", "an actor a node, `cast`", |given| {
        ractor::run(given, RingSizes::nfold(given)?)
    }),
    Way::new(NFOLD, "actix", "an actor a node, all on one arbiter, `do_send`", |given| {
        Ok(actix::together(1, RingSizes::nfold(given)?))
    }),
    Way::new(NFOLD, "actix-arbiters", "a ring an arbiter, by turns, `do_send`", |given| {
        Ok(actix::together(given.workers()?, RingSizes::nfold(given)?))
    }),
    Way::new(GROUPED, "tokio", "a task and an unbounded mpsc a node", |given| {
        tokio::run(given, RingSizes::pairs(given)?)
    }),
    Way::new(GROUPED, "kameo", "an actor a node, `tell` without waiting", |given| {
        kameo::run(given, RingSizes::pairs(given)?)
    }),
    Way::new(GROUPED, "ractor", "an actor a node, `cast`", |given| {
        ractor::run(given, RingSizes::pairs(given)?)
    }),
    Way::new(GROUPED, "actix", "an actor a node, all on one arbiter, `do_send`", |given| {
        Ok(actix::together(1, RingSizes::pairs(given)?))
    }),
    Way::new(GROUPED, "actix-arbiters", "the two on different arbiters, `do_send`", |given| {
        Ok(actix::apart(given.workers()?, RingSizes::pairs(given)?))
    }),
    Way::new(BULK, "tokio", "a task and an unbounded mpsc a node", |given| {
        tokio::run(given, RingSizes::bulk(given)?)
    }),
    Way::new(BULK, "kameo", "an actor a node, `tell` without waiting", |given| {
        kameo::run(given, RingSizes::bulk(given)?)
    }),
    Way::new(BULK, "ractor", "an actor a node, `cast`", |given| {
        ractor::run(given, RingSizes::bulk(given)?)
    }),
    Way::new(BULK, "actix", "an actor a node, all on one arbiter, `do_send`", |given| {
        Ok(actix::together(1, RingSizes::bulk(given)?))
    }),
    Way::new(BULK, "actix-arbiters", "a pair an arbiter, by turns, `do_send`", |given| {
        Ok(actix::together(given.workers()?, RingSizes::bulk(given)?))
    }),
    Way::new(COWNS, "tokio", "a task and an unbounded mpsc a node", |given| {
        tokio::run(given, RingSizes::rings(given)?)
    }),
    Way::new(COWNS_IN_BULK, "tokio", "a task and an unbounded mpsc a node", |given| {
        tokio::run(given, RingSizes::rings(given)?)
    }),
    Way::new(COWNS, "crossbeam", "a thread and a channel a node", |given| {
        Ok(crossbeam::run(RingSizes::rings(given)?))
    })
    .share(100),
    Way::new(COWNS_IN_BULK, "crossbeam", "a thread and a channel a node", |given| {
        Ok(crossbeam::run(RingSizes::rings(given)?))
    })
    .share(10),
];
