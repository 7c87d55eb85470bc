//! A producer and a counter.

use coact::Context;
use coact::prelude::*;
use coact_bench_workloads::Finish;

#[derive(Actor, Default)]
struct Counter {
    count: u64,
}

#[handlers(api = CounterApi)]
impl Counter {
    #[message]
    fn increment(&mut self) {
        self.count += 1;
    }

    #[message]
    fn count(&self) -> u64 {
        self.count
    }
}

#[derive(Actor)]
struct Producer {
    counter: Addr<Counter>,
    done: Finish,
}

#[handlers]
impl Producer {
    #[message]
    fn produce(&mut self, messages: u64, context: &mut Context<Self>) {
        for _ in 0..messages {
            let _ = self.counter.send(Increment);
        }
        context.ask(&self.counter, Count, |this, count, _| {
            this.done.part(count.unwrap_or_default());
        });
    }
}

pub fn start(messages: u64, done: Finish) {
    let producer = Producer { counter: spawn(Counter::default()), done };
    let _ = spawn(producer).send(Produce { messages });
}
