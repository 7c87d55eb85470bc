//! Lanes: urgent messages overtake others, no behaviour is overtaken, and none starves. And
//! messages that are set aside until their time has come.

use coact::Context;
use coact::mailbox::{Lane, Mailbox};
use coact::prelude::*;

/// Prints jobs once there is paper.
#[derive(Default)]
struct Printer {
    has_paper: bool,
    printed: Vec<&'static str>,
}

impl Actor for Printer {}

struct Job(&'static str);

impl Message for Job {
    type Reply = usize;
}

impl Receive<Job> for Printer {
    fn receive(&mut self, job: Job, reply: Reply<usize>, context: &mut Context<Self>) {
        if !self.has_paper {
            return context.stash(job, reply).expect("the stash has no limit");
        }
        self.printed.push(job.0);
        reply.send(self.printed.len());
    }
}

struct Paper;

impl Message for Paper {
    type Reply = ();
}

impl Handler<Paper> for Printer {
    fn handle(&mut self, _: Paper, context: &mut Context<Self>) {
        self.has_paper = true;
        context.unstash_all();
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Jobs of the boss go first, and paper before all of them.
    let mailbox = Mailbox::lanes(3).assign::<Paper>(0).lane(2, Lane::bounded(100).fail());
    let printer = actor(Printer { has_paper: true, ..Printer::default() }).mailbox(mailbox).spawn();
    printer.suspend()?; // so that all of it waits
    printer.send(Job("letter"))?;
    printer.send(Job("report"))?;
    printer.send_in(1, Job("boss: memo"))?;
    // What was sent before a behaviour comes before it, what was sent after it, after it.
    when(&printer, |printer| printer.printed.push("-- page --"));
    printer.send(Job("poster"))?;
    printer.send_in(1, Job("boss: chart"))?;
    printer.resume()?;
    let printed = call(&printer, |printer| printer.printed.clone()).wait()?;
    println!("{printed:?}");
    let expected = ["boss: memo", "letter", "report", "-- page --", "boss: chart", "poster"];
    assert_eq!(printed, expected);

    // Without paper jobs are set aside; with it they come in their order, before newer ones.
    let printer = spawn(Printer::default());
    let early = [printer.ask(Job("one")), printer.ask(Job("two"))];
    printer.send(Paper)?;
    let late = printer.ask(Job("three"));
    assert_eq!(early.map(Ask::wait), [Ok(1), Ok(2)]);
    assert_eq!(late.wait(), Ok(3));
    Ok(())
}
