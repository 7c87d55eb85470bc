//! Entering a runtime concerns one thread.

use coact::prelude::*;

fn main() {
    let runtime = Runtime::new().unwrap();
    let entered = runtime.enter();
    std::thread::scope(|s| {
        s.spawn(move || drop(entered));
    });
}
