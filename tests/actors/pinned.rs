//! Actors that are not `Send`, on the thread of a pump.

use std::cell::Cell;
use std::rc::Rc;
use std::thread::{self, ThreadId};
use std::time::Duration;

use coact::Context;
use coact::actor::{AnyAddr, Stopped, spawn_local};
use coact::prelude::*;
use coact::runtime::{Pump, blocking};
use coact::sim::{Config, Sim};
use coact::system::{PumpActors, System};
use coact_tests::{Log, panic_of};

use crate::world::{Bomb, Diary};

fn pump() -> Pump {
    Runtime::builder().name("pump").panic_hook(|_| ()).build_pumped().unwrap()
}

/// Pumps until something holds of which the pump is not told.
fn pump_until(pump: &Pump, done: impl Fn() -> bool) {
    while !done() {
        pump.run_future(pump.runtime().sleep(Duration::from_millis(1))).unwrap();
    }
}

/// What happened, and on which thread.
type Notes = Log<(&'static str, ThreadId)>;

/// What no other thread may touch. Its destructor says where it ran.
struct Window {
    /// Shared with the test: counted without atomics.
    drawn: Rc<Cell<u32>>,
    log: Notes,
}

impl Window {
    fn new() -> (Self, Rc<Cell<u32>>, Notes) {
        let (drawn, log) = (Rc::new(Cell::new(0)), Log::new());
        (Self { drawn: Rc::clone(&drawn), log: log.clone() }, drawn, log)
    }

    fn note(&self, what: &'static str) {
        self.log.push((what, thread::current().id()));
    }
}

impl Actor for Window {
    fn started(&mut self, _: &mut Context<Self>) {
        self.note("started");
    }

    fn restarted(&mut self, _: &ExitReason, _: &mut Context<Self>) {
        self.note("restarted");
    }

    fn stopped(&mut self, _: &ExitReason, _: &mut Context<Self>) {
        self.note("stopped");
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        self.note("dropped");
    }
}

struct Draw(u32);

impl Message for Draw {
    type Reply = u32;
}

impl Handler<Draw> for Window {
    fn handle(&mut self, Draw(count): Draw, _: &mut Context<Self>) -> u32 {
        self.drawn.set(self.drawn.get() + count);
        self.drawn.get()
    }
}

impl Handler<Bomb> for Window {
    fn handle(&mut self, _: Bomb, _: &mut Context<Self>) {
        panic!("boom");
    }
}

/// All that was noted happened here, in this order.
#[track_caller]
fn assert_here(log: &Notes, all: &[&str]) {
    let here = thread::current().id();
    let noted = log.take();
    assert!(noted.iter().all(|(_, thread)| *thread == here), "elsewhere");
    let noted: Vec<_> = noted.into_iter().map(|(what, _)| what).collect();
    assert_eq!(noted, all);
}

#[test]
fn it_has_the_traits_of_all_actors() {
    let (pump, (window, drawn, log)) = (pump(), Window::new());
    let window = pump.spawn(window);
    let far = window.clone();
    let other = thread::spawn(move || {
        far.send(Draw(1)).unwrap();
        let recipient = far.to_recipient::<Draw>();
        recipient.send(Draw(1)).unwrap();
        let answer = far.ask(Draw(1)).wait();
        far.stop().unwrap();
        (answer, far.ended().wait())
    });
    pump_until(&pump, || other.is_finished());
    assert_eq!(other.join().unwrap(), (Ok(3), Ok(ExitReason::Shutdown)));
    assert_eq!(drawn.get(), 3);
    assert_here(&log, &["started", "stopped", "dropped"]);
    assert!(window.has_ended());
}

#[test]
fn it_dies_here_wherever_its_last_address_is_dropped() {
    let (pump, (window, _, log)) = (pump(), Window::new());
    let window = pump.spawn(window);
    thread::spawn(move || {
        window.send(Draw(1)).unwrap();
        drop(window);
    })
    .join()
    .unwrap();
    assert!(log.is_empty());
    pump.run_until_idle(&[]);
    assert_here(&log, &["started", "stopped", "dropped"]);
}

#[test]
fn a_restart_makes_its_new_state_here() {
    let (pump, (window, _, log)) = (pump(), Window::new());
    let again = log.clone();
    let make = move || {
        let window = Window { drawn: Rc::new(Cell::new(100)), log: again.clone() };
        window.note("made");
        window
    };
    let window = pump.actor(window).restartable(make).spawn();
    pump.run_until_idle(&[]);
    let far = window.clone();
    let other = thread::spawn(move || {
        far.restart().unwrap();
        far.ask(Draw(1)).wait()
    });
    pump_until(&pump, || other.is_finished());
    assert_eq!(other.join().unwrap(), Ok(101));
    assert_here(&log, &["started", "stopped", "dropped", "made", "restarted"]);
    drop(window);
    pump.run_until_idle(&[]);
    assert_here(&log, &["stopped", "dropped"]);
}

#[test]
fn a_panic_ends_it_here() {
    let (pump, (window, _, log)) = (pump(), Window::new());
    let window = pump.spawn(window);
    let failed = window.ask(Bomb);
    let end = pump.run_future(window.ended());
    assert_eq!(end, Ok(ExitReason::Panicked("boom".into())));
    assert_eq!(pump.run_future(failed), Err(AskError::Panicked("boom".into())));
    assert_here(&log, &["started", "stopped", "dropped"]);
}

/// Behaviours over it and others run here, whatever its place in the set.
#[test]
fn behaviours_join_it_with_others() {
    let system = System::builder().workers(2).build().unwrap();
    let (pump, (window, drawn, log)) = (pump(), Window::new());
    let window = pump.spawn(window);
    struct Model(u32);
    impl Actor for Model {}
    let model = system.spawn(Model(0));
    thread::scope(|scope| {
        let threads = [0; 3].map(|_| {
            scope.spawn(|| {
                for _ in 0..100 {
                    window.send(Draw(1)).unwrap();
                    when((&window, &model), |(window, model)| {
                        model.0 += 1;
                        window.drawn.set(window.drawn.get() + 1);
                    });
                    when((&model, &window), |(model, window)| {
                        model.0 += 1;
                        window.drawn.set(window.drawn.get() + 1);
                    });
                    when(&model, |model| model.0 += 1);
                }
            })
        });
        pump_until(&pump, || threads.iter().all(thread::ScopedJoinHandle::is_finished));
    });
    pump.run_until_idle(&[system.runtime()]);
    assert_eq!((drawn.get(), call(&model, |model| model.0).wait()), (900, Ok(900)));
    assert_here(&log, &["started"]);
}

#[test]
fn it_links_with_actors_elsewhere() {
    let system = System::builder().workers(1).build().unwrap();
    let (pump, (window, _, log)) = (pump(), Window::new());
    let window = pump.spawn(window);
    let (diary, _) = Diary::new();
    let diary = system.spawn(diary);
    struct Join(AnyAddr);
    impl Message for Join {
        type Reply = ();
    }
    impl Handler<Join> for Window {
        fn handle(&mut self, Join(with): Join, context: &mut Context<Self>) {
            context.link(&with);
        }
    }
    pump.run_future(window.ask(Join(diary.to_any()))).unwrap();
    diary.kill().unwrap();
    let linked = ExitReason::Linked(diary.id(), ExitReason::Killed.into());
    assert_eq!(pump.run_future(window.ended()), Ok(linked));
    assert_here(&log, &["started", "stopped", "dropped"]);
}

#[test]
fn its_handlers_spawn_others_here() {
    struct Open;
    impl Message for Open {
        type Reply = Addr<Window>;
    }
    impl Handler<Open> for Window {
        fn handle(&mut self, _: Open, _: &mut Context<Self>) -> Addr<Window> {
            spawn_local(Window { drawn: Rc::clone(&self.drawn), log: self.log.clone() })
        }
    }
    let (pump, (window, drawn, log)) = (pump(), Window::new());
    let window = pump.spawn(window);
    let second = pump.run_future(window.ask(Open)).unwrap();
    assert_eq!(pump.run_future(second.ask(Draw(2))), Ok(2));
    assert_eq!(pump.run_future(window.ask(Draw(2))), Ok(4));
    assert_eq!(drawn.get(), 4);
    assert_here(&log, &["started", "started"]);
}

#[test]
fn local_actors_are_spawned_on_pumps_only() {
    struct Local(#[allow(dead_code)] Rc<()>);
    impl Actor for Local {}
    let message = panic_of(|| spawn_local(Local(Rc::new(()))));
    assert!(message.starts_with("a local actor is spawned on the thread of a pump"), "{message}");
    // A job of the pump's has its runtime, and not its thread.
    let pump = pump();
    let job = pump.run(|| blocking(|| panic_of(|| spawn_local(Local(Rc::new(()))))));
    let message = pump.run_future(job).unwrap();
    assert!(message.starts_with("a local actor is spawned on the thread of a pump"), "{message}");
}

/// What can go elsewhere may, even if it was begun here.
#[test]
fn a_sendable_actor_can_be_put_elsewhere_after_all() {
    let system = System::builder().workers(1).build().unwrap();
    let (pump, (diary, log)) = (pump(), Diary::new());
    let again = log.clone();
    let diary = pump.actor(diary).restartable(move || Diary { log: again.clone() });
    let diary = diary.on(system.runtime()).spawn();
    diary.restart().unwrap();
    diary.stop().unwrap();
    diary.ended().wait().unwrap();
    assert_eq!(log.len(), 6);
}

/// No thread is left that may touch it.
#[test]
fn what_outlives_its_pump_has_ended_with_it() {
    let (pump, (window, drawn, log)) = (pump(), Window::new());
    let window = pump.spawn(window);
    pump.run_until_idle(&[]);
    assert_here(&log, &["started"]);
    drop(pump);
    assert_eq!(Rc::strong_count(&drawn), 1, "the state was dropped by the thread that may");
    thread::spawn(move || {
        assert!(matches!(window.send(Draw(1)), Err(SendError::Stopped(Draw(1)))));
        assert_eq!(window.stop(), Err(Stopped));
        assert_eq!(window.ended().wait(), Ok(ExitReason::Killed));
    })
    .join()
    .unwrap();
    assert_eq!(drawn.get(), 0);
}

/// Nothing was spawned, but the state is dropped on its thread all the same.
#[test]
fn an_actor_that_was_not_spawned_is_dropped() {
    let (pump, (window, drawn, log)) = (pump(), Window::new());
    drop(pump.actor(window));
    assert_here(&log, &["dropped"]);
    assert_eq!(Rc::strong_count(&drawn), 1);
}

#[test]
fn pinned_actors_are_simulated() {
    let sim = Sim::new().config(Config::new().runs(50)).allow_faults(true);
    sim.check(|| {
        let (pump, (window, drawn, _)) = (pump(), Window::new());
        let window = pump.spawn(window);
        let threads = [0; 2].map(|_| {
            let far = window.clone();
            coact::sim::thread(move || {
                far.send(Draw(1)).unwrap();
                far.ask(Draw(1)).wait().unwrap()
            })
        });
        drop(window);
        for thread in threads {
            assert!((2..=4).contains(&pump.run_future(thread).unwrap()));
        }
        pump.run_until_idle(&[]);
        assert_eq!((drawn.get(), Rc::strong_count(&drawn)), (4, 1));
    });
}
