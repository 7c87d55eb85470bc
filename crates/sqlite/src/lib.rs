//! A store of durable actors in an SQLite file.
//!
//! All it needs is a file name:
//!
//! ```
//! use coact_persist::{EntityId, Seq, Store, wait};
//! use coact_sqlite::SqliteStore;
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("bank.db");
//! let store = SqliteStore::open(&path)?;
//! let claim = wait(|done| store.claim(EntityId::new("bank.account", "alice"), done))?;
//! assert_eq!(claim.last, Seq::ZERO);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! One thread writes the file. It groups all waiting requests into one transaction, and so one
//! flush to the disk; each commit in it is refused alone. A commit is reported only after its flush
//! (`journal_mode = WAL`, `synchronous = FULL`). Another thread reads. Of the program's code they
//! run only callbacks.
//!
//! If a transaction fails, its commits are refused, and the file is opened again. If its last step
//! fails, the store first truncates the WAL before it and flushes that, which takes no room on a
//! full disk: then no crash brings the transaction back. Only if this fails as well are the
//! outcomes of its commits unknown, until a later transaction settles them. Data of a failed flush
//! may be lost for good although the system still shows it, so the store never reports it: SQLite's
//! index of the WAL ends before it, and the next transaction overwrites it. Opening a store writes
//! and flushes the WAL of an earlier process once more before it reports any of it. After a failed
//! flush of the file itself, checkpoints end and the WAL grows until the store is opened again (and
//! tools that read it have closed it).
//!
//! A checkpoint copies the WAL into the file and restarts it when it has 1,000 pages (4 MiB) and no
//! one reads in it. The store's own reader pauses for it between two queries, so beyond the largest
//! transaction the WAL grows only by what is written during one query. A transaction of another
//! connection, such as a tool or a [frozen](SqliteReader::freeze) reader, can delay it as long as
//! it lasts: from 8,000 pages on the store logs a warning, on Linux with the processes in question.
//! A grown WAL is truncated to 8 MiB when it restarts.
//!
//! What the store waits for, what ends the wait, and who is told meanwhile:
//!
//! | a wait for | ends | is told meanwhile |
//! | --- | --- | --- |
//! | the transaction before, or questions before | when they are answered | all in order |
//! | another process that writes to the file, against advice | after 5 s; and as long as it goes on, the next ones are not waited for | all of the transaction, as refused |
//! | a disk that hangs | when the system answers: neither this process nor its end can end it | no one |
//! | the writer's transaction and its checkpoint, by a question when the WAL is long | when that is done, or has failed | the question, behind it |
//! | the lock of the file | at once: the file is in use | the caller of `open` |
//! | [`freeze`](SqliteReader::freeze), [`check`](SqliteReader::check), [`back_up`](SqliteReader::back_up) | when they are done | the caller, who waits |
//! | a store that is dropped | when all that was asked is told: both threads are joined, but the one that drops it. [`close`](coact_persist::Store::close) does not block | the caller, who waits |
//!
//! A limit on the size of files acts like a full disk: requests are refused until there is room. A
//! read-only file or folder, or a limit on open files, keeps a store from being opened, but does
//! not disturb an open one.
//!
//! `tests/power` cuts the power at any point, and fails each write and flush in turn.
//!
//! One process at a time owns the file, by a lock beside it (`bank.db.lock`); tools may read it
//! meanwhile ([`SqliteReader`]). So a file with a second name (a hard link) is refused: under that
//! name it would have another lock, and another WAL. If the file or its WAL is removed, moved or
//! replaced while in use, nothing more is committed until it is back.
//!
//! Data goes to `bank.db-wal` first, which belongs to the file: a copy of `bank.db` alone may be
//! empty. Dropping the store closes the file with all its data, once all its journals and actors
//! are gone; a program that just ends leaves both files, and loses nothing.
//! [`SqliteReader::back_up`] copies a file in use.
//!
//! Reading order: `store` (the thread that writes, and its requests), `batch` (one transaction),
//! `entity_cache` (remembered rows), `reader` (the other thread), `read` (its queries), `check`,
//! `row`, `restore`, `schema`, `failure`, `callback`, `owner_lock`, `files` (names and the files
//! beside), `leftover_wal`, `checkpoint`, `reader_gate`, `wal_holders`, `failed_commit`,
//! `request_thread`.

#![forbid(unsafe_code)]

mod backup_error;
mod batch;
mod callback;
mod check;
mod checkpoint;
mod entity_cache;
mod failed_commit;
mod failure;
mod files;
mod leftover_wal;
mod open_error;
mod owner_lock;
mod read;
mod reader;
mod reader_gate;
mod request_thread;
mod restore;
mod row;
mod schema;
mod store;
mod wal_holders;

pub use self::backup_error::BackupError;
pub use self::check::Irregularity;
pub use self::open_error::OpenError;
pub use self::reader::SqliteReader;
pub use self::store::SqliteStore;
