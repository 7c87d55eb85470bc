//! Supervision: who is restarted, when, in which order, and what stays.

mod commands;
mod ended_runtimes;
mod escalation;
mod faults;
mod hold;
mod links;
mod lives;
mod mailbox;
mod model;
mod order;
mod ready;
mod settings;
mod significant;

use coact::Context;
use coact::prelude::*;
use coact_tests::{Log, fail};

/// A child that writes down what happens to it, under its name.
pub struct Worker {
    pub name: &'static str,
    pub log: Log<String>,
    pub handled: usize,
}

impl Worker {
    /// How to make one.
    pub fn make(
        name: &'static str,
        log: &Log<String>,
    ) -> impl FnMut() -> Self + Send + 'static + use<> {
        let log = log.clone();
        move || Self { name, log: log.clone(), handled: 0 }
    }

    pub fn note(&self, what: &str) {
        self.log.push(format!("{} {what}", self.name));
    }
}

impl Actor for Worker {
    fn started(&mut self, _: &mut Context<Self>) {
        self.note("up");
    }

    fn restarted(&mut self, reason: &ExitReason, _: &mut Context<Self>) {
        self.note(&format!("again: {reason}"));
    }

    fn stopped(&mut self, reason: &ExitReason, _: &mut Context<Self>) {
        self.note(&format!("down: {reason}"));
    }
}

/// Panics.
pub struct Bomb;

impl Message for Bomb {
    type Reply = ();
}

impl Handler<Bomb> for Worker {
    fn handle(&mut self, _: Bomb, _: &mut Context<Self>) {
        fail("boom");
    }
}

/// Is counted; the answer is how many were since the (re)start.
pub struct Ping;

impl Message for Ping {
    type Reply = usize;
}

impl Handler<Ping> for Worker {
    fn handle(&mut self, _: Ping, _: &mut Context<Self>) -> usize {
        self.handled += 1;
        self.handled
    }
}

/// Makes it stop itself, with a reason.
pub struct Leave(pub ExitReason);

impl Message for Leave {
    type Reply = ();
}

impl Handler<Leave> for Worker {
    fn handle(&mut self, leave: Leave, context: &mut Context<Self>) {
        context.stop_with(leave.0);
    }
}

/// How `fail` shows.
pub fn boom() -> ExitReason {
    ExitReason::Panicked("boom".into())
}
