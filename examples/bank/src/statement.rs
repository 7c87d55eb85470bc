//! The statement: a table of what each account has sent and received, in a file of its own, for
//! those who would rather ask in SQL.
//!
//! It is made from the events of the accounts, and can be deleted at any time: then it is made
//! anew. Its rows and its offset are one SQL transaction, so it counts nothing twice, wherever it
//! is killed.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::Context;
use coact::durable::{EventLog, Journal, LogError, LoggedEvent, Position};
use rusqlite::{Connection, Transaction, params};

use crate::account::{Account, AccountEvent};

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS statement (account TEXT PRIMARY KEY, sent INTEGER NOT NULL, received INTEGER NOT NULL,
    transfers INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS read_up_to (position INTEGER NOT NULL);
INSERT INTO read_up_to SELECT 0 WHERE NOT EXISTS (SELECT * FROM read_up_to);
";

const ANEW: &str = "BEGIN; DELETE FROM statement; UPDATE read_up_to SET position = 0; COMMIT;";

/// How often it looks for more.
const PERIOD: Duration = Duration::from_millis(200);

/// How many events are written in one transaction, about.
const MANY: usize = 1_000;

/// What the accounts have sent and received in all.
pub struct Totals {
    pub sent: u64,
    pub received: u64,
    pub transfers: u64,
}

pub struct Statement {
    connection: Connection,
    journal: Journal,
}

impl Statement {
    pub fn open(file: &Path, journal: Journal) -> anyhow::Result<Self> {
        let connection = Connection::open(file).with_context(|| file.display().to_string())?;
        connection.execute_batch(TABLES)?;
        Ok(Self { connection, journal })
    }

    /// Follows the accounts on a thread of its own, until the sender of `over` is dropped: then up
    /// to what has happened by then.
    pub fn follow(mut self, over: Receiver<()>) -> JoinHandle<anyhow::Result<Totals>> {
        thread::spawn(move || {
            while over.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
                self.follow_up()?;
            }
            self.follow_up()?;
            self.totals()
        })
    }

    /// Reads what has happened since; or all of it, if the statement has what the store does not
    /// have any more, since a backup was restored.
    fn follow_up(&mut self) -> anyhow::Result<()> {
        match self.catch_up() {
            Err(error) if matches!(error.downcast_ref(), Some(LogError::Ahead { .. })) => {
                self.connection.execute_batch(ANEW)?;
                self.catch_up()
            }
            done => done,
        }
    }

    fn catch_up(&mut self) -> anyhow::Result<()> {
        let position = "SELECT position FROM read_up_to";
        let position: i64 = self.connection.query_row(position, [], |row| row.get(0))?;
        let after = Position::new(position.cast_unsigned());
        let mut log = self.journal.log::<Account>(after).until_now();
        // The first event of the next commit: a transaction has whole commits.
        let mut next = None;
        while self.read_some(&mut log, &mut next)? {}
        Ok(())
    }

    /// Returns whether there may be more.
    fn read_some(
        &mut self,
        log: &mut EventLog<Account>,
        next: &mut Option<LoggedEvent<AccountEvent>>,
    ) -> anyhow::Result<bool> {
        let transaction = self.connection.transaction()?;
        let (mut count, mut position) = (0, None);
        let is_over = loop {
            let logged = match next.take().map_or_else(|| log.wait_next(), Ok) {
                Ok(logged) => logged,
                Err(LogError::CaughtUp) => break true,
                Err(error) => return Err(error.into()),
            };
            if count >= MANY && position != Some(logged.position) {
                *next = Some(logged);
                break false;
            }
            (count, position) = (count + 1, Some(logged.position));
            write(&transaction, &logged)?;
        };
        if let Some(position) = position {
            transaction
                .execute("UPDATE read_up_to SET position = ?1", [position.get().cast_signed()])?;
        }
        transaction.commit()?;
        Ok(!is_over)
    }

    fn totals(&self) -> anyhow::Result<Totals> {
        let sums =
            "SELECT coalesce(sum(sent), 0), coalesce(sum(received), 0), coalesce(sum(transfers), 0)
            FROM statement";
        let totals = self.connection.query_row(sums, [], |row| {
            let sum = |column| row.get(column).map(i64::cast_unsigned);
            Ok(Totals { sent: sum(0)?, received: sum(1)?, transfers: sum(2)? })
        });
        Ok(totals?)
    }
}

fn write(
    transaction: &Transaction<'_>,
    logged: &LoggedEvent<AccountEvent>,
) -> rusqlite::Result<()> {
    let (sent, received, transfers): (u64, u64, u32) = match logged.event {
        AccountEvent::Opened { .. } => (0, 0, 0),
        AccountEvent::Sent { cents, .. } => (cents, 0, 1),
        AccountEvent::Received { cents } => (0, cents, 0),
    };
    transaction
        .prepare_cached(
            "INSERT INTO statement VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE
             SET sent = sent + ?2, received = received + ?3, transfers = transfers + ?4",
        )?
        .execute(params![
            logged.entity.key(),
            sent.cast_signed(),
            received.cast_signed(),
            transfers
        ])?;
    Ok(())
}
