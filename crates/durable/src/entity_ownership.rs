//! Which actor in this process owns an entity. One actor owns it at a time. Later actors wait until
//! the owner has ended and all its commits are settled.

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

/// An entity in this process, and the queue of the actors that own it or wait for it.
pub(crate) struct EntityOwnership {
    pub(crate) id: EntityId,
    pub(crate) client: Arc<StoreClient>,
    pub(crate) outbox: Arc<Outbox>,
    /// What delivers from the outbox: it is there as long as an entity has an actor, also if the
    /// program has dropped its journal.
    _journal: Arc<dyn Any + Send + Sync>,
    queue: Mutex<OwnershipQueue>,
}

/// Those who have it, or want it, in the order in which they were made.
#[derive(Default)]
struct OwnershipQueue {
    numbers: VecDeque<u64>,
    next: u64,
    /// The owners of tickets, until these are dropped.
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

/// A ticket in the queue for an entity, which the first one owns. An owner holds it, and so do its
/// pending commits.
pub(crate) struct OwnershipTicket {
    entity: Arc<EntityOwnership>,
    number: u64,
    /// Whether the journal has started its actor, for the entity's key.
    pub(crate) is_by_key: bool,
}

impl EntityOwnership {
    pub(crate) fn new(
        id: EntityId,
        (client, outbox): (&Arc<StoreClient>, &Arc<Outbox>),
        journal: Arc<dyn Any + Send + Sync>,
    ) -> Arc<Self> {
        let (client, outbox) = (Arc::clone(client), Arc::clone(outbox));
        Arc::new(Self { id, client, outbox, _journal: journal, queue: Mutex::default() })
    }

    fn queue(&self) -> MutexGuard<'_, OwnershipQueue> {
        lock(&self.queue)
    }

    /// Takes the last ticket.
    pub(crate) fn take_ticket(self: &Arc<Self>, is_by_key: bool) -> Arc<OwnershipTicket> {
        let mut queue = self.queue();
        let number = queue.next;
        queue.next += 1;
        queue.numbers.push_back(number);
        drop(queue);
        Arc::new(OwnershipTicket { entity: Arc::clone(self), number, is_by_key })
    }

    /// Adds an owner for a ticket. Returns false if the journal is closed, so that it may own
    /// nothing.
    pub(crate) fn add_owner(&self, ticket: &OwnershipTicket, owner: Weak<dyn EntityOwner>) -> bool {
        self.queue().owners.push((ticket.number, owner));
        // (The close of the journal says that first, and looks for owners under the lock then:
        // one of the two finds the other.)
        !self.client.is_closing()
    }

    fn owners(&self) -> Vec<Arc<dyn EntityOwner>> {
        self.queue().owners.iter().filter_map(|(_, owner)| owner.upgrade()).collect()
    }

    pub(crate) fn has_owners(&self) -> bool {
        !self.queue().owners.is_empty()
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
                let mut queue = self.queue();
                if queue.owners.is_empty() {
                    return;
                }
                queue.waiters.push(Box::new(move || resolver.resolve(())));
            }
            let _ = changed.await;
        }
    }

    /// Sets the actor that has it and was not started for its key, by its `WeakAddr`.
    pub(crate) fn set_owner_address(&self, address: Box<dyn Any + Send>) {
        let before = self.queue().owner.replace(address);
        drop(before);
    }

    /// Returns the `WeakAddr` of the last such actor, which may have ended.
    pub(crate) fn owner<W: Clone + 'static>(&self) -> Option<W> {
        self.queue().owner.as_ref()?.downcast_ref().cloned()
    }

    /// Sets whether this program can read what is stored of it, which another version may.
    pub(crate) fn set_readable(&self, is_readable: bool) {
        self.queue().is_unreadable = !is_readable;
    }

    pub(crate) fn is_unreadable(&self) -> bool {
        self.queue().is_unreadable
    }

    /// Returns another address of the actor with this identity, unless it is about to end.
    pub(crate) fn lend<A>(&self, actor: ActorId, upgrade: impl FnOnce() -> Option<A>) -> Option<A> {
        let mut queue = self.queue();
        if queue.retired == Some(actor) {
            return None;
        }
        let address = upgrade()?;
        queue.lent += 1;
        Some(address)
    }

    /// Retires the actor, whose last address is gone, unless a new address was lent since its last
    /// check. Returns whether it retires.
    pub(crate) fn retire(&self, actor: ActorId, seen: &mut u64) -> bool {
        let mut queue = self.queue();
        let is_over = queue.lent == replace(seen, queue.lent);
        if is_over {
            queue.retired = Some(actor);
        }
        is_over
    }

    /// Wakes those who wait: they may not want it any more.
    pub(crate) fn wake_all(&self) {
        let waiters = std::mem::take(&mut self.queue().waiters);
        waiters.into_iter().for_each(drop_quietly);
    }
}

impl OwnershipTicket {
    /// Whether it has the entity.
    pub(crate) fn is_first(&self) -> bool {
        self.entity.queue().numbers.front() == Some(&self.number)
    }

    /// Returns what is told when it is worth looking again, unless this is the first.
    pub(crate) fn wait(&self) -> Option<Promise<()>> {
        let (resolver, changed) = Promise::channel();
        let mut queue = self.entity.queue();
        if queue.numbers.front() == Some(&self.number) {
            return None;
        }
        queue.waiters.push(Box::new(move || resolver.resolve(())));
        Some(changed)
    }
}

impl Drop for OwnershipTicket {
    fn drop(&mut self) {
        let mut queue = self.entity.queue();
        queue.numbers.retain(|number| *number != self.number);
        queue.owners.retain(|(number, _)| *number != self.number);
        drop(queue);
        self.entity.wake_all();
    }
}

impl fmt::Debug for EntityOwnership {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("EntityOwnership").field(&self.id).finish()
    }
}
