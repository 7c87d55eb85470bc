//! A store of durable actors in a PostgreSQL database.
//!
//! The address of a database is all the set-up:
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
//! Its tables are in a schema, `coact` unless [another one](Builder::schema) is named, and are made when a store is connected first: the role has to
//! be let create a schema (`GRANT CREATE ON DATABASE`) or own an empty one. Then it needs no more than to read and write the tables. PostgreSQL 13
//! or later will do; 15 is what it is tested with.
//!
//! Several processes may use one schema at a time. Each claims the entities that it uses, and an owner that was replaced is refused. All that waits when
//! the store is free is one transaction of one or two round trips, and so one flush, in which each commit is refused alone. What was told to be committed has
//! been flushed: if the role's `synchronous_commit` is `off`, the store turns it on. Another connection reads. Both are served by one thread, which runs no
//! code of the program but what is called with results.
//!
//! # When the database is away
//!
//! A lost connection is made again, at once and then after 50 ms to 1 s. What is asked waits for the first attempt; once that has failed, all is refused at
//! once, in order, until another one has succeeded, however long those take. A commit is of [unknown](coact_persist::StoreOutcome::Unknown) outcome only if the connection is lost when its transaction is about to end.
//!
//! Tables are made when a store is connected, and not again: if the schema is gone later, moved or dropped with its database, all is refused until it is back.
//!
//! | | is given up after | |
//! | --- | --- | --- |
//! | an attempt to connect to a server | 5 s | [`Builder::connect_timeout`], or `connect_timeout` in the address |
//! | a statement, a lock, a transaction that does not go on | 10 s, by the server | [`Builder::operation_timeout`] |
//! | an answer | 12.5 s: a quarter more | |
//! | data that is not acknowledged | 10 s | `tcp_user_timeout` in the address; by the server, the operation timeout |
//! | a peer that is silent while nothing is asked | 30 s: asked after 15 s, three times | by both systems |
//!
//! What is waited for, what ends that, and who is told meanwhile:
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
//! Where commits wait for synchronous standbys (`synchronous_standby_names`), what was told to be committed, or was settled as that, is there too. While
//! they are away, a commit is of unknown outcome, and all that writes is refused. A standby that is not synchronous lacks the last commits when it is promoted.
//!
//! Nothing is listened for (`LISTEN`): logs are read anew. Settings of the role for these times are overridden. A server, or a role, that may not write
//! (`default_transaction_read_only`, a standby) is as one that is away.
//!
//! Transactions that others are in the way of (`40001`, `40P01`) are done again, ten times at most.
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
//! Trusted are the authorities in the file `sslrootcert`, or those of the system without it or with `sslrootcert=system`. In each mode the server has to show
//! that it has the certificate's key. `allow`, revocation lists and certificates of clients are not supported; a `prefer` that fails in the middle does not go
//! on without encryption. Only `verify-full` keeps out who can stand in between. A Unix socket (`postgres://bank@/bank?host=/run/postgresql`) is never
//! encrypted.
//!
//! # What else to know
//!
//! * A pooler that gives each transaction another connection will not do: statements are prepared, and sessions have settings.
//! * If the address names several servers, the first one that can be written is taken. They are tried one after the other, and one that hangs takes no time of the others.
//! * A commit of more than 512 MiB is refused.
//! * `pg_dump --schema` makes a copy while it is in use. [`PostgresReader`] is for tools: it changes nothing, and takes no locks.
//!
//! Reading order: `store` and `request` (what is asked), `writer` (transactions, and their answers),
//! `entity_cache` (rows as the last transaction left them), `plan` (what a transaction does, without
//! I/O), `write_session` (its round trips), `entity_lookup`, `write_columns` and the other columns
//! (its statements), `reader`, `reconnect` (lost connections), `session` and `connect_stage` (one
//! connection), `schema`, `address`, `tls`.

#![forbid(unsafe_code)]

mod address;
mod builder;
mod connect_error;
mod connect_stage;
mod entity_cache;
mod entity_lookup;
mod event_columns;
mod note_columns;
mod plan;
mod prepared_statements;
mod reader;
mod reconnect;
mod request;
mod row;
mod schema;
mod session;
mod settings;
mod snapshot_columns;
mod statement_failure;
mod statement_sender;
mod store;
mod store_thread;
mod tls;
mod write_columns;
mod write_session;
mod writer;

pub use self::builder::Builder;
pub use self::connect_error::ConnectError;
pub use self::store::{PostgresReader, PostgresStore};
