//! A dictionary, and those who look things up and write them down.

use std::collections::HashMap;

use coact::Context;
use coact::prelude::*;
use coact_bench_workloads::Finish;
use coact_bench_workloads::random::R16;
use coact_bench_workloads::work::lookups::Load;

#[derive(Actor)]
struct Dictionary {
    map: HashMap<u32, u32>,
}

#[handlers]
impl Dictionary {
    #[message]
    fn read(&self, key: u32) -> u32 {
        self.map.get(&key).copied().unwrap_or_default()
    }

    #[message]
    fn write(&mut self, key: u32, value: u32) -> u32 {
        self.map.insert(key, value);
        value
    }
}

#[derive(Actor)]
struct Worker {
    dictionary: Addr<Dictionary>,
    random: R16,
    load: Load,
    sum: u64,
    done: Finish,
}

#[handlers]
impl Worker {
    #[message]
    fn next(&mut self, context: &mut Context<Self>) {
        if self.load.messages == 0 {
            self.done.part(self.sum);
            return context.stop();
        }
        self.load.messages -= 1;
        let writes = self.random.below(100) < self.load.writes;
        let key = self.random.next();
        if writes {
            context.ask(&self.dictionary, Write { key, value: key }, Self::answered);
        } else {
            context.ask(&self.dictionary, Read { key }, Self::answered);
        }
    }

    fn answered(&mut self, value: Result<u32, AskError>, context: &mut Context<Self>) {
        self.sum += u64::from(value.unwrap_or_default());
        self.next(context);
    }
}

/// The map, as it is before the clock starts.
pub fn map() -> HashMap<u32, u32> {
    (0..65_536).map(|key| (key, key)).collect()
}

pub fn start(map: HashMap<u32, u32>, workers: u64, load: Load, done: Finish) {
    let dictionary = spawn(Dictionary { map });
    for number in 1..=workers as u32 {
        let (dictionary, done) = (dictionary.clone(), done.clone());
        let worker = Worker { dictionary, random: R16::new(number), load, sum: 0, done };
        let _ = spawn(worker).send(Next);
    }
}
