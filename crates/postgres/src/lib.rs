//! A store of durable actors in a PostgreSQL database.
//!
//! All it needs is the address of a database:
//!
//! ```no_run
//! use coact_persist::{EntityId, Seq, Store, wait};
//! use coact_postgres::PostgresStore;
//!
//! let store = PostgresStore::connect("postgres://bank:secret@db.example.com/bank")?;
//! let claim = wait(|done| store.claim(EntityId::new("bank.account", "alice"), done))?;
//! assert_eq!(claim.last, Seq::ZERO);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The tables live in a schema, `coact` unless [another one](Builder::schema) is named. The first
//! store that connects makes them, so its role must be able to create a schema
//! (`GRANT CREATE ON DATABASE`) or own an empty one. From then on, reading and writing the tables
//! is enough. It needs PostgreSQL 13 or later, and is tested with 15.
//!
//! Several processes may use one schema at a time. Each claims its entities, and a replaced owner
//! is refused. The store groups all waiting requests into one transaction of one or two round
//! trips, and so one flush; each commit in it is refused alone. A commit is reported only after its
//! flush: if the role's `synchronous_commit` is `off`, the store turns it on. Reads have a
//! connection of their own. One thread serves both connections; of the program's code it runs only
//! the callbacks.
//!
//! # When the database is away
//!
//! The store reconnects at once, and then after 50 ms to 1 s. Requests wait for the first attempt;
//! once that has failed, all are refused at once, in order, until an attempt succeeds. A commit's
//! outcome is [unknown](coact_persist::StoreOutcome::Unknown) only if the connection is lost while
//! its transaction ends.
//!
//! Only connecting makes tables: if the schema disappears later, moved or dropped with its
//! database, all requests are refused until it is back.
//!
//! | | is given up after | |
//! | --- | --- | --- |
//! | an attempt to connect to a server | 5 s | [`Builder::connect_timeout`], or `connect_timeout` in the address |
//! | a statement, a lock, a transaction that does not go on | 10 s, by the server | [`Builder::operation_timeout`] |
//! | an answer | 12.5 s: a quarter more | |
//! | data that is not acknowledged | 10 s | `tcp_user_timeout` in the address; by the server, the operation timeout |
//! | a peer that is silent while nothing is asked | 30 s: asked after 15 s, three times | by both systems |
//!
//! What the store waits for, what ends the wait, and who is told meanwhile:
//!
//! | a wait for | ends | is told meanwhile |
//! | --- | --- | --- |
//! | a store, or a reader, that is connected | with an answer, or after the time to connect to each server, and that of one operation for each step | the caller, who waits |
//! | the transaction before, or questions before | when that is answered: each half of a transaction is given up after the times above | all in order |
//! | the first attempt to connect again | after the time to connect to each server, and that of one operation | all that is asked, when it has failed |
//! | later attempts | the same; by themselves, and a store that is closed or dropped ends them | all that is asked, at once |
//! | another transaction's lock | after the time of an operation, by the server | those of the same transaction, as refused |
//! | others that collide (`40001`, `40P01`) | after ten tries | the same |
//! | the server, for a farewell | after 1 s | whoever closes the store |
//! | a host's name | when the system answers; it is not waited for at the end | as an attempt to connect |
//! | a store that is dropped | when all that was asked is told: the thread is joined, unless it is the one that drops it. [`close`](coact_persist::Store::close) does not block | the caller, who waits |
//!
//! If commits wait for synchronous standbys (`synchronous_standby_names`), each commit that is
//! reported or settled as committed has reached them. While they are away, a commit's outcome is
//! unknown, and all writes are refused. An asynchronous standby lacks the last commits when it is
//! promoted.
//!
//! The store does not use `LISTEN`: readers of logs poll. It overrides the role's settings of the
//! times above. A server or role that cannot write (`default_transaction_read_only`, a standby)
//! counts as away.
//!
//! A transaction that collides with others (`40001`, `40P01`) is tried up to ten times.
//!
//! # TLS
//!
//! | `sslmode` | the connection | the server's certificate |
//! | --- | --- | --- |
//! | `disable` | is plain | |
//! | `prefer`, or none | is encrypted if the server can | is not verified |
//! | `require` | is encrypted | is not verified, unless there is `sslrootcert`: then as `verify-ca` |
//! | `verify-ca` | is encrypted | is valid now, and an authority that is trusted has signed it |
//! | `verify-full` | is encrypted | that, and it is one of the host's name or IP address in the address |
//!
//! The trusted authorities are those of the file `sslrootcert`, or the system's without it or with
//! `sslrootcert=system`. In each mode the server must prove that it has the certificate's key.
//! `allow`, revocation lists and client certificates are not supported; if encryption fails
//! half-way, `prefer` does not fall back to plain text. Only `verify-full` protects against an
//! active attacker. A Unix socket (`postgres://bank@/bank?host=/run/postgresql`) is never
//! encrypted.
//!
//! # What else to know
//!
//! * A pooler that gives each transaction another connection will not do: statements are prepared,
//!   and sessions have settings.
//! * If the address names several servers, the first one that can be written is taken. They are
//!   tried one after the other, and one that hangs takes no time of the others.
//! * A commit of more than 512 MiB is refused.
//! * `pg_dump --schema` makes a copy while it is in use. [`PostgresReader`] is for tools: it
//!   changes nothing, and takes no locks.
//!
//! Reading order: `store` and `request` (the queues), `writer` (batches and their answers),
//! `entity_cache` (remembered rows), `plan` (what a transaction does, without I/O), `write_session`
//! (its round trips), `entity_lookup`, `write_statements` and the other statements,
//! `reader`, `reconnect` (lost connections), `session` and `connect_stage` (one connection),
//! `schema`, `address`, `tls`.

#![forbid(unsafe_code)]

mod address;
mod builder;
mod connect_error;
mod connect_stage;
mod connection_settings;
mod entity_cache;
mod entity_lookup;
mod event_statements;
mod note_statements;
mod plan;
mod prepared_statements;
mod reader;
mod reconnect;
mod request;
mod row;
mod schema;
mod session;
mod snapshot_statements;
mod statement_failure;
mod statement_sender;
mod store;
mod store_thread;
mod tls;
mod write_session;
mod write_statements;
mod writer;

pub use self::builder::Builder;
pub use self::connect_error::ConnectError;
pub use self::store::{PostgresReader, PostgresStore};
