//! Many writes of one key, held until the write queue has room.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use coact_actor::internals::reply_channel;
use coact_core::Promise;
use coact_core::internals::CatchDrop;

use super::super::{CacheCommand, CacheState, CacheTurn, GetLookup};
use super::world::{GetAnswer, UnusedBacking, WriteAnswer};
use crate::builder::WriteMode;
use crate::key_activity::GetRequest;
use crate::write_queue::WriteQueue;
use crate::{Cache, WriteBehind};

const KEY: u32 = u32::MAX;

/// An answer that a request waits for.
enum ExpectedAnswer {
    Write(Promise<WriteAnswer>),
    Get(u64, Promise<GetAnswer>),
}

/// A state whose write queue is full, so that it holds writes.
struct FullCache {
    state: CacheState<u32, u64>,
    queue: Arc<WriteQueue<u32, u64>>,
    /// In the order of the requests.
    expected: VecDeque<ExpectedAnswer>,
}

impl FullCache {
    /// Makes a cache that holds up to this number of writes.
    fn new(max_held: u32) -> Self {
        let behind = WriteBehind::new().max_waiting(max_held as usize);
        let spec = Cache::builder().max_entries(10).write_behind(UnusedBacking, behind);
        let settings = spec.build().expect("the settings are sound").0;
        let WriteMode::Behind(queue) = &settings.writing else { unreachable!("it writes behind") };
        let queue = Arc::clone(queue);
        let state = CacheState::new(settings);
        let mut cache = Self { state, queue, expected: VecDeque::new() };
        (0..max_held).for_each(|key| cache.put(key, 0));
        assert!(cache.expected.is_empty(), "a write is held before the queue is full");
        cache
    }

    fn put(&mut self, key: u32, value: u64) {
        let (reply, answer) = reply_channel();
        self.expected.push_back(ExpectedAnswer::Write(answer));
        let (key, value) = (CatchDrop::new(key), CatchDrop::new(Some(value)));
        self.turn(|state, turn| state.write(key, value, reply, turn));
    }

    /// Gets the held key, which has this value by then.
    fn get(&mut self, value: u64) {
        let (reply, answer) = reply_channel();
        self.expected.push_back(ExpectedAnswer::Get(value, answer));
        let lookup = self.state.look_up(&KEY, Duration::ZERO).unwrap();
        assert!(matches!(lookup, GetLookup::Blocked(_)), "it does not wait for the writes");
        let request = GetRequest { reply, load: None };
        self.turn(|state, turn| state.get(lookup, CatchDrop::new(KEY), request, turn));
    }

    /// Stores one write, and tells the state of the room that it leaves.
    fn make_room(&mut self) {
        let (batch, writes) = self.queue.take_batch(1);
        assert_eq!(writes.len(), 1);
        self.queue.stored(&batch);
        self.turn(CacheState::room_freed);
    }

    /// Checks that the answers of a turn come in the order of the requests.
    fn turn(&mut self, event: impl FnOnce(&mut CacheState<u32, u64>, &mut CacheTurn<u32, u64>)) {
        let mut turn = CacheTurn::new(Duration::ZERO);
        event(&mut self.state, &mut turn);
        for command in turn.commands {
            match command {
                CacheCommand::AnswerWrite(reply, answer) => {
                    reply.send(answer.unwrap());
                    let Some(ExpectedAnswer::Write(answer)) = self.expected.pop_front() else {
                        panic!("a write is answered before a get in front of it");
                    };
                    let answer = answer.try_wait().expect("the oldest write is answered first");
                    assert!(matches!(answer, Ok(Ok(Ok(())))), "{answer:?}");
                }
                CacheCommand::AnswerGet(reply, answer) => {
                    reply.send(answer.unwrap());
                    let Some(ExpectedAnswer::Get(value, answer)) = self.expected.pop_front() else {
                        panic!("a get is answered before a write in front of it");
                    };
                    let answer = answer.try_wait().expect("the oldest get is answered first");
                    assert!(
                        matches!(answer, Ok(Ok(Ok(Some(seen)))) if seen == value),
                        "{answer:?}"
                    );
                }
                // The test takes batches itself.
                CacheCommand::Queue(_) => {}
                _ => unreachable!("it neither loads nor writes through"),
            }
        }
    }

    fn check_end(&mut self) {
        assert!(self.expected.is_empty(), "{} requests wait", self.expected.len());
        assert!(self.state.activities().is_empty(), "an activity is left");
        assert!(self.state.admitted_writes.is_empty(), "a write is held");
    }
}

#[test]
fn c8_held_requests_of_a_key_are_answered_in_order() {
    let mut cache = FullCache::new(5);
    for value in 1..=5 {
        cache.put(KEY, value);
        cache.get(value);
    }
    cache.make_room();
    cache.check_end();
}

/// The stack does not grow with the number of writes.
#[test]
fn c8_a_key_may_have_any_number_of_held_writes() {
    const HELD: u32 = 200_000;
    let resume_all = || {
        let mut cache = FullCache::new(HELD);
        (0..HELD).for_each(|value| cache.put(KEY, value.into()));
        assert_eq!(cache.expected.len(), HELD as usize);
        cache.make_room();
        cache.check_end();
    };
    let thread = std::thread::Builder::new().stack_size(256 * 1024).spawn(resume_all).unwrap();
    thread.join().expect("all writes are answered");
}
