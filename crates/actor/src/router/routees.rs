//! The actors behind a router or a pool, and the choice among them.

use std::sync::Arc;

use coact_sync::shim::process::RwLock;

use super::fallback_order::FallbackOrder;
use super::first_answer::FirstAnswer;
use super::list::{Routee, RouteeList, RouteeSnapshot};
use super::route_target::{MessageRouteTarget, RouteTarget};
use super::strategy::{Routing, RoutingState, weight};
use crate::ask::Ask;
use crate::backpressure::{ChangeWakers, RoomCandidate};
use crate::id::ActorId;
use crate::in_flight::InFlightToken;
use crate::message::Message;
use crate::monitor_guard::MonitorGuard;
use crate::router::RouteError;
use crate::send_error::{AskError, SendError};

/// The routees of a router or a pool.
///
/// Adding or removing one takes constant time, and the choice happens under the lock; under it
/// nothing is sent, and no user value dropped.
pub(crate) struct Routees<R> {
    turn: RoutingState,
    list: RwLock<RouteeList<R>>,
    /// Notifies the senders that wait for room when a routee is added or removed.
    changes: ChangeWakers,
}

impl<R: RouteTarget> Routees<R> {
    pub(crate) fn new(strategy: Routing) -> Self {
        let list = RwLock::new(RouteeList::new());
        Self { turn: RoutingState::new(strategy), list, changes: ChangeWakers::default() }
    }

    fn snapshot(&self) -> RouteeSnapshot<R> {
        let known = self.list.read().snapshot.clone();
        known.unwrap_or_else(|| self.list.write().snapshot())
    }

    /// Adds a routee, unless it is one already. The watch must [remove](Self::remove) it at its
    /// end.
    pub(crate) fn add(&self, id: ActorId, address: R, watch: Option<MonitorGuard>) -> bool {
        self.add_if(id, address, watch, |_| true)
    }

    /// Adds a routee like `add`, if there are fewer than the limit.
    pub(crate) fn add_if(
        &self,
        id: ActorId,
        address: R,
        watch: Option<MonitorGuard>,
        place: impl FnOnce(usize) -> bool,
    ) -> bool {
        let is_counted = self.turn.strategy == Routing::SmallestMailbox;
        let load = is_counted.then(Arc::default);
        let mut new = Some(Routee { id, number: 0, address, load, _watch: watch });
        let before = {
            let mut list = self.list.write();
            let is_free = !list.place_of.contains_key(&id) && place(list.places.len());
            new.take_if(|_| is_free).map(|new| list.add(new))
        };
        // A routee that is not added, and the previous snapshot, are dropped without the lock.
        let Some((added, _)) = before else { return false };
        self.changes.tell();
        // Its end may have been announced before it was added.
        if added.address.has_ended() {
            self.remove(id);
        }
        true
    }

    pub(crate) fn remove(&self, id: ActorId) -> bool {
        let removed = self.list.write().remove(id);
        if removed.is_some() {
            self.changes.tell();
        }
        removed.is_some()
    }

    /// Removes a routee that takes no messages, if that is permanent: a router may have routees
    /// again.
    fn forget(&self, routee: &Routee<R>) {
        if routee.address.has_ended() {
            self.remove(routee.id);
        }
    }

    /// Keeps this many, the oldest.
    pub(crate) fn truncate(&self, size: impl FnOnce() -> usize) {
        let removed: Vec<_> = {
            let mut list = self.list.write();
            let size = size();
            if list.places.len() <= size {
                return;
            }
            let all = list.snapshot();
            all[size..].iter().map(|routee| list.remove(routee.id)).collect()
        };
        drop(removed);
        self.changes.tell();
    }

    pub(crate) fn changes(&self) -> &ChangeWakers {
        &self.changes
    }

    /// Returns the routees at which a message may wait for room: all, or the one for its key.
    pub(crate) fn candidates<M: Message>(
        &self,
        key: Option<u64>,
    ) -> Vec<(ActorId, RoomCandidate<M>)>
    where
        R: MessageRouteTarget<M> + Send + 'static,
    {
        let candidate = |routee: &Arc<Routee<R>>| {
            let address = routee.address.clone();
            let reserve: RoomCandidate<M> = Box::new(move |alone| address.reserve(alone));
            (routee.id, reserve)
        };
        if key.is_some() {
            return self.choose(key).0.iter().map(candidate).collect();
        }
        self.snapshot().iter().map(candidate).collect()
    }

    /// Removes those that have ended.
    pub(crate) fn prune(&self) {
        for routee in self.snapshot().iter() {
            if routee.address.has_ended() {
                self.remove(routee.id);
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.list.read().places.len()
    }

    pub(crate) fn living(&self) -> Vec<R> {
        let all = self.snapshot();
        let living = all.iter().filter(|routee| !routee.address.has_ended());
        living.map(|routee| routee.address.clone()).collect()
    }

    pub(crate) fn send<M: Message>(
        &self,
        message: M,
        key: Option<u64>,
        token: Option<&InFlightToken>,
    ) -> Result<(), RouteError<M>>
    where
        R: MessageRouteTarget<M>,
    {
        self.route(message, key, |routee, message| {
            routee.address.send(message, routee.count(token))
        })
    }

    pub(crate) fn ask<M: Message>(
        &self,
        message: M,
        key: Option<u64>,
        token: Option<&InFlightToken>,
    ) -> Result<Ask<M::Reply>, RouteError<M>>
    where
        R: MessageRouteTarget<M>,
    {
        self.route(message, key, |routee, message| {
            let (ask, asked) = routee.address.ask(message, routee.count(token));
            asked.map(|()| ask)
        })
    }

    /// Gives the message to the first routee that takes it.
    fn route<M: Message, T>(
        &self,
        message: M,
        key: Option<u64>,
        give: impl Fn(&Routee<R>, M) -> Result<T, SendError<M>>,
    ) -> Result<T, RouteError<M>> {
        let (first, start) = self.choose(key);
        let Some(first) = first else { return Err(RouteError::NoRoutee(message)) };
        match give(&first, message) {
            Ok(given) => Ok(given),
            Err(refused) => self.route_on(&first, start, refused, key, give),
        }
    }

    /// Returns the routee whose turn it is, and its index.
    fn choose(&self, key: Option<u64>) -> (Option<Arc<Routee<R>>>, usize) {
        let list = self.list.read();
        let places = &list.places;
        let at = match key {
            Some(key) => {
                let fits = |at: &usize| weight(key, places[*at].id);
                (0..places.len()).max_by_key(fits).unwrap_or(0)
            }
            None => self.turn.start(places.len(), |at| places[at].load()),
        };
        (places.get(at).cloned(), at)
    }

    /// Gives the message to the first of the others that takes it.
    #[cold]
    fn route_on<M: Message, T>(
        &self,
        first: &Arc<Routee<R>>,
        start: usize,
        refused: SendError<M>,
        key: Option<u64>,
        give: impl Fn(&Routee<R>, M) -> Result<T, SendError<M>>,
    ) -> Result<T, RouteError<M>> {
        let all = self.snapshot();
        let mut order = FallbackOrder::new(&all, first, start, key);
        let mut some_full = false;
        let (mut refused, mut by) = (refused, first);
        loop {
            let message = match refused {
                SendError::Cycle(message, circle) => {
                    return Err(RouteError::Cycle(message, circle));
                }
                SendError::Full(message) => {
                    some_full = true;
                    if key.is_some() {
                        return Err(RouteError::Full(message));
                    }
                    message
                }
                SendError::Stopped(message) => {
                    self.forget(by);
                    message
                }
            };
            let Some(next) = order.next() else {
                let error = if some_full { RouteError::Full } else { RouteError::NoRoutee };
                return Err(error(message));
            };
            by = next;
            match give(next, message) {
                Ok(given) => return Ok(given),
                Err(again) => refused = again,
            }
        }
    }

    pub(crate) fn broadcast<M: Message + Clone>(&self, message: M) -> Result<usize, RouteError<M>>
    where
        R: MessageRouteTarget<M>,
    {
        let list = self.snapshot();
        let (mut taken, mut some_full) = (0, false);
        let mut left = Some(message);
        for (at, routee) in list.iter().enumerate() {
            let is_last = at + 1 == list.len();
            let Some(next) = (if is_last { left.take() } else { left.clone() }) else { break };
            match routee.address.send(next, routee.count(None)) {
                Ok(()) => taken += 1,
                Err(error) => {
                    match error {
                        SendError::Full(_) | SendError::Cycle(..) => some_full = true,
                        SendError::Stopped(_) => self.forget(routee),
                    }
                    left = Some(error.into_message());
                }
            }
        }
        match left {
            Some(message) if taken == 0 && some_full => Err(RouteError::Full(message)),
            Some(message) if taken == 0 => Err(RouteError::NoRoutee(message)),
            _ => Ok(taken),
        }
    }

    pub(crate) fn ask_first<M: Message + Clone>(&self, message: M) -> FirstAnswer<M::Reply>
    where
        R: MessageRouteTarget<M>,
    {
        let mut first = FirstAnswer::default();
        for routee in self.snapshot().iter() {
            let (ask, asked) = routee.address.ask(message.clone(), routee.count(None));
            let is_full = matches!(asked, Err(SendError::Full(_)));
            first.add(routee.id, if is_full { Ask::failed(AskError::Full) } else { ask });
        }
        first
    }
}
