//! Models of the queues of cowns: appending, granting, readers and releasing.

use std::sync::atomic::Ordering;

use loom::thread;

use crate::behaviour::batch::Batch;
use crate::behaviour::when::when;
use crate::cown::handle::Cown;
use crate::queue::header::Flags;
use crate::sched::loom::{
    Log, check, check_bounded, check_long, log, run_ready, take_ready, two_logs, written,
};

/// The position of `who` in a log that contains it once.
fn position(log: &[u8], who: u8) -> usize {
    assert_eq!(log.iter().filter(|entry| **entry == who).count(), 1, "{who} once in {log:?}");
    log.iter().position(|entry| *entry == who).unwrap()
}

/// Asserts that `first` came before `second`.
fn assert_order(log: &[u8], first: u8, second: u8) {
    assert!(position(log, first) < position(log, second), "{first} before {second} in {log:?}");
}

fn push(cown: &Cown<Log>, who: u8) {
    when(cown, move |log| log.push(who));
}

/// Spawns on two cowns as a pair.
fn push_both(x: &Cown<Log>, y: &Cown<Log>, who: u8) {
    when((x, y), move |(x, y)| {
        x.push(who);
        y.push(who);
    });
}

/// The same as for any number of cowns.
fn push_all(x: &Cown<Log>, y: &Cown<Log>, who: u8) {
    when(&[x, y][..], move |mut all| all.iter_mut().for_each(|log| log.push(who)));
}

/// A thread appends while another one appends and leaves: each behaviour runs once, in its thread's
/// order, and sees what the previous one wrote.
///
/// Fails with a `Relaxed` exchange in `Tail::append`, a `Relaxed` success in `Tail::try_leave`, a
/// `Relaxed` store in `Slot::link`, or a `Relaxed` load in `Slot::successor`.
#[test]
fn append_against_leave() {
    check(|| {
        let x = log();
        let other = thread::spawn({
            let x = x.clone();
            move || {
                push(&x, 1);
                run_ready();
            }
        });
        push(&x, 2);
        push(&x, 3);
        run_ready();
        other.join().unwrap();
        let log = written(x);
        assert_eq!(log.len(), 3);
        position(&log, 1);
        assert_order(&log, 2, 3);
    });
}

/// Three threads on one queue.
#[test]
fn append_against_append_against_leave() {
    check(|| {
        let x = log();
        let others = [1, 2].map(|who| {
            let x = x.clone();
            thread::spawn(move || {
                push(&x, who);
                run_ready();
            })
        });
        push(&x, 3);
        run_ready();
        others.into_iter().for_each(|other| other.join().unwrap());
        let log = written(x);
        assert_eq!(log.len(), 3);
        (1..=3).for_each(|who| _ = position(&log, who));
    });
}

/// What a behaviour spawns comes behind what was spawned before it, and runs after its own cown is
/// released.
#[test]
fn behaviour_spawns_on_its_own_cown() {
    check(|| {
        let x = log();
        let other = thread::spawn({
            let x = x.clone();
            move || {
                let again = x.clone();
                when(&x, move |log| {
                    log.push(1);
                    push(&again, 2);
                    drop(again);
                });
                run_ready();
            }
        });
        push(&x, 3);
        run_ready();
        other.join().unwrap();
        let log = written(x);
        assert_order(&log, 1, 2);
        position(&log, 3);
    });
}

/// A worker counts what waits behind its next task, while another thread appends there, also as
/// part of a step over two cowns: the count meets only requests that are there.
///
/// Fails if the count begins after the task has run.
#[test]
fn a_count_of_what_waits_against_append() {
    check(|| {
        let (x, y) = two_logs();
        let other = thread::spawn({
            let (x, y) = (x.clone(), y.clone());
            move || {
                push(&x, 1);
                push_both(&x, &y, 2);
                run_ready();
            }
        });
        push(&x, 3);
        push(&x, 4);
        if let Some(task) = take_ready() {
            task.look(4);
            assert!(!x.header().has(Flags::OVERLOADED), "three wait at the most");
            task.look(1);
            task.run();
        }
        run_ready();
        other.join().unwrap();
        assert_eq!(written(y), [2]);
        let log = written(x);
        assert_order(&log, 1, 2);
        assert_order(&log, 3, 4);
    });
}

/// Two behaviours on the same two cowns, named in opposite orders: both run, in the same order on
/// both cowns.
///
/// Fails if the exchanges are not made in one order, or if `swap_in` does not wait for its
/// predecessor.
fn cross(push: fn(&Cown<Log>, &Cown<Log>, u8)) {
    check(move || {
        let (x, y) = two_logs();
        let other = thread::spawn({
            let (x, y) = (x.clone(), y.clone());
            move || {
                push(&x, &y, 1);
                run_ready();
            }
        });
        push(&y, &x, 2);
        run_ready();
        other.join().unwrap();
        let (x, y) = (written(x), written(y));
        assert_eq!(x, y);
        assert_eq!(x.len(), 2);
    });
}

#[test]
fn appenders_of_pairs_cross() {
    cross(push_both);
}

#[test]
fn appenders_cross() {
    cross(push_all);
}

/// Three threads, each on two of three cowns, in a cycle: no deadlock.
#[test]
fn appenders_in_a_circle() {
    check_long(|| {
        let cowns = [log(), log(), log()];
        let pairs = [(0, 1), (1, 2)].map(|(a, b)| (cowns[a].clone(), cowns[b].clone()));
        let others = pairs.map(|(a, b)| {
            thread::spawn(move || {
                push_both(&a, &b, 1);
                run_ready();
            })
        });
        push_both(&cowns[2], &cowns[0], 1);
        run_ready();
        others.into_iter().for_each(|other| other.join().unwrap());
        cowns.into_iter().for_each(|cown| assert_eq!(written(cown).len(), 2));
    });
}

/// The anomaly for which requests wait (`queue/README.md`, "Why each request waits for the one
/// before"): a step over X and Y is half done when another thread gets behind it on X and then
/// before it on Y. That thread's first request must wait for the step.
///
/// Fails if `append_single` does not wait, or if `swap_in` does not mark the request or the queue.
fn singles_cross(push_all: fn(&Cown<Log>, &Cown<Log>, u8)) {
    check(move || {
        let (x, y) = two_logs();
        let other = thread::spawn({
            let (x, y) = (x.clone(), y.clone());
            move || {
                push_all(&x, &y, 3);
                run_ready();
            }
        });
        push(&x, 1);
        push(&y, 2);
        run_ready();
        other.join().unwrap();
        let (x, y) = (written(x), written(y));
        assert!(
            !(position(&x, 3) < position(&x, 1) && position(&y, 2) < position(&y, 3)),
            "X: {x:?}, Y: {y:?}"
        );
    });
}

#[test]
fn single_requests_cross_a_step_over_two_cowns() {
    singles_cross(push_all);
}

#[test]
fn single_requests_cross_a_pairs_step() {
    singles_cross(push_both);
}

/// The same, communicated through memory: the first request comes from one thread, and the second
/// from another one that has learned of it.
#[test]
fn single_requests_of_two_threads_cross_a_step_over_two_cowns() {
    check_long(|| {
        let (x, y) = two_logs();
        let step = thread::spawn({
            let (x, y) = (x.clone(), y.clone());
            move || {
                push_both(&x, &y, 3);
                run_ready();
            }
        });
        let told = loom::sync::Arc::new(loom::sync::atomic::AtomicBool::new(false));
        let first = thread::spawn({
            let (x, told) = (x.clone(), told.clone());
            move || {
                push(&x, 1);
                told.store(true, Ordering::Release);
                run_ready();
            }
        });
        let heard = told.load(Ordering::Acquire);
        push(&y, 2);
        run_ready();
        step.join().unwrap();
        first.join().unwrap();
        let (x, y) = (written(x), written(y));
        let anomaly = position(&x, 3) < position(&x, 1) && position(&y, 2) < position(&y, 3);
        assert!(!(heard && anomaly), "X: {x:?}, Y: {y:?}");
    });
}

/// Steps over two of three queues each, in a row: one waits in the second of its queues for the
/// next, while a single waits for it in the first.
#[test]
fn a_single_request_waits_for_a_step_that_waits_for_another() {
    check_bounded(2, || {
        let [x, y, z] = [log(), log(), log()];
        push(&x, 0);
        push(&y, 0);
        let first = thread::spawn({
            let (y, z) = (y.clone(), z.clone());
            move || push_both(&y, &z, 1)
        });
        let second = thread::spawn({
            let (x, y) = (x.clone(), y.clone());
            move || push_both(&x, &y, 2)
        });
        push(&x, 3);
        push(&z, 4);
        first.join().unwrap();
        second.join().unwrap();
        run_ready();
        let (x, y, z) = (written(x), written(y), written(z));
        // 1, 2, 3 and 4 in a cycle: 1 before 2 on Y, 2 before 3 on X, 3 before 4 by their thread, 4
        // before 1 on Z.
        let circle = position(&y, 1) < position(&y, 2)
            && position(&x, 2) < position(&x, 3)
            && position(&z, 4) < position(&z, 1);
        assert!(!circle, "X: {x:?}, Y: {y:?}, Z: {z:?}");
    });
}

/// Nothing comes between the behaviours of a batch.
#[test]
fn single_request_against_a_batch() {
    check(|| {
        let (x, y) = two_logs();
        let other = thread::spawn({
            let x = x.clone();
            move || {
                push(&x, 3);
                run_ready();
            }
        });
        let one = Batch::new().when(&x, |log: &mut Log| log.push(1));
        let both = one.when((&y, &x), |(y, x): (&mut Log, &mut Log)| {
            y.push(2);
            x.push(2);
        });
        both.spawn();
        run_ready();
        other.join().unwrap();
        let (x, y) = (written(x), written(y));
        assert_eq!(position(&x, 1) + 1, position(&x, 2), "{x:?}");
        assert_eq!(x.len(), 3);
        assert_eq!(y, [2]);
    });
}

/// Two threads grant one behaviour: it runs once, and sees both states.
///
/// Fails with anything weaker than `AcqRel` in `Multi::count_grant`.
#[test]
fn grants_of_one_behaviour_meet() {
    check(|| {
        let (x, y) = two_logs();
        push(&x, 1);
        push(&y, 2);
        push_both(&x, &y, 3);
        let first = take_ready().expect("the request on X");
        let other = thread::spawn(move || {
            first.run();
            run_ready();
        });
        run_ready();
        other.join().unwrap();
        assert_eq!((written(x), written(y)), (vec![1, 3], vec![2, 3]));
    });
}

/// A behaviour that reads: its panic would poison nothing, so it is counted when it has ended.
fn read(cown: &Cown<Log>, ended: &EndedReaders) {
    let ended = ended.clone();
    when(cown.read(), move |log| {
        log.read();
        ended.count();
    });
}

/// How many readers have ended. Not part of the model.
#[derive(Clone, Default)]
struct EndedReaders(std::sync::Arc<std::sync::atomic::AtomicUsize>);

impl EndedReaders {
    fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// Two readers end at the same time while a writer waits: it runs once, behind both.
///
/// Fails if the subtraction in `Readers::end_one` is weaker than `AcqRel`: with `Acquire` the first
/// reader's read of the state is not ordered before the write, with `Release` the last reader does
/// not pass that order on.
#[test]
fn readers_end_in_front_of_a_writer() {
    check(|| {
        let (x, ended) = (log(), EndedReaders::default());
        read(&x, &ended);
        read(&x, &ended);
        push(&x, 1);
        let first = take_ready().expect("a reader");
        let other = thread::spawn(move || {
            first.run();
            run_ready();
        });
        run_ready();
        other.join().unwrap();
        assert_eq!(written(x), [1]);
        assert_eq!(ended.get(), 2);
    });
}

/// The writer comes while the readers end: either it leaves the token with the last of them, or it
/// finds none left.
///
/// Fails with a weaker addition in `Readers::wait` than `AcqRel`, and with a `Relaxed` load in
/// `Readers::are_gone`.
#[test]
fn writer_comes_while_readers_end() {
    check(|| {
        let (x, ended) = (log(), EndedReaders::default());
        read(&x, &ended);
        read(&x, &ended);
        let readers = [take_ready(), take_ready()].map(|task| task.expect("a reader"));
        let other = thread::spawn(move || {
            readers.into_iter().for_each(|reader| reader.run());
            run_ready();
        });
        push(&x, 1);
        run_ready();
        other.join().unwrap();
        assert_eq!(written(x), [1]);
        assert_eq!(ended.get(), 2);
    });
}

/// Readers and writers alternate, from two threads.
#[test]
fn reader_chain_between_writers() {
    check(|| {
        let (x, ended) = (log(), EndedReaders::default());
        let other = thread::spawn({
            let (x, ended) = (x.clone(), ended.clone());
            move || {
                read(&x, &ended);
                push(&x, 1);
                run_ready();
            }
        });
        read(&x, &ended);
        push(&x, 2);
        run_ready();
        other.join().unwrap();
        assert_eq!(written(x).len(), 2);
        assert_eq!(ended.get(), 2);
    });
}

/// A writer ends in front of readers, which are granted together, while another writer queues.
#[test]
fn readers_are_granted_while_a_writer_queues() {
    check(|| {
        let (x, ended) = (log(), EndedReaders::default());
        push(&x, 1);
        read(&x, &ended);
        read(&x, &ended);
        let first = take_ready().expect("the writer");
        let other = thread::spawn(move || {
            first.run();
            run_ready();
        });
        push(&x, 2);
        run_ready();
        other.join().unwrap();
        assert_eq!(written(x), [1, 2]);
        assert_eq!(ended.get(), 2);
    });
}
