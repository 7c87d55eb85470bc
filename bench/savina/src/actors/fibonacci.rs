//! An actor a call; it answers its parent and ends.

use coact::Context;
use coact::prelude::*;
use coact_bench_workloads::Finish;

#[derive(Actor)]
struct Call {
    parent: Parent,
    sum: u64,
    missing: u32,
}

enum Parent {
    Call(Addr<Call>),
    Root(Finish),
}

#[handlers]
impl Call {
    #[message]
    fn request(&mut self, n: u64, context: &mut Context<Self>) {
        if n <= 2 {
            return self.answer(1);
        }
        for n in [n - 1, n - 2] {
            let parent = Parent::Call(context.address());
            let _ = spawn(Call { parent, sum: 0, missing: 2 }).send(Request { n });
        }
    }

    #[message]
    fn response(&mut self, value: u64) {
        self.sum += value;
        self.missing -= 1;
        if self.missing == 0 {
            self.answer(self.sum);
        }
    }

    fn answer(&self, value: u64) {
        match &self.parent {
            Parent::Call(parent) => drop(parent.send(Response { value })),
            Parent::Root(done) => done.part(value),
        }
    }
}

pub fn start(n: u64, done: Finish) {
    let root = Call { parent: Parent::Root(done), sum: 0, missing: 2 };
    let _ = spawn(root).send(Request { n });
}
