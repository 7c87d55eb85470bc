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
//! A lost connection is made again, at once and then after 50 ms to 1 s. Meanwhile what is asked is refused, in order, as soon as an attempt
//! has failed. A commit is of [unknown](coact_persist::Outcome::Unknown) outcome only if the connection is lost when its transaction is about to end.
//!
//! | | is given up after | |
//! | --- | --- | --- |
//! | an attempt to connect | 5 s | [`Builder::connect_timeout`], or `connect_timeout` in the address |
//! | a statement, a lock, a transaction that does not go on | 10 s, by the server | [`Builder::operation_timeout`] |
//! | an answer | 12.5 s: a quarter more | |
//! | data that is not acknowledged | 10 s | `tcp_user_timeout` in the address; by the server, the operation timeout |
//! | a peer that is silent while nothing is asked | 30 s: asked after 15 s, three times | by both systems |
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
//! * If the address names several servers, the first one that can be written is taken.
//! * A commit of more than 512 MiB is refused.
//! * `pg_dump --schema` makes a copy while it is in use. [`PostgresReader`] is for tools: it changes nothing, and takes no locks.
//!
//! Reading order: `store` and `job` (what is asked), `writer` (transactions, and what is told of them), `known` (what is remembered), `plan` (what one does, without
//! I/O), `transaction` (its round trips), `reader`, `link` (lost connections), `session` (one connection), `schema`, `address`, `tls`.

#![forbid(unsafe_code)]

mod address;
mod builder;
mod connect_error;
mod failure;
mod job;
mod known;
mod link;
mod plan;
mod reader;
mod row;
mod schema;
mod session;
mod settings;
mod store;
mod thread;
mod tls;
mod transaction;
mod writer;

pub use self::builder::Builder;
pub use self::connect_error::ConnectError;
pub use self::store::{PostgresReader, PostgresStore};
