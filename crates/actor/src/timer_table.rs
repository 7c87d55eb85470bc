//! The timers that a state of an actor has set by key.

use std::any::{Any, TypeId};
use std::borrow::Borrow;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use coact_core::internals::CatchDrop;
use coact_core::time::Timer;

/// What can be the key of a timer: a `&'static str`, a number, an `enum`, or whatever else can be
/// compared and hashed. See [`KeyedTimers`](crate::actor::KeyedTimers).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the key of a timer",
    label = "a key is compared, hashed, and shared with the timer",
    note = "derive what it lacks: `#[derive(PartialEq, Eq, Hash)]`; and it must be `Send + Sync + 'static`"
)]
pub trait TimerKey: Eq + Hash + Send + Sync + 'static {}

#[diagnostic::do_not_recommend]
impl<K: Eq + Hash + Send + Sync + 'static> TimerKey for K {}

/// A key of any type. Keys of different types are different.
trait AnyKey: Send + Sync {
    fn as_any(&self) -> &dyn Any;
    fn is(&self, other: &dyn AnyKey) -> bool;
    fn feed(&self, hasher: &mut dyn Hasher);
}

impl<K: TimerKey> AnyKey for CatchDrop<K> {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn is(&self, other: &dyn AnyKey) -> bool {
        other.as_any().downcast_ref::<Self>().is_some_and(|other| **self == **other)
    }

    fn feed(&self, mut hasher: &mut dyn Hasher) {
        TypeId::of::<K>().hash(&mut hasher);
        (**self).hash(&mut hasher);
    }
}

impl PartialEq for dyn AnyKey {
    fn eq(&self, other: &Self) -> bool {
        self.is(other)
    }
}

impl Eq for dyn AnyKey {}

impl Hash for dyn AnyKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.feed(state);
    }
}

/// The key of a timer, which its ticks have as well.
#[derive(Clone)]
pub(crate) struct SharedKey(Arc<dyn AnyKey>);

impl PartialEq for SharedKey {
    fn eq(&self, other: &Self) -> bool {
        self.0.is(&*other.0)
    }
}

impl Eq for SharedKey {}

impl Hash for SharedKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.feed(state);
    }
}

impl Borrow<dyn AnyKey> for SharedKey {
    fn borrow(&self) -> &(dyn AnyKey + 'static) {
        &*self.0
    }
}

/// The timers of one state, which end when this is dropped.
#[derive(Default)]
pub(crate) struct TimerTable {
    timers: HashMap<SharedKey, ActiveTimer>,
    /// How many were ever set.
    count: u64,
}

impl TimerTable {
    /// Sets a timer in place of an earlier one with this key. `set` receives what the timer sends.
    pub(crate) fn set(&mut self, key: impl TimerKey, set: impl FnOnce(TickSource) -> Timer) {
        let key = SharedKey(Arc::new(CatchDrop::new(key)));
        let source = TickSource { key: key.clone(), state: Arc::default() };
        let state = Arc::clone(&source.state);
        self.count += 1;
        let number = self.count;
        // This is where keys are hashed and compared: a panic leaves no timer that no key names.
        self.timers.reserve(1);
        let entry = self.timers.entry(key);
        let timer = ActiveTimer { number, timer: set(source), state };
        match entry {
            Entry::Occupied(mut before) => *before.get_mut() = timer,
            Entry::Vacant(place) => _ = place.insert(timer),
        }
    }

    /// Ends the timer with this key. Returns whether there was one.
    pub(crate) fn cancel(&mut self, key: impl TimerKey) -> bool {
        let key: &(dyn AnyKey + 'static) = &CatchDrop::new(key);
        self.timers.remove(key).is_some()
    }

    /// Returns whether a timer with this key is set.
    pub(crate) fn has(&self, key: impl TimerKey) -> bool {
        let key: &(dyn AnyKey + 'static) = &CatchDrop::new(key);
        self.timers.contains_key(key)
    }

    /// Ends all timers.
    pub(crate) fn cancel_all(&mut self) {
        let mut timers: Vec<ActiveTimer> = self.timers.drain().map(|(_, timer)| timer).collect();
        // So that a simulation always drops their messages in the same order.
        timers.sort_unstable_by_key(|timer| timer.number);
    }

    /// Removes the timer that has sent its only tick.
    fn end(&mut self, tick: &TickSource) {
        if let Entry::Occupied(timer) = self.timers.entry(tick.key.clone())
            && Arc::ptr_eq(&timer.get().state, &tick.state)
        {
            timer.remove();
        }
    }
}

impl Drop for TimerTable {
    fn drop(&mut self) {
        self.cancel_all();
    }
}

/// A timer that is set; dropping this ends it.
struct ActiveTimer {
    number: u64,
    timer: Timer,
    state: Arc<TimerState>,
}

impl Drop for ActiveTimer {
    fn drop(&mut self) {
        // ORDERING: Relaxed. The actor is held here, and where a tick looks at this.
        self.state.is_void.store(true, Ordering::Relaxed);
        self.timer.cancel();
    }
}

/// What a timer shares with its ticks.
#[derive(Default)]
struct TimerState {
    /// It was cancelled or replaced, or its state of the actor has ended.
    is_void: AtomicBool,
    /// A tick waits for its turn with the actor.
    is_waiting: AtomicBool,
}

/// What a timer sends its ticks with.
#[derive(Clone)]
pub(crate) struct TickSource {
    key: SharedKey,
    state: Arc<TimerState>,
}

impl TickSource {
    /// Returns a tick to be sent, unless the previous one still waits.
    pub(crate) fn tick(&self) -> Option<WaitingTick> {
        // ORDERING: Relaxed. The flag guards no data: the cown orders the ticks.
        let waits = self.state.is_waiting.swap(true, Ordering::Relaxed);
        (!waits).then(|| WaitingTick(self.clone()))
    }
}

/// A tick that waits for its turn.
pub(crate) struct WaitingTick(TickSource);

impl WaitingTick {
    /// Ends the wait: it is the tick's turn. Returns whether the timer is still set.
    pub(crate) fn come(self) -> bool {
        // ORDERING: Relaxed. The actor is held here, and where its timers end.
        !self.0.state.is_void.load(Ordering::Relaxed)
    }

    /// Ends the wait like [`come`](Self::come), and the timer: this was its only tick.
    pub(crate) fn come_last(self, timers: &mut TimerTable) -> bool {
        let source = self.0.clone();
        let is_set = self.come();
        if is_set {
            timers.end(&source);
        }
        is_set
    }
}

impl Drop for WaitingTick {
    fn drop(&mut self) {
        // ORDERING: Relaxed. See `TickSource::tick`.
        self.0.state.is_waiting.store(false, Ordering::Relaxed);
    }
}
