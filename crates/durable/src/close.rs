//! The end of a journal, while the program goes on.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use coact_core::Promise;
use coact_core::runtime::spawn_future;
use coact_core::time::sleep;
use coact_persist::EntityId;

use crate::entity_ownership::EntityOwnership;
use crate::future_until::{poll_once, until};
use crate::journal::{Journal, JournalState};
use crate::journal_abandonment::PendingWork;

impl Journal {
    /// Closes the journal and its store, whatever clones, addresses and logs there are. When it
    /// has, the store's file, or database, can be opened again at once, in this process or another.
    ///
    /// From this call on, nothing new is decided: actors of entities stop, and what they are asked,
    /// or were and have not decided on, fails with
    /// [`StoreError::Closed`](crate::StoreError::Closed) (as the cause of
    /// [`NotCommitted`](crate::NotCommitted)). So do commands of addresses that are got later, and
    /// all other questions to the journal; logs end with it. Messages and timers stay in the store.
    /// What has been decided is stored, and told, and futures that
    /// [publish](crate::JournalBuilder::publishes) a message end, until half of the time is over.
    /// Then the store is closed. A behaviour over an actor that was stopped is told
    /// [`Broken::Closed`](coact_core::Broken::Closed).
    ///
    /// A supervisor of durable actors is stopped first: it would start them again, which fails.
    ///
    /// # Errors
    /// Something was not done in time; [`CloseError`] says what. Those who wait for a decision
    /// whose outcome is unknown by then are told that it was cancelled: it may be stored. The store
    /// is closed as soon as it has answered; to call this again waits for that.
    ///
    /// ```
    /// # use coact::durable::{EntityId, EventSourced, Journal, MemoryStore, StoreError, stored};
    /// # #[derive(Default)]
    /// # struct Counter(u64);
    /// # #[stored(name = "counted")]
    /// # struct Counted(#[n(0)] u64);
    /// # impl EventSourced for Counter {
    /// #     const KIND: &'static str = "counter";
    /// #     type Event = Counted;
    /// #     fn new(_: &EntityId) -> Self { Self::default() }
    /// #     fn apply(&mut self, Counted(n): &Counted) { self.0 += n }
    /// # }
    /// use std::time::Duration;
    ///
    /// // With a file: `Journal::new(coact_sqlite::SqliteStore::open("bank.db")?)`.
    /// let journal = Journal::new(MemoryStore::new());
    /// let visits = journal.entity::<Counter>("visits");
    /// coact::call(&visits, |visits| visits.persist(Counted(1))).wait()?;
    /// journal.close(Duration::from_secs(10)).wait()??;
    /// // Now `bank.db` can be opened again, moved, or replaced, although there is an address yet.
    /// assert_eq!(journal.keys::<Counter>(None, 9).wait()?, Err(StoreError::Closed));
    /// # drop(visits);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn close(&self, within: Duration) -> Promise<Result<(), CloseError>> {
        let entities = self.0.begin_to_close();
        self.release_active();
        spawn_future(close(Arc::clone(&self.0), entities, within))
    }
}

async fn close(
    shared: Arc<JournalState>,
    entities: Vec<Arc<EntityOwnership>>,
    within: Duration,
) -> Result<(), CloseError> {
    let client = &shared.client;
    let (mut half, mut deadline) = (sleep(within / 2), sleep(within));
    let mut pending = pin!(async {
        for entity in &entities {
            entity.released().await;
        }
        client.active_lanes.wait_until_none().await;
    });
    // (What is done is found to be, however late that is looked for.)
    if until(&mut pending, &mut half).await.is_some() {
        let unsettled = entities.iter().filter(|entity| entity.has_owners());
        client.abandonment.begin(PendingWork {
            entities: unsettled.map(|entity| entity.id.clone()).collect(),
            deliveries: client.active_lanes.count(),
        });
        entities.iter().for_each(|entity| entity.give_up());
    }
    drop(half);
    let (resolver, mut closed) = Promise::channel();
    client.store().close(Box::new(move |()| resolver.resolve(())));
    let told = match until(&mut deadline, &mut closed).await {
        None => poll_once(&mut closed).await,
        told => told,
    };
    // (Another call may have given up what this one has waited for.)
    let PendingWork { entities: unsettled, deliveries } = client.abandonment.abandoned_work();
    let is_store_open = !matches!(told, Some(Ok(())));
    let error = CloseError { unsettled, deliveries, is_store_open };
    if error.is_nothing() { Ok(()) } else { Err(error) }
}

/// What a journal had not done by the deadline of [`Journal::close`].
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct CloseError {
    /// The entities of which something was pending when half of the time was over: a decision whose
    /// outcome was unknown, so that it may be stored, or whose closure was running.
    pub unsettled: Vec<EntityId>,
    /// How many lanes had a message that was being delivered, or published, then. It stays in the
    /// store, and comes again with [`Journal::resume`].
    pub deliveries: usize,
    /// Whether the store still has what it has opened, so that its place cannot be opened again
    /// yet.
    pub is_store_open: bool,
}

impl CloseError {
    fn is_nothing(&self) -> bool {
        self.unsettled.is_empty() && self.deliveries == 0 && !self.is_store_open
    }
}

impl Display for CloseError {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self { unsettled, deliveries, is_store_open } = self;
        f.write_str("the journal was not closed in order before its deadline")?;
        if let Some(first) = unsettled.first() {
            write!(f, "; what was pending of `{first}`")?;
            let others = unsettled.len() - 1;
            if others > 0 {
                write!(f, " and {others} other entities")?;
            }
            f.write_str(" may be stored")?;
        }
        if *deliveries > 0 {
            write!(f, "; {deliveries} messages were being delivered, and come again")?;
        }
        if *is_store_open {
            f.write_str("; the store is still open: close it again to wait for that")?;
        }
        Ok(())
    }
}

impl Error for CloseError {}
