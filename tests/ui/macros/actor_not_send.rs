//! An actor that cannot go from one worker to another.

#![allow(unused)]

use std::rc::Rc;

use coact::prelude::*;

#[derive(Actor)]
struct Account(Rc<u32>);

fn main() {}
