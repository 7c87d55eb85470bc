//! Streams into actors and out of them: what is pulled when, and how they end.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use coact::Context;
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::pubsub::{DropCause, MessageDropped, Subscription, events};
use coact::runtime::spawn_future;
use coact::sim::{self, Sim};
use coact::stream::{ActorStream, Demand, OfferEnd, PushError};
use coact::supervise::{Supervisor, permanent};
use coact::time::sleep;
use coact_tests::{Log, check, check_with_faults, finally};
use futures::stream::{self, Stream, StreamExt};

use crate::world::{Bomb, Diary, Do, Note};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

fn tell(diary: &Addr<Diary>, work: impl FnOnce(&mut Diary, &mut Context<Diary>) + Send + 'static) {
    diary.send(Do(work)).unwrap();
}

/// How many items were polled for and not handled, and the most that ever were.
#[derive(Clone, Default)]
struct Gauge(Arc<(AtomicUsize, AtomicUsize)>);

impl Gauge {
    fn up(&self) {
        let now = self.0.0.fetch_add(1, Ordering::SeqCst) + 1;
        self.0.1.fetch_max(now, Ordering::SeqCst);
    }

    fn down(&self) {
        self.0.0.fetch_sub(1, Ordering::SeqCst);
    }

    fn most(&self) -> usize {
        self.0.1.load(Ordering::SeqCst)
    }
}

/// An item that the actor takes its time for.
struct Item(usize, Gauge);

impl Message for Item {
    type Reply = ();
}

impl Receive<Item> for Diary {
    fn receive(&mut self, item: Item, reply: Reply<()>, context: &mut Context<Self>) {
        let Item(number, gauge) = item;
        self.log.push(number.to_string());
        gauge.down();
        if number.is_multiple_of(10) {
            context.hold(reply, |_, _| Box::pin(async { sleep(ms(1)).await.unwrap() }));
        }
    }
}

/// A stream that is always ready.
fn numbers(upto: usize, gauge: &Gauge) -> impl Stream<Item = Item> + Send + use<> {
    let gauge = gauge.clone();
    stream::iter(0..upto).map(move |n| {
        gauge.up();
        Item(n, gauge.clone())
    })
}

fn numbered(upto: usize) -> Vec<String> {
    (0..upto).map(|n| n.to_string()).collect()
}

/// Tells when it is dropped.
struct Witness(Log<String>);

impl Drop for Witness {
    fn drop(&mut self) {
        self.0.push("stream dropped".into());
    }
}

/// A stream that never has an item.
fn silence(log: &Log<String>) -> impl Stream<Item = Note> + Send + use<> {
    let witness = Witness(log.clone());
    stream::poll_fn(move |_| {
        let _ = &witness;
        Poll::Pending
    })
}

#[test]
fn all_items_come_in_order_between_start_and_end() {
    check(|| {
        let (diary, log) = Diary::spawn();
        tell(&diary, |_, context| {
            let feed = context.attach(numbers(25, &Gauge::default()));
            feed.on_start(|diary, _| diary.log.push("start".into()))
                .on_end(|diary, end, _| diary.log.push(format!("{end:?}")))
                .items();
        });
        // The stream keeps the actor.
        drop(diary);
        finally(move || {
            let mut expected = vec!["started".to_owned(), "start".into()];
            expected.extend(numbered(25));
            expected.extend(["Finished", "stopped: it was done", "dropped"].map(String::from));
            assert_eq!(log.take(), expected);
        });
    });
}

#[test]
fn a_fast_stream_is_polled_no_faster_than_the_actor_handles() {
    for window in [1, 4] {
        check(move || {
            let (diary, log) = Diary::spawn();
            let gauge = Gauge::default();
            let stream = numbers(200, &gauge);
            tell(&diary, move |_, context| {
                context.attach(stream).window(window).items();
            });
            drop(diary);
            finally(move || {
                assert_eq!(log.take()[1..201], numbered(200));
                assert!(gauge.most() <= window, "{} in a window of {window}", gauge.most());
            });
        });
    }
}

#[test]
fn a_suspended_actor_stops_its_stream() {
    sim::check(|| {
        let (diary, log) = Diary::spawn();
        let gauge = Gauge::default();
        let stream = numbers(5, &gauge);
        tell(&diary, move |_, context| drop(context.attach(stream).items()));
        diary.suspend().unwrap();
        sleep(ms(100)).wait().unwrap();
        let before = log.len();
        sleep(ms(100)).wait().unwrap();
        assert_eq!(log.len(), before);
        assert!(gauge.most() <= 1);
        diary.resume().unwrap();
        sleep(ms(100)).wait().unwrap();
        assert_eq!(log.take()[1..], numbered(5));
    });
}

#[test]
fn an_actor_that_reads_a_stream_takes_other_messages() {
    check(|| {
        let (diary, log) = Diary::spawn();
        let seen = log.clone();
        tell(&diary, move |_, context| drop(context.attach(silence(&seen)).items()));
        assert_eq!(diary.ask(Note("meanwhile")).wait(), Ok(2));
        diary.stop().unwrap();
        finally(move || {
            let log = log.take();
            assert!(log.contains(&"stream dropped".into()), "{log:?}");
        });
    });
}

#[test]
fn detaching_ends_it_once_and_tells() {
    check(|| {
        let (diary, log) = Diary::spawn();
        let seen = log.clone();
        let handles = Log::new();
        let given = handles.clone();
        tell(&diary, move |_, context| {
            let feed = context.attach(silence(&seen));
            given.push(feed.on_end(|diary, end, _| diary.log.push(format!("{end:?}"))).items());
        });
        assert_eq!(call(&diary, |_| ()).wait(), Ok(()));
        let attached = handles.take().remove(0);
        assert!(!attached.has_ended());
        assert!(attached.detach());
        assert!(!attached.clone().detach());
        assert!(attached.has_ended());
        drop(diary);
        let end = ["started", "stream dropped", "Detached", "stopped: it was done", "dropped"];
        finally(move || assert_eq!(log.take(), end));
    });
}

#[test]
fn what_was_polled_before_a_detach_is_handled() {
    sim::check(|| {
        let (diary, log) = Diary::spawn();
        let (given, gauge) = (Log::new(), Gauge::default());
        let (handles, stream) = (given.clone(), numbers(1000, &gauge));
        tell(&diary, move |_, context| {
            let feed = context.attach(stream).window(3);
            handles.push(feed.on_end(|diary, _, _| diary.log.push("end".into())).items());
        });
        assert_eq!(call(&diary, |_| ()).wait(), Ok(()));
        given.take().remove(0).detach();
        sleep(ms(500)).wait().unwrap();
        let mut log = log.take();
        assert_eq!(log.pop().unwrap(), "end");
        assert_eq!(log[1..], numbered(log.len() - 1));
        // No item was polled for and lost.
        assert_eq!(gauge.0.0.load(Ordering::SeqCst), 0);
        drop(diary);
    });
}

#[test]
fn it_may_leave_the_actor_alone() {
    check(|| {
        let (diary, log) = Diary::spawn();
        let seen = log.clone();
        tell(&diary, move |_, context| {
            drop(context.attach(silence(&seen)).without_keeping_alive().items());
        });
        drop(diary);
        finally(move || {
            let mut log = log.take();
            log.sort();
            assert_eq!(log, ["dropped", "started", "stopped: it was done", "stream dropped"]);
        });
    });
}

#[test]
fn it_ends_with_the_state_that_has_attached_it() {
    sim::check(|| {
        let (diary, log) = Diary::new();
        let make = {
            let log = log.clone();
            move || Diary { log: log.clone() }
        };
        let diary = actor(diary).restartable(make).spawn();
        let seen = log.clone();
        tell(&diary, move |_, context| {
            let feed = context.attach(silence(&seen));
            feed.on_end(|diary, _, _| diary.log.push("never told".into())).items();
        });
        assert_eq!(call(&diary, |_| ()).wait(), Ok(()));
        diary.restart().unwrap();
        assert_eq!(call(&diary, |_| ()).wait(), Ok(()));
        sleep(ms(1)).wait().unwrap();
        let log = log.take();
        assert!(log.contains(&"stream dropped".into()), "{log:?}");
        assert!(!log.contains(&"never told".into()), "{log:?}");
    });
}

/// How a state ends that another one follows.
#[derive(Clone, Copy, PartialEq)]
enum Replaced {
    ByRequest,
    ByPanic,
}

/// The first state of a child attaches a stream with a window of four. As many items wait in the
/// mailbox when that state is replaced. Returns what is logged.
fn replace(how: Replaced, is_replayed: bool, gauge: &Gauge) -> Log<String> {
    let (log, stream) = (Log::new(), numbers(100, gauge));
    let made = log.clone();
    let mut tree = Supervisor::one_for_one();
    let diary = tree.child(permanent(move || Diary { log: made.clone() }));
    tell(&diary, move |_, context| {
        let feed = context.attach(stream).window(4);
        let feed = if is_replayed { feed.replayed_at_restart() } else { feed };
        feed.on_end(|diary, _, _| diary.log.push("never told".into())).items();
        context.hold(Reply::unwanted(), |_, _| Box::pin(async { sleep(ms(20)).await.unwrap() }));
    });
    if how == Replaced::ByPanic {
        diary.send(Bomb).unwrap();
    }
    let supervisor = tree.spawn();
    sleep(ms(10)).wait().unwrap();
    assert_eq!(gauge.0.0.load(Ordering::SeqCst), 4);
    if how == Replaced::ByRequest {
        diary.restart().unwrap();
    }
    diary.send(Note("after")).unwrap();
    sleep(ms(20)).wait().unwrap();
    assert_eq!(diary.dead_letters(), 0);
    supervisor.stop().unwrap();
    log
}

fn drops() -> (Log<MessageDropped>, Subscription) {
    let log = Log::new();
    let entries = log.clone();
    (log, events().subscribe_fn(move |event: MessageDropped| entries.push(event)))
}

#[test]
fn m12_items_that_wait_at_a_restart_are_handled_by_the_next_state() {
    for how in [Replaced::ByRequest, Replaced::ByPanic] {
        Sim::new().allow_faults(true).check(move || {
            let (dropped, _subscription) = drops();
            let log = replace(how, false, &Gauge::default()).take();
            let state = log.iter().rposition(|entry| entry.starts_with("restarted")).unwrap();
            assert_eq!(log[state + 1..][..5], ["0", "1", "2", "3", "after"]);
            assert!(!log.contains(&"never told".into()));
            assert!(dropped.is_empty());
        });
    }
}

#[test]
fn m12_items_of_a_replayed_stream_that_wait_at_a_restart_are_dropped_and_reported() {
    for how in [Replaced::ByRequest, Replaced::ByPanic] {
        Sim::new().allow_faults(true).check(move || {
            let (dropped, _subscription) = drops();
            let before = events().counts().dropped_messages;
            let log = replace(how, true, &Gauge::default()).take();
            let state = log.iter().rposition(|entry| entry.starts_with("restarted")).unwrap();
            assert_eq!(log[state + 1], "after");
            assert_eq!(events().counts().dropped_messages - before, 4);
            let dropped = dropped.take();
            assert_eq!(dropped.len(), 4);
            let is_right = |event: &MessageDropped| {
                event.cause == DropCause::Restart && event.message.ends_with("Item")
            };
            assert!(dropped.iter().all(is_right), "{dropped:?}");
        });
    }
}

/// Each state reads all of the source, and none of its items twice, whenever it is replaced.
#[test]
fn m12_each_state_sees_a_replayed_stream_once() {
    struct Reader {
        log: Log<(u32, usize)>,
        life: u32,
    }
    impl Actor for Reader {
        fn started(&mut self, context: &mut Context<Self>) {
            let feed = context.attach(stream::iter(0..8)).window(3).without_keeping_alive();
            feed.replayed_at_restart().each(|number| Item(number, Gauge::default()));
        }
    }
    impl Handler<Item> for Reader {
        fn handle(&mut self, Item(number, _): Item, _: &mut Context<Self>) {
            self.log.push((self.life, number));
        }
    }
    sim::check(|| {
        let log = Log::new();
        let (entries, mut life) = (log.clone(), 0);
        let reader = actor(Reader { log: log.clone(), life }).restartable(move || {
            life += 1;
            Reader { log: entries.clone(), life }
        });
        let reader = reader.spawn();
        for _ in 0..3 {
            call(&reader, |_| ()).wait().unwrap();
            reader.restart().unwrap();
        }
        sleep(ms(10)).wait().unwrap();
        let log = log.take();
        for life in 0..=3 {
            let seen: Vec<usize> =
                log.iter().filter(|entry| entry.0 == life).map(|entry| entry.1).collect();
            let all = if life == 3 { 8 } else { seen.len() };
            assert_eq!(seen, (0..all).collect::<Vec<_>>(), "in life {life}");
        }
        drop(reader);
    });
}

#[test]
fn a_stream_that_panics_is_told_or_fails_the_actor() {
    fn broken() -> impl Stream<Item = Item> + Send {
        let gauge = Gauge::default();
        stream::iter(1..).map(move |n| {
            assert!(n < 3, "dry");
            gauge.up();
            Item(n, gauge.clone())
        })
    }
    check_with_faults(|faults| {
        let (diary, log) = Diary::spawn();
        tell(&diary, |_, context| {
            let feed = context.attach(broken());
            feed.on_end(|diary, end, _| diary.log.push(format!("{end:?}"))).items();
        });
        drop(diary);
        let (failing, _) = Diary::spawn();
        tell(&failing, |_, context| drop(context.attach(broken()).items()));
        let why = "a stream that it read panicked: dry";
        assert_eq!(failing.ended().wait(), Ok(ExitReason::Failed(why.into())));
        let faults = faults.clone();
        finally(move || {
            assert_eq!(log.take()[1..4], ["1", "2", "Panicked(\"dry\")"]);
            assert_eq!(faults.len(), 2);
        });
    });
}

#[test]
fn panics_in_hooks_destructors_and_handlers_end_the_actor_and_nothing_hangs() {
    struct Fragile;
    impl Drop for Fragile {
        fn drop(&mut self) {
            panic!("no drop");
        }
    }
    check_with_faults(|faults| {
        let (diary, _) = Diary::spawn();
        tell(&diary, |_, context| {
            let fragile = Fragile;
            let stream = stream::poll_fn(move |_| {
                let _ = &fragile;
                Poll::Ready(None::<Note>)
            });
            context.attach(stream).on_end(|_, _, _| panic!("bad end")).items();
        });
        assert_eq!(diary.ended().wait(), Ok(ExitReason::Panicked("bad end".into())));
        let (diary, log) = Diary::spawn();
        let seen = log.clone();
        tell(&diary, move |_, context| {
            let witness = Witness(seen);
            context.attach(stream::repeat(())).each(move |()| {
                let _ = &witness;
                Bomb
            });
        });
        assert_eq!(diary.ended().wait(), Ok(ExitReason::Panicked("boom".into())));
        let faults = faults.clone();
        finally(move || {
            assert!(log.take().contains(&"stream dropped".into()));
            assert!(faults.len() >= 3);
        });
    });
}

#[test]
fn a_window_or_a_buffer_of_nothing_is_refused() {
    check_with_faults(|_| {
        let (diary, _) = Diary::spawn();
        tell(&diary, |_, context| drop(context.attach(stream::empty::<Note>()).window(0).items()));
        let why = "with a window of 0 no item could ever come";
        assert_eq!(diary.ended().wait(), Ok(ExitReason::Panicked(why.into())));
        let source = Source::spawn(&Log::new(), &[]);
        let message = coact_tests::panic_of(|| source.stream_buffered::<usize>(0));
        assert_eq!(message, "through a buffer of 0 no item could ever come");
    });
}

/// Counts up, in whatever way it is told to, and writes down what was demanded.
struct Source {
    next: usize,
    demands: Log<usize>,
    plan: Vec<Plan>,
    kept: Option<Demand<usize>>,
}

/// What to do with a demand.
#[derive(Clone, Copy, Debug)]
enum Plan {
    Fill,
    Push(usize),
    Keep,
    Finish,
    Panic,
    Drop,
    /// Push one, and panic.
    PushAndPanic,
}

impl Source {
    /// After the plan it fills all demands.
    fn spawn(demands: &Log<usize>, plan: &[Plan]) -> Addr<Self> {
        let plan = plan.iter().rev().copied().collect();
        spawn(Self { next: 0, demands: demands.clone(), plan, kept: None })
    }

    fn push(&mut self, demand: &mut Demand<usize>) -> bool {
        let pushed = demand.push(self.next).is_ok();
        self.next += usize::from(pushed);
        pushed
    }
}

impl Actor for Source {}

impl Handler<Demand<usize>> for Source {
    fn handle(&mut self, mut demand: Demand<usize>, _: &mut Context<Self>) {
        self.demands.push(demand.left());
        match self.plan.pop().unwrap_or(Plan::Fill) {
            Plan::Fill => while self.push(&mut demand) {},
            Plan::Push(n) => (0..n).for_each(|_| assert!(self.push(&mut demand))),
            Plan::Keep => self.kept = Some(demand),
            Plan::Finish => demand.finish(),
            Plan::Panic => panic!("dry"),
            Plan::Drop => drop(demand),
            Plan::PushAndPanic => {
                self.push(&mut demand);
                panic!("dry");
            }
        }
    }
}

/// Takes all that is there at once.
fn ready(stream: &mut ActorStream<usize>) -> Vec<usize> {
    let mut taken = Vec::new();
    futures::executor::block_on(poll_fn(|context| {
        while let Poll::Ready(Some(item)) = Pin::new(&mut *stream).poll_next(context) {
            taken.push(item);
        }
        Poll::Ready(())
    }));
    taken
}

#[test]
fn nothing_is_made_before_it_is_asked_for() {
    sim::check(|| {
        let demands = Log::new();
        let source = Source::spawn(&demands, &[]);
        let mut stream = source.stream_buffered::<usize>(4);
        sleep(ms(1)).wait().unwrap();
        assert!(demands.is_empty());
        assert_eq!(stream.wait_next(), Some(0));
        sleep(ms(1)).wait().unwrap();
        assert_eq!(demands.take(), [4]);
        assert_eq!(stream.backlog(), 3);
        assert_eq!(stream.end(), None);
        // Half of the buffer is free: more is asked for, and no more than there is room.
        assert_eq!(stream.wait_next(), Some(1));
        sleep(ms(1)).wait().unwrap();
        assert_eq!((demands.take(), stream.backlog()), (vec![2], 4));
        assert_eq!(ready(&mut stream)[..4], [2, 3, 4, 5]);
    });
}

#[test]
fn a_slow_consumer_bounds_a_fast_producer() {
    check(|| {
        for buffer in [1, 2, 7] {
            let demands = Log::new();
            let mut stream = Source::spawn(&demands, &[]).stream_buffered::<usize>(buffer);
            for n in 0..50 {
                assert_eq!(stream.wait_next(), Some(n));
                assert!(stream.backlog() <= buffer);
            }
            assert!(demands.take().into_iter().all(|demand| demand <= buffer));
        }
    });
}

#[test]
fn a_rest_that_was_not_filled_is_asked_for_again() {
    sim::check(|| {
        let demands = Log::new();
        let plan = [Plan::Push(1), Plan::Push(2), Plan::Push(1), Plan::Finish];
        let mut stream = Source::spawn(&demands, &plan).stream_buffered::<usize>(4);
        let all: Vec<usize> = std::iter::from_fn(|| stream.wait_next()).collect();
        assert_eq!(all, [0, 1, 2, 3]);
        assert_eq!(stream.end(), Some(OfferEnd::Finished));
        assert_eq!(stream.wait_next(), None);
        assert!(demands.take().into_iter().all(|demand| (1..=4).contains(&demand)));
    });
}

#[test]
fn items_may_come_later() {
    struct More;
    impl Message for More {
        type Reply = bool;
    }
    impl Handler<More> for Source {
        fn handle(&mut self, _: More, _: &mut Context<Self>) -> bool {
            let Some(mut demand) = self.kept.take() else { return false };
            let pushed = self.push(&mut demand);
            self.kept = Some(demand);
            pushed
        }
    }
    sim::check(|| {
        let source = Source::spawn(&Log::new(), &[Plan::Keep, Plan::Keep]);
        let mut stream = source.stream_buffered::<usize>(1);
        for n in 0..2 {
            assert!(ready(&mut stream).is_empty());
            assert_eq!(source.ask(More).wait(), Ok(true));
            // One was demanded, and no more.
            assert_eq!(source.ask(More).wait(), Ok(false));
            assert_eq!(stream.wait_next(), Some(n));
        }
        assert_eq!(stream.wait_next(), Some(2));
    });
}

#[test]
fn a_producer_that_ends_ends_its_streams() {
    #[derive(Clone, Copy, Debug)]
    enum End {
        Kill,
        Stop,
        // There is no way to make a new state.
        Restart,
    }
    for way in [End::Kill, End::Stop, End::Restart] {
        check_with_faults(move |_| {
            let source = Source::spawn(&Log::new(), &[Plan::Keep]);
            let mut stream = source.stream::<usize>();
            assert!(ready(&mut stream).is_empty());
            assert_eq!(call(&source, |source| source.kept.is_some()).wait(), Ok(true));
            let told = match way {
                End::Kill => source.kill(),
                End::Stop => source.stop(),
                End::Restart => source.restart(),
            };
            assert_eq!(told, Ok(()));
            assert_eq!(stream.wait_next(), None, "{way:?}");
            assert_eq!(stream.end(), Some(OfferEnd::Dropped), "{way:?}");
            // And one that is asked for too late.
            source.ended().wait().unwrap();
            assert_eq!(source.stream::<usize>().wait_next(), None);
        });
    }
}

#[test]
fn a_producer_that_panics_ends_its_streams() {
    for (plan, before) in [(Plan::Panic, 0), (Plan::Drop, 0), (Plan::PushAndPanic, 1)] {
        check_with_faults(move |_| {
            let mut stream = Source::spawn(&Log::new(), &[plan]).stream::<usize>();
            let all: Vec<usize> = std::iter::from_fn(|| stream.wait_next()).collect();
            assert_eq!(all.len(), before, "{plan:?}");
            assert_eq!(stream.end(), Some(OfferEnd::Dropped));
        });
    }
}

#[test]
fn a_consumer_that_is_gone_is_seen_at_the_next_push() {
    check(|| {
        let source = Source::spawn(&Log::new(), &[Plan::Keep]);
        let mut stream = source.stream::<usize>();
        assert!(ready(&mut stream).is_empty());
        assert_eq!(
            call(&source, |source| source.kept.as_ref().unwrap().is_wanted()).wait(),
            Ok(true)
        );
        drop(stream);
        let refused = call(&source, |source| {
            let demand = source.kept.as_mut().unwrap();
            let before = demand.left();
            let refused = [demand.push(7), demand.push(8)].map(Result::unwrap_err);
            (demand.is_wanted(), before, refused, demand.left())
        });
        let gone = [PushError::Gone(7), PushError::Gone(8)];
        assert_eq!(refused.wait(), Ok((false, 16, gone, 0)));
    });
}

#[test]
fn an_iterator_fills_demands_until_it_ends() {
    struct Letters(std::vec::IntoIter<char>);
    impl Actor for Letters {}
    impl Handler<Demand<char>> for Letters {
        fn handle(&mut self, demand: Demand<char>, context: &mut Context<Self>) {
            if !demand.fill(&mut self.0) {
                context.stop();
            }
        }
    }
    check(|| {
        let letters: Vec<char> = ('a'..='z').collect();
        let source = spawn(Letters(letters.clone().into_iter()));
        let all = spawn_future(source.stream_buffered(4).collect::<Vec<char>>());
        assert_eq!(all.wait(), Ok(letters));
        assert_eq!(source.ended().wait(), Ok(ExitReason::Normal));
    });
}

#[test]
fn from_actor_to_actor_all_is_bounded_and_nothing_is_lost() {
    sim::check(|| {
        let demands = Log::new();
        let source =
            Source::spawn(&demands, &[Plan::Fill, Plan::Push(1), Plan::Fill, Plan::Finish]);
        let (diary, log) = Diary::spawn();
        let items = source.stream_buffered::<usize>(3);
        drop(source);
        tell(&diary, move |_, context| {
            let gauge = Gauge::default();
            let feed =
                context.attach(items).on_end(|diary, end, _| diary.log.push(format!("{end:?}")));
            feed.each(move |n| {
                gauge.up();
                Item(n, gauge.clone())
            });
        });
        assert_eq!(diary.downgrade().upgrade().map(|_| ()), Some(()));
        drop(diary);
        sleep(ms(100)).wait().unwrap();
        let mut log = log.take();
        assert_eq!(log.split_off(log.len() - 3), ["Finished", "stopped: it was done", "dropped"]);
        assert_eq!(log[1..], numbered(log.len() - 1));
        assert!(log.len() > 4, "{log:?}");
    });
}

/// Makes numbers for any number of consumers, and keeps their demands. It says who has gone.
#[derive(Default)]
struct Press {
    demands: Vec<Demand<usize>>,
    gone: Log<coact::stream::StreamId>,
    watches: bool,
}

impl Press {
    fn spawn(watches: bool) -> (Addr<Self>, Log<coact::stream::StreamId>) {
        let gone = Log::new();
        let press = Self { demands: Vec::new(), gone: gone.clone(), watches };
        (actor(press).mailbox(Mailbox::bounded(1).fail()).spawn(), gone)
    }
}

impl Actor for Press {}

impl Handler<Demand<usize>> for Press {
    fn handle(&mut self, mut demand: Demand<usize>, context: &mut Context<Self>) {
        if self.watches {
            context.watch_consumer(&demand);
            context.watch_consumer(&demand);
        }
        demand.push(1).ok();
        self.demands.push(demand);
    }
}

impl Handler<coact::stream::ConsumerGone> for Press {
    fn handle(&mut self, gone: coact::stream::ConsumerGone, _: &mut Context<Self>) {
        self.demands.retain(|demand| demand.stream() != gone.stream);
        self.gone.push(gone.stream);
    }
}

#[test]
fn a_producer_is_told_that_its_consumer_is_gone_without_a_push() {
    check(|| {
        let (press, gone) = Press::spawn(true);
        let mut streams = [press.stream::<usize>(), press.stream()];
        for stream in &mut streams {
            assert_eq!(stream.wait_next(), Some(1));
        }
        let [left, mut stays] = streams;
        let id = left.id();
        assert_ne!(id, stays.id());
        // Full or not, the mailbox lets that in.
        press.suspend().unwrap();
        drop(left);
        press.resume().unwrap();
        assert_eq!(call(&press, |press| press.demands.len()).wait(), Ok(1));
        when(&press, |press| assert_eq!(press.demands[0].push(2), Ok(())));
        assert_eq!(stays.wait_next(), Some(2));
        finally(move || {
            assert_eq!(gone.take(), [id]);
            drop(stays);
        });
    });
}

#[test]
fn a_producer_is_told_at_once_of_a_consumer_that_has_gone_before() {
    check(|| {
        let (press, gone) = Press::spawn(false);
        let mut stream = press.stream::<usize>();
        assert_eq!(stream.wait_next(), Some(1));
        let id = stream.id();
        drop(stream);
        let late = |press: &mut Press, context: &mut Context<Press>| {
            context.watch_consumer(&press.demands[0]);
        };
        press.ask(Look(Box::new(late))).wait().unwrap();
        assert_eq!(call(&press, |press| press.demands.len()).wait(), Ok(0));
        finally(move || assert_eq!(gone.take(), [id]));
    });
}

/// Calls something with the actor.
struct Look(Work);

type Work = Box<dyn FnOnce(&mut Press, &mut Context<Press>) + Send>;

impl Message for Look {
    type Reply = ();
}

impl Handler<Look> for Press {
    fn handle(&mut self, look: Look, context: &mut Context<Self>) {
        (look.0)(self, context);
    }
}

#[test]
fn nothing_is_told_of_a_consumer_whose_stream_has_ended() {
    check(|| {
        let (press, gone) = Press::spawn(true);
        let mut stream = press.stream::<usize>();
        assert_eq!(stream.wait_next(), Some(1));
        when(&press, |press| press.demands.remove(0).finish());
        assert_eq!(stream.wait_next(), None);
        drop(stream);
        // A watcher keeps no actor alive.
        let mut other = press.stream::<usize>();
        assert_eq!(other.wait_next(), Some(1));
        press.kill().unwrap();
        press.ended().wait().unwrap();
        drop(other);
        finally(move || assert!(gone.is_empty()));
    });
}

#[test]
fn a_departure_against_a_watch_under_every_schedule() {
    sim::check(|| {
        let (press, gone) = Press::spawn(true);
        let mut stream = press.stream::<usize>();
        let first = sim::thread(move || stream.wait_next());
        assert_eq!(first.wait(), Ok(Some(1)));
        while gone.is_empty() {
            call(&press, |_| ()).wait().unwrap();
        }
        assert_eq!(call(&press, |press| press.demands.len()).wait(), Ok(0));
    });
}
