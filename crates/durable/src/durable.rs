//! The state of a durable actor: what decisions see of it.

use std::fmt;
use std::mem::{replace, take};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use coact_actor::actor::ActorId;
use coact_core::behaviour::NotCommitted;
use coact_core::internals::{
    CommitParticipant, PendingCommit, Readiness, ReadyCallback, drop_quietly,
};
use coact_persist::{Commit, EntityId, Event, Seq, read, write};

use crate::entity_ownership::{EntityOwnership, OwnershipTicket};
use crate::entity_state::EntityState;
use crate::event_sourced::EventSourced;
use crate::joint_commit::{JointCommit, OnCommitAction};
use crate::pipeline::{BYTES_PER_PART, OwnerStanding, OwningActor, PipelineDriver};
use crate::recovery::StateRecovery;
use crate::stored_message::{OutgoingMessage, TimerList};

/// The state of a durable actor, whose address is an `Addr<Durable<E>>`.
///
/// It shows the state of the entity, as `&E`, and [persists](Self::persist) events, which are what
/// changes that. [Commands](crate::Decide) get it, and behaviours do, over one or several durable
/// actors, and in all their forms (`when`, `call`, batches, scopes, reads). **A behaviour over
/// several of them stores the events of all as one step, or none.**
///
/// ```
/// # use coact::durable::{EntityId, EventSourced, Journal, MemoryStore, stored};
/// # #[derive(Default)]
/// # struct Account { balance: u64 }
/// # #[stored(name = "bank.account-event")]
/// # enum AccountEvent {
/// #     #[n(0)] Deposited(#[n(0)] u64),
/// #     #[n(1)] Withdrawn(#[n(0)] u64),
/// # }
/// # impl EventSourced for Account {
/// #     const KIND: &'static str = "bank.account";
/// #     type Event = AccountEvent;
/// #     fn new(_: &EntityId) -> Self { Self::default() }
/// #     fn apply(&mut self, event: &AccountEvent) {
/// #         match event {
/// #             AccountEvent::Deposited(amount) => self.balance += amount,
/// #             AccountEvent::Withdrawn(amount) => self.balance -= amount,
/// #         }
/// #     }
/// # }
/// use coact::{call, when};
///
/// let journal = Journal::new(MemoryStore::new());
/// let [alice, bob] = ["alice", "bob"].map(|key| journal.entity::<Account>(key));
/// when(&alice, |alice| alice.persist(AccountEvent::Deposited(100)));
/// let moved = call((&alice, &bob), |(alice, bob)| {
///     if alice.balance < 30 {
///         return false;
///     }
///     alice.persist(AccountEvent::Withdrawn(30));
///     bob.persist(AccountEvent::Deposited(30));
///     true
/// });
/// // Both are stored by now.
/// assert_eq!(moved.wait(), Ok(true));
/// let balances = call((&alice, &bob), |(alice, bob)| (alice.balance, bob.balance));
/// assert_eq!(balances.wait(), Ok((70, 30)));
/// ```
///
/// **Order and durability.** A behaviour begins when all that its members have decided before is
/// stored, and ends, and [`call`](coact_core::call) has its result, when what it has decided itself
/// is. So no one sees a state that might be undone. Commands of one entity do not wait for each
/// other; their answers do. Nor do [pipelined](crate::pipelined) behaviours.
///
/// **What is not stored has not happened.** If the store refuses a step, or the entity has another
/// owner by now, the members are recovered from what is stored, before anything else sees them, and
/// [`Broken::NotCommitted`](coact_core::Broken::NotCommitted) or
/// [`AskError::NotCommitted`](coact_actor::actor::AskError::NotCommitted) says why. If a connection
/// breaks in the middle, so that the outcome is unknown, the members are held until it is settled.
///
/// **Members that are not durable** can only be read beside durable ones (`cown.read()`): nothing
/// undoes what a closure does to them. Change them in [`on_commit`](Self::on_commit). The compiler
/// refuses others:
///
/// ```compile_fail,E0080
/// # use coact::durable::{EntityId, EventSourced, Journal, MemoryStore, stored};
/// # struct Account { balance: u64 }
/// # #[stored(name = "deposited")]
/// # struct Deposited(#[n(0)] u64);
/// # impl EventSourced for Account {
/// #     const KIND: &'static str = "account";
/// #     type Event = Deposited;
/// #     fn new(_: &EntityId) -> Self { Self { balance: 0 } }
/// #     fn apply(&mut self, Deposited(amount): &Deposited) { self.balance += amount }
/// # }
/// use coact::{Cown, when};
///
/// let alice = Journal::new(MemoryStore::new()).entity::<Account>("alice");
/// let count = Cown::new(0);
/// // With `count.read()`, and without the addition, it would compile.
/// when((&alice, &count), |(alice, count)| {
///     alice.persist(Deposited(1));
///     *count += 1;
/// });
/// ```
pub struct Durable<E: EventSourced> {
    pub(crate) recovered: OnceLock<EntityState<E>>,
    /// What `recovered` comes from, until it is there.
    recovery: Option<StateRecovery<E>>,
    /// `None` without a store.
    pub(crate) entity: Option<(Arc<EntityOwnership>, Arc<OwnershipTicket>)>,
    /// From its start on.
    pipeline: Option<Arc<PipelineDriver>>,
    pub(crate) standalone: Option<StandaloneState<E>>,
    pub(crate) effects: Vec<OnCommitAction>,
    /// Whether the decision is told only if the store has confirmed what it has seen.
    confirms: bool,
    /// Whether the step that is being settled has events of this entity.
    contributes: bool,
    /// Whether an `apply` has panicked, so that the state is not what its events make of it.
    is_torn: bool,
    /// How often an address had been lent when this was asked last whether it ends.
    lent: u64,
    /// The actor that this is the state of, and the one in whose place it was found last.
    ids: (Option<ActorId>, Option<ActorId>),
}

/// A state without a store.
pub(crate) struct StandaloneState<E> {
    state: E,
    id: EntityId,
    persisted: Vec<Event>,
    pub(crate) outgoing: Vec<OutgoingMessage>,
    pub(crate) timers: TimerList,
}

impl<E: EventSourced> Durable<E> {
    /// A state without an actor and a store, to test what is decided on it.
    ///
    /// ```
    /// # use coact::durable::{Durable, EntityId, EventSourced, stored};
    /// # struct Counter(u64);
    /// # #[stored(name = "counted")]
    /// # #[derive(PartialEq, Debug)]
    /// # struct Counted(#[n(0)] u64);
    /// # impl EventSourced for Counter {
    /// #     const KIND: &'static str = "counter";
    /// #     type Event = Counted;
    /// #     fn new(_: &EntityId) -> Self { Self(0) }
    /// #     fn apply(&mut self, Counted(n): &Counted) { self.0 += n }
    /// # }
    /// let mut counter = Durable::standalone(Counter(5));
    /// counter.persist(Counted(2));
    /// assert_eq!((counter.0, counter.persisted()), (7, vec![Counted(2)]));
    /// ```
    #[must_use]
    pub fn standalone(state: E) -> Self {
        Self::standalone_of("", state)
    }

    /// The same, of an entity with this key.
    #[must_use]
    pub fn standalone_of(key: impl Into<Arc<str>>, state: E) -> Self {
        let id = EntityId::new(E::KIND, key);
        Self {
            standalone: Some(StandaloneState {
                state,
                id,
                persisted: Vec::new(),
                outgoing: Vec::new(),
                timers: TimerList::default(),
            }),
            ..Self::empty(None)
        }
    }

    pub(crate) fn of(entity: Arc<EntityOwnership>, is_by_key: bool) -> Self {
        let ticket = entity.take_ticket(is_by_key);
        Self::empty(Some((entity, ticket)))
    }

    fn empty(entity: Option<(Arc<EntityOwnership>, Arc<OwnershipTicket>)>) -> Self {
        Self {
            recovered: OnceLock::new(),
            recovery: None,
            entity,
            pipeline: None,
            standalone: None,
            effects: Vec::new(),
            confirms: false,
            contributes: false,
            is_torn: false,
            lent: 0,
            ids: (None, None),
        }
    }

    /// Changes the state by an event, which is stored when the command or behaviour has ended.
    ///
    /// # Panics
    /// If the event refuses to be written (no derived one does), or [`apply`](EventSourced::apply)
    /// or [`tags`](EventSourced::tags) panics. Then nothing of the decision is stored.
    #[track_caller]
    pub fn persist(&mut self, event: E::Event) {
        let written = match write(&event) {
            Ok(written) => written,
            Err(error) => panic!("an event of `{}`: {error}", self.id()),
        };
        if let Some(StandaloneState { state, persisted, .. }) = &mut self.standalone {
            state.apply(&event);
            // (It may refuse.)
            drop(state.tags(&event));
            return persisted.push(written);
        }
        let deletes = self.recovered.get().expect(IS_READY).pending.deletes;
        assert!(!deletes, "an event of `{}`, which this decision deletes", self.id());
        let EntityState { state, pending, .. } = self.recovered.get_mut().expect(IS_READY);
        let was_torn = replace(&mut self.is_torn, true);
        state.apply(&event);
        let tags = state.tags(&event);
        self.is_torn = was_torn;
        pending.persist(written, tags);
    }

    /// Asks the store to confirm what this decision has seen, also if it persists nothing: as if it
    /// had been asked for as a [confirmed](crate::confirmed) question. For handlers whose answers
    /// are to be right whoever asks, such as a rejection.
    ///
    /// ```
    /// # use coact::durable::{EntityId, EventSourced, stored};
    /// # struct Account { cents: u64 }
    /// # #[stored(name = "withdrawn")]
    /// # struct Withdrawn(#[n(0)] u64);
    /// # impl EventSourced for Account {
    /// #     const KIND: &'static str = "account";
    /// #     type Event = Withdrawn;
    /// #     fn new(_: &EntityId) -> Self { Self { cents: 0 } }
    /// #     fn apply(&mut self, Withdrawn(cents): &Withdrawn) { self.cents -= cents }
    /// # }
    /// # use coact::Message;
    /// # use coact::durable::{Decide, Durable};
    /// # #[derive(Message)]
    /// # #[message(reply = bool)]
    /// # struct Withdraw(u64);
    /// impl Decide<Withdraw> for Account {
    ///     fn decide(account: &mut Durable<Self>, Withdraw(cents): Withdraw) -> bool {
    ///         let is_covered = cents <= account.cents;
    ///         if is_covered {
    ///             account.persist(Withdrawn(cents));
    ///         } else {
    ///             // Another process may have made a deposit.
    ///             account.confirm();
    ///         }
    ///         is_covered
    ///     }
    /// }
    /// ```
    pub fn confirm(&mut self) {
        self.confirms = true;
    }

    /// Stores a snapshot with this decision, whatever [`EventSourced::snapshots`] says of when;
    /// if it says nothing, none is.
    pub fn snapshot(&mut self) {
        if let Some(recovered) = self.recovered.get_mut() {
            recovered.pending.snapshot = !E::IS_STATE && E::snapshots().is_some();
        }
    }

    /// Removes the entity with this decision: its events, its snapshots, and what else is stored of
    /// it. From here on its state is that of an entity without events, and its numbers begin anew.
    /// Its actor stays.
    ///
    /// Its key stays in the store, with the number of its owners, so that what an earlier one has
    /// left comes too late. What it has written may be in the free pages of a file until they are
    /// used again, and in backups.
    ///
    /// # Panics
    /// If this decision has persisted events of it.
    #[track_caller]
    pub fn delete(&mut self) {
        let is_empty = |events: &[Event]| {
            assert!(
                events.is_empty(),
                "a decision persists events, or deletes the entity: not both"
            );
        };
        if let Some(StandaloneState { state, id, persisted, timers, .. }) = &mut self.standalone {
            is_empty(persisted);
            timers.clear();
            return *state = E::new(id);
        }
        let id = self.id().clone();
        let EntityState { state, pending, .. } = self.recovered.get_mut().expect(IS_READY);
        is_empty(&pending.events);
        *state = E::new(&id);
        pending.deletes = true;
        pending.forget_timers();
        self.delete_timers();
        self.forget_answers();
    }

    /// Returns the identity of the entity. A [standalone](Self::standalone) one has an empty key.
    #[must_use]
    pub fn id(&self) -> &EntityId {
        match (&self.standalone, &self.entity) {
            (Some(standalone), _) => &standalone.id,
            (None, entity) => &entity.as_ref().expect(IS_READY).0.id,
        }
    }

    /// Returns the number of its last event, persisted ones among them.
    #[must_use]
    pub fn last(&self) -> Seq {
        if let Some(standalone) = &self.standalone {
            return Seq::new(standalone.persisted.len() as u64);
        }
        match self.recovered.get() {
            Some(EntityState { last, pending, .. }) if !pending.deletes => {
                let most = if E::IS_STATE { 1 } else { usize::MAX };
                Seq::new(last.get() + pending.events.len().min(most) as u64)
            }
            _ => Seq::ZERO,
        }
    }

    /// Returns the events that this decision has persisted so far; of a
    /// [standalone](Self::standalone) state, all.
    ///
    /// # Panics
    /// If one of them cannot be read: then its [`Format`](crate::Format) does not read what it
    /// writes.
    #[must_use]
    pub fn persisted(&self) -> Vec<E::Event> {
        let pending = match &self.standalone {
            Some(standalone) => &standalone.persisted[..],
            None => &self.recovered.get().expect(IS_READY).pending.events,
        };
        pending.iter().map(|event| read(event).unwrap_or_else(|error| panic!("{error}"))).collect()
    }

    pub(crate) fn pipeline(&self) -> Option<&Arc<PipelineDriver>> {
        self.pipeline.as_ref()
    }

    /// Sets whose state this is, and begins to recover it.
    pub(crate) fn begin(&mut self, id: ActorId, actor: impl OwningActor + 'static) {
        self.ids = (Some(id), Some(id));
        let Some((entity, ticket)) = &self.entity else { return };
        let pipeline = PipelineDriver::new(entity, actor);
        pipeline.register_owner_if_first(ticket);
        let is_open = entity.add_owner(ticket, Arc::downgrade(&pipeline) as _);
        self.pipeline = Some(Arc::clone(&pipeline));
        if is_open {
            self.recover();
        } else {
            pipeline.close();
        }
    }

    /// Returns whether the actor ends, whose last address is gone.
    pub(crate) fn retire(&mut self) -> bool {
        let (Some((entity, _)), (Some(id), _)) = (&self.entity, self.ids) else { return true };
        entity.retire(id, &mut self.lent)
    }

    /// Sets in which actor's place this was found.
    pub(crate) fn set_current_actor(&mut self, id: ActorId) {
        self.ids.1 = Some(id);
    }

    /// # Panics
    /// If it is another actor's state: only an exchange (`std::mem::swap`, an assignment) has that
    /// come. If an `apply` has panicked, and that was caught.
    pub(crate) fn assert_sound(&self) {
        assert!(
            self.standalone.is_none(),
            "a standalone state has no store: it is for tests of decisions"
        );
        assert!(
            self.ids.0 == self.ids.1 && self.pipeline.is_some(),
            "the states of two durable actors were exchanged: each has the history of its own"
        );
        assert!(!self.is_torn, "an `apply` of `{}` has panicked, and that was caught", self.id());
    }

    /// Returns whether the state may be used: for commands, and pipelined behaviours, while
    /// something is pending, for others not before that is stored.
    pub(crate) fn look(&self, is_pipelined: bool) -> Readiness {
        let Some(pipeline) = &self.pipeline else { return Readiness::Ready };
        self.take_in();
        self.readiness_by(pipeline.standing(), is_pipelined)
    }

    fn readiness_by(&self, standing: OwnerStanding, is_pipelined: bool) -> Readiness {
        match standing {
            OwnerStanding::Never(why) | OwnerStanding::Undone(why) => Readiness::Never(why),
            OwnerStanding::Waiting => Readiness::NotYet,
            OwnerStanding::Committing if !is_pipelined => Readiness::NotYet,
            // (It may have come behind the look.)
            OwnerStanding::Committing | OwnerStanding::Free if self.recovered.get().is_none() => {
                Readiness::NotYet
            }
            OwnerStanding::Committing | OwnerStanding::Free => Readiness::Ready,
        }
    }

    /// Takes in the recovered state, if it is there.
    fn take_in(&self) {
        let Some(recovery) = &self.recovery else { return };
        // Under the lock, so that one reader does not see it missing in both places.
        let mut result = recovery.result();
        if let Some(recovered) = result.take() {
            // It was missing, and only this sets it.
            let _ = self.recovered.set(recovered);
        }
    }

    /// The same for one that may have the state recovered.
    pub(crate) fn make_ready_for(&mut self, is_pipelined: bool) -> Readiness {
        let Some(standing) = self.recover_if_undone() else { return Readiness::Ready };
        self.take_in();
        if self.recovered.get().is_some() {
            // The place of its result is not needed any more.
            self.recovery = None;
        }
        self.readiness_by(standing, is_pipelined)
    }

    /// Returns what its owner may do now, if it has one.
    pub(crate) fn recover_if_undone(&mut self) -> Option<OwnerStanding> {
        let standing =
            |durable: &Self| durable.pipeline.as_ref().map(|pipeline| pipeline.standing());
        let before = standing(self);
        if !matches!(before, Some(OwnerStanding::Undone(_))) {
            return before;
        }
        self.recover();
        standing(self)
    }

    /// Forgets the state, and has it recovered from what is stored.
    fn recover(&mut self) {
        let (Some(pipeline), Some((_, ticket))) = (&self.pipeline, &self.entity) else { return };
        let (pipeline, ticket) = (Arc::clone(pipeline), Arc::clone(ticket));
        // One that is under way ends first.
        self.recovery = None;
        let before = self.recovered.take();
        drop_quietly(move || drop(before));
        self.forget_decision();
        self.is_torn = false;
        self.recovery = Some(StateRecovery::begin(&pipeline, ticket));
    }

    fn forget_decision(&mut self) {
        let effects = take(&mut self.effects);
        drop_quietly(move || drop(effects));
        (self.confirms, self.contributes) = (false, false);
    }

    /// Returns its place among the owners of the entity.
    pub(crate) fn ticket(&self) -> Option<&Arc<OwnershipTicket>> {
        self.entity.as_ref().map(|(_, ticket)| ticket)
    }

    /// Takes what a command has decided: a commit, or a check, its size, and what is to be done
    /// then.
    pub(crate) fn take_decision(&mut self) -> (Option<(Commit, usize)>, Vec<OnCommitAction>) {
        let (effects, confirms) = (take(&mut self.effects), take(&mut self.confirms));
        let mut commit = Commit::new();
        let bytes = match self.add_to(&mut commit) {
            None if confirms => {
                commit.make_check();
                Some(BYTES_PER_PART)
            }
            bytes => bytes,
        };
        (bytes.map(|bytes| (commit, bytes)), effects)
    }

    /// Adds the entity to a commit, with its pending events. Returns their size, if there are any.
    fn add_to(&mut self, commit: &mut Commit) -> Option<usize> {
        let (entity, _) = self.entity.as_ref()?;
        let recovered = self.recovered.get_mut()?;
        recovered.write(&entity.id, commit)
    }
}

pub(crate) const IS_READY: &str = "a decision gets a state that is ready";

impl<E: EventSourced> CommitParticipant for Durable<E> {
    fn readiness(&self, is_pipelined: bool) -> Readiness {
        self.look(is_pipelined)
    }

    fn make_ready(&mut self, is_pipelined: bool) -> Readiness {
        self.make_ready_for(is_pipelined)
    }

    fn when_ready(&self, wake: ReadyCallback) {
        match &self.pipeline {
            Some(pipeline) => pipeline.when_changed(wake),
            None => wake(),
        }
    }

    fn collect_read(&self, pending: &mut Option<Box<dyn PendingCommit>>) {
        let (Some(pipeline), Some(ticket)) = (&self.pipeline, self.ticket()) else { return };
        let Some(recovered) = self.recovered.get() else { return };
        let commit = JointCommit::of(pending).add_member(pipeline, ticket);
        let member = commit.member(pipeline.entity.id.clone(), recovered.epoch, recovered.last);
        member.rests_on(recovered.hash);
    }

    fn collect(&mut self, pending: &mut Option<Box<dyn PendingCommit>>) {
        self.assert_sound();
        let Some(pipeline) = self.pipeline.clone() else { return };
        let Some(ticket) = self.ticket().cloned() else { return };
        let (effects, confirms) = (take(&mut self.effects), take(&mut self.confirms));
        let commit = JointCommit::of(pending);
        commit.add_effects(effects);
        if confirms {
            commit.confirm();
        }
        let bytes = self.add_to(commit.add_member(&pipeline, &ticket));
        commit.set_member_bytes(bytes);
        self.contributes = bytes.is_some();
    }

    fn commit_ended(&mut self, outcome: &Result<(), NotCommitted>) {
        let has_pending =
            self.recovered.get().is_some_and(|recovered| !recovered.pending.is_empty());
        let contributes = take(&mut self.contributes);
        let has_ended = |pipeline: &Arc<PipelineDriver>| pipeline.has_ended();
        if outcome.is_err()
            && (contributes || has_pending)
            && !self.pipeline.as_ref().is_none_or(has_ended)
        {
            self.recover();
        }
        self.forget_decision();
    }
}

impl<E: EventSourced> Deref for Durable<E> {
    type Target = E;

    fn deref(&self) -> &E {
        match &self.standalone {
            Some(standalone) => &standalone.state,
            None => &self.recovered.get().expect(IS_READY).state,
        }
    }
}

impl<E: EventSourced + fmt::Debug> fmt::Debug for Durable<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.standalone.as_ref().map(|standalone| &standalone.state);
        let state = state.or_else(|| self.recovered.get().map(|recovered| &recovered.state));
        f.debug_struct("Durable")
            .field("id", self.id())
            .field("state", &state)
            .finish_non_exhaustive()
    }
}
