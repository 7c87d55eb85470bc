//! Behaviours that borrow from the caller's stack.

use coact::prelude::*;

fn main() {
    let texts = ["one", "two and three", "four five six"].map(Cown::new);
    let mut words = [0; 3];
    let separator = String::from(" ");

    // The scope returns when all of its behaviours have run, so they may borrow: `separator` is
    // shared, and each closure has one element of `words` for itself.
    scope(|s| {
        for (text, count) in texts.iter().zip(&mut words) {
            let separator = &separator;
            s.when(text, move |text| *count = text.split(separator.as_str()).count());
        }
    });

    println!("{words:?} words");
    assert_eq!(words, [1, 3, 3]);
}
