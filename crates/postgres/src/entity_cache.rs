//! What a session that writes remembers of entities, and which of them a transaction is about.

use std::collections::HashMap;

use coact_persist::{EntityId, Epoch, EventHash, Seq};

use crate::request::WriteRequest;

/// How many entities are remembered. If there are more, all are forgotten.
const MOST: usize = 1 << 16;

/// Entities as the last transaction has left them that was about them. Others may have changed them since: so who goes by it has
/// the server compare.
#[derive(Default)]
pub(crate) struct EntityCache {
    slots: HashMap<EntityId, usize>,
    entities: Vec<CacheSlot>,
    /// The number of the transaction that is being made.
    transaction: u64,
}

struct CacheSlot {
    entity: Option<EntityRow>,
    /// The last transaction that was about it, and its place in that.
    transaction: u64,
    place: usize,
}

/// What is in an entity's row. The first two never change.
#[derive(Clone, Copy)]
pub(crate) struct EntityRow {
    pub(crate) id: i64,
    pub(crate) kind: i32,
    pub(crate) epoch: Epoch,
    pub(crate) last: Seq,
    pub(crate) hash: EventHash,
}

/// The entities that a transaction is about. Each has a place.
#[derive(Default)]
pub(crate) struct BatchEntities<'a> {
    pub(crate) ids: Vec<&'a EntityId>,
    /// Whether one is made if it is not there.
    pub(crate) are_made: Vec<bool>,
    slots: Vec<usize>,
    /// The places of those that each thing is about which was asked, one behind the other.
    places: Vec<usize>,
}

impl EntityCache {
    /// Gives places to the entities of a transaction.
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

    /// What is known of the entities of a transaction, if all are.
    pub(crate) fn all_of(&self, batch: &BatchEntities<'_>) -> Option<Vec<EntityRow>> {
        batch.slots.iter().map(|slot| self.entities[*slot].entity).collect()
    }

    /// Takes note of what a transaction has left.
    pub(crate) fn set(&mut self, batch: &BatchEntities<'_>, place: usize, entity: EntityRow) {
        self.entities[batch.slots[place]].entity = Some(entity);
    }

    /// Forgets all, as it need not be so, and places with it.
    pub(crate) fn forget_all(&mut self) {
        self.slots.clear();
        self.entities.clear();
    }
}

impl<'a> BatchEntities<'a> {
    /// Each thing that was asked, with the places of the entities that it is about: a commit's members, and those of the notes that it takes, and
    /// leaves.
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

/// Calls with each entity that something is about, and with whether it is made if it is not there.
fn each_of<'a>(asked: &'a WriteRequest, mut is_about: impl FnMut(&'a EntityId, bool)) {
    match asked {
        WriteRequest::Claim(id, _) => is_about(id, true),
        WriteRequest::Commit(commit, _) => {
            // One that was never claimed has a row as well, which can be locked. (A check makes
            // none: what is not there has nothing that others could change but by making it.)
            let is_made = |epoch| epoch == Epoch::ZERO && !commit.is_check();
            commit.members().for_each(|(id, member)| is_about(id, is_made(member.epoch())));
            commit.taken().iter().for_each(|note| is_about(&note.entity, false));
            commit.left().iter().for_each(|note| is_about(&note.entity, false));
        }
        WriteRequest::Settle(..) => {}
    }
}
