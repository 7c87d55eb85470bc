//! The ends of threads: destructors of thread-local variables use whatever there is.

use std::cell::RefCell;
use std::thread;
use std::time::Duration;

use coact::credits::Credits;
use coact::prelude::*;
use coact::runtime::{blocking, spawn_future};
use coact::{Context, this_thread};
use coact_tests::{Log, PATIENCE, runtime};

use crate::world::{Diary, Note};

/// Does something when its thread ends.
struct AtTheEnd(Option<Box<dyn FnOnce()>>);

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        if let Some(work) = self.0.take() {
            work();
        }
    }
}

thread_local! {
    static AT_THE_END: RefCell<AtTheEnd> = const { RefCell::new(AtTheEnd(None)) };
}

/// Leaves work for the end of the thread, and then uses all that this library keeps for a thread:
/// that is gone when the work is done, as what is used last goes first.
fn at_the_end(work: impl FnOnce() + 'static) {
    AT_THE_END.with_borrow_mut(|end| end.0 = Some(Box::new(work)));
    let (diary, _) = Diary::spawn();
    diary.ask(Question).wait().unwrap();
    drop(this_thread::recipient::<Answer>());
    when_here(&Cown::new(()), |_| {});
    diary.stop().unwrap();
}

struct Question;

impl Message for Question {
    type Reply = u32;
}

impl Handler<Question> for Diary {
    fn handle(&mut self, _: Question, _: &mut Context<Self>) -> u32 {
        7
    }
}

struct Answer;

impl Message for Answer {
    type Reply = ();
}

/// Runs a thread inside a runtime to its end, with what its destructors log.
fn end_a_thread(work: impl FnOnce(&Log<u32>) + Send + 'static) -> Vec<u32> {
    let runtime = runtime(2, &coact_tests::Faults::new());
    let (log, home) = (Log::new(), runtime.handle());
    let at_end = log.clone();
    let thread = thread::spawn(move || {
        let _entered = home.enter();
        at_the_end(move || {
            let _entered = home.enter();
            work(&at_end);
            at_end.push(1);
        });
    });
    thread.join().unwrap();
    assert!(runtime.shutdown(PATIENCE).is_complete());
    log.take()
}

#[test]
fn an_ask_of_an_actor_is_answered() {
    let seen = end_a_thread(|log| {
        let (diary, _) = Diary::spawn();
        log.push(diary.ask(Question).wait().unwrap());
        diary.stop().unwrap();
    });
    assert_eq!(seen, [7, 1]);
}

#[test]
fn behaviours_of_all_kinds_run() {
    let seen = end_a_thread(|log| {
        let [a, b] = [1, 2].map(Cown::new);
        when((&a, &b), |(a, b)| std::mem::swap(a, b));
        log.push(call((&a, &b), |(a, b)| *a * 10 + *b).wait().unwrap());
        log.push(call(&a, |a| *a).then(&b, |b, a| *b + a.unwrap()).wait().unwrap());
        when_here((&a, &b), |(a, b)| *a += *b);
        Batch::new().when(&a, |a| *a *= 2).when(&b, |b| *b *= 2).spawn();
        scope(|scope| {
            scope.when(&a, |a| log.push(*a));
        });
        log.push(call(&b, |b| *b).wait().unwrap());
    });
    assert_eq!(seen, [21, 3, 6, 2, 1]);
}

#[test]
fn messages_timers_and_mailboxes_of_the_thread_work() {
    let seen = end_a_thread(|log| {
        let (diary, _) = Diary::spawn();
        diary.send(Note("sent")).unwrap();
        diary.send_later(Duration::ZERO, Note("later"));
        let cown = Cown::new(());
        let (resolver, promise) = Promise::channel();
        after(Duration::ZERO, &cown, move |_| resolver.resolve(5));
        log.push(promise.wait().unwrap());
        log.push(spawn_future(async { 6 }).wait().unwrap());
        log.push(blocking(|| 7).wait().unwrap());
        // What is sent to the thread's mailbox from now on is not received.
        let own = this_thread::recipient::<Answer>();
        drop(own.send(Answer));
        let credits = Credits::new(1);
        drop(credits.acquire_blocking(1));
        diary.kill().unwrap();
        diary.ended().wait().unwrap();
    });
    assert_eq!(seen, [5, 6, 7, 1]);
}

#[test]
fn a_worker_may_spawn_and_send_when_it_ends() {
    let log = Log::new();
    let (at_end, faults) = (log.clone(), coact_tests::Faults::new());
    let other = runtime(1, &faults);
    let home = other.handle();
    let runtime = runtime(1, &faults);
    let cown = runtime.run(|| Cown::new(()));
    let used = call(&cown, move |_| {
        AT_THE_END.with_borrow_mut(|end| {
            end.0 = Some(Box::new(move || {
                let _entered = home.enter();
                let (diary, _) = Diary::spawn();
                let answer = diary.ask(Question);
                at_end.push(answer.wait().unwrap());
                when(&Cown::new(()), move |_| at_end.push(8));
            }));
        });
        let (diary, _) = Diary::spawn();
        drop(diary.ask(Question));
    });
    used.wait().unwrap();
    assert!(runtime.shutdown(PATIENCE).is_complete());
    assert!(other.shutdown(PATIENCE).is_complete());
    assert_eq!(log.take(), [7, 8]);
}

#[test]
fn a_pump_can_be_made_and_run() {
    let seen = end_a_thread(|log| {
        let pump = Runtime::builder().build_pumped().unwrap();
        let _entered = pump.enter();
        let cown = Cown::new(3);
        let log = log.clone();
        when(&cown, move |n| log.push(*n));
        pump.run_pending();
    });
    assert_eq!(seen, [3, 1]);
}
