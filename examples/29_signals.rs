//! Signals overtake messages: suspend, resume, restart, stop, drain, kill.

use coact::Context;
use coact::prelude::*;

#[derive(Default)]
struct Counter {
    count: u32,
}

impl Actor for Counter {
    fn stopped(&mut self, reason: &ExitReason, _: &mut Context<Self>) {
        println!("a counter ends at {}: {reason}", self.count);
    }
}

#[handlers]
impl Counter {
    #[message]
    fn count(&mut self) -> u32 {
        self.count += 1;
        self.count
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let counter = actor(Counter::default()).restartable(Counter::default).spawn();
    assert_eq!(counter.ask(Count).wait()?, 1);

    // Messages wait while it is suspended; they are not lost.
    counter.suspend()?;
    let waits = counter.ask(Count);
    let waits = waits.timeout(std::time::Duration::from_secs(60));
    counter.resume()?;
    assert_eq!(waits.wait()?, 2);

    // A restart gives it a new state. Its address stays, and so do the messages in its mailbox.
    counter.restart()?;
    assert_eq!(counter.ask(Count).wait()?, 1);

    // A drain comes after the messages before it, a stop before those that wait.
    let last = counter.ask(Count);
    counter.drain()?;
    assert_eq!(last.wait()?, 2);
    assert_eq!(counter.ended().wait()?, ExitReason::Shutdown);

    // A kill does not even call `stopped`.
    let other = spawn(Counter::default());
    other.kill()?;
    assert_eq!(other.ended().wait()?, ExitReason::Killed);
    Ok(())
}
