//! Creatures and their mall are cowns, and a meeting is a behaviour over two creatures.

use coact::cown::Held;
use coact::prelude::*;
use coact_bench_workloads::Finish;

use crate::sizes::complement;

struct Mall {
    meetings: u64,
    waiting: Option<Cown<Creature>>,
    done: Finish,
}

struct Creature {
    colour: u8,
    count: u64,
    mall: Cown<Mall>,
}

impl Mall {
    fn admit(&mut self, creature: Cown<Creature>) {
        match self.waiting.take() {
            _ if self.meetings == 0 => {
                let done = self.done.clone();
                when(creature, move |creature| done.part(creature.count));
            }
            None => self.waiting = Some(creature),
            Some(first) => {
                self.meetings -= 1;
                when((first, creature), |(first, second)| meet(first, second));
            }
        }
    }
}

fn meet(first: Held<'_, Creature>, second: Held<'_, Creature>) {
    let colour = complement(first.colour, second.colour);
    for mut creature in [first, second] {
        creature.colour = colour;
        creature.count += 1;
        come(creature);
    }
}

fn come(creature: Held<'_, Creature>) {
    let (state, creature) = creature.into_parts();
    when(&state.mall, move |mall| mall.admit(creature));
}

pub fn start(creatures: u64, meetings: u64, done: Finish) {
    let mall = Cown::new(Mall { meetings, waiting: None, done });
    for number in 0..creatures {
        let creature = Creature { colour: (number % 3) as u8, count: 0, mall: mall.clone() };
        when(Cown::new(creature), come);
    }
}
