//! Supervisors: actors that restart others when they fail. Addresses and messages stay.

use std::time::Duration;

use coact::Context;
use coact::prelude::*;
use coact::supervise::{Backoff, Shutdown, Supervisor, permanent, transient};

/// Reads numbers, and cannot stand what is none.
struct Parser {
    sum: i64,
    store: Addr<Store>,
}

impl Actor for Parser {
    fn restarted(&mut self, reason: &ExitReason, _: &mut Context<Self>) {
        println!("the parser is back, since {reason}");
    }
}

struct Line(&'static str);

impl Message for Line {
    type Reply = i64;
}

impl Handler<Line> for Parser {
    fn handle(&mut self, line: Line, _: &mut Context<Self>) -> i64 {
        let number: i64 = line.0.parse().expect("a number");
        self.sum += number;
        let _ = self.store.send(Keep(number));
        self.sum
    }
}

/// Keeps what the parser has read.
#[derive(Default)]
struct Store(Vec<i64>);

impl Actor for Store {}

struct Keep(i64);

impl Message for Keep {
    type Reply = ();
}

impl Handler<Keep> for Store {
    fn handle(&mut self, keep: Keep, _: &mut Context<Self>) {
        self.0.push(keep.0);
    }
}

struct Session(u32);

impl Actor for Session {}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The standard hook would print a backtrace for each panic.
    std::panic::set_hook(Box::new(|_| {}));

    // The parser uses the store, so it is declared behind it: when the store fails, both restart.
    let mut readers = Supervisor::rest_for_one()
        .intensity(5, Duration::from_secs(10))
        .backoff(Backoff::exponential(Duration::from_millis(1), Duration::from_millis(50)))
        .name("readers");
    let store = readers.child(permanent(Store::default).name("store"));
    let kept = store.clone();
    let make = move || Parser { sum: 0, store: kept.clone() };
    let parser = readers.child(permanent(make).name("parser").shutdown(Shutdown::drain()));

    // Trees are children of trees.
    let mut tree = Supervisor::one_for_one();
    let readers = tree.child(readers);
    let sessions = tree.child(Supervisor::dynamic().name("sessions"));
    let root = tree.spawn();

    assert_eq!(parser.ask(Line("20")).wait()?, 20);
    let failed = parser.ask(Line("twenty")).wait();
    assert!(matches!(failed, Err(AskError::Panicked(why)) if why.starts_with("a number")));
    // The same address, a new state; the store beside it has lost nothing.
    assert_eq!(parser.ask(Line("1")).wait()?, 1);
    assert_eq!(call(&store, |store| store.0.clone()).wait(), Ok(vec![20, 1]));

    // Children that come and go.
    let session = sessions.start_child(transient(|| Session(7))).wait()?;
    assert_eq!(call(&session, |session| session.0).wait(), Ok(7));
    sessions.delete_child(session.id()).wait()?;
    assert!(session.has_ended());

    for child in readers.children().wait()? {
        println!("{:?}: {:?}, restarted {} times", child.name, child.state, child.restarts);
    }
    assert_eq!(readers.counts().wait()?.restarts, 1);

    // Last first, and each when the one behind it is down.
    root.stop()?;
    root.ended().wait()?;
    assert!(store.has_ended() && parser.has_ended());
    Ok(())
}
