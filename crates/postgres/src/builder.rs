//! How a store is connected.

use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use crate::connect_error::ConnectError;
use crate::connection_settings::ConnectionSettings;
use crate::store::{PostgresReader, PostgresStore};

/// Connects a store, or what only reads one: see [`PostgresStore::builder`].
///
/// ```no_run
/// use std::time::Duration;
///
/// use coact_postgres::PostgresStore;
///
/// let store = PostgresStore::builder("postgres://bank:secret@db.example.com/bank?sslmode=verify-full")
///     .schema("accounts")
///     .operation_timeout(Duration::from_secs(3))
///     .connect()?;
/// # Ok::<(), coact_postgres::ConnectError>(())
/// ```
#[derive(Clone)]
#[must_use = "it does nothing until `connect` is called"]
pub struct Builder {
    url: String,
    schema: String,
    connect_timeout: Duration,
    operation_timeout: Duration,
}

impl PostgresStore {
    /// Connects a store in the schema `coact` of a database, and makes its tables if there are
    /// none. Blocks until the store is connected.
    ///
    /// # Errors
    /// See [`Builder::connect`].
    pub fn connect(url: &str) -> Result<Self, ConnectError> {
        Self::builder(url).connect()
    }

    /// Has options for a store in this database.
    pub fn builder(url: &str) -> Builder {
        Builder {
            url: url.into(),
            schema: "coact".into(),
            connect_timeout: Duration::from_secs(5),
            operation_timeout: Duration::from_secs(10),
        }
    }
}

impl PostgresReader {
    /// Connects a reader of the store in the schema `coact` of a database. Blocks until it is
    /// connected.
    ///
    /// # Errors
    /// See [`Builder::connect_reader`].
    pub fn connect(url: &str) -> Result<Self, ConnectError> {
        PostgresStore::builder(url).connect_reader()
    }
}

impl Builder {
    /// Sets the schema of the tables, so that a database can have several stores. Default: `coact`.
    pub fn schema(mut self, name: impl Into<String>) -> Self {
        self.schema = name.into();
        self
    }

    /// Sets how long it may take to reach a server and log in. Default: 5 s. A `connect_timeout` in
    /// the address overrides it.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// Sets how long the server may take for a statement or a lock, and how long it waits for the
    /// next statement of a transaction. Default: 10 s. The client waits a quarter longer, and at
    /// least a second, so that the server can report the timeout itself; then it cuts the
    /// connection.
    pub fn operation_timeout(mut self, timeout: Duration) -> Self {
        self.operation_timeout = timeout;
        self
    }

    /// Connects a store, and makes its tables if there are none. Blocks until the store is
    /// connected.
    ///
    /// # Errors
    /// Fails if the database cannot be reached under its address, or if its schema belongs to
    /// another program or a later version of this one.
    pub fn connect(self) -> Result<PostgresStore, ConnectError> {
        PostgresStore::start(self.settings()?)
    }

    /// Connects a reader of the store. Blocks until it is connected.
    ///
    /// # Errors
    /// Fails if the database cannot be reached under its address, or if its schema is not a store
    /// of this version.
    pub fn connect_reader(self) -> Result<PostgresReader, ConnectError> {
        PostgresReader::start(self.settings()?)
    }

    fn settings(&self) -> Result<ConnectionSettings, ConnectError> {
        ConnectionSettings::new(
            &self.url,
            &self.schema,
            self.connect_timeout,
            self.operation_timeout,
        )
    }
}

/// Leaves out the address, which may contain a password.
impl Debug for Builder {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("schema", &self.schema).finish_non_exhaustive()
    }
}
