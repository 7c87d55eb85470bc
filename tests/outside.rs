//! Threads that have entered no runtime. What they use is one for the process, so these tests are
//! alone in theirs, and run one at a time.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use coact::Context;
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::pubsub::{ActorStarted, MessageDropped, events};
use coact::registry::lookup;
use coact::runtime::{BuildError, Fault, RuntimeHandle, blocking, spawn_future};
use coact::system::{System, SystemError};
use coact_tests::{Faults, Log, PATIENCE};

struct Idle;
impl Actor for Idle {}

struct Wait(Log<&'static str>);
impl Actor for Wait {}

struct Say(&'static str);
impl Message for Say {
    type Reply = ();
}

impl Handler<Say> for Wait {
    fn handle(&mut self, say: Say, _: &mut Context<Self>) {
        self.0.push(say.0);
    }
}

fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn system(name: &str, faults: &Faults) -> coact::system::SystemBuilder {
    let faults = faults.clone();
    let hook = move |fault: &Fault| faults.push(fault.clone());
    System::builder().workers(1).main(|main| main.name(name).panic_hook(hook))
}

/// The threads and runtimes that are named in faults.
fn told(faults: &Faults) -> Vec<(String, &'static str)> {
    let place = |fault| match fault {
        Fault::NotEntered { thread, runtime, .. } => (thread, runtime),
        other => panic!("another fault: {other:?}"),
    };
    faults.take().into_iter().map(place).collect()
}

/// On a thread of that name that has entered nothing.
fn on<R: Send>(name: &str, main: impl FnOnce() -> R + Send) -> R {
    thread::scope(|s| {
        let thread = thread::Builder::new().name(name.to_owned()).spawn_scoped(s, main).unwrap();
        thread.join().unwrap()
    })
}

#[test]
fn t7_the_global_runtime_beside_a_system_is_told_once() {
    let _alone = alone();
    let faults = Faults::new();
    let first = system("first", &faults).build().unwrap();
    // A thread that has entered one is not meant, nor one that asks for it by name.
    drop(first.run(|| (spawn(Idle), Cown::new(0), events())));
    let home = first.runtime();
    on("entered", || {
        let _entered = home.enter();
        assert_eq!(Cown::new(0).runtime(), home);
    });
    let _ = Runtime::global();
    assert_eq!(told(&faults), []);
    let stray =
        on("stray", || (spawn(Idle).runtime(), Cown::new(0).runtime(), RuntimeHandle::current()));
    let global = Runtime::global().handle();
    assert_eq!(stray, (global, global, global));
    assert_eq!(told(&faults), [("stray".to_owned(), "first")]);
    // Not again, but to one that comes later.
    on("again", || drop(Cown::new(0)));
    assert_eq!(told(&faults), []);
    let second = system("second", &faults).build().unwrap();
    on("later", || _ = events());
    assert_eq!(told(&faults), [("later".to_owned(), "second")]);
    drop((first, second));
    let third = system("third", &faults).build().unwrap();
    drop(third);
    on("after", || drop(Cown::new(0)));
    assert_eq!(told(&faults), []);
}

#[test]
fn t7_each_way_to_the_global_runtime_is_told() {
    type Way = (&'static str, fn());
    let ways: [Way; 9] = [
        ("cown", || drop(Cown::new(0))),
        ("group", || drop(Group::new())),
        ("spawn", || drop(spawn(Idle))),
        ("events", || _ = events()),
        ("lookup", || drop(lookup::<Idle>("nobody"))),
        ("after", || _ = after(Duration::ZERO, (), |()| ())),
        ("sleep", || drop(coact::time::sleep(Duration::ZERO))),
        ("blocking", || drop(blocking(|| ()))),
        ("future", || drop(spawn_future(async {}))),
    ];
    let _alone = alone();
    for (name, way) in ways {
        let faults = Faults::new();
        let system = system("system", &faults).build().unwrap();
        on(name, way);
        assert_eq!(told(&faults), [(name.to_owned(), "system")]);
        drop(system);
    }
}

/// What a thread does with actors and cowns that it has got is no use of the global runtime.
#[test]
fn t7_handles_are_used_from_everywhere() {
    let _alone = alone();
    let (faults, log) = (Faults::new(), Log::new());
    let system = system("system", &faults).build().unwrap();
    let (dropped, drops) = std::sync::mpsc::channel();
    let far = log.clone();
    let (actor, cown, _subscription) = system.run(move || {
        let subscription = events().subscribe_fn(move |gone: MessageDropped| {
            let _ = dropped.send(gone.actor);
        });
        let mailbox = Mailbox::bounded(1).drop_newest();
        (actor(Wait(far)).mailbox(mailbox).spawn(), Cown::new(0), subscription)
    });
    on("stray", || {
        when(&cown, |n| *n += 1);
        after(Duration::from_millis(1), &cown, |n| *n += 1);
        let timer = every(Duration::from_secs(3600), (&cown, &actor), |_| ());
        assert!(timer.cancel());
        actor.send_later(Duration::from_millis(1), Say("later"));
        // It needs the only room that there is.
        system.wait_idle();
        let timer = actor.send_every(Duration::from_secs(3600), || Say("never"));
        assert!(timer.cancel());
        assert_eq!(actor.ask(Say("asked")).timeout(PATIENCE).wait(), Ok(()));
        actor.ask(Say("forwarded")).wait().unwrap();
        // What happens to an actor is told where it lives.
        actor.suspend().unwrap();
        (0..2).for_each(|_| drop(actor.send(Say("too many"))));
    });
    assert_eq!(drops.recv_timeout(PATIENCE), Ok(actor.id()));
    actor.resume().unwrap();
    system.wait_idle();
    assert_eq!(call(&cown, |n| *n).wait(), Ok(2));
    assert!(log.take().contains(&"later"));
    let report = on("stray", move || system.shutdown(PATIENCE));
    assert!(report.is_complete(), "{report}");
    assert_eq!(told(&faults), []);
}

#[test]
fn a_system_may_be_the_default() {
    let _alone = alone();
    let faults = Faults::new();
    let default = system("default", &faults).as_default().build().unwrap();
    let home = default.runtime();
    let started = Log::new();
    let far = started.clone();
    // All of it without entering.
    let _subscription = events().subscribe_fn(move |actor: ActorStarted| far.push(actor.actor));
    let actor = on("other", || spawn(Idle));
    assert_eq!((actor.runtime(), Cown::new(0).runtime()), (home, home));
    let named = actor_named();
    assert_eq!(lookup::<Idle>("the one").unwrap(), named);
    let (resolver, promise) = Promise::channel();
    after(Duration::from_millis(1), (), move |()| resolver.resolve(RuntimeHandle::current()));
    assert_eq!(promise.wait(), Ok(home));
    default.wait_idle();
    assert!(started.take().contains(&actor.id()));
    // One that is entered comes first.
    let other = system("other", &faults).build().unwrap();
    assert_eq!(other.run(|| Cown::new(0).runtime()), other.runtime());
    // There is one default at a time.
    let refused = system("second", &faults).as_default().build();
    let Err(SystemError::Build { error, .. }) = refused else { panic!("two defaults") };
    assert!(matches!(error, BuildError::DefaultTaken("default")), "{error}");
    drop(default);
    let second = system("second", &faults).as_default().build().unwrap();
    assert_eq!(Cown::new(0).runtime(), second.runtime());
    let report = second.shutdown(PATIENCE);
    assert!(report.is_complete(), "{report}");
    assert_eq!(told(&faults), []);
    // Without a default it is the global one, and `other` is told.
    assert_eq!(on("main", || Cown::new(0).runtime()), Runtime::global().handle());
    assert_eq!(told(&faults), [("main".to_owned(), "other")]);
}

fn actor_named() -> Addr<Idle> {
    actor(Idle).named("the one").spawn()
}

#[test]
fn the_runtimes_have_names_of_their_own() {
    let _alone = alone();
    let system = System::builder().workers(1).build().unwrap();
    assert_eq!(
        (system.runtime().name(), Runtime::global().handle().name()),
        ("coact", "coact-global")
    );
}
