//! Asks whose reply is dropped by an unwinding panic: they fail with its message, once it was
//! caught.

use std::any::Any;
use std::cell::RefCell;
use std::future::Future;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, Once, mpsc};
use std::task::{self, Poll, Waker};
use std::thread;
use std::time::Duration;

use coact::Context;
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::pubsub::{Subscription, Topic};
use coact::runtime::spawn_future;
use coact::sim::{self, Sim};
use coact::system::Host;
use coact::time::sleep;
use coact_tests::{Log, PATIENCE, check_with_faults, fail};
use futures::stream::Stream;

use crate::world::{Bomb, Diary, Do, Note};

/// Takes what it is to do with the reply.
struct Clerk;

impl Actor for Clerk {}

type Work = Box<dyn FnOnce(Reply<u32>, &mut Context<Clerk>) + Send>;

struct Case(Work);

impl Message for Case {
    type Reply = u32;
}

impl Receive<Case> for Clerk {
    fn receive(&mut self, case: Case, reply: Reply<u32>, context: &mut Context<Self>) {
        (case.0)(reply, context);
    }
}

fn case(work: impl FnOnce(Reply<u32>, &mut Context<Clerk>) + Send + 'static) -> Case {
    Case(Box::new(work))
}

fn why<R: std::fmt::Debug>(answer: Result<R, AskError>) -> String {
    match answer {
        Err(AskError::Panicked(why)) => why.to_string(),
        other => panic!("it was to panic: {other:?}"),
    }
}

/// Panics when it is dropped, unless that is caught.
struct Shaky(&'static str);

impl Drop for Shaky {
    fn drop(&mut self) {
        fail(self.0);
    }
}

#[test]
fn every_form_of_asking_is_told_the_message() {
    check_with_faults(|_| {
        let bombed = |ask: fn(&Addr<Diary>) -> Result<(), AskError>| ask(&Diary::spawn().0);
        let text = "the actor panicked while it handled the message: boom";
        let wait = bombed(|diary| diary.ask(Bomb).wait());
        assert_eq!(wait.unwrap_err().to_string(), text);
        assert_eq!(why(bombed(|diary| diary.ask(Bomb).timeout(PATIENCE).wait())), "boom");
        assert_eq!(why(bombed(|diary| diary.ask_in(0, Bomb).wait())), "boom");
        let future = |diary: &Addr<Diary>| spawn_future(diary.ask_async(Bomb)).wait().unwrap();
        assert_eq!(why(bombed(future)), "boom");
        let then = |diary: &Addr<Diary>| diary.ask(Bomb).then((), |(), told| told).wait().unwrap();
        assert_eq!(why(bombed(then)), "boom");
        // The runtime's own ask of a cown says it as well.
        let (diary, _) = Diary::spawn();
        let broken = coact::call(&diary, |_| -> u32 { fail("as a cown") }).wait();
        assert_eq!(broken, Err(Broken::Panicked("as a cown".into())));
    });
}

#[test]
fn an_actor_is_told_the_message() {
    check_with_faults(|_| {
        let told = Log::new();
        let (asker, of) = (Diary::spawn().0, [0; 3].map(|_| Diary::spawn().0));
        let log = told.clone();
        let ask = move |_: &mut Diary, context: &mut Context<Diary>| {
            let [a, b, c] = &of;
            let note = |log: &Log<String>| {
                let log = log.clone();
                move |_: &mut Diary, answer, _: &mut Context<Diary>| log.push(why::<()>(answer))
            };
            context.ask(a, Bomb, note(&log));
            context.ask_timeout(b, Bomb, PATIENCE, note(&log));
            context.ask_await(c, Bomb, PATIENCE, note(&log));
        };
        asker.send(Do(ask)).unwrap();
        coact_tests::finally(move || assert_eq!(told.take(), ["boom", "boom", "boom"]));
    });
}

#[test]
fn whoever_has_the_reply_may_panic() {
    check_with_faults(|_| {
        let asked = |work: Case| why(spawn(Clerk).ask(work).wait());
        let by_hand = case(|_reply, _| fail("by hand"));
        assert_eq!(asked(by_hand), "by hand");
        let detached = case(|reply, context| context.detach(reply, async { fail("detached") }));
        assert_eq!(asked(detached), "detached");
        let held = case(|reply, context| {
            context.hold(reply, |_, _| {
                Box::pin(async {
                    let _ = sleep(Duration::from_micros(1)).await;
                    fail("held")
                })
            });
        });
        assert_eq!(asked(held), "held");
        let forwarded = case(|reply, _| {
            spawn(Clerk).forward(case(|_reply, _| fail("forwarded")), reply).ok().unwrap();
        });
        assert_eq!(asked(forwarded), "forwarded");
        let behaviour = case(|reply, _| {
            when(&Cown::new(reply), |reply| {
                let _reply = std::mem::replace(reply, Reply::unwanted());
                fail("in a behaviour");
            });
        });
        assert_eq!(asked(behaviour), "in a behaviour");
        let job = case(|reply, _| {
            drop(coact::runtime::blocking(move || {
                let _reply = reply;
                fail("in a job");
            }));
        });
        assert_eq!(asked(job), "in a job");
        let without =
            case(|_reply, _| std::panic::resume_unwind(Box::new(()) as Box<dyn Any + Send>));
        assert_eq!(asked(without), "(no message)");
    });
}

#[test]
fn several_replies_go_with_one_panic() {
    check_with_faults(|_| {
        let (clerk, kept) = (spawn(Clerk), Cown::new(Vec::new()));
        let keep = |kept: &Cown<Vec<Reply<u32>>>| {
            let kept = kept.clone();
            case(move |reply, _| when(&kept, |kept| kept.push(reply)))
        };
        let asks = [0; 3].map(|_| clerk.ask(keep(&kept)));
        coact::call(&clerk, |_| ()).wait().unwrap();
        when(&kept, |kept| {
            let _kept = std::mem::take(kept);
            fail("all of them");
        });
        assert_eq!(asks.map(|ask| why(ask.wait())), ["all of them"; 3]);
    });
}

/// A reply that is dropped by a panic in a destructor which another panic runs, and that is caught
/// there.
struct Nested(Option<Reply<u32>>);

impl Drop for Nested {
    fn drop(&mut self) {
        let reply = self.0.take();
        let inner = catch_unwind(AssertUnwindSafe(move || {
            let _reply = reply;
            fail("inner");
        }));
        assert!(inner.is_err());
    }
}

#[test]
fn of_nested_panics_the_outer_one_is_told() {
    check_with_faults(|_| {
        let nested = case(|reply, _| {
            let _nested = Nested(Some(reply));
            fail("outer");
        });
        assert_eq!(why(spawn(Clerk).ask(nested).wait()), "outer");
    });
}

/// Has another actor, which runs on its callers, panic while a panic runs this.
struct Other(Option<Addr<Clerk>>, Log<Ask<u32>>);

impl Drop for Other {
    fn drop(&mut self) {
        let ask = self.0.take().map(|other| other.ask(case(|_reply, _| fail("the other one's"))));
        self.1.push(ask.expect("it is dropped once"));
    }
}

#[test]
fn a_panic_on_the_spot_within_another_has_its_own_message() {
    check_with_faults(|_| {
        let (inner, log) = (actor(Clerk).on(Host::caller()).spawn(), Log::new());
        let asks = log.clone();
        let outer = spawn(Clerk).ask(case(move |_reply, _| {
            let _other = Other(Some(inner), asks);
            fail("its own");
        }));
        assert_eq!(why(outer.wait()), "its own");
        let ask = log.take().pop().unwrap();
        assert_eq!(why(ask.wait()), "the other one's");
    });
}

#[test]
fn a_payload_that_panics_does_not_take_the_place_of_its_panic() {
    check_with_faults(|_| {
        let odd = case(|_reply, _| std::panic::resume_unwind(Box::new(Shaky("the payload's"))));
        assert_eq!(why(spawn(Clerk).ask(odd).wait()), "(no message)");
    });
}

#[test]
fn an_actor_that_catches_its_panic_fails_the_ask_all_the_same() {
    check_with_faults(|_| {
        let clerk = spawn(Clerk);
        let caught = clerk.ask(case(|reply, _| {
            let caught = catch_unwind(AssertUnwindSafe(move || {
                let _reply = reply;
                fail("caught");
            }));
            assert!(caught.is_err());
        }));
        // The next panic, in another task of perhaps the same thread, has another ask.
        let next = spawn(Clerk).ask(case(|_reply, _| fail("the next")));
        assert_eq!(why(next.wait()), "the next");
        let told = why(caught.timeout(PATIENCE).wait());
        assert_eq!(told, "(no message)");
        assert!(!clerk.has_ended());
    });
}

/// Nothing of a runtime's is on such a thread's stack, so the message cannot be known.
#[test]
fn a_thread_that_panics_fails_the_ask_at_once() {
    let (to, replies) = mpsc::channel();
    let ask = spawn(Clerk).ask(case(move |reply, _| to.send(reply).unwrap()));
    let reply = replies.recv().unwrap();
    let panicked = thread::spawn(move || {
        let _reply = reply;
        fail("alone");
    });
    assert!(panicked.join().is_err());
    let told = pin!(ask).poll(&mut task::Context::from_waker(Waker::noop()));
    assert!(matches!(told, Poll::Ready(Err(AskError::Panicked(why))) if &*why == "(no message)"));
}

#[test]
fn an_ask_that_fails_so_is_told_in_any_schedule() {
    let program = || {
        let (clerk, log) = (spawn(Clerk), Log::new());
        let threads = ["one", "two"].map(|name| {
            let (clerk, log) = (clerk.clone(), log.clone());
            sim::thread(move || {
                let restartable = actor(Clerk).restartable(|| Clerk).spawn();
                log.push(why(restartable.ask(case(move |_reply, _| fail(name))).wait()));
                drop(clerk);
            })
        });
        let _ = threads.map(|thread| thread.wait().unwrap());
        let told: Arc<[String]> = log.take().into();
        assert!(["one", "two"].iter().all(|name| told.contains(&(*name).to_owned())), "{told:?}");
    };
    Sim::new().allow_faults(true).check(program);
}

thread_local! {
    /// Where this thread has panicked last.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The file in which the call panics, by its panic's location.
fn place_of<R>(call: impl FnOnce() -> R) -> String {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let place = info.location().map(|place| place.file().to_owned());
            PLACE.with(|last| *last.borrow_mut() = place);
            before(info);
        }));
    });
    PLACE.take();
    assert!(catch_unwind(AssertUnwindSafe(call)).is_err(), "it was to panic");
    PLACE.take().expect("the hook was called")
}

#[test]
fn a_call_that_panics_points_at_its_caller() {
    let (address, _) = Diary::spawn();
    let _first = actor(Diary::new().0).named("of a caller").spawn();
    let zero = Duration::ZERO;
    let places = [
        place_of(|| actor(Diary::new().0).named("of a caller").spawn()),
        place_of(|| address.send_every(zero, || Bomb)),
        place_of(|| address.send_every_with_fixed_delay(zero, || Bomb)),
        place_of_in_handler(|| {
            let full = actor(Diary::new().0).mailbox(Mailbox::bounded(1).wait()).spawn();
            full.suspend().unwrap();
            full.send(Bomb).unwrap();
            drop(full.to_recipient::<Bomb>().send_blocking(Bomb));
        }),
    ];
    for (at, place) in places.iter().enumerate() {
        assert!(place.ends_with("panics.rs"), "{at}: {place}");
    }
}

/// The same inside of a behaviour.
fn place_of_in_handler(misuse: impl FnOnce() + Send + 'static) -> String {
    call(Cown::new(()), |_| place_of(misuse)).wait().unwrap()
}

/// Keeps two values whose destructors panic where one destructor after the other is called: a
/// second panic while the first one unwinds would end the process.
#[test]
fn two_destructors_that_panic_at_one_place_are_caught_each() {
    fn wait_for_ever<const FEED: bool>(never: &Addr<Diary>, context: &mut Context<Diary>) {
        if FEED {
            let (stream, each, end) = (Shaky("stream"), Shaky("each"), Shaky("end"));
            context.attach(Endless(stream)).on_end(move |_, _, _| drop(end)).each(move |()| {
                let _ = &each;
                Note("never")
            });
        } else {
            for _ in 0..3 {
                let shaky = Shaky("ask");
                context.ask_await(never, Note("never"), PATIENCE, move |_, _, _| drop(shaky));
            }
        }
    }
    check_with_faults(|_| {
        let topic = Topic::<()>::new();
        let all: Arc<Mutex<Vec<Subscription>>> = Arc::default();
        for _ in 0..3 {
            let (shaky, them) = (Shaky("subscriber"), Arc::clone(&all));
            let one = topic.subscribe_fn(move |()| {
                let _ = &shaky;
                let them = std::mem::take(&mut *them.lock().unwrap());
                drop(them);
            });
            all.lock().unwrap().push(one);
        }
        topic.publish(());
        let never = spawn(Diary::new().0);
        never.suspend().unwrap();
        for wait in [wait_for_ever::<false>, wait_for_ever::<true>] {
            for end in [Addr::kill, Addr::stop, Addr::restart] {
                let waits = actor(Diary::new().0).restartable(|| Diary::new().0).spawn();
                let never = never.clone();
                let begin =
                    move |_: &mut Diary, context: &mut Context<Diary>| wait(&never, context);
                waits.ask(Do(begin)).wait().unwrap();
                end(&waits).unwrap();
                let _ = waits.kill();
                waits.ended().wait().unwrap();
            }
        }
        never.kill().unwrap();
    });
}

/// A stream without items.
struct Endless(#[expect(dead_code, reason = "it is dropped with it")] Shaky);

impl Stream for Endless {
    type Item = ();

    fn poll_next(self: Pin<&mut Self>, _: &mut task::Context<'_>) -> Poll<Option<()>> {
        Poll::Pending
    }
}

/// Does something when it is dropped.
struct Last(Option<Box<dyn FnOnce() + Send>>);

impl Last {
    fn new(last: impl FnOnce() + Send + 'static) -> Self {
        Self(Some(Box::new(last)))
    }
}

impl Drop for Last {
    fn drop(&mut self) {
        if let Some(last) = self.0.take() {
            last();
        }
    }
}

impl Actor for Last {}

/// Keeps a reply until it is to forget it.
#[derive(Default)]
struct Keeper(Option<Reply<u32>>);

impl Actor for Keeper {}

struct Keep;

impl Message for Keep {
    type Reply = u32;
}

impl Receive<Keep> for Keeper {
    fn receive(&mut self, _: Keep, reply: Reply<u32>, _: &mut Context<Self>) {
        self.0 = Some(reply);
    }
}

struct Forget;

impl Message for Forget {
    type Reply = ();
}

impl Handler<Forget> for Keeper {
    fn handle(&mut self, _: Forget, _: &mut Context<Self>) {
        self.0 = None;
    }
}

/// An actor that keeps a reply, and that ask.
fn keeper(host: Host) -> (Addr<Keeper>, Ask<u32>) {
    let keeper = actor(Keeper::default()).on(host).spawn();
    let ask = keeper.ask(Keep);
    coact::call(&keeper, |_| ()).wait().unwrap();
    (keeper, ask)
}

/// The ways to have a keeper forget what it keeps: on the spot, if it is free.
const FORGETS: [fn(&Addr<Keeper>); 3] = [
    |keeper| keeper.send(Forget).unwrap(),
    |keeper| _ = coact::when_here(keeper, |keeper| keeper.0 = None),
    |keeper| drop(coact::call_here(keeper, |keeper| keeper.0 = None)),
];

/// What the state of an actor that ends runs on the spot is not part of it: its replies fail for
/// what it does.
#[test]
fn what_the_end_of_an_actor_runs_on_the_spot_is_not_part_of_that_end() {
    for forget in FORGETS {
        for end in [Addr::kill, Addr::stop] as [fn(&Addr<Last>) -> _; 2] {
            check_with_faults(move |_| {
                let (keeper, ask) = keeper(Host::caller());
                let other = keeper.clone();
                let last = spawn(Last::new(move || forget(&other)));
                let _: Result<(), _> = end(&last);
                assert_eq!(ask.wait(), Err(AskError::NoReply));
                assert!(!keeper.has_ended());
            });
        }
    }
}

#[test]
fn a_panic_on_the_spot_in_the_end_of_an_actor_has_its_own_message() {
    check_with_faults(|_| {
        let (inner, log) = (actor(Clerk).on(Host::caller()).spawn(), Log::new());
        let asks = log.clone();
        let last = spawn(Last::new(move || {
            asks.push(inner.ask(case(|_reply, _| fail("the other one's"))));
        }));
        last.kill().unwrap();
        last.ended().wait().unwrap();
        let ask = log.take().pop().unwrap();
        assert_eq!(why(ask.wait()), "the other one's");
    });
}

/// A panic runs a destructor that has a keeper forget: the keeper does not panic.
#[test]
fn what_a_panic_runs_on_the_spot_does_not_fail_for_it() {
    for forget in FORGETS {
        check_with_faults(move |_| {
            let (keeper, ask) = keeper(Host::caller());
            let other = keeper.clone();
            let outer = spawn(Clerk).ask(case(move |_reply, _| {
                let _last = Last::new(move || forget(&other));
                fail("its own");
            }));
            assert_eq!(why(outer.wait()), "its own");
            assert_eq!(ask.wait(), Err(AskError::NoReply));
            assert!(!keeper.has_ended());
        });
    }
}
