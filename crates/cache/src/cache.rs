//! The cache as the state of an actor: what becomes of gets and writes.

use std::borrow::Borrow;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fmt;
use std::hash::{BuildHasher, Hash};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use coact_actor::Addr;
use coact_actor::actor::{ActorId, AskError, Context, Reply, WeakAddr};
use coact_actor::internals::call_with;
use coact_core::Broken;
use coact_core::internals::catch;
use coact_core::runtime::{RuntimeHandle, spawn_future};

use crate::backing::{Key, Store, Value, Write};
use crate::counts::{CacheCounts, Counter};
use crate::entries::{Entries, Known};
use crate::errors::{LoadError, WriteError};
use crate::flusher::write_behind;
use crate::guarded::{Guarded, Unfinished, within};
use crate::keyed::Keyed;
use crate::queue::{News, Subscription};
use crate::quiet::Quiet;
use crate::spec::{CacheBuilder, CacheSpec, Parts, Writing};
use crate::under_way::{
    GetReply, Load, Loaded, Operation, UnderWay, WriteReply, WriteRequest, number,
};
use crate::write_behind::LostWrite;

/// A cache, whose address is an `Addr<Cache<K, V>>`.
///
/// Other actors ask it for values by key: [`Caching`](crate::Caching) has the messages as methods. A value that is not there is loaded,
/// once for all who ask meanwhile. Writes go to a store, before they are answered or after.
///
/// ```
/// use coact::cache::{Cache, Caching};
/// use std::time::Duration;
///
/// async fn fetch(user: u64) -> Result<Option<String>, std::io::Error> {
///     Ok((user < 100).then(|| format!("user {user}")))
/// }
///
/// let users = Cache::builder()
///     .max_entries(10_000)
///     .time_to_live(Duration::from_secs(60))
///     .load(|user: u64| async move { Ok(fetch(user).await?) })
///     .load_timeout(Duration::from_secs(2))
///     .build()?
///     .spawn();
/// assert_eq!(users.get(7).wait()??.as_deref(), Some("user 7"));
/// assert_eq!(users.get(700).wait()??, None);
/// let counts = users.counts().wait()?;
/// assert_eq!((counts.hits, counts.misses, counts.loads), (0, 2, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Behaviours can name a cache, like any actor. Those that [read](coact_actor::Addr::read) it run in parallel, and
/// [`cached`](Self::cached) counts as use there as well:
///
/// ```
/// # use coact::cache::{Cache, Caching};
/// use coact::call;
///
/// let lengths = Cache::<String, usize>::builder().max_entries(10).build()?.spawn();
/// lengths.put("four".to_owned(), 4).wait()??;
/// assert_eq!(call(lengths.read(), |lengths| lengths.cached("four").copied()).wait()?, Some(4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// **Panics of the program's code** (hashing, comparing, cloning, weighing, loading, writing, dropping of keys and values) fail what has
/// called it, if anything, and are reported like those of behaviours. The cache goes on.
pub struct Cache<K: Key, V: Value> {
    parts: Arc<Parts<K, V>>,
    entries: Entries<K, V>,
    /// Never locked: those who read a cache in parallel have nothing to do with it.
    under_way: Mutex<Keyed<K, UnderWay<V>>>,
    /// Tells this cache of news of the writes behind.
    subscription: Option<Subscription<K, V>>,
    /// The keys whose first write waits for room among the writes behind, in order.
    for_room: VecDeque<usize>,
    /// The numbers of the writes that wait for room, or behind such a write of their key.
    held_writes: BTreeSet<u64>,
    /// The flushes that wait until the writes before this number are held no more, in order.
    held_flushes: VecDeque<(u64, WriteReply)>,
    /// Where the writes are that this state has from the one before, by number.
    adopted: HashMap<u64, usize>,
    /// How many writes were asked for.
    arrived: u64,
    loading: usize,
    /// Whose time entries have.
    home: Option<RuntimeHandle>,
    hits: Counter,
    misses: Counter,
    loads: u64,
    load_failures: u64,
    writes: u64,
    write_failures: u64,
}

impl<K: Key, V: Value> Cache<K, V> {
    /// Begins the settings of a cache. It needs a bound, [`max_entries`](CacheBuilder::max_entries) or
    /// [`max_weight`](CacheBuilder::max_weight); all else is optional.
    pub fn builder() -> CacheBuilder<K, V> {
        CacheBuilder::new()
    }

    /// Returns the value of a key if it is there, and counts that as use of it. For behaviours, also those that read in parallel.
    ///
    /// It sees entries alone: neither a value that is being written through, nor one that was dropped and waits to be written behind.
    #[inline]
    pub fn cached<Q>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        let at = self.entries.find(self.parts.hasher.hash_one(key), key);
        let now = self.now();
        match at.filter(|at| !self.entries.is_over(*at, now)).map(|at| (at, self.entries.get(at))) {
            Some((at, Known::Value(value))) => {
                self.entries.mark(at, now);
                self.hits.raise_shared();
                Some(value)
            }
            _ => {
                self.misses.raise_shared();
                None
            }
        }
    }

    /// Returns what it has counted.
    pub fn counts(&self) -> CacheCounts {
        let mut counts = CacheCounts {
            hits: self.hits.get(),
            misses: self.misses.get(),
            loads: self.loads,
            load_failures: self.load_failures,
            writes: self.writes,
            write_failures: self.write_failures,
            loading: self.loading,
            ..CacheCounts::default()
        };
        self.entries.count(&mut counts);
        if let Writing::Behind(queue) = &self.parts.writing {
            queue.count(&mut counts);
        }
        counts
    }

    pub(crate) fn new(parts: Arc<Parts<K, V>>) -> Self {
        Self {
            entries: Entries::new(Arc::clone(&parts.bounds)),
            parts,
            under_way: Mutex::default(),
            subscription: None,
            for_room: VecDeque::new(),
            held_writes: BTreeSet::new(),
            held_flushes: VecDeque::new(),
            adopted: HashMap::new(),
            arrived: 0,
            loading: 0,
            home: None,
            hits: Counter::default(),
            misses: Counter::default(),
            loads: 0,
            load_failures: 0,
            writes: 0,
            write_failures: 0,
        }
    }

    pub(crate) fn begin(&mut self, id: ActorId, this: WeakAddr<Self>) {
        self.home = Some(RuntimeHandle::current());
        self.adopt_writes(id);
        let Writing::Behind(queue) = &self.parts.writing else { return };
        let tell = move |news| {
            let Some(cache) = this.upgrade() else { return };
            call_with(&cache, move |cache, context| match news {
                News::Room => cache.has_room(context),
                News::Lost(key) => cache.forget(key),
            });
        };
        self.subscription = Some(queue.listen(Arc::new(tell)));
    }

    /// Blocks the keys of which the state before this one has a write under way.
    fn adopt_writes(&mut self, id: ActorId) {
        for (number, hash, key) in self.parts.flights.of(id) {
            // One at a time for a key.
            let at = self.busy_at(hash, key, None);
            self.busy().get_mut(at).writing = Some(number);
            self.adopted.insert(number, at);
        }
    }

    /// Has what waits be written without delay: this cache will write no more.
    pub(crate) fn end(&self) {
        if let Writing::Behind(queue) = &self.parts.writing {
            queue.hurry();
        }
    }

    /// Returns the time by which entries expire, if any do.
    #[inline]
    fn now(&self) -> Duration {
        if !self.parts.bounds.are_timed() {
            return Duration::ZERO;
        }
        self.home.unwrap_or_else(RuntimeHandle::current).elapsed()
    }

    fn busy(&mut self) -> &mut Keyed<K, UnderWay<V>> {
        self.under_way.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the hash of a key, and where things are under way for it.
    #[inline]
    fn locate(&mut self, key: &K) -> Result<(u64, Option<usize>), Broken> {
        catch(|| {
            let hash = self.parts.hasher.hash_one(key);
            let busy = self.busy();
            (hash, if busy.is_empty() { None } else { busy.find(hash, key) })
        })
    }

    // Gets.

    pub(crate) fn get(&mut self, key: K, reply: GetReply<V>, context: &mut Context<Self>) {
        let key = Quiet::new(key);
        match self.locate(&key) {
            Ok((_, Some(at))) if self.busy().get(at).is_blocked() => {
                self.busy().get_mut(at).queue.push_back(Operation::Get(reply));
            }
            Ok((hash, busy)) => self.get_here(hash, key, busy, reply, context),
            Err(panic) => fail(reply, panic),
        }
    }

    /// Answers a get whose turn has come, or has it wait for a load.
    fn get_here(
        &mut self,
        hash: u64,
        key: Quiet<K>,
        busy: Option<usize>,
        reply: GetReply<V>,
        context: &mut Context<Self>,
    ) {
        match catch(|| self.known(hash, &key)) {
            Ok(Some(answer)) => {
                self.hits.raise();
                return reply.send(answer);
            }
            Ok(None) => self.misses.raise(),
            Err(panic) => return fail(reply, panic),
        }
        if self.parts.loader.is_none() {
            return reply.send(Ok(None));
        }
        let limit = self.parts.load_timeout;
        let busy = match busy {
            Some(at) => at,
            None => {
                let key = match catch(|| Quiet::new((*key).clone())) {
                    Ok(key) => key.into_inner(),
                    Err(panic) => return fail(reply, panic),
                };
                self.busy().insert(hash, key, UnderWay::default())
            }
        };
        match &mut self.busy().get_mut(busy).load {
            Some(Load { is_overdue: true, .. }) => {
                reply.send(Err(LoadError::TimedOut(limit.unwrap_or_default())));
            }
            Some(load) if load.is_current => load.waiters.push(reply),
            Some(load) => load.behind.push(reply),
            None => self.start_load(busy, key, reply, context),
        }
    }

    /// Returns what is known of a key. May panic before it changes anything but the order of use.
    #[inline]
    fn known(&mut self, hash: u64, key: &K) -> Option<Loaded<V>> {
        if let Some(at) = self.entries.find(hash, key) {
            let now = self.now();
            if !self.entries.is_over(at, now) {
                let answer = match self.entries.get(at) {
                    Known::Value(value) => Ok(Some((**value).clone())),
                    Known::Absent => Ok(None),
                    Known::Failed(error) => Err(error.clone()),
                };
                self.entries.touch(at, now);
                return Some(answer);
            }
            self.entries.expire(at);
        }
        match &self.parts.writing {
            Writing::Behind(queue) => queue.latest(hash, key).map(Ok),
            _ => None,
        }
    }

    pub(crate) fn get_cached(&mut self, key: K, reply: Reply<Option<V>>) {
        let key = Quiet::new(key);
        let known = self.locate(&key).and_then(|(hash, busy)| {
            if busy.is_some_and(|at| self.busy().get(at).is_blocked()) {
                return Ok(None);
            }
            catch(|| self.known(hash, &key))
        });
        match known {
            Ok(Some(Ok(Some(value)))) => {
                self.hits.raise();
                reply.send(Some(value));
            }
            Ok(_) => {
                self.misses.raise();
                reply.send(None);
            }
            Err(panic) => fail(reply, panic),
        }
    }

    // Loads.

    fn start_load(
        &mut self,
        at: usize,
        key: Quiet<K>,
        reply: GetReply<V>,
        context: &mut Context<Self>,
    ) {
        let load = Load::new(self.now(), reply);
        let number = load.number;
        self.busy().get_mut(at).load = Some(load);
        self.loads += 1;
        self.loading += 1;
        let (parts, cache) = (Arc::clone(&self.parts), context.weak());
        context.spawn(
            async move { run_load(parts, key, cache, (at, number)).await },
            move |cache, loaded, context| cache.loaded((at, number), loaded, context),
        );
    }

    /// Returns the load with this number, if it is under way.
    fn load(&mut self, (at, number): (usize, u64)) -> Option<&mut Load<V>> {
        self.busy().try_get_mut(at)?.load.as_mut().filter(|load| load.number == number)
    }

    /// Tells those who wait that a load takes too long. It goes on.
    fn is_overdue(&mut self, id: (usize, u64), limit: Duration) {
        let Some(load) = self.load(id) else { return };
        load.is_overdue = true;
        let waiters = std::mem::take(&mut load.waiters);
        let behind = std::mem::take(&mut load.behind);
        self.load_failures += 1;
        for reply in waiters.into_iter().chain(behind) {
            reply.send(Err(LoadError::TimedOut(limit)));
        }
    }

    fn loaded(&mut self, id: (usize, u64), loaded: Loaded<V>, context: &mut Context<Self>) {
        if self.load(id).is_none() {
            return;
        }
        let (at, _) = id;
        let loaded = Quiet::new(loaded);
        let under_way = self.busy().get_mut(at);
        under_way.release_behind();
        let Some(load) = under_way.load.take() else { return };
        self.loading -= 1;
        self.load_failures += u64::from(loaded.is_err() && !load.is_overdue);
        if load.is_current {
            self.keep_loaded(at, &loaded, load.since);
        }
        let mut waiters = load.waiters;
        let last = waiters.pop();
        for reply in waiters {
            match catch(|| (*loaded).clone()) {
                Ok(loaded) => reply.send(loaded),
                Err(panic) => fail(reply, panic),
            }
        }
        if let Some(reply) = last {
            reply.send(loaded.into_inner());
        }
        self.go_on(at, context);
    }

    fn keep_loaded(&mut self, at: usize, loaded: &Loaded<V>, since: Duration) {
        let keeps_failures = self.parts.bounds.negative_time_to_live.is_some();
        let weigher = self.parts.weigher.clone();
        let kept = catch(|| {
            let (hash, key) = self.busy().key(at);
            let key = Quiet::new(key.clone());
            let (known, weight) = match loaded {
                Ok(Some(value)) => {
                    let weight = weigher.map_or(0, |weigh| weigh(&key, value));
                    (Known::Value(Quiet::new(value.clone())), weight)
                }
                Ok(None) if keeps_failures => (Known::Absent, 1),
                Err(error) if keeps_failures => (Known::Failed(error.clone()), 1),
                _ => return None,
            };
            Some((hash, key, known, weight))
        });
        // What panics is not kept. It was reported.
        if let Ok(Some((hash, key, known, weight))) = kept {
            self.keep(hash, key, (known, weight), since);
        }
    }

    /// Keeps what is known of a key, in place of what was known before.
    fn keep(&mut self, hash: u64, key: Quiet<K>, known: (Known<V>, u64), since: Duration) {
        let now = self.now();
        if let Ok(before) = catch(|| self.entries.find(hash, &*key)) {
            self.entries.insert((hash, key.into_inner()), before, known, since, now);
        }
    }

    /// Has those have their turn who wait for something that has ended.
    fn go_on(&mut self, at: usize, context: &mut Context<Self>) {
        loop {
            let Some(under_way) = self.busy().try_get_mut(at) else { return };
            if under_way.is_waiting() {
                return;
            }
            let Some(operation) = under_way.queue.pop_front() else { break };
            let (hash, key) = self.busy().key(at);
            let key = catch(|| Quiet::new(key.clone()));
            match (operation, key) {
                (Operation::Get(reply), Ok(key)) => {
                    self.get_here(hash, key, Some(at), reply, context);
                }
                (Operation::Write(request), Ok(key)) => {
                    self.held_writes.remove(&request.number);
                    self.write_here(hash, key, Some(at), request, context);
                }
                (Operation::Invalidate(reply), Ok(key)) => {
                    match self.forget_here(hash, &key, Some(at)) {
                        Ok(()) => reply.send(()),
                        Err(panic) => fail(reply, panic),
                    }
                }
                (Operation::Get(reply), Err(panic)) => fail(reply, panic),
                (Operation::Write(request), Err(panic)) => {
                    self.held_writes.remove(&request.number);
                    fail(request.reply, panic);
                }
                (Operation::Invalidate(reply), Err(panic)) => fail(reply, panic),
            }
        }
        if self.busy().get(at).is_over() {
            drop(self.busy().remove(at));
        }
    }

    // Writes.

    pub(crate) fn write(
        &mut self,
        key: K,
        value: Option<V>,
        reply: WriteReply,
        context: &mut Context<Self>,
    ) {
        let (key, value) = (Quiet::new(key), Quiet::new(value));
        self.arrived += 1;
        let request = WriteRequest { number: self.arrived, value, reply };
        match self.locate(&key) {
            Ok((_, Some(at))) if self.busy().get(at).is_blocked() => {
                let Some(request) = self.may_hold(at, request) else { return };
                self.busy().get_mut(at).queue.push_back(Operation::Write(request));
            }
            Ok((hash, busy)) => self.write_here(hash, key, busy, request, context),
            Err(panic) => fail(request.reply, panic),
        }
    }

    /// Refuses a write behind if too many are held already; returns one that may wait.
    fn may_hold(&mut self, at: usize, request: WriteRequest<V>) -> Option<WriteRequest<V>> {
        let parts = Arc::clone(&self.parts);
        let Writing::Behind(queue) = &parts.writing else { return Some(request) };
        if self.held_writes.len() < queue.max_waiting() {
            self.held_writes.insert(request.number);
            return Some(request);
        }
        let WriteRequest { value, reply, .. } = request;
        if reply.is_wanted() {
            reply.send(Err(WriteError::Full));
        } else if let Ok(key) = catch(|| Quiet::new(self.busy().key(at).1.clone())) {
            let (key, value) = (key.into_inner(), value.into_inner());
            queue.lose(LostWrite { key, value, why: WriteError::Full });
        }
        None
    }

    /// Does a write whose turn has come.
    fn write_here(
        &mut self,
        hash: u64,
        key: Quiet<K>,
        busy: Option<usize>,
        WriteRequest { number, value, reply }: WriteRequest<V>,
        context: &mut Context<Self>,
    ) {
        // All that may panic comes first.
        let weigher = self.parts.weigher.clone();
        let prepared = catch(|| {
            let weigh = |value: &V| weigher.map_or(0, |weigh| weigh(&key, value));
            let weight = (*value).as_ref().map_or(1, weigh);
            let own_key = Quiet::new((*key).clone());
            let kept = (*value).clone().map(Quiet::new);
            (weight, own_key, kept, self.entries.find(hash, &*key))
        });
        let (weight, own_key, kept, before) = match prepared {
            Ok(prepared) => prepared,
            Err(panic) => return fail(reply, panic),
        };
        let since = self.now();
        let is_absence_kept = self.parts.bounds.negative_time_to_live.is_some();
        let known = match kept {
            Some(value) => Some((Known::Value(value), weight)),
            None => is_absence_kept.then_some((Known::Absent, weight)),
        };
        let write =
            Prepared { hash, key, value, kept: Kept { key: own_key, known, since }, before };
        let parts = Arc::clone(&self.parts);
        match &parts.writing {
            Writing::Nowhere => {
                self.settle(busy, write, context);
                reply.send(Ok(()));
            }
            Writing::Through { store, timeout } => {
                self.write_through(busy, write, (store, *timeout), reply, context);
            }
            Writing::Behind(queue) => {
                let Prepared { hash, key, value, kept, before } = write;
                let by = self.subscription.as_ref();
                match catch(|| write_behind(queue, by, (hash, &key), value)) {
                    Ok(Ok(())) => {
                        let value = Quiet::new(None);
                        self.settle(busy, Prepared { hash, key, value, kept, before }, context);
                        reply.send(Ok(()));
                    }
                    Ok(Err(value)) => {
                        let at = self.busy_at(hash, kept.key, busy);
                        self.wait_for_room(at, before, WriteRequest { number, value, reply });
                        self.go_on(at, context);
                    }
                    Err(panic) => fail(reply, panic),
                }
            }
        }
    }

    /// Returns where things are under way for a key, which may begin here.
    fn busy_at(&mut self, hash: u64, key: Quiet<K>, busy: Option<usize>) -> usize {
        busy.unwrap_or_else(|| self.busy().insert(hash, key.into_inner(), UnderWay::default()))
    }

    /// Keeps what was written, and nothing older.
    fn settle(&mut self, busy: Option<usize>, write: Prepared<K, V>, context: &mut Context<Self>) {
        let Prepared { hash, kept: Kept { key, known, since }, before, .. } = write;
        match known {
            Some(known) => {
                let now = self.now();
                self.entries.insert((hash, key.into_inner()), before, known, since, now);
            }
            None => before.into_iter().for_each(|before| self.entries.forget(before)),
        }
        if let Some(at) = busy {
            let under_way = self.busy().get_mut(at);
            under_way.supersede();
            // They may have this one.
            under_way.release_behind();
            self.go_on(at, context);
        }
    }

    fn write_through(
        &mut self,
        busy: Option<usize>,
        write: Prepared<K, V>,
        (store, timeout): (&Arc<dyn Store<K, V>>, Option<Duration>),
        reply: WriteReply,
        context: &mut Context<Self>,
    ) {
        let Prepared { hash, key, value, kept, before } = write;
        let own_keys = catch(|| [(); 2].map(|()| Quiet::new((*key).clone())));
        let [own_key, far_key] = match own_keys {
            Ok(own_keys) => own_keys,
            Err(panic) => return fail(reply, panic),
        };
        before.into_iter().for_each(|before| self.entries.forget(before));
        let at = self.busy_at(hash, own_key, busy);
        let under_way = self.busy().get_mut(at);
        under_way.supersede();
        let number = number();
        under_way.writing = Some(number);
        let flight = self.parts.flights.begin(number, context.id(), (hash, far_key));
        let (cache, store) = (context.address(), Arc::clone(store));
        drop(spawn_future(async move {
            let written = write_one(store, (key, value), timeout).await;
            let kept = if written.is_ok() { kept } else { Kept { known: None, ..kept } };
            let is_stored = written.is_ok();
            drop(flight);
            // What is done first comes before what the answer leads to.
            call_with(&cache, move |cache, context| {
                cache.wrote((at, number), hash, (kept, is_stored), context);
            });
            reply.send(written);
        }));
    }

    /// Takes note of what has become of a write through, of this state or of one before it.
    fn wrote(
        &mut self,
        (at, number): (usize, u64),
        hash: u64,
        (kept, is_stored): (Kept<K, V>, bool),
        context: &mut Context<Self>,
    ) {
        let count = if is_stored { &mut self.writes } else { &mut self.write_failures };
        *count += 1;
        let Some(at) = self.writing_at((at, number)) else {
            return self.forget(kept.key);
        };
        let under_way = self.busy().get_mut(at);
        under_way.writing = None;
        under_way.release_behind();
        if let Kept { key, known: Some(known), since } = kept {
            self.keep(hash, key, known, since);
        }
        self.go_on(at, context);
    }

    /// Returns where a write through is under way: elsewhere than it was begun, if this state has it from the one before.
    fn writing_at(&mut self, (at, number): (usize, u64)) -> Option<usize> {
        let at = self.adopted.remove(&number).unwrap_or(at);
        let under_way = self.busy().try_get(at)?;
        (under_way.writing == Some(number)).then_some(at)
    }

    fn wait_for_room(&mut self, at: usize, before: Option<usize>, request: WriteRequest<V>) {
        let Some(request) = self.may_hold(at, request) else { return };
        before.into_iter().for_each(|before| self.entries.forget(before));
        self.for_room.push_back(at);
        let under_way = self.busy().get_mut(at);
        under_way.supersede();
        under_way.waits_for_room = true;
        under_way.queue.push_front(Operation::Write(request));
    }

    /// Goes on with the writes that wait for room among the writes behind.
    fn has_room(&mut self, context: &mut Context<Self>) {
        for _ in 0..self.for_room.len() {
            let Some(at) = self.for_room.pop_front() else { break };
            self.busy().get_mut(at).waits_for_room = false;
            self.go_on(at, context);
            if self.busy().try_get_mut(at).is_some_and(|under_way| under_way.waits_for_room) {
                // It stays the first.
                self.for_room.rotate_right(1);
                break;
            }
        }
        self.release_flushes();
    }

    pub(crate) fn flush(&mut self, reply: WriteReply) {
        let Writing::Behind(queue) = &self.parts.writing else { return reply.send(Ok(())) };
        if self.held_writes.is_empty() {
            return queue.flush(reply);
        }
        // Those that wait for room were asked for before, and are not in the queue yet.
        queue.hurry();
        self.held_flushes.push_back((self.arrived, reply));
    }

    /// Leaves to the queue the flushes before which no write is held any more.
    fn release_flushes(&mut self) {
        let Writing::Behind(queue) = &self.parts.writing else { return };
        let first = self.held_writes.first().copied().unwrap_or(u64::MAX);
        while self.held_flushes.front().is_some_and(|(last, _)| *last < first) {
            self.held_flushes.pop_front().into_iter().for_each(|(_, reply)| queue.flush(reply));
        }
    }

    // Invalidation.

    pub(crate) fn invalidate(&mut self, key: K, reply: Reply<()>) {
        let key = Quiet::new(key);
        match self.locate(&key) {
            Ok((_, Some(at))) if self.busy().get(at).is_blocked() => {
                self.busy().get_mut(at).queue.push_back(Operation::Invalidate(reply));
            }
            Ok((hash, busy)) => match self.forget_here(hash, &key, busy) {
                Ok(()) => reply.send(()),
                Err(panic) => fail(reply, panic),
            },
            Err(panic) => fail(reply, panic),
        }
    }

    pub(crate) fn invalidate_all(&mut self) {
        self.entries.clear();
        let busy = self.busy();
        for at in busy.places().collect::<Vec<_>>() {
            let under_way = busy.get_mut(at);
            under_way.supersede();
            if under_way.is_blocked() {
                under_way.queue.push_back(Operation::Invalidate(Reply::unwanted()));
            }
        }
    }

    fn forget_here(&mut self, hash: u64, key: &K, busy: Option<usize>) -> Result<(), Broken> {
        if let Some(at) = catch(|| self.entries.find(hash, key))? {
            self.entries.forget(at);
        }
        if let Some(at) = busy {
            self.busy().get_mut(at).supersede();
        }
        Ok(())
    }

    /// Forgets a key whose value in the store is not known any more.
    fn forget(&mut self, key: Quiet<K>) {
        if let Ok((hash, busy)) = self.locate(&key) {
            // What panics was reported.
            let _ = self.forget_here(hash, &key, busy);
        }
    }
}

/// A write with what it needs of the program's code.
struct Prepared<K, V> {
    hash: u64,
    key: Quiet<K>,
    value: Quiet<Option<V>>,
    kept: Kept<K, V>,
    /// The entry of the key.
    before: Option<usize>,
}

/// What is kept of a write.
struct Kept<K, V> {
    key: Quiet<K>,
    known: Option<(Known<V>, u64)>,
    since: Duration,
}

async fn run_load<K: Key, V: Value>(
    parts: Arc<Parts<K, V>>,
    key: Quiet<K>,
    cache: WeakAddr<Cache<K, V>>,
    id: (usize, u64),
) -> Loaded<V> {
    let (limit, far) = (parts.load_timeout, Arc::clone(&parts));
    let Some(loader) = &parts.loader else { return Ok(None) };
    let mut load = Guarded::new(move || match &far.loader {
        Some(loader) => loader.load(key.into_inner()),
        None => Box::pin(async { Ok(None) }),
    });
    let loaded = match within(limit, &mut load).await {
        Ok(loaded) => loaded,
        Err(Unfinished::TimedOut(limit)) if loader.is_blocking => {
            if let Some(cache) = cache.upgrade() {
                call_with(&cache, move |cache, _| cache.is_overdue(id, limit));
            }
            load.await
        }
        Err(Unfinished::TimedOut(limit)) => return Err(LoadError::TimedOut(limit)),
        Err(Unfinished::Cancelled) => return Err(LoadError::Cancelled),
    };
    loaded.unwrap_or_else(|panic| Err(panic.into()))
}

async fn write_one<K: Key, V: Value>(
    store: Arc<dyn Store<K, V>>,
    (key, value): (Quiet<K>, Quiet<Option<V>>),
    timeout: Option<Duration>,
) -> Result<(), WriteError> {
    let mut write = Guarded::new(move || {
        store.write(vec![Write { key: key.into_inner(), value: value.into_inner() }])
    });
    match within(timeout, &mut write).await {
        Ok(Ok(Ok(()))) => Ok(()),
        Ok(Ok(Err(error))) => Err(WriteError::Failed(error.into_shared())),
        Ok(Err(panic)) => Err(panic.into()),
        Err(Unfinished::TimedOut(limit)) => Err(WriteError::TimedOut(limit)),
        Err(Unfinished::Cancelled) => Err(WriteError::Cancelled),
    }
}

fn fail<R: Send + 'static>(reply: Reply<R>, panic: Broken) {
    reply.fail(match panic {
        Broken::Panicked(message) => AskError::Panicked(message),
        _ => AskError::NoReply,
    });
}

impl<K: Key, V: Value> CacheSpec<K, V> {
    /// Makes the state of a cache, for [`actor`](coact_actor::actor::actor) or for the child of a supervisor.
    #[must_use]
    pub fn cache(&self) -> Cache<K, V> {
        Cache::new(Arc::clone(&self.0))
    }

    /// Spawns a cache in the current runtime, with the default settings of actors.
    pub fn spawn(&self) -> Addr<Cache<K, V>> {
        coact_actor::spawn(self.cache())
    }
}

impl<K: Key, V: Value> Drop for Cache<K, V> {
    /// Writes without an asker that have not got to the queue are lost.
    fn drop(&mut self) {
        self.end();
        let parts = Arc::clone(&self.parts);
        let Writing::Behind(queue) = &parts.writing else { return };
        for (key, under_way) in std::mem::take(self.busy()).into_entries() {
            let mut key = Some(key);
            for operation in under_way.queue.into_iter().rev() {
                let Operation::Write(WriteRequest { value, reply, .. }) = operation else {
                    continue;
                };
                // The one that came last stands for those before.
                if let (false, Some(key)) = (reply.is_wanted(), key.take()) {
                    let (key, value) = (key.into_inner(), value.into_inner());
                    queue.lose(LostWrite { key, value, why: WriteError::Cancelled });
                }
            }
        }
    }
}

impl<K: Key, V: Value> fmt::Debug for Cache<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cache").field("counts", &self.counts()).finish_non_exhaustive()
    }
}
