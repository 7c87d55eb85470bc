//! A cown, a behaviour on it, and a behaviour with a result.

use coact::prelude::*;

fn main() {
    // State lives in a cown. A handle is one pointer; clone it freely.
    let greeting = Cown::new(String::from("Hello"));

    // A behaviour names the cowns that it needs and runs once it holds them. `when` returns at
    // once: the closure runs on a worker, with `&mut String`.
    when(&greeting, |text| text.push_str(", world"));

    // Behaviours on one cown run in the order in which they were spawned, so this one sees the
    // whole greeting. `ask` gives a promise of what the closure returns.
    let text = call(&greeting, |text| text.clone()).wait().expect("nobody panicked");

    println!("{text}");
    assert_eq!(text, "Hello, world");
}
