//! Workers that are stepped by hand, all on one thread: how fast each is, the test says, and not the machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Worker;
use crate::behaviour::when::when;
use crate::cown::handle::Cown;
use crate::runtime::Runtime;
use crate::runtime::builder::new_without_threads;
use crate::sched::context;

/// Behaviours of one cown in a row.
const THROUGHPUT: u32 = 10;

/// Turns that the cowns have on the average.
const TURNS: usize = 20_000;

/// What the runtime promises: the least served has at least 85 turns for 100 of the most served.
const UNEVENNESS: f64 = 0.15;

struct Workers(Vec<Worker>);

impl Workers {
    fn new(count: usize) -> Self {
        let builder = Runtime::builder().workers(count).throughput(THROUGHPUT);
        let (shared, parkers) = new_without_threads(builder);
        let parkers = parkers.into_iter().enumerate();
        Self(parkers.map(|(index, parker)| Worker::new(shared, index, parker)).collect())
    }

    /// Does something on a worker.
    fn on<R>(&self, worker: usize, work: impl FnOnce() -> R) -> R {
        context::with_worker(&self.0[worker], work)
    }

    /// Has a worker run the next of its tasks, and what follows that; returns whether there was one.
    fn step(&self, worker: usize) -> bool {
        self.on(worker, || {
            let task = self.0[worker].take();
            task.map(|task| self.0[worker].run_chain::<false>(task)).is_some()
        })
    }
}

/// A cown that always has one more turn to take.
fn turn(cown: Cown<usize>, over: Arc<AtomicBool>) {
    let again = cown.clone();
    when(&cown, move |turns| {
        if !over.load(Ordering::Relaxed) {
            *turns += 1;
            turn(again, over);
        }
    });
}

/// How unevenly cowns are served that begin on the workers as `at_first` says, while the workers take steps in the
/// order of `pace`: (max - min) / max of their turns.
fn unevenness(at_first: &[usize], pace: &[usize]) -> f64 {
    let workers = Workers::new(at_first.len());
    let over = Arc::new(AtomicBool::new(false));
    let mut cowns = Vec::new();
    for (worker, count) in at_first.iter().enumerate() {
        workers.on(worker, || {
            for _ in 0..*count {
                let cown = Cown::new(0);
                turn(cown.clone(), Arc::clone(&over));
                cowns.push(cown);
            }
        });
    }
    let steps = TURNS * cowns.len() / THROUGHPUT as usize;
    for worker in pace.iter().cycle().take(steps) {
        workers.step(*worker);
    }
    over.store(true, Ordering::Relaxed);
    // Each in its turn: one may leave something for another.
    while (0..at_first.len()).fold(false, |any, worker| workers.step(worker) | any) {}
    let turns: Vec<_> =
        cowns.into_iter().map(|cown| cown.into_inner().expect("all is over")).collect();
    let (least, most) = (turns.iter().min().unwrap(), turns.iter().max().unwrap());
    (most - least) as f64 / *most as f64
}

#[test]
fn equal_cowns_are_served_alike_wherever_they_begin_and_however_fast_the_workers_are() {
    let cases: [(&[usize], &[usize]); 12] = [
        (&[3, 3], &[0, 1]),
        (&[4, 1], &[0, 1]),
        (&[3, 3], &[0, 1, 1]),
        (&[8, 8], &[0, 1]),
        (&[12, 4], &[0, 1]),
        (&[16, 0], &[0, 1]),
        (&[8, 8], &[0, 1, 1, 1]),
        (&[14, 2], &[0, 1, 1, 1]),
        (&[2, 14], &[0, 1, 1, 1]),
        (&[100, 4], &[0, 1]),
        (&[5, 30, 5], &[0, 1, 2, 2]),
        (&[10, 10, 10, 2], &[0, 1, 2, 3, 3, 3]),
    ];
    let found = cases.map(|(at_first, pace)| unevenness(at_first, pace));
    assert!(found.iter().all(|found| *found <= UNEVENNESS), "{found:.2?}");
}

/// Workers with one processor between them: each takes many steps in a row, while the others take none.
fn by_turns(workers: usize, steps: usize) -> Vec<usize> {
    (0..workers * steps).map(|step| step / steps).collect()
}

#[test]
fn equal_cowns_are_served_alike_by_workers_that_run_by_turns() {
    let cases: [(&[usize], usize); 6] = [
        (&[4, 1], 10),
        (&[3, 3], 100),
        (&[4, 1], 100),
        (&[12, 4], 300),
        (&[4, 1], 1000),
        (&[5, 1, 1, 1], 100),
    ];
    let found =
        cases.map(|(at_first, steps)| unevenness(at_first, &by_turns(at_first.len(), steps)));
    assert!(found.iter().all(|found| *found <= UNEVENNESS), "{found:.2?}");
}
