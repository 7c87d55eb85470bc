//! How actors learn of each other's ends: links, trapped exits, monitors.

use std::sync::mpsc::{Sender, channel};

use coact::Context;
use coact::actor::{Down, Exited};
use coact::prelude::*;

/// Tells what it is told.
struct Witness(Sender<String>);

impl Actor for Witness {}

impl Handler<Down> for Witness {
    fn handle(&mut self, down: Down, _: &mut Context<Self>) {
        self.0.send(format!("down, since {}", down.reason)).expect("main listens");
    }
}

impl Handler<Exited> for Witness {
    fn handle(&mut self, exited: Exited, _: &mut Context<Self>) {
        self.0.send(format!("exited, since {}", exited.reason)).expect("main listens");
    }
}

#[derive(Actor)]
struct Worker;

#[handlers]
impl Worker {
    #[message]
    fn fail(&mut self, context: &mut Context<Self>) {
        context.stop_with(ExitReason::Failed("out of paper".into()));
    }
}

/// Ties the witness to a worker.
struct Watch(Addr<Worker>);

impl Message for Watch {
    type Reply = ();
}

impl Handler<Watch> for Witness {
    fn handle(&mut self, watch: Watch, context: &mut Context<Self>) {
        context.trap_exits();
        context.link(&watch.0);
        context.monitor(&watch.0);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (tell, told) = channel();
    let witness = spawn(Witness(tell));
    let worker = spawn(Worker);
    witness.ask(Watch(worker.clone())).wait()?;

    worker.send(Fail)?;
    let mut told = [told.recv()?, told.recv()?];
    told.sort();
    println!("{}\n{}", told[0], told[1]);
    assert_eq!(told[0], "down, since it failed: out of paper");
    assert_eq!(told[1], "exited, since it failed: out of paper");

    // Without the trap the link would have ended the witness: it ends a second worker.
    let (left, right) = (spawn(Worker), spawn(Worker));
    let peer = right.clone();
    // Its address is kept: an actor without addresses ends, and a normal end does not spread.
    let linker = spawn(Linker);
    linker.ask(Link { left: left.clone(), right: peer }).wait()?;
    left.send(Fail)?;
    println!("{}", right.ended().wait()?);
    assert!(matches!(right.exit_reason(), Some(ExitReason::Linked(..))));
    Ok(())
}

#[derive(Actor)]
struct Linker;

#[handlers]
impl Linker {
    /// Links two others by way of itself.
    #[message]
    fn link(&mut self, left: Addr<Worker>, right: Addr<Worker>, context: &mut Context<Self>) {
        context.link(&left);
        context.link(&right);
    }
}
