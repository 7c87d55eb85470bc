//! Durable actors by their keys.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use coact_actor::actor::{ActorId, Addr, AskError, Message, WeakAddr, actor};
use coact_actor::internals::restarting_itself;
use coact_core::Promise;
use coact_core::runtime::spawn_future;
use coact_persist::{
    EntityId, Event, Format, Note, NoteKind, Notes, Position, Refusal, Store, StoreError, read,
};

use crate::access::{Access, Settings, ask, lock};
use crate::decide::Decide;
use crate::delivered::Delivered;
use crate::durable::Durable;
use crate::entity::Entity;
use crate::event_log::EventLog;
use crate::event_sourced::EventSourced;
use crate::outbox::{ATTEMPTS, Handed, Handing, Outbox, Parcel, Post};
use crate::outgoing::{StoredMessage, now, rank_of};
use crate::routes::{Publication, Routes};

/// Durable actors by their keys, and the store that keeps them. Clones are the same journal.
///
/// ```
/// # use coact::durable::{Decide, Durable, EntityId, EventSourced, stored};
/// # use coact::Message;
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
/// # #[derive(Message)]
/// # #[message(reply = u64)]
/// # struct Count(u64);
/// # impl Decide<Count> for Counter {
/// #     fn decide(counter: &mut Durable<Self>, Count(n): Count) -> u64 { counter.persist(Counted(n)); counter.0 }
/// # }
/// use coact::durable::{Journal, MemoryStore};
///
/// let store = MemoryStore::new();
/// let journal = Journal::new(store.clone());
/// let visits = journal.entity::<Counter>("visits");
/// assert_eq!(visits.ask(Count(2)).wait()?, 2);
/// drop((visits, journal));
///
/// // Another process, with the same store.
/// let visits = Journal::new(store).entity::<Counter>("visits");
/// assert_eq!(visits.ask(Count(1)).wait()?, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Journal(Arc<Shared>);

struct Shared {
    access: Arc<Access>,
    outbox: Arc<Outbox>,
    routes: Routes<Journal>,
    entities: Mutex<Entities>,
}

#[derive(Default)]
struct Entities {
    known: HashMap<EntityId, Known>,
    /// From how many on it is looked for those that are gone.
    sweep_at: usize,
}

/// An entity that had an actor, and may have one.
struct Known {
    /// As long as it has an owner, or something of it is on its way.
    entity: Weak<Entity>,
    /// The type of its state.
    kind: TypeId,
    /// A [`WeakAddr`] of that, if it was asked for by its key.
    address: Option<(ActorId, Box<dyn Any + Send>)>,
}

/// The settings of a [`Journal`].
#[must_use = "a builder does nothing until `build` is called"]
pub struct JournalBuilder {
    store: Arc<dyn Store>,
    settings: Settings,
    routes: Routes<Journal>,
    attempts: u32,
}

impl JournalBuilder {
    /// Sets for how long commands and behaviours wait for a store that cannot be reached (by default 5 s). After that
    /// they fail at once, until it is back.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.settings.patience = patience;
        self
    }

    /// Sets how many bytes of an entity may be on their way to the store (by default 1 MiB); its commands wait
    /// for room. A commit that is larger goes alone.
    pub fn most_in_flight(mut self, bytes: usize) -> Self {
        self.settings.most_in_flight = bytes.max(1);
        self
    }

    /// Sets how many entities may be recovered at once (by default 64); others wait.
    pub fn recoveries(mut self, at_once: usize) -> Self {
        self.settings.recoveries = at_once.max(1);
        self
    }

    /// Sets for how long answers to [commands with keys](crate::Once) are kept (by default a week). After that, a command with such a
    /// key is decided on anew.
    pub fn answers_for(mut self, time: Duration) -> Self {
        self.settings.answers_for = time;
        self
    }

    /// Says that entities of type `E` receive messages `M` that [decisions](Durable::deliver_to) or [timers](Durable::set_timer) have left,
    /// so that those of earlier processes find them.
    pub fn receives<E: Decide<M>, M: Message + Format>(mut self) -> Self {
        self.routes.receive(E::KIND, M::NAME, receive::<E, M>);
        self
    }

    /// Says how messages `M` are [published](Durable::publish): by a future, which ends when it is done, or fails and is tried
    /// again. What it does may be done twice, if the process ends before that is stored: [`Publication::id`] is the same then.
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

    /// Sets after how many failures a message is a [dead letter](Journal::dead_letters) (by default 16, which takes about ten minutes: each time it
    /// is waited twice as long, from 200 ms up to a minute). An outage of the store does not count.
    pub fn attempts(mut self, most: u32) -> Self {
        self.attempts = most.max(1);
        self
    }

    /// Makes the journal.
    #[must_use]
    pub fn build(self) -> Journal {
        let access = Arc::new(Access::new(self.store, self.settings));
        let outbox = Outbox::new(Arc::clone(&access), self.attempts);
        let (routes, entities) = (self.routes, Mutex::default());
        let shared = Arc::new(Shared { access, outbox, routes, entities });
        shared.outbox.connect(Box::new(Arc::downgrade(&shared)));
        Journal(shared)
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
        let (store, settings) = (Arc::new(store), Settings::default());
        JournalBuilder { store, settings, routes: Routes::default(), attempts: ATTEMPTS }
    }

    /// Returns the store.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        self.0.access.store()
    }

    /// Returns the actor of an entity, which is recovered from the store before its first message if there is none. It
    /// ends with its last address.
    ///
    /// It restarts itself after a panic, three times in five seconds at most.
    ///
    /// # Panics
    /// If there is an actor of another type with the same [`KIND`](EventSourced::KIND).
    pub fn entity<E: EventSourced>(&self, key: impl Into<Arc<str>>) -> Addr<Durable<E>> {
        let id = EntityId::new(E::KIND, key);
        loop {
            let (entity, known) = self.known::<E>(&id);
            let seen = known.as_ref().map(WeakAddr::id);
            let lent = known.and_then(|weak| entity.lend(weak.id(), || weak.upgrade()));
            if let Some(address) = lent.filter(|address| !address.has_ended()) {
                return address;
            }
            // Without the lock: this schedules.
            let address = spawn(&entity);
            if self.entities().know(&id, seen, &address) {
                return address;
            }
            // Another thread was faster.
        }
    }

    /// Returns an entity, and the actor that it was last known to have.
    ///
    /// # Panics
    /// See [`entity`](Self::entity).
    fn known<E: EventSourced>(&self, id: &EntityId) -> (Arc<Entity>, Option<WeakAddr<Durable<E>>>) {
        let mut entities = self.entities();
        let (entity, known) = entities.entity::<E>(id, &self.0);
        let weak = known.address.as_ref().and_then(|(_, weak)| weak.downcast_ref());
        (entity, weak.cloned())
    }

    /// Returns the state of an entity for an actor of its own, such as a child of a supervisor, which is recovered when that
    /// starts. If this journal has an actor of the entity already, the new one waits until that has ended: so does the child
    /// that takes the place of one that has failed. ([`entity`](Self::entity) does not find it.) While it waits, so do its
    /// commands, as long as the journal is patient; then they fail with [`Taken`](crate::Taken).
    ///
    /// ```
    /// # use coact::durable::{EntityId, EventSourced, Journal, MemoryStore, stored};
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
    /// use coact::supervise::{Supervisor, permanent};
    ///
    /// let journal = Journal::new(MemoryStore::new());
    /// let supervisor = Supervisor::dynamic().spawn();
    /// let visits = supervisor.start_child(permanent(move || journal.durable::<Counter>("visits")));
    /// assert_eq!(coact::call(&visits.wait()?, |visits| visits.0).wait()?, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn durable<E: EventSourced>(&self, key: impl Into<Arc<str>>) -> Durable<E> {
        let id = EntityId::new(E::KIND, key);
        let (entity, _) = self.known::<E>(&id);
        Durable::of(entity)
    }

    /// Returns what has happened to all entities of a kind, in the order of commits, from behind a position on
    /// ([`Position::ZERO`]: from the beginning): what there is, and then what comes, without end. For projections: what they keep, they keep
    /// with the position of the last event in it, and go on from there.
    ///
    /// ```
    /// # use coact::durable::{EntityId, EventSourced, Journal, MemoryStore, stored};
    /// # #[derive(Default)]
    /// # struct Counter(u64);
    /// # #[stored(name = "counted")]
    /// # #[derive(PartialEq, Debug)]
    /// # struct Counted(#[n(0)] u64);
    /// # impl EventSourced for Counter {
    /// #     const KIND: &'static str = "counter";
    /// #     type Event = Counted;
    /// #     fn new(_: &EntityId) -> Self { Self::default() }
    /// #     fn apply(&mut self, Counted(n): &Counted) { self.0 += n }
    /// # }
    /// use coact::durable::Position;
    /// use coact::when;
    ///
    /// let journal = Journal::new(MemoryStore::new());
    /// for (key, n) in [("visits", 1), ("sales", 2)] {
    ///     when(&journal.entity::<Counter>(key), move |counter| counter.persist(Counted(n)));
    /// }
    /// let mut log = journal.log::<Counter>(Position::ZERO);
    /// let both = [log.wait_next()?, log.wait_next()?].map(|logged| logged.event.0);
    /// assert_eq!(both.iter().sum::<u64>(), 3);
    /// # Ok::<(), coact::durable::LogError>(())
    /// ```
    pub fn log<E: EventSourced>(&self, after: Position) -> EventLog<E> {
        const { assert!(!E::IS_STATE, "a `DurableState` has no events, and no log") };
        EventLog::new(Arc::clone(&self.0.access), after)
    }

    /// Goes on with what earlier processes have left: has messages delivered that wait for that, and timers set. To be called once, when a
    /// program has made its journal; where several processes use a store, in the one that is to deliver. Tells how many there
    /// are.
    ///
    /// # Errors
    /// What the store says. (One that cannot be reached is waited for.)
    pub fn resume(&self) -> Promise<Result<Resumed, StoreError>> {
        spawn_future(resume(Arc::clone(&self.0.access), Arc::clone(&self.0.outbox)))
    }

    /// Reads messages that could not be delivered, the oldest first: those that have failed [too often](JournalBuilder::attempts), and those that cannot be
    /// read.
    ///
    /// # Errors
    /// What the store says.
    pub fn dead_letters(&self, most: usize) -> Promise<Result<Vec<DeadLetter>, StoreError>> {
        let access = Arc::clone(&self.0.access);
        spawn_future(async move {
            let which = Notes::Ranked { kind: NoteKind::DeadLetter, after: None, up_to: u64::MAX };
            let notes = ask(|done| access.store().notes(which, most, done)).await?;
            Ok(notes.into_iter().filter_map(DeadLetter::of).collect())
        })
    }

    /// Has a dead letter delivered once more.
    ///
    /// # Errors
    /// [`Refusal::Gone`], if that was done already, or it was [discarded](Self::discard); or what the store says.
    pub fn redeliver(&self, letter: &DeadLetter) -> Promise<Result<(), Refusal>> {
        let (outbox, dead) = (Arc::clone(&self.0.outbox), letter.note.clone());
        let outgoing = Note { kind: NoteKind::Outgoing, rank: rank_of(now()), ..dead.clone() };
        spawn_future(async move {
            outbox.exchange(vec![dead.id()], vec![outgoing.clone()]).await?;
            outbox.add(outgoing);
            Ok(())
        })
    }

    /// Removes a dead letter.
    ///
    /// # Errors
    /// As [`redeliver`](Self::redeliver).
    pub fn discard(&self, letter: &DeadLetter) -> Promise<Result<(), Refusal>> {
        let (outbox, dead) = (Arc::clone(&self.0.outbox), letter.note.id());
        spawn_future(async move { outbox.exchange(vec![dead], Vec::new()).await })
    }

    fn entities(&self) -> MutexGuard<'_, Entities> {
        lock(&self.0.entities)
    }
}

impl Post for Weak<Shared> {
    fn knows(&self, kind: Option<&str>, name: &str) -> bool {
        self.upgrade().is_some_and(|shared| shared.routes.knows(kind, name))
    }

    fn hand(&self, parcel: Parcel) -> Option<Handing> {
        let journal = Journal(self.upgrade()?);
        journal.0.routes.hand(&journal, parcel)
    }
}

/// Hands a message to an entity.
fn receive<E: Decide<M>, M: Message + Format>(
    journal: &Journal,
    to: EntityId,
    parcel: Parcel,
) -> Handing {
    let message = match read::<M>(&parcel.message.message()) {
        Ok(message) => message,
        Err(error) => {
            let failed = Handed::Failed { why: error.to_string(), is_final: true };
            return Box::pin(std::future::ready(failed));
        }
    };
    let address = journal.entity::<E>(to.key());
    let Parcel { note, message: stored, .. } = parcel;
    Box::pin(async move {
        match address.ask(Delivered { note, stored, message }).await {
            Ok(()) => Handed::Received,
            Err(error) => failed(&error),
        }
    })
}

fn failed(error: &AskError) -> Handed {
    if let AskError::NotCommitted(why) = error {
        if let Some(Refusal::Gone(_)) = why.why::<Refusal>() {
            return Handed::Received;
        }
        if let Some(StoreError::Unavailable { .. }) = why.why::<StoreError>() {
            return Handed::Later;
        }
    }
    Handed::Failed { why: error.to_string(), is_final: false }
}

async fn resume(access: Arc<Access>, outbox: Arc<Outbox>) -> Result<Resumed, StoreError> {
    let mut resumed = Resumed { messages: 0, timers: 0 };
    for (kind, count) in
        [(NoteKind::Outgoing, &mut resumed.messages), (NoteKind::Timer, &mut resumed.timers)]
    {
        let mut after = None;
        loop {
            let which = Notes::Ranked { kind, after: after.take(), up_to: u64::MAX };
            let page =
                access.ask_again(|done| access.store().notes(which.clone(), PAGE, done)).await?;
            let Some(last) = page.last() else { break };
            after = Some((last.rank, last.entity.clone(), last.key.clone()));
            *count += page.len();
            page.into_iter().for_each(|note| outbox.resume(note));
        }
    }
    Ok(resumed)
}

/// How many notes are read at once.
const PAGE: usize = 256;

/// What earlier processes have left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Resumed {
    /// How many messages are to be delivered.
    pub messages: usize,
    /// How many timers are set.
    pub timers: usize,
}

/// A message that could not be delivered.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct DeadLetter {
    /// The entity that has left it.
    pub from: EntityId,
    /// The one that was to receive it; `None` if it was to be [published](Durable::publish).
    pub to: Option<EntityId>,
    /// The message, which [`read`] reads.
    pub message: Event,
    /// Why it could not be delivered the last time.
    pub why: String,
    /// When that was.
    pub since: SystemTime,
    note: Note,
}

impl DeadLetter {
    fn of(note: Note) -> Option<Self> {
        let stored = StoredMessage::of(&note).ok()?;
        let (from, to, message) = (note.entity.clone(), stored.to(), stored.message());
        let since = UNIX_EPOCH + Duration::from_millis(note.rank);
        Some(Self { from, to, message, why: stored.why().into(), since, note })
    }
}

/// How often an entity may fail before it is given up, in [`WITHIN`].
const MOST_RESTARTS: u32 = 3;
const WITHIN: Duration = Duration::from_secs(5);

fn spawn<E: EventSourced>(entity: &Arc<Entity>) -> Addr<Durable<E>> {
    let again = Arc::clone(entity);
    let spawn =
        actor(Durable::of(Arc::clone(entity))).restartable(move || Durable::of(Arc::clone(&again)));
    restarting_itself(spawn, MOST_RESTARTS, WITHIN).spawn()
}

impl Entities {
    /// Returns an entity, which may be one that there was.
    ///
    /// # Panics
    /// If it is of another type.
    fn entity<E: EventSourced>(
        &mut self,
        id: &EntityId,
        shared: &Shared,
    ) -> (Arc<Entity>, &mut Known) {
        self.sweep();
        let kind = TypeId::of::<E>();
        let new = || Known { entity: Weak::new(), kind, address: None };
        let known = self.known.entry(id.clone()).or_insert_with(new);
        let entity = known.entity.upgrade();
        assert!(
            known.kind == kind || entity.is_none(),
            "two types have the kind `{}`: `{}` is one of them",
            E::KIND,
            type_name::<E>()
        );
        known.kind = kind;
        let entity = entity.unwrap_or_else(|| {
            Entity::new(id.clone(), Arc::clone(&shared.access), Arc::clone(&shared.outbox))
        });
        known.entity = Arc::downgrade(&entity);
        (entity, known)
    }

    /// Takes note of a new actor of an entity. Returns false if there is another one by now than was seen before.
    fn know<E: EventSourced>(
        &mut self,
        id: &EntityId,
        seen: Option<ActorId>,
        address: &Addr<Durable<E>>,
    ) -> bool {
        let Some(known) = self.known.get_mut(id) else { return false };
        let is_new = known.address.as_ref().map(|(id, _)| *id) == seen;
        if is_new {
            known.address = Some((address.id(), Box::new(address.downgrade())));
        }
        is_new
    }

    /// Forgets those that are gone, if there are twice as many as there were.
    fn sweep(&mut self) {
        if self.known.len() >= self.sweep_at.max(64) {
            self.known.retain(|_, known| known.entity.strong_count() > 0);
            self.sweep_at = 2 * self.known.len();
        }
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal").finish_non_exhaustive()
    }
}

impl fmt::Debug for JournalBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JournalBuilder").finish_non_exhaustive()
    }
}
