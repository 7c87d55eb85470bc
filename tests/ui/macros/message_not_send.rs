//! Messages and replies that would take something from one thread to another that must not go there.

#![allow(unused)]

use std::rc::Rc;

use coact::prelude::*;

#[derive(Message)]
struct Share(Rc<u32>);

#[derive(Message)]
#[message(reply = Rc<u32>)]
struct Get;

#[derive(Actor)]
struct Account;

#[handlers]
impl Account {
    #[message]
    fn deposit(&mut self, amount: Rc<i64>) {}

    #[message]
    fn balance(&mut self) -> Rc<i64> {
        Rc::new(5)
    }
}

fn main() {}
