//! A message for each of many types.

#![allow(unused)]

use coact::prelude::*;

#[derive(Actor)]
struct Account;

#[handlers]
impl Account {
    #[message]
    fn deposit<T: Into<i64>>(&mut self, amount: T) {}

    #[message]
    fn lifetime<'a>(&'a mut self, amount: i64) {}

    #[message]
    fn hidden(&mut self, amount: impl Into<i64>) {}
}

fn main() {}
