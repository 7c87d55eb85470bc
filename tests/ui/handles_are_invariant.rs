//! A handle that both takes and gives values of a type stands for that very type, neither for one that is
//! more general nor for one that is less so. Through `Cown<One>` a function could be stored that keeps what
//! it is given; through `Cown<Any>` it would be called with what dies.

use std::marker::PhantomData;

use coact::prelude::*;
use coact::{Context, WeakCown};
use coact::actor::WeakAddr;
use coact::behaviour::Answer;
use coact::cown::{
    Checked, CheckedMembers, CheckedReadMembers, Held, Members, Poisoned, Read, ReadAll,
    ReadMembers,
};
use coact::promise::Resolver;
use coact::pubsub::{Topic, TopicTree};
use coact::routing::{FirstAnswer, Pool, PoolBuilder, Router};
use coact::stream::{ActorStream, Demand, Feed};
use coact::actor::Spawn;
use coact::cown::{AsCown, CheckedAll, CheckedRead, CheckedReadAll, MembersIter, MembersIterMut};
use coact::internals::{LastHandleCheck, SealedHandle, Unchecked, UncheckedHandle};
use coact::mailbox::StashFull;
use coact::registry::WaitFor;
use coact::supervise::{Child, Request};

type Any = for<'a> fn(&'a str);
type One = fn(&'static str);

/// A state, a message and an actor; covariant itself.
#[derive(Clone)]
struct Of<F>(F);

impl<F: Send + 'static> Actor for Of<F> {}

impl<F: Send + 'static> Message for Of<F> {
    type Reply = F;
}

/// A handle that is covariant itself: the states behind one view may differ.
#[derive(Clone)]
struct Handle<F>(Cown<u8>, PhantomData<fn() -> F>);

impl<F> SealedHandle for Handle<F> {}

impl<F: Clone + 'static> AsCown for Handle<F> {
    type State = u8;
    type View = u8;

    fn as_cown(&self) -> &Cown<u8> {
        &self.0
    }

    fn view(state: &u8) -> &u8 {
        state
    }

    fn view_mut(state: &mut u8) -> &mut u8 {
        state
    }
}

fn main() {
    let _ = |handle: Cown<Any>| -> Cown<One> { handle };
    let _ = |handle: Cown<One>| -> Cown<Any> { handle };
    let _ = |handle: WeakCown<Any>| -> WeakCown<One> { handle };
    let _ = |handle: WeakCown<One>| -> WeakCown<Any> { handle };
    let _ = |handle: LastHandleCheck<Any>| -> LastHandleCheck<One> { handle };
    let _ = |handle: LastHandleCheck<One>| -> LastHandleCheck<Any> { handle };
    let _ = |handle: Checked<'static, Any>| -> Checked<'static, One> { handle };
    let _ = |handle: Checked<'static, One>| -> Checked<'static, Any> { handle };
    let _ = |handle: CheckedRead<'static, Any>| -> CheckedRead<'static, One> { handle };
    let _ = |handle: CheckedRead<'static, One>| -> CheckedRead<'static, Any> { handle };
    let _ = |handle: Unchecked<'static, Any>| -> Unchecked<'static, One> { handle };
    let _ = |handle: Unchecked<'static, One>| -> Unchecked<'static, Any> { handle };
    let _ = |handle: UncheckedHandle<Any>| -> UncheckedHandle<One> { handle };
    let _ = |handle: UncheckedHandle<One>| -> UncheckedHandle<Any> { handle };
    let _ = |handle: Read<'static, Any>| -> Read<'static, One> { handle };
    let _ = |handle: Read<'static, One>| -> Read<'static, Any> { handle };
    let _ = |handle: ReadAll<'static, Any>| -> ReadAll<'static, One> { handle };
    let _ = |handle: ReadAll<'static, One>| -> ReadAll<'static, Any> { handle };
    let _ = |handle: Read<'static, u8, Handle<Any>>| -> Read<'static, u8, Handle<One>> { handle };
    let _ = |handle: Read<'static, u8, Handle<One>>| -> Read<'static, u8, Handle<Any>> { handle };
    let _ = |handle: ReadAll<'static, u8, Handle<Any>>| -> ReadAll<'static, u8, Handle<One>> { handle };
    let _ = |handle: ReadAll<'static, u8, Handle<One>>| -> ReadAll<'static, u8, Handle<Any>> { handle };
    let _ = |handle: CheckedReadAll<'static, u8, Handle<Any>>| -> CheckedReadAll<'static, u8, Handle<One>> { handle };
    let _ = |handle: CheckedReadAll<'static, u8, Handle<One>>| -> CheckedReadAll<'static, u8, Handle<Any>> { handle };
    let _ = |handle: CheckedAll<'static, u8, Handle<Any>>| -> CheckedAll<'static, u8, Handle<One>> { handle };
    let _ = |handle: CheckedAll<'static, u8, Handle<One>>| -> CheckedAll<'static, u8, Handle<Any>> { handle };
    let _ = |handle: Held<'static, Any>| -> Held<'static, One> { handle };
    let _ = |handle: Held<'static, One>| -> Held<'static, Any> { handle };
    let _ = |handle: Poisoned<'static, Any>| -> Poisoned<'static, One> { handle };
    let _ = |handle: Poisoned<'static, One>| -> Poisoned<'static, Any> { handle };
    let _ = |handle: Members<'static, Any>| -> Members<'static, One> { handle };
    let _ = |handle: Members<'static, One>| -> Members<'static, Any> { handle };
    let _ = |handle: Members<'static, u8, Handle<Any>>| -> Members<'static, u8, Handle<One>> { handle };
    let _ = |handle: Members<'static, u8, Handle<One>>| -> Members<'static, u8, Handle<Any>> { handle };
    let _ = |handle: ReadMembers<'static, Any>| -> ReadMembers<'static, One> { handle };
    let _ = |handle: ReadMembers<'static, One>| -> ReadMembers<'static, Any> { handle };
    let _ = |handle: ReadMembers<'static, u8, Handle<Any>>| -> ReadMembers<'static, u8, Handle<One>> { handle };
    let _ = |handle: ReadMembers<'static, u8, Handle<One>>| -> ReadMembers<'static, u8, Handle<Any>> { handle };
    let _ = |handle: CheckedMembers<'static, Any>| -> CheckedMembers<'static, One> { handle };
    let _ = |handle: CheckedMembers<'static, One>| -> CheckedMembers<'static, Any> { handle };
    let _ = |handle: CheckedMembers<'static, u8, Handle<Any>>| -> CheckedMembers<'static, u8, Handle<One>> { handle };
    let _ = |handle: CheckedMembers<'static, u8, Handle<One>>| -> CheckedMembers<'static, u8, Handle<Any>> { handle };
    let _ = |handle: CheckedReadMembers<'static, u8, Handle<Any>>| -> CheckedReadMembers<'static, u8, Handle<One>> { handle };
    let _ = |handle: CheckedReadMembers<'static, u8, Handle<One>>| -> CheckedReadMembers<'static, u8, Handle<Any>> { handle };
    let _ = |handle: MembersIter<'static, u8, Handle<Any>>| -> MembersIter<'static, u8, Handle<One>> { handle };
    let _ = |handle: MembersIter<'static, u8, Handle<One>>| -> MembersIter<'static, u8, Handle<Any>> { handle };
    let _ = |handle: MembersIterMut<'static, u8, Handle<Any>>| -> MembersIterMut<'static, u8, Handle<One>> { handle };
    let _ = |handle: MembersIterMut<'static, u8, Handle<One>>| -> MembersIterMut<'static, u8, Handle<Any>> { handle };
    let _ = |handle: Promise<Any>| -> Promise<One> { handle };
    let _ = |handle: Promise<One>| -> Promise<Any> { handle };
    let _ = |handle: Answer<Any>| -> Answer<One> { handle };
    let _ = |handle: Answer<One>| -> Answer<Any> { handle };
    let _ = |handle: Resolver<Any>| -> Resolver<One> { handle };
    let _ = |handle: Resolver<One>| -> Resolver<Any> { handle };

    let _ = |handle: Addr<Of<Any>>| -> Addr<Of<One>> { handle };
    let _ = |handle: Addr<Of<One>>| -> Addr<Of<Any>> { handle };
    let _ = |handle: WeakAddr<Of<Any>>| -> WeakAddr<Of<One>> { handle };
    let _ = |handle: WeakAddr<Of<One>>| -> WeakAddr<Of<Any>> { handle };
    let _ = |handle: Recipient<Of<Any>>| -> Recipient<Of<One>> { handle };
    let _ = |handle: Recipient<Of<One>>| -> Recipient<Of<Any>> { handle };
    let _ = |handle: Reply<Any>| -> Reply<One> { handle };
    let _ = |handle: Reply<One>| -> Reply<Any> { handle };
    let _ = |handle: Ask<Any>| -> Ask<One> { handle };
    let _ = |handle: Ask<One>| -> Ask<Any> { handle };
    let _ = |handle: StashFull<Of<Any>>| -> StashFull<Of<One>> { handle };
    let _ = |handle: StashFull<Of<One>>| -> StashFull<Of<Any>> { handle };
    let _ = |handle: Context<Of<Any>>| -> Context<Of<One>> { handle };
    let _ = |handle: Context<Of<One>>| -> Context<Of<Any>> { handle };
    let _ = |handle: Spawn<Of<Any>>| -> Spawn<Of<One>> { handle };
    let _ = |handle: Spawn<Of<One>>| -> Spawn<Of<Any>> { handle };
    let _ = |handle: Child<Of<Any>>| -> Child<Of<One>> { handle };
    let _ = |handle: Child<Of<One>>| -> Child<Of<Any>> { handle };
    let _ = |handle: Request<Any, Any>| -> Request<One, One> { handle };
    let _ = |handle: Request<One, One>| -> Request<Any, Any> { handle };
    let _ = |handle: WaitFor<Of<Any>>| -> WaitFor<Of<One>> { handle };
    let _ = |handle: WaitFor<Of<One>>| -> WaitFor<Of<Any>> { handle };
    let _ = |handle: Router<Of<Any>>| -> Router<Of<One>> { handle };
    let _ = |handle: Router<Of<One>>| -> Router<Of<Any>> { handle };
    let _ = |handle: FirstAnswer<Any>| -> FirstAnswer<One> { handle };
    let _ = |handle: FirstAnswer<One>| -> FirstAnswer<Any> { handle };
    let _ = |handle: Pool<Of<Any>>| -> Pool<Of<One>> { handle };
    let _ = |handle: Pool<Of<One>>| -> Pool<Of<Any>> { handle };
    let _ = |handle: PoolBuilder<Of<Any>>| -> PoolBuilder<Of<One>> { handle };
    let _ = |handle: PoolBuilder<Of<One>>| -> PoolBuilder<Of<Any>> { handle };
    let _ = |handle: Topic<Any>| -> Topic<One> { handle };
    let _ = |handle: Topic<One>| -> Topic<Any> { handle };
    let _ = |handle: TopicTree<Any>| -> TopicTree<One> { handle };
    let _ = |handle: TopicTree<One>| -> TopicTree<Any> { handle };
    let _ = |handle: ActorStream<Any>| -> ActorStream<One> { handle };
    let _ = |handle: ActorStream<One>| -> ActorStream<Any> { handle };
    let _ = |handle: Demand<Any>| -> Demand<One> { handle };
    let _ = |handle: Demand<One>| -> Demand<Any> { handle };
    let _ = |handle: Feed<'static, Of<Any>, ()>| -> Feed<'static, Of<One>, ()> { handle };
    let _ = |handle: Feed<'static, Of<One>, ()>| -> Feed<'static, Of<Any>, ()> { handle };
}
