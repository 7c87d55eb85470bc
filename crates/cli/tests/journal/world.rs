//! A file with some of everything, and the tool.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use coact_persist::{
    Commit, CommitMember, EntityId, Epoch, Event, EventHash, NoteKind, Seq, Store, StoreOutcome,
    Tags, minicbor, wait,
};
use coact_sqlite::SqliteStore;
use rusqlite::Connection;
use tempfile::TempDir;

/// What a run has come to.
pub struct Told {
    pub status: i32,
    pub out: String,
    pub err: String,
}

/// The tool's command.
pub fn tool(source: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coact"));
    command.arg("journal").arg(source).stdin(Stdio::null());
    command
}

/// Runs the tool.
pub fn coact(source: &Path, args: &[&str]) -> Told {
    told(tool(source).args(args).output().expect("the tool runs"))
}

fn told(output: Output) -> Told {
    let text = |bytes| String::from_utf8(bytes).expect("it writes UTF-8");
    let status = output.status.code().expect("it ends by itself");
    Told { status, out: text(output.stdout), err: text(output.stderr) }
}

impl Told {
    /// What it says if all is well.
    #[track_caller]
    pub fn well(self) -> String {
        assert_eq!((self.status, &*self.err), (0, ""), "{}", self.out);
        self.out
    }

    /// The one line that it says if it cannot.
    #[track_caller]
    pub fn refused(self) -> String {
        assert_eq!((self.status, &*self.out), (2, ""), "{}", self.err);
        let line = self.err.strip_prefix("coact: ").expect("it says who says so");
        assert_eq!(line.matches('\n').count(), 1, "one line: {line}");
        line.trim_end().to_owned()
    }
}

/// A folder with the file `bank.db` in it.
pub struct World {
    pub folder: TempDir,
    pub path: PathBuf,
}

impl World {
    pub fn empty() -> Self {
        let folder = tempfile::tempdir().expect("there is room for a folder");
        let path = folder.path().join("bank.db");
        Self { folder, path }
    }

    /// With two accounts, an order that has no events, and a journal whose payloads are no CBOR.
    pub fn new() -> Self {
        let world = Self::empty();
        world.fill(&world.store());
        world.checkpoint();
        world
    }

    pub fn store(&self) -> SqliteStore {
        SqliteStore::open(&self.path).expect("it can be opened")
    }

    /// Has all in the file itself, as after the last connection that may write.
    pub fn checkpoint(&self) {
        let connection = Connection::open(&self.path).expect("it can be opened");
        connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
            .map(|busy: i64| assert_eq!(busy, 0))
            .expect("it can be written");
    }

    fn fill(&self, store: &SqliteStore) {
        let mut alice = Entity::claim(store, "bank.account", "alice");
        for cents in [10_000_u64, 376, 25] {
            alice.event(store, deposited(cents));
        }
        alice.commit(store, |member, _| {
            let put = |member: &mut CommitMember, kind, key: &[u8], rank, cents| {
                let key = coact_persist::NoteKey::new(key);
                member.put_note(kind, key, rank, deposited(cents));
            };
            put(member, NoteKind::Outgoing, b"bank.account/bob 7", 1_700_000_000_123, 376);
            put(member, NoteKind::DeadLetter, b"carol", 0, 25);
            put(member, NoteKind::ClientAnswer, &[0xff, 0], 1_700_000_600_000, 2);
            put(member, NoteKind::Timer, b"monthly fee", 1_701_388_800_000, 500);
            put(member, NoteKind::Timer, b"soon", 7, 0);
            None
        });

        let mut bob = Entity::claim(store, "bank.account", "bob");
        for cents in 1..=5_u64 {
            bob.event(store, deposited(cents));
            if cents % 2 == 0 {
                let state = Event::new("bank.account", 2, cbor((cents, true)));
                bob.commit(store, |member, hash| {
                    member.snapshot(state, hash);
                    None
                });
            }
        }
        bob.commit(store, |member, _| {
            member.trim(Seq::new(2));
            None
        });
        let bob = Entity::claim(store, "bank.account", "bob");
        assert_eq!(bob.epoch, Epoch::new(2));

        let mut order = Entity::claim(store, "bank.order", "2026/11/27");
        for state in ["open", "paid"] {
            let state = Event::new("bank.order", 1, cbor((1, state)));
            order.commit(store, |member, hash| Some(member.replace(state, hash)));
        }

        let mut journal = Entity::claim(store, "journal", "night shift");
        journal.commit(store, |member, hash| {
            let line = Event::new("line", 1, b"pump 3 is \"odd\"\n".to_vec());
            let hash = member.event(line, hash);
            member.tag(Tags::new(["pump 3", "night"]));
            Some(hash)
        });
        journal.event(store, Event::new("line", 1, vec![0xff, 0x00]));
    }

    /// Changes the file behind the store's back.
    pub fn damage(&self, sql: &str) {
        let connection = Connection::open(&self.path).expect("it can be opened");
        let changed = connection.execute(sql, []).expect("it can be changed");
        assert!(changed > 0, "nothing was changed");
    }

    /// What is in the folder.
    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        let all = fs::read_dir(self.folder.path()).expect("it is there");
        let mut all: Vec<_> = all
            .map(|entry| {
                let path = entry.expect("it can be listed").path();
                let name = path.file_name().expect("it has a name").to_string_lossy().into_owned();
                (name, fs::read(&path).expect("it can be read"))
            })
            .collect();
        all.sort();
        all
    }
}

/// An entity, for its owner.
pub struct Entity {
    pub id: EntityId,
    pub epoch: Epoch,
    pub last: Seq,
    pub hash: EventHash,
}

impl Entity {
    pub fn claim(store: &SqliteStore, kind: &str, key: &str) -> Self {
        let id = EntityId::new(kind, key);
        let claim = wait(|done| store.claim(id.clone(), done)).expect("it can be claimed");
        Self { id, epoch: claim.epoch, last: claim.last, hash: claim.hash }
    }

    /// Commits what is written, which returns the hash if that is another one.
    pub fn commit(
        &mut self,
        store: &SqliteStore,
        write: impl FnOnce(&mut CommitMember, EventHash) -> Option<EventHash>,
    ) {
        let mut commit = Commit::new();
        let member = commit.member(self.id.clone(), self.epoch, self.last);
        self.hash = write(member, self.hash).unwrap_or(self.hash);
        self.last = member.last();
        let outcome = wait(|done| store.commit(commit, done));
        assert!(matches!(outcome, StoreOutcome::Committed(_)), "{outcome:?}");
    }

    pub fn event(&mut self, store: &SqliteStore, event: Event) {
        self.commit(store, |member, hash| Some(member.event(event, hash)));
    }
}

/// As `#[stored]` writes it: the first variant of an enum.
pub fn deposited(cents: u64) -> Event {
    Event::new("bank.deposited", 1, cbor((0, (cents,))))
}

fn cbor(value: impl minicbor::Encode<()>) -> Vec<u8> {
    minicbor::to_vec(value).expect("it can be written")
}

/// Lines of JSON.
#[track_caller]
pub fn records(text: &str) -> Vec<serde_json::Value> {
    text.lines().map(|line| serde_json::from_str(line).expect("each line is JSON")).collect()
}
