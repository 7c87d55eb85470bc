//! A store of durable actors in an SQLite file.
//!
//! A file name is all the set-up:
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
//! The file is written by one thread of the store, in transactions: all that waits when the thread is free is one
//! transaction, and so one flush to the disk, in which each commit is refused alone. What was told to be committed has been flushed
//! (`journal_mode = WAL`, `synchronous = FULL`). Another thread reads. Neither runs code of the program but what is called
//! with results.
//!
//! If a transaction fails, its commits are refused, and the file is opened again. If it is its last step that fails, what it has written is cut off the
//! WAL first, and that is flushed, which takes no room on a full disk: then no crash brings it back. Only if this fails as well are the commits of unknown
//! outcome, until a later transaction settles them. What a failed flush should have written may be
//! lost for good, although the system still shows it; so nothing is told of it: it is not in SQLite's index of the WAL, and the next
//! transaction is written over it. When a store is opened, what an earlier process has left in the WAL is written and flushed once more
//! before any of it is told. After a failed flush of the file itself the WAL is not put into the file any more, and grows, until the store
//! is opened again (and tools that read it have closed it).
//!
//! The WAL is put into the file, and begins anew, when it has 1,000 pages (4 MiB), as soon as no one reads in it. The store's own reader makes room for that between two
//! questions, so beside the largest transaction it grows by no more than what is written while one question is answered. A transaction of
//! another connection, of a tool or a [frozen](SqliteReader::freeze) reader for instance, can hold it up for as long as it lasts: from 8,000 pages on that is logged as a warning, on
//! Linux with the processes that do so. When a WAL that has grown begins anew, it is cut to 8 MiB.
//!
//! What is waited for, what ends that, and who is told meanwhile:
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
//! A limit of the size of files is as a full disk: what is asked is refused, and goes on when it can. A file that has become read-only, or a folder, and a limit of open files keep
//! a store from being opened, and hold up no open one.
//!
//! `tests/power` has the power fail at any point, and each write and flush in turn.
//!
//! One process at a time has the file, which a lock beside it (`bank.db.lock`) sees to; tools may read it meanwhile
//! ([`SqliteReader`]). So a file that has another name by a hard link is refused: by that it would have another lock, and another WAL. If the
//! file or its WAL is removed, moved or replaced while it is in use, nothing more is committed, until it is back.
//!
//! What is written is in `bank.db-wal` first, which belongs to the file: a copy of `bank.db` alone may be empty. The file is
//! closed, and has all, when the store is dropped, which is when all journals and actors of it are gone; a program that just ends leaves both, and
//! nothing is lost. [`SqliteReader::back_up`] makes a copy while it is in use.
//!
//! Reading order: `store` (the thread that writes, and what it is asked), `batch` (one transaction), `entity_cache` (what it need not look for), `reader` (the other thread), `read` (its
//! queries), `check`, `row`, `restore`, `schema`, `failure`, `callback`, `owner_lock`, `files` (what is at a name, and beside it), `wal`, `checkpoint`, `reader_gate`,
//! `wal_holders`, `failed_commit`, `request_thread`.

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
mod wal;
mod wal_holders;

pub use self::backup_error::BackupError;
pub use self::check::Irregularity;
pub use self::open_error::OpenError;
pub use self::reader::SqliteReader;
pub use self::store::SqliteStore;
