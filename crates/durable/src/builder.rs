//! How a journal is made.

use std::fmt;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use coact_actor::actor::{AskError, Message};
use coact_persist::{CommitRefusal, EntityId, Format, NoteId, Store, read};

use crate::decide::Decide;
use crate::delivered_message::DeliveredMessage;
use crate::journal::{Journal, JournalState};
use crate::message_delivery::{AttemptResult, DeliveryFuture, DeliveryRequest, MessageDelivery};
use crate::message_routes::{MessageRoutes, Publication};
use crate::outbox::{ATTEMPTS, Outbox};
use crate::recovery_error::RecoveryError;
use crate::store_client::{JournalSettings, StoreClient};

/// The settings of a [`Journal`].
#[must_use = "a builder does nothing until `build` is called"]
pub struct JournalBuilder {
    store: Arc<dyn Store>,
    settings: JournalSettings,
    routes: MessageRoutes<Journal>,
    attempts: u32,
    most_active: usize,
    idle: Duration,
}

impl JournalBuilder {
    /// Sets for how long commands and behaviours wait for a store that cannot be reached (by
    /// default 5 s). After that they fail at once, until it is back.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.settings.patience = patience;
        self
    }

    /// Sets how many bytes of an entity may be in flight to the store (by default 1 MiB); its
    /// commands, and pipelined behaviours, wait for room. A commit that is larger goes alone.
    pub fn most_in_flight(mut self, bytes: usize) -> Self {
        self.settings.most_in_flight = bytes.max(1);
        self
    }

    /// Sets how many entities may be recovered at once (by default 64); others wait.
    pub fn recoveries(mut self, at_once: usize) -> Self {
        self.settings.recoveries = at_once.max(1);
        self
    }

    /// Sets how many entities [asked for by their keys](Journal::entity) stay active though their
    /// addresses are gone (by default 1,024): those that were asked for last. 0 for none. Others
    /// become passive as soon as they have nothing to do: they are recovered when they are asked
    /// for again.
    pub fn most_active(mut self, most: usize) -> Self {
        self.most_active = most;
        self
    }

    /// Sets after which time an entity that was not asked for becomes passive though it is one of
    /// those (by default 30 s). It is looked for such ones whenever an entity is asked for.
    pub fn passive_after(mut self, time: Duration) -> Self {
        self.idle = time;
        self
    }

    /// Sets for how long answers to [commands with keys](crate::Once) are kept (by default a week).
    /// After that, a command with such a key is decided on anew.
    pub fn answers_for(mut self, time: Duration) -> Self {
        self.settings.answers_for = time;
        self
    }

    /// Registers entities of type `E` as receivers of messages `M` that
    /// [decisions](crate::Durable::deliver_to) or [timers](crate::Durable::set_timer) have left, so
    /// that those of earlier processes find them.
    pub fn receives<E: Decide<M>, M: Message + Format>(mut self) -> Self {
        self.routes.receive(E::KIND, M::NAME, receive::<E, M>);
        self
    }

    /// Sets how messages `M` are [published](crate::Durable::publish): by a future, which ends when
    /// it is done, or fails and is tried again. What it does may be done twice, if the process ends
    /// before that is stored: [`Publication::id`] is the same then.
    ///
    /// ```
    /// # use coact::durable::{EntityId, EventSourced, Journal, MemoryStore, Publication, stored};
    /// # #[derive(Default)]
    /// # struct Order;
    /// # #[stored(name = "paid")]
    /// # struct Paid;
    /// # impl EventSourced for Order {
    /// #     const KIND: &'static str = "order";
    /// #     type Event = Paid;
    /// #     fn new(_: &EntityId) -> Self { Self }
    /// #     fn apply(&mut self, _: &Paid) {}
    /// # }
    /// use std::sync::mpsc;
    ///
    /// #[stored(name = "mail")]
    /// struct Mail(#[n(0)] String);
    ///
    /// let (outside, sent) = mpsc::channel();
    /// let journal = Journal::builder(MemoryStore::new())
    ///     .publishes(move |mail: Publication<Mail>| {
    ///         let outside = outside.clone();
    ///         async move { outside.send(mail.message.0) }
    ///     })
    ///     .build();
    /// coact::when(&journal.entity::<Order>("17"), |order| {
    ///     order.persist(Paid);
    ///     order.publish(Mail("thank you".into()));
    /// });
    /// assert_eq!(sent.recv()?, "thank you");
    /// # Ok::<(), std::sync::mpsc::RecvError>(())
    /// ```
    pub fn publishes<M, F, E>(
        mut self,
        publish: impl Fn(Publication<M>) -> F + Send + Sync + 'static,
    ) -> Self
    where
        M: Format,
        F: Future<Output = Result<(), E>> + Send + 'static,
        E: fmt::Display + Send + 'static,
    {
        self.routes.publish(publish);
        self
    }

    /// Sets after how many failures a message is a [dead letter](Journal::dead_letters) (by default
    /// 16, which takes about four minutes: each time it is waited twice as long, from 20 ms up to a
    /// minute). A failure is that its decision panics, that it cannot be read, or that its receiver
    /// cannot be recovered; not that the store is away, or that its receiver was stopped, or
    /// replaced by another owner.
    pub fn attempts(mut self, most: u32) -> Self {
        self.attempts = most.max(1);
        self
    }

    /// Makes the journal.
    #[must_use]
    pub fn build(self) -> Journal {
        let client = Arc::new(StoreClient::new(self.store, self.settings));
        let outbox = Outbox::new(Arc::clone(&client), self.attempts);
        let (routes, entities) = (self.routes, Mutex::default());
        let (most_active, idle) = (self.most_active, self.idle);
        let active = Mutex::default();
        let shared =
            Arc::new(JournalState { client, most_active, idle, outbox, routes, entities, active });
        shared.outbox.connect(Box::new(Arc::downgrade(&shared)));
        Journal::of(shared)
    }
}

impl Journal {
    /// One with the default settings.
    #[must_use]
    pub fn new(store: impl Store) -> Self {
        Self::builder(store).build()
    }

    /// Returns the settings of one.
    pub fn builder(store: impl Store) -> JournalBuilder {
        let (store, settings) = (Arc::new(store), JournalSettings::default());
        JournalBuilder {
            store,
            settings,
            routes: MessageRoutes::default(),
            attempts: ATTEMPTS,
            most_active: 1_024,
            idle: Duration::from_secs(30),
        }
    }
}

impl MessageDelivery for Weak<JournalState> {
    fn knows(&self, kind: Option<&str>, name: &str) -> bool {
        self.upgrade().is_some_and(|shared| shared.routes.knows(kind, name))
    }

    fn deliver(&self, attempt: DeliveryRequest) -> Option<DeliveryFuture> {
        let journal = Journal::of(self.upgrade()?);
        journal.0.routes.deliver(&journal, attempt)
    }
}

/// Hands a message to an entity.
fn receive<E: Decide<M>, M: Message + Format>(
    journal: &Journal,
    to: EntityId,
    attempt: DeliveryRequest,
) -> DeliveryFuture {
    let message = match read::<M>(&attempt.message.message()) {
        Ok(message) => message,
        Err(error) => {
            let failed = AttemptResult::Failed { why: error.to_string(), is_final: true };
            return Box::pin(std::future::ready(failed));
        }
    };
    let entity = journal.known::<E>(&to).0;
    let address = journal.entity::<E>(to.key());
    let DeliveryRequest { note, message: stored, .. } = attempt;
    let id = note.clone();
    Box::pin(async move {
        match address.ask(DeliveredMessage { note, stored, message }).await {
            Ok(()) => AttemptResult::Received,
            // It is for the version of the program that can.
            Err(_) if entity.is_unreadable() => AttemptResult::Later,
            Err(error) => failed(&error, &id),
        }
    })
}

/// Returns whether a message was at fault, or its receiver, which did not take it: it is tried
/// again in any case.
fn failed(error: &AskError, note: &NoteId) -> AttemptResult {
    let is_at_fault = match error {
        AskError::Panicked(_) => true,
        AskError::NotCommitted(why) => match why.why::<CommitRefusal>() {
            // (Another note may be gone, which a decision before this one was to take.)
            Some(CommitRefusal::Gone(gone)) if gone == note => return AttemptResult::Gone,
            _ => why.why::<RecoveryError>().is_some(),
        },
        // Its receiver was stopped.
        _ => false,
    };
    if is_at_fault {
        AttemptResult::Failed { why: error.to_string(), is_final: false }
    } else {
        AttemptResult::Later
    }
}

impl fmt::Debug for JournalBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JournalBuilder").finish_non_exhaustive()
    }
}
