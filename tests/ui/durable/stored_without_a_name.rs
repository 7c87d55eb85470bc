//! What is stored is read again by its name.

use coact::durable::stored;

#[stored]
struct Nameless(#[n(0)] u64);

#[stored(name = "bank.deposited", version = 2, before = Nameless)]
struct Misspelt(#[n(0)] u64);

#[stored(name = "list")]
struct List<T>(#[n(0)] Vec<T>);

fn main() {}
