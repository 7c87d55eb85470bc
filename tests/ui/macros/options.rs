//! Options that there are not.

#![allow(unused)]

use coact::prelude::*;

#[derive(Actor)]
#[actor(mailbox = 5)]
struct Other;

#[derive(Message)]
#[message(answer = i64)]
struct Hello;

#[derive(Message)]
#[message(reply = i64, reply = u64)]
struct Twice;

#[derive(Actor)]
struct Account;

#[handlers]
impl Account {
    #[message(detached)]
    fn unknown(&mut self) {}

    #[message(reply = i64)]
    fn reply(&mut self) -> i64 {
        5
    }

    #[message(name = One, name = Two)]
    fn twice(&mut self) {}

    #[message]
    #[message]
    fn marked_twice(&mut self) {}

    #[message]
    fn _1(&mut self) {}
}

#[handlers(no_api)]
impl Account {
    #[message]
    fn known(&mut self) {}
}

fn main() {}
