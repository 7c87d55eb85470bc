//! Running at once, on the calling thread, if the cowns are free.

use std::thread;

use coact::call_here;
use coact::prelude::*;
use coact::runtime::BuildError;

fn main() -> Result<(), BuildError> {
    let runtime = Runtime::builder().workers(1).build()?;
    let _entered = runtime.enter();
    let (a, b) = (Cown::new(1), Cown::new(2));

    // The two are free, so this runs right here: no queue, no worker, no allocation.
    let caller = thread::current().id();
    let ran = when_here((&a, &b), move |(a, b)| {
        assert_eq!(thread::current().id(), caller);
        std::mem::swap(a, b);
    });
    assert!(ran);

    // With a result, which is there when the call returns.
    let sum = call_here((&a, &b), |(a, b)| *a + *b);
    assert_eq!(sum.try_wait().expect("it has run"), Ok(3));

    // While a behaviour holds `a`, the same call is queued behind it, as `when` would be. The
    // order is the same either way.
    let (release, held) = Promise::<()>::channel();
    let (holding, has_begun) = Promise::channel();
    let gate = thread::spawn(move || held.wait());
    when(&a, move |a| {
        holding.resolve(());
        // Blocking a worker on another thread is bad manners; here it makes the cown busy.
        gate.join().expect("no panic in there").expect("it is resolved below");
        *a *= 10;
    });
    has_begun.wait().expect("the behaviour runs");
    let ran = when_here(&a, |a| *a += 1);
    assert!(!ran);
    release.resolve(());

    runtime.wait_idle();
    let (a, b) =
        (a.into_inner().expect("the last handle"), b.into_inner().expect("the last handle"));
    println!("{a} {b}");
    assert_eq!((a, b), (21, 1));
    Ok(())
}
