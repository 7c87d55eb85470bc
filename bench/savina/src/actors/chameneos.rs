//! A mall in which creatures meet, all of them actors.

use coact::Context;
use coact::prelude::*;
use coact_bench_workloads::Finish;

use crate::sizes::complement;

#[derive(Actor)]
struct Mall {
    meetings: u64,
    waiting: Option<Meet>,
    creatures: Vec<Addr<Creature>>,
}

#[handlers]
impl Mall {
    #[message]
    fn open(&mut self, creatures: u64, done: Finish, context: &mut Context<Self>) {
        for number in 0..creatures {
            let (colour, mall, done) = ((number % 3) as u8, context.address(), done.clone());
            let creature = spawn(Creature { colour, count: 0, mall, done });
            let _ = creature.send(Come);
            self.creatures.push(creature);
        }
    }

    #[message]
    fn meet(&mut self, colour: u8, creature: Addr<Creature>) {
        let meet = Meet { colour, creature };
        match self.waiting.take() {
            _ if self.meetings == 0 => drop(meet.creature.send(Exit)),
            None => self.waiting = Some(meet),
            Some(first) => {
                self.meetings -= 1;
                let _ = first.creature.send(meet);
            }
        }
    }
}

#[derive(Actor)]
struct Creature {
    colour: u8,
    count: u64,
    mall: Addr<Mall>,
    done: Finish,
}

#[handlers]
impl Creature {
    #[message]
    fn come(&mut self, context: &mut Context<Self>) {
        let _ = self.mall.send(Meet { colour: self.colour, creature: context.address() });
    }

    #[message]
    fn change(&mut self, colour: u8, context: &mut Context<Self>) {
        self.colour = colour;
        self.count += 1;
        self.come(context);
    }

    #[message]
    fn exit(&mut self, context: &mut Context<Self>) {
        self.done.part(self.count);
        context.stop();
    }
}

impl Handler<Meet> for Creature {
    fn handle(&mut self, second: Meet, context: &mut Context<Self>) {
        let colour = complement(self.colour, second.colour);
        let _ = second.creature.send(Change { colour });
        self.change(colour, context);
    }
}

pub fn start(creatures: u64, meetings: u64, done: Finish) {
    let mall = Mall { meetings, waiting: None, creatures: Vec::new() };
    let _ = spawn(mall).send(Open { creatures, done });
}
