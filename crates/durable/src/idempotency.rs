//! Commands with a client's key: the same key, the same answer.

use std::error::Error;
use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use coact_actor::actor::Message;
use coact_core::behaviour::NotCommitted;
use coact_core::internals::catch;
use coact_persist::minicbor::{self, Decode, Encode};
use coact_persist::{Event, NoteChange, NoteKey, NoteKind, NoteQuery, StoreError};

use crate::decide::{AnswerLookup, Decide};
use crate::durable::{Durable, IS_READY};
use crate::entity_ownership::EntityOwnership;
use crate::entity_state::AnswerCache;
use crate::event_sourced::EventSourced;
use crate::future_until::{poll_once, until};
use crate::store_client::{Backoff, ask, lock};
use crate::stored_message::{now, rank_of};

/// A command with a key that its client has chosen: however often it comes with the same key, the
/// entity decides on it once, and the answer is the same. For clients that send again what was not
/// answered, as a connection, or this process, broke down.
///
/// The answer is stored with what was decided, and kept for
/// [some days](crate::JournalBuilder::answers_for). So `C::Reply` is a type that can be stored: one
/// that [`minicbor`] encodes and that owns what it has (`Result<u64, String>`, not
/// `Result<u64, &'static str>`), or one of the program's own that is `#[stored(name = "..")]`. A
/// decision that panics, or is not stored, has no answer, and is made anew with the same key.
///
/// **Answers have no version.** The type of one, and what is in it, may change in ways that need
/// [no new version](crate::Format); an `earlier` type of it is never asked. For other changes add
/// another command, and keep this one as long as there are answers to it.
///
/// An answer that is found in the store is [confirmed](crate::confirmed) before it is told: if
/// another process owns the entity by now, it is that one's to tell. So a command that comes again
/// costs two round trips to the store.
///
/// **One key is for one command of one entity.** Begin it with the command (`deposit/17`), and use
/// it for no other as long as answers are kept, also when the client counts from 1 again. The type
/// of the command is not stored: another command with the same key is refused
/// ([`IdempotencyKeyReused`]) if the answer to the first cannot be read as a `C::Reply`. Otherwise
/// it is **not decided on**, and is answered with the answer to the first.
///
/// ```
/// # use coact::durable::{Decide, Durable, EntityId, EventSourced, Journal, MemoryStore, stored};
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
/// use coact::durable::Once;
///
/// #[derive(Message)]
/// #[message(reply = Result<i64, Refused>)]
/// struct Deposit(i64);
///
/// #[stored(name = "refused")]
/// #[derive(PartialEq, Debug)]
/// enum Refused {
///     #[n(0)]
///     TooLittle,
/// }
///
/// impl Decide<Deposit> for Account {
///     fn decide(account: &mut Durable<Self>, Deposit(by): Deposit) -> Result<i64, Refused> {
///         if by <= 0 {
///             return Err(Refused::TooLittle);
///         }
///         account.persist(Changed(by));
///         Ok(account.balance)
///     }
/// }
///
/// let alice = Journal::new(MemoryStore::new()).entity::<Account>("alice");
/// for _ in 0..3 {
///     assert_eq!(alice.ask(Once::new("deposit/17", Deposit(5))).wait()?, Ok(5));
/// }
/// assert_eq!(alice.ask(Once::new("deposit/18", Deposit(5))).wait()?, Ok(10));
/// # Ok::<(), coact::actor::AskError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Once<C> {
    key: NoteKey,
    command: C,
}

/// What is known of an answer.
pub(crate) enum KnownAnswer {
    /// What it was, if there was one.
    IsKnown,
    /// Nothing yet.
    NotYet,
    /// Nothing, and why.
    Unknown(NotCommitted),
}

impl<C> Once<C> {
    /// This command, with this key among those of its entity.
    pub fn new(key: impl AsRef<[u8]>, command: C) -> Self {
        Self { key: NoteKey::new(key.as_ref()), command }
    }
}

impl<C: Message> Message for Once<C> {
    type Reply = C::Reply;
}

impl<E, C> Decide<Once<C>> for E
where
    E: Decide<C>,
    C: Message,
    C::Reply: Encode<()> + for<'b> Decode<'b, ()>,
{
    fn decide(durable: &mut Durable<Self>, Once { key, command }: Once<C>) -> C::Reply {
        durable.assert_looked_up(&key);
        if let Some(answer) = durable.known_answer(&key) {
            // If a later owner has given it, it is that one's to tell.
            if durable.is_answer_of_store() {
                durable.confirm();
            }
            return minicbor::decode(&answer.payload).unwrap_or_else(|error| {
                panic!("the answer for the key {key:?} is that of another command: {error}")
            });
        }
        let answer = E::decide(durable, command);
        match minicbor::to_vec(&answer) {
            Ok(bytes) => durable.put_answer(key, Event::new(ANSWER, 1, bytes)),
            Err(error) => panic!("the answer for the key {key:?} cannot be stored: {error}"),
        }
        answer
    }

    fn lookup(Once { key, .. }: &Once<C>) -> Option<AnswerLookup> {
        // (It runs code of the program, beside any decision.)
        let is_answer =
            |bytes: &[u8]| catch(|| minicbor::decode::<C::Reply>(bytes).is_ok()).unwrap_or(false);
        Some(AnswerLookup { key: key.clone(), is_answer })
    }
}

/// A command has a client's key for which there is an answer that is none to it: that of another
/// command, which was stored, or of the same one, before the type of its answer has changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IdempotencyKeyReused {
    /// Which key.
    pub key: NoteKey,
}

impl fmt::Display for IdempotencyKeyReused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the key {:?} is that of another command: begin each key with its command, as in `deposit/17`. Or the type of the \
             answer has changed since: then it was decided on, and the program before can read the answer",
            self.key
        )
    }
}

impl Error for IdempotencyKeyReused {}

/// Looks an answer up. A store that does not answer cannot be reached.
async fn find_answer_in_time(
    entity: &EntityOwnership,
    key: &NoteKey,
) -> Result<Option<Event>, StoreError> {
    let mut found = pin!(find_answer(entity, key));
    if let Some(found) = poll_once(&mut found).await {
        return found;
    }
    let mut patience = entity.client.patience();
    until(&mut patience, found).await.unwrap_or_else(|| {
        let why = "it has not answered yet".into();
        Err(StoreError::Unavailable { why })
    })
}

/// Looks an answer up, again and again while the store cannot be reached, as long as the journal is
/// patient.
async fn find_answer(entity: &EntityOwnership, key: &NoteKey) -> Result<Option<Event>, StoreError> {
    let (client, since) = (&entity.client, entity.client.now());
    let mut backoff = Backoff::default();
    loop {
        let (store, key) = (client.open_store()?, key.clone());
        let which = NoteQuery::One { entity: entity.id.clone(), kind: NoteKind::ClientAnswer, key };
        match ask(|done| store.notes(which, 1, done)).await {
            Err(StoreError::Unavailable { .. }) if !client.is_out_of_patience(since) => {
                backoff.wait().await;
            }
            found => return Ok(found?.into_iter().next().map(|note| note.value)),
        }
    }
}

/// The name of answers in a store.
const ANSWER: &str = "coact.answer";

impl<E: EventSourced> Durable<E> {
    /// # Panics
    /// If it was not looked up whether there is an answer: only commands that are asked, or sent,
    /// have that done.
    fn assert_looked_up(&self, key: &NoteKey) {
        let Some(recovered) = self.recovered.get() else { return };
        let looked_up = recovered.answers.looked_up.as_ref();
        assert!(
            looked_up.is_some_and(|(found, _)| found == key),
            "a command with the key {key:?} was decided on without being asked: ask the actor, or decide on the command \
             without its key"
        );
    }

    /// Returns an answer that was given before: the one that was looked up.
    fn known_answer(&mut self, key: &NoteKey) -> Option<Event> {
        let answers = &mut self.recovered.get_mut()?.answers;
        let (_, answer) = answers.looked_up.take_if(|(found, _)| found == key)?;
        answer.ok().flatten()
    }

    /// Whether the answer that was looked up last was found in the store, and not among those on
    /// their way there.
    fn is_answer_of_store(&self) -> bool {
        self.recovered.get().is_some_and(|recovered| recovered.answers.is_of_store)
    }

    /// Returns what is known of an answer, and keeps that for the decision, which comes next.
    pub(crate) fn answer_of(
        &mut self,
        AnswerLookup { key, is_answer }: &AnswerLookup,
    ) -> KnownAnswer {
        let Some(recovered) = self.recovered.get_mut() else { return KnownAnswer::NotYet };
        let AnswerCache { on_their_way, looked_up, is_of_store, deleting } = &mut recovered.answers;
        // Looked at once: when it is stored, it leaves these, on another thread.
        let on_its_way = lock(on_their_way).get(key).cloned();
        let known = on_its_way.map(|answer| (key.clone(), Ok(Some(answer))));
        *is_of_store &= known.is_none();
        let known = known.or_else(|| looked_up.take_if(|(found, _)| found == key));
        // Looked at behind the pending ones: one that has left them since came behind the deletion,
        // which is stored then.
        // ORDERING: Acquire pairs with the Release of `forget_answers`: who finds the deletion
        // stored looks into the store behind it.
        let is_deleted = || deleting.load(Ordering::Acquire).then(|| (key.clone(), Ok(None)));
        match known.or_else(is_deleted) {
            Some((_, Err(why))) => KnownAnswer::Unknown(why),
            Some((key, Ok(Some(answer)))) if !is_answer(&answer.payload) => {
                KnownAnswer::Unknown(NotCommitted::new(IdempotencyKeyReused { key }))
            }
            Some(found) => {
                *looked_up = Some(found);
                KnownAnswer::IsKnown
            }
            None => KnownAnswer::NotYet,
        }
    }

    /// Looks an answer up in the store, for the journal's patience.
    pub(crate) async fn look_up(&mut self, key: NoteKey) {
        let Some((entity, _)) = self.entity.clone() else { return };
        let found = find_answer_in_time(&entity, &key).await.map_err(NotCommitted::new);
        // If it was recovered anew meanwhile, it is looked up again.
        if let Some(recovered) = self.recovered.get_mut() {
            (recovered.answers.looked_up, recovered.answers.is_of_store) =
                (Some((key, found)), true);
        }
    }

    /// Forgets the answers with the entity: the pending ones, too, and those that the store has
    /// until it is deleted there.
    pub(crate) fn forget_answers(&mut self) {
        let Some(recovered) = self.recovered.get_mut() else { return };
        let deleting = Arc::new(AtomicBool::new(true));
        recovered.answers =
            AnswerCache { deleting: Arc::clone(&deleting), ..AnswerCache::default() };
        // ORDERING: Release pairs with the Acquire of `answer_of`.
        self.on_commit(move || deleting.store(false, Ordering::Release));
    }

    /// Stores an answer with the decision.
    fn put_answer(&mut self, key: NoteKey, answer: Event) {
        if self.standalone.is_some() {
            return;
        }
        let Some((entity, _)) = &self.entity else { return };
        let (entity, keep) = (Arc::clone(entity), entity.client.answers_for());
        let rank = now().checked_add(keep).map_or(i64::MAX as u64, rank_of);
        let recovered = self.recovered.get_mut().expect(IS_READY);
        let on_their_way = Arc::clone(&recovered.answers.on_their_way);
        lock(&on_their_way).insert(key.clone(), answer.clone());
        let (kind, value) = (NoteKind::ClientAnswer, answer);
        recovered.pending.notes.push(NoteChange::Put { kind, key: key.clone(), rank, value });
        self.on_commit(move || {
            lock(&on_their_way).remove(&key);
            entity.outbox.count_answer();
        });
    }
}
