//! The watchdog: stalls are reported, and what would wait behind them runs.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use coact::Context;
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::runtime::{BuildError, Fault};
use coact_tests::{Meeting, PATIENCE};

/// Short, so that the tests are. A stall that the machine's load makes up does no harm to them.
const LIMIT: Duration = Duration::from_millis(10);

/// A behaviour that keeps its worker until it is told to end.
struct Hog {
    end: Sender<()>,
}

impl Hog {
    /// Spawns it, and waits until it has a worker.
    fn spawn(cown: &Cown<u32>) -> Self {
        let (end, ended) = mpsc::channel();
        let (start, started) = mpsc::channel();
        when(cown, move |n| {
            *n += 1;
            start.send(()).unwrap();
            ended.recv_timeout(PATIENCE).expect("nobody let the hog go");
        });
        started.recv_timeout(PATIENCE).expect("the hog has no worker");
        Self { end }
    }

    fn let_go(self) {
        self.end.send(()).unwrap();
    }
}

/// A runtime with a watchdog, and what that has found.
fn watched(workers: usize, spares: Option<usize>) -> (Runtime, Receiver<Fault>) {
    let (tell, told) = mpsc::channel();
    let builder = Runtime::builder().workers(workers).name("watched").watchdog(LIMIT);
    let builder = match spares {
        Some(spares) => builder.spare_workers(spares),
        None => builder,
    };
    let tell = Mutex::new(tell);
    let hook = move |fault: &Fault| _ = tell.lock().unwrap().send(fault.clone());
    (builder.panic_hook(hook).build().unwrap(), told)
}

fn next_stall(told: &Receiver<Fault>) -> (&'static str, String, Duration) {
    match told.recv_timeout(PATIENCE).expect("no stall was reported") {
        Fault::Stalled { behaviour, thread, running_for, .. } => (behaviour, thread, running_for),
        other => panic!("another fault: {other}"),
    }
}

#[test]
fn p6_a_stall_is_reported_with_the_type_of_its_behaviour_and_its_thread() {
    let (runtime, told) = watched(2, None);
    let hog = Hog::spawn(&runtime.run(|| Cown::new(0)));
    let (behaviour, thread, running_for) = next_stall(&told);
    assert!(behaviour.contains("watchdog::Hog::spawn"), "{behaviour}");
    assert!(["watched-0", "watched-1"].contains(&&*thread), "{thread}");
    assert!(running_for >= LIMIT);
    hog.let_go();
    assert!(runtime.shutdown(PATIENCE).is_complete());
}

#[test]
fn the_message_says_what_to_do() {
    let (runtime, told) = watched(1, None);
    let hog = Hog::spawn(&runtime.run(|| Cown::new(0)));
    let message = told.recv_timeout(PATIENCE).unwrap().to_string();
    assert!(
        message.starts_with("a behaviour has occupied the thread `watched-0` for "),
        "{message}"
    );
    assert!(message.ends_with("(use `blocking` for long computations and waits)"), "{message}");
    hog.let_go();
}

#[test]
fn a_future_that_blocks_is_reported_with_its_type() {
    async fn blocks(ended: Receiver<()>) {
        ended.recv_timeout(PATIENCE).unwrap();
    }
    let (runtime, told) = watched(1, None);
    let (end, ended) = mpsc::channel();
    let future = {
        let _entered = runtime.enter();
        coact::runtime::spawn_future(blocks(ended))
    };
    let (behaviour, ..) = next_stall(&told);
    assert!(behaviour.contains("blocks"), "{behaviour}");
    end.send(()).unwrap();
    assert_eq!(future.wait(), Ok(()));
}

#[test]
fn p6_what_waits_behind_hogs_runs_on_spares_before_they_end() {
    let (runtime, _told) = watched(2, None);
    let [one, two, three] = runtime.run(|| [0, 0, 0].map(Cown::new));
    let hogs = [Hog::spawn(&one), Hog::spawn(&two)];
    let ran_on =
        call(&three, |_| (thread::current().id(), thread::current().name().map(String::from)));
    let (_, name) = ran_on.wait_timeout(PATIENCE).expect("the third behaviour waits").unwrap();
    assert!(name.is_some_and(|name| name.starts_with("watched-spare-")));
    hogs.into_iter().for_each(Hog::let_go);
    assert!(runtime.shutdown(PATIENCE).is_complete());
}

#[test]
fn what_a_worker_has_queued_itself_before_it_stalls_runs_too() {
    let (runtime, _told) = watched(1, None);
    let cowns: Vec<Cown<u32>> = runtime.run(|| (0..100).map(|_| Cown::new(0)).collect());
    let (end, ended) = mpsc::channel();
    let all = Meeting::of(cowns.len() + 1);
    let (others, counted) = (cowns[1..].to_vec(), all.clone());
    when(&cowns[0], move |_| {
        for other in &others {
            let counted = counted.clone();
            when(other, move |_| counted.arrive());
        }
        counted.arrive();
        ended.recv_timeout(PATIENCE).expect("nobody let the hog go");
    });
    assert!(all.wait(), "what the stalled worker has queued waits for it");
    end.send(()).unwrap();
    assert!(runtime.shutdown(PATIENCE).is_complete());
}

#[test]
fn p6_a_spare_that_stalls_gets_a_spare_up_to_the_limit() {
    let (runtime, told) = watched(1, Some(2));
    let cowns = runtime.run(|| [0; 4].map(Cown::new));
    // The worker, the first spare, the second: each stalls, and there is none for the fourth.
    let hogs: Vec<Hog> = cowns[..3].iter().map(Hog::spawn).collect();
    let stalls: Vec<String> = (0..3).map(|_| next_stall(&told).1).collect();
    assert_eq!(stalls, ["watched-0", "watched-spare", "watched-spare"]);
    let fourth = call(&cowns[3], |_| ());
    let mut hogs = hogs.into_iter();
    hogs.next().unwrap().let_go();
    assert_eq!(fourth.wait_timeout(PATIENCE).unwrap(), Ok(()), "the worker is back");
    hogs.for_each(Hog::let_go);
    assert!(runtime.shutdown(PATIENCE).is_complete());
}

#[test]
fn p6_without_spares_it_only_reports() {
    let (runtime, told) = watched(1, Some(0));
    let [one, two] = runtime.run(|| [0, 0].map(Cown::new));
    let hog = Hog::spawn(&one);
    let second = call(&two, |_| thread::current().name().map(String::from));
    next_stall(&told);
    hog.let_go();
    assert_eq!(second.wait().unwrap().as_deref(), Some("watched-0"));
}

#[test]
fn order_and_atomicity_hold_across_workers_and_spares() {
    let (runtime, _told) = watched(1, Some(3));
    let cowns: [Cown<Vec<u32>>; 3] = runtime.run(|| std::array::from_fn(|_| Cown::new(Vec::new())));
    let hogged: [Cown<u32>; 3] = runtime.run(|| [0; 3].map(Cown::new));
    let hogs: Vec<Hog> = hogged.iter().map(Hog::spawn).collect();
    for number in 0..300 {
        let [a, b] = [number % 3, (number + 1) % 3].map(|at| &cowns[at as usize]);
        when((a, b), move |(a, b)| {
            a.push(number);
            b.push(number);
        });
    }
    let [a, b, c] = &cowns;
    let all = call((a, b, c), |(a, b, c)| [a, b, c].map(|list| list.clone()));
    let all = all.wait_timeout(PATIENCE).expect("the behaviours wait for the hogs").unwrap();
    for (at, list) in all.iter().enumerate() {
        let expected: Vec<u32> =
            (0..300).filter(|n| [n % 3, (n + 1) % 3].contains(&(at as u32))).collect();
        assert_eq!(*list, expected, "list {at}");
    }
    hogs.into_iter().for_each(Hog::let_go);
    assert!(runtime.shutdown(PATIENCE).is_complete());
}

#[test]
fn spares_run_the_hooks_of_workers_and_end_with_the_stall() {
    let (starts, ends) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
    let note = |list: &Arc<Mutex<Vec<ThreadId>>>| {
        let list = Arc::clone(list);
        move || list.lock().unwrap().push(thread::current().id())
    };
    let builder = Runtime::builder().workers(1).watchdog(LIMIT);
    let runtime = builder.on_start(note(&starts)).on_stop(note(&ends)).build().unwrap();
    let [one, two] = runtime.run(|| [0, 0].map(Cown::new));
    let hog = Hog::spawn(&one);
    let spare = call(&two, |_| thread::current().id()).wait().unwrap();
    assert!(starts.lock().unwrap().contains(&spare));
    hog.let_go();
    assert!(runtime.shutdown(PATIENCE).is_complete());
    let (mut started, mut ended) = (starts.lock().unwrap(), ends.lock().unwrap());
    started.sort_by_key(|id| format!("{id:?}"));
    ended.sort_by_key(|id| format!("{id:?}"));
    assert_eq!(*started, *ended, "each thread that has started has ended");
    assert!(started.len() >= 2);
}

#[test]
fn a_spare_refuses_to_block_as_a_worker_does() {
    let (runtime, _told) = watched(1, None);
    let [one, two] = runtime.run(|| [0, 0].map(Cown::new));
    let hog = Hog::spawn(&one);
    let never = Promise::<()>::channel();
    let blocked = call(&two, move |_| never.1.wait());
    let failed = blocked.wait_timeout(PATIENCE).unwrap();
    assert!(matches!(failed, Err(coact::Broken::Panicked(why)) if why.contains("block a worker")));
    hog.let_go();
}

/// The second that a shutdown has for what is queued is for what goes on: a spare that looks for
/// tasks in vain is none.
#[test]
fn a_spare_with_nothing_to_do_does_not_put_a_shutdown_off() {
    let (runtime, told) = watched(1, Some(1));
    let (kept, free) = (runtime.run(|| Cown::new(0)), runtime.run(|| Cown::new(0)));
    let hog = Hog::spawn(&kept);
    assert_eq!(call(&free, |_| 1).wait(), Ok(1), "a spare has run it");
    next_stall(&told);
    let began = Instant::now();
    let report = runtime.shutdown(Duration::ZERO);
    assert_eq!(report.stuck_workers, 1);
    assert!(began.elapsed() < Duration::from_millis(900), "{:?}", began.elapsed());
    hog.let_go();
}

#[test]
fn a_shutdown_in_the_middle_of_stalls_counts_the_spares_that_are_stuck() {
    let (runtime, told) = watched(1, Some(1));
    let [one, two, three] = runtime.run(|| [0; 3].map(Cown::new));
    let hogs = [Hog::spawn(&one), Hog::spawn(&two)];
    next_stall(&told);
    next_stall(&told);
    let third = call(&three, |_| ());
    let report = runtime.shutdown(Duration::ZERO);
    assert_eq!(report.stuck_workers, 2, "{report}");
    assert_eq!(third.wait(), Err(coact::Broken::Cancelled));
    hogs.into_iter().for_each(Hog::let_go);
}

#[test]
fn a_limit_of_zero_is_refused() {
    let refused = Runtime::builder().watchdog(Duration::ZERO).build();
    assert!(matches!(refused, Err(BuildError::Watchdog)));
}

/// Keeps its thread until it is told to end.
struct Sleeper;

impl Actor for Sleeper {}

struct Wait(Receiver<()>);

impl Message for Wait {
    type Reply = ();
}

impl Handler<Wait> for Sleeper {
    fn handle(&mut self, wait: Wait, _: &mut Context<Self>) {
        wait.0.recv_timeout(PATIENCE).expect("nobody let the handler go");
    }
}

/// Has the actor wait in a handler until that is reported, with the actor and the message.
#[track_caller]
fn assert_reports_a_wait_of(sleeper: &Addr<Sleeper>, told: &Receiver<Fault>) {
    let (end, ended) = mpsc::channel();
    sleeper.send(Wait(ended)).unwrap();
    let (behaviour, ..) = next_stall(told);
    for part in ["watchdog::Sleeper", "watchdog::Wait"] {
        assert!(behaviour.contains(part), "{behaviour}");
    }
    end.send(()).unwrap();
}

#[test]
fn a_handler_that_stalls_is_reported_with_its_actor_and_message() {
    let (runtime, told) = watched(1, None);
    let sleeper = actor(Sleeper).on(runtime.handle()).spawn();
    assert_reports_a_wait_of(&sleeper, &told);
}

#[test]
fn a_member_of_a_group_that_stalls_is_reported() {
    let (runtime, told) = watched(1, None);
    let (member, group) = runtime.run(|| {
        let group = Group::new();
        (group.cown(0), group)
    });
    let hog = Hog::spawn(&member);
    let (behaviour, ..) = next_stall(&told);
    assert!(behaviour.contains("watchdog::Hog::spawn"), "{behaviour}");
    hog.let_go();
    drop(group);
}

/// A group has one task for the behaviours of all its members, whatever it began with.
#[test]
fn an_actor_in_a_group_that_stalls_is_reported_with_its_message() {
    let (runtime, told) = watched(1, Some(0));
    let (first, second) = runtime.run(|| {
        let group = Group::new();
        let member = || actor(Sleeper).in_group(&group).spawn();
        (member(), member())
    });
    // They stand behind one another in the queue when the group has its turn.
    let (end, ended) = mpsc::channel();
    let blocked = runtime.run(|| Cown::new(0));
    let hog = Hog::spawn(&blocked);
    assert!(next_stall(&told).0.contains("watchdog::Hog::spawn"));
    first.send(Brief).unwrap();
    second.send(Wait(ended)).unwrap();
    hog.let_go();
    let (behaviour, ..) = next_stall(&told);
    for part in ["watchdog::Sleeper", "watchdog::Wait"] {
        assert!(behaviour.contains(part), "{behaviour}");
    }
    end.send(()).unwrap();
}

/// Is handled at once.
struct Brief;

impl Message for Brief {
    type Reply = ();
}

impl Handler<Brief> for Sleeper {
    fn handle(&mut self, _: Brief, _: &mut Context<Self>) {}
}

/// The first message of an actor in a group, which is still to start.
#[test]
fn a_fresh_actor_in_a_group_that_stalls_is_reported_with_its_message() {
    let (runtime, told) = watched(1, None);
    let _entered = runtime.enter();
    let sleeper = actor(Sleeper).in_group(&Group::new()).spawn();
    assert_reports_a_wait_of(&sleeper, &told);
}

/// The behaviour that comes takes the message whose turn it is from the mailbox.
#[test]
fn a_message_that_a_mailbox_sorts_is_reported_with_its_type_if_it_stalls() {
    for mailbox in [Mailbox::lanes(2), Mailbox::bounded(2).drop_oldest()] {
        let (runtime, told) = watched(1, None);
        let sleeper = actor(Sleeper).mailbox(mailbox).on(runtime.handle()).spawn();
        assert_reports_a_wait_of(&sleeper, &told);
    }
}

/// Sets a [`Wait`] aside until it is told to go on.
struct Putter {
    is_open: bool,
}

impl Actor for Putter {}

impl Receive<Wait> for Putter {
    fn receive(&mut self, wait: Wait, reply: Reply<()>, context: &mut Context<Self>) {
        if !self.is_open {
            assert!(context.stash(wait, reply).is_ok(), "the stash has no limit");
            return;
        }
        wait.0.recv_timeout(PATIENCE).expect("nobody let the handler go");
    }
}

struct GoOn;

impl Message for GoOn {
    type Reply = ();
}

impl Handler<GoOn> for Putter {
    fn handle(&mut self, _: GoOn, context: &mut Context<Self>) {
        self.is_open = true;
        context.unstash_all();
    }
}

#[test]
fn a_stashed_message_that_stalls_is_reported_with_its_type() {
    let (runtime, told) = watched(1, None);
    let putter = actor(Putter { is_open: false }).on(runtime.handle()).spawn();
    let (end, ended) = mpsc::channel();
    putter.send(Wait(ended)).unwrap();
    putter.send(GoOn).unwrap();
    let (behaviour, ..) = next_stall(&told);
    for part in ["watchdog::Putter", "watchdog::Wait"] {
        assert!(behaviour.contains(part), "{behaviour}");
    }
    end.send(()).unwrap();
}
