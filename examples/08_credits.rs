//! Admission: a producer that is faster than the work waits, outside of the runtime.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use coact::credits::Credits;
use coact::prelude::*;
use coact::runtime::BuildError;

const LIMIT: usize = 16;

fn main() -> Result<(), BuildError> {
    let runtime = Runtime::builder().workers(2).build()?;
    let credits = Credits::new(LIMIT);
    let in_flight = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));

    let sum = runtime.run(|| {
        let sum = Cown::new(0_u64);
        for n in 0..10_000 {
            // Blocks this thread while 16 behaviours are in flight. Inside a behaviour this would
            // panic: a behaviour holds cowns that the work in flight may need. There, use
            // `try_acquire`, and shed the work if there is no credit.
            let permit = credits.acquire_blocking(1);
            let (in_flight, most) = (Arc::clone(&in_flight), Arc::clone(&most));
            let now = in_flight.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(now, Ordering::SeqCst);
            when(&sum, move |sum| {
                *sum += n;
                in_flight.fetch_sub(1, Ordering::SeqCst);
                // The permit's end gives the credit back, whatever becomes of the behaviour.
                drop(permit);
            });
        }
        sum
    });

    let most = most.load(Ordering::SeqCst);
    println!("at most {most} behaviours in flight");
    assert_eq!(sum.into_inner().expect("the last handle"), 49_995_000);
    assert!(most <= LIMIT);
    assert_eq!(credits.available(), LIMIT);
    Ok(())
}
