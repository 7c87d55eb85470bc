//! Durable actors by their keys.

use std::any::{Any, TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use coact_actor::actor::{ActorId, Addr, WeakAddr, actor};
use coact_actor::internals::restarting_itself;
use coact_core::Promise;
use coact_core::runtime::spawn_future;
use coact_persist::{EntityId, Position, Store, StoreError};

use crate::durable::Durable;
use crate::entity_ownership::EntityOwnership;
use crate::event_log::EventLog;
use crate::event_sourced::EventSourced;
use crate::keep_alive::ActiveActors;
use crate::message_routes::MessageRoutes;
use crate::outbox::Outbox;
use crate::store_client::{StoreClient, ask, lock};
use crate::tag_log::TagLog;

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
/// #     fn decide(counter: &mut Durable<Self>, Count(n): Count) -> u64 {
/// #         counter.persist(Counted(n));
/// #         counter.0
/// #     }
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
pub struct Journal(pub(crate) Arc<JournalState>, Arc<Mutex<ActiveActors>>);

pub(crate) struct JournalState {
    pub(crate) client: Arc<StoreClient>,
    pub(crate) most_active: usize,
    pub(crate) idle: Duration,
    pub(crate) outbox: Arc<Outbox>,
    pub(crate) routes: MessageRoutes<Journal>,
    pub(crate) entities: Mutex<EntityTable>,
    /// That of all handles. (The actors that are kept have this, and must not be kept by it.)
    pub(crate) active: Mutex<Weak<Mutex<ActiveActors>>>,
}

impl JournalState {
    /// Stops the actors of all entities. Returns the entities.
    pub(crate) fn begin_to_close(&self) -> Vec<Arc<EntityOwnership>> {
        self.client.begin_to_close();
        self.outbox.close();
        let known = lock(&self.entities);
        let mut entities: Vec<_> =
            known.known.values().filter_map(|known| known.entity.upgrade()).collect();
        drop(known);
        // So that a simulation always closes them in the same order.
        entities.sort_unstable_by(|one, other| one.id.cmp(&other.id));
        // (An actor that starts from now on finds that the journal is closed.)
        entities.iter().for_each(|entity| entity.close());
        entities
    }
}

impl Drop for JournalState {
    fn drop(&mut self) {
        self.client.set_gone();
    }
}

#[derive(Default)]
pub(crate) struct EntityTable {
    known: HashMap<EntityId, EntityEntry>,
    /// The type of each kind that was asked for.
    kinds: HashMap<&'static str, StateType>,
    /// From how many on it is looked for those that are gone.
    sweep_at: usize,
}

/// An entity that had an actor, and may have one.
struct EntityEntry {
    /// As long as it has an owner, or something of it is pending.
    entity: Weak<EntityOwnership>,
    /// A [`WeakAddr`] of that, if it was asked for by its key.
    address: Option<(ActorId, Box<dyn Any + Send>)>,
}

/// The type of a state, and its name.
type StateType = (TypeId, &'static str);

impl Journal {
    /// A handle of a journal, which keeps actors active if other handles do.
    pub(crate) fn of(shared: Arc<JournalState>) -> Self {
        let active = {
            let mut known = lock(&shared.active);
            let active = known.upgrade().unwrap_or_default();
            *known = Arc::downgrade(&active);
            active
        };
        Self(shared, active)
    }

    /// Returns the store.
    #[must_use]
    pub fn store(&self) -> &dyn Store {
        self.0.client.store()
    }

    /// Returns the actor of an entity, which is recovered from the store before its first message
    /// if there is none. It ends when its last address is gone, and it is not one of those any more
    /// that [stay active](crate::JournalBuilder::most_active): then the entity is passive, and
    /// takes no room. What was sent to it comes before what is sent to the next one.
    ///
    /// It restarts itself after a panic, three times in five seconds at most.
    ///
    /// # Panics
    /// If this journal was asked for an entity of another type with the same
    /// [`KIND`](EventSourced::KIND).
    pub fn entity<E: EventSourced>(&self, key: impl Into<Arc<str>>) -> Addr<Durable<E>> {
        let id = EntityId::new(E::KIND, key);
        loop {
            let (entity, known) = self.known::<E>(&id);
            let seen = known.as_ref().map(WeakAddr::id);
            // A supervised one that has it comes first: there may be one that waits for that.
            let lend = |weak: WeakAddr<_>| {
                let lent = entity.lend(weak.id(), || weak.upgrade());
                lent.filter(|address| !address.has_ended())
            };
            if let Some(address) = entity.owner().and_then(lend).or_else(|| known.and_then(lend)) {
                return self.keep(&id, address);
            }
            // Without the lock: this schedules.
            let address = spawn(&entity);
            if self.entities().know(&id, seen, &address) {
                return self.keep(&id, address);
            }
            // Another thread was faster.
        }
    }

    /// Keeps an actor active, and lets those go that were not asked for in a while.
    fn keep<E: EventSourced>(&self, id: &EntityId, address: Addr<Durable<E>>) -> Addr<Durable<E>> {
        let JournalState { most_active, idle, .. } = *self.0;
        if most_active == 0 {
            return address;
        }
        let now = self.0.client.now();
        let mut gone = Vec::new();
        {
            let kept = Box::new(address.clone());
            let mut active = lock(&self.1);
            gone.extend(active.touch(id, kept, now));
            // (The clock of another runtime may be behind.)
            while let Some(used) = active.pop(most_active, now.checked_sub(idle)) {
                gone.push(used);
            }
        }
        // Without the lock: this schedules.
        drop(gone);
        address
    }

    /// Releases the actors that are kept active.
    pub(crate) fn release_active(&self) {
        let active = std::mem::take(&mut *lock(&self.1));
        // Without the lock: this schedules.
        drop(active);
    }

    /// Lists the keys of entities of which something is stored, in their order, from behind one on:
    /// `most` of them, or fewer if there are no more.
    ///
    /// # Errors
    /// What the store says.
    ///
    /// ```
    /// # use coact::durable::{DurableState, EntityId, Journal, MemoryStore, stored};
    /// # #[stored(name = "settings")]
    /// # #[derive(Clone)]
    /// # struct Settings(#[n(0)] u8);
    /// # impl DurableState for Settings {
    /// #     const KIND: &'static str = "settings";
    /// #     fn new(_: &EntityId) -> Self { Self(5) }
    /// # }
    /// let journal = Journal::new(MemoryStore::new());
    /// for key in ["alice", "bob", "carol"] {
    ///     let settings = journal.entity::<Settings>(key);
    ///     coact::call(&settings, |one| one.update(|one| one.0 += 1)).wait()?;
    /// }
    /// let two = journal.keys::<Settings>(None, 2).wait()??;
    /// assert_eq!(two, ["alice".into(), "bob".into()]);
    /// let more = journal.keys::<Settings>(two.last().cloned(), 2).wait()??;
    /// assert_eq!(more, ["carol".into()]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn keys<E: EventSourced>(
        &self,
        after: Option<Arc<str>>,
        most: usize,
    ) -> Promise<Result<Vec<Arc<str>>, StoreError>> {
        let client = Arc::clone(&self.0.client);
        let after = after.map(|key| EntityId::new(E::KIND, key));
        spawn_future(async move {
            let (store, kind) = (client.open_store()?, Some(E::KIND.into()));
            let found = ask(|done| store.entities(kind, after, most, done)).await?;
            Ok(found.into_iter().map(|one| one.id.key().into()).collect())
        })
    }

    /// Returns an entity, and the actor that it was last known to have.
    ///
    /// # Panics
    /// See [`entity`](Self::entity).
    pub(crate) fn known<E: EventSourced>(
        &self,
        id: &EntityId,
    ) -> (Arc<EntityOwnership>, Option<WeakAddr<Durable<E>>>) {
        let mut entities = self.entities();
        let (entity, known) = entities.entity::<E>(id, &self.0);
        let weak = known.address.as_ref().and_then(|(_, weak)| weak.downcast_ref());
        (entity, weak.cloned())
    }

    /// Returns the state of an entity for an actor of its own, such as a child of a supervisor,
    /// which is recovered when that starts. If this journal has an actor of the entity already, the
    /// new one waits until that has ended: so does the child that takes the place of one that has
    /// failed. While it waits, so do its commands, for the journal's patience; then they
    /// fail with [`AlreadyOwned`](crate::AlreadyOwned). Once it has the entity, it is what
    /// [`entity`](Self::entity) finds.
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
    /// let child = permanent(move || journal.durable::<Counter>("visits"));
    /// let visits = supervisor.start_child(child);
    /// assert_eq!(coact::call(&visits.wait()?, |visits| visits.0).wait()?, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn durable<E: EventSourced>(&self, key: impl Into<Arc<str>>) -> Durable<E> {
        let id = EntityId::new(E::KIND, key);
        let (entity, _) = self.known::<E>(&id);
        let kept = lock(&self.1).forget(&id);
        // Without the lock: this schedules.
        drop(kept);
        Durable::of(entity, false)
    }

    /// Returns what has happened to all entities of a kind, in the order of commits, from behind a
    /// position on ([`Position::ZERO`]: from the beginning): what there is, and then what comes,
    /// without end. For projections: what they keep, they keep with the
    /// [offset](crate::LoggedEvent::offset) of the last event in it, and go on from there. If the
    /// store does not have the commit behind which it is to go on, since a backup was restored, the
    /// log ends with [`LogError::Ahead`](crate::LogError::Ahead).
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
        EventLog::new(Arc::clone(&self.0.client), after)
    }

    /// Returns what has happened to entities of all kinds and was [tagged](EventSourced::tags) with
    /// this, in the order of commits, from behind a position on: what there is, and then what
    /// comes, without end. For projections over several kinds. Those over one say
    /// [`EventLog::tagged`].
    ///
    /// ```
    /// # use coact::durable::{EntityId, EventSourced, stored};
    /// # #[derive(Default)]
    /// # struct Order;
    /// # #[derive(Default)]
    /// # struct Refund;
    /// # #[stored(name = "ordered")]
    /// # struct Ordered(#[n(0)] i64);
    /// # #[stored(name = "refunded")]
    /// # struct Refunded(#[n(0)] i64);
    /// use coact::call;
    /// use coact::durable::{Journal, LogError, MemoryStore, Position, Tags};
    ///
    /// # impl EventSourced for Refund {
    /// #   const KIND: &'static str = "refund";
    /// #   type Event = Refunded;
    /// #   fn new(_: &EntityId) -> Self { Self }
    /// #   fn apply(&mut self, _: &Refunded) {}
    /// #   fn tags(&self, _: &Refunded) -> Tags { Tags::new(["money"]) }
    /// # }
    /// impl EventSourced for Order {
    ///     // ..
    /// #   const KIND: &'static str = "order";
    /// #   type Event = Ordered;
    /// #   fn new(_: &EntityId) -> Self { Self }
    /// #   fn apply(&mut self, _: &Ordered) {}
    ///     fn tags(&self, _: &Ordered) -> Tags { Tags::new(["money"]) }
    /// }
    /// // And so for `Refund`.
    ///
    /// let journal = Journal::new(MemoryStore::new());
    /// call(&journal.entity::<Order>("17"), |order| order.persist(Ordered(500))).wait()?;
    /// call(&journal.entity::<Refund>("9"), |refund| refund.persist(Refunded(200))).wait()?;
    /// let (mut log, mut cents) = (journal.tagged("money", Position::ZERO).until_now(), 0);
    /// loop {
    ///     let logged = match log.wait_next() {
    ///         Ok(logged) => logged,
    ///         Err(LogError::CaughtUp) => break,
    ///         Err(error) => return Err(error.into()),
    ///     };
    ///     if let Some(Ordered(by)) = logged.read::<Order>()? {
    ///         cents += by;
    ///     } else if let Some(Refunded(by)) = logged.read::<Refund>()? {
    ///         cents -= by;
    ///     }
    /// }
    /// assert_eq!(cents, 300);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tagged(&self, tag: impl Into<Arc<str>>, after: Position) -> TagLog {
        TagLog::new(Arc::clone(&self.0.client), tag.into(), after)
    }

    /// Returns the position of the last commit that this journal knows to be stored. It is never
    /// lower than the position of a commit whose answer or result the caller has (even one first
    /// answered by an earlier process), or of a commit contained in a recovered state. A projection
    /// that has [read up to there](EventLog::position) shows it.
    ///
    /// ```
    /// # use coact::durable::{EntityId, EventSourced, Journal, MemoryStore, Position, stored};
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
    /// let journal = Journal::new(MemoryStore::new());
    /// let visits = journal.entity::<Counter>("visits");
    /// coact::call(&visits, |visits| visits.persist(Counted(5))).wait()?;
    /// let mine = journal.position();
    /// // Elsewhere, and whatever else is stored meanwhile:
    /// let (mut sum, mut log) = (0, journal.log::<Counter>(Position::ZERO).until_now());
    /// while sum < 5 {
    ///     sum += log.wait_next()?.event.0;
    /// }
    /// assert!(log.position() >= mine && sum == 5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn position(&self) -> Position {
        self.0.client.position()
    }

    fn entities(&self) -> MutexGuard<'_, EntityTable> {
        lock(&self.0.entities)
    }
}

/// How often an entity may fail before it is given up, in [`WITHIN`].
const MOST_RESTARTS: u32 = 3;
const WITHIN: Duration = Duration::from_secs(5);

fn spawn<E: EventSourced>(entity: &Arc<EntityOwnership>) -> Addr<Durable<E>> {
    let again = Arc::clone(entity);
    let spawn = actor(Durable::of(Arc::clone(entity), true))
        .restartable(move || Durable::of(Arc::clone(&again), true));
    restarting_itself(spawn, MOST_RESTARTS, WITHIN).spawn()
}

impl EntityTable {
    /// Returns an entity, which may be one that there was.
    ///
    /// # Panics
    /// If it is of another type.
    fn entity<E: EventSourced>(
        &mut self,
        id: &EntityId,
        shared: &Arc<JournalState>,
    ) -> (Arc<EntityOwnership>, &mut EntityEntry) {
        self.sweep();
        let own = (TypeId::of::<E>(), type_name::<E>());
        let (first, name) = *self.kinds.entry(E::KIND).or_insert(own);
        assert!(
            first == own.0,
            "`{name}` and `{}` have the same kind, `{}`: give one of them another",
            own.1,
            E::KIND,
        );
        let new = || EntityEntry { entity: Weak::new(), address: None };
        let known = self.known.entry(id.clone()).or_insert_with(new);
        let entity = known.entity.upgrade().unwrap_or_else(|| {
            EntityOwnership::new(
                id.clone(),
                (&shared.client, &shared.outbox),
                Arc::clone(shared) as _,
            )
        });
        known.entity = Arc::downgrade(&entity);
        (entity, known)
    }

    /// Registers a new actor of an entity. Returns false if there is another one by now than
    /// was seen before.
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
