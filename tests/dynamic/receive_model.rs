//! What a body takes that waits in the middle of others of its waits, beside a list that is
//! searched from its beginning, with behaviours that change what its guards see.

use std::sync::{Arc, Mutex};

use coact::dynamic::{DynThread, ThreadSpawn, atom, cases, detached, fiber};
use coact::prelude::*;
use coact::sim::{Config, Method, Sim};
use proptest::prelude::*;

/// What one sender does to the actor, in order.
#[derive(Clone, Copy, Debug)]
enum Step {
    Int(i32),
    Byte(u8),
    Text(i32),
    /// A behaviour, which changes what guards see.
    When(i32),
}

/// A wait for a message of some kind, and the waits in the case that takes it.
#[derive(Clone, Debug)]
struct Wait {
    kind: u8,
    within: Vec<Wait>,
}

const KINDS: u8 = 6;

/// Whether a wait of a kind takes a message, by what guards see.
fn takes(kind: u8, key: i32, step: Step) -> bool {
    match (kind, step) {
        (_, Step::When(_)) => false,
        (0, Step::Int(_)) | (1, Step::Byte(_)) | (2, Step::Text(_)) | (5, _) => true,
        (3, Step::Int(n) | Step::Text(n)) => (n + key) % 3 == 0,
        (4, Step::Byte(n)) => i32::from(n) % 4 > key % 4,
        (4, Step::Int(n)) => n % 2 == 0,
        _ => false,
    }
}

type Journal = Arc<Mutex<Vec<String>>>;

struct State {
    key: i32,
    journal: Journal,
}

impl State {
    fn note(&mut self, what: String) {
        self.journal.lock().unwrap().push(what);
    }
}

/// The actor as a list.
struct Model<'a> {
    key: i32,
    queue: std::slice::Iter<'a, Step>,
    skipped: Vec<Step>,
    journal: Vec<String>,
}

impl Model<'_> {
    fn run(steps: &[Step], waits: &[Wait]) -> Vec<String> {
        let (queue, skipped, journal) = (steps.iter(), Vec::new(), Vec::new());
        let mut model = Model { key: 0, queue, skipped, journal };
        // What waits for ever still lets behaviours run.
        if model.all(waits, 0) {
            model.wait(u8::MAX);
        }
        model.journal
    }

    fn all(&mut self, waits: &[Wait], depth: usize) -> bool {
        waits.iter().all(|wait| {
            let Some(taken) = self.wait(wait.kind) else { return false };
            self.key += 1;
            self.journal.push(format!("{depth}: {taken:?} as {}", wait.kind));
            self.all(&wait.within, depth + 1)
        })
    }

    fn wait(&mut self, kind: u8) -> Option<Step> {
        if let Some(at) = self.skipped.iter().position(|step| takes(kind, self.key, *step)) {
            return Some(self.skipped.remove(at));
        }
        for step in self.queue.by_ref() {
            match *step {
                Step::When(n) => {
                    self.key += n;
                    self.journal.push(format!("when {}", self.key));
                }
                step if takes(kind, self.key, step) => return Some(step),
                step => self.skipped.push(step),
            }
        }
        None
    }
}

fn body(me: &mut DynThread<State>, waits: &[Wait], depth: usize) {
    for Wait { kind, within } in waits {
        let kind = *kind;
        let taken = |me: &mut DynThread<State>, step: Step| {
            let state = me.state_mut();
            state.key += 1;
            state.note(format!("{depth}: {step:?} as {kind}"));
            // In the middle of the case.
            body(me, within, depth + 1);
        };
        me.receive(cases! { ref |me: &mut DynThread<State>|
            (n: i32) if takes(kind, me.state().key, Step::Int(n)) => taken(me, Step::Int(n)),
            (n: u8) if takes(kind, me.state().key, Step::Byte(n)) => taken(me, Step::Byte(n)),
            (atom!("text"), n: i32) if takes(kind, me.state().key, Step::Text(n)) => taken(me, Step::Text(n)),
        });
    }
}

type Make = fn(State, Arc<Vec<Wait>>) -> ThreadSpawn<State>;

fn on_fiber(state: State, waits: Arc<Vec<Wait>>) -> ThreadSpawn<State> {
    fiber(state, move |me| whole_body(me, &waits))
}

fn on_thread(state: State, waits: Arc<Vec<Wait>>) -> ThreadSpawn<State> {
    detached(state, move |me| whole_body(me, &waits))
}

fn whole_body(me: &mut DynThread<State>, waits: &[Wait]) {
    body(me, waits, 0);
    me.receive(cases! { |_me: &mut DynThread<State>| (atom!("never")) => () });
}

fn run(make: Make, steps: &[Step], waits: &[Wait]) -> Vec<String> {
    let journal = Journal::default();
    let state = State { key: 0, journal: Arc::clone(&journal) };
    let it = make(state, Arc::new(waits.to_vec())).spawn();
    for step in steps {
        match *step {
            Step::Int(n) => it.send(n).unwrap(),
            Step::Byte(n) => it.send(n).unwrap(),
            Step::Text(n) => it.send((atom!("text"), n)).unwrap(),
            Step::When(n) => when(&it, move |state| {
                state.key += n;
                let key = state.key;
                state.note(format!("when {key}"));
            }),
        }
    }
    call(&it, |_| ()).wait().unwrap();
    let journal = journal.lock().unwrap();
    journal.clone()
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => (0..20).prop_map(Step::Int),
        3 => (0_u8..20).prop_map(Step::Byte),
        2 => (0..20).prop_map(Step::Text),
        2 => (1..4).prop_map(Step::When),
    ]
}

fn waits() -> impl Strategy<Value = Vec<Wait>> {
    let leaf = (0..KINDS).prop_map(|kind| Wait { kind, within: Vec::new() });
    let wait = leaf.prop_recursive(3, 16, 3, |inner| {
        (0..KINDS, prop::collection::vec(inner, 0..3))
            .prop_map(|(kind, within)| Wait { kind, within })
    });
    prop::collection::vec(wait, 0..8)
}

fn programs() -> impl Strategy<Value = (Vec<Step>, Vec<Wait>)> {
    (prop::collection::vec(step(), 0..40), waits())
}

fn on_workers(workers: usize, cases: u32, make: Make) {
    let runtime = Runtime::builder().workers(workers).build().unwrap();
    let config = ProptestConfig::with_cases(cases);
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let result = runner.run(&programs(), |(steps, waits)| {
        let journal = runtime.run(|| run(make, &steps, &waits));
        prop_assert_eq!(journal, Model::run(&steps, &waits));
        Ok(())
    });
    if let Err(error) = result {
        panic!("with {workers} workers: {error}");
    }
}

#[test]
fn d9_nested_waits_beside_behaviours_are_those_of_a_list() {
    for workers in [1, 2, 8] {
        on_workers(workers, 300, on_fiber);
        on_workers(workers, 60, on_thread);
    }
}

#[test]
fn d9_nested_waits_are_those_of_a_list_in_a_simulation() {
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(60));
    let result = runner.run(&programs(), |(steps, waits)| {
        for method in [Method::Random, Method::Pct { depth: 3 }] {
            let (steps, waits) = (steps.clone(), waits.clone());
            let sim = Sim::new().config(Config::new().method(method).runs(3));
            let run = sim.run(move || {
                assert_eq!(run(on_fiber, &steps, &waits), Model::run(&steps, &waits));
            });
            prop_assert!(run.is_ok(), "{}", run.unwrap_err());
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
