//! Workers that are stepped by hand, all on one thread: the test determines their speeds, not the
//! machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::Worker;
use super::take::ROUND;
use crate::behaviour::when::when;
use crate::cown::handle::Cown;
use crate::runtime::Runtime;
use crate::runtime::builder::Builder;
use crate::runtime::builder::build::new_without_threads;

/// Behaviours of one cown in a row.
const THROUGHPUT: u32 = 10;

/// The average number of turns of a cown.
const TURNS: usize = 20_000;

/// What the runtime guarantees: the least served has at least 85 turns for 100 of the most served.
const UNEVENNESS: f64 = 0.15;

struct Workers(Vec<Worker>);

impl Workers {
    fn new(count: usize) -> Self {
        Self::of(Runtime::builder().workers(count))
    }

    fn of(builder: Builder) -> Self {
        let (shared, parkers) = new_without_threads(builder.throughput(THROUGHPUT));
        let parkers = parkers.into_iter().enumerate();
        Self(parkers.map(|(index, parker)| Worker::new(shared, index, parker)).collect())
    }

    /// Does something on a worker.
    fn on<R>(&self, worker: usize, work: impl FnOnce() -> R) -> R {
        self.0[worker].as_current(work)
    }

    /// Makes a worker run its next task, and what follows that; returns whether there was one.
    fn step(&self, worker: usize) -> bool {
        self.on(worker, || {
            let this = &self.0[worker];
            let task = this.take().or_else(|| this.take_held());
            task.map(|task| this.run_chain::<false>(task)).is_some()
        })
    }
}

/// A cown that always has another turn to take.
fn turn(cown: Cown<usize>, over: Arc<AtomicBool>) {
    let again = cown.clone();
    when(&cown, move |turns| {
        if !over.load(Ordering::Relaxed) {
            *turns += 1;
            turn(again, over);
        }
    });
}

/// The unevenness with which cowns are served that start on the workers as `at_first` says, while
/// the workers take steps in the order of `pace`: (max - min) / max of their turns.
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
    // Each in turn, since one may leave something for another.
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

/// Workers that share one processor: each takes many steps in a row, while the others take none.
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

/// What a consumer was sent, and the current and the greatest length of its queue.
#[derive(Default)]
struct TaskBacklog {
    sent: AtomicUsize,
    now: AtomicUsize,
    most: AtomicUsize,
}

impl TaskBacklog {
    fn grow(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
        let now = self.now.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(now, Ordering::Relaxed);
    }
}

/// A producer that sends a consumer this many requests in each of its turns, and always has another
/// turn to take.
fn produce(
    producer: Cown<usize>,
    consumer: Cown<()>,
    requests: usize,
    backlog: Arc<TaskBacklog>,
    over: Arc<AtomicBool>,
) {
    let again = producer.clone();
    when(&producer, move |turns| {
        if over.load(Ordering::Relaxed) {
            return;
        }
        *turns += 1;
        for _ in 0..requests {
            backlog.grow();
            let backlog = Arc::clone(&backlog);
            when(&consumer, move |()| _ = backlog.now.fetch_sub(1, Ordering::Relaxed));
        }
        produce(again, consumer, requests, backlog, over);
    });
}

/// Returns how many turns producers have on a worker that takes this many steps, and the longest
/// queue of their consumer.
fn flood(builder: Builder, producers: usize, steps: usize) -> (Vec<usize>, usize) {
    let workers = Workers::of(builder.workers(1));
    let (backlog, over) = (Arc::<TaskBacklog>::default(), Arc::new(AtomicBool::new(false)));
    let producers: Vec<_> = workers.on(0, || {
        let consumer = Cown::new(());
        let start = |_| {
            let producer = Cown::new(0);
            let (backlog, over) = (Arc::clone(&backlog), Arc::clone(&over));
            produce(producer.clone(), consumer.clone(), 3, backlog, over);
            producer
        };
        (0..producers).map(start).collect()
    });
    for _ in 0..steps {
        workers.step(0);
    }
    over.store(true, Ordering::Relaxed);
    while workers.step(0) {}
    let most = backlog.most.load(Ordering::Relaxed);
    let turns = producers.into_iter().map(|producer| producer.into_inner().expect("all is over"));
    (turns.collect(), most)
}

#[test]
fn producers_go_on_at_the_pace_of_their_consumer() {
    let share = THROUGHPUT as usize;
    for producers in [1, 2, 10] {
        let (turns, longest) = flood(Runtime::builder(), producers, 100_000);
        // The worker counts after about one turn in eight, and what is sent until then waits.
        assert!(longest <= 400 * share * producers, "{longest} requests of {producers} producers");
        let (least, most) = (turns.iter().min().unwrap(), turns.iter().max().unwrap());
        // A producer that finds the consumer's queue empty has a full turn, unlike the others: each
        // gets that, but not all equally often.
        assert!(least * 2 > *most, "{turns:?} turns");
    }
}

#[test]
fn producers_go_on_at_their_own_pace_if_that_is_asked_for() {
    let (_, longest) = flood(Runtime::builder().throttle_senders(false), 2, 100_000);
    assert!(longest > 100_000, "{longest}");
}

/// Whatever else the worker has to do, and however long the consumer's queue.
#[test]
fn what_gives_way_waits_for_64_tasks_at_the_most() {
    let workers = Workers::new(1);
    let (backlog, over) = (Arc::<TaskBacklog>::default(), Arc::new(AtomicBool::new(false)));
    workers.on(0, || {
        let consumer = Cown::new(());
        (0..100_000).for_each(|_| when(&consumer, |()| ()));
        (0..20).for_each(|_| turn(Cown::new(0), Arc::clone(&over)));
        produce(Cown::new(0), consumer, 1, Arc::clone(&backlog), Arc::clone(&over));
    });
    // Until the worker has counted the consumer's queue, the producer has as many turns as the
    // others.
    while !workers.0[0].with_queue(|tasks| !tasks.held.is_empty()) {
        workers.step(0);
    }
    let sent = || backlog.sent.load(Ordering::Relaxed);
    let (begin, mut last, mut since, mut longest) = (sent(), sent(), 0, 0);
    for _ in 0..6_400 {
        workers.step(0);
        since = if sent() == last { since + 1 } else { 0 };
        (last, longest) = (sent(), longest.max(since));
    }
    assert!(longest <= ROUND as usize, "waited for {longest} tasks");
    assert!(last - begin <= 6_400 / ROUND as usize + 1, "{} turns", last - begin);
    over.store(true, Ordering::Relaxed);
    while workers.step(0) {}
}

/// A worker that keeps its tasks since sharing has not paid may have got long ones since then, and
/// does not decide again before it has taken many of them.
#[test]
fn what_a_worker_keeps_is_found_once_its_time_is_over() {
    let workers = Workers::new(2);
    let (busy, idle) = (&workers.0[0], &workers.0[1]);
    workers.on(0, || (0..20).for_each(|_| when(&Cown::new(()), |()| ())));
    let until = busy.now() + 1_000_000;
    busy.me.keeps_until.store(until, Ordering::Relaxed);
    idle.sees_stuck();
    // A worker that takes nothing is helped in any case.
    workers.step(0);
    let is_found = idle.sees_stuck();
    assert!(!is_found || busy.now() >= until, "it keeps them");
    while busy.now() < until {
        std::hint::spin_loop();
    }
    workers.step(0);
    assert!(idle.sees_stuck(), "it no longer does");
    while workers.step(0) {}
}

/// A worker that is woken again and again never watches for long, and still finds what is ready
/// behind a long behaviour.
#[test]
fn what_is_next_behind_a_long_behaviour_is_found_by_a_worker_that_is_woken_often() {
    let workers = Workers::new(2);
    let (busy, idle) = (&workers.0[0], &workers.0[1]);
    workers.on(0, || when(&Cown::new(()), |()| ()));
    let began = busy.now();
    let found = workers.on(1, || {
        let mut found = None;
        // Each round is a search between two short tasks.
        while found.is_none() && idle.now() - began < 1_000_000_000 {
            found = idle.look_for_a_while();
        }
        let task = found.expect("it is found in time");
        idle.run_chain::<false>(task);
        idle.now() - began
    });
    assert!(found >= 500_000, "one that takes tasks itself is left alone: {found} ns");
    assert!(!workers.step(0), "its task is done");
}
