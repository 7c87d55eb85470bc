//! An actor around a shared structure: tasks update a map behind it, wait for something slow, and
//! update again. There is no lock; the mailbox is bounded, so tasks wait for room instead of piling
//! up; and while one waits for its input and output, the actor serves the others.

use std::collections::HashMap;
use std::time::Duration;

use coact::Context;
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::runtime::spawn_future;
use coact::time::sleep;

const TASKS: usize = 200;
const KEYS: [&str; 10] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];

/// Counts by key.
#[derive(Actor, Default)]
struct Table {
    counts: HashMap<String, u64>,
    most_at_once: usize,
}

#[handlers]
impl Table {
    /// Adds to a key, and answers with its count.
    #[message]
    fn add(&mut self, key: String, amount: u64, context: &mut Context<Self>) -> u64 {
        self.most_at_once = self.most_at_once.max(context.address().mailbox().len());
        let count = self.counts.entry(key).or_default();
        *count += amount;
        *count
    }
}

/// Ten updates, something slow, and ten more.
async fn calculate(table: Addr<Table>) -> Result<(), AskError> {
    for round in 0..2 {
        for key in KEYS {
            table.ask_async(Add { key: key.into(), amount: 1 }).await?;
        }
        if round == 0 {
            sleep(Duration::from_micros(64)).await.expect("the runtime runs");
        }
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let table = actor(Table::default()).mailbox(Mailbox::bounded(16).wait()).spawn();
    let tasks: Vec<_> = (0..TASKS).map(|_| spawn_future(calculate(table.clone()))).collect();
    for task in tasks {
        task.wait()??;
    }

    // Looked at together with nothing else in between: the table is a cown like any other.
    let (counts, most) = call(&table, |table| (table.counts.clone(), table.most_at_once)).wait()?;
    println!("{TASKS} tasks, {} keys, at most {most} messages waited", counts.len());
    assert!(KEYS.iter().all(|key| counts[*key] == 2 * TASKS as u64));
    assert!(most <= 16, "the mailbox is bounded");
    Ok(())
}
