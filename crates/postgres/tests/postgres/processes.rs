//! Two processes that take the same entities from each other, and are killed, as is the server.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};

use coact_persist::{CommitRefusal, CommitSettlement, EntityId, StoreError, StoreOutcome};
use coact_postgres::PostgresStore;

use crate::bank::{account, commit, settle, step, texts, try_claim, until_available};
use crate::server;

/// Names the database for the processes that are killed.
const DATABASE: &str = "COACT_TEST_DATABASE";

fn accounts() -> [EntityId; 2] {
    ["alice", "bob"].map(account)
}

/// Makes one step after the other, over both accounts, and tells which are stored; to be run by the
/// other test.
#[test]
#[ignore = "the other test runs it, and kills it"]
fn writes_until_it_is_killed() {
    let url = std::env::var(DATABASE).expect("the other test says where");
    let store = until_connected(&url);
    let names = accounts();
    let mut told = std::io::stdout();
    for number in 0_u64.. {
        let [one, two] = names.each_ref().map(|name| until_available(|| try_claim(&store, name)));
        let text = format!("{}-{number}", std::process::id());
        let both = step(&[(&names[0], &one), (&names[1], &two)], &text);
        let id = both.id();
        let is_stored = match commit(&store, both) {
            StoreOutcome::Committed(_) => true,
            StoreOutcome::Unknown(_) => {
                matches!(until_available(|| settle(&store, id)), CommitSettlement::Committed(_))
            }
            // The other process has them, or the server is away.
            StoreOutcome::Refused(
                CommitRefusal::Fenced { .. }
                | CommitRefusal::Conflict { .. }
                | CommitRefusal::Store(StoreError::Unavailable { .. }),
            ) => false,
            StoreOutcome::Refused(other) => panic!("{other}"),
        };
        if is_stored {
            writeln!(told, "stored {text}").unwrap();
        }
    }
}

fn until_connected(url: &str) -> PostgresStore {
    let begun = std::time::Instant::now();
    loop {
        match PostgresStore::builder(url).schema("coact").connect() {
            Ok(store) => return store,
            Err(error) => assert!(begun.elapsed().as_secs() < 60, "{error}"),
        }
    }
}

/// This program, as one that writes.
struct Writer {
    child: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
    told: Vec<String>,
}

impl Writer {
    fn start(url: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "processes::writes_until_it_is_killed", "--ignored", "--nocapture"])
            .env(DATABASE, url)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines, told: Vec::new() }
    }

    /// Takes what it tells next.
    fn next(&mut self) -> bool {
        let Some(Ok(line)) = self.lines.next() else { return false };
        self.told.extend(line.split_once("stored ").map(|(_, text)| text.to_owned()));
        true
    }

    /// Waits until it has stored some more.
    fn goes_on(&mut self) {
        let before = self.told.len();
        while self.told.len() < before + 3 {
            assert!(self.next(), "it has ended: {:?}", self.child.try_wait());
        }
    }

    /// Kills it. Returns what it has told.
    fn kill(mut self) -> Vec<String> {
        self.child.kill().unwrap();
        while self.next() {}
        self.child.wait().unwrap();
        self.told
    }
}

#[test]
fn processes_that_share_entities_survive_the_end_of_each_other_and_of_the_server() {
    let Some(mut server) = server::own() else { return };
    let url = server.url();
    let (mut one, mut two) = (Writer::start(&url), Writer::start(&url));
    let mut told = Vec::new();
    for _ in 0..3 {
        one.goes_on();
        two.goes_on();
        server.private_mut().stop();
        server.private_mut().start();
        one.goes_on();
        two.goes_on();
        told.extend(one.kill());
        one = Writer::start(&url);
    }
    told.extend(one.kill().into_iter().chain(two.kill()));
    let store = server.store("coact");
    let [alice, bob] = accounts().map(|name| texts(&store, &name));
    assert_eq!(alice, bob);
    let stored: HashSet<_> = alice.iter().collect();
    assert_eq!(stored.len(), alice.len(), "something happened twice");
    let lost: Vec<_> = told.iter().filter(|text| !stored.contains(text)).collect();
    assert!(lost.is_empty(), "told, and not there: {lost:?}");
}
