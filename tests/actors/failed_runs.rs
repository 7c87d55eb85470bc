//! Simulated runs that fail while actors are about: each is reported by what went wrong first, and
//! the next one runs as if nothing had been. (Without actors: `sim_failures.rs` of the core.)

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::runtime::RuntimeHandle;
use coact::sim::{self, Config, Failure, Method, Sim};
use coact::supervise::{Supervisor, Tree, permanent};
use coact::{Batch, Context, when_here};
use coact_tests::panic_of;

use crate::world::{Bomb, Diary, Do, Note};

/// Reaches others in its last hook: by a message, an ask and a behaviour.
struct Parting {
    diary: Addr<Diary>,
    cown: Cown<u32>,
}

impl Actor for Parting {
    fn stopped(&mut self, _: &ExitReason, _: &mut Context<Self>) {
        let _ = self.diary.send(Note("stopped"));
        drop(self.diary.ask(Note("who is there?")));
        when((&self.diary, &self.cown), |(_, n)| *n += 1);
    }
}

/// Spawns when it goes.
struct Spawns {
    diary: Addr<Diary>,
    cown: Cown<u32>,
    gone: Arc<AtomicUsize>,
}

impl Drop for Spawns {
    fn drop(&mut self) {
        self.gone.fetch_add(1, Ordering::Relaxed);
        when(&self.cown, |n| *n += 1);
        when((&self.diary, &self.cown), |(_, n)| *n += 1);
        let _ = self.diary.send(Note("gone"));
    }
}

/// What is let go where a run fails, or is left there: the last handles of their actors.
struct Company {
    _spawns: Spawns,
    _diary: Addr<Diary>,
    _parting: Addr<Parting>,
    _supervisor: Supervisor,
    /// That was not spawned.
    _tree: Tree,
}

impl Company {
    fn new(gone: &Arc<AtomicUsize>) -> Self {
        let (diary, cown) = (Diary::spawn().0, Cown::new(0));
        let (far, number) = (diary.clone(), cown.clone());
        let parting = move || Parting { diary: far.clone(), cown: number.clone() };
        let tree = || {
            let mut tree = Supervisor::one_for_all();
            drop([(); 2].map(|()| tree.child(permanent(parting.clone()))));
            tree
        };
        Self {
            _parting: spawn(parting()),
            _supervisor: tree().spawn(),
            _tree: tree(),
            _diary: Diary::spawn().0,
            _spawns: Spawns { diary, cown, gone: Arc::clone(gone) },
        }
    }
}

/// How often a company has gone.
#[derive(Clone, Default)]
struct Gone(Arc<AtomicUsize>);

impl Gone {
    fn company(&self) -> Company {
        Company::new(&self.0)
    }
}

/// Actors and threads that are in the midst of something when the run fails.
fn surround(gone: &Gone) {
    let (busy, company) = (Diary::spawn().0, gone.company());
    let hears = move |_: &mut Diary, _: &mut Context<Diary>| drop(company);
    busy.send(Do(hears)).unwrap();
    let suspended = gone.company();
    suspended._diary.suspend().unwrap();
    suspended._diary.send(Note("unread")).unwrap();
    drop(suspended._diary.ask(Note("unanswered")));
    let company = gone.company();
    drop(sim::thread(move || {
        let _suspended = suspended;
        let _company = company;
        let _ = never().wait();
    }));
}

/// A promise that is not kept.
fn never() -> Promise<()> {
    let (resolver, promise) = Promise::channel();
    std::mem::forget(resolver);
    promise
}

/// Checks that a program fails for a reason on each schedule, and in the same way when it is run
/// again; that `parting` companies at least have gone meanwhile; and that other programs run
/// afterwards.
#[track_caller]
fn assert_fails(because: &str, parting: usize, program: impl Fn(&Gone) + Clone + 'static) {
    for method in [Method::Random, Method::Pct { depth: 3 }, Method::Fifo] {
        let failure = run(method, parting, program.clone());
        let first = failure.cause().lines().next().unwrap_or_default();
        assert!(first.contains(because), "{failure}");
        let report = failure.to_string();
        assert!(report.contains(&format!("COACT_SIM_SEED={}", failure.seed())), "{report}");
        let again = run(Method::Replay(failure.schedule().clone()), parting, program.clone());
        assert_eq!(failure.cause(), again.cause());
        assert_others_run();
    }
}

#[track_caller]
fn run(method: Method, parting: usize, program: impl Fn(&Gone) + 'static) -> Failure {
    let gone = Gone::default();
    let seen = gone.clone();
    let config = Config::new().method(method).runs(20);
    let run = move || {
        seen.0.store(0, Ordering::Relaxed);
        surround(&seen);
        program(&seen);
    };
    let failure = Sim::new().config(config).run(run).expect_err("it is to fail");
    let gone = gone.0.load(Ordering::Relaxed);
    assert!(gone >= parting, "only {gone} companies have gone: {failure}");
    failure
}

#[track_caller]
fn assert_others_run() {
    Sim::new().config(Config::new().runs(5)).check(|| {
        let gone = Gone::default();
        let company = gone.company();
        assert_eq!(company._diary.ask(Note("first")).wait(), Ok(2));
        let (diary, number) = (company._spawns.diary.clone(), company._spawns.cown.clone());
        drop(company);
        Runtime::wait_idle_all(&[RuntimeHandle::current()]);
        // Two of the guard's, and one of each that called its last hook: alone, and two children.
        assert_eq!(call(&number, |n| *n).wait(), Ok(2 + 3));
        assert_eq!(gone.0.load(Ordering::Relaxed), 1);
        diary.stop().unwrap();
        assert_eq!(diary.ended().wait(), Ok(ExitReason::Shutdown));
    });
}

#[test]
fn the_main_program_panics() {
    assert_fails("in the main program", 1, |gone| {
        let _company = gone.company();
        panic!("in the main program");
    });
}

/// With one that it has made itself, and one that it was given.
#[test]
fn a_thread_panics() {
    assert_fails("in a thread", 2, |gone| {
        let (given, gone) = (gone.company(), gone.clone());
        drop(sim::thread(move || {
            let (_given, _own) = (given, gone.company());
            panic!("in a thread");
        }));
    });
}

/// What comes of the first panic is not reported in its place.
#[test]
fn a_thread_panics_and_others_do_because_of_it() {
    assert_fails("in a thread", 2, |gone| {
        let (_own, given) = (gone.company(), gone.company());
        let thread = sim::thread(move || {
            let _given = given;
            panic!("in a thread");
        });
        thread.wait().expect("this comes of it");
    });
}

/// On a cown, on an actor, and on both.
#[test]
fn a_behaviour_panics() {
    fn body(gone: &Gone) -> impl FnOnce() + Send + 'static {
        let (given, gone) = (gone.company(), gone.clone());
        move || {
            let (_given, _own) = (given, gone.company());
            panic!("in a behaviour");
        }
    }
    fn cown(gone: &Gone) {
        let body = body(gone);
        when(Cown::new(gone.company()), move |_| body());
    }
    fn actor(gone: &Gone) {
        let body = body(gone);
        when(&Diary::spawn().0, move |_| body());
    }
    fn both(gone: &Gone) {
        let (cown, body) = (Cown::new(gone.company()), body(gone));
        when((&Diary::spawn().0, &cown), move |_| body());
    }
    for program in [cown, actor, both] {
        assert_fails("in a behaviour", 2, program);
    }
}

/// Of an actor that has company in its message, and more behind.
#[test]
fn a_handler_panics() {
    assert_fails("in a handler", 2, |gone| {
        let (diary, _) = Diary::spawn();
        let (given, own) = (gone.company(), gone.clone());
        let panics = move |_: &mut Diary, _: &mut Context<Diary>| {
            let (_given, _own) = (given, own.company());
            panic!("in a handler");
        };
        diary.send(Do(panics)).unwrap();
        let unread = gone.company();
        let _ = diary.send(Do(move |_: &mut Diary, _: &mut Context<Diary>| drop(unread)));
        let _ = diary.ask(Note("unread")).wait();
    });
}

/// Is restarted, which does not make it good.
#[test]
fn a_child_panics() {
    assert_fails("boom", 0, |gone| {
        let mut tree = Supervisor::one_for_one();
        let child = tree.child(permanent(|| Diary::new().0));
        let (_supervisor, _company) = (tree.spawn(), gone.company());
        child.send(Bomb).unwrap();
        child.ask(Note("again")).wait().unwrap();
    });
}

/// What an actor does at its end, when the last address goes.
#[test]
fn a_last_hook_panics() {
    struct Bad(#[allow(dead_code)] Company);
    impl Actor for Bad {
        fn stopped(&mut self, _: &ExitReason, _: &mut Context<Self>) {
            panic!("in the last hook");
        }
    }
    assert_fails("in the last hook", 1, |gone| {
        let _company = gone.company();
        drop(spawn(Bad(gone.company())));
    });
}

/// Nothing unwinds then: what is on the stacks stays there.
#[test]
fn nobody_can_go_on() {
    assert_fails("deadlock", 0, |gone| {
        let company = gone.company();
        company._diary.suspend().unwrap();
        let _ = company._diary.ask(Note("unread")).wait();
    });
}

/// The wait is a destructor's, after a panic whose message is known only where it is caught.
#[test]
fn an_actor_is_waited_for_in_vain_during_a_panic() {
    struct Waits(Company);
    impl Drop for Waits {
        fn drop(&mut self) {
            let _ = self.0._diary.ended().wait();
        }
    }
    assert_fails("deadlock", 0, |gone| {
        let waits = Waits(gone.company());
        drop(sim::thread(move || {
            let _waits = waits;
            panic!("in a thread");
        }));
    });
}

/// A thread of `std` is no part of a simulation: what it spawns is refused to its face, whatever
/// the actor is doing.
#[test]
fn a_thread_outside_is_refused() {
    fn refused<R>(call: impl FnOnce() -> R + Send) {
        let why = thread::scope(|s| s.spawn(|| panic_of(call)).join().unwrap());
        assert!(why.contains("was spawned outside of its simulation"), "{why}");
    }
    for has_started in [true, false] {
        Sim::new().config(Config::new().runs(1)).check(move || {
            let (plain, log) = Diary::spawn();
            let bounded = actor(Diary { log: log.clone() }).mailbox(Mailbox::bounded(3)).spawn();
            let cown = Cown::new(0);
            if has_started {
                Runtime::wait_idle_all(&[RuntimeHandle::current()]);
            }
            for diary in [&plain, &bounded] {
                refused(|| diary.send(Note("from outside")));
                refused(|| diary.ask(Note("from outside")).wait());
                refused(|| when(diary, |_| ()));
                refused(|| when((&cown, diary), |_| ()));
                refused(|| call((diary.read(), &cown), |_| ()).wait());
                refused(|| Batch::new().when(diary, |_| ()).spawn());
                refused(|| when_here(diary, |_| ()));
            }
            assert!(plain.ask(Note("from inside")).wait().is_ok());
            assert!(bounded.ask(Note("from inside")).wait().is_ok());
            assert!(log.take().iter().all(|note| note != "from outside"));
        });
    }
}
