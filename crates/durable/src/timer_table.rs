//! The timers of entities, as this process knows them: a table that does no I/O and looks at no
//! clock. `outbox.rs` does both.
//!
//! Several threads apply what commits have changed, and in any order: the owner of an entity, the
//! outbox when it makes a timer a dead letter, and `Journal::resume`, which reads notes. So each
//! change carries the position of its commit, a removal too, and an older one never undoes a newer
//! one. A note that is read has the position that the store had before.
//!
//! For that, a removed timer leaves a tombstone, as long as an older change may still come. A
//! change is *opened* before its commit is submitted, and a read before it asks for the position;
//! each is closed when it was applied, or is given up. When a removal is applied, every older
//! change that was not applied is still open. The tombstone stays until all changes that were open
//! at that moment are closed.
//!
//! A timer with an open change is not delivered: the last decision of its entity may still be
//! pending in the store.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::mem::take;

use coact_persist::{EntityId, NoteKey, Position};

use crate::stored_message::LATEST;

#[cfg(test)]
mod tests;

/// Which timer: the entity, and the name.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct TimerKey {
    pub(crate) entity: EntityId,
    pub(crate) name: NoteKey,
}

/// The timers, each with a payload `T`. Times are ranks: milliseconds.
#[cfg_attr(test, derive(Clone))]
pub(crate) struct TimerTable<T> {
    entities: HashMap<EntityId, EntityTimers<T>>,
    /// The number of the next change, read, or timer.
    next: u64,
    /// What is open, by numbers.
    open: BTreeMap<u64, OpenStep>,
    /// From the first removal on.
    tombstones: VecDeque<Tombstone>,
    /// Those that are due and have no courier yet.
    ready: Vec<TimerKey>,
}

/// What may still be applied.
#[derive(Clone)]
enum OpenStep {
    Change(TimerKey),
    /// Of all timers of an entity.
    Deletion(EntityId),
    /// Of notes, of any entity.
    Read,
}

/// Where something was removed.
#[derive(Clone)]
struct Tombstone {
    /// All that was open then has a lower number.
    number: u64,
    entity: EntityId,
    /// `None` for a deletion of the entity.
    name: Option<NoteKey>,
}

/// The timers of an entity.
#[cfg_attr(test, derive(Clone))]
struct EntityTimers<T> {
    timers: HashMap<NoteKey, TimerEntry<T>>,
    /// The position of its last deletion, as long as older changes may come.
    deleted: Position,
    /// The number of the tombstone of that.
    tombstone: u64,
    /// How many deletions are open.
    open: usize,
}

/// What is known of a timer.
#[cfg_attr(test, derive(Clone))]
struct TimerEntry<T> {
    /// That of the last change.
    position: Position,
    /// `None` if it is not set.
    timer: Option<PendingTimer<T>>,
    /// How many changes are open.
    open: usize,
    /// Whether a courier delivers it, or is about to.
    has_courier: bool,
    /// For when the one is set that the courier has.
    delivering: Option<u64>,
    /// The number of its last tombstone.
    tombstone: u64,
}

/// A timer that is set.
#[cfg_attr(test, derive(Clone))]
struct PendingTimer<T> {
    number: u64,
    due: u64,
    /// Whether that time has come.
    is_due: bool,
    payload: T,
}

impl<T> Default for TimerTable<T> {
    fn default() -> Self {
        Self {
            entities: HashMap::new(),
            next: 0,
            open: BTreeMap::new(),
            tombstones: VecDeque::new(),
            ready: Vec::new(),
        }
    }
}

impl<T> Default for EntityTimers<T> {
    fn default() -> Self {
        Self { timers: HashMap::new(), deleted: Position::ZERO, tombstone: 0, open: 0 }
    }
}

impl<T> Default for TimerEntry<T> {
    fn default() -> Self {
        Self {
            position: Position::ZERO,
            timer: None,
            open: 0,
            has_courier: false,
            delivering: None,
            tombstone: 0,
        }
    }
}

impl<T> TimerEntry<T> {
    /// Whether nothing of it is to be remembered, but for its tombstone.
    fn is_vacant(&self) -> bool {
        self.timer.is_none() && self.open == 0 && !self.has_courier
    }

    /// Whether the timer is due, and no change of it is open.
    fn is_deliverable(&self) -> bool {
        self.open == 0 && self.timer.as_ref().is_some_and(|timer| timer.is_due)
    }

    fn is_due_at(&self, due: u64) -> bool {
        self.timer.as_ref().is_some_and(|timer| timer.is_due && timer.due == due)
    }
}

/// Opening and closing.
impl<T> TimerTable<T> {
    /// Opens a change that sets a timer. Returns its number, and the time at which the timer is
    /// due: this one, or a millisecond later if the one that is being delivered was set for the
    /// same. So the commit that takes the note of that one does not take this one's.
    pub(crate) fn open_set(&mut self, key: &TimerKey, due: u64) -> (u64, u64) {
        let entry = self.entry(key);
        let is_taken = entry.delivering == Some(due) && due < LATEST;
        (self.open_change(key), due + u64::from(is_taken))
    }

    /// Opens a change that sets a timer, for a time that is found then, or removes it. Returns its
    /// number.
    pub(crate) fn open_change(&mut self, key: &TimerKey) -> u64 {
        self.entry(key).open += 1;
        self.open_step(OpenStep::Change(key.clone()))
    }

    /// Opens a change that removes all timers of an entity. Returns its number.
    pub(crate) fn open_deletion(&mut self, entity: &EntityId) -> u64 {
        self.entities.entry(entity.clone()).or_default().open += 1;
        self.open_step(OpenStep::Deletion(entity.clone()))
    }

    /// Opens a read of notes: the position that they have is asked for behind this. Returns its
    /// number.
    pub(crate) fn open_read(&mut self) -> u64 {
        self.open_step(OpenStep::Read)
    }

    /// Closes a change that was applied, or never will be, or a read.
    pub(crate) fn close(&mut self, number: u64) {
        match self.open.remove(&number) {
            Some(OpenStep::Change(key)) => {
                self.entry(&key).open -= 1;
                self.offer(&key);
                self.tidy(&key);
            }
            Some(OpenStep::Deletion(id)) => {
                let entity = self.entities.entry(id.clone()).or_default();
                entity.open -= 1;
                let due = entity.timers.iter().filter(|(_, entry)| entry.is_deliverable());
                let names: Vec<_> = due.map(|(name, _)| name.clone()).collect();
                names.into_iter().for_each(|name| {
                    self.offer(&TimerKey { entity: id.clone(), name });
                });
                self.tidy_entity(&id);
            }
            Some(OpenStep::Read) | None => {}
        }
        self.sweep();
    }

    fn open_step(&mut self, step: OpenStep) -> u64 {
        let number = self.next;
        self.next += 1;
        self.open.insert(number, step);
        number
    }
}

/// Applying.
impl<T> TimerTable<T> {
    /// Sets a timer for then, as the commit at a position has, or as it was read behind that.
    /// Returns its number, unless something newer is known; and a payload that is not needed any
    /// more.
    pub(crate) fn set(
        &mut self,
        key: &TimerKey,
        (due, is_due): (u64, bool),
        position: Position,
        payload: T,
    ) -> (Option<u64>, Option<T>) {
        let number = self.next;
        self.next += 1;
        let entity = self.entities.entry(key.entity.clone()).or_default();
        let is_old = entity.deleted > position
            || entity.timers.get(&key.name).is_some_and(|entry| entry.position > position);
        if is_old {
            self.tidy_entity(&key.entity);
            return (None, Some(payload));
        }
        let entry = entity.timers.entry(key.name.clone()).or_default();
        entry.position = position;
        let before = entry.timer.replace(PendingTimer { number, due, is_due, payload });
        self.offer(key);
        (Some(number), before.map(|timer| timer.payload))
    }

    /// Removes a timer, as the commit at a position has. Returns its payload.
    pub(crate) fn remove(&mut self, key: &TimerKey, position: Position) -> Option<T> {
        let entry = self.entry(key);
        let removed = if entry.position <= position {
            entry.position = position;
            entry.timer.take()
        } else {
            None
        };
        self.tidy(key);
        removed.map(|timer| timer.payload)
    }

    /// Removes the timers of an entity, as the commit at a position has. Returns their payloads.
    pub(crate) fn delete(&mut self, id: &EntityId, position: Position) -> Vec<T> {
        let tombstone = self.next;
        let entity = self.entities.entry(id.clone()).or_default();
        let mut removed = Vec::new();
        entity.timers.retain(|_, entry| {
            if entry.position <= position {
                entry.position = position;
                removed.extend(entry.timer.take().map(|timer| timer.payload));
            }
            // (The tombstone of the entity is as good.)
            !entry.is_vacant() || entry.position > position
        });
        if entity.deleted < position {
            (entity.deleted, entity.tombstone) = (position, tombstone);
            self.tombstones.push_back(Tombstone {
                number: tombstone,
                entity: id.clone(),
                name: None,
            });
            self.sweep();
        }
        self.tidy_entity(id);
        removed
    }
}

/// The end.
impl<T> TimerTable<T> {
    /// Removes all timers, behind which none is set. Returns their payloads.
    pub(crate) fn clear(&mut self) -> Vec<T> {
        self.ready.clear();
        let mut removed = Vec::new();
        self.entities.retain(|_, entity| {
            entity.timers.retain(|_, entry| {
                removed.extend(entry.timer.take().map(|timer| timer.payload));
                !entry.is_vacant()
            });
            !entity.timers.is_empty() || entity.open > 0
        });
        removed
    }
}

/// Delivering.
impl<T> TimerTable<T> {
    /// Returns the payload of a timer with this number that is not due yet.
    pub(crate) fn waiting(&mut self, key: &TimerKey, number: u64) -> Option<&mut T> {
        let timer = self.found(key)?.timer.as_mut()?;
        (timer.number == number && !timer.is_due).then_some(&mut timer.payload)
    }

    /// The time of a timer with this number may have come. Returns when it is due, if
    /// that is later.
    pub(crate) fn ring(&mut self, key: &TimerKey, number: u64, now: u64) -> Option<u64> {
        let timer = self.found(key)?.timer.as_mut()?;
        if timer.number != number || timer.is_due {
            return None;
        }
        if timer.due > now {
            return Some(timer.due);
        }
        timer.is_due = true;
        self.offer(key);
        None
    }

    /// Takes those that are due, and have no courier: each is to have one, which calls
    /// [`begin_delivery`](Self::begin_delivery).
    pub(crate) fn take_ready(&mut self) -> Vec<TimerKey> {
        take(&mut self.ready)
    }

    /// Gives a timer to its courier, if it is due: the time for which it was set, and its payload.
    /// Otherwise it has no courier any more.
    pub(crate) fn begin_delivery(&mut self, key: &TimerKey) -> Option<(u64, &T)> {
        let is_deliverable = self.is_deliverable(key);
        let entry = self.found(key)?;
        let due = entry.timer.as_ref().map(|timer| timer.due).filter(|_| is_deliverable);
        (entry.delivering, entry.has_courier) = (due, due.is_some());
        if due.is_none() {
            self.tidy(key);
        }
        let timer = self.found(key)?.timer.as_ref()?;
        due.map(|due| (due, &timer.payload))
    }

    /// Whether the timer that a courier has is still the one that is set.
    pub(crate) fn is_current(&mut self, key: &TimerKey, due: u64) -> bool {
        self.found(key).is_some_and(|entry| entry.is_due_at(due))
    }

    /// Opens the removal of a timer that its courier has brought, for the commit that takes it.
    /// Returns its number, unless it is another timer by now, or none, or about to be.
    pub(crate) fn open_taking(&mut self, key: &TimerKey, due: u64) -> Option<u64> {
        let is_it = self.is_deliverable(key) && self.is_current(key, due);
        is_it.then(|| self.open_change(key))
    }

    /// A courier has delivered a timer. If that is gone in the store, it is removed, and
    /// its payload returned.
    pub(crate) fn end_delivery(&mut self, key: &TimerKey, due: u64, is_gone: bool) -> Option<T> {
        let entry = self.found(key)?;
        entry.delivering = None;
        let gone = entry.is_due_at(due) && is_gone;
        if gone { entry.timer.take().map(|timer| timer.payload) } else { None }
    }

    /// A courier has ended with its runtime: the timer gets another one.
    pub(crate) fn abandon_delivery(&mut self, key: &TimerKey) {
        if let Some(entry) = self.found(key) {
            (entry.delivering, entry.has_courier) = (None, false);
            self.offer(key);
            self.tidy(key);
        }
    }

    fn is_deliverable(&mut self, key: &TimerKey) -> bool {
        let has_open = self.entities.get(&key.entity).is_some_and(|entity| entity.open > 0);
        !has_open && self.found(key).is_some_and(|entry| entry.is_deliverable())
    }

    /// Delivers a timer that is due, unless it is being delivered.
    fn offer(&mut self, key: &TimerKey) {
        if self.is_deliverable(key)
            && let Some(entry) = self.found(key)
            && !std::mem::replace(&mut entry.has_courier, true)
        {
            self.ready.push(key.clone());
        }
    }
}

/// Places, and tombstones.
impl<T> TimerTable<T> {
    fn entry(&mut self, key: &TimerKey) -> &mut TimerEntry<T> {
        let entity = self.entities.entry(key.entity.clone()).or_default();
        entity.timers.entry(key.name.clone()).or_default()
    }

    fn found(&mut self, key: &TimerKey) -> Option<&mut TimerEntry<T>> {
        self.entities.get_mut(&key.entity)?.timers.get_mut(&key.name)
    }

    /// Forgets a timer of which nothing is left, or leaves a tombstone as long as something is
    /// open.
    fn tidy(&mut self, key: &TimerKey) {
        let (number, is_quiet) = (self.next, self.open.is_empty());
        let Some(entry) = self.found(key).filter(|entry| entry.is_vacant()) else { return };
        if is_quiet {
            return self.forget(key);
        }
        entry.tombstone = number;
        let (entity, name) = (key.entity.clone(), Some(key.name.clone()));
        self.tombstones.push_back(Tombstone { number, entity, name });
    }

    fn forget(&mut self, key: &TimerKey) {
        if let Some(entity) = self.entities.get_mut(&key.entity) {
            entity.timers.remove(&key.name);
            self.tidy_entity(&key.entity);
        }
    }

    fn tidy_entity(&mut self, id: &EntityId) {
        let is_vacant = |entity: &EntityTimers<T>| {
            entity.timers.is_empty() && entity.open == 0 && entity.deleted == Position::ZERO
        };
        if self.entities.get(id).is_some_and(is_vacant) {
            self.entities.remove(id);
        }
    }

    /// Removes the tombstones behind which nothing older is open.
    fn sweep(&mut self) {
        let oldest = self.open.keys().next().copied().unwrap_or(u64::MAX);
        while let Some(tombstone) = self.tombstones.pop_front_if(|first| first.number <= oldest) {
            let Tombstone { number, entity, name } = tombstone;
            match name {
                Some(name) => {
                    let key = TimerKey { entity, name };
                    let is_over =
                        |entry: &TimerEntry<T>| entry.is_vacant() && entry.tombstone == number;
                    if self.found(&key).is_some_and(|entry| is_over(entry)) {
                        self.forget(&key);
                    }
                }
                None => {
                    if let Some(found) = self.entities.get_mut(&entity)
                        && found.tombstone == number
                    {
                        found.deleted = Position::ZERO;
                        self.tidy_entity(&entity);
                    }
                }
            }
        }
    }
}
