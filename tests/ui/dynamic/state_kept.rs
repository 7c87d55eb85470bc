//! A reference to the state is of one case.

use coact::dynamic::{DynContext, cases, spawn_dyn_with};

fn main() {
    spawn_dyn_with(vec![0], |me: &mut DynContext<Vec<i32>>| {
        let first = &mut me.state_mut()[0];
        me.become_(cases! { |_me: &mut DynContext<Vec<i32>>| (n: i32) => {} });
        *first = 1;
    });
}
