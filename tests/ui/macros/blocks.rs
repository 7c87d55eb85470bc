//! Blocks without messages, or that cannot have any.

#![allow(unused)]

use coact::prelude::*;

#[derive(Actor)]
struct Account;

#[handlers]
impl Account {
    fn deposit(&mut self) {}
}

#[handlers]
impl Default for Account {
    #[message]
    fn default() -> Self {
        Account
    }
}

#[handlers]
struct Elsewhere;

struct Borrowing<'a>(&'a str);

#[handlers]
impl<'a> Borrowing<'a> {
    #[message]
    fn length(&self) -> usize {
        self.0.len()
    }
}

#[derive(Actor)]
struct BorrowingActor<'a>(&'a str);

#[derive(Message)]
struct BorrowingMessage<'a>(&'a str);

#[handlers(api = pub PublicApi)]
impl Account {
    #[message]
    fn private(&mut self) {}
}

fn main() {}
