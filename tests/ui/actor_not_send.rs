//! An actor that cannot go from one worker to another.

use std::rc::Rc;

use coact::prelude::*;

#[derive(Actor)]
struct Window(Rc<u32>);

fn main() {
    let window = Window(Rc::new(7));
    spawn(window);
    actor(Window(Rc::new(8)));
}
