//! Behaviours that are spawned later, once or again and again.

use std::time::Duration;

use coact::prelude::*;
use coact::runtime::BuildError;

const SOON: Duration = Duration::from_millis(5);
const LATER: Duration = Duration::from_millis(40);

fn main() -> Result<(), BuildError> {
    let runtime = Runtime::builder().workers(1).build()?;

    // `run` returns when no work is left, and pending timers are work.
    let (log, never) = runtime.run(|| {
        let log = Cown::new(Vec::new());
        after(LATER, &log, |log| log.push("later"));
        after(SOON, &log, |log| log.push("soon"));

        // A timer can be cancelled until it fires.
        let never = Cown::new(false);
        let timer = after(Duration::from_secs(3600), &never, |fired| *fired = true);
        assert!(timer.cancel());
        (log, never)
    });
    assert_eq!(log.into_inner().expect("the last handle"), ["soon", "later"]);
    assert!(!never.into_inner().expect("the last handle"));

    // A periodic timer fires until it is cancelled: here from the outside, once it has been seen
    // to fire three times.
    let _entered = runtime.enter();
    let (resolver, third) = Promise::channel();
    let state = Cown::new((0, Some(resolver)));
    let timer = every(SOON, &state, |(ticks, resolver)| {
        *ticks += 1;
        if *ticks == 3 {
            resolver.take().expect("the third tick comes once").resolve(());
        }
    });
    third.wait().expect("the timer fires");
    timer.cancel();
    runtime.wait_idle();

    let ticks = call(&state, |(ticks, _)| *ticks).wait().expect("nobody panicked");
    println!("{ticks} ticks");
    assert!(ticks >= 3);
    Ok(())
}
