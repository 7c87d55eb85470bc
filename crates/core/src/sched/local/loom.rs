//! Models of a worker's queue: the owner inside against a thief.

use std::ptr::{NonNull, without_provenance_mut};

use loom::sync::Arc;
use loom::thread;

use super::{LocalQueue, TaskQueue};
use crate::sched::loom::check;
use crate::task::TaskPtr;

/// A task that is only counted and not run.
fn task(number: usize) -> TaskPtr {
    NonNull::new(without_provenance_mut(number * 8)).unwrap()
}

fn number(task: TaskPtr) -> usize {
    task.addr().get() / 8
}

fn steal(queue: &LocalQueue, with_next: bool) -> Vec<usize> {
    let mut stolen = Vec::new();
    queue.steal(with_next, &mut stolen);
    stolen.into_iter().map(number).collect()
}

fn pop(tasks: &mut TaskQueue) -> Option<TaskPtr> {
    tasks.next.take().or_else(|| tasks.fresh.pop_back()).or_else(|| tasks.aged.pop_front())
}

/// Pushes like a worker: on the fast paths, as far as they work.
fn push(queue: &LocalQueue, task: TaskPtr) {
    // SAFETY: the models call this on the owner's thread.
    unsafe {
        let Err(task) = queue.try_put_next(task) else { return };
        let Err(task) = queue.try_put_before(task) else { return };
        queue.with_queue(|tasks| {
            let before = tasks.next.replace(task);
            tasks.fresh.extend(before);
        });
    }
}

/// Pops until there is nothing, as the owner.
fn pop_all(queue: &LocalQueue) -> Vec<usize> {
    // SAFETY: the models call this on the owner's thread, or when no other thread is left.
    std::iter::from_fn(|| unsafe { queue.with_queue(pop) }).map(number).collect()
}

fn assert_all(mut numbers: Vec<usize>, count: usize) {
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=count).collect::<Vec<_>>(), "each task once");
}

/// The owner pushes and pops while a thief steals: never both inside, no task lost or taken twice.
///
/// Fails without either of the barriers, with a `Relaxed` load of `busy` in `owner_is_outside` or
/// of the hindrances in `try_enter`, and with a `Relaxed` store in `leave` or at the end of
/// `steal`.
#[test]
fn owner_against_thief() {
    check(|| {
        let queue = Arc::new(LocalQueue::new());
        // SAFETY: this thread is the owner.
        unsafe { queue.with_queue(|tasks| tasks.aged.push_back(task(1))) };
        let thief = thread::spawn({
            let queue = queue.clone();
            move || steal(&queue, false)
        });
        // SAFETY: this thread is the owner.
        unsafe { queue.with_queue(|tasks| tasks.fresh.push_back(task(2))) };
        let mut got = pop_all(&queue);
        got.extend(thief.join().unwrap());
        assert_all(got, 2);
    });
}

/// The owner puts a task into `next` and takes it, on the fast path unless a thief is in the way,
/// while a thief looks for it: it is run once, and each side sees what the other has left.
///
/// Fails without either of the barriers, and if the owner continues while a thief is in the way.
#[test]
fn next_against_thief() {
    check(|| {
        let queue = Arc::new(LocalQueue::new());
        let thief = thread::spawn({
            let queue = queue.clone();
            move || steal(&queue, true)
        });
        push(&queue, task(1));
        // SAFETY: this thread is the owner.
        let mut got = Vec::from_iter(unsafe { queue.try_take() }.map(number));
        push(&queue, task(2));
        got.extend(pop_all(&queue));
        got.extend(thief.join().unwrap());
        assert_all(got, 2);
    });
}

/// The owner puts a task before another one, and takes what it has put aside, on the fast paths,
/// while a thief takes what it finds.
///
/// Fails if the owner continues while a thief is in the way.
#[test]
fn fresh_against_thief() {
    check(|| {
        let queue = Arc::new(LocalQueue::new());
        // SAFETY: this thread is the owner.
        unsafe { queue.with_queue(|tasks| tasks.fresh.reserve(2)) };
        let thief = thread::spawn({
            let queue = queue.clone();
            move || steal(&queue, false)
        });
        push(&queue, task(1));
        push(&queue, task(2));
        // SAFETY: this thread is the owner.
        let mut got = Vec::from_iter(unsafe { queue.try_take() }.map(number));
        // SAFETY: this thread is the owner.
        got.extend(unsafe { queue.try_take() }.map(number));
        got.extend(pop_all(&queue));
        got.extend(thief.join().unwrap());
        assert_all(got, 2);
        assert_eq!(queue.len(), 0);
    });
}

/// The owner enters twice, and waits for the thief in between, which sees what the owner did the
/// first time.
#[test]
fn owner_waits_for_a_thief() {
    check(|| {
        let queue = Arc::new(LocalQueue::new());
        let thief = thread::spawn({
            let queue = queue.clone();
            move || steal(&queue, true)
        });
        // SAFETY: this thread is the owner.
        unsafe {
            queue.with_queue(|tasks| tasks.next = Some(task(1)));
            queue.with_queue(|tasks| tasks.aged.push_back(task(2)));
        }
        let mut got = thief.join().unwrap();
        got.extend(pop_all(&queue));
        assert_all(got, 2);
    });
}

/// Two thieves at once, and the owner.
#[test]
fn thief_against_thief() {
    check(|| {
        let queue = Arc::new(LocalQueue::new());
        // SAFETY: this thread is the owner.
        unsafe { queue.with_queue(|tasks| tasks.fresh.extend([task(1), task(2)])) };
        let thieves = [true, false].map(|with_next| {
            let queue = queue.clone();
            thread::spawn(move || steal(&queue, with_next))
        });
        // SAFETY: this thread is the owner.
        let mut got: Vec<_> = unsafe { queue.with_queue(pop) }.map(number).into_iter().collect();
        thieves.into_iter().for_each(|thief| got.extend(thief.join().unwrap()));
        got.extend(pop_all(&queue));
        assert_all(got, 2);
    });
}
