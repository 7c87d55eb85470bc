//! Logs: the events of all entities of a kind, in the order of commits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};

use coact::Context;
use coact::durable::store::{StoreFault, StoreOperation};
use coact::durable::{Journal, LogError, LoggedEvent, MemoryStore, Position, Seq};
use coact::prelude::*;
use coact_tests::{Faults, Log, everywhere, runtime};
use futures::StreamExt;

use crate::bank::{Account, Changed, Deposit, account};
use crate::layers::{Layer, Work, layer};
use crate::slow::Slow;

#[test]
fn e13_a_log_has_what_there_is_and_then_what_comes() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 100, 1));
        let (alice, bob) = (account(&journal, "alice"), account(&journal, "bob"));
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        let moved = call((&alice, &bob), |(alice, bob)| {
            alice.persist(Changed { by: -1 });
            bob.persist(Changed { by: 1 });
            bob.persist(Changed { by: 2 });
        });
        assert_eq!(moved.wait(), Ok(()));
        let mut log = journal.log::<Account>(Position::ZERO);
        let mut next = || {
            log.wait_next()
                .map(|LoggedEvent { entity, event, .. }| (entity.key().to_owned(), event.by))
        };
        let before = [next(), next(), next(), next()].map(Result::unwrap);
        let right = [("alice", 1), ("alice", -1), ("bob", 1), ("bob", 2)];
        assert_eq!(before, right.map(|(key, by)| (key.to_owned(), by)));
        // It waits for those.
        let later = bob.ask(Deposit(4));
        assert_eq!(next().unwrap(), ("bob".to_owned(), 4));
        assert_eq!(later.wait(), Ok(7));
    });
}

/// A projection into an actor, which keeps its position, and goes on from there after a restart.
#[test]
fn e13_a_projection_goes_on_where_it_was() {
    #[derive(Clone, Default)]
    struct Totals {
        sum: i64,
        events: usize,
        position: Option<Position>,
    }
    struct Projection {
        totals: Totals,
        journal: Journal,
        done: Option<(usize, coact::promise::Resolver<Totals>)>,
    }
    impl Actor for Projection {
        fn started(&mut self, context: &mut Context<Self>) {
            let log = self.journal.log::<Account>(self.totals.position.unwrap_or_default());
            context.attach(log).each(Next);
        }
    }
    #[derive(Message)]
    struct Next(Result<LoggedEvent<Changed>, LogError>);
    impl Handler<Next> for Projection {
        fn handle(&mut self, Next(logged): Next, context: &mut Context<Self>) {
            let LoggedEvent { event, position, .. } = logged.unwrap();
            self.totals.sum += event.by;
            self.totals.events += 1;
            self.totals.position = Some(position);
            if let Some((_, resolver)) =
                self.done.take_if(|(events, _)| *events == self.totals.events)
            {
                resolver.resolve(self.totals.clone());
                context.stop();
            }
        }
    }
    fn project(journal: &Journal, totals: Totals, until: usize) -> Totals {
        let (resolver, done) = Promise::channel();
        let journal = journal.clone();
        spawn(Projection { totals, journal, done: Some((until, resolver)) });
        done.wait().unwrap()
    }

    everywhere(|| {
        let journal = Journal::new(Slow::new(&MemoryStore::new(), 100, 2));
        let all = ["alice", "bob"].map(|key| account(&journal, key));
        (1..=10).for_each(|n| all[n % 2].send(Deposit(n as i64)).unwrap());
        let first = project(&journal, Totals::default(), 10);
        assert_eq!((first.sum, first.events), (55, 10));
        (1..=4).for_each(|n| all[n % 2].send(Deposit(n as i64)).unwrap());
        let second = project(&journal, first, 14);
        assert_eq!((second.sum, second.events), (65, 14));
    });
}

#[test]
fn e13_a_store_that_is_down_is_waited_for() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(store.clone());
        assert_eq!(account(&journal, "alice").ask(Deposit(1)).wait(), Ok(1));
        let left = AtomicU32::new(3);
        store.fail(move |operation| match operation {
            StoreOperation::Log(_)
                if left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).is_ok() =>
            {
                StoreFault::Unavailable
            }
            _ => StoreFault::None,
        });
        let first = journal.log::<Account>(Position::ZERO).wait_next().unwrap();
        assert_eq!((first.seq, first.event), (Seq::new(1), Changed { by: 1 }));
    });
}

/// Says when it is dropped.
struct Watched(MemoryStore, Arc<AtomicBool>);

impl Drop for Watched {
    fn drop(&mut self) {
        self.1.store(true, SeqCst);
    }
}

layer!(Watched);

impl Layer for Watched {
    fn pass(&self, work: Work) {
        work(&self.0);
    }
}

#[test]
fn a_store_is_dropped_when_nothing_uses_it() {
    let is_dropped = Arc::new(AtomicBool::new(false));
    let runtime = runtime(2, &Faults::new());
    runtime.run(|| {
        let journal = Journal::new(Watched(MemoryStore::new(), Arc::clone(&is_dropped)));
        let log = Log::new();
        let accounts: Vec<_> = (0..10).map(|n| account(&journal, &n.to_string())).collect();
        accounts.iter().for_each(|one| one.send(Deposit(1)).unwrap());
        let far = log.clone();
        when(&accounts, move |all| {
            all.into_iter().for_each(|one| {
                one.persist(Changed { by: 1 });
                far.push(one.balance);
            })
        });
        // One that waits for more, and would look for it after an hour.
        let hour = std::time::Duration::from_secs(3_600);
        let mut followed = journal.log::<Account>(Position::ZERO).poll_every(hour);
        (0..20).for_each(|_| drop(followed.wait_next().unwrap()));
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert!(
            futures::Stream::poll_next(std::pin::Pin::new(&mut followed), &mut context)
                .is_pending()
        );
        drop((journal, accounts, followed));
    });
    runtime.wait_idle();
    assert!(is_dropped.load(SeqCst));
}

#[test]
fn a_log_until_now_ends_with_what_there_is() {
    everywhere(|| {
        let journal = Journal::new(MemoryStore::new());
        let alice = account(&journal, "alice");
        let until_now = |after| {
            let mut log = journal.log::<Account>(after).until_now();
            let mut all = Vec::new();
            loop {
                match log.wait_next() {
                    Ok(logged) => all.push((logged.position, logged.event.by)),
                    Err(error) => {
                        assert_eq!(error, LogError::CaughtUp);
                        assert_eq!(log.wait_next(), Err(LogError::CaughtUp));
                        return all;
                    }
                }
            }
        };
        assert_eq!(until_now(Position::ZERO), []);
        for n in 1..=300 {
            assert!(alice.ask(Deposit(n)).wait().is_ok());
        }
        let all = until_now(Position::ZERO);
        assert_eq!(
            all.iter().map(|(_, by)| *by).collect::<Vec<_>>(),
            (1..=300).collect::<Vec<_>>()
        );
        assert_eq!(until_now(all[298].0), all[299..]);
    });
}

/// Commits during the reading do not keep it from ending.
#[test]
fn a_log_until_now_ends_though_there_is_more_and_more() {
    everywhere(|| {
        let journal = Journal::new(MemoryStore::new());
        let alice = account(&journal, "alice");
        for n in 1..=300 {
            assert!(alice.ask(Deposit(n)).wait().is_ok());
        }
        let mut log = journal.log::<Account>(Position::ZERO).until_now();
        let mut read = 0;
        while log.wait_next().is_ok() {
            read += 1;
            assert!(alice.ask(Deposit(1)).wait().is_ok());
        }
        assert!((300..600).contains(&read), "{read}");
        assert!(log.position() < journal.position());
    });
}

/// A commit of another kind is passed as well.
#[test]
fn a_log_until_now_gets_to_the_last_commit_of_any_kind() {
    everywhere(|| {
        let journal = Journal::new(MemoryStore::new());
        let step = |key: &str| {
            assert!(account(&journal, key).ask(Deposit(1)).wait().is_ok());
            journal.store_offset("other", journal.position()).wait().unwrap();
        };
        (0..3).for_each(|_| step("alice"));
        let mut log = journal.log::<Account>(Position::ZERO).until_now();
        let mut last = Position::ZERO;
        while let Ok(logged) = log.wait_next() {
            last = logged.position;
        }
        assert_eq!(log.position(), journal.position());
        assert!(last < log.position());
        // There is nothing of its kind behind that.
        let mut rest = journal.log::<Account>(log.position()).until_now();
        assert_eq!(rest.wait_next(), Err(LogError::CaughtUp));
        step("bob");
        assert_eq!(journal.log::<Account>(log.position()).wait_next().unwrap().entity.key(), "bob");
    });
}

/// As that of commits which were lost when a backup was restored.
#[test]
fn e13_a_position_that_the_store_does_not_have_is_told() {
    everywhere(|| {
        let store = MemoryStore::new();
        let journal = Journal::new(Slow::new(&store, 100, 1));
        let alice = account(&journal, "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        let last = journal.position();
        // Not behind the last one, in a process that has seen no commit too.
        for journal in [&journal, &Journal::new(store.clone())] {
            let mut log = journal.log::<Account>(last).until_now();
            assert_eq!(log.wait_next().map(drop), Err(LogError::CaughtUp));
            let ahead = LogError::Ahead { after: last.next(), last };
            for mut log in
                [journal.log::<Account>(last.next()), journal.log(last.next()).until_now()]
            {
                assert_eq!(log.wait_next().map(drop), Err(ahead.clone()));
                assert_eq!(log.wait_next().map(drop), Err(LogError::Ended));
            }
            let mut tagged = journal.log::<Account>(last.next()).tagged("any");
            assert_eq!(tagged.wait_next().map(drop), Err(ahead));
        }
        let mut log = journal.log::<Account>(last);
        let later = alice.ask(Deposit(2));
        assert_eq!(log.wait_next().map(|logged| logged.event.by), Ok(2));
        assert_eq!(later.wait(), Ok(3));
    });
}

/// The error is the last item.
#[test]
fn e13_a_stream_ends_with_a_position_that_the_store_does_not_have() {
    let journal = Journal::new(MemoryStore::new());
    let log = journal.log::<Account>(Position::new(7));
    let items: Vec<_> = futures::executor::block_on(log.map(|item| item.map(drop)).collect());
    assert_eq!(items, [Err(LogError::Ahead { after: Position::new(7), last: Position::ZERO })]);
}
