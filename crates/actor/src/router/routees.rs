//! The actors behind a router or a pool, and the choice among them.

use std::collections::HashMap;
use std::sync::Arc;

use coact_sync::shim::process::RwLock;

use super::scatter::Scatter;
use super::strategy::{Routing, Turn, weight};
use crate::ask::Ask;
use crate::backpressure::{Candidate, Changes, Reserve};
use crate::error::{AskError, SendError};
use crate::id::ActorId;
use crate::in_flight::InFlightToken;
use crate::message::Message;
use crate::monitor_guard::Watch;
use crate::recipient::Recipient;
use crate::reply::Reply;
use crate::router::RouteError;
use crate::traits::MessageTo;
use crate::types::{Actor, Addr};

/// An actor, or other receiver, behind a router.
pub(crate) trait Routed: Clone {
    fn has_ended(&self) -> bool;
}

/// A routee that takes messages of a type.
pub(crate) trait Target<M: Message>: Routed {
    fn send(&self, message: M, token: Option<InFlightToken>) -> Result<(), SendError<M>>;

    /// Asks; returns the message if it cannot be delivered. The ask says why.
    fn ask(
        &self,
        message: M,
        token: Option<InFlightToken>,
    ) -> (Ask<M::Reply>, Result<(), SendError<M>>);

    /// Waits for room; `None` if there is none to wait for.
    fn reserve(&self, alone: bool) -> Option<Reserve<M>>;
}

impl<M: Message> Routed for Recipient<M> {
    fn has_ended(&self) -> bool {
        Recipient::has_ended(self)
    }
}

impl<M: Message> Target<M> for Recipient<M> {
    fn send(&self, message: M, token: Option<InFlightToken>) -> Result<(), SendError<M>> {
        self.send_counted(message, token)
    }

    fn ask(
        &self,
        message: M,
        token: Option<InFlightToken>,
    ) -> (Ask<M::Reply>, Result<(), SendError<M>>) {
        self.ask_counted(message, token)
    }

    fn reserve(&self, alone: bool) -> Option<Reserve<M>> {
        Recipient::reserve(self, alone)
    }
}

impl<A: Actor> Routed for Addr<A> {
    fn has_ended(&self) -> bool {
        Addr::has_ended(self)
    }
}

impl<A: Actor, M: MessageTo<A>> Target<M> for Addr<A> {
    fn send(&self, message: M, token: Option<InFlightToken>) -> Result<(), SendError<M>> {
        self.send_with_token(message, Reply::unwanted(), token)
    }

    fn ask(
        &self,
        message: M,
        token: Option<InFlightToken>,
    ) -> (Ask<M::Reply>, Result<(), SendError<M>>) {
        self.ask_with_token(message, token)
    }

    fn reserve(&self, alone: bool) -> Option<Reserve<M>> {
        Addr::reserve(self, alone)
    }
}

struct Routee<R> {
    id: ActorId,
    /// Increases with each routee added.
    number: u64,
    address: R,
    /// Shared with all messages on their way, if they are counted.
    load: Option<Arc<()>>,
    /// Removes the routee when it has ended.
    _watch: Option<Watch>,
}

impl<R> Routee<R> {
    fn load(&self) -> usize {
        self.load.as_ref().map_or(0, |load| Arc::strong_count(load) - 1)
    }

    fn count(&self, outer: Option<&InFlightToken>) -> Option<InFlightToken> {
        let Some(load) = &self.load else { return outer.cloned() };
        Some(InFlightToken::new(load, outer))
    }
}

/// All routees at some moment, in the order in which they were added.
type Snapshot<R> = Arc<[Arc<Routee<R>>]>;

/// The routees of a router or a pool.
///
/// Adding or removing one takes constant time, and the choice happens under the lock; under it
/// nothing is sent, and no user value dropped.
pub(crate) struct Routees<R> {
    turn: Turn,
    list: RwLock<List<R>>,
    /// Notifies the senders that wait for room when a routee is added or removed.
    changes: Changes,
}

struct List<R> {
    /// The order of turns. When a routee is removed, the last one takes its index.
    places: Vec<Arc<Routee<R>>>,
    place_of: HashMap<ActorId, usize>,
    /// How many were ever added.
    added: u64,
    /// Created when all are needed, and kept until the next change.
    snapshot: Option<Snapshot<R>>,
}

/// A routee that was added or removed, and the previous snapshot: to be dropped without the lock.
type Changed<R> = (Arc<Routee<R>>, Option<Snapshot<R>>);

impl<R> List<R> {
    fn add(&mut self, mut routee: Routee<R>) -> Changed<R> {
        routee.number = self.added;
        self.added += 1;
        let routee = Arc::new(routee);
        self.place_of.insert(routee.id, self.places.len());
        self.places.push(Arc::clone(&routee));
        (routee, self.snapshot.take())
    }

    fn remove(&mut self, id: ActorId) -> Option<Changed<R>> {
        let place = self.place_of.remove(&id)?;
        let routee = self.places.swap_remove(place);
        if let Some(moved) = self.places.get(place) {
            self.place_of.insert(moved.id, place);
        }
        Some((routee, self.snapshot.take()))
    }

    fn snapshot(&mut self) -> Snapshot<R> {
        let places = &self.places;
        let snapshot = self.snapshot.get_or_insert_with(|| {
            let mut all = places.clone();
            all.sort_unstable_by_key(|routee| routee.number);
            all.into()
        });
        Arc::clone(snapshot)
    }
}

impl<R: Routed> Routees<R> {
    pub(crate) fn new(strategy: Routing) -> Self {
        let (places, place_of) = (Vec::new(), HashMap::new());
        let list = List { places, place_of, added: 0, snapshot: None };
        Self { turn: Turn::new(strategy), list: RwLock::new(list), changes: Changes::default() }
    }

    fn snapshot(&self) -> Snapshot<R> {
        let known = self.list.read().snapshot.clone();
        known.unwrap_or_else(|| self.list.write().snapshot())
    }

    /// Adds a routee, unless it is one already. The watch must [remove](Self::remove) it at its
    /// end.
    pub(crate) fn add(&self, id: ActorId, address: R, watch: Option<Watch>) -> bool {
        self.add_if(id, address, watch, |_| true)
    }

    /// Adds a routee like `add`, if there are fewer than the limit.
    pub(crate) fn add_if(
        &self,
        id: ActorId,
        address: R,
        watch: Option<Watch>,
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

    pub(crate) fn changes(&self) -> &Changes {
        &self.changes
    }

    /// Returns the routees at which a message may wait for room: all, or the one for its key.
    pub(crate) fn candidates<M: Message>(&self, key: Option<u64>) -> Vec<(ActorId, Candidate<M>)>
    where
        R: Target<M> + Send + 'static,
    {
        let candidate = |routee: &Arc<Routee<R>>| {
            let address = routee.address.clone();
            let reserve: Candidate<M> = Box::new(move |alone| address.reserve(alone));
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
        R: Target<M>,
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
        R: Target<M>,
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
        let mut order = Order::new(&all, first, start, key);
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
        R: Target<M>,
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

    pub(crate) fn scatter<M: Message + Clone>(&self, message: M) -> Scatter<M::Reply>
    where
        R: Target<M>,
    {
        let mut scatter = Scatter::default();
        for routee in self.snapshot().iter() {
            let (ask, asked) = routee.address.ask(message.clone(), routee.count(None));
            let is_full = matches!(asked, Err(SendError::Full(_)));
            scatter.add(routee.id, if is_full { Ask::failed(AskError::Full) } else { ask });
        }
        scatter
    }
}

/// The order in which routees are tried after `first`.
struct Order<'a, R> {
    all: &'a [Arc<Routee<R>>],
    first: ActorId,
    position: Position,
}

enum Position {
    InTurn {
        start: usize,
        tried: usize,
    },
    /// By how well they match the key, best first; those from `above` on were tried.
    Ranked {
        key: u64,
        above: (u64, ActorId),
    },
}

impl<'a, R> Order<'a, R> {
    fn new(all: &'a [Arc<Routee<R>>], first: &Routee<R>, start: usize, key: Option<u64>) -> Self {
        let position = match key {
            Some(key) => Position::Ranked { key, above: weight(key, first.id) },
            None => Position::InTurn { start, tried: 0 },
        };
        Self { all, first: first.id, position }
    }
}

impl<'a, R> Iterator for Order<'a, R> {
    type Item = &'a Arc<Routee<R>>;

    fn next(&mut self) -> Option<&'a Arc<Routee<R>>> {
        let Self { all, first, position } = self;
        match position {
            Position::InTurn { start, tried } => {
                while *tried < all.len() {
                    let routee = &all[(*start + *tried) % all.len()];
                    *tried += 1;
                    if routee.id != *first {
                        return Some(routee);
                    }
                }
                None
            }
            Position::Ranked { key, above } => {
                let ranked = all.iter().map(|routee| (weight(*key, routee.id), routee));
                let left = ranked.filter(|(weight, _)| weight < above);
                let (weight, best) = left.max_by_key(|(weight, _)| *weight)?;
                *above = weight;
                Some(best)
            }
        }
    }
}
