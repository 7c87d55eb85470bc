//! The position of a journal: it covers all commits that the program can know of.

use coact::Context;
use coact::actor::AskError;
use coact::durable::store::{StoreReader, wait};
use coact::durable::{
    CommitRefusal, Journal, LogError, LoggedEvent, MemoryStore, Once, Position, confirmed,
};
use coact::prelude::*;
use coact::promise::Resolver;
use coact_tests::everywhere;

use crate::bank::{Account, Balance, Changed, Deposit, account};
use crate::slow::Slow;

fn last(store: &MemoryStore) -> Position {
    wait(|done| store.position(done)).unwrap()
}

/// The state of a projection that has read up to there.
fn projected(journal: &Journal) -> i64 {
    let (mut sum, mut log) = (0, journal.log::<Account>(Position::ZERO).until_now());
    loop {
        match log.wait_next() {
            Ok(logged) => sum += logged.event.by,
            Err(LogError::CaughtUp) => break,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(log.position() >= journal.position());
    sum
}

#[test]
fn e28_the_position_has_answers_of_a_former_process_in_it() {
    everywhere(|| {
        let store = MemoryStore::new();
        let pay = || Once::new("payment-17", Deposit(5));
        let first = Journal::new(Slow::new(&store, 200, 1));
        assert_eq!(account(&first, "alice").ask(pay()).wait(), Ok(5));
        let at = first.position();
        assert_eq!(at, last(&store));
        let second = Journal::new(Slow::new(&store, 200, 2));
        assert_eq!(second.position(), Position::ZERO);
        assert_eq!(account(&second, "alice").ask(pay()).wait(), Ok(5));
        assert!(second.position() >= at);
        assert_eq!(projected(&second), 5);
    });
}

#[test]
fn e28_the_position_has_recovered_states_in_it() {
    everywhere(|| {
        let store = MemoryStore::new();
        let first = Journal::new(store.clone());
        // (Several snapshots of one, and few events of the other.)
        let [alice, bob] = ["alice", "bob"].map(|key| account(&first, key));
        (1..=12).for_each(|_| assert!(alice.ask(Deposit(1)).wait().is_ok()));
        bob.ask(Deposit(7)).wait().unwrap();
        let at = first.position();
        for of_both in [true, false] {
            let second = Journal::new(Slow::new(&store, 200, 3));
            let [alice, bob] = ["alice", "bob"].map(|key| account(&second, key));
            if of_both {
                assert_eq!(
                    call((&alice, &bob), |(a, b)| (a.balance, b.balance)).wait(),
                    Ok((12, 7))
                );
            } else {
                assert_eq!(bob.ask(Balance).wait(), Ok(7));
            }
            assert_eq!(second.position(), at);
            assert_eq!(projected(&second), 19);
        }
    });
}

/// Sums up the events, and reports when the sum is as much as this.
struct Total {
    journal: Journal,
    sum: i64,
    awaited: Vec<(i64, Resolver<()>)>,
}

impl Actor for Total {
    fn started(&mut self, context: &mut Context<Self>) {
        context.attach(self.journal.log::<Account>(Position::ZERO)).each(Next);
    }
}

#[derive(Message)]
struct Next(Result<LoggedEvent<Changed>, LogError>);

impl Handler<Next> for Total {
    fn handle(&mut self, Next(logged): Next, context: &mut Context<Self>) {
        self.sum += logged.unwrap().event.by;
        for (_, resolver) in self.awaited.extract_if(.., |(sum, _)| *sum == self.sum) {
            resolver.resolve(());
        }
        if self.awaited.is_empty() {
            context.stop();
        }
    }
}

/// One that does not poll reads what others have stored as soon as this journal knows of it.
#[test]
fn e28_a_log_reads_up_to_what_a_recovery_has_found() {
    everywhere(|| {
        let store = MemoryStore::new();
        let [here, there] = [(); 2].map(|()| Journal::new(store.clone()));
        let (awaited, reached): (Vec<_>, Vec<_>) = [1, 6, 13]
            .map(|sum| {
                let (resolver, reached) = Promise::channel();
                ((sum, resolver), reached)
            })
            .into_iter()
            .unzip();
        let [first, second, third] = reached.try_into().expect("there are three");
        spawn(Total { journal: here.clone(), sum: 0, awaited });
        let bob = account(&here, "bob");
        assert_eq!(bob.ask(Deposit(1)).wait(), Ok(1));
        first.wait().unwrap();
        // What it has from here on, others have stored.
        assert_eq!(account(&there, "alice").ask(Deposit(5)).wait(), Ok(5));
        assert_eq!(account(&here, "alice").ask(Balance).wait(), Ok(5));
        assert_eq!(here.position(), there.position());
        second.wait().unwrap();
        // So it does for a question that the store has confirmed.
        assert_eq!(account(&there, "carol").ask(Deposit(7)).wait(), Ok(7));
        assert_eq!(bob.ask(confirmed(Balance)).wait(), Ok(1));
        assert_eq!(here.position(), there.position());
        third.wait().unwrap();
    });
}

/// Who was replaced, and looks an answer up, would find that of the next owner: it is that one's to
/// tell.
#[test]
fn e28_an_owner_that_was_replaced_tells_no_answer_of_the_next_one() {
    everywhere(|| {
        let store = MemoryStore::new();
        let pay = || Once::new("payment-17", Deposit(5));
        let old = account(&Journal::new(Slow::new(&store, 200, 4)), "alice");
        assert_eq!(old.ask(Balance).wait(), Ok(0));
        let there = Journal::new(store.clone());
        assert_eq!(account(&there, "alice").ask(pay()).wait(), Ok(5));
        let told = old.ask(pay()).wait();
        let Err(AskError::NotCommitted(why)) = told else { panic!("{told:?}") };
        assert!(matches!(why.why(), Some(CommitRefusal::Fenced { .. })), "{why}");
        assert!(old.ended().wait().is_ok());
        // The next one here has it, with its position.
        let here = Journal::new(store.clone());
        assert_eq!(account(&here, "alice").ask(pay()).wait(), Ok(5));
        assert!(here.position() >= there.position());
        assert_eq!(projected(&here), 5);
    });
}
