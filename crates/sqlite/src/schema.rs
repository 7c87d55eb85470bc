//! The tables, and connections to them.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, Error, ErrorCode, MAIN_DB, OpenFlags, Row};

use tracing::info;

use crate::files::open_error_from_io;
use crate::open_error::OpenError;

/// The version of the format: `PRAGMA user_version`.
const VERSION: i64 = 3;

/// For how many commits it is known that they were stored, at least.
pub(crate) const DECISIONS: i64 = 1 << 16;

/// Says that a file is a store: `PRAGMA application_id`, "COAC" in ASCII.
const APPLICATION: i64 = 0x434f_4143;

/// How much of the file who writes has in memory at most, in KiB.
const CACHE: i64 = 16 << 10;

/// How long to wait for a tool that writes to the file against advice.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

/// An entity's events are stored one behind the other. Identities are blobs, so that any text is
/// one, and is compared by its bytes.
const TABLES: &str = "
CREATE TABLE entity (
    id INTEGER PRIMARY KEY,
    kind BLOB NOT NULL,
    key BLOB NOT NULL,
    epoch INTEGER NOT NULL,
    last INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    UNIQUE (kind, key)
) STRICT;
CREATE TABLE event (
    entity INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    position INTEGER NOT NULL,
    name BLOB NOT NULL,
    version INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    payload BLOB NOT NULL,
    PRIMARY KEY (entity, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX event_by_position ON event (position);
CREATE TABLE snapshot (
    entity INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    hash INTEGER NOT NULL,
    name BLOB NOT NULL,
    version INTEGER NOT NULL,
    payload BLOB NOT NULL,
    PRIMARY KEY (entity, seq)
) STRICT, WITHOUT ROWID;
CREATE TABLE decision (
    id BLOB NOT NULL PRIMARY KEY,
    position INTEGER
) STRICT, WITHOUT ROWID;
CREATE TABLE counter (
    position INTEGER NOT NULL
) STRICT;
INSERT INTO counter VALUES (0);
";

/// What version 2 has besides.
const NOTES: &str = "
CREATE TABLE note (
    entity INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    key BLOB NOT NULL,
    rank INTEGER NOT NULL,
    name BLOB NOT NULL,
    version INTEGER NOT NULL,
    payload BLOB NOT NULL,
    PRIMARY KEY (entity, kind, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX note_by_rank ON note (kind, rank);
";

/// What version 3 has besides. In rows that were there before, sums are null.
const TAGS_AND_SUMS: &str = "
CREATE TABLE tag (
    tag BLOB NOT NULL,
    position INTEGER NOT NULL,
    entity INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    PRIMARY KEY (tag, position, entity, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX tag_by_event ON tag (entity, seq);
ALTER TABLE snapshot ADD COLUMN sum INTEGER;
ALTER TABLE note ADD COLUMN sum INTEGER;
";

/// What each version adds to the one before.
const ADDED: [&str; VERSION as usize] = [TABLES, NOTES, TAGS_AND_SUMS];

/// What there is in a store of some version.
#[derive(Clone, Copy)]
pub(crate) struct SchemaFormat(i64);

impl SchemaFormat {
    pub(crate) fn has_notes(self) -> bool {
        self.0 >= 2
    }

    pub(crate) fn has_tags(self) -> bool {
        self.0 >= 3
    }

    pub(crate) fn has_sums(self) -> bool {
        self.0 >= 3
    }
}

/// Opens a connection that writes. Creates the tables if there are none, and those that earlier
/// versions do not have. When it is closed, it leaves the WAL as it is.
pub(crate) fn open_to_write(path: &Path, may_be_new: bool) -> Result<Connection, OpenError> {
    let told = |error| open_error_from_sqlite(path, error);
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    flags.set(OpenFlags::SQLITE_OPEN_CREATE, may_be_new);
    let mut connection = Connection::open_with_flags(path, flags).map_err(told)?;
    // (SQLite opens what it may not write to be read, and then takes no lock for a transaction that
    // is to write.)
    if connection.is_readonly(MAIN_DB).map_err(told)? {
        let why = "it is read-only";
        return Err(open_error_from_io(path, io::Error::new(io::ErrorKind::PermissionDenied, why)));
    }
    connection.busy_timeout(PATIENCE).map_err(told)?;
    // `checkpoint` does that, and says when it is done on closing: not yet, for it may be another
    // program's file, or its WAL not be on the disk.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(told)?;
    keep_plans(&connection).map_err(told)?;
    // (In KiB, if it is negative.) A transaction over many entities changes as many pages.
    connection.pragma_update(None, "cache_size", -CACHE).map_err(told)?;
    connection.pragma_update(None, "wal_autocheckpoint", 0).map_err(told)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(told)?;
    match version(path, &connection)? {
        None => {
            use_wal(&connection, path)?;
            create(&mut connection).map_err(told)?;
            info!(path = %path.display(), "a new store");
        }
        Some(VERSION) => {}
        Some(earlier) => {
            use_wal(&connection, path)?;
            extend(&mut connection, earlier).map_err(told)?;
        }
    }
    // (Once more: of a file without pages SQLite says so before it has succeeded.)
    use_wal(&connection, path)?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(connection)
}

/// Has statements executed as they were prepared: otherwise SQLite prepares some of them anew
/// whenever they are given other values, which takes longer than to execute them.
fn keep_plans(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map(drop)
}

/// The version of a store; `None` for a file in which there is nothing.
fn version(path: &Path, connection: &Connection) -> Result<Option<i64>, OpenError> {
    let told = |error| open_error_from_sqlite(path, error);
    let number =
        |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).map_err(told);
    let tables: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(told)?;
    let (application, found) = (number("application_id")?, number("user_version")?);
    if tables == 0 && application == 0 {
        return Ok(None);
    }
    if application != APPLICATION {
        let why = "it is an SQLite file of another program".to_owned();
        return Err(OpenError::NotAStore { path: path.to_owned(), why });
    }
    if found > VERSION {
        return Err(OpenError::Newer { path: path.to_owned(), found, known: VERSION });
    }
    Ok(Some(found))
}

/// Makes a store of an earlier version one of this version.
fn extend(connection: &mut Connection, earlier: i64) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    add(&transaction, earlier)?;
    transaction.commit()
}

fn add(transaction: &Connection, earlier: i64) -> rusqlite::Result<()> {
    let missing = ADDED.iter().skip(usize::try_from(earlier).unwrap_or_default());
    missing.into_iter().try_for_each(|tables| transaction.execute_batch(tables))?;
    transaction.pragma_update(None, "user_version", VERSION)
}

/// Has the file written through a WAL, which stays so, and cannot be set within a transaction.
fn use_wal(connection: &Connection, path: &Path) -> Result<(), OpenError> {
    let mode = |row: &Row<'_>| row.get::<_, String>(0);
    let mode = connection
        .pragma_update_and_check(None, "journal_mode", "WAL", mode)
        .map_err(|error| open_error_from_sqlite(path, error))?;
    // If SQLite cannot, it goes on with a journal, and says so. A commit is on the disk then when
    // the journal is deleted, and that is not synced.
    if mode != "wal" {
        let error = io::Error::other(format!("it has the journal mode {mode}, and not wal"));
        return Err(open_error_from_io(path, error));
    }
    Ok(())
}

fn create(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    add(&transaction, 0)?;
    transaction.commit()
}

/// Opens a connection that only reads, to a store of this or an earlier version, which is told. It
/// has the WAL open from now on.
pub(crate) fn open_to_read(path: &Path) -> Result<(Connection, SchemaFormat), OpenError> {
    open_named(path, path)
}

/// The same of a file that no one changes, and nothing is to be made beside.
pub(crate) fn open_unshared(path: &Path) -> Result<(Connection, SchemaFormat), OpenError> {
    open_named(Path::new(&immutable_uri(path)), path)
}

/// As [SQLite names](https://sqlite.org/uri.html) a file with options.
fn immutable_uri(path: &Path) -> String {
    use std::fmt::Write;
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => {
                uri.push(char::from(*byte));
            }
            _ => write!(uri, "%{byte:02x}").expect("a string takes all"),
        }
    }
    uri + "?immutable=1"
}

/// Opens what SQLite knows by this name, to read it.
fn open_named(name: &Path, path: &Path) -> Result<(Connection, SchemaFormat), OpenError> {
    let told = |error| open_error_from_sqlite(path, error);
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(name, flags).map_err(told)?;
    connection.busy_timeout(PATIENCE).map_err(told)?;
    keep_plans(&connection).map_err(told)?;
    // The file is open, and it is what is beside it that is opened with the first that is read.
    let unshared = |error: OpenError| match error {
        OpenError::Io { path, error } if error.kind() == io::ErrorKind::PermissionDenied => {
            OpenError::CannotShare { path }
        }
        other => other,
    };
    let Some(version) = version(path, &connection).map_err(unshared)? else {
        let why = "there is nothing in it".to_owned();
        return Err(OpenError::NotAStore { path: path.to_owned(), why });
    };
    connection.set_prepared_statement_cache_capacity(32);
    Ok((connection, SchemaFormat(version)))
}

pub(crate) fn open_error_from_sqlite(path: &Path, error: rusqlite::Error) -> OpenError {
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            OpenError::NotAStore { path, why: error.to_string() }
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => OpenError::InUse { path },
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            let error = refused(&path).unwrap_or_else(|| {
                // (What SQLite says besides is the name, and for some files one that no one knows.)
                let Error::SqliteFailure(code, _) = error else { return io::Error::other(error) };
                let error = Error::SqliteFailure(code, None);
                io::Error::new(io::ErrorKind::PermissionDenied, error)
            });
            OpenError::Io { path, error }
        }
        _ => OpenError::Io { path, error: io::Error::other(error) },
    }
}

/// Why the system opens nothing there, if so: a process may have too many files open. (The file
/// itself is not tried: closing it would release SQLite's locks on it.)
fn refused(path: &Path) -> Option<io::Error> {
    if cfg!(unix) { File::open(path.parent()?).err() } else { None }
}
