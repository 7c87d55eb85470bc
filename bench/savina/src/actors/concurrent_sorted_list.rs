//! A sorted list, and those who add to it and look into it.

use coact::Context;
use coact::prelude::*;
use coact_bench_workloads::Finish;
use coact_bench_workloads::random::R16;
use coact_bench_workloads::work::lookups::Load;

struct Node {
    value: u32,
    next: Option<Box<Node>>,
}

#[derive(Actor)]
struct List {
    first: Option<Box<Node>>,
    size: u32,
    workers: u64,
    done: Finish,
}

#[handlers]
impl List {
    #[message]
    fn add(&mut self, value: u32) -> u32 {
        let place = self.seek(value);
        let next = place.take();
        *place = Some(Box::new(Node { value, next }));
        self.size += 1;
        value
    }

    #[message]
    fn contains(&mut self, value: u32) -> u32 {
        let found = self.seek(value);
        u32::from(found.as_ref().is_some_and(|node| node.value == value))
    }

    #[message]
    fn size(&self) -> u32 {
        self.size
    }

    #[message]
    fn ended(&mut self) {
        self.workers -= 1;
        if self.workers == 0 {
            let nodes = std::iter::successors(self.first.as_deref(), |node| node.next.as_deref());
            let weighted = nodes.zip(1..).map(|(node, place)| place * u64::from(node.value));
            self.done.part(weighted.sum());
        }
    }

    /// Where the first node is that has no lesser value.
    fn seek(&mut self, value: u32) -> &mut Option<Box<Node>> {
        let mut place = &mut self.first;
        while place.as_ref().is_some_and(|node| node.value < value) {
            place = &mut place.as_mut().expect("there is a node").next;
        }
        place
    }
}

impl Drop for List {
    fn drop(&mut self) {
        // A list that drops its nodes in each other would need a deep stack.
        while let Some(node) = self.first.take() {
            self.first = node.next;
        }
    }
}

#[derive(Actor)]
struct Worker {
    list: Addr<List>,
    random: R16,
    load: Load,
}

#[handlers]
impl Worker {
    #[message]
    fn next(&mut self, context: &mut Context<Self>) {
        if self.load.messages == 0 {
            let _ = self.list.send(Ended);
            return context.stop();
        }
        self.load.messages -= 1;
        let Load { sizes, writes, .. } = self.load;
        match self.random.below(100) {
            r if r < sizes => context.ask(&self.list, Size, Self::answered),
            r => {
                let value = self.random.next();
                if r < sizes + writes {
                    context.ask(&self.list, Add { value }, Self::answered);
                } else {
                    context.ask(&self.list, Contains { value }, Self::answered);
                }
            }
        }
    }

    fn answered(&mut self, _: Result<u32, AskError>, context: &mut Context<Self>) {
        self.next(context);
    }
}

pub fn start(workers: u64, load: Load, done: Finish) {
    let list = spawn(List { first: None, size: 0, workers, done });
    for number in 1..=workers as u32 {
        let worker = Worker { list: list.clone(), random: R16::new(number), load };
        let _ = spawn(worker).send(Next);
    }
}
