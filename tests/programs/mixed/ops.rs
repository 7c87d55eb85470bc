//! The language of the programs, and how they are drawn.

use proptest::collection::vec;
use proptest::prelude::*;

/// How many actors there are at the start.
pub const ACTORS: usize = 4;
/// The number with which an operation names the actor that its body spawned last.
pub const NEWEST: usize = ACTORS;
pub const COWNS: usize = 2;
pub const GROUPS: usize = 2;
/// How many runtimes an actor may be moved to.
pub const HOMES: usize = 2;

/// A program: the actors, and what its threads do.
#[derive(Clone, Debug)]
pub struct Script {
    pub actors: Vec<Spec>,
    pub tree: TreeSpec,
    /// Whether actors that are held ask others.
    pub held_asks: bool,
    pub threads: Vec<Vec<Op>>,
}

/// How an actor is spawned.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    pub place: Place,
    pub mailbox: Post,
    pub restartable: bool,
    pub traps: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Plain,
    Group(usize),
    Dispatcher,
    Caller,
    Blocking,
    Detached,
    /// Of the one supervisor that there is.
    Child(Comeback),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comeback {
    Permanent,
    Transient,
    Temporary,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Post {
    Unbounded,
    Wait(usize),
    Fail(usize),
    DropNewest(usize),
    DropOldest(usize),
    /// Three lanes: unbounded, `fail` and `drop_oldest` with this bound.
    Lanes(usize),
}

/// The supervisor of those that are children.
#[derive(Clone, Copy, Debug)]
pub struct TreeSpec {
    pub group: Together,
    pub intensity: u32,
    /// In microseconds.
    pub backoff: u64,
}

#[derive(Clone, Copy, Debug)]
pub enum Together {
    One,
    All,
    Rest,
}

/// What a thread, a handler or a behaviour does.
#[derive(Clone, Debug)]
pub enum Op {
    Send {
        to: usize,
        lane: Option<usize>,
        way: Way,
        act: Act,
    },
    When {
        writes: Vec<usize>,
        reads: Vec<usize>,
        cowns: Vec<usize>,
        panics: bool,
        body: Vec<Op>,
    },
    Direct(usize, What),
    /// Drops the own address.
    Drop(usize),
    Move(usize, usize),
    Watch(usize),
    Unwatch,
    Spawn(Spec),
    /// Of the supervisor.
    Child(Command, usize),
    /// In a handler only.
    Own(Own),
}

/// How a message is sent.
#[derive(Clone, Copy, Debug)]
pub enum Way {
    Send,
    Ask,
    /// With a timeout in microseconds.
    AskFor(u64),
    /// Waits for room, in a future.
    Async,
    /// After this number of microseconds.
    Later(u64),
}

/// What an actor does with a message.
#[derive(Clone, Debug)]
pub enum Act {
    Run(Vec<Op>),
    /// Is held meanwhile.
    Hold(Vec<Step>),
    /// Sets it aside, and does this when it comes again.
    Aside(Vec<Op>),
    Panic,
}

#[derive(Clone, Debug)]
pub enum Step {
    /// In microseconds.
    Pause(u64),
    Run(Vec<Op>),
    Ask(usize, Act),
    Panic,
}

#[derive(Clone, Copy, Debug)]
pub enum What {
    Restart,
    /// For this number of microseconds.
    Suspend(u64),
    Stop,
    Drain,
    Kill,
}

#[derive(Clone, Copy, Debug)]
pub enum Command {
    Terminate,
    Restart,
    Delete,
}

#[derive(Clone, Debug)]
pub enum Own {
    Quit,
    Link(usize),
    Unlink(usize),
    Monitor(usize),
    Unstash(usize),
    Ask(usize, Vec<Op>),
}

/// Whom an operation is about. (There is a newest only if one was spawned in the same body.)
fn someone() -> impl Strategy<Value = usize> {
    0..=ACTORS
}

fn spec() -> impl Strategy<Value = Spec> {
    let place = prop_oneof![
        6 => Just(Place::Plain),
        6 => (0..GROUPS).prop_map(Place::Group),
        2 => Just(Place::Dispatcher),
        2 => Just(Place::Caller),
        1 => Just(Place::Blocking),
        1 => Just(Place::Detached),
        4 => comeback().prop_map(Place::Child),
    ];
    let room = || 1..4_usize;
    let mailbox = prop_oneof![
        6 => Just(Post::Unbounded),
        1 => room().prop_map(Post::Wait),
        1 => room().prop_map(Post::Fail),
        1 => room().prop_map(Post::DropNewest),
        1 => room().prop_map(Post::DropOldest),
        2 => room().prop_map(Post::Lanes),
    ];
    let flags = (prop::bool::weighted(0.6), prop::bool::weighted(0.2));
    (place, mailbox, flags).prop_map(|(place, mailbox, (restartable, traps))| Spec {
        place,
        mailbox,
        restartable,
        traps,
    })
}

fn comeback() -> impl Strategy<Value = Comeback> {
    prop::sample::select(&[Comeback::Permanent, Comeback::Transient, Comeback::Temporary][..])
}

fn tree() -> impl Strategy<Value = TreeSpec> {
    let group = prop::sample::select(&[Together::One, Together::All, Together::Rest][..]);
    let backoff = prop_oneof![2 => Just(0), 1 => Just(50_u64)];
    (group, 0..5_u32, backoff).prop_map(|(group, intensity, backoff)| TreeSpec {
        group,
        intensity,
        backoff,
    })
}

fn what() -> impl Strategy<Value = What> {
    prop_oneof![
        4 => Just(What::Restart),
        4 => (0..200_u64).prop_map(What::Suspend),
        1 => Just(What::Stop),
        1 => Just(What::Drain),
        1 => Just(What::Kill),
    ]
}

fn bare() -> impl Strategy<Value = Op> {
    let command =
        prop::sample::select(&[Command::Terminate, Command::Restart, Command::Delete][..]);
    let own = prop_oneof![
        1 => Just(Own::Quit),
        3 => someone().prop_map(Own::Link),
        1 => someone().prop_map(Own::Unlink),
        2 => someone().prop_map(Own::Monitor),
        3 => (1..4_usize).prop_map(Own::Unstash),
    ];
    prop_oneof![
        10 => (someone(), way(), lane()).prop_map(|(to, way, lane)| {
            Op::Send { to, lane, way, act: Act::Run(vec![]) }
        }),
        3 => (someone(), what()).prop_map(|(to, what)| Op::Direct(to, what)),
        1 => someone().prop_map(Op::Drop),
        1 => (someone(), 0..HOMES).prop_map(|(of, to)| Op::Move(of, to)),
        2 => someone().prop_map(Op::Watch),
        1 => Just(Op::Unwatch),
        1 => spec().prop_map(Op::Spawn),
        1 => (command, 0..ACTORS).prop_map(|(command, of)| Op::Child(command, of)),
        4 => own.prop_map(Op::Own),
    ]
}

fn way() -> impl Strategy<Value = Way> {
    prop_oneof![
        6 => Just(Way::Send),
        3 => Just(Way::Ask),
        1 => (0..100_u64).prop_map(Way::AskFor),
        1 => Just(Way::Async),
        1 => (0..100_u64).prop_map(Way::Later),
    ]
}

fn lane() -> impl Strategy<Value = Option<usize>> {
    prop_oneof![3 => Just(None), 1 => (0..3_usize).prop_map(Some)]
}

fn op() -> impl Strategy<Value = Op> {
    bare().prop_recursive(3, 12, 3, |inner| {
        let body = vec(inner.clone(), 0..4);
        let step = prop_oneof![
            2 => (0..60_u64).prop_map(Step::Pause),
            2 => body.clone().prop_map(Step::Run),
            2 => (someone(), body.clone()).prop_map(|(of, body)| Step::Ask(of, Act::Run(body))),
        ];
        let steps = (vec(step, 0..3), prop::bool::weighted(0.1)).prop_map(|(mut steps, panics)| {
            steps.extend(panics.then_some(Step::Panic));
            steps
        });
        let act = prop_oneof![
            6 => body.clone().prop_map(Act::Run),
            3 => steps.prop_map(Act::Hold),
            2 => body.clone().prop_map(Act::Aside),
            1 => Just(Act::Panic),
        ];
        let send = (someone(), lane(), way(), act).prop_map(|(to, lane, way, act)| Op::Send {
            to,
            lane,
            way,
            act,
        });
        let members = prop::collection::btree_map(someone(), any::<bool>(), 0..=ACTORS);
        let cowns = prop::sample::subsequence((0..COWNS).collect::<Vec<_>>(), 0..=COWNS);
        let panics = prop::bool::weighted(0.1);
        let when =
            (members, cowns, panics, body.clone()).prop_map(|(members, cowns, panics, body)| {
                let part = |read| move |(of, is_read)| (is_read == read).then_some(of);
                let writes = members.clone().into_iter().filter_map(part(false)).collect();
                let reads = members.into_iter().filter_map(part(true)).collect();
                Op::When { writes, reads, cowns, panics, body }
            });
        let ask = (someone(), body).prop_map(|(of, body)| Op::Own(Own::Ask(of, body)));
        prop_oneof![6 => send, 3 => when, 1 => ask]
    })
}

pub fn script() -> impl Strategy<Value = Script> {
    (vec(spec(), ACTORS), tree(), any::<bool>(), vec(vec(op(), 1..8), 1..4))
        .prop_map(|(actors, tree, held_asks, threads)| Script { actors, tree, held_asks, threads })
}
