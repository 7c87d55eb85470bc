//! A file is opened again as soon as its journal is closed, though there are handles and addresses
//! yet.

use std::time::Duration;

use coact::actor::AskError;
use coact::durable::{
    Decide, Durable, EntityId, EventSourced, Journal, LogError, Position, StoreError, stored,
};
use coact::prelude::*;
use coact_sqlite::SqliteStore;

#[derive(Default)]
struct Counter(u64);

#[stored(name = "counted")]
struct Counted;

impl EventSourced for Counter {
    const KIND: &'static str = "counter";
    type Event = Counted;

    fn new(_: &EntityId) -> Self {
        Self::default()
    }

    fn apply(&mut self, _: &Counted) {
        self.0 += 1;
    }
}

#[derive(Message)]
#[message(reply = u64)]
struct Count;

impl Decide<Count> for Counter {
    fn decide(counter: &mut Durable<Self>, _: Count) -> u64 {
        counter.persist(Counted);
        counter.0
    }
}

#[test]
fn e25_a_file_is_opened_again_when_its_journal_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("counts.db");
    let (mut sum, mut left) = (0, Vec::new());
    for _ in 0..20 {
        // The journals before are closed, and there.
        let journal = Journal::new(SqliteStore::open(&path).unwrap());
        let counter = journal.entity::<Counter>("visits");
        let mut log = journal.log::<Counter>(Position::ZERO);
        assert_eq!(counter.ask(Count).wait(), Ok(sum + 1));
        sum += 1;
        assert!(log.wait_next().is_ok());
        let asked: Vec<_> = (0..10).map(|_| counter.ask(Count)).collect();
        assert_eq!(journal.close(Duration::from_secs(60)).wait().unwrap(), Ok(()));
        for asked in asked {
            match asked.wait() {
                Ok(count) => {
                    sum += 1;
                    assert_eq!(count, sum);
                }
                Err(AskError::NotCommitted(why)) => {
                    assert_eq!(why.why(), Some(&StoreError::Closed));
                }
                Err(other) => panic!("{other}"),
            }
        }
        let ended = loop {
            if let Err(error) = log.wait_next() {
                break error;
            }
        };
        assert_eq!(ended, LogError::Store(StoreError::Closed));
        left.push((journal, counter, log));
    }
    // Nothing is left beside the file.
    let names: Vec<_> =
        std::fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names, ["counts.db"]);
    drop(left);
}
