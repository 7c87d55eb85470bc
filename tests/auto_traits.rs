//! Which public types are `Send`, `Sync` and `Unpin`: part of the interface, and easily lost.

use std::cell::Cell;
use std::rc::Rc;

use coact::prelude::*;

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

#[test]
fn auto_traits() {
    table! {
        // Handles give no access to the state: whatever it is, they go everywhere.
        Cown<u8>: "Send" "Sync" "Unpin";
        Cown<NoSync>: "Send" "Sync" "Unpin";
        WeakCown<u8>: "Send" "Sync" "Unpin";
        WeakCown<NoSync>: "Send" "Sync" "Unpin";
        CownId: "Send" "Sync" "Unpin";

        // Hosts: a pump stays on its thread.
        Pump: "" "" "Unpin";
        PumpHandle: "Send" "Sync" "Unpin";
        Home: "Send" "Sync" "Unpin";
        Host: "Send" "Sync" "Unpin";
        Spread: "Send" "Sync" "Unpin";
        System: "Send" "Sync" "Unpin";
        coact::SystemBuilder: "Send" "Sync" "Unpin";
        coact::SystemReport: "Send" "Sync" "Unpin";
        coact::Busy: "Send" "Sync" "Unpin";
        coact::OnCancel: "Send" "Sync" "Unpin";

        // Addresses of actors go everywhere, and what is anchored is checked where it arrives.
        Addr<Local>: "Send" "Sync" "Unpin";
        WeakAddr<Local>: "Send" "Sync" "Unpin";
        AnyAddr: "Send" "Sync" "Unpin";
        coact::Spawn<Local>: "Send" "-" "Unpin";
        coact::Anchored<Rc<u8>>: "Send" "-" "Unpin";
        coact::Anchored<NoSync>: "Send" "-" "Unpin";
        coact::Anchored<NoSend>: "Send" "Sync" "Unpin";

        // Sets, which borrow handles.
        Read<'static, u8>: "Send" "Sync" "Unpin";
        Checked<'static, NoSync>: "Send" "Sync" "Unpin";
        ReadAll<'static, u8>: "Send" "Sync" "Unpin";

        // Access: as the references that they stand for.
        Members<'static, u8>: "Send" "Sync" "Unpin";
        Members<'static, NoSync>: "Send" "-" "Unpin";
        ReadMembers<'static, u8>: "Send" "Sync" "Unpin";
        ReadMembers<'static, NoSync>: "-" "-" "Unpin";
        Poisoned<'static, u8>: "Send" "Sync" "Unpin";
        Poisoned<'static, NoSync>: "Send" "-" "Unpin";
        Poisoned<'static, NoSend>: "-" "Sync" "Unpin";

        // Values move through promises once.
        Promise<u8>: "Send" "Sync" "Unpin";
        Promise<NoSync>: "Send" "Sync" "Unpin";
        Resolver<u8>: "Send" "Sync" "Unpin";
        Resolver<NoSync>: "Send" "Sync" "Unpin";

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
        ShutdownReport: "Send" "Sync" "Unpin";

        // Actors in groups. What is only passed on need not be shared.
        Addr<Idle>: "Send" "Sync" "Unpin";
        Router<Quiet>: "Send" "Sync" "Unpin";
        Pool<Idle>: "Send" "Sync" "Unpin";
        Scatter<NoSync>: "Send" "Sync" "Unpin";
        Topic<NoSync>: "Send" "Sync" "Unpin";
        TopicTree<NoSync>: "Send" "Sync" "Unpin";
        Subscription: "Send" "Sync" "Unpin";
        Registry: "Send" "Sync" "Unpin";
        coact::Events: "Send" "Sync" "Unpin";
        coact::Whereis<Idle>: "Send" "Sync" "Unpin";
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
    is_error::<coact::SystemError>();
    is_error::<coact::UnknownDispatcher>();
    is_error::<Broken>();
    is_error::<Overlap>();
    is_error::<LookupError>();
    is_error::<NameTaken<fn()>>();
    is_error::<coact::RegisterError>();
    is_error::<coact::BadUid>();
    is_error::<RouteError<fn()>>();
    is_error::<NoAnswer>();
    is_error::<coact::BadPattern>();
    is_error::<Refusal>();
    is_error::<WhenError<fn()>>();
}

/// A handle that shows a part that can be shared of a state that cannot.
#[derive(Clone)]
struct Peephole(Cown<(NoSync, u8)>);

impl coact::AsCown for Peephole {
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
        coact::Members<'static, u8, Peephole>: "Send" "-" "Unpin";
        coact::Members<'static, u8, Cown<u8>>: "Send" "Sync" "Unpin";
        coact::Members<'static, NoSync, Cown<NoSync>>: "Send" "-" "Unpin";
    }
}
