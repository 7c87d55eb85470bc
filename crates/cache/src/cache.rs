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
use coact_core::internals::{CatchDrop, catch};
use coact_core::runtime::{RuntimeHandle, spawn_future};

use crate::backing::{CacheLoader, DynBacking, Key, LoadResult, OnceLoader, Value, Write};
use crate::catch_panic::{CatchPanic, WaitError, within};
use crate::counts::{CacheCounts, LookupCounter};
use crate::entry_table::{EntryContent, EntryTable, NewEntry};
use crate::errors::{LoadError, WriteError};
use crate::key_activity::{
    GetReply, GetRequest, KeyActivity, LoadInFlight, LoadKind, QueuedRequest, WriteReply,
    WriteRequest, next_number,
};
use crate::keyed_slab::KeyedSlab;
use crate::removal::RemovalCause;
use crate::spec::{CacheBuilder, CacheSettings, CacheSpec, EntryMeasure, WriteMode};
use crate::write_behind::LostWrite;
use crate::write_flusher::write_behind;
use crate::write_queue::{QueueEvent, QueueSubscription};

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
    parts: Arc<CacheSettings<K, V>>,
    entries: EntryTable<K, V>,
    /// Never locked: those who read a cache in parallel have nothing to do with it.
    activities: Mutex<KeyedSlab<K, KeyActivity<K, V>>>,
    /// Tells this cache of news of the writes behind.
    subscription: Option<QueueSubscription<K, V>>,
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
    hits: LookupCounter,
    misses: LookupCounter,
    loads: u64,
    refreshes: u64,
    load_failures: u64,
    refused_loads: u64,
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
            Some((at, EntryContent::Value(value))) => {
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
            refreshes: self.refreshes,
            load_failures: self.load_failures,
            refused_loads: self.refused_loads,
            writes: self.writes,
            write_failures: self.write_failures,
            loading: self.loading,
            ..CacheCounts::default()
        };
        self.entries.count(&mut counts);
        if let WriteMode::Behind(queue) = &self.parts.writing {
            queue.count(&mut counts);
        }
        counts
    }

    pub(crate) fn new(parts: Arc<CacheSettings<K, V>>) -> Self {
        Self {
            entries: EntryTable::new(Arc::clone(&parts.bounds), parts.listener.clone()),
            parts,
            activities: Mutex::default(),
            subscription: None,
            for_room: VecDeque::new(),
            held_writes: BTreeSet::new(),
            held_flushes: VecDeque::new(),
            adopted: HashMap::new(),
            arrived: 0,
            loading: 0,
            home: None,
            hits: LookupCounter::default(),
            misses: LookupCounter::default(),
            loads: 0,
            refreshes: 0,
            load_failures: 0,
            refused_loads: 0,
            writes: 0,
            write_failures: 0,
        }
    }

    pub(crate) fn begin(&mut self, id: ActorId, this: WeakAddr<Self>) {
        self.home = Some(RuntimeHandle::current());
        self.adopt_writes(id);
        let WriteMode::Behind(queue) = &self.parts.writing else { return };
        let tell = move |news| {
            let Some(cache) = this.upgrade() else { return };
            call_with(&cache, move |cache, context| match news {
                QueueEvent::Room => cache.has_room(context),
                QueueEvent::Lost(key) => cache.forget(key),
            });
        };
        self.subscription = Some(queue.listen(Arc::new(tell)));
    }

    /// Blocks the keys of which the state before this one has a write under way.
    fn adopt_writes(&mut self, id: ActorId) {
        for (number, hash, key) in self.parts.pending_writes.of(id) {
            // One at a time for a key.
            let at = self.activity_at(hash, key, None);
            self.activities().get_mut(at).writing = Some(number);
            self.adopted.insert(number, at);
        }
    }

    /// Has what waits be written without delay: this cache will write no more.
    pub(crate) fn end(&self) {
        if let WriteMode::Behind(queue) = &self.parts.writing {
            queue.hurry();
        }
    }

    /// Returns the time by which entries expire, if any do.
    #[inline]
    fn now(&self) -> Duration {
        if !self.parts.bounds.is_timed {
            return Duration::ZERO;
        }
        self.home.unwrap_or_else(RuntimeHandle::current).elapsed()
    }

    fn activities(&mut self) -> &mut KeyedSlab<K, KeyActivity<K, V>> {
        self.activities.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the hash of a key, and where things are under way for it.
    #[inline]
    fn locate(&mut self, key: &K) -> Result<(u64, Option<usize>), Broken> {
        catch(|| {
            let hash = self.parts.hasher.hash_one(key);
            let busy = self.activities();
            (hash, if busy.is_empty() { None } else { busy.find(hash, key) })
        })
    }

    // Gets.

    pub(crate) fn get(&mut self, key: K, reply: GetReply<V>, context: &mut Context<Self>) {
        let key = CatchDrop::new(key);
        match self.locate(&key) {
            Ok((_, Some(at))) if self.activities().get(at).is_blocked() => {
                let request = GetRequest { reply, load: None };
                self.activities().get_mut(at).queue.push_back(QueuedRequest::Get(request));
            }
            // A value that is there leads here, so this has nothing of loads.
            Ok((hash, busy)) => match self.answer(hash, &key, reply) {
                Answer::Given => {}
                Answer::RefreshDue => self.refresh(hash, key, busy, context),
                Answer::Missing(reply) => {
                    let request = GetRequest { reply, load: None };
                    self.load_for(hash, key, busy, request, context);
                }
            },
            Err(panic) => fail(reply, panic),
        }
    }

    pub(crate) fn get_with(
        &mut self,
        key: K,
        load: OnceLoader<K, V>,
        reply: GetReply<V>,
        context: &mut Context<Self>,
    ) {
        let (key, load) = (CatchDrop::new(key), Some(CatchDrop::new(load)));
        let request = GetRequest { reply, load };
        match self.locate(&key) {
            Ok((_, Some(at))) if self.activities().get(at).is_blocked() => {
                self.activities().get_mut(at).queue.push_back(QueuedRequest::Get(request));
            }
            Ok((hash, busy)) => self.get_here(hash, key, busy, request, context),
            Err(panic) => fail(request.reply, panic),
        }
    }

    /// Answers a get whose turn has come, or leaves it to a load.
    fn get_here(
        &mut self,
        hash: u64,
        key: CatchDrop<K>,
        busy: Option<usize>,
        GetRequest { reply, load }: GetRequest<K, V>,
        context: &mut Context<Self>,
    ) {
        match self.answer(hash, &key, reply) {
            Answer::Given => {}
            Answer::RefreshDue => self.refresh(hash, key, busy, context),
            Answer::Missing(reply) => {
                self.load_for(hash, key, busy, GetRequest { reply, load }, context);
            }
        }
    }

    /// Answers a get from what is known of its key.
    #[inline]
    fn answer(&mut self, hash: u64, key: &K, reply: GetReply<V>) -> Answer<V> {
        match catch(|| self.known(hash, key)) {
            Ok(Some(answer)) => {
                self.hits.raise();
                reply.send(answer);
                let refreshes = self.parts.bounds.refresh_after_write.is_some();
                if refreshes && self.is_refresh_due(hash, key) {
                    return Answer::RefreshDue;
                }
                Answer::Given
            }
            Ok(None) => {
                self.misses.raise();
                Answer::Missing(reply)
            }
            Err(panic) => {
                fail(reply, panic);
                Answer::Given
            }
        }
    }

    /// Whether the value of a key is to be loaded again ahead of its expiry.
    #[cold]
    fn is_refresh_due(&self, hash: u64, key: &K) -> bool {
        let found = catch(|| self.entries.find(hash, key));
        let now = self.now();
        // What panics was reported.
        found.ok().flatten().is_some_and(|at| self.entries.is_refresh_due(at, now))
    }

    /// Leaves a get to a load, which it begins or joins.
    fn load_for(
        &mut self,
        hash: u64,
        key: CatchDrop<K>,
        busy: Option<usize>,
        GetRequest { reply, load }: GetRequest<K, V>,
        context: &mut Context<Self>,
    ) {
        if load.is_none() && self.parts.loader.is_none() {
            return reply.send(Ok(None));
        }
        if let Some(at) = busy {
            let limit = self.parts.load_timeout;
            let activity = self.activities().get_mut(at);
            if activity.is_overdue() {
                return reply.send(Err(LoadError::TimedOut(limit.unwrap_or_default())));
            }
            if let Some(load) = &mut activity.load {
                return load.waiters.push(reply);
            }
        }
        if let Some(most) = self.is_full_of_loads() {
            self.refused_loads += 1;
            return reply.send(Err(LoadError::Full(most)));
        }
        let at = match busy {
            Some(at) => at,
            None => match catch(|| CatchDrop::new((*key).clone())) {
                Ok(own_key) => self.activity_at(hash, own_key, None),
                Err(panic) => return fail(reply, panic),
            },
        };
        self.start_load(at, key, load, Some(reply), context);
    }

    /// Returns what is known of a key. May panic before it changes anything but the order of use.
    #[inline]
    fn known(&mut self, hash: u64, key: &K) -> Option<LoadResult<V>> {
        if let Some(at) = self.entries.find(hash, key) {
            let now = self.now();
            if !self.entries.is_over(at, now) {
                let answer = match self.entries.get(at) {
                    EntryContent::Value(value) => Ok(Some((**value).clone())),
                    EntryContent::Absent => Ok(None),
                    EntryContent::Failed(error) => Err(error.clone()),
                };
                self.entries.touch(at, now);
                return Some(answer);
            }
            self.entries.expire(at);
        }
        match &self.parts.writing {
            WriteMode::Behind(queue) => queue.latest(hash, key).map(Ok),
            _ => None,
        }
    }

    pub(crate) fn get_cached(&mut self, key: K, reply: Reply<Option<V>>) {
        let key = CatchDrop::new(key);
        let known = self.locate(&key).and_then(|(hash, busy)| {
            if busy.is_some_and(|at| self.activities().get(at).is_blocked()) {
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

    /// Returns the bound on loads if as many are under way.
    fn is_full_of_loads(&self) -> Option<usize> {
        self.parts.max_loads.filter(|most| self.loading >= *most)
    }

    /// Begins a load of a key that has no current one.
    fn start_load(
        &mut self,
        at: usize,
        key: CatchDrop<K>,
        once: Option<CatchDrop<OnceLoader<K, V>>>,
        asker: Option<GetReply<V>>,
        context: &mut Context<Self>,
    ) {
        let is_blocking =
            once.is_none() && self.parts.loader.as_ref().is_some_and(CacheLoader::blocks);
        let kind = if is_blocking { LoadKind::Blocking } else { LoadKind::Future };
        let now = self.now();
        let (number, abort) = self.activities().get_mut(at).begin_load(now, kind, asker);
        self.loads += 1;
        self.loading += 1;
        let (parts, cache) = (Arc::clone(&self.parts), context.weak());
        context.spawn(
            async move { abort.run(run_load(parts, (key, once), cache, (at, number))).await },
            move |cache, loaded, context| cache.loaded((at, number), loaded, context),
        );
    }

    /// Loads a value again that was just used, unless something newer is under way.
    fn refresh(
        &mut self,
        hash: u64,
        key: CatchDrop<K>,
        busy: Option<usize>,
        context: &mut Context<Self>,
    ) {
        let is_loading = busy.is_some_and(|at| {
            let activity = self.activities().get(at);
            activity.load.is_some() || activity.is_overdue()
        });
        if is_loading || self.is_full_of_loads().is_some() {
            return;
        }
        let own_key = catch(|| {
            // What waits to be stored is newer than what the store has.
            let is_stored = match &self.parts.writing {
                WriteMode::Behind(queue) => !queue.has_pending(hash, &key),
                _ => true,
            };
            is_stored.then(|| CatchDrop::new((*key).clone()))
        });
        // What panics was reported.
        let Ok(Some(own_key)) = own_key else { return };
        let at = self.activity_at(hash, own_key, busy);
        self.refreshes += 1;
        self.start_load(at, key, None, None, context);
    }

    /// Returns the load with this number, if it is under way and not aborted.
    fn load(&mut self, (at, number): (usize, u64)) -> Option<&mut LoadInFlight<V>> {
        self.activities().try_get_mut(at)?.load_mut(number)
    }

    /// Tells those who wait that a load takes too long. It goes on.
    fn is_overdue(&mut self, id: (usize, u64), limit: Duration) {
        let Some(load) = self.load(id) else { return };
        load.is_overdue = true;
        let waiters = std::mem::take(&mut load.waiters);
        self.load_failures += 1;
        for reply in waiters {
            reply.send(Err(LoadError::TimedOut(limit)));
        }
    }

    /// Answers those who wait for a load that has ended, or was aborted.
    fn loaded(
        &mut self,
        (at, number): (usize, u64),
        loaded: Option<LoadResult<V>>,
        context: &mut Context<Self>,
    ) {
        self.loading -= 1;
        let Some(loaded) = loaded.map(CatchDrop::new) else { return };
        let Some(activity) = self.activities().try_get_mut(at) else { return };
        let Some((load, is_current)) = activity.take_load(number) else { return };
        if let (Err(why), false) = (&*loaded, load.is_overdue) {
            self.load_failures += 1;
            if is_current && load.waiters.is_empty() {
                tracing::warn!(%why, "a value of a cache could not be loaded ahead of its expiry");
            }
        }
        if is_current {
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

    fn keep_loaded(&mut self, at: usize, loaded: &LoadResult<V>, since: Duration) {
        let keeps_failures = self.parts.bounds.negative_time_to_live.is_some();
        let (parts, now) = (Arc::clone(&self.parts), self.now());
        let kept = catch(|| {
            let (hash, key) = self.activities().key(at);
            let key = CatchDrop::new(key.clone());
            let before = self.entries.find(hash, &*key);
            let entry = |known, EntryMeasure { weight, time_to_live }| {
                Some(NewEntry { known, weight, time_to_live })
            };
            let negative = EntryMeasure { weight: 1, time_to_live: None };
            let entry = match loaded {
                Ok(Some(value)) => {
                    let measure = parts.measure(&key, value);
                    entry(EntryContent::Value(CatchDrop::new(value.clone())), measure)
                }
                Ok(None) if keeps_failures => entry(EntryContent::Absent, negative),
                Ok(None) => None,
                // A refresh that fails changes nothing.
                Err(_) if before.is_some_and(|before| self.entries.is_usable(before, now)) => {
                    return None;
                }
                Err(error) if keeps_failures => {
                    entry(EntryContent::Failed(error.clone()), negative)
                }
                Err(_) => return None,
            };
            Some((hash, key, before, entry))
        });
        // What panics is not kept. It was reported.
        match kept {
            Ok(Some((hash, key, before, Some(entry)))) => {
                self.entries.insert((hash, key), before, entry, since, now);
            }
            Ok(Some((_, _, Some(before), None))) => {
                self.entries.forget(before, RemovalCause::Explicit);
            }
            _ => {}
        }
    }

    /// Goes on with what waits for something of its key that has ended.
    fn go_on(&mut self, at: usize, context: &mut Context<Self>) {
        loop {
            let Some(activity) = self.activities().try_get_mut(at) else { return };
            if activity.is_waiting() {
                return;
            }
            let Some(operation) = activity.queue.pop_front() else { break };
            let (hash, key) = self.activities().key(at);
            let key = catch(|| CatchDrop::new(key.clone()));
            match (operation, key) {
                (QueuedRequest::Get(request), Ok(key)) => {
                    self.get_here(hash, key, Some(at), request, context);
                }
                (QueuedRequest::Write(request), Ok(key)) => {
                    self.held_writes.remove(&request.number);
                    self.write_here(hash, key, Some(at), request, context);
                }
                (QueuedRequest::Invalidate(reply), Ok(key)) => {
                    match self.forget_here(hash, &key, Some(at)) {
                        Ok(()) => reply.send(()),
                        Err(panic) => fail(reply, panic),
                    }
                }
                (QueuedRequest::Get(request), Err(panic)) => fail(request.reply, panic),
                (QueuedRequest::Write(request), Err(panic)) => {
                    self.held_writes.remove(&request.number);
                    fail(request.reply, panic);
                }
                (QueuedRequest::Invalidate(reply), Err(panic)) => fail(reply, panic),
            }
        }
        self.drop_if_over(at);
    }

    // Writes.

    pub(crate) fn write(
        &mut self,
        key: K,
        value: Option<V>,
        reply: WriteReply,
        context: &mut Context<Self>,
    ) {
        let (key, value) = (CatchDrop::new(key), CatchDrop::new(value));
        self.arrived += 1;
        let request = WriteRequest { number: self.arrived, value, reply };
        match self.locate(&key) {
            Ok((_, Some(at))) if self.activities().get(at).is_blocked() => {
                let Some(request) = self.may_hold(at, request) else { return };
                self.activities().get_mut(at).queue.push_back(QueuedRequest::Write(request));
            }
            Ok((hash, busy)) => self.write_here(hash, key, busy, request, context),
            Err(panic) => fail(request.reply, panic),
        }
    }

    /// Refuses a write behind if too many are held already; returns one that may wait.
    fn may_hold(&mut self, at: usize, request: WriteRequest<V>) -> Option<WriteRequest<V>> {
        let parts = Arc::clone(&self.parts);
        let WriteMode::Behind(queue) = &parts.writing else { return Some(request) };
        if self.held_writes.len() < queue.max_waiting() {
            self.held_writes.insert(request.number);
            return Some(request);
        }
        let WriteRequest { value, reply, .. } = request;
        if reply.is_wanted() {
            reply.send(Err(WriteError::Full));
        } else if let Ok(key) = catch(|| CatchDrop::new(self.activities().key(at).1.clone())) {
            let (key, value) = (key.into_inner(), value.into_inner());
            queue.lose(LostWrite { key, value, why: WriteError::Full });
        }
        None
    }

    /// Does a write whose turn has come.
    fn write_here(
        &mut self,
        hash: u64,
        key: CatchDrop<K>,
        busy: Option<usize>,
        WriteRequest { number, value, reply }: WriteRequest<V>,
        context: &mut Context<Self>,
    ) {
        // All that may panic comes first.
        let parts = Arc::clone(&self.parts);
        let prepared = catch(|| {
            let absence = EntryMeasure { weight: 1, time_to_live: None };
            let measure = (*value).as_ref().map_or(absence, |value| parts.measure(&key, value));
            let own_key = CatchDrop::new((*key).clone());
            let kept = (*value).clone().map(CatchDrop::new);
            (measure, own_key, kept, self.entries.find(hash, &*key))
        });
        let (measure, own_key, kept, before) = match prepared {
            Ok(prepared) => prepared,
            Err(panic) => return fail(reply, panic),
        };
        let since = self.now();
        let is_absence_kept = parts.bounds.negative_time_to_live.is_some();
        let known = match kept {
            Some(value) => Some(EntryContent::Value(value)),
            None => is_absence_kept.then_some(EntryContent::Absent),
        };
        let EntryMeasure { weight, time_to_live } = measure;
        let entry = known.map(|known| NewEntry { known, weight, time_to_live });
        let write = PreparedWrite {
            hash,
            key,
            value,
            kept: EntryUpdate { key: own_key, entry, since },
            before,
        };
        match &parts.writing {
            WriteMode::Nowhere => {
                self.settle(busy, write, context);
                reply.send(Ok(()));
            }
            WriteMode::Through { store, timeout } => {
                self.write_through(busy, write, (store, *timeout), reply, context);
            }
            WriteMode::Behind(queue) => {
                let PreparedWrite { hash, key, value, kept, before } = write;
                let by = self.subscription.as_ref();
                match catch(|| write_behind(queue, by, (hash, &key), value)) {
                    Ok(Ok(())) => {
                        let value = CatchDrop::new(None);
                        self.settle(
                            busy,
                            PreparedWrite { hash, key, value, kept, before },
                            context,
                        );
                        reply.send(Ok(()));
                    }
                    Ok(Err(value)) => {
                        let at = self.activity_at(hash, kept.key, busy);
                        self.wait_for_room(at, before, WriteRequest { number, value, reply });
                        self.go_on(at, context);
                    }
                    Err(panic) => fail(reply, panic),
                }
            }
        }
    }

    /// Returns where things are under way for a key, which may begin here.
    fn activity_at(&mut self, hash: u64, key: CatchDrop<K>, busy: Option<usize>) -> usize {
        busy.unwrap_or_else(|| {
            self.activities().insert(hash, key.into_inner(), KeyActivity::default())
        })
    }

    /// Keeps what was written, and nothing older.
    fn settle(
        &mut self,
        busy: Option<usize>,
        write: PreparedWrite<K, V>,
        context: &mut Context<Self>,
    ) {
        let PreparedWrite { hash, kept: EntryUpdate { key, entry, since }, before, .. } = write;
        let is_value = entry.as_ref().is_some_and(NewEntry::is_value);
        let is_kept = match entry {
            Some(entry) => {
                let now = self.now();
                self.entries.insert((hash, key), before, entry, since, now)
            }
            None => {
                let cause = RemovalCause::Explicit;
                before.into_iter().for_each(|before| self.entries.forget(before, cause));
                false
            }
        };
        if let Some(at) = busy {
            let activity = self.activities().get_mut(at);
            if is_value && is_kept {
                activity.release_beside();
            }
            activity.supersede();
            self.go_on(at, context);
        }
    }

    fn write_through(
        &mut self,
        busy: Option<usize>,
        write: PreparedWrite<K, V>,
        (store, timeout): (&Arc<dyn DynBacking<K, V>>, Option<Duration>),
        reply: WriteReply,
        context: &mut Context<Self>,
    ) {
        let PreparedWrite { hash, key, value, kept, before } = write;
        let own_keys = catch(|| [(); 2].map(|()| CatchDrop::new((*key).clone())));
        let [own_key, far_key] = match own_keys {
            Ok(own_keys) => own_keys,
            Err(panic) => return fail(reply, panic),
        };
        self.forget_before(before, value.is_some());
        let at = self.activity_at(hash, own_key, busy);
        let activity = self.activities().get_mut(at);
        activity.supersede();
        let number = next_number();
        activity.writing = Some(number);
        let flight = self.parts.pending_writes.begin(number, context.id(), (hash, far_key));
        let (cache, store) = (context.address(), Arc::clone(store));
        drop(spawn_future(async move {
            let written = write_one(store, (key, value), timeout).await;
            let kept = if written.is_ok() { kept } else { EntryUpdate { entry: None, ..kept } };
            let is_stored = written.is_ok();
            drop(flight);
            // What is done first comes before what the answer leads to.
            call_with(&cache, move |cache, context| {
                cache.wrote((at, number), hash, (kept, is_stored), context);
            });
            reply.send(written);
        }));
    }

    /// Keeps what was written through, by this state or by one before it, unless that has failed.
    fn wrote(
        &mut self,
        (at, number): (usize, u64),
        hash: u64,
        (kept, is_stored): (EntryUpdate<K, V>, bool),
        context: &mut Context<Self>,
    ) {
        let count = if is_stored { &mut self.writes } else { &mut self.write_failures };
        *count += 1;
        let Some(at) = self.writing_at((at, number)) else {
            return self.forget(kept.key);
        };
        self.activities().get_mut(at).writing = None;
        if let EntryUpdate { key, entry: Some(entry), since } = kept {
            let (now, is_value) = (self.now(), entry.is_value());
            if let Ok(before) = catch(|| self.entries.find(hash, &*key)) {
                let is_kept = self.entries.insert((hash, key), before, entry, since, now);
                if is_value && is_kept {
                    let activity = self.activities().get_mut(at);
                    activity.release_beside();
                    activity.supersede();
                }
            }
        }
        self.go_on(at, context);
    }

    /// Returns where a write through is under way: elsewhere than it was begun, if this state has it from the one before.
    fn writing_at(&mut self, (at, number): (usize, u64)) -> Option<usize> {
        let at = self.adopted.remove(&number).unwrap_or(at);
        let activity = self.activities().try_get(at)?;
        (activity.writing == Some(number)).then_some(at)
    }

    /// Drops an entry while another value of its key, or its removal, is being written.
    fn forget_before(&mut self, before: Option<usize>, is_value: bool) {
        let cause = if is_value { RemovalCause::Replaced } else { RemovalCause::Explicit };
        before.into_iter().for_each(|before| self.entries.forget(before, cause));
    }

    fn wait_for_room(&mut self, at: usize, before: Option<usize>, request: WriteRequest<V>) {
        let Some(request) = self.may_hold(at, request) else { return };
        self.forget_before(before, request.value.is_some());
        self.for_room.push_back(at);
        let activity = self.activities().get_mut(at);
        activity.supersede();
        activity.waits_for_room = true;
        activity.queue.push_front(QueuedRequest::Write(request));
    }

    /// Goes on with the writes that wait for room among the writes behind.
    fn has_room(&mut self, context: &mut Context<Self>) {
        for _ in 0..self.for_room.len() {
            let Some(at) = self.for_room.pop_front() else { break };
            self.activities().get_mut(at).waits_for_room = false;
            self.go_on(at, context);
            if self.activities().try_get_mut(at).is_some_and(|activity| activity.waits_for_room) {
                // It stays the first.
                self.for_room.rotate_right(1);
                break;
            }
        }
        self.release_flushes();
    }

    pub(crate) fn flush(&mut self, reply: WriteReply) {
        let WriteMode::Behind(queue) = &self.parts.writing else { return reply.send(Ok(())) };
        if self.held_writes.is_empty() {
            return queue.flush(reply);
        }
        // Those that wait for room were asked for before, and are not in the queue yet.
        queue.hurry();
        self.held_flushes.push_back((self.arrived, reply));
    }

    /// Leaves to the queue the flushes before which no write is held any more.
    fn release_flushes(&mut self) {
        let WriteMode::Behind(queue) = &self.parts.writing else { return };
        let first = self.held_writes.first().copied().unwrap_or(u64::MAX);
        while self.held_flushes.front().is_some_and(|(last, _)| *last < first) {
            self.held_flushes.pop_front().into_iter().for_each(|(_, reply)| queue.flush(reply));
        }
    }

    // Invalidation.

    pub(crate) fn invalidate(&mut self, key: K, reply: Reply<()>) {
        let key = CatchDrop::new(key);
        match self.locate(&key) {
            Ok((_, Some(at))) if self.activities().get(at).is_blocked() => {
                self.activities().get_mut(at).queue.push_back(QueuedRequest::Invalidate(reply));
            }
            Ok((hash, busy)) => {
                let forgotten = self.forget_here(hash, &key, busy);
                busy.into_iter().for_each(|at| self.drop_if_over(at));
                match forgotten {
                    Ok(()) => reply.send(()),
                    Err(panic) => fail(reply, panic),
                }
            }
            Err(panic) => fail(reply, panic),
        }
    }

    pub(crate) fn invalidate_all(&mut self) {
        self.entries.clear();
        for at in self.activities().places().collect::<Vec<_>>() {
            let activity = self.activities().get_mut(at);
            activity.supersede();
            if activity.is_blocked() {
                activity.queue.push_back(QueuedRequest::Invalidate(Reply::unwanted()));
            }
            self.drop_if_over(at);
        }
    }

    fn forget_here(&mut self, hash: u64, key: &K, busy: Option<usize>) -> Result<(), Broken> {
        if let Some(at) = catch(|| self.entries.find(hash, key))? {
            self.entries.forget(at, RemovalCause::Explicit);
        }
        if let Some(at) = busy {
            self.activities().get_mut(at).supersede();
        }
        Ok(())
    }

    /// Drops the place of a key for which nothing is under way any more.
    fn drop_if_over(&mut self, at: usize) {
        if self.activities().try_get(at).is_some_and(KeyActivity::is_over) {
            drop(self.activities().remove(at));
        }
    }

    /// Forgets a key whose value in the store is not known any more.
    fn forget(&mut self, key: CatchDrop<K>) {
        if let Ok((hash, busy)) = self.locate(&key) {
            // What panics was reported.
            let _ = self.forget_here(hash, &key, busy);
            busy.into_iter().for_each(|at| self.drop_if_over(at));
        }
    }
}

/// What has become of a get.
enum Answer<V: Value> {
    Given,
    /// It is given, and the value is to be loaded again.
    RefreshDue,
    /// Nothing is known of the key.
    Missing(GetReply<V>),
}

/// A write with what it needs of the program's code.
struct PreparedWrite<K, V> {
    hash: u64,
    key: CatchDrop<K>,
    value: CatchDrop<Option<V>>,
    kept: EntryUpdate<K, V>,
    /// The entry of the key.
    before: Option<usize>,
}

/// What is kept of a write.
struct EntryUpdate<K, V> {
    key: CatchDrop<K>,
    entry: Option<NewEntry<V>>,
    since: Duration,
}

async fn run_load<K: Key, V: Value>(
    parts: Arc<CacheSettings<K, V>>,
    (key, once): (CatchDrop<K>, Option<CatchDrop<OnceLoader<K, V>>>),
    cache: WeakAddr<Cache<K, V>>,
    id: (usize, u64),
) -> LoadResult<V> {
    let limit = parts.load_timeout;
    let is_blocking = once.is_none() && parts.loader.as_ref().is_some_and(CacheLoader::blocks);
    let mut load = CatchPanic::new(move || match (once, &parts.loader) {
        (Some(once), _) => once.into_inner()(key.into_inner()),
        (None, Some(loader)) => loader.load(key.into_inner()),
        (None, None) => Box::pin(async { Ok(None) }),
    });
    let loaded = match within(limit, &mut load).await {
        Ok(loaded) => loaded,
        Err(WaitError::TimedOut(limit)) if is_blocking => {
            if let Some(cache) = cache.upgrade() {
                call_with(&cache, move |cache, _| cache.is_overdue(id, limit));
            }
            load.await
        }
        Err(WaitError::TimedOut(limit)) => return Err(LoadError::TimedOut(limit)),
        Err(WaitError::Cancelled) => return Err(LoadError::Cancelled),
    };
    loaded.unwrap_or_else(|panic| Err(panic.into()))
}

async fn write_one<K: Key, V: Value>(
    store: Arc<dyn DynBacking<K, V>>,
    (key, value): (CatchDrop<K>, CatchDrop<Option<V>>),
    timeout: Option<Duration>,
) -> Result<(), WriteError> {
    let mut write = CatchPanic::new(move || {
        store.write(vec![Write { key: key.into_inner(), value: value.into_inner() }])
    });
    match within(timeout, &mut write).await {
        Ok(Ok(Ok(()))) => Ok(()),
        Ok(Ok(Err(error))) => Err(WriteError::Failed(error.into_shared())),
        Ok(Err(panic)) => Err(panic.into()),
        Err(WaitError::TimedOut(limit)) => Err(WriteError::TimedOut(limit)),
        Err(WaitError::Cancelled) => Err(WriteError::Cancelled),
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
        let WriteMode::Behind(queue) = &parts.writing else { return };
        for (key, activity) in std::mem::take(self.activities()).into_entries() {
            let mut key = Some(key);
            for operation in activity.queue.into_iter().rev() {
                let QueuedRequest::Write(WriteRequest { value, reply, .. }) = operation else {
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
