//! Time: asks that are over, messages that come later, timers by key, and what happens when no
//! message comes.

use std::time::Duration;

use coact::Context;
use coact::actor::ReceiveTimeout;
use coact::prelude::*;
use coact::time::sleep;

/// A session that reports silence, and ends if it goes on.
#[derive(Default)]
struct Session {
    reminders: u32,
}

impl Actor for Session {
    fn started(&mut self, context: &mut Context<Self>) {
        context.set_receive_timeout(Duration::from_millis(20));
        context.set_idle_timeout(Duration::from_millis(110));
    }

    fn stopped(&mut self, reason: &ExitReason, _: &mut Context<Self>) {
        println!("the session ends after {} reminders: {reason}", self.reminders);
        assert!(self.reminders > 0);
    }
}

impl Handler<ReceiveTimeout> for Session {
    fn handle(&mut self, _: ReceiveTimeout, _: &mut Context<Self>) {
        self.reminders += 1;
    }
}

/// A question that takes its time.
struct Slow;

impl Message for Slow {
    type Reply = &'static str;
}

impl Receive<Slow> for Session {
    fn receive(&mut self, _: Slow, reply: Reply<&'static str>, context: &mut Context<Self>) {
        context.detach(reply, async {
            sleep(Duration::from_millis(50)).await.ok();
            "an answer"
        });
    }
}

/// Asks with and without patience, and never blocks a worker.
struct Asker {
    session: Addr<Session>,
}

impl Actor for Asker {
    fn started(&mut self, context: &mut Context<Self>) {
        let (short, long) = (Duration::from_millis(5), Duration::from_secs(60));
        context.ask_timeout(&self.session, Slow, short, move |asker, answer, context| {
            assert_eq!(answer, Err(AskError::Timeout(short)));
            // Messages for the asker wait for this one.
            context.ask_await(&asker.session, Slow, long, |_, answer, context| {
                println!("with patience there is {}", answer.unwrap());
                context.stop();
            });
        });
    }
}

/// Tries again and again, with growing pauses, until it succeeds or the time is up.
struct Dialler {
    attempts: u32,
}

/// What its timers are for.
#[derive(PartialEq, Eq, Hash)]
enum Purpose {
    Retry,
    GiveUp,
}

#[derive(Message)]
struct Dial;

#[derive(Message)]
struct GiveUp;

impl Actor for Dialler {
    fn started(&mut self, context: &mut Context<Self>) {
        let mut timers = context.timers();
        timers.send_later(Purpose::Retry, Duration::ZERO, Dial);
        timers.send_later(Purpose::GiveUp, Duration::from_secs(60), GiveUp);
    }
}

impl Handler<Dial> for Dialler {
    fn handle(&mut self, _: Dial, context: &mut Context<Self>) {
        self.attempts += 1;
        if self.attempts < 4 {
            let pause = Duration::from_millis(5) * self.attempts;
            context.timers().send_later(Purpose::Retry, pause, Dial);
        } else {
            // From here on no `GiveUp` is handled, even if one waits in the mailbox.
            assert!(context.timers().cancel(Purpose::GiveUp));
            println!("connected at attempt {}", self.attempts);
            context.stop();
        }
    }
}

impl Handler<GiveUp> for Dialler {
    fn handle(&mut self, _: GiveUp, context: &mut Context<Self>) {
        context.stop_with(ExitReason::Failed("no answer for a minute".into()));
    }
}

fn main() -> Result<(), Broken> {
    assert_eq!(spawn(Dialler { attempts: 0 }).ended().wait()?, ExitReason::Normal);
    let session = spawn(Session::default());
    let asker = spawn(Asker { session: session.clone() });
    let later = session.send_later(Duration::from_secs(3600), ReceiveTimeout);
    assert_eq!(asker.ended().wait()?, ExitReason::Normal);
    assert_eq!(session.ended().wait()?, ExitReason::Normal);
    // It ended with the session: there is nothing left to cancel.
    assert!(!later.cancel());
    Ok(())
}
