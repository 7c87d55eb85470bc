//! A future beside the actor that still uses it.

#![allow(unused)]

use coact::prelude::*;

#[derive(Actor)]
struct Account {
    name: String,
}

#[handlers]
impl Account {
    #[message]
    fn length(&self) -> impl Future<Output = usize> {
        async { self.name.len() }
    }

    #[message]
    fn ready_length(&self) -> impl Future<Output = usize> {
        let name = &self.name;
        std::future::ready(()).then_length(name)
    }
}

trait ThenLength: Sized {
    fn then_length(self, name: &str) -> impl Future<Output = usize> {
        async { name.len() }
    }
}

impl<F> ThenLength for F {}

fn main() {}
