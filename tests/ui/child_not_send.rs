//! An actor that is not `Send` as the child of a supervisor.

use std::rc::Rc;

use coact::prelude::*;
use coact::supervise::{Supervisor, permanent};

#[derive(Actor)]
struct Window(Rc<str>);

fn main() {
    let mut tree = Supervisor::one_for_one();
    let _ = tree.child(permanent(|| Window("main".into())));
}
