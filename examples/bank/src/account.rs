//! An account: what can happen to it, and what it decides.

use coact::durable::{Decide, Durable, EntityId, EventSourced, Snapshots, stored};
use coact::prelude::*;

/// What an account is now. As it is stored in snapshots, its fields have numbers.
#[stored(name = "bank.account")]
#[derive(Default)]
pub struct Account {
    #[n(0)]
    pub cents: u64,
    /// How many transfers it has made.
    #[n(1)]
    pub transfers: u64,
}

/// What can happen to an account. The numbers are what is stored: they never change, while names
/// may.
#[stored(name = "bank.account-event")]
pub enum AccountEvent {
    #[n(0)]
    Opened {
        #[n(0)]
        cents: u64,
    },
    #[n(1)]
    Sent {
        #[n(0)]
        cents: u64,
        /// The key of the account that has received it.
        #[n(1)]
        to: u64,
    },
    #[n(2)]
    Received {
        #[n(0)]
        cents: u64,
    },
}

impl EventSourced for Account {
    const KIND: &'static str = "bank.account";
    type Event = AccountEvent;

    fn new(_: &EntityId) -> Self {
        Self::default()
    }

    fn apply(&mut self, event: &AccountEvent) {
        match event {
            AccountEvent::Opened { cents } | AccountEvent::Received { cents } => {
                self.cents += cents
            }
            AccountEvent::Sent { cents, .. } => {
                self.cents -= cents;
                self.transfers += 1;
            }
        }
    }

    fn snapshots() -> Option<Snapshots<Self>> {
        Some(Snapshots::every(100))
    }
}

/// Opens an account with this amount, unless it is open. Answers what it has.
#[derive(Message)]
#[message(reply = u64)]
pub struct Open {
    pub cents: u64,
}

impl Decide<Open> for Account {
    fn decide(account: &mut Durable<Self>, Open { cents }: Open) -> u64 {
        // Without events, it is not open.
        if account.last().get() == 0 {
            account.persist(AccountEvent::Opened { cents });
        }
        account.cents
    }
}

/// Moves an amount from one account to another, if there is enough: in one step, which is stored as
/// a whole or not at all.
pub fn transfer(
    from: &Addr<Durable<Account>>,
    (to, key): (&Addr<Durable<Account>>, u64),
    cents: u64,
) -> Promise<bool> {
    call((from, to), move |(from, to)| {
        if from.cents < cents {
            return false;
        }
        from.persist(AccountEvent::Sent { cents, to: key });
        to.persist(AccountEvent::Received { cents });
        true
    })
}

/// An amount that was sent by [`send`]. It is stored until it is received.
#[stored(name = "bank.deposit")]
#[derive(Message)]
pub struct Deposit {
    #[n(0)]
    cents: u64,
}

impl Decide<Deposit> for Account {
    fn decide(account: &mut Durable<Self>, Deposit { cents }: Deposit) {
        account.persist(AccountEvent::Received { cents });
    }
}

/// Sends an amount to another account, if there is enough: the message is stored with what the
/// sender has decided, and received once, later, whatever happens.
pub fn send(from: &Addr<Durable<Account>>, to: u64, cents: u64) -> Promise<bool> {
    call(from, move |from| {
        if from.cents < cents {
            return false;
        }
        from.persist(AccountEvent::Sent { cents, to });
        from.deliver_to::<Account, _>(to.to_string(), Deposit { cents });
        true
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_opened_once() {
        let mut account = Durable::standalone(Account::default());
        assert_eq!(Account::decide(&mut account, Open { cents: 5 }), 5);
        assert_eq!(Account::decide(&mut account, Open { cents: 7 }), 5);
        assert_eq!(account.persisted().len(), 1);
    }

    #[test]
    fn what_is_sent_is_gone() {
        let mut account = Account::default();
        account.apply(&AccountEvent::Opened { cents: 10 });
        account.apply(&AccountEvent::Sent { cents: 3, to: 1 });
        account.apply(&AccountEvent::Received { cents: 2 });
        assert_eq!((account.cents, account.transfers), (9, 1));
    }
}
