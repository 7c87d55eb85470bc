//! Names, and finding actors by them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;
use std::time::Duration;

use coact::Context;
use coact::prelude::*;
use coact::registry::{
    BadUid, LookupError, RegisterError, Registry, Uid, lookup, registry, wait_for,
};
use coact::runtime::{RuntimeHandle, spawn_future};
use coact::sim;
use coact_tests::{check, check_with_faults, finally, panic_of};
use proptest::prelude::{Strategy, TestCaseError, prop, prop_assert_eq, prop_oneof, proptest};

use crate::world::{Bomb, Diary, Do, Note};

/// An actor of another type.
struct Stranger;

impl Actor for Stranger {}

fn named(name: &str) -> Addr<Diary> {
    actor(Diary::new().0).named(name).spawn()
}

#[test]
fn an_actor_is_found_by_each_of_its_names() {
    check(|| {
        let diary = actor(Diary::new().0).named("one").named("two").spawn();
        diary.register("three").unwrap();
        diary.register("three").unwrap();
        for name in ["one", "two", "three"] {
            assert_eq!(lookup::<Diary>(name), Ok(diary.clone()));
        }
        assert_eq!(
            diary.names().iter().map(|name| &**name).collect::<Vec<_>>(),
            ["one", "two", "three"]
        );
        let all = registry().names();
        let all: Vec<_> = all.iter().map(|(name, any)| (&**name, any.id())).collect();
        assert_eq!(all, [("one", diary.id()), ("three", diary.id()), ("two", diary.id())]);
        assert_eq!(registry().holder("two"), Some(diary.to_any()));
        assert_eq!(lookup::<Diary>("four"), Err(LookupError::Unknown));
    });
}

#[test]
fn a_name_of_another_type_says_which() {
    check(|| {
        let _stranger = actor(Stranger).named("who").spawn();
        let error = lookup::<Diary>("who").unwrap_err();
        assert!(matches!(error, LookupError::OtherType { .. }));
        let text = error.to_string();
        assert!(text.contains("\"who\" is a") && text.contains("Stranger"), "{text}");
        assert!(wait_for::<Diary>("who").wait().is_err());
    });
}

#[test]
fn of_two_that_want_a_name_one_gets_it_and_the_other_comes_back() {
    check(|| {
        let first = named("one");
        let refused = actor(Diary::new().0).named("free").named("one").try_spawn().unwrap_err();
        assert_eq!((&*refused.name, refused.holder), ("one", first.id()));
        assert_eq!(lookup::<Diary>("free"), Err(LookupError::Unknown));
        let message = panic_of(|| named("one"));
        assert!(message.contains("already has the name \"one\""), "{message}");
        // What was refused can have another name, or try again.
        first.unregister("one");
        assert_eq!(lookup::<Diary>("one"), Err(LookupError::Unknown));
        let second = refused.unused.try_spawn().unwrap();
        assert_eq!(lookup::<Diary>("one"), Ok(second.clone()));
        assert_eq!(lookup::<Diary>("free"), Ok(second.clone()));
        assert!(matches!(first.register("one"), Err(RegisterError::Taken(_))));
        assert!(!first.unregister("one"), "it is not its name any more");
        assert!(registry().release("one") && !registry().release("one"));
        first.register("one").unwrap();
    });
}

#[test]
fn many_that_want_a_name_at_once_are_told_apart() {
    check(|| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let home = RuntimeHandle::current();
                std::thread::spawn(move || {
                    actor(Diary::new().0).on(home).named("only").try_spawn().ok()
                })
            })
            .collect();
        let got: Vec<_> = threads.into_iter().filter_map(|thread| thread.join().unwrap()).collect();
        assert_eq!(got.len(), 1);
        assert_eq!(lookup::<Diary>("only"), Ok(got[0].clone()));
    });
}

#[test]
fn a_name_is_given_back_at_the_end() {
    check(|| {
        let diary = named("one");
        diary.stop().unwrap();
        diary.ended().wait().unwrap();
        assert_eq!(lookup::<Diary>("one"), Err(LookupError::Unknown));
        assert!(registry().names().is_empty() && diary.names().is_empty());
        assert_eq!(diary.register("one"), Err(RegisterError::Stopped));
        assert_eq!(lookup::<Diary>("one"), Err(LookupError::Unknown));
        let next = named("one");
        assert_eq!(lookup::<Diary>("one"), Ok(next));
    });
}

#[test]
fn a_name_keeps_nobody_alive() {
    check(|| {
        let (diary, log) = Diary::new();
        let diary = actor(diary).named("one").spawn();
        let ended = diary.ended();
        drop(diary);
        assert_eq!(ended.wait(), Ok(ExitReason::Normal));
        assert_eq!(lookup::<Diary>("one"), Err(LookupError::Unknown));
        finally(move || assert_eq!(log.take().last().unwrap(), "dropped"));
    });
}

#[test]
fn a_name_outlives_a_restart_and_not_a_panic() {
    check_with_faults(|_| {
        let diary = actor(Diary::new().0).restartable(|| Diary::new().0).named("one").spawn();
        diary.restart().unwrap();
        diary.ask(Note("after")).wait().unwrap();
        assert_eq!(lookup::<Diary>("one"), Ok(diary.clone()));
        diary.send(Bomb).unwrap();
        diary.ended().wait().unwrap();
        let next = named("one");
        assert_eq!(lookup::<Diary>("one"), Ok(next));
    });
}

#[test]
fn an_actor_finds_itself_when_it_starts() {
    struct Seeker(coact_tests::Log<bool>);
    impl Actor for Seeker {
        fn started(&mut self, context: &mut Context<Self>) {
            self.0.push(lookup::<Self>("me") == Ok(context.address()));
        }
    }
    check(|| {
        let log = coact_tests::Log::new();
        let seeker = actor(Seeker(log.clone())).named("me").spawn();
        finally(move || {
            assert_eq!(log.take(), [true]);
            drop(seeker);
        });
    });
}

#[test]
fn whoever_waits_for_a_name_is_told() {
    check(|| {
        let coming = [wait_for::<Diary>("late"), wait_for::<Diary>("late")];
        let other_type = wait_for::<Stranger>("late");
        let never = wait_for::<Diary>("late");
        drop(never);
        let future = spawn_future(async { wait_for::<Diary>("late").await.unwrap() });
        let diary = named("late");
        for coming in coming {
            assert_eq!(coming.wait(), Ok(diary.clone()));
        }
        assert_eq!(future.wait(), Ok(diary.clone()));
        assert!(matches!(other_type.wait(), Err(LookupError::OtherType { .. })));
        assert_eq!(wait_for::<Diary>("late").wait(), Ok(diary));
    });
}

#[test]
fn waiting_for_a_name_can_end() {
    sim::check(|| {
        let nobody = wait_for::<Diary>("nobody").wait_timeout(Duration::from_secs(5));
        assert_eq!(nobody, Err(LookupError::Unknown));
        assert_eq!(sim::elapsed(), Duration::from_secs(5));
        // Who has given up is not told, and not kept.
        let diary = named("nobody");
        assert_eq!(wait_for::<Diary>("nobody").wait_timeout(Duration::from_secs(5)), Ok(diary));
    });
}

#[test]
fn a_name_that_is_passed_on_is_never_with_two() {
    sim::check(|| {
        let first = named("one");
        let heir = sim::thread(|| {
            let heir = loop {
                match actor(Diary::new().0).named("one").try_spawn() {
                    Ok(heir) => break heir,
                    Err(taken) => {
                        // Its end can be waited for: what has the name is an actor that lives.
                        drop(taken);
                        let holder = lookup::<Diary>("one");
                        if let Ok(holder) = holder {
                            let ended = holder.ended();
                            drop(holder);
                            ended.wait().unwrap();
                        }
                    }
                }
            };
            assert_eq!(lookup::<Diary>("one"), Ok(heir.clone()));
            heir
        });
        first.stop().unwrap();
        let heir = heir.wait().unwrap();
        assert_ne!(first, heir);
        assert_eq!(lookup::<Diary>("one"), Ok(heir));
        assert_eq!(first.names().len(), 0);
    });
}

#[test]
fn runtimes_have_names_of_their_own() {
    check(|| {
        let here = named("one");
        let other = Runtime::builder().workers(1).build().unwrap();
        let there = actor(Diary::new().0).named("one").on(other.handle()).spawn();
        assert_eq!(lookup::<Diary>("one"), Ok(here));
        assert_eq!(Registry::of(other.handle()).lookup::<Diary>("one"), Ok(there));
    });
}

#[test]
fn names_of_a_runtime_that_is_shut_down_are_free() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let home = runtime.handle();
    let diary = actor(Diary::new().0).named("one").on(home).spawn();
    runtime.shutdown(Duration::ZERO);
    let diary_id = diary.id();
    drop(diary);
    let holder = Registry::of(home).holder("one");
    assert!(holder.is_none() || holder.is_some_and(|holder| holder.id() == diary_id));
    assert_eq!(Registry::of(home).lookup::<Diary>("one"), Err(LookupError::Unknown));
}

#[test]
fn an_actor_is_found_by_its_identity_once_that_is_asked_for() {
    check(|| {
        let diary = Diary::spawn().0;
        let uid = diary.uid();
        assert_eq!(diary.uid(), uid);
        assert_ne!(Diary::spawn().0.uid(), uid);
        let read: Uid = uid.to_string().parse().unwrap();
        assert_eq!(registry().lookup_uid::<Diary>(read), Ok(diary.clone()));
        assert!(matches!(
            registry().lookup_uid::<Stranger>(uid),
            Err(LookupError::OtherType { .. })
        ));
        assert_eq!("bank".parse::<Uid>(), Err(BadUid));
        diary.kill().unwrap();
        diary.ended().wait().unwrap();
        assert_eq!(registry().lookup_uid::<Diary>(uid), Err(LookupError::Unknown));
        assert_eq!(diary.uid(), uid, "it stays, but finds nobody");
        assert_eq!(registry().lookup_uid::<Diary>(uid), Err(LookupError::Unknown));
    });
}

#[test]
fn a_name_that_comes_while_it_is_waited_for_is_not_missed() {
    sim::check(|| {
        let waiters = [0, 1].map(|_| sim::thread(|| wait_for::<Diary>("one").wait().unwrap().id()));
        let diary = Diary::spawn().0;
        let name = diary.clone();
        sim::thread(move || name.register("one").unwrap()).wait().unwrap();
        for waiter in waiters {
            assert_eq!(waiter.wait().unwrap(), diary.id());
        }
    });
}

#[test]
fn waiting_for_a_name_inside_of_a_handler_is_refused() {
    check_with_faults(|_| {
        let (diary, _) = Diary::spawn();
        let wait = |_: &mut Diary, _: &mut Context<Diary>| drop(wait_for::<Diary>("no").wait());
        let Err(AskError::Panicked(why)) = diary.ask(Do(wait)).wait() else { panic!("it waited") };
        assert!(why.starts_with("`WaitFor::wait` would block a worker"), "{why}");
    });
}

/// What can be done with names.
#[derive(Clone, Debug)]
enum Step {
    Spawn(BTreeSet<usize>),
    Register(usize, usize),
    Unregister(usize, usize),
    Release(usize),
    Restart(usize),
    End(usize),
}

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (actor, name) = (0..6_usize, 0..NAMES.len());
    let step = prop_oneof![
        3 => prop::collection::btree_set(name.clone(), 0..3).prop_map(Step::Spawn),
        3 => (actor.clone(), name.clone()).prop_map(|(actor, name)| Step::Register(actor, name)),
        1 => (actor.clone(), name.clone()).prop_map(|(actor, name)| Step::Unregister(actor, name)),
        1 => name.prop_map(Step::Release),
        1 => actor.clone().prop_map(Step::Restart),
        2 => actor.prop_map(Step::End),
    ];
    prop::collection::vec(step, 1..40)
}

/// Names as a map, with each actor's number in the order of spawning.
#[derive(Default)]
struct Model {
    holders: BTreeMap<usize, usize>,
    ended: Vec<bool>,
}

impl Model {
    fn may_have(&self, actor: usize, name: usize) -> bool {
        self.holders.get(&name).is_none_or(|holder| *holder == actor)
    }
}

fn do_as_the_model(steps: &[Step]) -> Result<(), TestCaseError> {
    let (mut model, mut actors) = (Model::default(), Vec::new());
    for step in steps {
        match step {
            Step::Spawn(names) => {
                let mut settings = actor(Diary::new().0).restartable(|| Diary::new().0);
                for name in names {
                    settings = settings.named(NAMES[*name]);
                }
                let spawned = settings.try_spawn();
                let may = names.iter().all(|name| model.may_have(usize::MAX, *name));
                prop_assert_eq!(spawned.is_ok(), may);
                let Ok(spawned) = spawned else { continue };
                model.holders.extend(names.iter().map(|name| (*name, actors.len())));
                model.ended.push(false);
                actors.push(spawned);
            }
            Step::Register(actor, name) => {
                let Some(address) = actors.get(*actor) else { continue };
                let may = !model.ended[*actor] && model.may_have(*actor, *name);
                prop_assert_eq!(address.register(NAMES[*name]).is_ok(), may);
                if may {
                    model.holders.insert(*name, *actor);
                }
            }
            Step::Unregister(actor, name) => {
                let Some(address) = actors.get(*actor) else { continue };
                let held = model.holders.get(name) == Some(actor);
                prop_assert_eq!(address.unregister(NAMES[*name]), held);
                if held {
                    model.holders.remove(name);
                }
            }
            Step::Release(name) => {
                let held = model.holders.remove(name).is_some();
                prop_assert_eq!(registry().release(NAMES[*name]), held);
            }
            Step::Restart(actor) => {
                if let Some(address) = actors.get(*actor) {
                    prop_assert_eq!(address.restart().is_ok(), !model.ended[*actor]);
                }
            }
            Step::End(actor) => {
                let Some(address) = actors.get(*actor) else { continue };
                address.kill().ok();
                address.ended().wait().unwrap();
                model.ended[*actor] = true;
                model.holders.retain(|_, holder| holder != actor);
            }
        }
        for (name, text) in NAMES.iter().enumerate() {
            let found = lookup::<Diary>(text).ok();
            let expected = model.holders.get(&name).map(|holder| actors[*holder].clone());
            prop_assert_eq!(found, expected, "{} after {:?}", text, step);
        }
        prop_assert_eq!(registry().names().len(), model.holders.len());
    }
    Ok(())
}

proptest! {
    #[test]
    fn names_are_as_in_a_map(steps in steps()) {
        static RUNTIME: LazyLock<Runtime> =
            LazyLock::new(|| Runtime::builder().workers(2).build().unwrap());
        RUNTIME.run(|| do_as_the_model(&steps))?;
    }
}

/// Says whether it has begun, and knew its own name by then.
#[derive(Default)]
struct Early {
    begun: bool,
}

struct HasBegun;

impl Message for HasBegun {
    type Reply = bool;
}

impl Actor for Early {
    fn started(&mut self, context: &mut Context<Self>) {
        self.begun = lookup::<Early>("early").is_ok_and(|it| it.id() == context.id());
    }
}

impl Handler<HasBegun> for Early {
    fn handle(&mut self, _: HasBegun, _: &mut Context<Self>) -> bool {
        self.begun
    }
}

/// Who finds an actor by its name as soon as it has one sends to it before its maker is through.
#[test]
fn who_is_found_by_name_begins_before_its_first_message() {
    let find = || wait_for::<Early>("early").wait().unwrap().ask(HasBegun).wait();
    sim::check(move || {
        let finder = sim::thread(find);
        let _early = actor(Early::default()).named("early").spawn();
        assert_eq!(finder.wait(), Ok(Ok(true)));
    });
    sim::check(move || {
        let group = Group::new();
        let busy = group.cown(0);
        let finder = sim::thread(find);
        let worker = sim::thread({
            let busy = busy.clone();
            move || (0..3).for_each(|_| when(&busy, |busy| *busy += 1))
        });
        let _early = actor(Early::default()).in_group(&group).named("early").spawn();
        assert_eq!(finder.wait(), Ok(Ok(true)));
        worker.wait().unwrap();
        assert_eq!(call(&busy, |busy| *busy).wait(), Ok(3));
    });
}
