//! Futures that keep something over an await that must stay on its thread.

#![allow(unused)]

use std::rc::Rc;

use coact::prelude::*;

#[derive(Actor)]
struct Account(u32);

async fn moment() {}

#[handlers]
impl Account {
    #[message(held)]
    async fn held(&mut self) -> u32 {
        let local = Rc::new(5);
        moment().await;
        self.0 + *local
    }

    #[message]
    fn detached(&self) -> impl Future<Output = u32> {
        async {
            let local = Rc::new(5);
            moment().await;
            *local
        }
    }

    #[message]
    async fn alone() -> u32 {
        let local = Rc::new(5);
        moment().await;
        *local
    }
}

fn main() {}
