//! What is stored of messages that are to be delivered: outgoing ones, dead letters, and timers.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use coact_core::internals::is_simulated;
use coact_core::runtime::RuntimeHandle;
use coact_persist::minicbor::{self, bytes::ByteVec};
use coact_persist::minicbor::{Decode, Encode};
use coact_persist::{EntityId, Event, Format, FormatError, Note, NoteKey, read, write};

/// A message that a decision has left to be delivered.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct OutgoingMessage {
    /// The entity that receives it, or `None` for one that is [published](crate::Durable::publish).
    pub to: Option<EntityId>,
    /// The message, which [`read`](crate::store::read) reads.
    pub message: Event,
}

/// A timer that a decision has set.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ScheduledTimer {
    /// By which it is [cancelled](crate::Durable::cancel_timer), or set anew.
    pub name: String,
    /// When it is due, for the first time, to the millisecond.
    pub due: SystemTime,
    /// How long after that it is due again, if it is.
    pub period: Option<Duration>,
    /// What the entity gets then, which [`read`](crate::store::read) reads.
    pub message: Event,
}

/// The timers of a state without a store, in the order in which they were set.
#[derive(Default)]
pub(crate) struct TimerList {
    by_number: BTreeMap<u64, ScheduledTimer>,
    numbers: HashMap<String, u64>,
    next: u64,
}

impl TimerList {
    /// Adds a timer, instead of the one of its name.
    pub(crate) fn set(&mut self, timer: ScheduledTimer) {
        self.next += 1;
        let before = self.numbers.insert(timer.name.clone(), self.next);
        before.into_iter().for_each(|before| drop(self.by_number.remove(&before)));
        self.by_number.insert(self.next, timer);
    }

    pub(crate) fn cancel(&mut self, name: &str) {
        if let Some(number) = self.numbers.remove(name) {
            self.by_number.remove(&number);
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    pub(crate) fn to_vec(&self) -> Vec<ScheduledTimer> {
        self.by_number.values().cloned().collect()
    }
}

/// A message, as it is stored in a note.
#[derive(Encode, Decode, Clone)]
pub(crate) struct StoredMessage {
    #[n(0)]
    name: String,
    #[n(1)]
    version: u32,
    #[n(2)]
    payload: ByteVec,
    /// The kind and the key of its receiver. (None for a timer, which is the entity's own.)
    #[n(3)]
    to: Option<(String, String)>,
    /// The period of a timer, in milliseconds.
    #[n(4)]
    period: Option<u64>,
    /// Why it could not be delivered.
    #[n(5)]
    why: Option<String>,
}

impl Format for StoredMessage {
    const NAME: &'static str = "coact.message";
    const VERSION: u32 = 1;
}

impl StoredMessage {
    pub(crate) fn new(message: &Event, to: Option<&EntityId>) -> Self {
        Self {
            name: (*message.name).into(),
            version: message.version,
            payload: message.payload.to_vec().into(),
            to: to.map(|id| (id.kind().into(), id.key().into())),
            period: None,
            why: None,
        }
    }

    pub(crate) fn every(self, period: Option<Duration>) -> Self {
        // (Rounded up: one of 0 would be due for ever.)
        let millis = |period: Duration| period.as_nanos().div_ceil(1_000_000).max(1);
        let period = period.map(|period| u64::try_from(millis(period)).unwrap_or(u64::MAX));
        Self { period, ..self }
    }

    /// As a timer that is due then, and its period is told to the millisecond.
    pub(crate) fn timer(&self, name: String, due: u64) -> ScheduledTimer {
        let (due, period) =
            (UNIX_EPOCH + Duration::from_millis(due), self.period.map(Duration::from_millis));
        ScheduledTimer { name, due, period, message: self.message() }
    }

    /// As a dead letter to this entity, or to those who are told.
    pub(crate) fn failed(self, to: Option<&EntityId>, why: &str) -> Self {
        let to = to.map(|id| (id.kind().into(), id.key().into()));
        Self { to, period: None, why: Some(why.into()), ..self }
    }

    pub(crate) fn message(&self) -> Event {
        Event::new(self.name.clone(), self.version, self.payload.to_vec())
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn to(&self) -> Option<EntityId> {
        self.to.as_ref().map(|(kind, key)| EntityId::new(kind.as_str(), key.as_str()))
    }

    pub(crate) fn why(&self) -> &str {
        self.why.as_deref().unwrap_or_default()
    }

    /// When it is due next, if it was due then: the first time from now on, so that those that were
    /// missed are one.
    pub(crate) fn due_after(&self, due: u64, now: u64) -> Option<u64> {
        let period = self.period?;
        let missed = now.saturating_sub(due) / period;
        let next = due.saturating_add(missed.saturating_add(1).saturating_mul(period));
        Some(next.min(LATEST))
    }

    pub(crate) fn of(note: &Note) -> Result<Self, FormatError> {
        read(&note.value)
    }

    pub(crate) fn to_event(&self) -> Event {
        match write(self) {
            Ok(event) => event,
            Err(error) => unreachable!("texts and bytes are written: {error}"),
        }
    }
}

/// The latest time, as a rank.
pub(crate) const LATEST: u64 = i64::MAX as u64;

/// The key of the message with this number of an owner of this epoch: they grow with each message
/// of an entity.
pub(crate) fn key_of(epoch: u64, number: u64) -> NoteKey {
    let bytes: Vec<u8> = [epoch.to_be_bytes(), number.to_be_bytes()].concat();
    NoteKey::new(bytes)
}

/// From where on an owner numbers its messages: microseconds since 1970. So a message has another
/// identity than the one that an owner of the same epoch has left behind the backup that was
/// restored since then.
pub(crate) fn first_number(now: SystemTime) -> u64 {
    let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or_default()
}

/// The time of day, which is virtual in a simulation.
pub(crate) fn now() -> SystemTime {
    if is_simulated() { UNIX_EPOCH + RuntimeHandle::current().elapsed() } else { SystemTime::now() }
}

/// A time at which something is due, as a rank: milliseconds since 1970, rounded up, so that the
/// rank is not before it. One before 1970 is 0.
pub(crate) fn rank_of(due: SystemTime) -> u64 {
    let since = due.duration_since(UNIX_EPOCH).unwrap_or_default();
    let millis = since.as_nanos().div_ceil(1_000_000);
    u64::try_from(millis).unwrap_or(LATEST).min(LATEST)
}

/// The present, as a rank: rounded down, so that what is due at this rank is due by now.
pub(crate) fn present_rank() -> u64 {
    let since = now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(LATEST).min(LATEST)
}

/// How long it is until the time that a rank means.
pub(crate) fn time_until(rank: u64) -> Duration {
    let due = UNIX_EPOCH + Duration::from_millis(rank);
    due.duration_since(now()).unwrap_or_default()
}

/// A name as the key of a note.
pub(crate) fn named(name: &str) -> NoteKey {
    NoteKey::new(Arc::<[u8]>::from(name.as_bytes()))
}

/// The name that a key of a note is.
pub(crate) fn name_of(key: &NoteKey) -> String {
    String::from_utf8_lossy(key.as_bytes()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MICRO: Duration = Duration::from_micros(1);

    #[test]
    fn what_is_due_is_rounded_up_and_the_present_down() {
        let ranks = [0, 1, 999, 1_000, 1_001].map(|micros| rank_of(UNIX_EPOCH + micros * MICRO));
        assert_eq!(ranks, [0, 1, 1, 1, 2]);
        assert_eq!(rank_of(UNIX_EPOCH - MICRO), 0);
        for _ in 0..1_000 {
            let before = now();
            let rank = present_rank();
            let present = UNIX_EPOCH + Duration::from_millis(rank);
            assert!(present <= now() && before < present + 1_000 * MICRO);
            assert_eq!(time_until(rank), Duration::ZERO);
            // Not less than what is left, by the time that has passed since.
            let left = time_until(rank + 5);
            assert!(now() + left >= present + 5_000 * MICRO);
        }
    }
}
