//! A bounded wait for every runnable cown, whatever the others do; and as many behaviours at the
//! same time as there are workers.

use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use coact::prelude::*;
use coact::runtime::{Builder, spawn_future};
use coact_tests::{Faults, PATIENCE, runtime};

/// After this number of turns of hostile behaviours every other cown has had a turn. (A worker
/// looks for the oldest task every 64 tasks, at one of four places by turns, and a task may be 100
/// behaviours.)
const BOUND: u64 = 64 * 4 * 100 + 1000;

/// When the victim is spawned.
const START: u64 = 1000;

/// Behaviours that never leave the worker alone, and what they see.
#[derive(Clone)]
struct Hostile {
    turns: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    /// Called at one turn, to spawn the victim.
    at_start: Arc<dyn Fn() + Send + Sync>,
}

impl Hostile {
    /// Takes a turn. Returns whether to go on.
    fn turn(&self) -> bool {
        let turn = self.turns.fetch_add(1, Ordering::Relaxed) + 1;
        if turn == START {
            (self.at_start)();
        }
        // Past the bound it has failed, and must end all the same.
        !self.stop.load(Ordering::Relaxed) && turn < 20 * BOUND
    }

    /// Spawns itself on its own cown again and again.
    fn alone(self, cown: Cown<()>) {
        let again = cown.clone();
        when(&cown, move |_| {
            if self.turn() {
                self.alone(again);
            }
        });
    }

    /// Spawns itself on the other cown of a pair.
    fn in_a_pair(self, next: Cown<()>, other: Cown<()>) {
        let here = next.clone();
        when(&next, move |_| {
            if self.turn() {
                self.in_a_pair(other, here);
            }
        });
    }

    /// Spawns itself on a new cown, and something that does nothing besides.
    fn spreading(self) {
        when(&Cown::new(()), |_| ());
        when(&Cown::new(()), move |_| {
            if self.turn() {
                self.spreading();
            }
        });
    }
}

/// A future that wakes itself.
struct Restless(Hostile);

impl Future for Restless {
    type Output = ();
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if !self.0.turn() {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Runs the hostile beside a victim on one worker; how many turns did the victim wait?
fn wait_of(
    hostile: impl FnOnce(Hostile),
    victim: impl Fn(Box<dyn FnOnce() + Send>) + Send + Sync + 'static,
) -> u64 {
    let runtime = runtime(1, &Faults::new());
    let (turns, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let (seen, waited) = (Arc::clone(&turns), Arc::new(AtomicU64::new(u64::MAX)));
    let (ended, result) = (Arc::clone(&stop), Arc::clone(&waited));
    let at_start = move || {
        let (seen, ended, result) = (Arc::clone(&seen), Arc::clone(&ended), Arc::clone(&result));
        victim(Box::new(move || {
            result.store(seen.load(Ordering::Relaxed) - START, Ordering::Relaxed);
            ended.store(true, Ordering::Relaxed);
        }));
    };
    runtime.run(|| hostile(Hostile { turns, stop, at_start: Arc::new(at_start) }));
    waited.load(Ordering::Relaxed)
}

type Spawn = fn(Box<dyn FnOnce() + Send>);

/// The ways in which a victim comes to the worker.
fn victims() -> Vec<(&'static str, Spawn)> {
    fn from_outside(work: Box<dyn FnOnce() + Send>) {
        // The hostile one waits until the victim is in the queues: so the turns are counted
        // exactly.
        let (done, is_done) = mpsc::channel();
        let cown = Cown::new(());
        std::thread::spawn(move || {
            when(&cown, move |_| work());
            done.send(()).unwrap();
        });
        is_done.recv_timeout(PATIENCE).unwrap();
    }
    vec![
        ("one cown", |work| when(&Cown::new(()), move |_| work())),
        ("two cowns", |work| when((&Cown::new(()), &Cown::new(())), move |_| work())),
        ("a future", |work| drop(spawn_future(async move { work() }))),
        ("another thread's", from_outside),
    ]
}

#[test]
fn p3_a_behaviour_that_spawns_itself_starves_nobody() {
    for (name, victim) in victims() {
        let waited = wait_of(|hostile| hostile.alone(Cown::new(())), victim);
        assert!(waited <= BOUND, "{name} waited for {waited} turns");
    }
}

#[test]
fn p3_a_pair_that_plays_ping_pong_starves_nobody() {
    for (name, victim) in victims() {
        let waited = wait_of(|hostile| hostile.in_a_pair(Cown::new(()), Cown::new(())), victim);
        assert!(waited <= BOUND, "{name} waited for {waited} turns");
    }
}

#[test]
fn p3_behaviours_that_spread_starve_nobody() {
    for (name, victim) in victims() {
        let waited = wait_of(Hostile::spreading, victim);
        assert!(waited <= BOUND, "{name} waited for {waited} turns");
    }
}

#[test]
fn p3_a_future_that_wakes_itself_starves_nobody() {
    for (name, victim) in victims() {
        let waited = wait_of(|hostile| drop(spawn_future(Restless(hostile))), victim);
        assert!(waited <= BOUND, "{name} waited for {waited} turns");
    }
}

/// A behaviour on the hostile's own cown comes next, by the order of spawning.
#[test]
fn p3_the_hostile_cown_itself_is_fair() {
    let place = Arc::new(OnceLock::<Cown<()>>::new());
    let same = Arc::clone(&place);
    let victim = move |work: Box<dyn FnOnce() + Send>| when(same.get().unwrap(), move |_| work());
    let waited =
        wait_of(|hostile| hostile.alone(place.get_or_init(|| Cown::new(())).clone()), victim);
    assert!(waited <= 1, "waited for {waited} turns");
}

/// How many requests a flood has, and how many of them its producer sends in one behaviour.
const FLOOD: usize = 30_000;
const AT_ONCE: usize = 3;

/// Sends a consumer three times as much as that handles meanwhile, until all is sent; keeps what
/// waits now, and at the most.
fn flood(
    producer: Cown<usize>,
    consumer: Cown<()>,
    waiting: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
) {
    let again = producer.clone();
    when(&producer, move |sent| {
        for _ in 0..AT_ONCE {
            let now = waiting.fetch_add(1, Ordering::Relaxed) + 1;
            most.fetch_max(now, Ordering::Relaxed);
            let waiting = Arc::clone(&waiting);
            when(&consumer, move |()| _ = waiting.fetch_sub(1, Ordering::Relaxed));
        }
        *sent += AT_ONCE;
        if *sent < FLOOD {
            flood(again, consumer, waiting, most);
        }
    });
}

/// The longest queue of the consumer, on one worker.
fn longest_queue(builder: Builder) -> usize {
    let runtime = builder.workers(1).throughput(10).build().unwrap();
    let most = Arc::new(AtomicUsize::new(0));
    runtime.run(|| flood(Cown::new(0), Cown::new(()), Arc::default(), Arc::clone(&most)));
    most.load(Ordering::Relaxed)
}

/// The producer gives way once it has sent to a queue that is too long.
#[test]
fn p8_a_producer_goes_on_at_the_pace_of_an_overloaded_consumer() {
    let queue = longest_queue(Runtime::builder());
    // The worker looks at a queue after one turn in eight or so, and what is sent until then waits.
    assert!(queue <= FLOOD / 6, "{queue} requests waited");
    let queue = longest_queue(Runtime::builder().throttle_senders(false));
    assert!(queue > FLOOD / 2, "it gave way though it was not to: {queue} requests waited");
}
