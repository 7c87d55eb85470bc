//! Two players a pair, and balls between them.

use coact::Context;
use coact::prelude::*;
use coact_bench_workloads::{Finish, Given, Measured};

use crate::runtime;

/// How many pairs, how many messages fly there, and how often each is sent.
#[derive(Clone, Copy)]
struct Size {
    pairs: u64,
    /// Messages that the first of a pair serves, and the second.
    serves: (u64, u64),
    hops: u64,
}

impl Size {
    /// One message that comes back in the end, so that both handle as many.
    fn single(given: &Given) -> anyhow::Result<Size> {
        Ok(Size { pairs: given.number("pairs")?, serves: (1, 0), hops: given.number("hops")? })
    }

    /// The same number from each side.
    fn bulk(given: &Given) -> anyhow::Result<Size> {
        let flight = given.number("flight")?;
        Ok(Size { serves: (flight, flight), ..Size::single(given)? })
    }

    fn messages_each(self) -> u64 {
        (self.serves.0 + self.serves.1) * self.hops / 2
    }

    fn messages(self) -> u64 {
        self.pairs * 2 * self.messages_each()
    }
}

#[derive(Actor)]
struct Player {
    partner: Option<Addr<Player>>,
    served: bool,
    handled: u64,
    awaited: u64,
    done: Finish,
}

#[handlers]
impl Player {
    #[message]
    fn meet(&mut self, partner: Addr<Player>) {
        self.partner = Some(partner);
    }

    #[message]
    fn serve(&mut self, balls: u64, hops: u64, context: &mut Context<Self>) {
        for _ in 0..balls {
            self.hit(hops - 1);
        }
        self.served = true;
        self.end_if_done(context);
    }

    /// A ball, with the number of times that it is to be sent again.
    #[message]
    fn ball(&mut self, hops: u64, context: &mut Context<Self>) {
        self.handled += 1;
        if hops > 0 {
            self.hit(hops - 1);
        }
        self.end_if_done(context);
    }

    /// (It may have handled all balls that it awaits before it is told to serve.)
    fn end_if_done(&self, context: &mut Context<Self>) {
        if self.served && self.handled == self.awaited {
            self.done.part(self.handled);
            // The two have each other's address; nothing else would end them.
            context.stop();
        }
    }

    fn hit(&self, hops: u64) {
        let partner = self.partner.as_ref().expect("they have met");
        partner.send(Ball { hops }).expect("it awaits this ball");
    }
}

/// One message in flight in a pair, each actor for itself.
pub fn single(given: &Given) -> anyhow::Result<Measured> {
    ungrouped(given, Size::single(given)?)
}

/// Many messages in flight, each actor for itself.
pub fn bulk(given: &Given) -> anyhow::Result<Measured> {
    ungrouped(given, Size::bulk(given)?)
}

fn ungrouped(given: &Given, size: Size) -> anyhow::Result<Measured> {
    run(given, size, move |done| play(size, &done, |_| (None, None)))
}

/// Many messages in flight; the two of a pair share a group.
pub fn bulk_in_groups(given: &Given) -> anyhow::Result<Measured> {
    let size = Size::bulk(given)?;
    run(given, size, move |done| {
        play(size, &done, |_| {
            let group = Group::new();
            (Some(group.clone()), Some(group))
        });
    })
}

/// One message in flight; the two of a pair are in different groups, of which there are as many as
/// workers.
pub fn single_across_groups(given: &Given) -> anyhow::Result<Measured> {
    let size = Size::single(given)?;
    let count = given.workers()?.max(2);
    run(given, size, move |done| {
        let groups: Vec<Group> = (0..count).map(|_| Group::new()).collect();
        let group = |number: usize| Some(groups[number % count].clone());
        play(size, &done, |pair| (group(pair), group(pair + 1)));
    })
}

fn run(
    given: &Given,
    size: Size,
    start: impl FnOnce(Finish) + Send + 'static,
) -> anyhow::Result<Measured> {
    runtime::run(given, size.messages(), 2 * size.pairs, start)
}

/// Makes the pairs, each in its groups, and has them serve.
fn play(size: Size, done: &Finish, groups: impl Fn(usize) -> (Option<Group>, Option<Group>)) {
    let player = |partner, group: Option<Group>| {
        let awaited = size.messages_each();
        let player =
            actor(Player { partner, served: false, handled: 0, awaited, done: done.clone() });
        match group {
            Some(group) => player.in_group(&group).spawn(),
            None => player.spawn(),
        }
    };
    for pair in 0..size.pairs as usize {
        let (group, other_group) = groups(pair);
        let one = player(None, group);
        let other = player(Some(one.clone()), other_group);
        one.send(Meet { partner: other.clone() }).expect("it lives");
        for (player, balls) in [(one, size.serves.0), (other, size.serves.1)] {
            player.send(Serve { balls, hops: size.hops }).expect("it lives");
        }
    }
}
