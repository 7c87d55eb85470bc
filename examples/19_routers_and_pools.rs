//! One address in front of many actors: routers, and pools that can be resized.

use std::error::Error;

use coact::Context;
use coact::prelude::*;
use coact::routing::{Pool, Router, Routing};

/// Counts the words that it sees.
#[derive(Default)]
struct Counter {
    words: usize,
}

impl Actor for Counter {}

#[derive(Clone)]
struct Text(&'static str);

impl Message for Text {
    type Reply = ();
}

impl Handler<Text> for Counter {
    fn handle(&mut self, text: Text, _: &mut Context<Self>) {
        self.words += text.0.split_whitespace().count();
    }
}

#[derive(Clone)]
struct Total;

impl Message for Total {
    type Reply = usize;
}

impl Handler<Total> for Counter {
    fn handle(&mut self, _: Total, _: &mut Context<Self>) -> usize {
        self.words
    }
}

fn total<'a>(counters: impl IntoIterator<Item = &'a Addr<Counter>>) -> Result<usize, AskError> {
    counters.into_iter().map(|counter| counter.ask(Total).wait()).sum()
}

fn main() -> Result<(), Box<dyn Error>> {
    // A router in front of actors that exist. What it chooses by is the strategy.
    let counters: Vec<_> = (0..3).map(|_| spawn(Counter::default())).collect();
    let router = Router::new(Routing::SmallestMailbox);
    for counter in &counters {
        router.add(counter.clone());
    }
    for _ in 0..30 {
        router.send(Text("three small words"))?;
    }
    assert_eq!(total(&counters)?, 90);
    assert_eq!(router.broadcast(Text("once"))?, 3);
    assert_eq!(total(&counters)?, 93);

    // The same key goes to the same actor.
    let by_word = Router::consistent_hash(|text: &Text| text.0);
    let shelves: Vec<_> = (0..3).map(|_| spawn(Counter::default())).collect();
    for shelf in &shelves {
        by_word.add(shelf.clone());
    }
    for _ in 0..10 {
        by_word.send(Text("apple"))?;
    }
    let mut counts =
        shelves.iter().map(|shelf| shelf.ask(Total).wait()).collect::<Result<Vec<_>, _>>()?;
    counts.sort_unstable();
    assert_eq!(counts, [0, 0, 10]);

    // A pool makes its members itself, and can be resized while it works.
    let pool = Pool::new(4, Counter::default);
    let first = pool.members();
    for _ in 0..100 {
        pool.send(Text("two words"))?;
    }
    pool.resize(2);
    assert_eq!(pool.size(), 2);
    assert_eq!(total(&first)?, 200, "those who went have done their work");

    // All are asked, the first answer counts.
    let some = pool.ask_first(Total).wait()?;
    println!("{} routees, a member with {some} words", router.routees().len());
    assert_eq!(some, 50);
    Ok(())
}
