//! An arbiter who has the forks, and philosophers who ask him for them.

use coact::Context;
use coact::prelude::*;
use coact_bench_workloads::Finish;

#[derive(Actor)]
struct Arbiter {
    taken: Vec<bool>,
    philosophers: Vec<Addr<Philosopher>>,
    left: u64,
    meals: u64,
    done: Finish,
}

#[handlers]
impl Arbiter {
    #[message]
    fn begin(&mut self, rounds: u64, context: &mut Context<Self>) {
        for seat in 0..self.taken.len() {
            let arbiter = context.address();
            self.philosophers.push(spawn(Philosopher { seat, rounds, meals: 0, arbiter }));
        }
    }

    #[message]
    fn hungry(&mut self, seat: usize) {
        let right = (seat + 1) % self.taken.len();
        if self.taken[seat] || self.taken[right] {
            return drop(self.philosophers[seat].send(Denied));
        }
        self.taken[seat] = true;
        self.taken[right] = true;
        let _ = self.philosophers[seat].send(Eat);
    }

    #[message]
    fn done(&mut self, seat: usize) {
        let right = (seat + 1) % self.taken.len();
        self.taken[seat] = false;
        self.taken[right] = false;
    }

    #[message]
    fn exit(&mut self, meals: u64, context: &mut Context<Self>) {
        self.meals += meals;
        self.left -= 1;
        if self.left == 0 {
            self.done.part(self.meals);
            // The philosophers' only addresses are here: they end as well.
            context.stop();
        }
    }
}

struct Philosopher {
    seat: usize,
    rounds: u64,
    meals: u64,
    arbiter: Addr<Arbiter>,
}

impl Actor for Philosopher {
    fn started(&mut self, _: &mut Context<Self>) {
        self.denied();
    }
}

#[handlers]
impl Philosopher {
    #[message]
    fn denied(&mut self) {
        let _ = self.arbiter.send(Hungry { seat: self.seat });
    }

    #[message]
    fn eat(&mut self) {
        self.meals += 1;
        let _ = self.arbiter.send(Done { seat: self.seat });
        if self.meals < self.rounds {
            self.denied();
        } else {
            let _ = self.arbiter.send(Exit { meals: self.meals });
        }
    }
}

pub fn start(philosophers: u64, rounds: u64, done: Finish) {
    let taken = vec![false; philosophers as usize];
    let arbiter = Arbiter { taken, philosophers: Vec::new(), left: philosophers, meals: 0, done };
    let _ = spawn(arbiter).send(Begin { rounds });
}
