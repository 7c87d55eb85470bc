//! What follows from a decision, when it is stored.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use coact_actor::actor::{Message, Recipient};
use coact_persist::{
    EntityId, Event, Format, Note, NoteChange, NoteId, NoteKey, NoteKind, read, write,
};

use crate::decide::Decide;
use crate::durable::{Durable, IS_READY};
use crate::event_sourced::EventSourced;
use crate::joint_commit::OnCommitAction;
use crate::outbox::{PendingMessage, TimerChange};
use crate::stored_message::{
    OutgoingMessage, ScheduledTimer, StoredMessage, key_of, name_of, named, now, present_rank,
    rank_of,
};
use crate::timer_table::TimerKey;

impl<E: EventSourced> Durable<E> {
    /// Runs a closure when the decision is stored, on a worker, before other behaviours see
    /// what was decided. If it is not stored, it is dropped. Those of one decision run in the order
    /// in which they were given.
    ///
    /// It must not block. A panic in it is reported, and changes nothing. It is lost if the process
    /// ends in between: what must not be is [delivered](Self::deliver_to) or
    /// [published](Self::publish).
    pub fn on_commit(&mut self, effect: impl FnOnce() + Send + 'static) {
        self.effects.push(OnCommitAction::new(move |_| effect()));
    }

    /// Sends a message when the decision is stored: its place in the order is there. One that
    /// cannot be delivered then is dropped, as dead letters are. It is lost if the process ends in
    /// between.
    pub fn send<M: Message>(&mut self, to: impl Into<Recipient<M>>, message: M) {
        let to = to.into();
        self.on_commit(move || drop(to.send(message)));
    }

    /// Delivers a message to another entity, **exactly once**: it is stored with the decision, and
    /// taken by the very commit that stores what its receiver decides on it, in this process or in
    /// a later one (see [`Journal::resume`](crate::Journal::resume)). What its handler answers is
    /// dropped.
    ///
    /// Messages to one entity are decided on in the order in which they were left. One whose
    /// decision panics, or whose receiver cannot be recovered, is tried again, later and later, and
    /// is a [dead letter](crate::Journal::dead_letters) in the end.
    ///
    /// ```
    /// # use coact::durable::{Decide, Durable, EntityId, EventSourced, Journal, MemoryStore};
    /// # use coact::durable::stored;
    /// # use coact::Message;
    /// # #[derive(Default)]
    /// # struct Account { balance: i64 }
    /// # #[stored(name = "changed")]
    /// # struct Changed(#[n(0)] i64);
    /// # impl EventSourced for Account {
    /// #     const KIND: &'static str = "account";
    /// #     type Event = Changed;
    /// #     fn new(_: &EntityId) -> Self { Self::default() }
    /// #     fn apply(&mut self, Changed(by): &Changed) { self.balance += by }
    /// # }
    /// #[stored(name = "deposit")]
    /// #[derive(Message)]
    /// struct Deposit(#[n(0)] i64);
    ///
    /// impl Decide<Deposit> for Account {
    ///     fn decide(account: &mut Durable<Self>, Deposit(cents): Deposit) {
    ///         account.persist(Changed(cents));
    ///     }
    /// }
    ///
    /// let journal = Journal::builder(MemoryStore::new()).receives::<Account, Deposit>().build();
    /// let [alice, bob] = ["alice", "bob"].map(|key| journal.entity::<Account>(key));
    /// let sent = coact::call(&alice, |alice| {
    ///     alice.persist(Changed(-30));
    ///     alice.deliver_to::<Account, _>("bob", Deposit(30));
    /// });
    /// sent.wait()?;
    /// // From here on it arrives, whatever happens.
    /// while coact::call(&bob, |bob| bob.balance).wait()? != 30 {}
    /// # Ok::<(), coact::Broken>(())
    /// ```
    ///
    /// # Panics
    /// If the journal does not know that the receiver [receives](crate::JournalBuilder::receives)
    /// it, or the message refuses to be written. Then nothing of the decision is stored.
    #[track_caller]
    pub fn deliver_to<R: Decide<M>, M: Message + Format>(
        &mut self,
        key: impl Into<Arc<str>>,
        message: M,
    ) {
        let to = EntityId::new(R::KIND, key);
        self.leave(&message, Some(to));
    }

    /// Publishes a message to the outside, **at least once**: it is stored with the decision, and
    /// removed when those whom the journal [has told](crate::JournalBuilder::publishes) have done
    /// with it, in this process or in a later one (see
    /// [`Journal::resume`](crate::Journal::resume)).
    ///
    /// Those of one entity with one type are published in the order in which they were left. One
    /// that fails is tried again, later and later, and is a
    /// [dead letter](crate::Journal::dead_letters) in the end.
    ///
    /// # Panics
    /// If the journal does not know how it is [published](crate::JournalBuilder::publishes), or it
    /// refuses to be written. Then nothing of the decision is stored.
    #[track_caller]
    pub fn publish<M: Format>(&mut self, message: M) {
        self.leave(&message, None);
    }

    #[track_caller]
    fn leave<M: Format>(&mut self, message: &M, to: Option<EntityId>) {
        let message = self.written(message);
        if let Some(standalone) = &mut self.standalone {
            return standalone.outgoing.push(OutgoingMessage { to, message });
        }
        self.assert_known(to.as_ref().map(EntityId::kind), M::NAME);
        let value = StoredMessage::new(&message, to.as_ref()).to_event();
        let rank = present_rank();
        let recovered = self.recovered.get_mut().expect(IS_READY);
        recovered.sent += 1;
        let key = key_of(recovered.epoch.get(), recovered.sent);
        let Some((entity, _)) = &self.entity else { return };
        let (id, kind) = (entity.id.clone(), NoteKind::Outgoing);
        let note = Note { entity: id, kind, key, rank, value };
        let message = PendingMessage::new(&entity.outbox, note.clone());
        self.put(note);
        self.on_commit(move || message.deliver());
    }

    /// Returns the messages that this decision has left to be delivered so far; of a
    /// [standalone](Self::standalone) state, all.
    #[must_use]
    pub fn outgoing(&self) -> Vec<OutgoingMessage> {
        if let Some(standalone) = &self.standalone {
            return standalone.outgoing.clone();
        }
        let notes = &self.recovered.get().expect(IS_READY).pending.notes;
        let outgoing = notes.iter().filter_map(|note| match note {
            NoteChange::Put { kind: NoteKind::Outgoing, value, .. } => {
                let stored: StoredMessage = read(value).ok()?;
                Some(OutgoingMessage { to: stored.to(), message: stored.message() })
            }
            _ => None,
        });
        outgoing.collect()
    }

    /// Sets a timer, which is stored with the decision: the entity gets the message as a command
    /// when it is due by the [time of day](Self::now), once, in this process or in a later one (see
    /// [`Journal::resume`](crate::Journal::resume)), where it is late if it was due in between. A
    /// timer of this name that was set before is none any more.
    ///
    /// The entity need not have an actor meanwhile.
    ///
    /// ```
    /// # use coact::durable::{Decide, Durable, EntityId, EventSourced, Journal, MemoryStore};
    /// # use coact::durable::stored;
    /// # use coact::Message;
    /// # #[derive(Default)]
    /// # struct Order { is_cancelled: bool }
    /// # #[stored(name = "cancelled")]
    /// # struct Cancelled;
    /// # impl EventSourced for Order {
    /// #     const KIND: &'static str = "order";
    /// #     type Event = Cancelled;
    /// #     fn new(_: &EntityId) -> Self { Self::default() }
    /// #     fn apply(&mut self, _: &Cancelled) { self.is_cancelled = true }
    /// # }
    /// use std::time::Duration;
    ///
    /// #[stored(name = "order.cancel-unpaid")]
    /// #[derive(Message)]
    /// struct CancelUnpaid;
    ///
    /// impl Decide<CancelUnpaid> for Order {
    ///     fn decide(order: &mut Durable<Self>, _: CancelUnpaid) {
    ///         order.persist(Cancelled);
    ///     }
    /// }
    ///
    /// let journal = Journal::builder(MemoryStore::new());
    /// let journal = journal.receives::<Order, CancelUnpaid>().build();
    /// let order = journal.entity::<Order>("17");
    /// let set = coact::call(&order, |order| {
    ///     let due = order.now() + Duration::from_millis(20);
    ///     order.set_timer("unpaid", due, CancelUnpaid);
    /// });
    /// set.wait()?;
    /// while !coact::call(&order, |order| order.is_cancelled).wait()? {}
    /// # Ok::<(), coact::Broken>(())
    /// ```
    ///
    /// # Panics
    /// As [`deliver_to`](Self::deliver_to), of this entity as the receiver.
    #[track_caller]
    pub fn set_timer<M: Message + Format>(&mut self, name: &str, due: SystemTime, message: M)
    where
        E: Decide<M>,
    {
        self.timer(name, due, None, &message);
    }

    /// Sets a timer that is due again and again: for the first time then, and with this period,
    /// which is at least a millisecond. Times that were missed, as no process was there, are one.
    ///
    /// # Panics
    /// As [`set_timer`](Self::set_timer).
    #[track_caller]
    pub fn set_periodic_timer<M: Message + Format>(
        &mut self,
        name: &str,
        first: SystemTime,
        period: Duration,
        message: M,
    ) where
        E: Decide<M>,
    {
        self.timer(name, first, Some(period), &message);
    }

    #[track_caller]
    fn timer<M: Format>(
        &mut self,
        name: &str,
        due: SystemTime,
        period: Option<Duration>,
        message: &M,
    ) {
        let message = StoredMessage::new(&self.written(message), None).every(period);
        let due = rank_of(due);
        if let Some(standalone) = &mut self.standalone {
            return standalone.timers.set(message.timer(name.to_owned(), due));
        }
        self.assert_known(Some(E::KIND), M::NAME);
        self.put_timer(named(name), due, message.to_event());
    }

    /// Cancels a timer when the decision is stored, if there is one of this name.
    pub fn cancel_timer(&mut self, name: &str) {
        if let Some(standalone) = &mut self.standalone {
            return standalone.timers.cancel(name);
        }
        let (Some(recovered), Some((entity, _))) = (self.recovered.get_mut(), &self.entity) else {
            return;
        };
        let (kind, name) = (NoteKind::Timer, named(name));
        recovered.pending.notes.push(NoteChange::Remove { kind, key: name.clone() });
        let removal = TimerChange::removal(&entity.outbox, self.timer_key(name));
        self.when_stored(removal);
    }

    /// Returns the timers that this decision has set so far, and not cancelled again; of a
    /// [standalone](Self::standalone) state, all. The order is that in which they were set.
    #[must_use]
    pub fn timers(&self) -> Vec<ScheduledTimer> {
        if let Some(standalone) = &self.standalone {
            return standalone.timers.to_vec();
        }
        let notes = &self.recovered.get().expect(IS_READY).pending.notes;
        let mut seen = HashSet::new();
        // From the last one on, which counts.
        let last = notes.iter().rev().filter(|note| {
            let (NoteChange::Put { kind, key, .. } | NoteChange::Remove { kind, key }) = note;
            *kind == NoteKind::Timer && seen.insert(key)
        });
        let set = last.filter_map(|note| match note {
            NoteChange::Put { key, rank, value, .. } => {
                let stored = read::<StoredMessage>(value).ok()?;
                Some(stored.timer(name_of(key), *rank))
            }
            NoteChange::Remove { .. } => None,
        });
        let mut timers: Vec<_> = set.collect();
        timers.reverse();
        timers
    }

    /// Removes all timers when the decision is stored.
    pub(crate) fn delete_timers(&mut self) {
        let Some((entity, _)) = &self.entity else { return };
        let deletion = TimerChange::deletion(&entity.outbox, entity.id.clone());
        self.when_stored(deletion);
    }

    /// Returns the present, as it counts for [timers](Self::set_timer): that of the system, and in
    /// the deterministic mode a virtual one, which begins with 1970.
    #[must_use]
    pub fn now(&self) -> SystemTime {
        now()
    }

    /// Takes a note away with this decision.
    pub(crate) fn take_note(&mut self, note: NoteId) {
        self.recovered.get_mut().expect(IS_READY).pending.taken.push(note);
    }

    /// Takes a timer that is due with this decision. Returns false if it is another one by now, or
    /// none.
    pub(crate) fn take_timer(&mut self, note: &NoteId) -> bool {
        let Some((entity, _)) = &self.entity else { return false };
        let taking = TimerChange::taking(&entity.outbox, note);
        let is_it = taking.is_some();
        taking.into_iter().for_each(|taking| self.when_stored(taking));
        is_it
    }

    pub(crate) fn put_timer(&mut self, name: NoteKey, due: u64, value: Event) {
        let Some((entity, _)) = &self.entity else { return };
        let key = self.timer_key(name);
        let setting = TimerChange::setting(&entity.outbox, key, due, value);
        setting.note().into_iter().for_each(|note| self.put(note.clone()));
        self.when_stored(setting);
    }

    fn timer_key(&self, name: NoteKey) -> TimerKey {
        TimerKey { entity: self.id().clone(), name }
    }

    /// Stores a note of the entity.
    fn put(&mut self, Note { kind, key, rank, value, .. }: Note) {
        let pending = &mut self.recovered.get_mut().expect(IS_READY).pending;
        pending.notes.push(NoteChange::Put { kind, key, rank, value });
    }

    /// Applies a change of timers when the decision is stored.
    fn when_stored(&mut self, change: TimerChange) {
        self.effects.push(OnCommitAction::new(move |position| change.apply(position)));
    }

    #[track_caller]
    fn written<M: Format>(&self, message: &M) -> Event {
        match write(message) {
            Ok(written) => written,
            Err(error) => panic!("a message of `{}`: {error}", self.id()),
        }
    }

    #[track_caller]
    fn assert_known(&self, kind: Option<&str>, name: &str) {
        if self.entity.as_ref().is_some_and(|(entity, _)| entity.outbox.knows(kind, name)) {
            return;
        }
        match kind {
            Some(kind) => panic!(
                "the journal does not know that `{kind}` receives `{name}`: say so when it is made \
                 (`Journal::builder(store).receives::<..>()`)"
            ),
            None => panic!(
                "the journal does not know how `{name}` is published: say so when it is made \
                 (`Journal::builder(store).publishes(..)`)"
            ),
        }
    }
}
