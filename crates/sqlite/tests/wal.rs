//! How long the WAL gets, and who is told if it gets too long.

use std::fmt::Debug;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, thread};

use coact_persist::{
    Claim, Commit, EntityId, Event, EventHash, Position, Store, StoreOutcome, StoreReader, wait,
};
use coact_sqlite::SqliteStore;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Metadata, Subscriber};

const KIND: &str = "account";

/// How many pages a commit here takes at most: ten of its event, and some of indexes and others.
const PAGES: usize = 20;

/// As many as there may be before the WAL is put into the file, and how long a page is there.
const LONG: usize = 1_000;
const FRAME: usize = 4_096 + 24;

/// Stores events of ten pages each.
struct Account {
    claim: Claim,
}

impl Account {
    fn claim(store: &SqliteStore) -> Self {
        let id = EntityId::new(KIND, "alice");
        Self { claim: wait(|done| store.claim(id, done)).unwrap() }
    }

    fn add(&mut self, store: &SqliteStore) {
        let mut commit = Commit::new();
        let Claim { epoch, last, hash, .. } = self.claim;
        let event = Event::new("noted", 1, vec![7; 40_000]);
        let hash: EventHash =
            commit.member(EntityId::new(KIND, "alice"), epoch, last).event(event, hash);
        let outcome = wait(|done| store.commit(commit, done));
        assert!(matches!(outcome, StoreOutcome::Committed(_)), "{outcome:?}");
        (self.claim.last, self.claim.hash) = (last.next(), hash);
    }
}

fn wal_length(path: &Path) -> usize {
    let mut name = path.as_os_str().to_owned();
    name.push("-wal");
    usize::try_from(fs::metadata(name).unwrap().len()).unwrap()
}

/// However often it is read, it has not more than what is written while one question is answered
/// beyond what it has anyway.
#[test]
fn a_wal_is_bounded_while_the_store_is_read_all_the_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bank.db");
    let store = Arc::new(SqliteStore::open(&path).unwrap());
    let mut account = Account::claim(&store);
    account.add(&store);
    let (written, is_over) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    // ORDERING: SeqCst in all of these, as it is a test.
    let readers: Vec<_> = (0..4)
        .map(|_| {
            let (store, written, is_over) =
                (Arc::clone(&store), Arc::clone(&written), Arc::clone(&is_over));
            thread::spawn(move || {
                let (mut after, mut longest) = (Position::ZERO, 0);
                while !is_over.load(Ordering::SeqCst) {
                    let before = written.load(Ordering::SeqCst);
                    let log = wait(|done| store.log(KIND.into(), after, 5, done)).unwrap();
                    // (The thread of the store has begun it behind that, and ended it before this.)
                    longest = longest.max(written.load(Ordering::SeqCst) - before);
                    after = log.last().map_or(Position::ZERO, |entry| entry.stored.position);
                }
                longest
            })
        })
        .collect();
    let mut most = 0;
    for _ in 0..1_000 {
        account.add(&store);
        written.fetch_add(1, Ordering::SeqCst);
        most = most.max(wal_length(&path));
    }
    is_over.store(true, Ordering::SeqCst);
    let longest = readers.into_iter().map(|reader| reader.join().unwrap()).max().unwrap();
    // It is tried at some pages more as well; and a question may be under way then, and the next
    // one be waited for.
    let bound = (2 * LONG + (2 * longest + 10) * PAGES) * FRAME;
    assert!(most <= bound, "{most} bytes, and {bound} at most, with {longest} in a question");
}

/// The warnings of all stores here.
static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Collector;

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        use std::fmt::Write;
        write!(self.0, "{field}={value:?} ").unwrap();
    }
}

impl Subscriber for Collector {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == tracing::Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut text = Text(String::new());
        event.record(&mut text);
        WARNINGS.lock().unwrap_or_else(PoisonError::into_inner).push(text.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn warnings(path: &Path) -> Vec<String> {
    let all = WARNINGS.lock().unwrap_or_else(PoisonError::into_inner);
    let of = |text: &&String| text.contains(&path.display().to_string());
    all.iter().filter(of).cloned().collect()
}

/// Nothing keeps it short then; and it is cut when the transaction has ended.
#[test]
fn who_holds_up_a_wal_is_named_and_it_shrinks_behind_that() {
    tracing::subscriber::set_global_default(Collector).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bank.db");
    let store = SqliteStore::open(&path).unwrap();
    let mut account = Account::claim(&store);
    account.add(&store);
    let tool = rusqlite::Connection::open(&path).unwrap();
    tool.execute_batch("BEGIN; SELECT count(*) FROM event").unwrap();
    while wal_length(&path) < 20 * LONG * FRAME {
        account.add(&store);
    }
    let said = warnings(&path);
    // At 8,000 pages, and at twice as many.
    assert_eq!(said.len(), 2, "{said:?}");
    if cfg!(target_os = "linux") {
        let this = format!("{} (this one)", std::process::id());
        assert!(said.iter().all(|text| text.contains(&this)), "{said:?}");
    }
    tool.execute_batch("COMMIT").unwrap();
    // (It is tried again after some more pages, and cut with the transaction behind that.)
    for _ in 0..30 {
        account.add(&store);
    }
    let left = wal_length(&path);
    assert!(left <= (8 << 20) + PAGES * FRAME, "{left} bytes are left");
    assert_eq!(warnings(&path).len(), 2);
}
