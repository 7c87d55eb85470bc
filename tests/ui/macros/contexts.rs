//! The context and the reply, twice or in the wrong way.

#![allow(unused)]

use coact::prelude::*;
use coact::Context;

#[derive(Actor)]
struct Account;

#[handlers]
impl Account {
    #[message]
    fn two_contexts(&mut self, one: &mut Context<Self>, two: &mut Context<Self>) {}

    #[message]
    fn owned_context(&mut self, context: Context<Self>) {}

    #[message]
    fn two_replies(&mut self, one: Reply<i64>, two: Reply<i64>) {}

    #[message]
    fn reply_and_value(&mut self, reply: Reply<i64>) -> i64 {
        5
    }

    #[message]
    fn reply_and_future(&mut self, reply: Reply<i64>) -> impl Future<Output = i64> {
        async { 5 }
    }

    #[message]
    async fn context_of_running(this: Addr<Self>, context: &mut Context<Self>) {}
}

fn main() {}
