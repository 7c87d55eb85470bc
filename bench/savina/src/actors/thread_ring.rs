//! One token round a ring. The ring is opened at the end, and falls apart.

use coact::prelude::*;
use coact_bench_workloads::Finish;

#[derive(Actor)]
struct Node {
    next: Option<Addr<Node>>,
    hops: u64,
    done: Finish,
}

#[handlers]
impl Node {
    #[message]
    fn close(&mut self, next: Addr<Node>) {
        self.next = Some(next);
    }

    #[message]
    fn token(&mut self, made: u64) {
        if made == self.hops {
            self.next = None;
            self.done.part(made);
        } else if let Some(next) = &self.next {
            let _ = next.send(Token { made: made + 1 });
        }
    }
}

pub fn start(actors: u64, hops: u64, done: Finish) {
    let node = |next| spawn(Node { next, hops, done: done.clone() });
    let last = node(None);
    let first = (1..actors).fold(last.clone(), |next, _| node(Some(next)));
    let _ = last.send(Close { next: first.clone() });
    let _ = first.send(Token { made: 0 });
}
