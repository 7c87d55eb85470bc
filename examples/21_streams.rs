//! Streams: an actor offers one, another reads it, and only what is asked for is made.

use coact::Context;
use coact::prelude::*;
use coact::stream::Demand;
use futures::StreamExt;

/// Offers the primes.
struct Primes {
    found: Vec<u64>,
}

impl Actor for Primes {}

impl Handler<Demand<u64>> for Primes {
    // The right to push this number of items: as many as the consumer has room for.
    fn handle(&mut self, mut demand: Demand<u64>, _: &mut Context<Self>) {
        while demand.left() > 0 {
            let next = self.next();
            demand.push(next).ok();
        }
    }
}

impl Primes {
    fn next(&mut self) -> u64 {
        let after = self.found.last().map_or(2, |last| last + 1);
        let is_prime = |n: &u64| self.found.iter().all(|prime| !n.is_multiple_of(*prime));
        let prime = (after..).find(is_prime).expect("there is no last one");
        self.found.push(prime);
        prime
    }
}

/// Adds up what it reads.
struct Sum {
    primes: Addr<Primes>,
    sum: u64,
}

struct Add(u64);

impl Message for Add {
    type Reply = ();
}

impl Handler<Add> for Sum {
    fn handle(&mut self, add: Add, _: &mut Context<Self>) {
        self.sum += add.0;
    }
}

impl Actor for Sum {
    fn started(&mut self, context: &mut Context<Self>) {
        // Any `futures_core::Stream` will do, with whatever adapters stand before it.
        let first = self.primes.stream_buffered(4).take(100);
        context
            .attach(first)
            .window(2)
            .on_end(|sum, end, context| {
                println!("the first 100 primes add up to {} ({end:?})", sum.sum);
                context.stop();
            })
            .each(Add);
    }

    fn stopped(&mut self, _: &ExitReason, _: &mut Context<Self>) {
        assert_eq!(self.sum, 24_133);
    }
}

fn main() -> Result<(), Broken> {
    let primes = spawn(Primes { found: Vec::new() });
    let sum = spawn(Sum { primes: primes.clone(), sum: 0 });
    assert_eq!(sum.ended().wait()?, ExitReason::Normal);
    // No more were made than were asked for, and those were few more than were read.
    let made = call(&primes, |primes| primes.found.len()).wait()?;
    assert!((100..=104).contains(&made), "{made}");
    Ok(())
}
