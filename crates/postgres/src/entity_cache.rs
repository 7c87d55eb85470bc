//! The entity rows that a writing session remembers, and the entities of one batch.

use std::collections::HashMap;

use coact_persist::{EntityId, Epoch, EventHash, Seq};

use crate::request::WriteRequest;

/// The most entities to remember. Beyond it, the cache is cleared.
const MOST: usize = 1 << 16;

/// The rows of entities as the last transaction left them. Other stores may have changed them
/// since, so the server compares them before a transaction relies on them.
#[derive(Default)]
pub(crate) struct EntityCache {
    slots: HashMap<EntityId, usize>,
    entities: Vec<CacheSlot>,
    /// The number of the current transaction.
    transaction: u64,
}

struct CacheSlot {
    entity: Option<EntityRow>,
    /// The last transaction that involved the entity, and the entity's place in it.
    transaction: u64,
    place: usize,
}

/// The columns of an entity's row. The first two never change.
#[derive(Clone, Copy)]
pub(crate) struct EntityRow {
    pub(crate) id: i64,
    pub(crate) kind: i32,
    pub(crate) epoch: Epoch,
    pub(crate) last: Seq,
    pub(crate) hash: EventHash,
}

/// The distinct entities of a batch of requests. Each has a place.
#[derive(Default)]
pub(crate) struct BatchEntities<'a> {
    pub(crate) ids: Vec<&'a EntityId>,
    /// Whether the row of an entity is made if it is missing.
    pub(crate) are_made: Vec<bool>,
    slots: Vec<usize>,
    /// The places of each request's entities, request by request.
    places: Vec<usize>,
}

impl EntityCache {
    /// Gives each entity of a batch a place.
    pub(crate) fn place_entities<'a>(&mut self, all: &'a [WriteRequest]) -> BatchEntities<'a> {
        if self.slots.len() > MOST {
            self.forget_all();
        }
        self.transaction += 1;
        let mut batch = BatchEntities::default();
        for asked in all {
            each_of(asked, |id, is_made| self.add(&mut batch, id, is_made));
        }
        batch
    }

    fn add<'a>(&mut self, to: &mut BatchEntities<'a>, id: &'a EntityId, is_made: bool) {
        let found = self.slots.get(id).copied();
        let at = found.unwrap_or_else(|| {
            let at = self.entities.len();
            self.slots.insert(id.clone(), at);
            self.entities.push(CacheSlot { entity: None, transaction: 0, place: 0 });
            at
        });
        let slot = &mut self.entities[at];
        if slot.transaction < self.transaction {
            (slot.transaction, slot.place) = (self.transaction, to.ids.len());
            to.ids.push(id);
            to.are_made.push(is_made);
            to.slots.push(at);
        }
        to.are_made[slot.place] |= is_made;
        to.places.push(slot.place);
    }

    /// Returns the remembered rows of a batch, if there is one for each entity.
    pub(crate) fn all_of(&self, batch: &BatchEntities<'_>) -> Option<Vec<EntityRow>> {
        batch.slots.iter().map(|slot| self.entities[*slot].entity).collect()
    }

    /// Remembers the row that a transaction left.
    pub(crate) fn set(&mut self, batch: &BatchEntities<'_>, place: usize, entity: EntityRow) {
        self.entities[batch.slots[place]].entity = Some(entity);
    }

    /// Clears the cache, places included.
    pub(crate) fn forget_all(&mut self) {
        self.slots.clear();
        self.entities.clear();
    }
}

impl<'a> BatchEntities<'a> {
    /// Yields each request with the places of its entities: a commit's members, then the entities
    /// of the notes that it takes, then of those that it leaves.
    pub(crate) fn of<'s>(
        &'s self,
        all: &'a [WriteRequest],
    ) -> impl Iterator<Item = (&'a WriteRequest, &'s [usize])> + use<'a, 's> {
        let mut rest = &self.places[..];
        all.iter().map(move |asked| {
            let mut count = 0;
            each_of(asked, |_, _| count += 1);
            let (places, others) = rest.split_at(count);
            rest = others;
            (asked, places)
        })
    }
}

/// Calls `is_about` with each entity of a request, and whether its row is made if it is missing.
fn each_of<'a>(asked: &'a WriteRequest, mut is_about: impl FnMut(&'a EntityId, bool)) {
    match asked {
        WriteRequest::Claim(id, _) => is_about(id, true),
        WriteRequest::Commit(commit, _) => {
            // An entity that was never claimed gets a row too, so that there is something to lock.
            // (A check makes none: only making the entity could change what a check found missing.)
            let is_made = |epoch| epoch == Epoch::ZERO && !commit.is_check();
            commit.members().for_each(|(id, member)| is_about(id, is_made(member.epoch())));
            commit.taken().iter().for_each(|note| is_about(&note.entity, false));
            commit.left().iter().for_each(|note| is_about(&note.entity, false));
        }
        WriteRequest::Settle(..) => {}
    }
}
