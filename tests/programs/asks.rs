//! Asks of held actors: none waits for ever, and none fails as a circle that is none.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use coact::Context;
use coact::actor::ActorId;
use coact::prelude::*;
use coact::time::sleep;
use coact_tests::Log;
use proptest::prelude::*;

use crate::runs::{Program, config, everywhere};

const ACTORS: usize = 4;
const LAYERS: usize = 3;

/// What an actor does with a question.
#[derive(Clone, Debug)]
struct Question {
    to: usize,
    manner: Manner,
}

#[derive(Clone, Debug)]
enum Manner {
    /// Answers at once.
    Now,
    /// Answers a little later; takes other messages meanwhile.
    Later,
    /// Leaves the answer to another one.
    Forward(Box<Question>),
    /// Is held, spawns behaviours, and asks: for each step.
    Hold(Vec<Step>),
}

#[derive(Clone, Debug)]
struct Step {
    /// Behaviours over these are spawned first.
    behaviours: Vec<BTreeSet<usize>>,
    pauses: bool,
    question: Question,
}

/// Whom each may ask, and over which actors a behaviour may be.
#[derive(Clone, Copy)]
enum Rule {
    Anybody,
    /// Those of the next layer only; behaviours are over actors of one layer.
    NextLayer,
}

/// Questions to those of the layer, at the most so deep.
fn question(rule: Rule, layer: usize, depth: u32) -> BoxedStrategy<Question> {
    let to = match rule {
        Rule::Anybody => 0..ACTORS,
        // Two in each layer.
        Rule::NextLayer => 2 * layer..2 * layer + 2,
    };
    let plain = prop_oneof![Just(Manner::Now), Just(Manner::Later)];
    let manner = if depth == 0 {
        plain.boxed()
    } else {
        let deeper = question(rule, layer + 1, depth - 1);
        prop_oneof![
            1 => plain,
            1 => deeper.clone().prop_map(|question| Manner::Forward(Box::new(question))),
            3 => prop::collection::vec(step(rule, deeper), 1..3).prop_map(Manner::Hold),
        ]
        .boxed()
    };
    (to, manner).prop_map(|(to, manner)| Question { to, manner }).boxed()
}

fn step(rule: Rule, question: BoxedStrategy<Question>) -> impl Strategy<Value = Step> {
    let set = match rule {
        Rule::Anybody => prop::collection::btree_set(0..ACTORS + 1, 1..3).boxed(),
        Rule::NextLayer => {
            (0..LAYERS).prop_map(|layer| BTreeSet::from([2 * layer, 2 * layer + 1])).boxed()
        }
    };
    (prop::collection::vec(set, 0..2), prop::bool::weighted(0.2), question)
        .prop_map(|(behaviours, pauses, question)| Step { behaviours, pauses, question })
}

type Answer = Result<(), AskError>;

/// The outcome of each ask that a held actor made.
#[derive(Clone, Debug)]
struct Made {
    by: ActorId,
    answer: Answer,
    /// Who waited for whom when it was made, and just before its answer, as the actors themselves
    /// know it.
    before: BTreeMap<ActorId, Wait>,
    after: BTreeMap<ActorId, Wait>,
}

/// What an actor that is held waits for.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Wait {
    /// As it was asked; it may have passed the question on.
    of: ActorId,
    /// Tells the waits of one run apart: an actor may wait for the same one twice.
    number: usize,
}

/// What all of one run share.
#[derive(Clone)]
struct World {
    actors: Vec<Addr<Node>>,
    cown: Cown<u64>,
    made: Log<Made>,
    /// Who waits for whom now.
    waiting: Arc<parking::Waiting>,
}

/// Who waits for whom, kept by those who wait.
mod parking {
    use std::collections::BTreeMap;

    use coact::actor::ActorId;
    use coact_sync::shim::process::Mutex;

    use super::Wait;

    type Waits = BTreeMap<ActorId, Wait>;

    /// The waits of now, and how many have begun.
    #[derive(Default)]
    pub struct Waiting(Mutex<(Waits, usize)>);

    impl Waiting {
        /// Returns the waits of now, with this one.
        pub fn begin(&self, by: ActorId, of: ActorId) -> Waits {
            let (waits, number) = &mut *self.0.lock();
            *number += 1;
            waits.insert(by, Wait { of, number: *number });
            waits.clone()
        }

        /// Returns the waits of now, still with the one that ends.
        pub fn end(&self, by: ActorId) -> Waits {
            let (waits, _) = &mut *self.0.lock();
            let after = waits.clone();
            waits.remove(&by);
            after
        }
    }
}

struct Node;

impl Actor for Node {}

struct Put(Question, World);

impl Message for Put {
    type Reply = ();
}

impl Receive<Put> for Node {
    fn receive(&mut self, put: Put, reply: Reply<()>, context: &mut Context<Self>) {
        let Put(question, world) = put;
        match question.manner {
            Manner::Now => reply.send(()),
            Manner::Later => context.detach(reply, async {
                let _ = sleep(Duration::from_micros(50)).await;
            }),
            Manner::Forward(question) => {
                let to = world.actors[question.to].clone();
                let _ = to.forward(Put(*question, world), reply);
            }
            Manner::Hold(steps) => context.hold(reply, |_, context| {
                let by = context.id();
                Box::pin(async move {
                    for step in steps {
                        world.take(by, step).await;
                    }
                })
            }),
        }
    }
}

impl World {
    fn new(actors: usize) -> Self {
        Self {
            actors: (0..actors).map(|_| spawn(Node)).collect(),
            cown: Cown::new(0),
            made: Log::new(),
            waiting: Arc::default(),
        }
    }

    async fn take(&self, by: ActorId, step: Step) {
        for set in step.behaviours {
            let actors: Vec<_> =
                set.iter().filter_map(|of| self.actors.get(*of).cloned()).collect();
            // One more than there are stands for the cown.
            if set.contains(&ACTORS) {
                when((&actors, &self.cown), |(_, n)| *n += 1);
            } else {
                when(&actors, |_| ());
            }
        }
        if step.pauses {
            let _ = sleep(Duration::from_micros(30)).await;
        }
        let to = self.actors[step.question.to].clone();
        let before = self.waiting.begin(by, to.id());
        let answer = to.ask(Put(step.question, self.clone())).await;
        let after = self.waiting.end(by);
        self.made.push(Made { by, answer, before, after });
    }
}

/// A circle is told to the one that closed it, and all others on it wait, or another circle was
/// told to them or to those for whom they waited.
fn check_circle(made: &Made, all: &[Made]) -> Result<(), String> {
    let Err(AskError::Cycle(cycle)) = &made.answer else {
        return made.answer.clone().map_err(|why| format!("an ask failed: {why}"));
    };
    let [first, others @ ..] = &cycle.asks[..] else { return Err("an empty circle".into()) };
    if first.by.id() != made.by {
        return Err(format!("the circle begins elsewhere: {made:?}"));
    }
    let failed = |actor| all.iter().any(|other| other.by == actor && other.answer.is_err());
    // Who has stopped waiting between the telling and the hearing was told of another circle, or
    // its own question came to an end since the one that it asked had stopped waiting. By then it
    // may wait again: a wait that was not yet there when the ask was made may be another one than
    // that of the circle.
    let mut next_may_have_ended = false;
    for ask in others.iter().rev() {
        let by = ask.by.id();
        let wait = made.after.get(&by);
        if wait.is_none() && !failed(by) && !next_may_have_ended {
            return Err(format!("{:?} does not wait: {made:?}", ask.by));
        }
        next_may_have_ended = wait.is_none() || wait != made.before.get(&by);
    }
    Ok(())
}

fn program(
    questions: &[Question],
    actors: usize,
    verdict: impl FnOnce(&[Made]) -> Result<(), String> + 'static,
) -> Program {
    let world = World::new(actors);
    let (made, ends) = (world.made.clone(), Log::new());
    let threads = questions
        .iter()
        .map(|question| {
            let (question, world, ends) = (question.clone(), world.clone(), ends.clone());
            Box::new(move || {
                let ask = world.actors[question.to].clone().ask(Put(question, world));
                drop(ask.then((), move |(), answer| ends.push(answer)));
            }) as Box<dyn FnOnce() + Send>
        })
        .collect();
    let count = questions.len();
    let verdict = move || {
        let (made, ends) = (made.take(), ends.take());
        if ends.len() != count || !ends.iter().all(Result::is_ok) {
            return Err(format!("{count} were asked, with the answers {ends:?}"));
        }
        made.iter().try_for_each(|one| check_circle(one, &made))?;
        verdict(&made)
    };
    Program { threads, verdict: Box::new(verdict) }
}

/// How many circles there are if nothing else goes on: an actor that is held lies on the way, and
/// with it whatever stands behind a behaviour over him.
fn expected_circles(root: &Question) -> usize {
    #[derive(Default)]
    struct State {
        held: BTreeSet<usize>,
        /// What waits for one that is held, by its members.
        stuck: Vec<BTreeSet<usize>>,
        circles: usize,
    }

    impl State {
        fn is_blocked(&self, actor: usize) -> bool {
            self.held.contains(&actor) || self.stuck.iter().any(|set| set.contains(&actor))
        }

        /// Returns whether the question is answered.
        fn put(&mut self, question: &Question) -> bool {
            if self.is_blocked(question.to) {
                return false;
            }
            match &question.manner {
                Manner::Now | Manner::Later => true,
                Manner::Forward(question) => self.put(question),
                Manner::Hold(steps) => {
                    self.held.insert(question.to);
                    for step in steps {
                        for set in &step.behaviours {
                            if set.iter().any(|member| self.is_blocked(*member)) {
                                self.stuck.push(set.clone());
                            }
                        }
                        if !self.put(&step.question) {
                            self.circles += 1;
                        }
                    }
                    self.held.remove(&question.to);
                    self.settle();
                    true
                }
            }
        }

        /// Lets run what can: in each queue the first comes first.
        fn settle(&mut self) {
            let mut before = self.held.clone();
            self.stuck.retain(|set| {
                let waits = !set.is_disjoint(&before);
                if waits {
                    before.extend(set);
                }
                waits
            });
        }
    }

    let mut state = State::default();
    state.put(root);
    state.circles
}

proptest! {
    #![proptest_config(config(300))]

    /// Everybody asks anybody: all come to an end, whatever circles there are.
    #[test]
    fn no_ask_waits_for_ever(
        questions in prop::collection::vec(question(Rule::Anybody, 0, 3), 1..5),
        seed in any::<u32>(),
    ) {
        everywhere(u64::from(seed), move || program(&questions, ACTORS, |_| Ok(())))?;
    }

    /// Asks go up the layers, and behaviours stay within one: there is no circle.
    #[test]
    fn no_circle_is_found_where_there_is_none(
        questions in prop::collection::vec(question(Rule::NextLayer, 0, LAYERS as u32 - 1), 1..5),
        seed in any::<u32>(),
    ) {
        everywhere(u64::from(seed), move || {
            program(&questions, 2 * LAYERS, |made| match made.iter().find(|made| made.answer.is_err()) {
                None => Ok(()),
                Some(made) => Err(format!("a circle was found: {made:?}")),
            })
        })?;
    }

    /// With one question at a time it is known which asks close a circle.
    #[test]
    fn circles_are_found_where_they_are(
        question in question(Rule::Anybody, 0, 4),
        seed in any::<u32>(),
    ) {
        let expected = expected_circles(&question);
        everywhere(u64::from(seed), move || {
            program(std::slice::from_ref(&question), ACTORS, move |made| {
                let found = made.iter().filter(|made| made.answer.is_err()).count();
                if found == expected { Ok(()) } else { Err(format!("{found} circles, not {expected}")) }
            })
        })?;
    }
}

/// An answer is left to an actor in whose queue a behaviour stands that needs the one that asks:
/// the search must come after the message.
#[test]
fn a_circle_through_a_forwarded_ask_behind_a_behaviour() {
    let put = |to, manner| Question { to, manner };
    let step = |behaviours, question| Step { behaviours, pauses: false, question };
    let over = |members: &[usize]| vec![members.iter().copied().collect::<BTreeSet<_>>()];
    let asks_back = put(1, Manner::Hold(vec![step(vec![], put(0, Manner::Now))]));
    let inner = vec![step(over(&[0]), put(0, Manner::Now)), step(over(&[0, 2]), asks_back)];
    let forwards = put(1, Manner::Forward(Box::new(put(2, Manner::Now))));
    let outer = vec![step(vec![], put(2, Manner::Hold(inner))), step(vec![], forwards)];
    let question = put(0, Manner::Hold(outer));
    for seed in 0..100 {
        let (question, expected) = (question.clone(), expected_circles(&question));
        let ran = everywhere(seed, move || {
            program(std::slice::from_ref(&question), ACTORS, move |made| {
                let found = made.iter().filter(|made| made.answer.is_err()).count();
                if found == expected { Ok(()) } else { Err(format!("{found}, not {expected}")) }
            })
        });
        ran.unwrap();
    }
}
