//! What is measured.

use crate::measured::Measured;
use crate::peers;
use crate::setup::Setup;
use crate::{events, memory, outbox, recovery, transfers};

/// One thing that is measured.
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// What is done, in a line.
    pub about: &'static str,
    /// The case that it stands beside: it does the same in another way, and is compared with it.
    pub beside: Option<&'static str>,
    /// Who does it.
    pub way: Way,
}

/// Who does it.
pub enum Way {
    /// This program.
    Here(fn(&Setup) -> anyhow::Result<Measured>),
    /// This program, if there is a server of PostgreSQL.
    Served(fn(&Setup) -> anyhow::Result<Measured>),
    /// A peer, with these arguments besides the setup, if it is built.
    Peer(peers::Peer, &'static str),
    /// This program, to prepare another case.
    Aside(fn(&Setup) -> anyhow::Result<Measured>),
}

impl Case {
    /// Whether it needs a server of PostgreSQL.
    pub fn needs_server(&self) -> bool {
        match self.way {
            Way::Here(_) | Way::Aside(_) => false,
            Way::Served(_) => true,
            Way::Peer(_, arguments) => !arguments.starts_with("sqlite"),
        }
    }
}

use Way::{Aside, Here, Served};

/// By tokio and SQL.
const fn sql(arguments: &'static str) -> Way {
    Way::Peer(peers::Peer::Sql, arguments)
}

/// By Pekko.
const fn pekko(arguments: &'static str) -> Way {
    Way::Peer(peers::Peer::Pekko, arguments)
}

const fn case(name: &'static str, about: &'static str, way: Way) -> Case {
    Case { name, about, beside: None, way }
}

const fn beside(other: &'static str, name: &'static str, about: &'static str, way: Way) -> Case {
    Case { name, about, beside: Some(other), way }
}

/// All of them. One that stands beside another comes behind it.
pub const CASES: &[Case] = &[
    case(
        "events-1",
        "commands of one actor, many at a time",
        Here(|it| events::in_file(it, it.entities(1))),
    ),
    beside(
        "events-1",
        "events-1-bare",
        "the same rows by rusqlite",
        Here(|it| events::bare(it, it.entities(1))),
    ),
    beside(
        "events-1",
        "events-1-memory",
        "in memory",
        Here(|it| events::in_memory(it, it.entities(1))),
    ),
    case("events-100", "of 100 actors", Here(|it| events::in_file(it, it.entities(100)))),
    beside(
        "events-100",
        "events-100-bare",
        "the same rows by rusqlite",
        Here(|it| events::bare(it, it.entities(100))),
    ),
    beside(
        "events-100",
        "events-100-memory",
        "in memory",
        Here(|it| events::in_memory(it, it.entities(100))),
    ),
    case("events-10000", "of 10,000 actors", Here(|it| events::in_file(it, it.entities(10_000)))),
    beside(
        "events-10000",
        "events-10000-bare",
        "the same rows by rusqlite",
        Here(|it| events::bare(it, it.entities(10_000))),
    ),
    beside(
        "events-10000",
        "events-10000-memory",
        "in memory",
        Here(|it| events::in_memory(it, it.entities(10_000))),
    ),
    case(
        "ungrouped-100",
        "commands of 100 actors, many at a time, a transaction each",
        Here(|it| events::ungrouped(it, it.entities(100))),
    ),
    case(
        "one-at-a-time",
        "commands of one actor, each when the one before was answered",
        Here(events::one_at_a_time),
    ),
    beside(
        "one-at-a-time",
        "one-at-a-time-bare",
        "the same rows by rusqlite",
        Here(events::bare_one_at_a_time),
    ),
    case(
        "events-1-postgres",
        "commands of one actor, in PostgreSQL",
        Served(|it| events::in_server(it, it.entities(1))),
    ),
    beside(
        "events-1-postgres",
        "events-1-pekko",
        "by Pekko, which stores them one after the other",
        pekko("--actors 1 --commands 2000 --warm-up 24"),
    ),
    case(
        "events-100-postgres",
        "of 100 actors, in PostgreSQL",
        Served(|it| events::in_server(it, it.entities(100))),
    ),
    beside(
        "events-100-postgres",
        "events-100-pekko",
        "by Pekko, which stores one of each actor at a time",
        pekko("--actors 100 --commands 100000"),
    ),
    case(
        "events-10000-postgres",
        "of 10,000 actors, in PostgreSQL",
        Served(|it| events::in_server(it, it.entities(10_000))),
    ),
    beside(
        "events-10000-postgres",
        "events-10000-pekko",
        "by Pekko",
        pekko("--actors 10000 --commands 100000"),
    ),
    case(
        "one-each-postgres",
        "of 100 actors with one command under way each, in PostgreSQL",
        Served(|it| events::in_server_one_each(it, it.entities(100))),
    ),
    beside(
        "one-each-postgres",
        "one-each-pekko",
        "by Pekko",
        pekko("--actors 100 --commands 100000 --at-once 100"),
    ),
    case(
        "one-at-a-time-postgres",
        "of one actor, each when the one before was answered, in PostgreSQL",
        Served(events::in_server_one_at_a_time),
    ),
    beside(
        "one-at-a-time-postgres",
        "one-at-a-time-pekko",
        "by Pekko",
        pekko("--actors 1 --commands 2000 --at-once 1 --warm-up 24"),
    ),
    case(
        "transfers-1000",
        "transfers among 1,000 accounts, many at a time",
        Here(|it| transfers::many(it, it.entities(1_000))),
    ),
    beside(
        "transfers-1000",
        "transfers-1000-pipelined",
        "the same, pipelined",
        Here(|it| transfers::many_pipelined(it, it.entities(1_000))),
    ),
    beside(
        "transfers-1000",
        "transfers-1000-bare",
        "the same rows by rusqlite",
        Here(|it| transfers::bare(it, it.entities(1_000))),
    ),
    beside(
        "transfers-1000",
        "transfers-1000-sqlite",
        "tokio and SQL: SQLite, one connection",
        sql("sqlite --accounts 1000 --connections 1 --transfers 5000"),
    ),
    beside(
        "transfers-1000",
        "transfers-1000-sqlite-16",
        "tokio and SQL: SQLite, 16 connections",
        sql("sqlite --accounts 1000 --connections 16 --transfers 2000"),
    ),
    beside(
        "transfers-1000",
        "transfers-1000-postgres",
        "tokio and SQL: PostgreSQL, 16 connections, row locks",
        sql("postgres --accounts 1000 --connections 16 --transfers 10000"),
    ),
    case(
        "transfers-10000",
        "transfers among 10,000 accounts",
        Here(|it| transfers::many(it, it.entities(10_000))),
    ),
    case(
        "transfers-one",
        "transfers, each when the one before is stored",
        Here(transfers::one_at_a_time),
    ),
    beside(
        "transfers-one",
        "transfers-one-sqlite",
        "tokio and SQL: SQLite",
        sql("sqlite --accounts 1000 --connections 1 --at-once 1 --transfers 2000"),
    ),
    beside(
        "transfers-one",
        "transfers-one-postgres",
        "tokio and SQL: PostgreSQL, row locks",
        sql("postgres --accounts 1000 --connections 1 --at-once 1 --transfers 2000"),
    ),
    case(
        "transfers-hot",
        "transfers between the same two accounts, many at a time",
        Here(transfers::hot_pair),
    ),
    beside(
        "transfers-hot",
        "transfers-hot-pipelined",
        "the same, pipelined",
        Here(|it| transfers::many_pipelined(it, 2)),
    ),
    beside(
        "transfers-hot",
        "transfers-hot-sqlite",
        "tokio and SQL: SQLite, one connection",
        sql("sqlite --accounts 2 --connections 1 --transfers 2000"),
    ),
    beside(
        "transfers-hot",
        "transfers-hot-postgres",
        "tokio and SQL: PostgreSQL, 16 connections, row locks",
        sql("postgres --accounts 2 --connections 16 --transfers 2000"),
    ),
    case(
        "outbox",
        "messages from 100 entities to 100 others, delivered exactly once",
        Here(outbox::messages),
    ),
    case("recovery-one", "1,000,000 events of one entity are recovered", Here(recovery::one)),
    case(
        "recovery-snapshot",
        "1,050,000 events, the last 50,000 of them behind a snapshot",
        Here(recovery::from_snapshot),
    ),
    case("recovery-many", "100 events each of 10,000 entities are recovered", Here(recovery::many)),
    case("memory-address", "100,000 entities whose addresses are kept", Here(memory::with_address)),
    case("memory-idle", "100,000 entities that the journal keeps active", Here(memory::idle)),
    case(
        "memory-passive",
        "100,000 entities that were asked for, and are passive",
        Here(memory::passive),
    ),
    case("memory-timers", "100,000 timers that are set, of 1,000 entities", Here(memory::timers)),
    case("fill-one", "fills a file for recovery-one", Aside(recovery::fill_one)),
    case("fill-snapshots", "fills a file for recovery-snapshot", Aside(recovery::fill_snapshots)),
    case("fill-many", "fills a file for recovery-many", Aside(recovery::fill_many)),
];

/// The one with this name.
pub fn find(name: &str) -> Option<&'static Case> {
    CASES.iter().find(|case| case.name == name)
}
