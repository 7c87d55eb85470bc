//! The book as an actor: how it starts, and what it is told.

use coact::Context;
use coact::prelude::*;

use crate::exchange::cut::cut;
use crate::rules::account::Account;
use crate::rules::error::Error;
use crate::rules::matching::Execution;
use crate::rules::name::Name;
use crate::rules::order::NewOrder;

use super::{Book, Depth, Incoming};

/// More orders than this do not wait for their turn.
const WAITING: usize = 10_000;

impl Actor for Book {
    // A restart calls this, too.
    fn started(&mut self, context: &mut Context<Self>) {
        let this = context.address();
        cut(&self.accounts, vec![this.clone()], move |_| {
            // A book that has ended needs no orders.
            let _ = this.send(Rebuilt);
        });
    }
}

#[derive(Message)]
struct Rebuilt;

impl Handler<Rebuilt> for Book {
    fn handle(&mut self, _: Rebuilt, context: &mut Context<Self>) {
        // If it has been lost again, there will be another message.
        self.is_ready = self.resting.is_some();
        if self.is_ready {
            context.unstash_all();
        }
    }
}

/// An order arrives. It is answered when it has been settled.
#[derive(Message)]
#[message(reply = Result<Execution, Error>)]
pub struct Place {
    pub order: NewOrder,
    pub name: Name,
    pub account: Cown<Account>,
}

impl Receive<Place> for Book {
    fn receive(
        &mut self,
        place: Place,
        reply: Reply<Result<Execution, Error>>,
        context: &mut Context<Self>,
    ) {
        if !self.is_ready {
            context.stash(place, reply).expect("the stash has no limit");
            return;
        }
        if self.incoming.len() == WAITING {
            return reply.send(Err(Error::Busy(self.symbol.clone())));
        }
        let Place { order, name, account } = place;
        let order = order.numbered(self.orders.next());
        self.incoming.push_back(Incoming { order, name, account, reply });
        if self.incoming.len() == 1 {
            self.settle_first(&context.address());
        }
    }
}

/// Asks for the best price levels of both sides.
#[derive(Message)]
#[message(reply = Depth)]
pub struct ShowDepth {
    pub levels: usize,
}

impl Receive<ShowDepth> for Book {
    fn receive(&mut self, show: ShowDepth, reply: Reply<Depth>, context: &mut Context<Self>) {
        match self.is_ready {
            true => reply.send(self.depth(show.levels)),
            false => context.stash(show, reply).expect("the stash has no limit"),
        }
    }
}
