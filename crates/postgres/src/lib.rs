//! A store of durable actors in a PostgreSQL database.
#![forbid(unsafe_code)]

mod address;
mod builder;
mod connect_error;
mod failure;
mod job;
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
