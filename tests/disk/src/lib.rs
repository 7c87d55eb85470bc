//! A disk for tests, below SQLite: it records what is written and synced, loses power at any point
//! of the record, and fails when it is told to.
//!
//! A process that is killed proves nothing about syncs, since the system keeps what it has written.
//! So [`Disk::watch`] puts a VFS between SQLite and the files of a folder, for the whole process,
//! without a change of the program: all goes to the real files, and into a record. A [`Replay`] of
//! the record makes *crash images*: what may be on the disk if the power fails at that point. All
//! that was synced is there; of all else any part, down to sectors of 512 bytes.
//!
//! What it assumes of a disk: a sector is written as a whole or not at all, and the bytes around a
//! write stay as they are (SQLite's "powersafe overwrite"); a sync that succeeds has written what
//! came before it; one that fails may have lost it for good, although it can still be read. Names
//! of files are on the disk when their folder is synced, which SQLite does at the first sync of a
//! new journal or WAL.
//!
//! Nothing is really synced: images are made of the record, so hundreds of commits take
//! milliseconds.
//!
//! Reading order: `record` (what has happened), `replay` (what is left of it), `folder` (who keeps
//! the record, and says what fails), `vfs` (what SQLite calls), `direct` (what the program writes
//! without SQLite), `disk` (what tests have in hand).

#![cfg(unix)]

mod dice;
mod direct;
mod disk;
mod folder;
mod record;
mod replay;
mod vfs;

pub use self::dice::Dice;
pub use self::disk::Disk;
pub use self::folder::{Fault, Operation};
pub use self::record::Kind;
pub use self::replay::{FailedSyncs, Image, Keep, Replay};
