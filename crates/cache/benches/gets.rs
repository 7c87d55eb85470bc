//! Gets of cached values: by messages, by behaviours that read, and beside a mutex around an LRU.
//!
//! `cargo bench -p coact-cache --bench gets`, or `-- WAY GETS` for one way, to count its
//! instructions.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use coact::cache::{Cache, Caching, Get};
use coact::prelude::*;
use coact::{Context, call};
use lru::LruCache;

const KEYS: u64 = 10_000;
const ACTORS: usize = 4;

/// How an actor gets a value.
#[derive(Clone)]
enum Way {
    /// Asks a cache.
    Ask(Addr<Cache<u64, u64>>),
    /// Asks an actor that has one value.
    AskPlain(Addr<One>),
    /// Has a behaviour read a cache.
    Read(Addr<Cache<u64, u64>>),
    /// Locks a mutex, on the spot.
    Mutex(Arc<Mutex<LruCache<u64, u64>>>),
}

struct One(u64);
impl Actor for One {}

struct GetOne(u64);
impl Message for GetOne {
    type Reply = u64;
}
impl Handler<GetOne> for One {
    fn handle(&mut self, GetOne(key): GetOne, _: &mut Context<Self>) -> u64 {
        self.0 ^ key
    }
}

/// Gets one value after the other, each when the one before is there.
struct Reader {
    way: Way,
    key: u64,
    left: usize,
    done: Option<Reply<u64>>,
    sum: u64,
}
impl Actor for Reader {}

struct Run(usize);
impl Message for Run {
    type Reply = u64;
}
impl coact::actor::Receive<Run> for Reader {
    fn receive(&mut self, Run(gets): Run, reply: Reply<u64>, context: &mut Context<Self>) {
        self.left = gets;
        self.done = Some(reply);
        self.next(context);
    }
}

impl Reader {
    fn next(&mut self, context: &mut Context<Self>) {
        loop {
            if self.left == 0 {
                if let Some(done) = self.done.take() {
                    done.send(self.sum);
                }
                return;
            }
            self.left -= 1;
            let key = self.next_key();
            match &self.way {
                Way::Ask(cache) => {
                    return context.ask(&cache.clone(), Get::new(key), |reader, value, context| {
                        reader.sum += value.ok().and_then(Result::ok).flatten().unwrap_or(0);
                        reader.next(context);
                    });
                }
                Way::AskPlain(one) => {
                    return context.ask(&one.clone(), GetOne(key), |reader, value, context| {
                        reader.sum += value.unwrap_or(0);
                        reader.next(context);
                    });
                }
                Way::Read(cache) => {
                    let cache = cache.clone();
                    self.left += 1;
                    return self.read_next(cache, context.address());
                }
                Way::Mutex(cache) => {
                    let value = cache.lock().unwrap().get(&key).copied();
                    self.sum += value.unwrap_or(0);
                }
            }
        }
    }

    /// The same by behaviours, each of which is spawned by the one before.
    fn read_next(&mut self, cache: Addr<Cache<u64, u64>>, own: Addr<Self>) {
        if self.left == 0 {
            return self.done.take().into_iter().for_each(|done| done.send(self.sum));
        }
        self.left -= 1;
        let key = self.next_key();
        let read = call(cache.read(), move |cache| cache.cached(&key).copied());
        let this = own.clone();
        drop(read.then(&this, move |reader, value| {
            reader.sum += value.ok().flatten().unwrap_or(0);
            reader.read_next(cache, own);
        }));
    }

    fn next_key(&mut self) -> u64 {
        self.key = (self.key.wrapping_mul(6_364_136_223) + 1_442_695) % (1 << 40);
        self.key % KEYS
    }
}

const WAYS: [&str; 4] = ["ask", "plain", "read", "mutex"];

fn way(name: &str) -> Way {
    let cache = || {
        let cache = Cache::builder().max_entries(2 * KEYS as usize).build();
        let cache = cache.expect("it has a bound").spawn();
        (0..KEYS).for_each(|key| drop(cache.put(key, key)));
        cache
    };
    match name {
        "ask" => Way::Ask(cache()),
        "plain" => Way::AskPlain(spawn(One(7))),
        "read" => Way::Read(cache()),
        _ => {
            let size = NonZeroUsize::new(2 * KEYS as usize).expect("there are keys");
            let mut cache = LruCache::new(size);
            (0..KEYS).for_each(|key| _ = cache.put(key, key));
            Way::Mutex(Arc::new(Mutex::new(cache)))
        }
    }
}

fn run(name: &str, gets: usize) -> Duration {
    let runtime = Runtime::builder().workers(2).build().expect("the system has threads");
    runtime.run(|| {
        let way = way(name);
        let reader = |n| Reader { way: way.clone(), key: n, left: 0, done: None, sum: 0 };
        let readers: Vec<_> = (0..ACTORS as u64).map(|n| spawn(reader(n))).collect();
        let begun = Instant::now();
        let asked: Vec<_> = readers.iter().map(|reader| reader.ask(Run(gets / ACTORS))).collect();
        let sum: u64 = asked.into_iter().map(|asked| asked.wait().expect("it is answered")).sum();
        assert!(sum > 0, "all are hits");
        begun.elapsed()
    })
}

fn main() {
    let arguments: Vec<_> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    if let [way, gets] = &arguments[..] {
        run(way, gets.parse().expect("a number of gets"));
        return;
    }
    for way in WAYS {
        let gets = if way == "mutex" { 20_000_000 } else { 2_000_000 };
        let mut rates: Vec<_> =
            (0..5).map(|_| gets as f64 / run(way, gets).as_secs_f64() / 1e6).collect();
        rates.sort_by(f64::total_cmp);
        println!(
            "{way:6} {:7.2} million gets a second ({:.2} to {:.2})",
            rates[2], rates[0], rates[4]
        );
    }
}
