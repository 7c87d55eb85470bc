//! Random exploration: runs a program through the rules by chance, and observes the run as a trace.
//!
//! A run is a list of rules, one after the other. A real runtime shows less: that a spawn took
//! effect somewhere between its call and its return, and that a behaviour held its cowns for at
//! least the time of its body. [`observe`] forgets in the same way. It puts each recorded number
//! anywhere between the firing it belongs to and the neighbouring firings of the same thread or
//! behaviour, so every trace that the model allows is the observation of some run.

use std::collections::BTreeMap;

use crate::machine::{Machine, Rule};
use crate::plan::ProgramPlan;
use crate::program::{BehaviourId, Program, Spawner};
use crate::trace::{BodyExit, Event, Seq, Trace};

/// A trace that the model allows, chosen by `seed`.
///
/// ```
/// use coact_model::{Program, SpawnCall, check, random_trace, read, write};
///
/// let program = Program::over(2)
///     .thread([SpawnCall::on([write(0)]).into(), SpawnCall::on([write(1)]).into()])
///     .thread([SpawnCall::on([read(0), write(1)]).into()]);
/// for seed in 0..100 {
///     assert_eq!(check(&program, &random_trace(&program, seed)), Ok(()));
/// }
/// ```
pub fn random_trace(program: &Program, seed: u64) -> Trace {
    let mut dice = RandomBits::new(seed);
    let run = random_run(program, &mut dice);
    observe(program, &run, &mut SeqNoise::By(dice))
}

/// Fires rules by chance until the program has terminated.
pub(crate) fn random_run(program: &Program, dice: &mut RandomBits) -> Vec<Rule> {
    let mut machine = Machine::new(program);
    let mut run = Vec::new();
    loop {
        let enabled = machine.enabled();
        if enabled.is_empty() {
            return run;
        }
        let rule = enabled[dice.below(enabled.len() as u64) as usize];
        machine.fire(rule);
        run.push(rule);
    }
}

/// A small generator of chance (splitmix64), so that the model depends on nothing.
#[derive(Clone, Debug)]
pub(crate) struct RandomBits(u64);

impl RandomBits {
    pub(crate) fn new(seed: u64) -> Self {
        RandomBits(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number less than `end`, which is not 0.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

/// How far recorded numbers stray from their firings.
pub(crate) enum SeqNoise {
    /// Not at all: the trace tells the run exactly.
    #[cfg_attr(not(test), expect(dead_code, reason = "the tests compare exact traces with runs"))]
    None,
    /// By chance, as far as possible.
    By(RandomBits),
}

impl SeqNoise {
    /// Where a number goes that is taken right after the firing at `from` and before the one at
    /// `to`.
    fn after(&mut self, from: u64, to: u64) -> u64 {
        match self {
            SeqNoise::None => from + 1,
            SeqNoise::By(dice) => from + 1 + dice.below(to - from - 1),
        }
    }

    /// The same for two numbers: one that belongs to `from`, then one that belongs to `to`.
    fn between(&mut self, from: u64, to: u64) -> (u64, u64) {
        match self {
            SeqNoise::None => (from + 1, to - 1),
            SeqNoise::By(_) => {
                let (a, b) = (self.after(from, to), self.after(from, to));
                (a.min(b), a.max(b))
            }
        }
    }
}

/// The distance between two firings, wide enough that numbers between them seldom collide.
const SPACING: u64 = 1 << 20;

/// What a recorded number is about. Spawns go by the first behaviour of their operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum SeqSubject {
    Call(BehaviourId),
    Return(BehaviourId),
    Started(BehaviourId),
    Ended(BehaviourId),
    Skipped(BehaviourId),
}

/// The trace of `run`, which need not be one that the premises of the rules allow.
pub(crate) fn observe(program: &Program, run: &[Rule], blur: &mut SeqNoise) -> Trace {
    let mut machine = Machine::new(program);
    let mut clock = NumberClock { points: Vec::new(), open: BTreeMap::new(), blur };
    let mut seen = Vec::new();
    for (rule, now) in run.iter().zip((SPACING..).step_by(SPACING as usize)) {
        clock.observe(*rule, &machine, now);
        seen.extend(timeless(*rule, &machine));
        machine.conclude(*rule);
    }
    let seqs = clock.read();
    seen.extend(machine.plan().iter().filter_map(|b| spawned(b.id(), machine.plan(), &seqs)));
    seen.extend(machine.plan().iter().flat_map(|b| turn(b.id(), machine.plan(), &seqs)));
    seen.into_iter().collect()
}

/// The events of `rule` that no number belongs to: rejections, and the sight of poison.
fn timeless(rule: Rule, machine: &Machine<'_>) -> Vec<Event> {
    match rule {
        Rule::Step(spawner) => {
            let spawns = machine.next_op(spawner).map_or(&[][..], |op| op.spawns());
            spawns.iter().map(|spawn| Event::Rejected { id: spawn.id }).collect()
        }
        Rule::Run(id) => {
            let plan = machine.plan();
            let set = plan[id].spawn.set.iter().filter(|member| member.access.is_checked());
            set.map(|&crate::SetMember { variable, .. }| {
                let poisoned = machine.poison().on(plan.program.cown(variable)).is_some();
                Event::Saw { id, variable, poisoned }
            })
            .collect()
        }
        _ => Vec::new(),
    }
}

fn spawned(
    id: BehaviourId,
    plan: &ProgramPlan<'_>,
    seqs: &BTreeMap<SeqSubject, Seq>,
) -> Option<Event> {
    let leader = plan[id].leader();
    let (call, ret) =
        (*seqs.get(&SeqSubject::Call(leader))?, *seqs.get(&SeqSubject::Return(leader))?);
    Some(Event::Spawned { id, by: plan[id].by, call, ret })
}

fn turn(
    id: BehaviourId,
    plan: &ProgramPlan<'_>,
    seqs: &BTreeMap<SeqSubject, Seq>,
) -> impl Iterator<Item = Event> {
    let exit = if plan[id].spawn.panics { BodyExit::Panicked } else { BodyExit::Done };
    let started = seqs.get(&SeqSubject::Started(id)).map(|&seq| Event::Started { id, seq });
    let ended = seqs.get(&SeqSubject::Ended(id)).map(|&seq| Event::Ended { id, seq, exit });
    let skipped = seqs.get(&SeqSubject::Skipped(id)).map(|&seq| Event::Skipped { id, seq });
    [started, ended, skipped].into_iter().flatten()
}

/// Places the numbers of a run on the line of its firings.
struct NumberClock<'b> {
    points: Vec<(u64, SeqSubject)>,
    /// Per thread or behaviour: its last firing, and the mark to place after it, if there is one.
    open: BTreeMap<Spawner, (u64, Option<SeqSubject>)>,
    blur: &'b mut SeqNoise,
}

impl NumberClock<'_> {
    fn observe(&mut self, rule: Rule, machine: &Machine<'_>, now: u64) {
        match rule {
            Rule::Step(_) => {}
            Rule::Spawn(by) => {
                let op = machine.next_op(by).expect("the premise of spawn");
                let leader = op.spawns()[0].id;
                self.close(by, Some(SeqSubject::Call(leader)), now);
                self.open.insert(by, (now, Some(SeqSubject::Return(leader))));
            }
            Rule::Run(id) => {
                self.open.insert(Spawner::Behaviour(id), (now, Some(SeqSubject::Started(id))));
            }
            Rule::Skip(id) => self.points.push((now, SeqSubject::Skipped(id))),
            Rule::End(Spawner::Behaviour(id)) => {
                self.close(Spawner::Behaviour(id), Some(SeqSubject::Ended(id)), now);
            }
            Rule::End(thread) => self.close(thread, None, now),
        }
    }

    /// Places what is due between the last firing of `by` and the one at `now`.
    fn close(&mut self, by: Spawner, before: Option<SeqSubject>, now: u64) {
        let (last, after) = self.open.remove(&by).unwrap_or_default();
        let places = match (after, before) {
            (Some(_), Some(_)) => self.blur.between(last, now),
            // A lone number is taken right before the firing, unless it belongs to the last one.
            (None, Some(_)) => (last, self.blur.between(last, now).1),
            _ => (self.blur.after(last, now), now),
        };
        self.points.extend(after.map(|mark| (places.0, mark)));
        self.points.extend(before.map(|mark| (places.1, mark)));
    }

    /// The rank of each point. The sort is stable, so points of one thread or behaviour that fell
    /// into one place keep their order.
    fn read(mut self) -> BTreeMap<SeqSubject, Seq> {
        self.points.sort_by_key(|&(place, _)| place);
        self.points.iter().map(|&(_, mark)| mark).zip(0..).collect()
    }
}
