//! A cown each.

use coact::prelude::{Cown, ask};

use super::super::runtime;
use super::{make, witnesses};
use crate::harness::{Measured, Setup};

/// Makes them inside a behaviour, where most cowns are made.
pub fn run(setup: &Setup, count: u64) -> Measured {
    let runtime = runtime::coact(setup);
    let _entered = runtime.enter();
    let (cowns, mut measured) =
        ask(Cown::new(()), move |_| make(count, Cown::new)).wait().expect("they are made");
    for witness in witnesses(count) {
        let cown = cowns[witness as usize].as_ref().expect("all are made");
        measured.result += ask(cown, |number| *number).wait().expect("it answers");
    }
    measured
}
