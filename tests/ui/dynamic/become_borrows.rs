//! What an actor becomes outlives the code that makes it.

use coact::dynamic::{DynContext, cases, spawn_dyn};

fn main() {
    let local = String::from("here");
    let seen = &local;
    spawn_dyn(move |me: &mut DynContext| {
        me.become_(cases! { |_me: &mut DynContext| (n: usize) if n == seen.len() => {} });
    });
}
