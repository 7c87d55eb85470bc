//! What all of one run share: the record of it.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering};

use coact::actor::{ActorId, AnyAddr, MonitorId};
use coact::prelude::*;
use coact::runtime::RuntimeHandle;
use coact_model::actors::{
    ActorEvent, ActorHook, ActorSettings, ActorTrace, AskOutcome, EndReason, Item, ItemId,
};
use coact_sync::shim::process::Mutex;
use coact_tests::Log;

#[derive(Default)]
pub struct World {
    clock: AtomicU64,
    ids: AtomicUsize,
    watches: AtomicUsize,
    events: Log<(u64, ActorEvent)>,
    live: AtomicI64,
    cast: Mutex<Cast>,
    /// Asks that are waited for at the end, where nothing may run when they are answered.
    pub asks: Option<Log<(ItemId, Ask<()>)>>,
    /// Whether some actor runs on its callers.
    pub has_callers: AtomicBool,
    /// The runtimes that actors are moved between.
    pub homes: Vec<RuntimeHandle>,
}

/// The actors that there are.
#[derive(Default)]
struct Cast {
    settings: Vec<ActorSettings>,
    numbers: HashMap<ActorId, usize>,
    addresses: Vec<(usize, AnyAddr)>,
    monitors: HashMap<MonitorId, usize>,
}

impl World {
    pub fn new(homes: Vec<RuntimeHandle>, keeps_asks: bool) -> Arc<Self> {
        let asks = keeps_asks.then(Log::new);
        Arc::new(Self { homes, asks, ..Self::default() })
    }

    /// Whether its runtimes are shut down while it runs.
    pub fn is_cut_short(&self) -> bool {
        self.asks.is_some()
    }

    pub fn tick(&self) -> u64 {
        // Acquire and release, so that a smaller number also means "happens before".
        self.clock.fetch_add(1, Ordering::AcqRel)
    }

    pub fn note(&self, event: ActorEvent) {
        let at = self.tick();
        self.events.push((at, event));
    }

    pub fn next_item(&self) -> ItemId {
        self.ids.fetch_add(1, Ordering::Relaxed)
    }

    pub fn next_watch(&self) -> usize {
        self.watches.fetch_add(1, Ordering::Relaxed)
    }

    /// The number of a new actor.
    pub fn enlist(&self, settings: ActorSettings) -> usize {
        let mut cast = self.cast.lock();
        cast.settings.push(settings);
        cast.settings.len() - 1
    }

    /// The actor of that number is there.
    pub fn know(&self, number: usize, address: AnyAddr) {
        let mut cast = self.cast.lock();
        cast.numbers.insert(address.id(), number);
        cast.addresses.push((number, address));
    }

    /// The watch that a monitor of an actor stands for.
    pub fn know_monitor(&self, monitor: MonitorId, watch: usize) {
        self.cast.lock().monitors.insert(monitor, watch);
    }

    pub fn watch_of(&self, monitor: MonitorId) -> usize {
        self.cast.lock().monitors[&monitor]
    }

    /// All actors, each with the reason of its end, if it has ended.
    pub fn ends(&self) -> Vec<(usize, Option<EndReason>)> {
        let addresses = self.cast.lock().addresses.clone();
        let end = |address: AnyAddr| address.exit_reason().map(|reason| self.reason(&reason));
        addresses.into_iter().map(|(number, address)| (number, end(address))).collect()
    }

    pub fn number(&self, id: ActorId) -> Option<usize> {
        self.cast.lock().numbers.get(&id).copied()
    }

    /// Which of the runtimes runs this; any other has the number behind theirs. It is not known
    /// where some actor runs on its callers: what they do for it is done in its home, but their
    /// threads say that they are in theirs.
    pub fn home(&self) -> Option<usize> {
        // ORDERING: Relaxed. A thread that has the address of such an actor has heard of it.
        if self.has_callers.load(Ordering::Relaxed) {
            return None;
        }
        let here = RuntimeHandle::current();
        Some(self.homes.iter().position(|home| *home == here).unwrap_or(self.homes.len()))
    }

    pub fn reason(&self, reason: &ExitReason) -> EndReason {
        match reason {
            ExitReason::Normal => EndReason::Normal,
            ExitReason::Shutdown => EndReason::Shutdown,
            ExitReason::Killed => EndReason::Killed,
            ExitReason::Panicked(message) => item_of(message)
                .map_or_else(|| EndReason::Other(reason.to_string()), EndReason::Panicked),
            ExitReason::Failed(message) => item_of(message)
                .map_or_else(|| EndReason::Other(reason.to_string()), EndReason::Quit),
            ExitReason::Linked(from, why) => match self.number(*from) {
                Some(from) => EndReason::Linked(from, Box::new(self.reason(why))),
                None => EndReason::Other(reason.to_string()),
            },
            ExitReason::NoActor => EndReason::NoActor,
            other => EndReason::Other(other.to_string()),
        }
    }

    pub fn answer<R>(&self, answer: &Result<R, AskError>) -> AskOutcome {
        match answer {
            Ok(_) => AskOutcome::Given,
            Err(AskError::Stopped(reason)) => AskOutcome::Stopped(self.reason(reason)),
            Err(AskError::Full) => AskOutcome::Full,
            Err(AskError::NoReply) => AskOutcome::NoReply,
            Err(AskError::Timeout(_)) => AskOutcome::Timeout,
            Err(AskError::Cycle(_)) => AskOutcome::Cycle,
            Err(AskError::Cancelled) => AskOutcome::Cancelled,
            // By whatever other name: the handler panicked.
            Err(_) => AskOutcome::Panicked,
        }
    }

    /// What was recorded; and whether nothing is left.
    pub fn trace(&self) -> (ActorTrace, i64) {
        let actors = self.cast.lock().settings.clone();
        (ActorTrace { actors, events: self.events.take() }, self.live.load(Ordering::Relaxed))
    }
}

/// What an item says when it panics, or ends its actor.
pub fn name_of(id: ItemId) -> String {
    format!("item {id}")
}

fn item_of(message: &str) -> Option<ItemId> {
    message.strip_prefix("item ")?.parse().ok()
}

/// Counts itself.
pub struct Token(pub Arc<World>);

impl Token {
    pub fn new(world: &Arc<World>) -> Self {
        world.live.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(world))
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        self.0.live.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The right to have a turn, in a message or a closure: tells what becomes of it.
pub struct Ticket {
    pub id: ItemId,
    pub token: Token,
    is_over: bool,
}

impl Ticket {
    pub fn new(world: &Arc<World>) -> Self {
        Self { id: world.next_item(), token: Token::new(world), is_over: false }
    }

    pub fn world(&self) -> &Arc<World> {
        &self.token.0
    }

    pub fn note(&self, event: ActorEvent) {
        self.world().note(event);
    }

    pub fn begin(&self) {
        self.note(ActorEvent::Began { id: self.id, home: self.world().home() });
    }

    pub fn end(mut self) {
        self.note(ActorEvent::Ended(self.id));
        self.is_over = true;
    }

    /// Panics in the item's name.
    pub fn fail(mut self) -> ! {
        self.note(ActorEvent::Panicked(self.id));
        self.is_over = true;
        let name = name_of(self.id);
        drop(self);
        coact_tests::fail(&name)
    }

    /// It was given back to its sender: there was never such an item.
    pub fn take_back(mut self, item: Item, call: u64, full: bool) {
        self.note(ActorEvent::Refused { id: self.id, item, call, full });
        self.is_over = true;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if !self.is_over {
            self.note(ActorEvent::Dropped(self.id));
        }
    }
}

/// An ask that is waited for by a future: if that is dropped, it is told.
pub struct Awaited {
    pub id: ItemId,
    pub token: Token,
    pub is_over: bool,
}

impl Awaited {
    pub fn end(mut self, answer: AskOutcome) {
        self.token.0.note(ActorEvent::Answered(self.id, answer));
        self.is_over = true;
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        if !self.is_over {
            self.token.0.note(ActorEvent::Abandoned(self.id));
        }
    }
}

/// The state of an actor tells of its end.
pub struct StateToken {
    pub number: usize,
    pub token: Token,
}

impl Drop for StateToken {
    fn drop(&mut self) {
        self.token.0.note(ActorEvent::Hook(self.number, ActorHook::Dropped));
    }
}
