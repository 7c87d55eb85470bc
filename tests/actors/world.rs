//! Actors that the tests share.

use coact::Context;
use coact::actor::{Down, Exited};
use coact::prelude::*;
use coact_tests::Log;

/// Keeps a log of what happens to it.
pub struct Diary {
    pub log: Log<String>,
}

impl Diary {
    pub fn new() -> (Self, Log<String>) {
        let log = Log::new();
        (Self { log: log.clone() }, log)
    }

    pub fn spawn() -> (Addr<Self>, Log<String>) {
        let (diary, log) = Self::new();
        (spawn(diary), log)
    }
}

impl Actor for Diary {
    fn started(&mut self, _: &mut Context<Self>) {
        self.log.push("started".into());
    }

    fn restarted(&mut self, reason: &ExitReason, _: &mut Context<Self>) {
        self.log.push(format!("restarted: {reason}"));
    }

    fn stopped(&mut self, reason: &ExitReason, _: &mut Context<Self>) {
        self.log.push(format!("stopped: {reason}"));
    }
}

impl Drop for Diary {
    fn drop(&mut self) {
        self.log.push("dropped".into());
    }
}

/// Is written down.
pub struct Note(pub &'static str);

impl Message for Note {
    type Reply = usize;
}

impl Handler<Note> for Diary {
    fn handle(&mut self, note: Note, _: &mut Context<Self>) -> usize {
        self.log.push(note.0.into());
        self.log.len()
    }
}

/// Makes the actor panic.
pub struct Bomb;

impl Message for Bomb {
    type Reply = ();
}

impl Handler<Bomb> for Diary {
    fn handle(&mut self, _: Bomb, _: &mut Context<Self>) {
        panic!("boom");
    }
}

/// Makes the actor stop itself.
pub struct Enough;

impl Message for Enough {
    type Reply = ();
}

impl Handler<Enough> for Diary {
    fn handle(&mut self, _: Enough, context: &mut Context<Self>) {
        context.stop();
    }
}

impl Handler<Down> for Diary {
    fn handle(&mut self, down: Down, _: &mut Context<Self>) {
        self.log.push(format!("down: {}", down.reason));
    }
}

impl Handler<Exited> for Diary {
    fn handle(&mut self, exited: Exited, _: &mut Context<Self>) {
        self.log.push(format!("exited: {}", exited.reason));
    }
}

/// Runs with the actor and its context.
pub struct Do<F>(pub F);

impl<F> Message for Do<F>
where
    F: FnOnce(&mut Diary, &mut Context<Diary>) + Send + 'static,
{
    type Reply = ();
}

impl<F> Handler<Do<F>> for Diary
where
    F: FnOnce(&mut Diary, &mut Context<Diary>) + Send + 'static,
{
    fn handle(&mut self, work: Do<F>, context: &mut Context<Self>) {
        (work.0)(self, context);
    }
}
