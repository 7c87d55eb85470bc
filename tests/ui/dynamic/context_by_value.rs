//! The context is lent.

use coact::dynamic::cases;

fn main() {
    let _ = cases! { |sum: i32|
        (n: i32) => n + sum,
    };
}
