//! What is stored is read again by its name.

use coact::durable::stored;

#[stored]
struct Nameless(#[n(0)] u64);

#[stored(name = "bank.deposited", version = 2, before = Nameless)]
struct Misspelt(#[n(0)] u64);

#[stored(name = "list")]
struct List<T>(#[n(0)] Vec<T>);

#[stored(name = "")]
struct Nameless(#[n(0)] u64);

#[stored(name = "bank.none", version = 0)]
struct BeforeTheFirst(#[n(0)] u64);

fn main() {}
