//! Cases need not be `Sync`, so two behaviours cannot read the state at once.

use coact::call;
use coact::dynamic::{DynContext, spawn_dyn_with};

fn main() {
    let address = spawn_dyn_with(0, |_: &mut DynContext<u32>| {});
    let _ = call(address.read(), |state| *state);
}
