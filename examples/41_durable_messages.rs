//! Besides the state of durable actors, these outlive the process: messages from one to another,
//! publications, timers, and answers to clients that ask twice. And a type that has changed since
//! its values were stored.
//!
//! A store in memory stands for a file here, so that "the next process" can be seen at once; with
//! the crate `coact-sqlite`, it is `SqliteStore::open("shop.db")?`.

use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use coact::durable::{
    Decide, Durable, EntityId, EventSourced, Journal, MemoryStore, Once, Position, Publication,
    Tags, stored,
};
use coact::prelude::*;

/// What can happen to an order, as the first version of the program stored it: without a currency.
#[stored(name = "shop.order-event")]
enum FirstOrderEvent {
    #[n(0)]
    Placed(#[n(0)] u64),
    #[n(1)]
    Paid,
    #[n(2)]
    Expired,
}

/// And as it does now.
#[stored(name = "shop.order-event", version = 2, earlier = FirstOrderEvent)]
enum OrderEvent {
    #[n(0)]
    Placed {
        #[n(0)]
        cents: u64,
        #[n(1)]
        currency: String,
    },
    #[n(1)]
    Paid,
    #[n(2)]
    Expired,
}

impl From<FirstOrderEvent> for OrderEvent {
    fn from(event: FirstOrderEvent) -> Self {
        match event {
            FirstOrderEvent::Placed(cents) => Self::Placed { cents, currency: "EUR".to_owned() },
            FirstOrderEvent::Paid => Self::Paid,
            FirstOrderEvent::Expired => Self::Expired,
        }
    }
}

#[derive(Default, Clone, Copy, PartialEq, Debug)]
enum Order {
    #[default]
    New,
    Open(u64),
    Paid,
    Expired,
}

impl EventSourced for Order {
    const KIND: &'static str = "shop.order";
    type Event = OrderEvent;

    fn new(_: &EntityId) -> Self {
        Self::New
    }

    fn apply(&mut self, event: &OrderEvent) {
        *self = match event {
            OrderEvent::Placed { cents, .. } => Self::Open(*cents),
            OrderEvent::Paid => Self::Paid,
            OrderEvent::Expired => Self::Expired,
        };
    }

    fn tags(&self, event: &OrderEvent) -> Tags {
        match event {
            OrderEvent::Placed { currency, .. } => Tags::new([format!("currency:{currency}")]),
            OrderEvent::Paid | OrderEvent::Expired => Tags::NONE,
        }
    }
}

/// A command of a client, which may ask again if the connection breaks.
#[derive(Message)]
#[message(reply = Result<u64, String>)]
struct Place {
    cents: u64,
    currency: &'static str,
}

impl Decide<Place> for Order {
    fn decide(order: &mut Durable<Self>, Place { cents, currency }: Place) -> Result<u64, String> {
        // First decide whether to refuse: a persisted event is stored even if an `Err` is
        // returned after it.
        if **order != Order::New {
            return Err(format!("`{}` was placed before", order.id()));
        }
        order.persist(OrderEvent::Placed { cents, currency: currency.to_owned() });
        order.publish(Mail { text: format!("{cents} cents are due for {}", order.id().key()) });
        let due = order.now() + Duration::from_secs(7 * 24 * 3_600);
        order.set_timer("expiry", due, Expire);
        Ok(cents)
    }
}

/// From the till.
#[stored(name = "shop.pay")]
#[derive(Message)]
struct Pay;

impl Decide<Pay> for Order {
    fn decide(order: &mut Durable<Self>, _: Pay) {
        if let Order::Open(_) = **order {
            order.persist(OrderEvent::Paid);
            order.cancel_timer("expiry");
        }
    }
}

/// When it is due.
#[stored(name = "shop.expire")]
#[derive(Message)]
struct Expire;

impl Decide<Expire> for Order {
    fn decide(order: &mut Durable<Self>, _: Expire) {
        if let Order::Open(_) = **order {
            order.persist(OrderEvent::Expired);
        }
    }
}

/// To the outside.
#[stored(name = "shop.mail")]
struct Mail {
    #[n(0)]
    text: String,
}

/// The payments that have come in.
#[derive(Default)]
struct Till {
    payments: u64,
}

#[stored(name = "shop.payment")]
struct Payment(#[n(0)] String);

impl EventSourced for Till {
    const KIND: &'static str = "shop.till";
    type Event = Payment;

    fn new(_: &EntityId) -> Self {
        Self::default()
    }

    fn apply(&mut self, _: &Payment) {
        self.payments += 1;
    }
}

/// A process of the program: its receivers and publishers, and the messages of earlier processes.
fn start(store: &MemoryStore) -> Result<(Journal, Receiver<String>), Box<dyn std::error::Error>> {
    let (sender, mails) = channel();
    let journal = Journal::builder(store.clone())
        .receives::<Order, Pay>()
        .receives::<Order, Expire>()
        .publishes(move |mail: Publication<Mail>| {
            // A receiver that has had a mail with this `id` has had this one.
            let sent = sender.send(format!("{}: {}", mail.from, mail.message.text));
            async { sent }
        })
        .build();
    let resumed = journal.resume().wait()??;
    if !resumed.unknown.is_empty() {
        println!("nothing in this program receives {:?}", resumed.unknown);
    }
    Ok((journal, mails))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let store = MemoryStore::new();
    let (journal, mails) = start(&store)?;
    let order = journal.entity::<Order>("17");

    // The answer of the first time, both times.
    let place = || Once::new("request-1", Place { cents: 500, currency: "EUR" });
    assert_eq!(order.ask(place()).wait()?, Ok(500));
    assert_eq!(order.ask(place()).wait()?, Ok(500));
    println!("mail from {}", mails.recv()?);

    // The payment is stored together with the message to the order.
    let till = journal.entity::<Till>("main");
    let paid = call(&till, |till| {
        till.persist(Payment("17".to_owned()));
        till.deliver_to::<Order, _>("17", Pay);
    });
    paid.wait()?;
    drop((order, till, journal));

    // The next process, whether the message was delivered before or not.
    let (journal, _mails) = start(&store)?;
    let mut log = journal.log::<Order>(Position::ZERO);
    let placed = log.wait_next()?;
    assert!(matches!(placed.event, OrderEvent::Placed { cents: 500, .. }));
    assert!(matches!(log.wait_next()?.event, OrderEvent::Paid));
    let order = journal.entity::<Order>("17");
    assert_eq!(call(&order, |order| **order).wait()?, Order::Paid);
    println!("order 17 is paid, and was {:?} when it was placed", placed.tags);
    Ok(())
}
