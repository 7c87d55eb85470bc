//! Bounded mailboxes: a producer that waits, a sensor whose old readings are dropped, and a gate
//! that is shut.

use coact::Context;
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::runtime::spawn_future;

/// Adds up what it is sent, and remembers the last of it.
#[derive(Default)]
struct Meter {
    sum: u64,
    last: u64,
}

impl Actor for Meter {}

struct Reading(u64);

impl Message for Reading {
    type Reply = u64;
}

impl Handler<Reading> for Meter {
    fn handle(&mut self, reading: Reading, _: &mut Context<Self>) -> u64 {
        self.sum += reading.0;
        self.last = reading.0;
        self.sum
    }
}

fn meter(mailbox: Mailbox) -> Addr<Meter> {
    actor(Meter::default()).mailbox(mailbox).spawn()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The producer waits for room: here a thread, in `send_async` a future. Never a handler.
    let patient = meter(Mailbox::bounded(8));
    for n in 1..=1000 {
        patient.send_blocking(Reading(n))?;
        assert!(patient.mailbox().len() <= 8);
    }
    assert_eq!(call(&patient, |meter| meter.sum).wait()?, 500_500);

    // The newest readings are worth more than the oldest.
    let sensor = meter(Mailbox::bounded(3).drop_oldest());
    sensor.suspend()?;
    for n in 1..=10 {
        sensor.send(Reading(n))?;
    }
    println!("{:?}", sensor.mailbox());
    assert_eq!((sensor.mailbox().len(), sensor.mailbox().dropped()), (3, 7));
    sensor.resume()?;
    assert_eq!(call(&sensor, |meter| (meter.sum, meter.last)).wait()?, (8 + 9 + 10, 10));

    // A send that comes too late gets its message back, and an ask fails.
    let strict = meter(Mailbox::bounded(1).fail());
    strict.suspend()?;
    strict.send(Reading(1))?;
    let back = strict.send(Reading(2)).expect_err("there is no room");
    assert_eq!(back.into_message().0, 2);
    assert_eq!(strict.ask(Reading(3)).wait(), Err(AskError::Full));

    // An end wakes who waits.
    let full = meter(Mailbox::bounded(1));
    full.suspend()?;
    full.send(Reading(1))?;
    let waits = spawn_future(full.send_async(Reading(2)));
    full.stop()?;
    assert!(matches!(waits.wait()?, Err(SendError::Stopped(Reading(2)))));
    strict.stop()?;
    Ok(())
}
