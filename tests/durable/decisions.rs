//! Commands: how they decide, and when their answers leave.

use coact::actor::AskError;
use coact::durable::{Decide, Durable, Journal, MemoryStore};
use coact::prelude::*;
use coact_tests::{Log, everywhere, everywhere_with_faults};

use crate::bank::{Account, Balance, Changed, Deposit, UNLUCKY, Withdraw, account, found};
use crate::slow::Slow;

#[test]
fn e4_commands_are_answered_in_their_order_once_stored() {
    everywhere(|| {
        let store = MemoryStore::new();
        let alice = account(&Journal::new(Slow::new(&store, 300, 1)), "alice");
        let asked: Vec<_> = (1..=20).map(|n| alice.ask(Deposit(n))).collect();
        let read = alice.ask(Balance);
        let refused = alice.ask(Withdraw(1_000));
        let mut sum = 0;
        for (n, asked) in (1..).zip(asked) {
            sum += n;
            assert_eq!(asked.wait(), Ok(sum));
        }
        assert_eq!(read.wait(), Ok(sum));
        assert_eq!(refused.wait(), Ok(Err("overdrawn")));
        drop(alice);
        assert_eq!(found(&store, "alice").changes, (1..=20).collect::<Vec<_>>());
    });
}

#[test]
fn e4_an_answer_means_that_it_is_stored() {
    everywhere(|| {
        let store = MemoryStore::new();
        let alice = account(&Journal::new(Slow::new(&store, 300, 2)), "alice");
        for n in 1..=5 {
            assert_eq!(alice.ask(Deposit(1)).wait(), Ok(n));
            // This fences the owner, which is recovered as it is another one then.
            let other = Journal::new(store.clone());
            assert_eq!(call(&account(&other, "bob"), |bob| bob.balance).wait(), Ok(0));
            let events = coact::durable::store::wait(|done| {
                let id = coact::durable::EntityId::new("bank.account", "alice");
                coact::durable::store::StoreReader::events(
                    &store,
                    id,
                    coact::durable::Seq::ZERO,
                    100,
                    done,
                );
            });
            assert_eq!(events.unwrap().len() as i64, n);
        }
    });
}

#[test]
fn e4_messages_leave_with_the_commit_in_their_order() {
    #[derive(Message)]
    struct Note(u32);
    struct Book(Log<u32>);
    impl Actor for Book {}
    impl Handler<Note> for Book {
        fn handle(&mut self, Note(n): Note, _: &mut coact::Context<Self>) {
            self.0.push(n);
        }
    }
    #[derive(Message)]
    struct Tell(Addr<Book>, u32);
    impl Decide<Tell> for Account {
        fn decide(account: &mut Durable<Self>, Tell(book, n): Tell) {
            account.persist(Changed { by: 1 });
            account.send(&book, Note(2 * n));
            account.send(&book, Note(2 * n + 1));
        }
    }

    everywhere(|| {
        let log = Log::new();
        let book = spawn(Book(log.clone()));
        let alice = account(&Journal::new(Slow::new(&MemoryStore::new(), 300, 3)), "alice");
        let all: Vec<_> = (0..10).map(|n| alice.ask(Tell(book.clone(), n))).collect();
        all.into_iter().for_each(|tell| tell.wait().unwrap());
        call(&book, |_| ()).wait().unwrap();
        assert_eq!(log.take(), (0..20).collect::<Vec<_>>());
    });
}

#[test]
fn e11_a_panic_in_a_decision_stores_nothing_and_the_entity_goes_on() {
    #[derive(Message)]
    #[message(reply = ())]
    struct Fumble;
    impl Decide<Fumble> for Account {
        fn decide(account: &mut Durable<Self>, _: Fumble) {
            account.persist(Changed { by: 500 });
            panic!("a slip");
        }
    }

    everywhere_with_faults(|faults| {
        let store = MemoryStore::new();
        let alice = account(&Journal::new(Slow::new(&store, 300, 4)), "alice");
        let before = alice.ask(Deposit(1));
        let fumbled = alice.ask(Fumble);
        let after = alice.ask(Deposit(2));
        assert_eq!(before.wait(), Ok(1));
        assert_eq!(fumbled.wait(), Err(AskError::Panicked("a slip".into())));
        assert_eq!(after.wait(), Ok(3));
        assert_eq!(faults.len(), 1);
        drop(alice);
        assert_eq!(found(&store, "alice").changes, [1, 2]);
    });
}

#[test]
fn e11_an_event_that_cannot_be_applied_is_not_stored() {
    everywhere_with_faults(|_| {
        let store = MemoryStore::new();
        let alice = account(&Journal::new(store.clone()), "alice");
        assert_eq!(alice.ask(Deposit(1)).wait(), Ok(1));
        assert!(matches!(alice.ask(Deposit(UNLUCKY)).wait(), Err(AskError::Panicked(_))));
        assert_eq!(alice.ask(Deposit(2)).wait(), Ok(3));
        drop(alice);
        assert_eq!(found(&store, "alice").changes, [1, 2]);
    });
}

#[test]
fn e9_a_decision_that_sends_by_itself_is_refused() {
    #[derive(Message)]
    #[message(reply = ())]
    struct Blurt(Addr<Durable<Account>>);
    impl Decide<Blurt> for Account {
        fn decide(account: &mut Durable<Self>, Blurt(other): Blurt) {
            account.persist(Changed { by: 1 });
            let _ = other.send(Deposit(1));
        }
    }

    everywhere_with_faults(|_| {
        let journal = Journal::new(MemoryStore::new());
        let (alice, bob) = (account(&journal, "alice"), account(&journal, "bob"));
        let refused = alice.ask(Blurt(bob.clone())).wait();
        let Err(AskError::Panicked(why)) = refused else { panic!("{refused:?}") };
        assert!(why.contains("on_commit"), "{why}");
        assert_eq!(bob.ask(Balance).wait(), Ok(0));
        assert_eq!(alice.ask(Balance).wait(), Ok(0));
    });
}
