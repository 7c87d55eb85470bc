//! Cases of an actor with another state.

use coact::dynamic::{DynCases, DynContext, cases, spawn_dyn_with};

fn of_text() -> DynCases<String> {
    cases! { |me: &mut DynContext<String>| (text: String) => *me.state_mut() = text }
}

fn main() {
    spawn_dyn_with(0, |me: &mut DynContext<u32>| me.become_(of_text()));
}
