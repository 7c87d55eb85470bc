//! The compiler would not find the type of the context.

use coact::dynamic::{Cases, cases};

fn main() {
    let _: Cases<'_, Vec<i32>, ()> = cases! { |stack|
        (n: i32) => stack.push(n),
    };
}
