//! Plain threads as actors: they are sent messages, asked, and answer, with nothing to set up.

use std::thread;
use std::time::Duration;

use coact::prelude::*;
use coact::{Context, this_thread};

/// A position to look at.
struct Look(u32);

impl Message for Look {
    type Reply = u32;
}

/// What was found.
struct Found(u32);

impl Message for Found {
    type Reply = ();
}

/// Asks a receiver of `Look`, actor or thread, and passes the answers on.
struct Scout {
    eyes: Recipient<Look>,
    home: Recipient<Found>,
}

impl Actor for Scout {
    fn started(&mut self, context: &mut Context<Self>) {
        for at in 1..=3 {
            context.on_answer(self.eyes.ask(Look(at)), |scout, answer, _| {
                scout.home.send(Found(answer.unwrap())).ok();
            });
        }
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (introduce, introduced) = Promise::channel();
    let eyes = thread::spawn(move || {
        introduce.resolve(this_thread::recipient::<Look>());
        for _ in 0..3 {
            this_thread::answer(|look: Look| look.0 * look.0);
        }
    });
    let eyes_address = introduced.wait()?;

    let scout = spawn(Scout { eyes: eyes_address.clone(), home: this_thread::recipient() });
    let found: Vec<u32> = (0..3).map(|_| this_thread::receive::<Found>().0).collect();
    println!("found {found:?}");
    assert_eq!(found, [1, 4, 9]);
    assert!(this_thread::receive_timeout::<Found>(Duration::from_millis(1)).is_none());
    drop(scout);

    // A thread that has ended is an actor that has ended.
    eyes.join().expect("the thread does not panic");
    assert!(eyes_address.has_ended());
    assert_eq!(eyes_address.ask(Look(4)).wait(), Err(AskError::Stopped(ExitReason::Normal)));
    Ok(())
}
