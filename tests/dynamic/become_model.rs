//! What an actor takes, and when, beside a list of messages that is searched from its beginning.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use coact::dynamic::{DynActor, DynAddr, DynCases, DynContext, atom, cases};
use coact::prelude::*;
use coact::sim::{Config, Method, Sim};
use coact::supervise::{Supervisor, transient};
use proptest::prelude::*;

/// What one sender does to the actor, in order.
#[derive(Clone, Debug)]
enum Step {
    /// Messages of three types.
    Int(i32),
    Byte(u8),
    Text(i32),
    /// A message that every case takes: see [`Change`].
    Change(Change),
    /// A behaviour, which changes what guards see.
    When(i32),
}

#[derive(Clone, Copy, Debug)]
enum Change {
    Become(u8),
    Push(u8),
    Pop,
    /// Fails the actor, which restarts itself.
    Fail,
}

/// Which cases are in use, by a number.
const KINDS: u8 = 5;

#[derive(Default)]
struct State {
    key: i32,
}

type Journal = Arc<Mutex<Vec<String>>>;

/// Whether cases of a kind take a message, by what guards see.
fn takes(kind: u8, key: i32, step: &Step) -> bool {
    match (kind, step) {
        (0, Step::Int(_)) | (1, Step::Byte(_)) | (4, _) => true,
        (2, Step::Int(n)) => (n + key) % 3 == 0,
        (2, Step::Text(n)) => n % 2 == 0,
        (3, Step::Byte(n)) => i32::from(*n) > key,
        (3, Step::Text(_)) => true,
        _ => false,
    }
}

fn cases_of(kind: u8, journal: &Journal) -> DynCases<State> {
    let journal = Arc::clone(journal);
    let note = move |what: String, me: &mut DynContext<State>| {
        me.state_mut().key += 1;
        journal.lock().unwrap().push(what);
    };
    match kind {
        0 => cases! { |me: &mut DynContext<State>| (n: i32) => note(format!("int {n}"), me) },
        1 => cases! { |me: &mut DynContext<State>| (n: u8) => note(format!("byte {n}"), me) },
        2 => cases! { |me: &mut DynContext<State>|
            (n: i32) if (n + me.state().key) % 3 == 0 => note(format!("int {n}"), me),
            (|text: &str| text.parse().ok().filter(|n: &i32| n % 2 == 0) -> n: i32) => note(format!("text {n}"), me),
        },
        3 => cases! { |me: &mut DynContext<State>|
            (n: u8) if i32::from(n) > me.state().key => note(format!("byte {n}"), me),
            (text: String) => note(format!("text {text}"), me),
        },
        _ => cases! { |me: &mut DynContext<State>|
            (n: i32) => note(format!("int {n}"), me),
            (n: u8) => note(format!("byte {n}"), me),
            (text: String) => note(format!("text {text}"), me),
        },
    }
}

/// The cases, and behind them what all of them take.
fn whole(kind: u8, journal: &Journal) -> DynCases<State> {
    let (again, said) = (Arc::clone(journal), Arc::clone(journal));
    cases_of(kind, journal).or_else(cases! { |me: &mut DynContext<State>|
        (atom!("become"), kind: u8) => {
            said.lock().unwrap().push(format!("become {kind}"));
            me.become_(whole(kind, &again));
        },
        (atom!("push"), kind: u8) => {
            said.lock().unwrap().push(format!("push {kind}"));
            me.become_keeping(whole(kind, &again));
        },
        (atom!("pop")) => {
            said.lock().unwrap().push("pop".into());
            me.unbecome();
        },
        (atom!("fail")) => {
            said.lock().unwrap().push("fail".into());
            coact_tests::fail("as it was told");
        },
    })
}

/// The list model.
#[derive(Default)]
struct Model {
    stack: Vec<u8>,
    key: i32,
    waiting: Vec<Step>,
    journal: Vec<String>,
}

impl Model {
    fn run(steps: &[Step]) -> Vec<String> {
        let mut model = Model { stack: vec![0], ..Model::default() };
        for step in steps {
            if model.stack.is_empty() {
                break;
            }
            match step {
                Step::When(n) => {
                    model.key += n;
                    model.journal.push(format!("when {n}"));
                }
                Step::Change(change) => model.change(*change),
                step => model.offer(step.clone()),
            }
        }
        model.journal
    }

    fn change(&mut self, change: Change) {
        match change {
            Change::Become(kind) => {
                self.journal.push(format!("become {kind}"));
                self.stack.pop();
                self.stack.push(kind);
            }
            Change::Push(kind) => {
                self.journal.push(format!("push {kind}"));
                self.stack.push(kind);
            }
            Change::Pop => {
                self.journal.push("pop".into());
                self.stack.pop();
            }
            Change::Fail => {
                self.journal.push("fail".into());
                (self.stack, self.key) = (vec![0], 0);
                // What waits comes once more, as if it were sent.
                for step in std::mem::take(&mut self.waiting) {
                    self.offer(step);
                }
                return;
            }
        }
        self.search();
    }

    fn takes(&self, step: &Step) -> bool {
        self.stack.last().is_some_and(|kind| takes(*kind, self.key, step))
    }

    fn offer(&mut self, step: Step) {
        if self.takes(&step) {
            self.take(&step);
            self.search();
        } else {
            self.waiting.push(step);
        }
    }

    fn take(&mut self, step: &Step) {
        self.key += 1;
        self.journal.push(match step {
            Step::Int(n) => format!("int {n}"),
            Step::Byte(n) => format!("byte {n}"),
            Step::Text(n) => format!("text {n}"),
            Step::Change(_) | Step::When(_) => unreachable!(),
        });
    }

    /// Takes what can be taken, from the beginning, until nothing can.
    fn search(&mut self) {
        while let Some(at) = self.waiting.iter().position(|step| self.takes(step)) {
            let step = self.waiting.remove(at);
            self.take(&step);
        }
    }
}

fn step() -> impl Strategy<Value = Step> {
    let change = prop_oneof![
        4 => (0..KINDS).prop_map(Change::Become),
        3 => (0..KINDS).prop_map(Change::Push),
        2 => Just(Change::Pop),
        1 => Just(Change::Fail),
    ];
    prop_oneof![
        3 => (0..10).prop_map(Step::Int),
        3 => (0_u8..10).prop_map(Step::Byte),
        3 => (0..10).prop_map(Step::Text),
        3 => change.prop_map(Step::Change),
        2 => (-3..6).prop_map(Step::When),
    ]
}

/// Runs the steps, and returns what the actor has noted.
fn run(steps: &[Step]) -> Vec<String> {
    let journal = Journal::default();
    let own = Arc::clone(&journal);
    let mut tree = Supervisor::one_for_one().intensity(1000, Duration::from_secs(1));
    let it = tree.child(transient(move || {
        let own = Arc::clone(&own);
        DynActor::new(State::default(), move |me: &mut DynContext<State>| {
            me.become_(whole(0, &own))
        })
    }));
    let (it, supervisor) = (DynAddr::from(it), tree.spawn());
    for step in steps {
        let sent = match step {
            Step::Int(n) => it.send(*n),
            Step::Byte(n) => it.send(*n),
            Step::Text(n) => it.send(n.to_string()),
            Step::Change(Change::Become(kind)) => it.send((atom!("become"), *kind)),
            Step::Change(Change::Push(kind)) => it.send((atom!("push"), *kind)),
            Step::Change(Change::Pop) => it.send(atom!("pop")),
            Step::Change(Change::Fail) => it.send(atom!("fail")),
            Step::When(n) => {
                let (n, journal) = (*n, Arc::clone(&journal));
                when(&*it, move |actor| {
                    actor.state_mut::<State>().expect("it is the same as before").key += n;
                    journal.lock().unwrap().push(format!("when {n}"));
                });
                Ok(())
            }
        };
        // Its stack may have become empty.
        drop(sent);
    }
    // It may have ended.
    let _ = it.drain();
    it.ended().wait().expect("it ends");
    drop(supervisor);
    journal.lock().unwrap().clone()
}

proptest! {
    #[test]
    fn d1_actors_take_what_a_search_from_the_beginning_finds(
        steps in prop::collection::vec(step(), 1..60)
    ) {
        let expected = Model::run(&steps);
        for workers in [1, 2, 8] {
            let runtime = Runtime::builder().workers(workers).panic_hook(|_| {}).build().unwrap();
            let steps = steps.clone();
            let noted = runtime.run(move || run(&steps));
            prop_assert_eq!(&noted, &expected, "{} workers", workers);
        }
        if std::env::var_os("COACT_TEST_SIMULATED").is_none_or(|value| value != "0") {
            let sim = Sim::new().config(Config::new().method(Method::Random).runs(3));
            let (steps, expected) = (steps.clone(), expected.clone());
            sim.allow_faults(true).check(move || assert_eq!(run(&steps), expected));
        }
    }
}
