//! `Events::on_undelivered`: messages that were not delivered are handed to a hook of their type.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use coact::Context;
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::pubsub::{
    DeadLetter, DropCause, HookTaken, Subscription, Topic, UndeliveredCause, UndeliveredMessage,
    events,
};
use coact::sim::{Config, Sim};
use coact::supervise::{Supervisor, permanent};
use coact::system::{Host, System};
use coact_tests::{Log, PATIENCE, everywhere, everywhere_with_faults, fail, finally};

/// Cannot be cloned.
#[derive(Debug, PartialEq)]
struct Case(u32);

impl Message for Case {
    type Reply = u32;
}

#[derive(Clone, Debug, PartialEq)]
struct News(u32);

impl Message for News {
    type Reply = ();
}

#[derive(Default)]
struct Clerk {
    stashes: bool,
}

impl Actor for Clerk {}

impl Receive<Case> for Clerk {
    fn receive(&mut self, case: Case, reply: Reply<u32>, context: &mut Context<Self>) {
        if self.stashes {
            context.stash(case, reply).expect("there is room");
        } else {
            reply.send(case.0);
        }
    }
}

impl Handler<News> for Clerk {
    fn handle(&mut self, _: News, _: &mut Context<Self>) {}
}

type Letters<M> = Log<UndeliveredMessage<M>>;

/// What is handed to the hook for a type.
fn collect<M: Message + Sync>() -> (Letters<M>, Subscription) {
    let log = Letters::new();
    let entries = log.clone();
    let hook = events().on_undelivered(move |letter| entries.push(letter));
    (log, hook.expect("no other hook is set"))
}

fn numbers(letters: &Letters<Case>) -> Vec<u32> {
    letters.take().iter().map(|letter| letter.message.0).collect()
}

/// With its receiver, and why, in the order in which they waited, before the end is told.
#[test]
fn m15_dead_letters_come_to_the_hook_of_their_type() {
    everywhere(|| {
        let ((cases, _hook), (news, _other)) = (collect::<Case>(), collect::<News>());
        let clerk = spawn(Clerk::default());
        clerk.suspend().unwrap();
        clerk.send(Case(1)).unwrap();
        clerk.send(News(2)).unwrap();
        let asked = clerk.ask(Case(3));
        clerk.send(Case(4)).unwrap();
        clerk.stop().unwrap();
        let reason = ExitReason::Shutdown;
        assert_eq!(asked.wait(), Err(AskError::Stopped(reason.clone())));
        assert_eq!(clerk.ended().wait(), Ok(reason.clone()));
        let found = cases.take();
        assert_eq!(found.iter().map(|letter| letter.message.0).collect::<Vec<_>>(), [1, 3, 4]);
        for letter in found {
            assert_eq!(
                (letter.actor, letter.cause),
                (clerk.id(), UndeliveredCause::Ended(reason.clone()))
            );
            assert!(letter.actor_type.ends_with("Clerk"));
        }
        assert_eq!(news.take()[0].message, News(2));
        assert_eq!(clerk.dead_letters(), 4);
        // One that a send gives back was not lost.
        assert!(matches!(clerk.send(Case(5)), Err(SendError::Stopped(Case(5)))));
        assert!(cases.take().is_empty());
    });
}

/// Of several senders and a stop, all that was accepted is handled or handed to the hook, once.
#[test]
fn m15_no_message_is_lost_or_doubled() {
    Sim::new().config(Config::new().runs(300)).check(|| {
        let (cases, _hook) = collect::<Case>();
        let clerk = spawn(Clerk::default());
        let send = |from: u32| {
            let clerk = clerk.clone();
            coact::sim::thread(move || {
                let sent = (from..from + 4).filter(|number| clerk.send(Case(*number)).is_ok());
                sent.collect::<Vec<_>>()
            })
        };
        let senders = [send(0), send(10)];
        let asked = clerk.ask(Case(20));
        clerk.stop().unwrap();
        let accepted = senders.map(|sender| sender.wait().unwrap()).concat();
        clerk.ended().wait().unwrap();
        let lost = numbers(&cases);
        assert_eq!(lost.contains(&20), asked.wait().is_err());
        assert!(lost.iter().all(|number| *number == 20 || accepted.contains(number)));
        let mut once = lost.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), lost.len());
        // Those of one sender come in order.
        assert!(lost.iter().filter(|n| **n < 10).is_sorted());
        assert_eq!(clerk.dead_letters(), lost.len() as u64);
    });
}

#[test]
fn m15_what_a_mailbox_drops_comes_to_the_hook() {
    everywhere(|| {
        let ((cases, _hook), (news, _other)) = (collect::<Case>(), collect::<News>());
        let of = |mailbox: Mailbox| {
            let clerk = actor(Clerk::default()).mailbox(mailbox).spawn();
            clerk.suspend().unwrap();
            clerk
        };
        let newest = of(Mailbox::bounded(1).drop_newest());
        newest.send(Case(1)).unwrap();
        newest.send(Case(2)).unwrap();
        assert_eq!(newest.ask(Case(3)).wait(), Err(AskError::Full));
        assert_eq!(numbers(&cases), [2, 3]);
        let oldest = of(Mailbox::bounded(1).drop_oldest());
        let asked = oldest.ask(Case(4));
        oldest.send(Case(5)).unwrap();
        assert_eq!(asked.wait(), Err(AskError::Full));
        let letter = cases.take().remove(0);
        assert_eq!((letter.message, letter.actor), (Case(4), oldest.id()));
        assert_eq!(letter.cause, UndeliveredCause::Dropped(DropCause::Policy));
        assert!(letter.actor_type.ends_with("Clerk"));
        // A topic has no one to give it back to.
        let full = of(Mailbox::bounded(1).fail());
        let topic = Topic::new();
        let subscription = topic.subscribe(full.clone());
        assert_eq!((topic.publish(News(6)), topic.publish(News(7))), (1, 0));
        let letter = news.take().remove(0);
        assert_eq!((letter.message, letter.actor), (News(7), full.id()));
        assert_eq!(letter.cause, UndeliveredCause::Dropped(DropCause::Full));
        assert!(letter.actor_type.ends_with("Clerk"));
        drop(subscription);
    });
}

/// The stash of an actor that ends, and what has waited for one that does not come up again.
#[test]
fn m15_what_an_actor_has_kept_comes_to_the_hook_as_well() {
    everywhere_with_faults(|_| {
        let (cases, _hook) = collect::<Case>();
        let clerk = spawn(Clerk { stashes: true });
        let kept = clerk.ask(Case(1));
        coact::call(&clerk, |_| ()).wait().unwrap();
        clerk.stop().unwrap();
        assert!(kept.wait().is_err());
        assert_eq!(numbers(&cases), [1]);
        let mut tree = Supervisor::one_for_one();
        let child = tree.child(permanent(|| -> Clerk { fail("no way") }));
        let unread = child.ask(Case(2));
        let supervisor = tree.spawn();
        assert!(unread.wait().is_err());
        supervisor.ended().wait().unwrap();
        let letter = cases.take().remove(0);
        let reason = UndeliveredCause::Ended(ExitReason::Panicked("no way".into()));
        assert_eq!((letter.message, letter.cause), (Case(2), reason));
    });
}

/// It is reported, and costs that message only.
#[test]
fn m15_a_hook_that_panics_loses_one_message() {
    everywhere_with_faults(|faults| {
        let log = Log::new();
        let seen = log.clone();
        let hook = events().on_undelivered(move |letter: UndeliveredMessage<Case>| {
            if letter.message.0 == 1 {
                fail("in the hook");
            }
            seen.push(letter.message.0);
        });
        let clerk = spawn(Clerk::default());
        clerk.suspend().unwrap();
        let asked = [1, 2].map(|number| clerk.ask(Case(number)));
        clerk.stop().unwrap();
        for asked in asked {
            assert_eq!(asked.wait(), Err(AskError::Stopped(ExitReason::Shutdown)));
        }
        assert_eq!(clerk.ended().wait(), Ok(ExitReason::Shutdown));
        let faults = faults.clone();
        finally(move || {
            assert_eq!(log.take(), [2]);
            let faults = faults.take();
            assert!(
                faults.iter().any(|fault| fault.to_string().contains("in the hook")),
                "{faults:?}"
            );
            drop(hook);
        });
    });
}

/// A hook that sends to what has lost the message is not called without end.
#[test]
fn m15_what_a_hook_loses_itself_does_not_come_to_it() {
    everywhere(|| {
        let clerk = actor(Clerk::default()).mailbox(Mailbox::bounded(1).drop_newest()).spawn();
        clerk.suspend().unwrap();
        let (calls, again) = (Arc::new(AtomicU32::new(0)), clerk.clone());
        let count = Arc::clone(&calls);
        let hook = events().on_undelivered(move |letter: UndeliveredMessage<Case>| {
            count.fetch_add(1, Ordering::Relaxed);
            again.send(letter.message).unwrap();
        });
        for number in 0..3 {
            clerk.send(Case(number)).unwrap();
        }
        assert_eq!((calls.load(Ordering::Relaxed), clerk.mailbox().dropped()), (2, 4));
        drop(hook);
        clerk.send(Case(4)).unwrap();
        assert_eq!(calls.load(Ordering::Relaxed), 2, "its subscription is over");
    });
}

/// They are handed on: nothing is kept by the runtime, and the hook can send them elsewhere.
#[test]
fn a_hook_can_send_messages_to_another_actor() {
    everywhere(|| {
        let (first, second) = (spawn(Clerk::default()), spawn(Clerk::default()));
        let heir = second.clone();
        let hook = events().on_undelivered(move |letter: UndeliveredMessage<Case>| {
            heir.send(letter.message).unwrap();
        });
        first.suspend().unwrap();
        first.send(Case(1)).unwrap();
        first.stop().unwrap();
        first.ended().wait().unwrap();
        assert_eq!(second.ask(Case(2)).wait(), Ok(2));
        drop(hook);
    });
}

#[test]
fn a_type_has_one_hook() {
    Sim::new().config(Config::new().runs(1)).check(|| {
        let (cases, hook) = collect::<Case>();
        let taken: HookTaken =
            events().on_undelivered(|_: UndeliveredMessage<Case>| ()).unwrap_err();
        assert!(taken.message.ends_with("Case"));
        assert!(taken.to_string().contains("drop its `Subscription` first"), "{taken}");
        let (_, _others) = collect::<News>();
        drop(hook);
        let (again, hook) = collect::<Case>();
        let clerk = spawn(Clerk::default());
        clerk.suspend().unwrap();
        clerk.send(Case(1)).unwrap();
        clerk.stop().unwrap();
        clerk.ended().wait().unwrap();
        assert_eq!((numbers(&cases), numbers(&again)), (vec![], vec![1]));
        hook.keep();
    });
    // A run begins without the hooks of earlier ones.
    Sim::new().config(Config::new().runs(1)).check(|| _ = collect::<Case>());
}

/// It sets and drops hooks, and is told of the event first.
#[test]
fn a_hook_runs_under_no_lock() {
    everywhere(|| {
        let order = Log::new();
        let (by_event, by_hook) = (order.clone(), order.clone());
        let event = events().subscribe_fn(move |letter: DeadLetter| {
            if letter.message.ends_with("Case") {
                by_event.push("event");
            }
        });
        let hook = events().on_undelivered(move |_: UndeliveredMessage<Case>| {
            by_hook.push("hook");
            drop(events().on_undelivered(|_: UndeliveredMessage<News>| ()).unwrap());
        });
        let clerk = spawn(Clerk::default());
        clerk.suspend().unwrap();
        clerk.send(Case(1)).unwrap();
        clerk.stop().unwrap();
        clerk.ended().wait().unwrap();
        assert_eq!(order.take(), ["event", "hook"]);
        drop((hook, event));
    });
}

/// Where the actor lives, also if that is a runtime of its own in the same system.
#[test]
fn m15_a_hook_runs_on_the_actors_host_and_during_a_shutdown() {
    let system = System::builder().workers(1).dispatcher("io", |d| d.workers(1)).build().unwrap();
    let entered = system.enter();
    let threads = Log::new();
    let log = threads.clone();
    let hook = events().on_undelivered(move |letter: UndeliveredMessage<Case>| {
        let thread = std::thread::current().name().unwrap_or_default().to_owned();
        log.push((letter.message.0, thread));
    });
    let io: Host = system.dispatcher("io").unwrap().into();
    let clerks =
        [actor(Clerk::default()).on(io), actor(Clerk::default())].map(|clerk| clerk.spawn());
    for (number, clerk) in (0..).zip(&clerks) {
        clerk.suspend().unwrap();
        clerk.send(Case(number)).unwrap();
    }
    clerks[0].stop().unwrap();
    clerks[0].ended().wait_timeout(PATIENCE).expect("it ends").unwrap();
    assert_eq!(threads.take(), [(0, "io-0".to_owned())]);
    drop(entered);
    // The other one is ended by the shutdown.
    system.shutdown(PATIENCE);
    assert!(clerks[1].has_ended());
    assert_eq!(threads.take().len(), 1);
    drop(hook);
}
