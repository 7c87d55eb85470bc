//! Events that are tagged, and found by their tags.

use coact::Context;
use coact::actor::AskError;
use coact::durable::store::{StoreFault, StoreOperation, StoreReader, StoredEvent, wait};
use coact::durable::{
    Decide, Durable, EntityId, Event, EventSourced, Journal, LogError, LoggedEvent, MemoryStore,
    Position, Seq, Snapshots, Tags, stored,
};
use coact::prelude::*;
use coact_tests::{everywhere, everywhere_with_faults};

use crate::layers::{Layer, Work, layer};
use crate::slow::Slow;

/// An account of some region, which is part of its state.
#[stored(name = "tagged.account")]
#[derive(Default, Clone)]
struct Account {
    #[n(0)]
    region: String,
    #[n(1)]
    balance: i64,
}

#[stored(name = "tagged.changed")]
#[derive(Clone, Debug, PartialEq)]
enum Changed {
    #[n(0)]
    Moved(#[n(0)] String),
    #[n(1)]
    By(#[n(0)] i64),
}

/// The amount at which its tags are invalid.
const BAD: i64 = 1313;

impl EventSourced for Account {
    const KIND: &'static str = "tagged.account";
    type Event = Changed;

    fn new(_: &EntityId) -> Self {
        Self::default()
    }

    fn apply(&mut self, event: &Changed) {
        match event {
            Changed::Moved(region) => self.region.clone_from(region),
            Changed::By(by) => self.balance += by,
        }
    }

    fn tags(&self, event: &Changed) -> Tags {
        match event {
            Changed::Moved(_) => Tags::NONE,
            Changed::By(by) => {
                let odd = (by % 2 != 0).then(|| "odd".into());
                let bad = (*by == BAD).then(String::new);
                Tags::new([self.region.clone()].into_iter().chain(odd).chain(bad))
            }
        }
    }

    fn snapshots() -> Option<Snapshots<Self>> {
        Some(Snapshots::every(400).trimming())
    }
}

#[derive(Message)]
#[message(reply = i64)]
struct Add(i64);

impl Decide<Add> for Account {
    fn decide(account: &mut Durable<Self>, Add(by): Add) -> i64 {
        if account.region.is_empty() {
            let region = if account.id().key() < "c" { "eu" } else { "us" };
            account.persist(Changed::Moved(region.into()));
        }
        account.persist(Changed::By(by));
        account.balance
    }
}

/// Another kind with the same tags.
#[derive(Default)]
struct Order;

#[stored(name = "tagged.ordered")]
#[derive(Clone, Debug, PartialEq)]
struct Ordered(#[n(0)] String);

impl EventSourced for Order {
    const KIND: &'static str = "tagged.order";
    type Event = Ordered;

    fn new(_: &EntityId) -> Self {
        Self
    }

    fn apply(&mut self, _: &Ordered) {}

    fn tags(&self, Ordered(region): &Ordered) -> Tags {
        Tags::new([&**region])
    }
}

fn account(journal: &Journal, key: &str) -> Addr<Durable<Account>> {
    journal.entity(key)
}

fn order(journal: &Journal, key: &str, region: &str) {
    let region = region.to_owned();
    let ordered = call(&journal.entity::<Order>(key), |order| order.persist(Ordered(region)));
    assert_eq!(ordered.wait(), Ok(()));
}

/// The contents of a log, in short.
fn said(logged: &LoggedEvent<Event>) -> String {
    let account = logged.read::<Account>().unwrap().map(|event| format!("{event:?}"));
    let order = logged.read::<Order>().unwrap().map(|event| format!("{event:?}"));
    format!("{} {}", logged.entity.key(), account.or(order).expect("it is one of them"))
}

#[test]
fn e21_a_log_of_a_tag_has_what_there_is_and_then_what_comes() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 100, 1));
        let [alice, bob, carol] = ["alice", "bob", "carol"].map(|key| account(&journal, key));
        assert_eq!(alice.ask(Add(2)).wait(), Ok(2));
        assert_eq!(carol.ask(Add(3)).wait(), Ok(3));
        assert_eq!(bob.ask(Add(5)).wait(), Ok(5));
        order(&journal, "17", "us");
        order(&journal, "18", "eu");
        let mut all = journal.tagged("eu", Position::ZERO);
        let mut of_accounts = journal.log::<Account>(Position::ZERO).tagged("eu");
        let mut odd = journal.log::<Account>(Position::ZERO).tagged("odd");
        let mut next = || all.wait_next().map(|logged| said(&logged)).unwrap();
        let first = [next(), next(), next()];
        assert_eq!(first, ["alice By(2)", "bob By(5)", "18 Ordered(\"eu\")"]);
        let mut next_of_account = || of_accounts.wait_next().map(|it| (it.event, it.tags)).unwrap();
        assert_eq!(next_of_account(), (Changed::By(2), Tags::new(["eu"])));
        assert_eq!(next_of_account(), (Changed::By(5), Tags::new(["odd", "eu"])));
        let keys = [odd.wait_next(), odd.wait_next()].map(|it| it.unwrap().entity.key().to_owned());
        assert_eq!(keys, ["carol", "bob"]);
        // They wait for those: of one step, first what comes first by its entity.
        let step = call((&bob, &alice, &carol), |(bob, alice, carol)| {
            bob.persist(Changed::By(7));
            carol.persist(Changed::By(9));
            alice.persist(Changed::By(4));
            alice.persist(Changed::By(6));
        });
        assert_eq!([next(), next(), next()], ["alice By(4)", "alice By(6)", "bob By(7)"]);
        assert_eq!(step.wait(), Ok(()));
        let events = [next_of_account(), next_of_account(), next_of_account()].map(|it| it.0);
        assert_eq!(events, [4, 6, 7].map(Changed::By));
        assert_eq!(odd.wait_next().unwrap().event, Changed::By(7));
        assert_eq!(odd.wait_next().unwrap().event, Changed::By(9));
    });
}

/// Tags are of the state that an event has made; what is said of such events later does not matter.
#[test]
fn e21_an_event_has_the_tags_that_it_was_stored_with() {
    everywhere(|| {
        let store = MemoryStore::new();
        let alice = account(&Journal::new(store.clone()), "alice");
        assert_eq!(alice.ask(Add(2)).wait(), Ok(2));
        let moved = call(&alice, |alice| {
            alice.persist(Changed::Moved("us".into()));
            alice.persist(Changed::By(4));
        });
        assert_eq!(moved.wait(), Ok(()));
        // By another owner.
        let journal = Journal::new(store.clone());
        assert_eq!(account(&journal, "alice").ask(Add(1)).wait(), Ok(7));
        let id = EntityId::new(Account::KIND, "alice");
        let stored = wait(|done| store.events(id, Seq::ZERO, 10, done)).unwrap();
        let tags: Vec<_> = stored.iter().map(|it: &StoredEvent| it.tags.join(" ")).collect();
        assert_eq!(tags, ["", "eu", "", "us", "odd us"]);
        let mut log = journal.log::<Account>(Position::ZERO).tagged("us").until_now();
        let all = [log.wait_next(), log.wait_next()].map(|it| it.unwrap().event);
        assert_eq!((all, log.wait_next()), ([4, 1].map(Changed::By), Err(LogError::CaughtUp)));
    });
}

#[test]
fn e21_bad_tags_are_a_panic_of_the_decision() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let journal = Journal::new(store.clone());
        let alice = account(&journal, "alice");
        assert_eq!(alice.ask(Add(2)).wait(), Ok(2));
        let told = alice.ask(Add(BAD)).wait();
        assert!(
            matches!(&told, Err(AskError::Panicked(why)) if why.contains("a tag is empty")),
            "{told:?}"
        );
        assert_eq!(alice.ask(Add(3)).wait(), Ok(5));
        // Also if that is caught: the state has the event, and the history has not.
        let torn = call(&alice, |alice| {
            let persist = std::panic::AssertUnwindSafe(|| alice.persist(Changed::By(BAD)));
            assert!(std::panic::catch_unwind(persist).is_err());
        });
        assert!(torn.wait().is_err());
        let again = account(&Journal::new(store.clone()), "alice");
        assert_eq!(call(&again, |alice| alice.balance).wait(), Ok(5));
        let mut log = journal.tagged("eu", Position::ZERO).until_now();
        let all = [log.wait_next(), log.wait_next()].map(|it| said(&it.unwrap()));
        assert_eq!(all, ["alice By(2)", "alice By(3)"]);
        assert_eq!(log.wait_next().unwrap_err(), LogError::CaughtUp);
        let alone = std::panic::catch_unwind(|| {
            let (region, balance) = ("eu".into(), 0);
            Durable::standalone(Account { region, balance }).persist(Changed::By(BAD));
        });
        assert!(alone.is_err());
    });
}

#[test]
fn e21_tags_go_with_their_events() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(store.clone());
        let [alice, bob] = ["alice", "bob"].map(|key| account(&journal, key));
        assert_eq!(bob.ask(Add(1)).wait(), Ok(1));
        // Two snapshots: those events are trimmed which both have in them.
        let moved = call(&alice, |alice| alice.persist(Changed::Moved("eu".into())));
        assert_eq!(moved.wait(), Ok(()));
        for _ in 0..2 {
            let many = call(&alice, |alice| (0..400).for_each(|n| alice.persist(Changed::By(n))));
            assert_eq!(many.wait(), Ok(()));
        }
        let count = || {
            let mut log = journal.tagged("eu", Position::ZERO).until_now();
            std::iter::from_fn(move || log.wait_next().ok()).count()
        };
        assert_eq!(count(), 1 + 400);
        assert_eq!(call(&alice, |alice| alice.delete()).wait(), Ok(()));
        assert_eq!(count(), 1);
        assert_eq!(alice.ask(Add(2)).wait(), Ok(2));
        assert_eq!(count(), 2);
    });
}

/// Like logs of kinds.
#[test]
fn e21_a_log_of_a_tag_ends_goes_on_and_tells_its_position() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(store.clone());
        let [alice, carol] = ["alice", "carol"].map(|key| account(&journal, key));
        let mut log = journal.tagged("eu", Position::ZERO).until_now();
        assert_eq!(log.wait_next().unwrap_err(), LogError::CaughtUp);
        // More than a page.
        for n in 1..=300 {
            assert!(alice.ask(Add(2 * n)).wait().is_ok());
        }
        for _ in 0..3 {
            assert!(carol.ask(Add(2)).wait().is_ok());
        }
        let left = std::sync::atomic::AtomicU32::new(3);
        store.fail(move |operation| {
            use std::sync::atomic::Ordering::SeqCst;
            let is_down = matches!(operation, StoreOperation::Log(_))
                && left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok();
            if is_down { StoreFault::Unavailable } else { StoreFault::None }
        });
        let mut log = journal.tagged("eu", Position::ZERO).until_now();
        let mut last = Position::ZERO;
        let mut count = 0;
        while let Ok(logged) = log.wait_next() {
            assert!(logged.position > last);
            (last, count) = (logged.position, count + 1);
        }
        // Past the commits of others.
        assert_eq!((count, log.position()), (300, journal.position()));
        assert!(last < log.position());
        journal.store_offset("reader", log.position()).wait().unwrap();
        assert!(alice.ask(Add(1)).wait().is_ok());
        let after = journal.offset("reader").wait().unwrap();
        assert_eq!(said(&journal.tagged("eu", after).wait_next().unwrap()), "alice By(1)");
        let mut typed = journal.log::<Account>(after).tagged("odd").until_now();
        assert_eq!(typed.wait_next().unwrap().event, Changed::By(1));
        assert_eq!(typed.wait_next(), Err(LogError::CaughtUp));
        assert_eq!(typed.position(), journal.position());
    });
}

/// Into an actor, over two kinds.
#[test]
fn e21_an_actor_follows_a_tag() {
    struct Projection {
        journal: Journal,
        seen: Vec<String>,
        done: Option<coact::promise::Resolver<Vec<String>>>,
    }
    impl Actor for Projection {
        fn started(&mut self, context: &mut Context<Self>) {
            let log = self.journal.tagged("eu", Position::ZERO);
            context.attach(log).replayed_at_restart().each(Next);
        }
    }
    #[derive(Message)]
    struct Next(Result<LoggedEvent<Event>, LogError>);
    impl Handler<Next> for Projection {
        fn handle(&mut self, Next(logged): Next, context: &mut Context<Self>) {
            self.seen.push(said(&logged.unwrap()));
            if self.seen.len() == 4
                && let Some(done) = self.done.take()
            {
                done.resolve(self.seen.clone());
                context.stop();
            }
        }
    }
    everywhere(|| {
        let journal = Journal::new(Slow::new(&MemoryStore::new(), 100, 2));
        let (resolver, done) = Promise::channel();
        spawn(Projection { journal: journal.clone(), seen: Vec::new(), done: Some(resolver) });
        let [alice, carol] = ["alice", "carol"].map(|key| account(&journal, key));
        for by in [2, 4] {
            assert!(alice.ask(Add(by)).wait().is_ok() && carol.ask(Add(by)).wait().is_ok());
            order(&journal, &by.to_string(), if by == 2 { "eu" } else { "us" });
        }
        order(&journal, "5", "eu");
        let expected = ["alice By(2)", "2 Ordered(\"eu\")", "alice By(4)", "5 Ordered(\"eu\")"];
        assert_eq!(done.wait().unwrap(), expected);
    });
}

/// Another process stores, and this one looks.
#[test]
fn e21_a_log_of_a_tag_is_polled_for_what_others_store() {
    everywhere(|| {
        let store = MemoryStore::new();
        let (journal, other) = (Journal::new(store.clone()), Journal::new(Passed(store)));
        let period = std::time::Duration::from_millis(1);
        let mut all = journal.tagged("eu", Position::ZERO).poll_every(period);
        assert!(account(&other, "alice").ask(Add(2)).wait().is_ok());
        assert_eq!(said(&all.wait_next().unwrap()), "alice By(2)");
        let asked = account(&other, "alice").ask(Add(4));
        assert_eq!(said(&all.wait_next().unwrap()), "alice By(4)");
        assert!(asked.wait().is_ok());
    });
}

struct Passed(MemoryStore);

layer!(Passed);

impl Layer for Passed {
    fn pass(&self, work: Work) {
        work(&self.0);
    }
}
