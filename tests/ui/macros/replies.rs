//! Return types that cannot be replies.

#![allow(unused)]

use coact::prelude::*;

#[derive(Actor)]
struct Account {
    name: String,
}

#[handlers]
impl Account {
    #[message]
    fn name(&self) -> &str {
        &self.name
    }

    #[message]
    fn letters(&self) -> impl Iterator<Item = char> {
        "name".chars()
    }

    #[message]
    fn later(&self) -> impl Future {
        async {}
    }

    #[message]
    fn borrows(&self) -> impl Future<Output = usize> + use<'_> {
        async { self.name.len() }
    }

    #[message]
    fn borrows_by_bound(&self) -> impl Future<Output = usize> + '_ {
        async { self.name.len() }
    }

    #[message]
    async fn twice() -> impl Future<Output = i64> {
        async { 5 }
    }
}

fn main() {}
