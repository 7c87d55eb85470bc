//! Cowns that are only read: readers run side by side, and still in order with the writers.

use std::sync::Arc;
use std::sync::Barrier;

use coact::prelude::*;
use coact::runtime::BuildError;

fn main() -> Result<(), BuildError> {
    let runtime = Runtime::builder().workers(2).build()?;
    let (prices, sums) = runtime.run(|| {
        let prices = Cown::new(vec![3, 4, 5]);
        let sums = [Cown::new(0), Cown::new(0)];

        // Each of the two needs its own sum for itself, and the prices for reading. They wait for
        // each other in the middle, which only works since both hold the prices at the same time.
        // (Blocking in a behaviour is bad manners; here it proves a point.)
        let both = Arc::new(Barrier::new(2));
        for sum in &sums {
            let both = Arc::clone(&both);
            when((sum, prices.read()), move |(sum, prices)| {
                both.wait();
                *sum = prices.iter().sum();
            });
        }

        // Spawned after the readers, so it runs after them: they have seen the old prices.
        when(&prices, |prices| prices.clear());
        (prices, sums)
    });

    // `run` has returned, so no work is left, and these are the last handles.
    let sums = sums.map(|sum| sum.into_inner().expect("the last handle"));
    println!("sums {sums:?}");
    assert_eq!(sums, [12, 12]);
    assert!(prices.into_inner().expect("the last handle").is_empty());
    Ok(())
}
