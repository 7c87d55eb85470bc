//! Why a database cannot be used as a store.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;

/// Why a store was not connected. Nothing in the database was changed. No password is part of it.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConnectError {
    /// The address cannot be read, or asks for something that there is not.
    Address {
        /// Why.
        why: String,
    },
    /// The name cannot be that of a schema.
    SchemaName {
        /// The name.
        schema: String,
    },
    /// The server does not answer, or takes no connections now.
    Unreachable {
        /// Its hosts and ports.
        server: String,
        /// What it, or the system, says.
        why: String,
    },
    /// The connection is not encrypted as `sslmode` asks for.
    Tls {
        /// The server's hosts and ports.
        server: String,
        /// Why.
        why: String,
    },
    /// The server does not let this role in: there is no such role, or its password is another one.
    Denied {
        /// The server's hosts and ports.
        server: String,
        /// The role.
        user: String,
        /// What the server says.
        why: String,
    },
    /// The server has no such database.
    NoDatabase {
        /// The server's hosts and ports.
        server: String,
        /// The database.
        database: String,
    },
    /// The role may not do what a store does.
    Forbidden {
        /// The role.
        user: String,
        /// The database.
        database: String,
        /// The schema.
        schema: String,
        /// What the server says.
        why: String,
    },
    /// The schema is not there, and only a store creates it; or it is that of another program.
    NotAStore {
        /// The database.
        database: String,
        /// The schema.
        schema: String,
        /// What is there.
        why: String,
    },
    /// A later version of this program has made the schema.
    Newer {
        /// The database.
        database: String,
        /// The schema.
        schema: String,
        /// The version of its format.
        found: i32,
        /// The latest one that this program knows.
        known: i32,
    },
    /// The schema has a format from before the first version that a reader reads, and a reader changes nothing.
    Older {
        /// The database.
        database: String,
        /// The schema.
        schema: String,
        /// The version of its format.
        found: i32,
        /// The one that this program reads.
        known: i32,
    },
    /// The server refuses something else.
    Server {
        /// Its hosts and ports.
        server: String,
        /// What it says.
        why: String,
    },
    /// The system gives no thread.
    Thread(io::Error),
}

impl Display for ConnectError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { why } => write!(
                f,
                "the address is not one of a PostgreSQL database: {why}. It is \
                 `postgres://user:password@host:port/database`, and what is special in a part is percent-encoded"
            ),
            Self::SchemaName { schema } => write!(
                f,
                "`{}` cannot be the name of a schema: use 1 to 63 bytes, without NUL, and not `pg_` first",
                schema.escape_debug()
            ),
            Self::Unreachable { server, why } => write!(
                f,
                "PostgreSQL at {server} cannot be reached: {why}. See that it runs, and takes connections from here"
            ),
            Self::Tls { server, why } => write!(
                f,
                "no TLS with PostgreSQL at {server}: {why}. Mend its certificate, name the right `sslrootcert`, or ask for \
                 less with `sslmode`"
            ),
            Self::Denied { server, user, why } => write!(
                f,
                "PostgreSQL at {server} does not let the role `{user}` in: {why}. Correct the role or its password in \
                 the address, or the server's `pg_hba.conf`"
            ),
            Self::NoDatabase { server, database } => write!(
                f,
                "PostgreSQL at {server} has no database `{database}`: create it (`CREATE DATABASE`), or correct the address"
            ),
            Self::Forbidden { user, database, schema, why } => write!(
                f,
                "the role `{user}` may not use the schema `{schema}` of the database `{database}`: {why}. Let it \
                 (`GRANT CREATE ON DATABASE`, or make it the owner of the schema), or use another role"
            ),
            Self::NotAStore { database, schema, why } => write!(
                f,
                "the schema `{schema}` of the database `{database}` is not a store: {why}. Use another schema or database"
            ),
            Self::Newer { database, schema, found, known } => write!(
                f,
                "the schema `{schema}` of the database `{database}` has format {found}, and this program knows up to {known}: use \
                 the program that has made it, or a later one"
            ),
            Self::Older { database, schema, found, known } => write!(
                f,
                "the schema `{schema}` of the database `{database}` has format {found}, and this program reads {known}: connect a \
                 store once, which brings it up to date"
            ),
            Self::Server { server, why } => {
                write!(f, "PostgreSQL at {server} refuses: {why}")
            }
            Self::Thread(error) => write!(f, "the store's thread cannot be started: {error}"),
        }
    }
}

impl Error for ConnectError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // (The text has what it says itself.)
            Self::Thread(error) => error.source(),
            _ => None,
        }
    }
}
