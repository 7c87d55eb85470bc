//! Promises: waiting for them, chaining cowns to them, and what becomes of those that are broken.

use std::time::Duration;

use coact::prelude::*;

fn main() {
    let stock = Cown::new(5_u32);
    let orders = Cown::new(Vec::new());

    // Behaviours must not block. What is to happen with a result is chained instead: `then` spawns
    // a behaviour on other cowns once the value is there.
    let taken = call(&stock, |stock| {
        let taken = (*stock).min(3);
        *stock -= taken;
        taken
    });
    let number = taken.then(&orders, |orders, taken| {
        orders.push(taken.expect("the stock is sound"));
        orders.len()
    });

    // Outside of behaviours one may wait, with or without a limit.
    assert_eq!(number.wait(), Ok(1));

    // The two ends can also be had apart, to connect callbacks or other threads.
    let (resolver, promise) = Promise::channel();
    let early = promise.wait_timeout(Duration::ZERO);
    let promise = early.expect_err("nobody has resolved it yet");
    resolver.resolve("now");
    assert_eq!(promise.wait(), Ok("now"));

    // A promise always comes to an end. If the value can no longer come, it says why.
    let (resolver, promise) = Promise::<u32>::channel();
    drop(resolver);
    let why = promise.wait().unwrap_err();
    println!("no value: {why}");
    assert_eq!(why, Broken::Dropped);
}
