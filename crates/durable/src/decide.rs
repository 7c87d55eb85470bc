//! How entities decide on commands.

use coact_actor::actor::Message;
use coact_core::internals::ConfirmedQuestion;
use coact_persist::NoteKey;

use crate::durable::Durable;
use crate::event_sourced::EventSourced;

/// How an entity decides on a command: the handler of a durable actor.
///
/// It reads the state, [persists](Durable::persist) what is to happen, and answers. The answer, and
/// what it [sends](Durable::send), leave once that is stored. A plain function, which can be tested
/// without a runtime and a store:
///
/// ```
/// # use coact::durable::{EntityId, EventSourced, stored};
/// # #[derive(Default)]
/// # struct Account { balance: u64 }
/// # #[stored(name = "bank.account-event")]
/// # #[derive(PartialEq, Debug)]
/// # enum AccountEvent {
/// #     #[n(0)] Deposited(#[n(0)] u64),
/// #     #[n(1)] Withdrawn(#[n(0)] u64),
/// # }
/// # impl EventSourced for Account {
/// #     const KIND: &'static str = "bank.account";
/// #     type Event = AccountEvent;
/// #     fn new(_: &EntityId) -> Self { Self::default() }
/// #     fn apply(&mut self, event: &AccountEvent) {
/// #         match event {
/// #             AccountEvent::Deposited(amount) => self.balance += amount,
/// #             AccountEvent::Withdrawn(amount) => self.balance -= amount,
/// #         }
/// #     }
/// # }
/// use coact::Message;
/// use coact::durable::{Decide, Durable};
///
/// #[derive(Message)]
/// #[message(reply = Result<u64, &'static str>)]
/// struct Withdraw(u64);
///
/// impl Decide<Withdraw> for Account {
///     fn decide(
///         account: &mut Durable<Self>,
///         Withdraw(amount): Withdraw,
///     ) -> Result<u64, &'static str> {
///         if account.balance < amount {
///             return Err("overdrawn");
///         }
///         account.persist(AccountEvent::Withdrawn(amount));
///         Ok(account.balance)
///     }
/// }
///
/// let mut account = Durable::standalone(Account { balance: 100 });
/// assert_eq!(Account::decide(&mut account, Withdraw(30)), Ok(70));
/// assert_eq!(Account::decide(&mut account, Withdraw(80)), Err("overdrawn"));
/// assert_eq!(account.persisted(), [AccountEvent::Withdrawn(30)]);
/// ```
///
/// **Panics** fail the actor, as those of other handlers do: nothing of the decision is stored, and
/// the entity is recovered.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not decide on `{C}`",
    label = "`{C}` is no command of this entity",
    note = "write `impl Decide<{C}> for {Self}`"
)]
pub trait Decide<C: Message>: EventSourced {
    /// Decides on a command.
    fn decide(entity: &mut Durable<Self>, command: C) -> C::Reply;

    /// What is to be looked up in the store before.
    #[doc(hidden)]
    fn lookup(_: &C) -> Option<AnswerLookup> {
        None
    }
}

impl<E: Decide<C>, C: Message> Decide<ConfirmedQuestion<C>> for E {
    fn decide(entity: &mut Durable<Self>, command: ConfirmedQuestion<C>) -> C::Reply {
        entity.confirm();
        E::decide(entity, command.into_question())
    }

    fn lookup(command: &ConfirmedQuestion<C>) -> Option<AnswerLookup> {
        E::lookup(command.question())
    }
}

/// The key of an answer that may have been given before.
#[doc(hidden)]
#[derive(Debug)]
pub struct AnswerLookup {
    pub(crate) key: NoteKey,
    /// Whether these bytes are an answer to the command.
    pub(crate) is_answer: fn(&[u8]) -> bool,
}
