//! Timers: once, periodic, cancelled.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use coact::cown::AsCown;
use coact::internals::SealedHandle;
use coact::prelude::*;
use coact::runtime::{Fault, RuntimeHandle, spawn_future};
use coact::time::{Timer, every_with_fixed_delay, sleep};
use coact_tests::{Faults, Log, PATIENCE, fail, panic_of, runtime};

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn t5_timers_fire_in_the_order_of_their_deadlines_and_never_early() {
    let runtime = runtime(2, &Faults::new());
    let (log, deadlines) = runtime.run(|| {
        let log = Cown::new(Vec::new());
        // Between two of them this thread may lose its processor for longer than they lie apart. So
        // a deadline is known to lie between two moments, mostly some microseconds apart.
        let deadlines = [30, 3, 12, 0, 300, 21].map(|delay| {
            let earliest = Instant::now() + ms(delay);
            after(ms(delay), &log, move |log| log.push((delay, Instant::now() >= earliest)));
            (delay, earliest..=Instant::now() + ms(delay))
        });
        (log, HashMap::from(deadlines))
    });
    let log = log.into_inner().unwrap();
    assert_eq!(log.len(), deadlines.len());
    assert!(log.iter().all(|(_, in_time)| *in_time), "{log:?}");
    for (before, next) in log.iter().zip(&log[1..]) {
        let (before, next) = (&deadlines[&before.0], &deadlines[&next.0]);
        assert!(before.start() <= next.end(), "{log:?}, {deadlines:?}");
    }
}

#[test]
fn t5_timers_of_one_deadline_fire_in_the_order_of_setting() {
    let runtime = runtime(2, &Faults::new());
    let log = runtime.run(|| {
        let log = Cown::new(Vec::new());
        (0..100).for_each(|n| _ = after(ms(2), &log, move |log| log.push(n)));
        log
    });
    // Each has a later deadline than the one before, if only by nanoseconds.
    assert_eq!(log.into_inner().unwrap(), (0..100).collect::<Vec<_>>());
}

/// Not when they are set: in virtual time, so that none is late.
#[test]
fn o5_timers_take_their_place_when_their_time_has_come() {
    coact::sim::check(|| {
        let log = Cown::new(Vec::new());
        after(ms(5), &log, |log| log.push("once"));
        let ticks = every(ms(10), &log, |log| log.push("tick"));
        when(&log, |log| log.push("meanwhile"));
        sleep(ms(7)).wait().unwrap();
        when(&log, |log| log.push("between"));
        sleep(ms(14)).wait().unwrap();
        ticks.cancel();
        let log = call(&log, |log| log.clone()).wait().unwrap();
        assert_eq!(log, ["meanwhile", "once", "between", "tick", "tick"]);
    });
}

#[test]
fn a_timer_spawns_on_any_set() {
    let runtime = runtime(1, &Faults::new());
    let (a, b) = runtime.run(|| {
        let (a, b) = (Cown::new(1), Cown::new(2));
        after(ms(1), (&a, b.read()), |(a, b)| *a += *b);
        (a, b)
    });
    assert_eq!((a.into_inner().unwrap(), b.into_inner().unwrap()), (3, 2));
}

#[test]
fn t5_a_timer_without_cowns_runs_in_its_own_runtime() {
    let runtime = runtime(1, &Faults::new());
    let homes = Log::new();
    runtime.run(|| {
        let (once, again) = (homes.clone(), homes.clone());
        after(ms(1), (), move |()| once.push(coact::runtime::RuntimeHandle::current()));
        let (resolver, ticked) = Promise::channel();
        let resolver = std::sync::Mutex::new(Some(resolver));
        let timer = every(ms(1), (), move |()| {
            if let Some(resolver) = resolver.lock().unwrap().take() {
                again.push(coact::runtime::RuntimeHandle::current());
                resolver.resolve(());
            }
        });
        ticked.wait().unwrap();
        timer.cancel();
    });
    assert_eq!(homes.take(), [runtime.handle(); 2]);
}

#[test]
fn a_cancelled_timer_does_not_fire_and_is_freed() {
    let runtime = runtime(1, &Faults::new());
    let (token, cown) = (Arc::new(()), runtime.run(|| Cown::new(0)));
    // The run would wait for an hour, if it were not for the cancelling.
    runtime.run(|| {
        let kept = token.clone();
        let timer = after(ms(3_600_000), &cown, move |n| {
            *n = 1;
            drop(kept);
        });
        assert!(timer.cancel());
        assert!(!timer.cancel() && !timer.clone().cancel());
    });
    assert_eq!(Arc::strong_count(&token), 1);
    assert_eq!(cown.into_inner().unwrap(), 0);
}

#[test]
fn a_timer_that_has_fired_cannot_be_cancelled() {
    let runtime = runtime(1, &Faults::new());
    let timer = runtime.run(|| after(ms(1), &Cown::new(()), |_| ()));
    assert!(!timer.cancel());
}

#[test]
fn a_dropped_handle_leaves_the_timer_running() {
    let runtime = runtime(1, &Faults::new());
    let cown = runtime.run(|| {
        let cown = Cown::new(0);
        let _ = after(ms(1), &cown, |n| *n += 1);
        cown
    });
    assert_eq!(cown.into_inner().unwrap(), 1);
}

#[test]
fn a_periodic_timer_ticks_until_it_is_cancelled() {
    let runtime = runtime(2, &Faults::new());
    let start = Instant::now();
    let ticks = runtime.run(|| {
        let (ticks, (give, timer)) = (Cown::new(0), Promise::<Timer>::channel());
        let timer = Arc::new(std::sync::Mutex::new(Some(timer)));
        give.resolve(every(ms(2), &ticks, move |ticks| {
            *ticks += 1;
            if *ticks == 10 {
                // Cancelled by its own behaviour.
                let timer = timer.lock().unwrap().take().unwrap();
                assert!(timer.wait().unwrap().cancel());
            }
        }));
        ticks
    });
    assert!(start.elapsed() >= ms(20));
    assert!((10..=11).contains(&ticks.into_inner().unwrap()));
}

/// While its cown is held no ticks pile up.
#[test]
#[allow(clippy::disallowed_methods, reason = "a behaviour that is slower than the timer's period")]
fn a_periodic_timer_skips_ticks_while_its_behaviour_waits() {
    let runtime = runtime(1, &Faults::new());
    let log = Log::new();
    runtime.run(|| {
        let (cown, l) = (Cown::new(()), log.clone());
        let timer = every(ms(1), &cown, move |_| l.push("tick"));
        let (again, l) = (cown.clone(), log.clone());
        when(&cown, move |_| {
            // Many periods pass: of real time, which nothing can stand in for.
            #[allow(clippy::disallowed_methods)]
            std::thread::sleep(ms(40));
            l.push("released");
            // Behind all ticks that wait.
            when(&again, move |_| {
                l.push("behind");
                timer.cancel();
            });
        });
    });
    let log = log.take();
    let released = log.iter().position(|entry| *entry == "released").unwrap();
    let behind = log.iter().position(|entry| *entry == "behind").unwrap();
    assert!(behind - released <= 2, "ticks have piled up: {log:?}");
}

#[test]
fn a_period_of_zero_is_refused() {
    let message = panic_of(|| every(Duration::ZERO, &Cown::new(()), |_| ()));
    assert!(message.contains("period of zero"), "{message}");
}

#[test]
fn a_timer_on_a_poisoned_cown_is_skipped_and_goes_on() {
    let faults = Faults::new();
    let runtime = runtime(1, &faults);
    let count = Arc::new(AtomicU32::new(0));
    runtime.run(|| {
        let (cown, seen) = (Cown::new(()), Arc::clone(&count));
        let (again, (give, timer)) = (cown.clone(), Promise::<Timer>::channel());
        let timer = std::sync::Mutex::new(Some(timer));
        give.resolve(every(ms(1), cown.checked(), move |state| {
            match seen.fetch_add(1, Ordering::Relaxed) {
                0 => coact_tests::fail("the first tick"),
                1 => assert!(state.is_err()),
                _ => {
                    let timer = timer.lock().unwrap().take();
                    timer.into_iter().for_each(|timer| _ = timer.wait().unwrap().cancel());
                }
            }
        }));
        after(ms(1), &again, |_| ());
    });
    assert!(count.load(Ordering::Relaxed) >= 3);
    assert!(!faults.is_empty());
}

#[test]
fn sleep_is_a_promise() {
    let runtime = runtime(1, &Faults::new());
    let start = Instant::now();
    let slept = runtime.run(|| {
        spawn_future(async move {
            sleep(ms(5)).await.unwrap();
            sleep(ms(5)).await.unwrap();
            start.elapsed()
        })
    });
    assert!(slept.wait().unwrap() >= ms(10));
}

/// A timer far beyond what any clock can count.
#[test]
fn a_delay_without_end() {
    let runtime = runtime(1, &Faults::new());
    runtime.run(|| {
        let timer = after(Duration::MAX, &Cown::new(()), |_| ());
        after(ms(1), &Cown::new(()), move |_| assert!(timer.cancel()));
    });
}

/// Many timers, set and cancelled by many threads.
#[test]
fn many_timers_from_many_threads() {
    let runtime = runtime(2, &Faults::new());
    let fired = runtime.run(|| {
        let fired = Cown::new(0);
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (fired, runtime) = (&fired, &runtime);
                scope.spawn(move || {
                    let _entered = runtime.enter();
                    for n in 0..250 {
                        let timer = after(ms((n * 7 + thread) % 40), fired, |fired| *fired += 1);
                        if n % 5 == 0 && timer.cancel() {
                            when(fired, |fired| *fired += 1);
                        }
                    }
                });
            }
        });
        fired
    });
    assert_eq!(fired.into_inner().unwrap(), 1000);
}

/// What is on no cown runs where the timer was set, not in the runtime that is there by default.
#[test]
fn a_timer_on_no_cown_fires_in_its_runtime() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let home = runtime.handle();
    let (resolver, once) = Promise::channel();
    let (ticks, seen) = std::sync::mpsc::channel();
    runtime.run(|| {
        let tell = move |()| resolver.resolve(RuntimeHandle::current());
        after(Duration::from_millis(1), (), tell);
        let tell = move |()| {
            let _ = ticks.send(RuntimeHandle::current());
        };
        let timer = every(Duration::from_millis(1), (), tell);
        assert_eq!(seen.recv_timeout(PATIENCE), Ok(home));
        timer.cancel();
    });
    assert_eq!(once.wait(), Ok(home));
}

/// A handle that is cloned when a timer is set, and again each time that it fires. A clone of that
/// clone cancels the timer; and that clone panics when it is dropped.
struct Bomb {
    cown: Cown<()>,
    timer: Arc<Mutex<Option<Timer>>>,
    depth: u32,
}

impl Clone for Bomb {
    fn clone(&self) -> Self {
        if self.depth == 1
            && let Some(timer) = self.timer.lock().unwrap().take()
        {
            timer.cancel();
        }
        let (cown, timer) = (self.cown.clone(), Arc::clone(&self.timer));
        Self { cown, timer, depth: self.depth + 1 }
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.depth == 1 {
            fail("a handle");
        }
    }
}

impl SealedHandle for Bomb {}

impl AsCown for Bomb {
    type State = ();
    type View = ();

    fn as_cown(&self) -> &Cown<()> {
        &self.cown
    }

    fn view(state: &()) -> &() {
        state
    }

    fn view_mut(state: &mut ()) -> &mut () {
        state
    }
}

/// A timer that is cancelled while it fires is dropped where it would be set again.
#[test]
fn timers_go_on_when_what_one_keeps_panics_at_its_end() {
    let faults = Faults::new();
    let runtime = runtime(1, &faults);
    let fired = runtime.run(|| {
        let timer = Arc::new(Mutex::new(None));
        let bomb = Bomb { cown: Cown::new(()), timer: Arc::clone(&timer), depth: 0 };
        let fired = Cown::new(false);
        let mut cancel = timer.lock().unwrap();
        *cancel = Some(every(ms(1), &bomb, |()| ()));
        drop(cancel);
        after(ms(5), &fired, |fired| *fired = true);
        fired
    });
    assert_eq!(fired.into_inner(), Ok(true));
    let told = faults.take();
    assert!(matches!(&told[..], [Fault::InCleanup { .. }]), "{told:?}");
}

/// There is a pause after each run, however long it takes, and none is skipped.
#[test]
fn a_fixed_delay_counts_from_the_end_of_a_run() {
    coact::sim::check(|| {
        let second = Duration::from_secs(1);
        let (runs, log) = (Cown::new(()), Log::new());
        let seen = log.clone();
        let timer = every_with_fixed_delay(second, &runs, move |_| {
            seen.push(RuntimeHandle::current().elapsed())
        });
        sleep(second * 7 / 2).wait().unwrap();
        assert!(timer.cancel());
        sleep(3 * second).wait().unwrap();
        let seconds: Vec<_> = log.take().iter().map(Duration::as_secs).collect();
        assert_eq!(seconds, [1, 2, 3]);
    });
}

#[test]
fn a_fixed_delay_goes_on_after_a_panic_and_a_skip_until_it_is_cancelled() {
    let runtime = runtime(2, &Faults::new());
    let (tell, told) = std::sync::mpsc::channel();
    let timer = runtime.run(|| {
        let nervous = Cown::new(0);
        let timer = Arc::new(Mutex::new(None::<Timer>));
        let own = Arc::clone(&timer);
        let set = every_with_fixed_delay(ms(1), nervous.checked(), move |state| {
            let own = own.lock().unwrap();
            match state {
                Ok(count) => *count += 1,
                Err(poisoned) => {
                    tell.send(*poisoned.get_ref()).unwrap();
                    if let Some(timer) = &*own {
                        timer.cancel();
                    }
                }
            }
            drop(own);
            fail("it is nervous");
        });
        *timer.lock().unwrap() = Some(set.clone());
        set
    });
    // `run` has waited for its end.
    assert_eq!(told.iter().next(), Some(1));
    assert!(!timer.cancel());
    let message = panic_of(|| every_with_fixed_delay(Duration::ZERO, &Cown::new(()), |_| ()));
    assert!(message.contains("delay of zero"), "{message}");
}

/// A shutdown ends it, also while a run goes on or waits.
#[test]
fn a_fixed_delay_ends_with_its_runtime() {
    let runtime = runtime(1, &Faults::new());
    let (tell, told) = std::sync::mpsc::channel();
    {
        let _entered = runtime.enter();
        every_with_fixed_delay(ms(1), &Cown::new(()), move |_| _ = tell.send(()));
    }
    told.recv().unwrap();
    runtime.shutdown(ms(1));
    // The closure is gone.
    while told.recv().is_ok() {}
}
