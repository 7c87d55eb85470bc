//! An entity in this process: which actor has it. One at a time does; those that were made later wait until that one is gone, and
//! all that it has left is settled.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::mem::replace;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use coact_actor::actor::ActorId;
use coact_core::Promise;
use coact_core::internals::{ReadyCallback, drop_quietly};
use coact_persist::EntityId;

use crate::outbox::Outbox;
use crate::store_client::{StoreClient, lock};

pub(crate) struct Entity {
    pub(crate) id: EntityId,
    pub(crate) client: Arc<StoreClient>,
    pub(crate) outbox: Arc<Outbox>,
    /// What delivers from the outbox: it is there as long as an entity has an actor, also if the program has dropped its journal.
    _journal: Arc<dyn Any + Send + Sync>,
    line: Mutex<OwnershipQueue>,
}

/// Those who have it, or want it, in the order in which they were made.
#[derive(Default)]
struct OwnershipQueue {
    numbers: VecDeque<u64>,
    next: u64,
    /// The owners of places, until these are given up.
    owners: Vec<(u64, Weak<dyn EntityOwner>)>,
    waiters: Vec<ReadyCallback>,
    /// How often an address of an actor that there was has been given away.
    lent: u64,
    /// The last actor that has ended with its last address.
    retired: Option<ActorId>,
    /// The `WeakAddr` of the last actor that has had it and was not started for its key.
    owner: Option<Box<dyn Any + Send>>,
    /// Whether this program could not read what is stored of it, when it was recovered last.
    is_unreadable: bool,
}

/// An owner, for those who close its journal.
pub(crate) trait EntityOwner: Send + Sync {
    /// Ends the actor, which may decide on nothing any more.
    fn close(self: Arc<Self>);

    /// Gives up what is pending: its outcome is not waited for any longer.
    fn give_up(self: Arc<Self>);
}

/// A place in the line for an entity. Who is the first has it. It belongs to an owner, and to what that has left and is on its
/// way to the store.
pub(crate) struct OwnershipTicket {
    entity: Arc<Entity>,
    number: u64,
    /// Whether the journal has started its actor, for the entity's key.
    pub(crate) is_by_key: bool,
}

impl Entity {
    pub(crate) fn new(
        id: EntityId,
        (client, outbox): (&Arc<StoreClient>, &Arc<Outbox>),
        journal: Arc<dyn Any + Send + Sync>,
    ) -> Arc<Self> {
        let (client, outbox) = (Arc::clone(client), Arc::clone(outbox));
        Arc::new(Self { id, client, outbox, _journal: journal, line: Mutex::default() })
    }

    fn line(&self) -> MutexGuard<'_, OwnershipQueue> {
        lock(&self.line)
    }

    /// Takes the last place.
    pub(crate) fn stand_in_line(self: &Arc<Self>, is_by_key: bool) -> Arc<OwnershipTicket> {
        let mut line = self.line();
        let number = line.next;
        line.next += 1;
        line.numbers.push_back(number);
        drop(line);
        Arc::new(OwnershipTicket { entity: Arc::clone(self), number, is_by_key })
    }

    /// Adds an owner for a place. Returns false if the journal is closed, so that it may own
    /// nothing.
    pub(crate) fn add_owner(&self, ticket: &OwnershipTicket, owner: Weak<dyn EntityOwner>) -> bool {
        self.line().owners.push((ticket.number, owner));
        // (Whoever closes the journal says that first, and looks for owners under the lock then:
        // one of the two finds the other.)
        !self.client.is_closing()
    }

    fn owners(&self) -> Vec<Arc<dyn EntityOwner>> {
        self.line().owners.iter().filter_map(|(_, owner)| owner.upgrade()).collect()
    }

    pub(crate) fn has_owners(&self) -> bool {
        !self.line().owners.is_empty()
    }

    /// Ends its actors.
    pub(crate) fn close(&self) {
        self.owners().into_iter().for_each(|owner| owner.close());
    }

    /// Gives up what is pending.
    pub(crate) fn give_up(&self) {
        self.owners().into_iter().for_each(|owner| owner.give_up());
    }

    /// Waits until its actors have ended, and nothing is pending that they have left.
    pub(crate) async fn released(&self) {
        loop {
            let (resolver, changed) = Promise::channel();
            {
                let mut line = self.line();
                if line.owners.is_empty() {
                    return;
                }
                line.waiters.push(Box::new(move || resolver.resolve(())));
            }
            let _ = changed.await;
        }
    }

    /// Takes note of an actor that has it and was not started for its key, by its `WeakAddr`.
    pub(crate) fn is_owned_by(&self, address: Box<dyn Any + Send>) {
        let before = self.line().owner.replace(address);
        drop(before);
    }

    /// Returns the `WeakAddr` of the last such actor, which may have ended.
    pub(crate) fn owner<W: Clone + 'static>(&self) -> Option<W> {
        self.line().owner.as_ref()?.downcast_ref().cloned()
    }

    /// Takes note whether this program can read what is stored of it, which another version may.
    pub(crate) fn was_read(&self, is_read: bool) {
        self.line().is_unreadable = !is_read;
    }

    pub(crate) fn is_unreadable(&self) -> bool {
        self.line().is_unreadable
    }

    /// Returns another address of the actor with this identity, unless it is about to end.
    pub(crate) fn lend<A>(&self, actor: ActorId, upgrade: impl FnOnce() -> Option<A>) -> Option<A> {
        let mut line = self.line();
        if line.retired == Some(actor) {
            return None;
        }
        let address = upgrade()?;
        line.lent += 1;
        Some(address)
    }

    /// Has the actor end whose last address is gone, unless another was lent since it has asked last. Returns whether it ends.
    pub(crate) fn retire(&self, actor: ActorId, seen: &mut u64) -> bool {
        let mut line = self.line();
        let is_over = line.lent == replace(seen, line.lent);
        if is_over {
            line.retired = Some(actor);
        }
        is_over
    }

    /// Has those who wait look again, as they may not want it any more.
    pub(crate) fn wake_all(&self) {
        let waiters = std::mem::take(&mut self.line().waiters);
        waiters.into_iter().for_each(drop_quietly);
    }
}

impl OwnershipTicket {
    /// Whether it has the entity.
    pub(crate) fn is_first(&self) -> bool {
        self.entity.line().numbers.front() == Some(&self.number)
    }

    /// Returns what is told when it is worth looking again, unless this is the first.
    pub(crate) fn wait(&self) -> Option<Promise<()>> {
        let (resolver, changed) = Promise::channel();
        let mut line = self.entity.line();
        if line.numbers.front() == Some(&self.number) {
            return None;
        }
        line.waiters.push(Box::new(move || resolver.resolve(())));
        Some(changed)
    }
}

impl Drop for OwnershipTicket {
    fn drop(&mut self) {
        let mut line = self.entity.line();
        line.numbers.retain(|number| *number != self.number);
        line.owners.retain(|(number, _)| *number != self.number);
        drop(line);
        self.entity.wake_all();
    }
}

impl fmt::Debug for Entity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Entity").field(&self.id).finish()
    }
}
