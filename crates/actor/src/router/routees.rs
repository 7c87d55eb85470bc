//! The actors behind a router or a pool, and how a message finds one.

use std::sync::Arc;

use parking_lot::RwLock;

use super::scatter::Scatter;
use super::strategy::{Routing, Turn, weight};
use crate::{
    Actor, ActorId, Addr, Ask, AskError, Message, MessageTo, Recipient, Reply, RouteError,
    SendError,
};

/// What can stand behind a router.
pub(crate) trait Routed: Clone {
    fn has_ended(&self) -> bool;
}

/// What takes messages of a type.
pub(crate) trait Target<M: Message>: Routed {
    fn send(&self, message: M, guest: Option<InFlight>) -> Result<(), SendError<M>>;

    /// Gives the message back if it cannot be delivered; the ask says why.
    fn ask(&self, message: M, guest: Option<InFlight>)
    -> (Ask<M::Reply>, Result<(), SendError<M>>);
}

impl<M: Message> Routed for Recipient<M> {
    fn has_ended(&self) -> bool {
        Recipient::has_ended(self)
    }
}

impl<M: Message> Target<M> for Recipient<M> {
    fn send(&self, message: M, guest: Option<InFlight>) -> Result<(), SendError<M>> {
        self.send_counted(message, guest)
    }

    fn ask(
        &self,
        message: M,
        guest: Option<InFlight>,
    ) -> (Ask<M::Reply>, Result<(), SendError<M>>) {
        self.ask_counted(message, guest)
    }
}

impl<A: Actor> Routed for Addr<A> {
    fn has_ended(&self) -> bool {
        Addr::has_ended(self)
    }
}

impl<A: Actor, M: MessageTo<A>> Target<M> for Addr<A> {
    fn send(&self, message: M, guest: Option<InFlight>) -> Result<(), SendError<M>> {
        self.send_with_guest(message, Reply::unwanted(), guest)
    }

    fn ask(
        &self,
        message: M,
        guest: Option<InFlight>,
    ) -> (Ask<M::Reply>, Result<(), SendError<M>>) {
        self.ask_with_guest(message, guest)
    }
}

/// Goes along with a message, and counts it as long.
#[derive(Clone)]
pub(crate) struct InFlight {
    _load: Arc<()>,
    /// That of a router in front of this one.
    _outer: Option<Box<InFlight>>,
}

struct Routee<R> {
    id: ActorId,
    address: R,
    /// Shared with all messages on their way, where they are to be counted.
    load: Option<Arc<()>>,
}

impl<R> Routee<R> {
    fn load(&self) -> usize {
        self.load.as_ref().map_or(0, |load| Arc::strong_count(load) - 1)
    }

    fn count(&self, outer: Option<&InFlight>) -> Option<InFlight> {
        let Some(load) = &self.load else { return outer.cloned() };
        Some(InFlight { _load: Arc::clone(load), _outer: outer.cloned().map(Box::new) })
    }
}

type List<R> = Arc<[Arc<Routee<R>>]>;

pub(crate) struct Routees<R> {
    turn: Turn,
    /// Replaced as a whole, so that nothing is sent, and nothing foreign dropped, under the lock.
    list: RwLock<List<R>>,
}

impl<R: Routed> Routees<R> {
    pub(crate) fn new(strategy: Routing) -> Self {
        Self { turn: Turn::new(strategy), list: RwLock::new(Arc::from([])) }
    }

    fn list(&self) -> List<R> {
        Arc::clone(&self.list.read())
    }

    /// Returns whether the list has changed.
    fn change(&self, to: impl FnOnce(&[Arc<Routee<R>>]) -> Option<List<R>>) -> bool {
        let before = {
            let mut list = self.list.write();
            to(&list).map(|after| std::mem::replace(&mut *list, after))
        };
        before.is_some()
    }

    pub(crate) fn add(&self, id: ActorId, address: R) -> bool {
        self.add_if(id, address, |_| true)
    }

    /// Adds a routee if it is not one yet, and if there is a place beside so many.
    pub(crate) fn add_if(
        &self,
        id: ActorId,
        address: R,
        place: impl FnOnce(usize) -> bool,
    ) -> bool {
        let is_counted = self.turn.strategy == Routing::SmallestMailbox;
        let routee = Arc::new(Routee { id, address, load: is_counted.then(Arc::default) });
        self.change(|list| {
            let is_free = list.iter().all(|other| other.id != id) && place(list.len());
            is_free.then(|| list.iter().cloned().chain([routee]).collect())
        })
    }

    pub(crate) fn remove(&self, id: ActorId) -> bool {
        self.keep(|_, routee| routee.id != id)
    }

    /// Keeps so many, the oldest.
    pub(crate) fn truncate(&self, size: impl FnOnce() -> usize) {
        self.change(|list| {
            let size = size();
            (list.len() > size).then(|| list[..size].into())
        });
    }

    /// Takes those out that have ended.
    pub(crate) fn prune(&self) {
        self.keep(|_, routee| !routee.address.has_ended());
    }

    /// Returns whether somebody had to go.
    fn keep(&self, keep: impl Fn(usize, &Routee<R>) -> bool) -> bool {
        self.change(|list| {
            let kept = list.iter().enumerate().filter(|(at, routee)| keep(*at, routee));
            let kept: List<R> = kept.map(|(_, routee)| Arc::clone(routee)).collect();
            (kept.len() < list.len()).then_some(kept)
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.list.read().len()
    }

    pub(crate) fn living(&self) -> Vec<R> {
        let list = self.list();
        let living = list.iter().filter(|routee| !routee.address.has_ended());
        living.map(|routee| routee.address.clone()).collect()
    }

    pub(crate) fn send<M: Message>(
        &self,
        message: M,
        key: Option<u64>,
        guest: Option<&InFlight>,
    ) -> Result<(), RouteError<M>>
    where
        R: Target<M>,
    {
        self.route(message, key, |routee, message| {
            routee.address.send(message, routee.count(guest))
        })
    }

    pub(crate) fn ask<M: Message>(
        &self,
        message: M,
        key: Option<u64>,
        guest: Option<&InFlight>,
    ) -> Result<Ask<M::Reply>, RouteError<M>>
    where
        R: Target<M>,
    {
        self.route(message, key, |routee, message| {
            let (ask, asked) = routee.address.ask(message, routee.count(guest));
            asked.map(|()| ask)
        })
    }

    /// Gives the message to the first who takes it.
    fn route<M: Message, T>(
        &self,
        mut message: M,
        key: Option<u64>,
        give: impl Fn(&Routee<R>, M) -> Result<T, SendError<M>>,
    ) -> Result<T, RouteError<M>> {
        let list = self.list();
        let mut order = self.order(&list, key);
        let (mut some_ended, mut some_full) = (false, false);
        let result = loop {
            let Some(routee) = order.next() else { break Err(message) };
            match give(routee, message) {
                Ok(given) => break Ok(given),
                Err(SendError::Stopped(back)) => {
                    some_ended = true;
                    message = back;
                }
                Err(SendError::Full(back)) => {
                    some_full = true;
                    message = back;
                    if key.is_some() {
                        break Err(message);
                    }
                }
            }
        };
        if some_ended {
            self.prune();
        }
        let error = if some_full { RouteError::Full } else { RouteError::NoRoutee };
        result.map_err(error)
    }

    /// In which order the routees are tried.
    fn order<'a>(&self, list: &'a [Arc<Routee<R>>], key: Option<u64>) -> Order<'a, R> {
        let place = match key {
            Some(key) => Place::Ranked { key, above: None },
            None => {
                let first = self.turn.start(list.len(), |at| list[at].load());
                Place::InTurn { first, tried: 0 }
            }
        };
        Order { list, place }
    }

    pub(crate) fn broadcast<M: Message + Clone>(&self, message: M) -> Result<usize, RouteError<M>>
    where
        R: Target<M>,
    {
        let list = self.list();
        let (mut taken, mut some_full) = (0, false);
        let mut left = Some(message);
        for (at, routee) in list.iter().enumerate() {
            let is_last = at + 1 == list.len();
            let Some(next) = (if is_last { left.take() } else { left.clone() }) else { break };
            match routee.address.send(next, routee.count(None)) {
                Ok(()) => taken += 1,
                Err(error) => {
                    some_full |= matches!(error, SendError::Full(_));
                    left = Some(error.into_message());
                }
            }
        }
        if taken < list.len() {
            self.prune();
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
        for routee in self.list().iter() {
            let (ask, asked) = routee.address.ask(message.clone(), routee.count(None));
            let is_full = matches!(asked, Err(SendError::Full(_)));
            scatter.add(routee.id, if is_full { Ask::failed(AskError::Full) } else { ask });
        }
        scatter
    }
}

/// One routee after the other.
struct Order<'a, R> {
    list: &'a [Arc<Routee<R>>],
    place: Place,
}

enum Place {
    InTurn {
        first: usize,
        tried: usize,
    },
    /// By how well they fit the key, the best one first; those above were tried.
    Ranked {
        key: u64,
        above: Option<(u64, ActorId)>,
    },
}

impl<'a, R> Iterator for Order<'a, R> {
    type Item = &'a Routee<R>;

    fn next(&mut self) -> Option<&'a Routee<R>> {
        match &mut self.place {
            Place::InTurn { first, tried } => {
                let at = (*tried < self.list.len()).then(|| (*first + *tried) % self.list.len())?;
                *tried += 1;
                Some(&self.list[at])
            }
            Place::Ranked { key, above } => {
                let ranked = self.list.iter().map(|routee| (weight(*key, routee.id), routee));
                let left = ranked.filter(|(weight, _)| above.is_none_or(|above| *weight < above));
                let (weight, best) = left.max_by_key(|(weight, _)| *weight)?;
                *above = Some(weight);
                Some(best)
            }
        }
    }
}
