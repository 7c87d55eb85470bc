//! The macros: what `#[handlers]` and the derives write, against the runtime.

use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;

use coact::Context;
use coact::actor::{ActorId, WeakAddr};
use coact::prelude::*;
use futures::executor::block_on;

#[derive(Actor, Default)]
struct Account {
    balance: i64,
    waiting: Vec<Reply<i64>>,
}

#[handlers(api = AccountApi)]
impl Account {
    /// Puts money in.
    #[message]
    fn deposit(
        &mut self,
        /// How much.
        amount: i64,
    ) -> i64 {
        self.balance += amount;
        for waiting in self.waiting.drain(..) {
            waiting.send(self.balance);
        }
        self.balance
    }

    #[message]
    fn balance(&self) -> i64 {
        self.balance
    }

    #[message(name = Close)]
    fn stop_now(&mut self, context: &mut Context<Self>) {
        context.stop();
    }

    #[message]
    fn identity(&self, first: u8, context: &mut Context<Account>, last: u8) -> (u8, ActorId, u8) {
        (first, context.id(), last)
    }

    #[message]
    fn next_balance(&mut self, reply: Reply<i64>) {
        self.waiting.push(reply);
    }

    #[message]
    fn same(&self, other: Addr<Self>, context: &mut Context<Self>) -> (Addr<Self>, bool) {
        let same = other.id() == context.id();
        (other, same)
    }

    fn helper(&self) -> i64 {
        self.balance
    }
}

#[test]
fn methods_are_messages() {
    let account = spawn(Account::default());
    account.send(Deposit { amount: 5 }).expect("it lives");
    assert_eq!(account.ask(Deposit { amount: 7 }).wait(), Ok(12));
    assert_eq!(account.ask(Balance).wait(), Ok(12));
}

#[test]
fn the_context_comes_at_any_place() {
    let account = spawn(Account::default());
    let identity = account.ask(Identity { first: 1, last: 2 }).wait();
    assert_eq!(identity, Ok((1, account.id(), 2)));
}

#[test]
fn a_message_can_have_another_name() {
    let account = spawn(Account::default());
    assert_eq!(account.ask(Close).wait(), Ok(()));
    assert_eq!(account.ended().wait(), Ok(ExitReason::Normal));
}

#[test]
fn a_reply_can_be_kept() {
    let account = spawn(Account::default());
    let next = account.ask(NextBalance);
    account.send(Deposit { amount: 3 }).expect("it lives");
    assert_eq!(next.wait(), Ok(3));
}

#[test]
fn the_own_type_can_be_named_in_messages_and_replies() {
    let account = spawn(Account::default());
    let (other, same) = account.ask(Same { other: account.clone() }).wait().expect("it lives");
    assert!(same && other.id() == account.id());
}

#[test]
fn other_methods_stay_as_they_are() {
    assert_eq!(Account { balance: 4, waiting: Vec::new() }.helper(), 4);
}

#[test]
fn methods_of_the_address_ask() {
    let account = spawn(Account::default());
    block_on(async {
        assert_eq!(account.deposit(5).await, Ok(5));
        assert_eq!(account.balance().await, Ok(5));
        assert_eq!(account.identity(1, 2).await, Ok((1, account.id(), 2)));
    });
}

/// Handlers that wait for promises, which the tests keep when it is time.
#[derive(Actor, Default)]
struct Waiter {
    log: Vec<&'static str>,
}

#[handlers]
impl Waiter {
    #[message]
    fn note(&mut self, text: &'static str) -> Vec<&'static str> {
        self.log.push(text);
        self.log.clone()
    }

    #[message]
    fn beside(&mut self, until: Promise<u32>) -> impl Future<Output = Option<u32>> {
        self.log.push("beside");
        async move { until.await.ok() }
    }

    #[message]
    fn beside_spelt_out(&self, until: Promise<u32>) -> impl Future<Output = u32> + Send + use<> {
        async move { until.await.unwrap_or_default() }
    }

    #[message(held)]
    async fn held(&mut self, until: Promise<u32>, context: &mut Context<Self>) -> (u32, ActorId) {
        self.log.push("began");
        let value = until.await.unwrap_or_default();
        self.log.push("ended");
        (value, context.id())
    }

    #[message(held)]
    async fn held_for_reading(&self, until: Promise<u32>) -> usize {
        let _ = until.await;
        self.log.len()
    }

    #[message]
    async fn with_address(this: Addr<Self>, until: Promise<u32>) -> Vec<&'static str> {
        let _ = until.await;
        this.ask(Note { text: "from beside" }).await.unwrap_or_default()
    }

    #[message]
    async fn with_weak_address(this: WeakAddr<Self>) -> ActorId {
        this.id()
    }

    #[message]
    async fn alone(until: Promise<u32>) -> u32 {
        until.await.unwrap_or_default()
    }
}

#[test]
fn a_future_runs_beside_the_actor() {
    let waiter = spawn(Waiter::default());
    let (resolver, until) = Promise::channel();
    let beside = waiter.ask(Beside { until });
    assert_eq!(waiter.ask(Note { text: "meanwhile" }).wait(), Ok(vec!["beside", "meanwhile"]));
    resolver.resolve(7);
    assert_eq!(beside.wait(), Ok(Some(7)));

    let (resolver, until) = Promise::channel();
    let beside = waiter.ask(BesideSpeltOut { until });
    resolver.resolve(8);
    assert_eq!(beside.wait(), Ok(8));
}

#[test]
fn a_held_actor_takes_no_other_message() {
    let waiter = spawn(Waiter::default());
    let (resolver, until) = Promise::channel();
    let held = waiter.ask(Held { until });
    let after = waiter.ask(Note { text: "after" });
    resolver.resolve(7);
    assert_eq!(held.wait(), Ok((7, waiter.id())));
    assert_eq!(after.wait(), Ok(vec!["began", "ended", "after"]));
    let (resolver, until) = Promise::channel();
    let held = waiter.ask(HeldForReading { until });
    resolver.resolve(0);
    assert_eq!(held.wait(), Ok(3));
}

#[test]
fn a_function_without_the_actor_runs_beside_it() {
    let waiter = spawn(Waiter::default());
    let (resolver, until) = Promise::channel();
    let beside = waiter.ask(WithAddress { until });
    assert_eq!(waiter.ask(Note { text: "meanwhile" }).wait(), Ok(vec!["meanwhile"]));
    resolver.resolve(0);
    assert_eq!(beside.wait(), Ok(vec!["meanwhile", "from beside"]));
    assert_eq!(waiter.ask(WithWeakAddress).wait(), Ok(waiter.id()));

    let (resolver, until) = Promise::channel();
    let alone = waiter.ask(Alone { until });
    resolver.resolve(9);
    assert_eq!(alone.wait(), Ok(9));
}

#[derive(Actor)]
struct Store<K, V, const N: usize>
where
    K: Eq + Hash,
{
    values: HashMap<K, V>,
    recent: [Option<K>; N],
}

#[handlers(api)]
impl<K, V: Clone, const N: usize> Store<K, V, N>
where
    K: Eq + Hash + Copy + Send + 'static,
    V: Send + 'static,
{
    #[message]
    fn put(&mut self, key: K, value: V) -> Option<V> {
        self.recent.rotate_right(1);
        self.recent[0] = Some(key);
        self.values.insert(key, value)
    }

    #[message]
    fn get(&self, key: K) -> Option<V> {
        self.values.get(&key).cloned()
    }

    #[message]
    fn size(&self) -> usize {
        self.values.len()
    }

    #[message]
    fn recent(&self) -> [Option<K>; N] {
        self.recent
    }

    #[message]
    fn all(&self) -> impl Future<Output = Vec<V>> {
        let values = self.values.values().cloned().collect();
        async { values }
    }

    #[message(held)]
    async fn clear(&mut self) -> HashMap<K, V> {
        std::mem::take(&mut self.values)
    }
}

#[test]
fn a_message_carries_the_parameters_that_it_needs() {
    let store = spawn(Store::<u8, String, 2> { values: HashMap::new(), recent: [None; 2] });
    assert_eq!(store.ask(Put { key: 1, value: "one".to_owned() }).wait(), Ok(None));
    assert_eq!(store.ask(Get::new(1)).wait(), Ok(Some("one".to_owned())));
    assert_eq!(store.ask(Size).wait(), Ok(1));
    assert_eq!(store.ask(Recent::new()).wait(), Ok([Some(1), None]));
    assert_eq!(store.ask(All::new()).wait(), Ok(vec!["one".to_owned()]));
    assert_eq!(store.ask(Clear::new()).wait().map(|all| all.len()), Ok(1));
    assert_eq!(store.size().wait(), Ok(0));
    assert_eq!(store.get(1).wait(), Ok(None));
}

mod shop {
    use coact::prelude::*;

    #[derive(Actor)]
    pub struct Shop;

    #[handlers(api = pub ShopApi)]
    impl Shop {
        #[message(derive(Clone, Debug, PartialEq, Eq))]
        pub fn price(&self, article: u32) -> u32 {
            article * 2
        }

        #[message]
        pub fn count(&self) -> u32 {
            3
        }

        #[message]
        fn secret(&self) -> u32 {
            42
        }
    }

    /// A second block has messages of its own.
    #[handlers]
    impl Shop {
        #[message]
        pub fn open(&mut self, mut hours: Vec<u8>) -> u8 {
            hours.pop().unwrap_or_default()
        }
    }

    pub fn secret_of(shop: &Addr<Shop>) -> Ask<u32> {
        shop.ask(Secret)
    }
}

#[test]
fn messages_can_be_seen_as_far_as_their_methods() {
    use shop::ShopApi;

    /// Has `count` and `price`, and not `secret`: another trait may give that without ambiguity.
    trait Other {
        fn secret(&self) -> &'static str {
            "told"
        }
    }
    impl Other for Addr<shop::Shop> {}

    let shop = spawn(shop::Shop);
    assert_eq!(shop.ask(shop::Price { article: 4 }).wait(), Ok(8));
    assert_eq!(shop.count().wait(), Ok(3));
    assert_eq!(shop.secret(), "told");
    assert_eq!(shop::secret_of(&shop).wait(), Ok(42));
    assert_eq!(shop.ask(shop::Open { hours: vec![8, 18] }).wait(), Ok(18));
}

#[test]
fn a_message_derives_what_it_is_told() {
    let price = shop::Price { article: 4 };
    assert_eq!(price.clone(), price);
    assert_eq!(format!("{price:?}"), "Price { article: 4 }");
}

#[derive(Actor)]
struct Odd;

/// The message of a method that is not there.
#[derive(Message, PartialEq, Eq, Debug)]
struct Absent(u8);

/// Names that the written code might use itself.
#[handlers(api = OddApi)]
impl Odd {
    #[message]
    fn collide(&self, message: u8, context: u8, reply: u8, future: u8, actor: u8) -> [u8; 5] {
        [message, context, reply, future, actor]
    }

    #[message(held)]
    async fn collide_held(&self, actor: u8, context: u8, cx: &mut Context<Self>) -> (u8, u8, bool) {
        (actor, context, cx.id() == cx.weak().id())
    }

    #[message]
    fn collide_by_hand(&self, reply: u8, answer: Reply<u8>) {
        answer.send(reply);
    }

    #[message]
    fn r#match(&self, r#type: u8) -> u8 {
        r#type
    }

    #[cfg(any())]
    #[message]
    fn absent(&self, nothing: NoSuchType) -> u8 {
        nothing.into()
    }
}

#[test]
fn names_do_not_collide() {
    let odd = spawn(Odd);
    assert_eq!(odd.collide(1, 2, 3, 4, 5).wait(), Ok([1, 2, 3, 4, 5]));
    assert_eq!(odd.ask(CollideHeld { actor: 1, context: 2 }).wait(), Ok((1, 2, true)));
    assert_eq!(odd.ask(CollideByHand { reply: 6 }).wait(), Ok(6));
    assert_eq!(odd.ask(Match { r#type: 7 }).wait(), Ok(7));
}

#[test]
fn conditions_hold_for_messages_too() {
    assert_eq!(Absent(1), Absent(1));
}

/// An actor whose types come out of another macro.
macro_rules! counter {
    ($name:ident, $number:ty, $method:ident) => {
        #[derive(Actor, Default)]
        struct $name($number);

        #[handlers]
        impl $name {
            #[message]
            fn $method(&mut self, by: $number, _context: &mut Context<$name>) -> $number {
                self.0 += by;
                self.0
            }
        }
    };
}

counter!(Counter, u16, add);

#[test]
fn macros_can_write_handlers() {
    assert_eq!(spawn(Counter::default()).ask(Add { by: 3 }).wait(), Ok(3));
}

#[derive(Message)]
#[message(reply = Vec<T>)]
enum Repeat<T: Clone> {
    Once(T),
    Twice { value: T },
}

#[derive(Message)]
struct Forget;

impl<T: Clone + Send + 'static> Handler<Repeat<T>> for Odd {
    fn handle(&mut self, message: Repeat<T>, _: &mut Context<Self>) -> Vec<T> {
        match message {
            Repeat::Once(value) => vec![value],
            Repeat::Twice { value } => vec![value.clone(), value],
        }
    }
}

impl Handler<Forget> for Odd {
    fn handle(&mut self, _: Forget, _: &mut Context<Self>) {}
}

#[test]
fn messages_are_derived() {
    let odd = spawn(Odd);
    assert_eq!(odd.ask(Repeat::Once("a")).wait(), Ok(vec!["a"]));
    assert_eq!(odd.ask(Repeat::Twice { value: 1 }).wait(), Ok(vec![1, 1]));
    assert_eq!(odd.ask(Forget).wait(), Ok(()));
}

/// What the macros need of the runtime, under another name.
mod elsewhere {
    use std::marker::PhantomData;

    /// Where the macros look for all of it.
    pub mod actor {
        pub use super::{Actor, Addr, Ask, Context, Handler, Message};
    }

    pub struct Context<A>(PhantomData<A>);

    #[derive(Debug, PartialEq, Eq)]
    pub struct Ask<R>(pub R);

    pub trait Actor: Clone {}

    pub trait Message {
        type Reply;
    }

    pub trait Handler<M: Message>: Actor {
        fn handle(&mut self, message: M, context: &mut Context<Self>) -> M::Reply;
    }

    pub struct Addr<A>(pub A);

    impl<A: Actor> Addr<A> {
        pub fn ask<M: Message>(&self, message: M) -> Ask<M::Reply>
        where
            A: Handler<M>,
        {
            Ask(self.0.clone().handle(message, &mut Context(PhantomData)))
        }
    }
}

#[derive(Actor, Clone)]
#[actor(crate = elsewhere)]
struct Stranger;

#[derive(Message)]
#[message(crate = elsewhere, reply = u8)]
struct Hello;

impl elsewhere::Handler<Hello> for Stranger {
    fn handle(&mut self, _: Hello, _: &mut elsewhere::Context<Self>) -> u8 {
        1
    }
}

#[handlers(crate = elsewhere, api)]
impl Stranger {
    #[message]
    fn greet(&self) -> u8 {
        2
    }
}

#[test]
fn the_crate_can_have_another_name() {
    let stranger = elsewhere::Addr(Stranger);
    assert_eq!(stranger.ask(Hello), elsewhere::Ask(1));
    assert_eq!(stranger.greet(), elsewhere::Ask(2));
}
