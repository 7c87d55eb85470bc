//! A driver of a cache's state whose loads and writes end when a test says so.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use coact_actor::actor::AskError;
use coact_actor::internals::reply_channel;
use coact_core::Promise;
use coact_core::internals::CatchDrop;

use super::super::{
    CacheCommand, CacheState, CacheTurn, EntryUpdate, LoadCommand, OperationId, QueueCommand,
    WriteCommand,
};
use super::key_versions::{KeyVersions, VersionStatus};
use crate::abort::AbortHandle;
use crate::builder::{CacheSettings, WriteMode};
use crate::errors::{LoadError, WriteError};
use crate::key_activity::{GetRequest, WriteReply};
use crate::write_queue::{QueueEvent, QueueSubscription, WriteQueue};
use crate::{Backing, BackingError, BoxError, Cache, Write, WriteBehind};

/// Something that happens to a cache. Loads and writes are counted from the oldest in flight.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Event {
    Get(u32),
    Put(u32),
    Remove(u32),
    Invalidate(u32),
    InvalidateAll,
    /// The store changes a key, and the cache is told.
    ChangeElsewhere(u32),
    /// The oldest get is not waited for any more.
    Abandon,
    EndLoad(usize),
    FailLoad(usize),
    EndWrite(usize),
    FailWrite(usize),
    /// The flusher takes the oldest write behind.
    TakeBatch,
    EndBatch,
    FailBatch,
    /// The cache learns that the write queue has room.
    DeliverRoom,
    Flush,
    /// A new state takes over.
    Restart,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum StoreMode {
    /// The store is read, and changed elsewhere.
    Elsewhere,
    /// Nothing is written to the store.
    EntriesAlone,
    Through,
    Behind,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct WorldSettings {
    pub(super) mode: StoreMode,
    pub(super) max_entries: usize,
    pub(super) keeps_absences: bool,
    pub(super) max_loads: Option<usize>,
}

const KEYS: usize = 3;
const MAX_WAITING: usize = 1;

/// Stands for a store whose work the world does itself.
pub(super) struct UnusedBacking;

impl Backing<u32, u64> for UnusedBacking {
    async fn load(&self, _: u32) -> Result<Option<u64>, BoxError> {
        unreachable!("the world loads")
    }

    async fn write(&self, _: Vec<Write<u32, u64>>) -> Result<(), BackingError> {
        unreachable!("the world writes")
    }
}

struct RunningLoad {
    id: OperationId,
    key: u32,
    /// What it has read, when it began.
    content: Option<u64>,
    abort: AbortHandle,
    is_aborted: bool,
    /// Whether something newer is known since it began.
    is_superseded: bool,
}

struct RunningWrite {
    id: OperationId,
    hash: u64,
    key: u32,
    version: usize,
    update: EntryUpdate<u32, u64>,
    reply: WriteReply,
}

/// The places of a batch in the write queue, and its writes.
type RunningBatch = (Vec<usize>, Vec<Write<u32, u64>>);
pub(super) type GetAnswer = Result<Result<Option<u64>, LoadError>, AskError>;
pub(super) type WriteAnswer = Result<Result<(), WriteError>, AskError>;

struct OpenGet {
    key: u32,
    /// How many versions the key had when the get came.
    arrival: usize,
    answer: Promise<GetAnswer>,
}

struct OpenWrite {
    key: u32,
    version: usize,
    answer: Promise<WriteAnswer>,
}

struct OpenFlush {
    /// How many versions each key had when the flush came.
    arrivals: [usize; KEYS],
    answer: Promise<WriteAnswer>,
}

pub(super) struct World {
    settings: WorldSettings,
    cache: Arc<CacheSettings<u32, u64>>,
    state: CacheState<u32, u64>,
    subscription: Option<QueueSubscription<u32, u64>>,
    versions: [KeyVersions; KEYS],
    next_value: u64,
    loads: Vec<RunningLoad>,
    writes: Vec<RunningWrite>,
    /// The version of a write through that was begun last, of each key.
    last_started: [usize; KEYS],
    gets: VecDeque<OpenGet>,
    open_writes: Vec<OpenWrite>,
    flushes: Vec<OpenFlush>,
    /// What the store behind the write queue has.
    stored_behind: [Option<u64>; KEYS],
    batch: Option<RunningBatch>,
    room_events: Arc<Mutex<usize>>,
    has_failed_load: bool,
    log: Vec<Event>,
}

impl World {
    pub(super) fn new(settings: WorldSettings) -> Self {
        let mut builder = Cache::builder().max_entries(settings.max_entries);
        if settings.keeps_absences {
            builder = builder.negative_time_to_live(Duration::from_secs(1));
        }
        if let Some(most) = settings.max_loads {
            builder = builder.max_loads(most);
        }
        let behind = WriteBehind::new().max_waiting(MAX_WAITING);
        let builder = match settings.mode {
            StoreMode::Elsewhere | StoreMode::EntriesAlone => builder.read_through(UnusedBacking),
            StoreMode::Through => builder.write_through(UnusedBacking),
            StoreMode::Behind => builder.write_behind(UnusedBacking, behind),
        };
        let cache = builder.build().expect("the settings are sound").0;
        let answers_requested = settings.mode == StoreMode::Behind;
        let mut world = Self {
            settings,
            state: CacheState::new(Arc::clone(&cache)),
            cache,
            subscription: None,
            versions: std::array::from_fn(|_| KeyVersions::new(answers_requested)),
            next_value: 1,
            loads: Vec::new(),
            writes: Vec::new(),
            last_started: [0; KEYS],
            gets: VecDeque::new(),
            open_writes: Vec::new(),
            flushes: Vec::new(),
            stored_behind: [None; KEYS],
            batch: None,
            room_events: Arc::default(),
            has_failed_load: false,
            log: Vec::new(),
        };
        if settings.mode == StoreMode::Behind {
            let rooms = Arc::clone(&world.room_events);
            let tell = move |event| match event {
                QueueEvent::Room => *rooms.lock().unwrap() += 1,
                QueueEvent::Lost(_) => unreachable!("the store refuses nothing"),
            };
            let subscription = world.queue().listen(Arc::new(tell));
            world.state.set_listener(subscription.listener());
            world.subscription = Some(subscription);
        }
        world
    }

    fn queue(&self) -> Arc<WriteQueue<u32, u64>> {
        match &self.cache.writing {
            WriteMode::Behind(queue) => Arc::clone(queue),
            _ => unreachable!("only writes behind have a queue"),
        }
    }

    /// Does what the event says. Returns false if it cannot happen now.
    pub(super) fn apply(&mut self, event: Event) -> bool {
        self.log.push(event);
        let happened = match event {
            Event::Get(key) => self.get(key),
            Event::Put(key) => {
                self.next_value += 1;
                self.write(key, Some(self.next_value))
            }
            Event::Remove(key) => self.write(key, None),
            Event::Invalidate(key) => self.invalidate(key),
            Event::InvalidateAll => {
                self.loads.iter_mut().for_each(|load| load.is_superseded = true);
                self.turn(CacheState::invalidate_all)
            }
            Event::ChangeElsewhere(key) => {
                self.next_value += 1;
                let content = Some(self.next_value);
                self.versions[key as usize].push(content, VersionStatus::Stored);
                self.invalidate(key)
            }
            Event::Abandon => self.gets.pop_front().is_some(),
            Event::EndLoad(at) => self.end_load(at, true),
            Event::FailLoad(at) => self.end_load(at, false),
            Event::EndWrite(at) => self.end_write(at, true),
            Event::FailWrite(at) => self.end_write(at, false),
            Event::TakeBatch => self.take_batch(),
            Event::EndBatch => self.end_batch(true),
            Event::FailBatch => self.end_batch(false),
            Event::DeliverRoom => self.deliver_room(),
            Event::Flush => self.flush(),
            Event::Restart => self.restart(),
        };
        self.collect_answers();
        let counts = self.state.counts();
        assert!(counts.entries <= self.settings.max_entries, "{:?}", self.log);
        assert_eq!(counts.loading, self.loads.len(), "{:?}", self.log);
        happened
    }

    /// Ends all that is in flight: then nothing waits any more, and each key has its newest value.
    pub(super) fn finish(&mut self) {
        loop {
            let ends = [
                Event::EndLoad(0),
                Event::EndWrite(0),
                Event::DeliverRoom,
                Event::EndBatch,
                Event::TakeBatch,
            ];
            if !ends.into_iter().any(|event| self.apply(event)) {
                break;
            }
        }
        assert!(self.gets.is_empty(), "a get waits: {:?}", self.log);
        assert!(self.open_writes.is_empty(), "a write waits: {:?}", self.log);
        assert!(self.flushes.is_empty(), "a flush waits: {:?}", self.log);
        assert!(self.state.activities().is_empty(), "an activity is left: {:?}", self.log);
        assert!(self.state.admitted_writes.is_empty(), "a write is held: {:?}", self.log);
        for key in 1..KEYS as u32 {
            self.get(key);
            if !self.loads.is_empty() {
                self.end_load(0, true);
            }
            self.collect_answers();
            assert!(self.gets.is_empty(), "{key} is not answered in the end: {:?}", self.log);
        }
    }

    fn turn(
        &mut self,
        event: impl FnOnce(&mut CacheState<u32, u64>, &mut CacheTurn<u32, u64>),
    ) -> bool {
        let mut turn = CacheTurn::new(Duration::ZERO);
        event(&mut self.state, &mut turn);
        turn.commands.into_iter().for_each(|command| self.execute(command));
        true
    }

    fn execute(&mut self, command: CacheCommand<u32, u64>) {
        match command {
            CacheCommand::AnswerGet(reply, answer) => reply.send(answer.unwrap()),
            CacheCommand::AnswerWrite(reply, answer) => {
                self.loads.iter_mut().for_each(|load| load.is_superseded = true);
                reply.send(answer.unwrap());
            }
            CacheCommand::AnswerInvalidation(reply, answer) => {
                self.loads.iter_mut().for_each(|load| load.is_superseded = true);
                let () = answer.unwrap();
                reply.send(());
            }
            CacheCommand::StartLoad(load) => self.start_load(load),
            CacheCommand::AbortLoad(handle) => {
                let load = self.loads.iter_mut().find(|load| load.abort.is(&handle));
                load.expect("it is in flight").is_aborted = true;
            }
            CacheCommand::ReportFailedRefresh(_) => {}
            CacheCommand::StartWrite(write) => self.start_write(write),
            // The world takes batches itself.
            CacheCommand::Queue(QueueCommand::Start | QueueCommand::Hurry) => {}
            CacheCommand::Queue(QueueCommand::Flush(reply)) => self.queue().flush(reply),
            CacheCommand::Queue(QueueCommand::ReportLost(_)) => {
                unreachable!("each write is waited for")
            }
        }
    }

    fn get(&mut self, key: u32) -> bool {
        let (reply, answer) = reply_channel();
        let arrival = self.versions[key as usize].len();
        self.gets.push_back(OpenGet { key, arrival, answer });
        let request = GetRequest { reply, load: None };
        let lookup = self.state.look_up(&key, Duration::ZERO).unwrap();
        self.turn(|state, turn| state.get(lookup, CatchDrop::new(key), request, turn))
    }

    fn write(&mut self, key: u32, value: Option<u64>) -> bool {
        let status = match self.settings.mode {
            StoreMode::EntriesAlone => VersionStatus::Stored,
            _ => VersionStatus::Requested,
        };
        let version = self.versions[key as usize].push(value, status);
        let (reply, answer) = reply_channel();
        self.open_writes.push(OpenWrite { key, version, answer });
        let (key, value) = (CatchDrop::new(key), CatchDrop::new(value));
        self.turn(|state, turn| state.write(key, value, reply, turn))
    }

    fn invalidate(&mut self, key: u32) -> bool {
        if self.settings.mode == StoreMode::EntriesAlone {
            self.versions[key as usize].push(None, VersionStatus::Stored);
        }
        let (reply, _) = reply_channel();
        self.turn(|state, turn| state.invalidate(&key, reply, turn))
    }

    fn flush(&mut self) -> bool {
        let (reply, answer) = reply_channel();
        let arrivals = std::array::from_fn(|key| self.versions[key].len());
        self.flushes.push(OpenFlush { arrivals, answer });
        self.turn(|state, turn| state.flush(reply, turn))
    }

    fn start_load(&mut self, load: LoadCommand<u32, u64>) {
        let key = *load.key;
        let others = || self.loads.iter().filter(|load| !load.is_aborted);
        assert!(
            !others().any(|other| other.key == key && !other.is_superseded),
            "two current loads of {key}: {:?}",
            self.log
        );
        let most = self.settings.max_loads.unwrap_or(usize::MAX);
        assert!(self.loads.len() < most, "too many loads: {:?}", self.log);
        let content = match self.settings.mode {
            StoreMode::EntriesAlone => None,
            StoreMode::Behind => self.stored_behind[key as usize],
            StoreMode::Elsewhere | StoreMode::Through => self.versions[key as usize].stored(),
        };
        let LoadCommand { id, abort, .. } = load;
        let (is_aborted, is_superseded) = (false, false);
        self.loads.push(RunningLoad { id, key, content, abort, is_aborted, is_superseded });
    }

    fn end_load(&mut self, at: usize, succeeds: bool) -> bool {
        if at >= self.loads.len() || (self.loads[at].is_aborted && !succeeds) {
            return false;
        }
        let load = self.loads.remove(at);
        self.has_failed_load |= !succeeds;
        let result = match succeeds {
            true => Ok(load.content),
            false => Err(LoadError::Failed(BoxError::from("the test says so").into())),
        };
        let result = (!load.is_aborted).then_some(result);
        self.turn(|state, turn| state.load_ended(load.id, result, turn))
    }

    fn start_write(&mut self, write: WriteCommand<u32, u64>) {
        let WriteCommand { id, hash, key, value, update, reply, .. } = write;
        let key = *key;
        let is_alone = self.writes.iter().all(|other| other.key != key);
        assert!(is_alone, "two writes of {key}: {:?}", self.log);
        let loads = self.loads.iter_mut().filter(|load| load.key == key);
        loads.for_each(|load| load.is_superseded = true);
        let last_started = &mut self.last_started[key as usize];
        let next = self.versions[key as usize].next_requested(*last_started);
        let (version, content) = next.expect("it was requested");
        assert_eq!(content, *value, "the writes of {key} are out of order: {:?}", self.log);
        *last_started = version;
        self.writes.push(RunningWrite { id, hash, key, version, update, reply });
    }

    fn end_write(&mut self, at: usize, succeeds: bool) -> bool {
        if at >= self.writes.len() {
            return false;
        }
        let RunningWrite { id, hash, key, version, mut update, reply } = self.writes.remove(at);
        let status = if succeeds { VersionStatus::Stored } else { VersionStatus::Failed };
        self.versions[key as usize].set_status(version, status);
        if !succeeds {
            update.entry = None;
        }
        self.turn(|state, turn| state.write_ended(id, hash, (update, succeeds), turn));
        reply.send(if succeeds { Ok(()) } else { Err(WriteError::Cancelled) });
        true
    }

    fn take_batch(&mut self) -> bool {
        if self.settings.mode != StoreMode::Behind || self.batch.is_some() {
            return false;
        }
        let batch = self.queue().take_batch(1);
        let has_writes = !batch.1.is_empty();
        self.batch = has_writes.then_some(batch);
        has_writes
    }

    fn end_batch(&mut self, succeeds: bool) -> bool {
        let Some((batch, writes)) = self.batch.take() else { return false };
        if !succeeds {
            self.queue().put_back(&batch);
            return true;
        }
        for Write { key, value } in writes {
            let stored = &mut self.stored_behind[key as usize];
            assert!(*stored < value, "the writes of {key} are out of order: {:?}", self.log);
            *stored = value;
        }
        self.queue().stored(&batch);
        true
    }

    fn deliver_room(&mut self) -> bool {
        let has_event = {
            let mut rooms = self.room_events.lock().unwrap();
            let has_event = *rooms > 0;
            *rooms = rooms.saturating_sub(1);
            has_event
        };
        has_event && self.turn(CacheState::room_freed)
    }

    fn restart(&mut self) -> bool {
        self.state = CacheState::new(Arc::clone(&self.cache));
        // They end with the state that began them.
        self.loads.clear();
        for write in &self.writes {
            self.state.adopt_write(write.id.number, write.hash, CatchDrop::new(write.key));
        }
        true
    }

    /// Checks the answers that came.
    fn collect_answers(&mut self) {
        for OpenGet { key, arrival, answer } in std::mem::take(&mut self.gets) {
            match answer.try_wait() {
                Ok(answer) => self.check_get(key, arrival, answer.unwrap()),
                Err(answer) => self.gets.push_back(OpenGet { key, arrival, answer }),
            }
        }
        for OpenWrite { key, version, answer } in std::mem::take(&mut self.open_writes) {
            match answer.try_wait() {
                Ok(answer) => self.check_write(key, version, answer.unwrap()),
                Err(answer) => self.open_writes.push(OpenWrite { key, version, answer }),
            }
        }
        for OpenFlush { arrivals, answer } in std::mem::take(&mut self.flushes) {
            match answer.try_wait() {
                Ok(answer) => {
                    assert!(matches!(answer, Ok(Ok(Ok(())))), "{answer:?}: {:?}", self.log);
                    let mut stored = self.versions.iter().zip(arrivals).zip(self.stored_behind);
                    let are_stored = stored.all(|((key, arrival), s)| key.allows(arrival, s));
                    assert!(are_stored, "a flush is answered early: {:?}", self.log);
                }
                Err(answer) => self.flushes.push(OpenFlush { arrivals, answer }),
            }
        }
    }

    fn check_get(&self, key: u32, arrival: usize, answer: GetAnswer) {
        let is_sound = match &answer {
            Ok(Ok(content)) => self.versions[key as usize].allows(arrival, *content),
            Ok(Err(LoadError::Failed(_))) => self.has_failed_load,
            Ok(Err(LoadError::Full(_))) => self.settings.max_loads.is_some(),
            Ok(Err(_)) => false,
            // Those who waited for a state that has ended are told.
            Err(_) => self.log.contains(&Event::Restart),
        };
        assert!(is_sound, "a get of {key} is answered {answer:?}: {:?}", self.log);
    }

    fn check_write(&mut self, key: u32, version: usize, answer: WriteAnswer) {
        let has_failed = match &answer {
            Ok(Ok(())) => false,
            Ok(Err(WriteError::Full)) => {
                assert_eq!(self.settings.mode, StoreMode::Behind, "{:?}", self.log);
                true
            }
            Ok(Err(_)) => {
                assert_eq!(self.settings.mode, StoreMode::Through, "{:?}", self.log);
                true
            }
            Err(_) => {
                assert!(self.log.contains(&Event::Restart), "{answer:?}: {:?}", self.log);
                true
            }
        };
        if has_failed {
            self.versions[key as usize].set_status(version, VersionStatus::Failed);
        } else if self.settings.mode == StoreMode::Through {
            let is_stored = self.versions[key as usize].is_stored(version);
            assert!(is_stored, "a write of {key} is answered early: {:?}", self.log);
        }
    }
}
