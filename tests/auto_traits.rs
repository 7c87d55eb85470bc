//! Which public types are `Send`, `Sync` and `Unpin`, and which are covariant: part of the
//! interface, and easily lost. Those that must be invariant: `ui/handles_are_invariant.rs`.

use std::borrow::{Borrow, BorrowMut};
use std::cell::Cell;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use coact::WeakCown;
use coact::actor::{AnyAddr, Shared, WeakAddr};
use coact::behaviour::{Answer, Batch, Overlap, Refusal, Scope, WhenError};
use coact::cown::{
    Checked, CheckedMembers, CheckedReadMembers, CownId, Held, Members, Poisoned, PoisonedRead,
    Read, ReadAll, ReadMembers,
};
use coact::credits::{Credits, Permit};
use coact::prelude::*;
use coact::promise::Resolver;
use coact::pubsub::{Subscription, Topic, TopicTree};
use coact::registry::{LookupError, NameTaken, Registry, Uid};
use coact::routing::{FirstAnswer, NoAnswer, Pool, RouteError, Router};
use coact::runtime::{BuildError, Builder, EnterGuard, Fault, Pump, RuntimeHandle, ShutdownReport};
use coact::stream::{ActorStream, Demand};
use coact::system::{Host, System};
use coact::time::Timer;

/// Answers at compile time whether a type has a trait: the first of the two `VALUE`s is that of a
/// type with the trait; for all others the second is found.
macro_rules! has {
    ($type:ty: $trait:path) => {{
        struct Probe<T: ?Sized>(std::marker::PhantomData<T>);
        #[allow(dead_code)]
        trait Otherwise {
            const VALUE: bool = false;
        }
        impl<T: ?Sized> Otherwise for Probe<T> {}
        #[allow(dead_code)]
        impl<T: ?Sized + $trait> Probe<T> {
            const VALUE: bool = true;
        }
        <Probe<$type>>::VALUE
    }};
}

/// One line of the table: a type, and whether it is `Send`, `Sync` and `Unpin`.
macro_rules! table {
    ($($type:ty: $send:literal $sync:literal $unpin:literal;)*) => {
        $(assert_eq!(
            (has!($type: Send), has!($type: Sync), has!($type: Unpin)),
            ($send == "Send", $sync == "Sync", $unpin == "Unpin"),
            "Send, Sync and Unpin of {}", stringify!($type)
        );)*
    };
}

/// `Send`, and not `Sync`.
type NoSync = Cell<u8>;
/// An actor whose state cannot be shared.
#[allow(dead_code)]
struct Idle(NoSync);

impl Actor for Idle {}

/// A message that cannot be shared.
#[allow(dead_code)]
struct Quiet(NoSync);

impl Message for Quiet {
    type Reply = NoSync;
}

/// `Sync`, and not `Send`.
type NoSend = std::sync::MutexGuard<'static, u8>;

/// An actor that stays on one thread.
struct Local(#[allow(dead_code)] Rc<u8>);
impl Actor for Local {}

#[test]
fn the_probe_tells_the_truth() {
    assert!(has!(u8: Send) && !has!(Rc<u8>: Send));
    assert!(has!(NoSync: Send) && !has!(NoSync: Sync));
    assert!(!has!(NoSend: Send) && has!(NoSend: Sync));
}

/// The traits that give access to a value: a field or method that does is looked for in
/// `ui/a3_*.rs`.
macro_rules! ways_to {
    ($state:ty, of $handle:ty) => {
        [
            has!($handle: Deref),
            has!($handle: DerefMut),
            has!($handle: AsRef<$state>),
            has!($handle: AsMut<$state>),
            has!($handle: Borrow<$state>),
            has!($handle: BorrowMut<$state>),
            has!($handle: Into<$state>),
        ]
    };
}

#[test]
fn a3_outside_of_behaviours_no_handle_leads_to_the_state() {
    struct State;
    impl Actor for State {}
    assert_eq!(ways_to!(State, of Box<State>), [true, true, true, true, true, true, false]);
    assert_eq!(ways_to!(State, of Cown<State>), [false; 7]);
    assert_eq!(ways_to!(State, of WeakCown<State>), [false; 7]);
    assert_eq!(ways_to!(State, of Addr<State>), [false; 7]);
    assert_eq!(ways_to!(State, of WeakAddr<State>), [false; 7]);
    assert_eq!(ways_to!(State, of Read<'static, State>), [false; 7]);
    assert_eq!(ways_to!(State, of Checked<'static, State>), [false; 7]);
}

#[test]
fn auto_traits() {
    table! {
        // Handles give no access to the state: whatever it is, they go everywhere.
        Cown<u8>: "Send" "Sync" "Unpin";
        Cown<NoSync>: "Send" "Sync" "Unpin";
        WeakCown<u8>: "Send" "Sync" "Unpin";
        WeakCown<NoSync>: "Send" "Sync" "Unpin";
        coact::internals::LastHandleCheck<NoSync>: "Send" "Sync" "Unpin";
        CownId: "Send" "Sync" "Unpin";

        // Hosts: a pump stays on its thread.
        Pump: "" "" "Unpin";
        RuntimeHandle: "Send" "Sync" "Unpin";
        Host: "Send" "Sync" "Unpin";
        System: "Send" "Sync" "Unpin";
        coact::system::SystemBuilder: "Send" "Sync" "Unpin";
        coact::system::SystemReport: "Send" "Sync" "Unpin";
        coact::runtime::Busy: "Send" "Sync" "Unpin";
        coact::runtime::OnCancel: "Send" "Sync" "Unpin";

        // Addresses of actors go everywhere, and what is thread-bound is checked where it arrives.
        Addr<Local>: "Send" "Sync" "Unpin";
        WeakAddr<Local>: "Send" "Sync" "Unpin";
        Recipient<Quiet>: "Send" "Sync" "Unpin";
        coact::actor::WeakRecipient<Quiet>: "Send" "Sync" "Unpin";
        AnyAddr: "Send" "Sync" "Unpin";
        coact::actor::Spawn<Local>: "Send" "-" "Unpin";
        coact::internals::ThreadBound<Rc<u8>>: "Send" "-" "Unpin";
        coact::internals::ThreadBound<NoSync>: "Send" "-" "Unpin";
        coact::internals::ThreadBound<NoSend>: "Send" "Sync" "Unpin";

        // Sets, which borrow handles.
        Read<'static, u8>: "Send" "Sync" "Unpin";
        Checked<'static, NoSync>: "Send" "Sync" "Unpin";
        ReadAll<'static, u8>: "Send" "Sync" "Unpin";
        coact::cown::CheckedRead<'static, u8>: "Send" "Sync" "Unpin";
        coact::cown::CheckedAll<'static, NoSync>: "Send" "Sync" "Unpin";
        coact::cown::CheckedReadAll<'static, u8>: "Send" "Sync" "Unpin";
        coact::internals::Unchecked<'static, NoSync>: "Send" "Sync" "Unpin";
        coact::internals::UncheckedHandle<NoSync>: "Send" "Sync" "Unpin";

        // Access: as the references that they stand for.
        Members<'static, u8>: "Send" "Sync" "Unpin";
        Members<'static, NoSync>: "Send" "-" "Unpin";
        ReadMembers<'static, u8>: "Send" "Sync" "Unpin";
        ReadMembers<'static, NoSync>: "-" "-" "Unpin";
        coact::cown::MembersIter<'static, u8, Cown<u8>>: "Send" "Sync" "Unpin";
        coact::cown::MembersIter<'static, NoSync, Cown<NoSync>>: "-" "-" "Unpin";
        coact::cown::MembersIter<'static, u8, Peephole>: "-" "-" "Unpin";
        coact::cown::MembersIterMut<'static, u8, Cown<u8>>: "Send" "-" "Unpin";
        coact::cown::MembersIterMut<'static, NoSync, Cown<NoSync>>: "Send" "-" "Unpin";
        CheckedMembers<'static, u8>: "Send" "Sync" "Unpin";
        CheckedMembers<'static, NoSync>: "Send" "-" "Unpin";
        CheckedMembers<'static, u8, Peephole>: "Send" "-" "Unpin";
        CheckedReadMembers<'static, u8>: "Send" "Sync" "Unpin";
        CheckedReadMembers<'static, NoSync>: "-" "-" "Unpin";
        PoisonedRead<'static, u8>: "Send" "Sync" "Unpin";
        PoisonedRead<'static, NoSync>: "-" "-" "Unpin";
        Held<'static, u8>: "Send" "Sync" "Unpin";
        Held<'static, NoSync>: "Send" "-" "Unpin";
        Poisoned<'static, u8>: "Send" "Sync" "Unpin";
        Poisoned<'static, NoSync>: "Send" "-" "Unpin";
        Poisoned<'static, NoSend>: "-" "Sync" "Unpin";

        // Values move through promises once.
        Promise<u8>: "Send" "Sync" "Unpin";
        Promise<NoSync>: "Send" "Sync" "Unpin";
        Answer<u8>: "Send" "Sync" "Unpin";
        Answer<NoSync>: "Send" "-" "Unpin";
        Resolver<u8>: "Send" "Sync" "Unpin";
        Resolver<NoSync>: "Send" "Sync" "Unpin";
        Reply<NoSync>: "Send" "Sync" "Unpin";
        Ask<NoSync>: "Send" "Sync" "Unpin";
        coact::supervise::Request<NoSync, NoSync>: "Send" "Sync" "Unpin";
        ActorStream<NoSync>: "Send" "-" "Unpin";
        Demand<NoSync>: "Send" "Sync" "Unpin";

        // Ways of spawning.
        Batch: "Send" "-" "Unpin";
        Scope<'static, 'static>: "Send" "Sync" "Unpin";
        Timer: "Send" "Sync" "Unpin";
        Credits: "Send" "Sync" "Unpin";
        Permit: "Send" "Sync" "Unpin";

        // Runtimes. A guard concerns the thread that has entered.
        Runtime: "Send" "Sync" "Unpin";
        Builder: "Send" "Sync" "Unpin";
        EnterGuard<'static>: "-" "-" "Unpin";
        coact::runtime::Within<std::future::Ready<NoSync>>: "Send" "-" "Unpin";
        ShutdownReport: "Send" "Sync" "Unpin";

        // Actors in groups. What is only passed on need not be shared.
        Addr<Idle>: "Send" "Sync" "Unpin";
        Router<Quiet>: "Send" "Sync" "Unpin";
        Pool<Idle>: "Send" "Sync" "Unpin";
        FirstAnswer<NoSync>: "Send" "Sync" "Unpin";
        Topic<NoSync>: "Send" "Sync" "Unpin";
        TopicTree<NoSync>: "Send" "Sync" "Unpin";
        Subscription: "Send" "Sync" "Unpin";
        Registry: "Send" "Sync" "Unpin";
        coact::pubsub::Events: "Send" "Sync" "Unpin";
        coact::registry::WaitFor<Idle>: "Send" "Sync" "Unpin";
        Uid: "Send" "Sync" "Unpin";

        // Errors.
        RouteError<NoSync>: "Send" "-" "Unpin";
        NameTaken: "Send" "Sync" "Unpin";
        BuildError: "Send" "Sync" "Unpin";
        Broken: "Send" "Sync" "Unpin";
        Fault: "Send" "Sync" "Unpin";
        Overlap: "Send" "Sync" "Unpin";
        Refusal: "Send" "Sync" "Unpin";
        WhenError<u8>: "Send" "Sync" "Unpin";
        WhenError<Rc<u8>>: "-" "-" "Unpin";
    }
}

/// Errors work with `?` and `Box<dyn Error>`.
#[test]
fn errors_are_errors() {
    fn is_error<E: std::error::Error + Send + Sync + 'static>() {}
    is_error::<BuildError>();
    is_error::<coact::system::SystemError>();
    is_error::<coact::system::UnknownDispatcher>();
    is_error::<Broken>();
    is_error::<Overlap>();
    is_error::<LookupError>();
    is_error::<NameTaken<fn()>>();
    is_error::<coact::registry::RegisterError>();
    is_error::<coact::registry::BadUid>();
    is_error::<RouteError<fn()>>();
    is_error::<NoAnswer>();
    is_error::<coact::actor::AskCycle>();
    is_error::<coact::pubsub::BadPattern>();
    is_error::<Refusal>();
    is_error::<WhenError<fn()>>();
}

/// A handle that shows a part that can be shared of a state that cannot.
#[derive(Clone)]
struct Peephole(Cown<(NoSync, u8)>);

impl coact::internals::SealedHandle for Peephole {}

impl coact::cown::AsCown for Peephole {
    type State = (NoSync, u8);
    type View = u8;

    fn as_cown(&self) -> &Cown<(NoSync, u8)> {
        &self.0
    }

    fn view(state: &(NoSync, u8)) -> &u8 {
        // What a view does to the state, it does on the thread that looks.
        state.0.set(state.1);
        &state.1
    }

    fn view_mut(state: &mut (NoSync, u8)) -> &mut u8 {
        &mut state.1
    }
}

#[test]
fn views_are_made_where_the_state_may_be_looked_at() {
    table! {
        coact::cown::Members<'static, u8, Peephole>: "Send" "-" "Unpin";
        coact::cown::Members<'static, u8, Cown<u8>>: "Send" "Sync" "Unpin";
        coact::cown::Members<'static, NoSync, Cown<NoSync>>: "Send" "-" "Unpin";
    }
}

/// A panic in a behaviour poisons the state: no handle shows what one has left behind.
#[test]
fn handles_cross_a_catch() {
    fn crosses<T: std::panic::UnwindSafe + std::panic::RefUnwindSafe>() {}
    crosses::<Cown<Cell<u8>>>();
    crosses::<WeakCown<Cell<u8>>>();
}

/// What only owns or gives is as variant as a box or a reference.
#[test]
fn values_are_covariant() {
    type Any = for<'a> fn(&'a str);
    type One = fn(&'static str);
    macro_rules! covariant {
        ($($general:ty => $special:ty;)*) => {
            $(let _ = |value: $general| -> $special { value };)*
        };
    }
    covariant! {
        coact::internals::ThreadBound<Any> => coact::internals::ThreadBound<One>;
        Shared<Any> => Shared<One>;
        SendError<Any> => SendError<One>;
        RouteError<Any> => RouteError<One>;
        NameTaken<Any> => NameTaken<One>;
        WhenError<Any> => WhenError<One>;
        coact::stream::PushError<Any> => coact::stream::PushError<One>;
    }

    macro_rules! shorter {
        ($($name:ident: $access:ident;)*) => {
            $(#[allow(dead_code)]
            fn $name<'a>(of: $access<'static, u8>) -> $access<'a, u8> {
                of
            })*
        };
    }
    shorter! {
        read: Read;
        checked: Checked;
        read_all: ReadAll;
        held: Held;
        members: Members;
        read_members: ReadMembers;
    }
}
