//! Why a database cannot be used as a store.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::io;

/// Why a store was not connected. The database is unchanged. No variant contains a password.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConnectError {
    /// The address cannot be parsed, or asks for something unsupported.
    Address {
        /// Why.
        why: String,
    },
    /// The name is not valid for a schema.
    SchemaName {
        /// The name.
        schema: String,
    },
    /// The server does not answer, or accepts no connections now.
    Unreachable {
        /// Its hosts and ports.
        server: String,
        /// The error of the server or the system.
        why: String,
    },
    /// The connection is not encrypted as `sslmode` asks for.
    Tls {
        /// The server's hosts and ports.
        server: String,
        /// Why.
        why: String,
    },
    /// The server rejects the role: it does not exist, or its password is wrong.
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
    /// The role lacks privileges that a store needs.
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
    /// The schema does not exist, and only a store creates it; or it belongs to another program.
    NotAStore {
        /// The database.
        database: String,
        /// The schema.
        schema: String,
        /// What is there.
        why: String,
    },
    /// A later version of this program made the schema.
    Newer {
        /// The database.
        database: String,
        /// The schema.
        schema: String,
        /// The version of its format.
        found: i32,
        /// The latest version that this program knows.
        known: i32,
    },
    /// The schema's format is older than any that a reader supports, and a reader changes nothing.
    Older {
        /// The database.
        database: String,
        /// The schema.
        schema: String,
        /// The version of its format.
        found: i32,
        /// The version that this program reads.
        known: i32,
    },
    /// The server reports another error.
    Server {
        /// Its hosts and ports.
        server: String,
        /// What it says.
        why: String,
    },
    /// The system cannot start a thread.
    Thread(io::Error),
}

impl Display for ConnectError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address { why } => write!(
                f,
                "the address of the PostgreSQL database is invalid: {why}. Write it as \
                 `postgres://user:password@host:port/database`, with special characters percent-encoded"
            ),
            Self::SchemaName { schema } => write!(
                f,
                "`{}` cannot be the name of a schema: use 1 to 63 bytes, without NUL, and not `pg_` first",
                schema.escape_debug()
            ),
            Self::Unreachable { server, why } => write!(
                f,
                "PostgreSQL at {server} cannot be reached: {why}. Check that it runs, and accepts connections from here"
            ),
            Self::Tls { server, why } => write!(
                f,
                "no TLS with PostgreSQL at {server}: {why}. Fix its certificate, name the right `sslrootcert`, or ask for \
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
