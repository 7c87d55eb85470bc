//! Topics, trees of topics, and what the runtime itself has to tell.

use std::error::Error;
use std::sync::Arc;
use std::sync::mpsc;

use coact::Context;
use coact::prelude::*;
use coact::pubsub::{ActorStopped, DeadLetter, TopicTree, events, topic};

/// A message that is cheap to clone: what is shared lies behind an `Arc`.
#[derive(Clone)]
struct Report(Arc<str>);

impl Message for Report {
    type Reply = ();
}

#[derive(Default)]
struct Reader {
    read: Vec<Arc<str>>,
}

impl Actor for Reader {}

impl Handler<Report> for Reader {
    fn handle(&mut self, report: Report, context: &mut Context<Self>) {
        if &*report.0 == "enough" {
            context.stop();
        }
        self.read.push(report.0);
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // A topic with a name: found by its name and type.
    let reader = spawn(Reader::default());
    let subscription = topic::<Report>("reports")?.subscribe(reader.clone());
    assert_eq!(topic::<Report>("reports")?.publish(Report("calm seas".into())), 1);
    drop(subscription);
    assert_eq!(topic::<Report>("reports")?.publish(Report("unheard".into())), 0);
    assert_eq!(call(&reader, |reader| reader.read.len()).wait()?, 1);

    // Paths and patterns.
    let (tell, told) = mpsc::channel();
    let sensors = TopicTree::new();
    let heat = sensors.subscribe_fn("house/*/heat", move |degrees: i32| {
        let _ = tell.send(degrees);
    })?;
    assert_eq!(sensors.publish("house/kitchen/heat", 21), 1);
    assert_eq!(sensors.publish("house/kitchen/light", 400), 0);
    assert_eq!(told.recv()?, 21);
    drop(heat);

    // The runtime's own events: ends, and messages that were not read.
    let (tell, told) = mpsc::channel();
    let letters = tell.clone();
    let subscriptions = [
        events().subscribe_fn(move |letter: DeadLetter| {
            let _ = letters.send(format!("a {} was not read", letter.message));
        }),
        events().subscribe_fn(move |stopped: ActorStopped| {
            let _ = tell.send(format!("an actor has ended: {}", stopped.reason));
        }),
    ];
    reader.suspend()?;
    reader.send(Report("enough".into()))?;
    reader.send(Report("too late".into()))?;
    reader.resume()?;
    let news = [told.recv()?, told.recv()?];
    println!("{news:#?}");
    assert!(news[0].starts_with("an actor has ended: it was done"));
    assert!(news[1].ends_with("Report was not read"));
    assert!(events().counts().dead_letters >= 1);
    drop(subscriptions);
    Ok(())
}
