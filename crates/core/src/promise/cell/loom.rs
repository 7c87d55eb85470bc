//! Models of the promise's cell: one producer, one consumer, in every state.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Wake, Waker};

use loom::thread;

use super::{calling, pair};
use crate::fault::Broken;
use crate::sched::loom::{Log, check};

/// Counts wake-ups; not part of the model.
#[derive(Default)]
struct WakeCount(AtomicUsize);

impl WakeCount {
    fn get(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Wake for WakeCount {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// A value that lets loom check whether its writer and its reader are ordered.
fn value() -> Result<Log, Broken> {
    let mut log = Log::default();
    log.push(7);
    Ok(log)
}

fn assert_is_value(value: Result<Log, Broken>) {
    assert_eq!(value.expect("the promise was kept").read(), [7]);
}

/// The value arrives while the consumer registers: it is taken at once, or the waker is called.
///
/// Fails with a `Relaxed` load in `is_ready`, a `Relaxed` success in `try_offer` or a success in
/// `arrive` that is weaker than `AcqRel`.
#[test]
fn value_against_first_poll() {
    check(|| {
        let (producer, mut consumer) = pair();
        let woken = Arc::new(WakeCount::default());
        let other = thread::spawn(move || producer.complete(value()));
        let waker = Waker::from(Arc::clone(&woken));
        let early = consumer.poll(&waker);
        other.join().unwrap();
        match early {
            Poll::Ready(value) => assert_is_value(value),
            Poll::Pending => {
                assert_eq!(woken.get(), 1);
                assert_is_value(consumer.try_take().expect("the waker was called"));
            }
        }
    });
}

/// The value arrives while the consumer replaces its waker: the new one is called, or the value is
/// taken; the producer never reads a waker that is being replaced.
///
/// Fails if `offer` writes its waiter in the state `Taking`.
#[test]
fn value_against_second_poll() {
    check(|| {
        let (producer, mut consumer) = pair();
        let wakers = [Arc::new(WakeCount::default()), Arc::new(WakeCount::default())];
        assert!(consumer.poll(&Waker::from(Arc::clone(&wakers[0]))).is_pending());
        let other = thread::spawn(move || producer.complete(value()));
        let early = consumer.poll(&Waker::from(Arc::clone(&wakers[1])));
        other.join().unwrap();
        match early {
            Poll::Ready(value) => assert_is_value(value),
            Poll::Pending => {
                assert_eq!(wakers.each_ref().map(|waker| waker.get()), [0, 1]);
                assert_is_value(consumer.try_take().expect("the waker was called"));
            }
        }
        assert!(wakers.iter().all(|waker| Arc::strong_count(waker) == 1), "a waker was leaked");
    });
}

/// The value arrives while the consumer, which may have polled, leaves: the value and the waker are
/// dropped once.
///
/// Fails with an exchange in `CellState::leave` that is weaker than `AcqRel`, and with a `Relaxed`
/// load in `after_consumer`.
#[test]
fn value_against_the_end_of_the_consumer() {
    for has_polled in [false, true] {
        check(move || {
            let (producer, mut consumer) = pair();
            let woken = Arc::new(WakeCount::default());
            if has_polled {
                assert!(consumer.poll(&Waker::from(Arc::clone(&woken))).is_pending());
            }
            let held = Arc::new(());
            let given = Arc::clone(&held);
            let other = thread::spawn(move || producer.complete(Ok((value(), given))));
            drop(consumer);
            other.join().unwrap();
            assert_eq!(Arc::strong_count(&held), 1, "the value was leaked");
            assert_eq!(Arc::strong_count(&woken), 1, "the waker was leaked");
        });
    }
}

/// The value arrives while the consumer passes it on: the continuation is called once, with the
/// value.
#[test]
fn value_against_a_continuation() {
    for has_polled in [false, true] {
        check(move || {
            let (producer, mut consumer) = pair();
            if has_polled {
                assert!(consumer.poll(Waker::noop()).is_pending());
            }
            let calls = Arc::new(WakeCount::default());
            let other = thread::spawn(move || producer.complete(value()));
            let called = Arc::clone(&calls);
            consumer.on_ready(move |value| {
                assert_is_value(value);
                called.wake();
            });
            other.join().unwrap();
            assert_eq!(calls.get(), 1);
        });
    }
}

/// The resolver is dropped while the consumer passes the value on.
#[test]
fn dropped_resolver_against_a_continuation() {
    check(|| {
        let (producer, consumer) = pair::<Log>();
        let calls = Arc::new(WakeCount::default());
        let other = thread::spawn(move || drop(producer));
        let called = Arc::clone(&calls);
        consumer.on_ready(move |value| {
            assert_eq!(value.err(), Some(Broken::Dropped));
            called.wake();
        });
        other.join().unwrap();
        assert_eq!(calls.get(), 1);
    });
}

/// The value arrives while the consumer gives up: either it gets the value, or the producer is
/// told.
///
/// Fails with an exchange in `CellState::leave` that is weaker than `AcqRel`, and with a `Relaxed`
/// load in `after_consumer`.
#[test]
fn value_against_giving_up() {
    for has_polled in [false, true] {
        check(move || {
            let (producer, mut consumer) = pair();
            if has_polled {
                assert!(consumer.poll(Waker::noop()).is_pending());
            }
            let other = thread::spawn(move || producer.complete(value()));
            let got = consumer.give_up();
            let in_time = other.join().unwrap();
            assert_eq!(got.is_some(), in_time, "the value went to one side, and it knows");
            got.into_iter().for_each(assert_is_value);
        });
    }
}

/// The consumer leaves while the producer asks whether it has.
#[test]
fn abandonment_is_final() {
    check(|| {
        let (producer, consumer) = pair::<Log>();
        let other = thread::spawn(move || drop(consumer));
        let abandoned = producer.is_abandoned();
        assert!(!abandoned || producer.is_abandoned());
        producer.complete(value());
        other.join().unwrap();
    });
}

/// A closure without a promise gets the value of another thread, or hears that there is none; it is
/// called once, and the block is freed.
///
/// Fails if `ClosureCallback::call` does not give back the block.
#[test]
fn a_value_for_a_closure() {
    for is_given in [true, false] {
        check(move || {
            let (calls, value) = (Arc::new(WakeCount::default()), value());
            let called = Arc::clone(&calls);
            let producer = calling(move |value: Result<Log, Broken>| {
                if is_given {
                    assert_is_value(value);
                } else {
                    assert_eq!(value.err(), Some(Broken::Dropped));
                }
                called.wake();
            });
            let given =
                move || if is_given { _ = producer.complete(value) } else { drop(producer) };
            thread::spawn(given).join().unwrap();
            assert_eq!(calls.get(), 1);
            assert_eq!(Arc::strong_count(&calls), 1, "the closure was leaked");
        });
    }
}
