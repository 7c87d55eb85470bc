//! Atoms are checked while the program is compiled.

use coact::dynamic::{Cases, atom, cases};

fn main() {
    let _: Cases<'_, (), ()> = cases! {
        (atom!("what?")) => (),
    };
}
