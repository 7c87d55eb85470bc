//! A behaviour that panics: who is told, what is poisoned, and how to go on.

use std::sync::{Arc, Mutex};

use coact::prelude::*;
use coact::runtime::{BuildError, Fault};
use coact::when_or_else;

fn main() -> Result<(), BuildError> {
    // The hook is told of each panic, and of each behaviour that is skipped for poison. Without
    // one, they are events of `tracing`.
    let told = Arc::new(Mutex::new(Vec::new()));
    let hook = {
        let told = Arc::clone(&told);
        move |fault: &Fault| told.lock().expect("no panic in here").push(fault.to_string())
    };
    let runtime = Runtime::builder().workers(2).panic_hook(hook).build()?;
    let _entered = runtime.enter();
    // The standard hook would print a backtrace besides.
    std::panic::set_hook(Box::new(|_| {}));

    let left = Cown::new(10);
    let right = Cown::new(0);

    // The panic leaves the two half changed: `left` has paid, `right` has not got it.
    let paid = call((&left, &right), |(left, _right)| {
        *left -= 3;
        panic!("out of ink");
    });
    assert_eq!(paid.wait(), Err::<(), _>(Broken::Panicked("out of ink".into())));

    // Both are poisoned now, and later behaviours on them are skipped, ...
    let skipped = call(&left, |left| *left);
    assert_eq!(skipped.wait(), Err(Broken::Poisoned { position: 0 }));

    // ... and a spawner that wants no result can be told all the same, ...
    let (resolver, skipped) = Promise::channel();
    when_or_else(&left, |left| *left += 1, move |why| resolver.resolve(why));
    assert_eq!(skipped.wait(), Ok(Broken::Poisoned { position: 0 }));

    // ... while one that looks at many still sees those that are sound, ...
    let all = [left.clone(), Cown::new(7), Cown::new(8)];
    let sum = call(read_all(&all).checked(), |all| all.iter().flatten().sum::<i32>());
    assert_eq!(sum.wait(), Ok(15));

    // ... and one that asks to see the poison runs. This one puts the state right and clears the
    // mark.
    let mended = call((left.checked(), right.checked()), |(left, right)| {
        let (Err(mut left), Err(right)) = (left, right) else { panic!("both were poisoned") };
        *left.get_mut() = 10;
        left.clear();
        right.clear();
    });
    assert_eq!(mended.wait(), Ok(()));
    assert_eq!(call((&left, &right), |(l, r)| (*l, *r)).wait(), Ok((10, 0)));

    let told = told.lock().expect("no panic in here");
    println!("{}", told.join("\n"));
    assert_eq!(told.len(), 3);
    Ok(())
}
