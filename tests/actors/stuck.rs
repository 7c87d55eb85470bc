//! What the deterministic mode says of actors, and of what waits for them, when no thread can go
//! on.

use coact::Context;
use coact::mailbox::Mailbox;
use coact::prelude::*;
use coact::sim::{self, Config, Method, Sim};
use coact::this_thread;

/// Keeps what is asked.
#[derive(Default)]
struct Keeper(Vec<Reply<u32>>);

impl Actor for Keeper {}

struct Question;

impl Message for Question {
    type Reply = u32;
}

impl Receive<Question> for Keeper {
    fn receive(&mut self, _: Question, reply: Reply<u32>, _: &mut Context<Self>) {
        self.0.push(reply);
    }
}

/// Asks a keeper, and is held until that answers.
struct Asker(Addr<Keeper>);

impl Actor for Asker {}

impl Receive<Question> for Asker {
    fn receive(&mut self, _: Question, reply: Reply<u32>, context: &mut Context<Self>) {
        context.hold(reply, |asker, _| Box::pin(async { asker.0.ask(Question).await.unwrap() })); // held
    }
}

/// Of a behaviour.
const HELD: &str = " waits for an actor that is held or suspended, or for an object created outside of the simulation";

/// The report on a program that ends in a deadlock, which is the same when the run is replayed.
#[track_caller]
fn report(program: impl Fn() + Clone + 'static) -> String {
    let run = |method| {
        let config = Config::new().method(method).runs(50);
        Sim::new().config(config).run(program.clone()).expect_err("nobody can go on")
    };
    let failure = run(Method::Random);
    let again = run(Method::Replay(failure.schedule().clone()));
    assert_eq!(failure.cause(), again.cause());
    failure.cause().to_owned()
}

/// The place of the line of this file that ends with a mark.
fn at(mark: &str) -> String {
    let mark = format!("// {mark}");
    let line = include_str!("stuck.rs").lines().position(|line| line.ends_with(&mark));
    format!("{}:{}:", file!(), line.expect("some line has the mark") + 1)
}

/// Asserts that some line of the report has all of these parts, in this order.
#[track_caller]
fn assert_line(report: &str, parts: &[&str]) {
    let after = |rest: &mut &str, part: &str| {
        rest.split_once(part).map(|(_, behind)| *rest = behind).is_some()
    };
    let has_all = |mut line: &str| parts.iter().all(|part| after(&mut line, part));
    assert!(report.lines().any(has_all), "no line with {parts:#?} in\n{report}");
}

#[test]
fn an_actor_that_keeps_its_reply() {
    let report = report(|| {
        let keeper = spawn(Keeper::default());
        let answer = keeper.ask(Question); // asks
        let _ = answer.wait(); // waits
    });
    let answer = "for the answer of actor `actors::stuck::Keeper` to `actors::stuck::Question` (";
    let main = ["    #0, the main program, waits at ", &at("waits"), answer, &at("asks")];
    assert_line(&report, &main);
    assert_line(&report, &[&at("asks"), "), which has been handled: its reply is pending"]);
    assert_eq!(report.lines().count(), 2, "{report}");
}

#[test]
fn a_held_actor_that_awaits_another() {
    let report = report(|| {
        let asker = spawn(Asker(spawn(Keeper::default())));
        let first = asker.ask(Question); // the first
        drop(asker.ask(Question)); // behind it
        let _ = first.wait(); // waits for a held one
    });
    let answer = "for the answer of actor `actors::stuck::Asker` to `actors::stuck::Question` (";
    assert_line(&report, &[&at("waits for a held one"), answer, &at("the first")]);
    let future =
        "    the future that holds actor `actors::stuck::Asker`, which awaits the answer of actor";
    assert_line(
        &report,
        &[future, " `actors::stuck::Keeper` to `actors::stuck::Question` (", &at("held")],
    );
    let behind =
        ["Addr<actors::stuck::Asker>", "<actors::stuck::Question>", &at("behind it"), HELD];
    assert_line(&report, &behind);
    assert_eq!(report.lines().count(), 5, "{report}");
}

#[test]
fn a_suspended_actor() {
    let report = report(|| {
        let keeper = spawn(Keeper::default());
        keeper.suspend().unwrap();
        let _ = call(&keeper, |_| ()).wait(); // waits for a suspended one
    });
    let main = [&at("waits for a suspended one"), " for the result of `", "`", ", which", HELD];
    assert_line(&report, &main);
}

#[test]
fn a_full_mailbox() {
    let report = report(|| {
        let keeper = actor(Keeper::default()).mailbox(Mailbox::bounded(1)).spawn();
        keeper.suspend().unwrap();
        keeper.send(Question).unwrap(); // fills it
        let any = Recipient::from(&keeper);
        drop(sim::thread(move || any.send_blocking(Question))); // by recipient
        let _ = keeper.send_blocking(Question); // by address
    });
    let room = "room in the mailbox of actor `actors::stuck::Keeper`";
    let main = ["    #0, the main program, waits at ", &at("by address"), " for ", room];
    assert_line(&report, &main);
    let thread =
        ["    #2, the thread of ", &at("by recipient"), ", waits at ", &at("by recipient")];
    assert_line(&report, &thread);
    assert_line(&report, &[&at("by recipient"), " for its send, which awaits ", room]);
    assert_line(&report, &["<actors::stuck::Question>", &at("fills it"), HELD]);
}

#[test]
fn threads_that_wait_for_messages_and_ends() {
    let report = report(|| {
        let keeper = spawn(Keeper::default());
        drop(sim::thread(|| {
            let _own = this_thread::recipient::<Question>();
            let _question: Question = this_thread::receive(); // receives
        }));
        let _ = keeper.ended().wait(); // waits for its end
    });
    let main = [&at("waits for its end"), " for the end of actor `actors::stuck::Keeper`"];
    assert_line(&report, &main);
    let thread = [&at("receives"), " for a message `actors::stuck::Question` to this thread"];
    assert_line(&report, &thread);
}
