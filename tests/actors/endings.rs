//! Runtimes that end, and what becomes of the actors in them.
//!
//! Each kind of actor is put into a runtime that is shut down in time, and into one that is
//! dropped.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use coact::Context;
use coact::actor::{Receive, Reply, Stopped, actor};
use coact::group::Group;
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::runtime::MoveError;
use coact::sim::{self, Config, Sim};
use coact::supervise::{Supervisor, permanent};
use coact::system::{Host, PumpActors, System};
use coact_tests::{Faults, Log, PATIENCE, runtime};

use crate::supervision::Worker;
use crate::world::{Diary, Do, Note};

const END: &str = "stopped: it was told to stop";

/// How an actor ends with its runtime.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// There is time for `stopped`.
    Ordered,
    /// There is none.
    CutOff,
}

impl Way {
    fn reason(self) -> ExitReason {
        match self {
            Way::Ordered => ExitReason::Shutdown,
            Way::CutOff => ExitReason::Killed,
        }
    }
}

fn system() -> System {
    System::builder()
        .workers(2)
        .dispatcher("side", |side| side.workers(1))
        .blocking_threads(4)
        .build()
        .unwrap()
}

/// Ends a system with actors in it, in each way.
fn in_each_way(program: impl Fn(&System) -> Box<dyn FnOnce(Way)>) {
    in_each_way_leaving(0, program);
}

/// The same where this number of messages is not handled.
fn in_each_way_leaving(unhandled: usize, program: impl Fn(&System) -> Box<dyn FnOnce(Way)>) {
    for way in [Way::Ordered, Way::CutOff] {
        let system = system();
        let verdict = {
            let _entered = system.enter();
            program(&system)
        };
        match way {
            Way::Ordered => {
                let report = system.shutdown(PATIENCE);
                let abandoned = report.runtimes.iter().map(|(_, report)| report.abandoned);
                assert_eq!(abandoned.sum::<usize>(), unhandled, "{report}");
                assert_eq!(report.is_complete(), unhandled == 0, "{report}");
            }
            Way::CutOff => drop(system),
        }
        verdict(way);
    }
}

/// Looks at an actor of a runtime that has ended in every way that there is.
fn assert_ended<A: Actor + Handler<Note>>(address: &Addr<A>, way: Way) {
    assert!(address.has_ended());
    assert_eq!(address.exit_reason(), Some(way.reason()));
    assert_eq!(address.ended().wait(), Ok(way.reason()));
    assert!(matches!(address.send(Note("late")), Err(SendError::Stopped(Note("late")))));
    assert_eq!(address.ask(Note("late")).wait().err(), Some(AskError::Stopped(way.reason())));
    assert_eq!(address.stop(), Err(Stopped));
    assert_eq!(address.names().len(), 0);
    let (to, told) = mpsc::channel();
    address.on_down(move |down| to.send(down.reason).unwrap());
    assert_eq!(told.try_recv(), Ok(way.reason()));
}

/// One diary, brought into some condition, and what its log says in the end.
fn ends(prepare: impl Fn(&System, Diary) -> Addr<Diary>) {
    in_each_way(|system| {
        let (diary, log) = Diary::new();
        let address = prepare(system, diary);
        let far = tests_of_others(&address);
        Box::new(move |way| {
            assert_ended(&address, way);
            far(way);
            drop(address);
            let log = log.take();
            assert_eq!(log.iter().filter(|entry| *entry == END).count(), {
                usize::from(way == Way::Ordered)
            });
            assert_eq!(log.last().map(String::as_str), Some("dropped"), "{log:?}");
        })
    });
}

/// Those who are told, in another runtime and in none.
fn tests_of_others(address: &Addr<Diary>) -> Box<dyn FnOnce(Way)> {
    let other = System::builder().workers(1).build().unwrap();
    let (observer, observed) = Diary::new();
    let observer = other.spawn(observer);
    let (linked, _) = Diary::new();
    let linked = other.spawn(linked);
    let (to, told) = mpsc::channel();
    address.on_down(move |down| to.send(down.reason).unwrap());
    let ended = address.ended();
    let (far, near) = (address.clone(), address.clone());
    let ready = [
        observer.ask(Do(move |_: &mut Diary, context: &mut Context<Diary>| {
            context.monitor(&far);
        })),
        linked.ask(Do(move |_: &mut Diary, context: &mut Context<Diary>| context.link(&near))),
    ];
    ready.into_iter().for_each(|ready| ready.wait().unwrap());
    // Links are made by signals, which this comes after.
    linked.ask(Note("linked")).wait().unwrap();
    Box::new(move |way| {
        assert_eq!(told.try_recv(), Ok(way.reason()), "a waiter is told before the end");
        assert_eq!(ended.wait(), Ok(way.reason()));
        other.wait_idle();
        let down = format!("down: {}", way.reason());
        assert_eq!(observed.take().iter().filter(|entry| **entry == down).count(), 1);
        // A normal end does not spread.
        assert_eq!(linked.has_ended(), way == Way::CutOff);
        drop(observer);
    })
}

#[test]
fn m11_an_actor_with_addresses_ends() {
    ends(|system, diary| system.spawn(diary));
}

#[test]
fn an_actor_that_nobody_sent_anything_to_ends() {
    ends(|system, diary| {
        let address = system.spawn(diary);
        system.wait_idle();
        address
    });
}

#[test]
fn m11_a_named_actor_ends_and_its_name_is_free() {
    in_each_way(|system| {
        let (diary, _) = Diary::new();
        let address = actor(diary).named("clerk").spawn();
        let registry = coact::registry::Registry::of(system.runtime());
        assert!(registry.lookup::<Diary>("clerk").is_ok());
        Box::new(move |way| {
            assert_ended(&address, way);
            assert!(registry.holder("clerk").is_none());
            assert!(registry.names().is_empty());
        })
    });
}

#[test]
fn m11_an_actor_on_any_host_ends() {
    ends(|system, diary| actor(diary).on(system.dispatcher("side").unwrap()).spawn());
    ends(|_, diary| actor(diary).on(Host::detached()).spawn());
    ends(|_, diary| actor(diary).on(Host::blocking()).spawn());
    ends(|_, diary| actor(diary).on(Host::caller()).spawn());
    ends(|_, diary| actor(diary).in_group(&Group::new()).spawn());
}

#[test]
fn an_actor_that_was_moved_ends_with_its_new_home() {
    ends(|system, diary| {
        let address = system.spawn(diary);
        address.move_to(system.dispatcher("side").unwrap()).unwrap();
        address.ask(Note("there")).wait().unwrap();
        address
    });
    let [one, two] = [(); 2].map(|()| System::builder().workers(1).build().unwrap());
    let (diary, _) = Diary::new();
    let address = one.spawn(diary);
    address.move_to(two.runtime()).unwrap();
    address.ask(Note("there")).wait().unwrap();
    one.shutdown(PATIENCE);
    assert!(!address.has_ended());
    two.shutdown(PATIENCE);
    assert_ended(&address, Way::Ordered);
    // To a runtime that has ended already.
    let (three, home) = (System::builder().workers(1).build().unwrap(), address.runtime());
    let (diary, _) = Diary::new();
    let address = three.spawn(diary);
    assert_eq!(address.move_to(home), Err(MoveError::ToEnded));
    address.ask(Note("here")).wait().unwrap();
    three.shutdown(PATIENCE);
    assert_ended(&address, Way::Ordered);
}

#[test]
fn a_group_that_was_moved_ends_with_its_new_home() {
    let [one, two] = [(); 2].map(|()| Runtime::builder().workers(1).build().unwrap());
    let group = one.run(Group::new);
    let members = [(); 3].map(|()| actor(Diary::new().0).in_group(&group).spawn());
    members[0].move_to(two.handle()).unwrap();
    members[0].ask(Note("there")).wait().unwrap();
    assert!(one.shutdown(PATIENCE).is_complete());
    assert!(members.iter().all(|member| !member.has_ended()));
    assert!(two.shutdown(PATIENCE).is_complete());
    members.iter().for_each(|member| assert_ended(member, Way::Ordered));
}

#[test]
fn a_group_that_is_moved_to_a_runtime_that_has_ended_ends() {
    let [one, two] = [(); 2].map(|()| Runtime::builder().workers(1).build().unwrap());
    let group = one.run(Group::new);
    let members = [(); 3].map(|()| actor(Diary::new().0).in_group(&group).spawn());
    // It ends between the call and the move.
    let (go, may_go) = std::sync::mpsc::channel::<()>();
    when(&members[0], move |_| may_go.recv_timeout(PATIENCE).unwrap());
    members[0].move_to(two.handle()).unwrap();
    assert!(two.shutdown(PATIENCE).is_complete());
    go.send(()).unwrap();
    for member in members {
        assert_eq!(member.ended().wait_timeout(PATIENCE).unwrap(), Ok(ExitReason::Killed));
    }
}

#[test]
fn a_suspended_actor_ends_and_asks_of_it_fail() {
    in_each_way_leaving(2, |system| {
        let (diary, _) = Diary::new();
        let address = system.spawn(diary);
        address.suspend().unwrap();
        let asks = [address.ask(Note("one")), address.ask(Note("two"))];
        Box::new(move |way| {
            assert_ended(&address, way);
            assert_eq!(address.dead_letters(), 2);
            let expected = match way {
                Way::Ordered => AskError::Stopped(ExitReason::Shutdown),
                Way::CutOff => AskError::Cancelled,
            };
            asks.into_iter().for_each(|ask| assert_eq!(ask.wait().err(), Some(expected.clone())));
        })
    });
}

/// A handler that outlasts the deadline: what stands behind it is counted when it has come to its
/// end.
#[test]
fn m11_messages_behind_a_handler_that_is_stuck_are_counted() {
    let system = system();
    let address = system.spawn(Diary::new().0);
    let (go, waits) = mpsc::channel::<()>();
    let (begun, has_begun) = mpsc::channel();
    when(&address, move |_| {
        begun.send(()).unwrap();
        let _ = waits.recv();
    });
    (0..5).for_each(|_| address.send(Note("behind")).unwrap());
    let asks = [address.ask(Note("one")), address.ask(Note("two"))];
    has_begun.recv().unwrap();
    let report = system.shutdown(Duration::from_millis(20));
    assert_eq!(report.runtimes[0].1.stuck_workers, 1, "{report}");
    drop(go);
    asks.into_iter().for_each(|ask| assert_eq!(ask.wait().err(), Some(AskError::Cancelled)));
    assert_eq!(address.ended().wait(), Ok(ExitReason::Killed));
    assert_eq!(address.dead_letters(), 7);
}

/// Reports its `stopped`.
struct Herald(mpsc::Sender<()>);

impl Actor for Herald {
    fn stopped(&mut self, _: &ExitReason, _: &mut Context<Self>) {
        self.0.send(()).unwrap();
    }
}

/// What makes a group look for its members' ends is no work of the program's.
#[test]
fn idle_actors_of_a_group_that_a_shutdown_cuts_off_are_no_work() {
    for actors in [1, 3] {
        let runtime = runtime(1, &Faults::new());
        let entered = runtime.enter();
        let group = Group::new();
        let start = |_| actor(Diary::new().0).in_group(&group).spawn();
        let all: Vec<_> = (0..actors).map(start).collect();
        all.iter().for_each(|actor| _ = actor.ask(Note("handled")).wait().unwrap());
        drop(entered);
        runtime.wait_idle();
        let report = runtime.shutdown(Duration::ZERO);
        assert_eq!(report.abandoned, 0, "{report}");
        assert!(all.iter().all(Addr::has_ended));
    }
}

/// More messages than can be handled in half of the deadline: the report says how many were not.
#[test]
fn messages_that_a_shutdown_has_no_time_for_are_told() {
    let system = system();
    let (tell, told) = mpsc::channel();
    // The oldest is the last to be told to stop.
    let _herald = system.spawn(Herald(tell));
    let address = system.spawn(Diary::new().0);
    when(&address, move |_| told.recv().unwrap());
    (0..5).for_each(|_| address.send(Note("late")).unwrap());
    let report = system.shutdown(Duration::from_millis(500));
    assert_eq!(address.exit_reason(), Some(ExitReason::Shutdown));
    assert_eq!((report.runtimes[0].1.abandoned, address.dead_letters()), (5, 5), "{report}");
    assert!(!report.is_complete());
}

#[test]
fn m11_a_held_actor_ends_and_asks_of_it_fail() {
    let program = |time: Duration| {
        let system = system();
        let address = system.spawn(Diary::new().0);
        let held = address.ask(HoldForEver);
        let behind = address.ask(Note("behind"));
        let report = system.shutdown(time);
        (address, held.wait(), behind.wait(), report)
    };
    // Half of the time is left for its end.
    let (address, held, behind, report) = program(Duration::from_millis(100));
    assert_ended(&address, Way::Ordered);
    // The handler that was waiting, and the message behind it.
    assert_eq!(report.runtimes[0].1.abandoned, 2, "{report}");
    let stopped = AskError::Stopped(ExitReason::Shutdown);
    assert_eq!((held.err(), behind.err()), (Some(stopped.clone()), Some(stopped)));
    let (address, held, behind, report) = program(Duration::ZERO);
    assert_ended(&address, Way::CutOff);
    assert_eq!((held.err(), behind.err()), (Some(AskError::Cancelled), Some(AskError::Cancelled)));
    assert_eq!(report.runtimes[0].1.abandoned, 2, "{report}");
}

#[test]
fn futures_of_actors_that_a_shutdown_has_cut_off_are_counted() {
    // Past the deadline the behaviour that brings its output is dropped as well.
    for (time, abandoned) in [(Duration::from_millis(100), 1), (Duration::ZERO, 2)] {
        let system = system();
        let address = system.spawn(Diary::new().0);
        address.ask(SpawnForEver).wait().unwrap();
        let report = system.shutdown(time);
        assert_eq!(report.runtimes[0].1.abandoned, abandoned, "{time:?}: {report}");
    }
}

/// Has a future run beside the actor that never ends.
struct SpawnForEver;

impl Message for SpawnForEver {
    type Reply = ();
}

impl Handler<SpawnForEver> for Diary {
    fn handle(&mut self, _: SpawnForEver, context: &mut Context<Self>) {
        context.spawn(std::future::pending::<()>(), |_, (), _| unreachable!("it never ends"));
    }
}

/// Holds the actor until it is made to let go.
struct HoldForEver;

impl Message for HoldForEver {
    type Reply = ();
}

impl Receive<HoldForEver> for Diary {
    fn receive(&mut self, _: HoldForEver, reply: Reply<()>, context: &mut Context<Self>) {
        context.hold(reply, |_, _| Box::pin(std::future::pending()));
    }
}

#[test]
fn who_waits_for_room_is_told() {
    in_each_way_leaving(1, |_| {
        let mailbox = Mailbox::bounded(1).wait();
        let address = actor(Diary::new().0).mailbox(mailbox).spawn();
        address.suspend().unwrap();
        address.send(Note("first")).unwrap();
        let (other, far) = (System::builder().workers(1).build().unwrap(), address.clone());
        let waiting = {
            let _entered = other.enter();
            coact::runtime::spawn_future(async move { far.send_async(Note("second")).await })
        };
        let (far, begun) = (address.clone(), mpsc::channel());
        let blocked = thread::spawn(move || {
            begun.0.send(()).unwrap();
            far.send_blocking(Note("third"))
        });
        begun.1.recv().unwrap();
        Box::new(move |way| {
            assert_ended(&address, way);
            assert_eq!(address.dead_letters(), 1);
            let refused = waiting.wait().unwrap();
            assert!(matches!(refused, Err(SendError::Stopped(Note("second")))));
            let refused = blocked.join().unwrap();
            assert!(matches!(refused, Err(SendError::Stopped(Note("third")))));
            drop(other);
        })
    });
}

#[test]
fn messages_in_lanes_and_in_the_stash_fail_their_asks() {
    in_each_way_leaving(3, |_| {
        let lanes = actor(Diary::new().0).mailbox(Mailbox::lanes(2)).spawn();
        lanes.suspend().unwrap();
        let laid = [lanes.ask_in(0, Note("first")), lanes.ask_in(1, Note("last"))];
        let stashing = spawn(Diary::new().0);
        let stashed = stashing.ask(Aside);
        stashing.ask(Note("behind")).wait().unwrap();
        Box::new(move |way| {
            let expected = match way {
                Way::Ordered => AskError::Stopped(ExitReason::Shutdown),
                Way::CutOff => AskError::Cancelled,
            };
            laid.into_iter().for_each(|ask| assert_eq!(ask.wait(), Err(expected.clone())));
            assert_eq!(stashed.wait(), Err(expected));
            assert_ended(&lanes, way);
            assert_ended(&stashing, way);
            assert_eq!((lanes.dead_letters(), stashing.dead_letters()), (2, 1));
        })
    });
}

/// Is set aside.
struct Aside;

impl Message for Aside {
    type Reply = ();
}

impl Receive<Aside> for Diary {
    fn receive(&mut self, aside: Aside, reply: Reply<()>, context: &mut Context<Self>) {
        assert!(context.stash(aside, reply).is_ok());
    }
}

/// Keeps its replies.
#[derive(Default)]
struct Hoarder(Vec<Reply<()>>);

impl Actor for Hoarder {}

struct Keep;

impl Message for Keep {
    type Reply = ();
}

impl Receive<Keep> for Hoarder {
    fn receive(&mut self, _: Keep, reply: Reply<()>, _: &mut Context<Self>) {
        self.0.push(reply);
    }
}

#[test]
fn m8_replies_that_are_kept_fail_with_the_reason() {
    in_each_way(|system| {
        let hoarder = system.spawn(Hoarder::default());
        let kept = hoarder.ask(Keep);
        Box::new(move |way| {
            drop(hoarder);
            assert_eq!(
                kept.wait(),
                Err(match way {
                    Way::Ordered => AskError::Stopped(ExitReason::Shutdown),
                    Way::CutOff => AskError::Cancelled,
                })
            );
        })
    });
}

/// A supervisor, with a supervisor among its children: who goes first?
#[test]
fn m11_children_end_before_their_supervisors() {
    let log = Log::new();
    let system = system();
    let names = {
        let _entered = system.enter();
        let mut tree = Supervisor::one_for_one();
        let first = tree.child(permanent(Worker::make("first", &log)));
        let mut below = Supervisor::one_for_all();
        let inner = below.child(permanent(Worker::make("inner", &log)));
        let below = tree.child(below);
        let last = tree.child(permanent(Worker::make("last", &log)));
        let tree = tree.spawn();
        system.wait_idle();
        (tree, below, [first, inner, last])
    };
    assert!(system.shutdown(PATIENCE).is_complete());
    let mut ends = log.take();
    ends.retain(|entry| entry.contains("down"));
    let end = |name| format!("{name} down: {}", ExitReason::Shutdown);
    assert_eq!(ends, [end("last"), end("inner"), end("first")]);
    let (tree, below, workers) = names;
    assert!(workers.iter().all(Addr::has_ended));
    assert_eq!(tree.to_any().exit_reason(), Some(ExitReason::Shutdown));
    assert!(below.to_any().exit_reason().is_some());
}

#[test]
fn children_that_are_down_or_whose_supervisor_never_came_end() {
    in_each_way_leaving(2, |system| {
        let log = Log::new();
        let mut never = Supervisor::one_for_one();
        let waiting = never.child(permanent(Worker::make("waiting", &log)));
        let mut tree = Supervisor::one_for_one();
        let down = tree.child(permanent(Worker::make("down", &log)));
        let tree = tree.spawn();
        system.wait_idle();
        tree.terminate_child(down.id()).wait().unwrap();
        let asked = [down.ask(crate::supervision::Ping), waiting.ask(crate::supervision::Ping)];
        Box::new(move |way| {
            for (address, ask) in [down, waiting].into_iter().zip(asked) {
                assert_eq!(address.ended().wait(), Ok(way.reason()));
                assert!(matches!(ask.wait(), Err(AskError::Stopped(_) | AskError::Cancelled)));
            }
            drop((tree, never));
        })
    });
}

/// A tick that comes for ever is no work that a shutdown waits for to its deadline.
#[test]
fn an_actor_with_timers_streams_and_timeouts_ends() {
    let system = system();
    let (diary, log) = Diary::new();
    let address = system.spawn(diary);
    let set = address.ask(Do(|_: &mut Diary, context: &mut Context<Diary>| {
        context.send_every(Duration::from_secs(3600), || Note("tick"));
        context.send_later(Duration::from_secs(3600), Note("late"));
        context.set_idle_timeout(Duration::from_secs(3600));
        context.spawn(std::future::pending::<()>(), |_, (), _| {});
    }));
    set.wait().unwrap();
    system.shutdown(Duration::from_millis(200));
    assert_ended(&address, Way::Ordered);
    assert_eq!(log.take(), ["started", END, "dropped"]);
}

#[test]
fn what_the_last_hook_starts_is_done() {
    struct Parting(Addr<Diary>);
    impl Actor for Parting {
        fn stopped(&mut self, _: &ExitReason, _: &mut Context<Self>) {
            let (diary, _) = Diary::new();
            let heir = spawn(diary);
            let told = self.0.clone();
            when(&heir, move |_| told.send(Note("inherited")).unwrap());
            // No other has its address: it ends with the runtime.
            let own = heir.clone();
            heir.send(Do(move |_: &mut Diary, context: &mut Context<Diary>| {
                context.hold(Reply::unwanted(), |_, _| Box::pin(async move { drop(own) }));
            }))
            .unwrap();
        }
    }
    let [system, other] = [system(), system()];
    let (diary, log) = Diary::new();
    let far = other.spawn(diary);
    let parting = system.spawn(Parting(far.clone()));
    assert!(system.shutdown(PATIENCE).is_complete());
    assert!(parting.has_ended());
    other.wait_idle();
    assert_eq!(log.take(), ["started", "inherited"]);
}

#[test]
fn m11_actors_of_a_pump_end_with_it() {
    for way in [Way::Ordered, Way::CutOff] {
        let pump = Runtime::builder().build_pumped().unwrap();
        let (diary, log) = Diary::new();
        let address = pump.spawn(diary);
        pump.run_until_idle(&[]);
        let ended = address.ended();
        match way {
            Way::Ordered => assert!(pump.shutdown(PATIENCE).is_complete()),
            Way::CutOff => drop(pump),
        }
        assert_eq!(ended.wait(), Ok(way.reason()));
        assert!(address.has_ended());
        assert_eq!(log.take().contains(&END.into()), way == Way::Ordered);
    }
}

#[test]
fn actors_of_a_runtime_that_is_dropped_in_a_handler_end() {
    let (inner, outer) = (Runtime::builder().workers(1).build().unwrap(), system());
    let (address, log) = inner.run(Diary::spawn);
    let ended = address.ended();
    let diary = outer.spawn(Diary::new().0);
    diary.send(Do(move |_: &mut Diary, _: &mut Context<Diary>| drop(inner))).unwrap();
    assert_eq!(ended.wait(), Ok(ExitReason::Killed));
    assert_eq!(log.take().last().map(String::as_str), Some("dropped"));
}

/// The last address is gone, but what was sent before still waits: nothing is left to say that it
/// ends.
#[test]
fn actors_that_nobody_reaches_any_more_are_told_of() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let (open, gate) = mpsc::channel::<()>();
    let (begun, has_begun) = Promise::channel();
    let (address, _) = runtime.run(Diary::spawn);
    let ended = address.ended();
    address
        .send(Do(move |_: &mut Diary, _: &mut Context<Diary>| {
            begun.resolve(());
            let _ = gate.recv_timeout(PATIENCE);
        }))
        .unwrap();
    has_begun.wait().unwrap();
    address.send(Note("unread")).unwrap();
    drop(address);
    let ending = thread::spawn(move || drop(runtime));
    drop(open);
    ending.join().unwrap();
    assert!(matches!(ended.wait(), Ok(ExitReason::Killed | ExitReason::Normal)));
}

/// Actors spawned, and told things, while their runtime ends: each of them ends, and each ask.
#[test]
fn every_step_of_a_shutdown_ends_all_actors() {
    let program = |timeout: u64| {
        move || {
            let runtime = Runtime::builder().workers(2).build().unwrap();
            let home = runtime.handle();
            let (address, log) = runtime.run(Diary::spawn);
            let far = address.clone();
            let outside = sim::thread(move || {
                let asked = far.ask(Note("asked"));
                let late = actor(Diary::new().0).on(home).spawn();
                let late_asked = late.ask(Note("late"));
                (asked.wait(), late_asked.wait(), late.ended().wait())
            });
            let ended = address.ended();
            runtime.shutdown(Duration::from_millis(timeout));
            assert!(address.has_ended());
            let reason = ended.wait().unwrap();
            assert!(matches!(reason, ExitReason::Shutdown | ExitReason::Killed));
            let (asked, late_asked, late) = outside.wait().unwrap();
            for answer in [asked, late_asked] {
                let fine =
                    matches!(&answer, Ok(_) | Err(AskError::Stopped(_) | AskError::Cancelled));
                assert!(fine, "{answer:?}");
            }
            assert!(matches!(late, Ok(ExitReason::Shutdown | ExitReason::Killed)), "{late:?}");
            let log = log.take();
            assert_eq!(log.last().map(String::as_str), Some("dropped"));
            assert_eq!(log.contains(&END.into()), reason == ExitReason::Shutdown);
        }
    };
    Sim::new().config(Config::new().runs(300)).check(program(10));
    Sim::new().config(Config::new().runs(300)).check(program(0));
}

/// The deadline passes while the letters of an actor that has ended are counted: none is counted
/// twice, and none is left out.
#[test]
fn dead_letters_that_a_deadline_comes_between_are_counted_once_each() {
    const LETTERS: u64 = 10_000;
    for round in 0..40 {
        let runtime = runtime(1, &Faults::new());
        let address = runtime.run(|| spawn(Diary::new().0));
        address.suspend().unwrap();
        (0..LETTERS).for_each(|_| address.send(Note("late")).unwrap());
        // Half of that is for the work; then the actor ends.
        let report = runtime.shutdown(Duration::from_millis(2));
        assert_eq!(report.abandoned as u64, address.dead_letters(), "in round {round}: {report}");
    }
}

/// Sets everything aside.
struct Stasher;

impl Actor for Stasher {}

impl Receive<Note> for Stasher {
    fn receive(&mut self, note: Note, reply: Reply<usize>, context: &mut Context<Self>) {
        context.stash(note, reply).expect("there is room");
    }
}

#[test]
fn m11_what_is_stashed_is_counted_however_its_actor_ends() {
    for deadline in [Duration::ZERO, PATIENCE] {
        let runtime = runtime(1, &Faults::new());
        let address = runtime.run(|| spawn(Stasher));
        (0..3).for_each(|_| address.send(Note("stashed")).unwrap());
        runtime.wait_idle();
        let report = runtime.shutdown(deadline);
        assert_eq!((report.abandoned, address.dead_letters()), (3, 3), "{deadline:?}: {report}");
    }
}
