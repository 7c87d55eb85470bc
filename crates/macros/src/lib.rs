//! Macros that generate the boilerplate of actors and messages. Use them through the crate `coact`.
//!
//! * [`macro@handlers`] turns methods of an actor into messages; each method handles its message.
//! * [`derive@Actor`], [`derive@Message`] and [`derive@Element`] generate implementations that are
//!   empty, or contain only the reply.
//! * [`macro@stored`] makes a type one whose values are stored.
//! * [`macro@cases`] writes a partial function over tuples.
//!
//! ```
//! use coact::prelude::*;
//!
//! #[derive(Actor, Default)]
//! struct Account {
//!     balance: i64,
//! }
//!
//! #[handlers(api = AccountApi)]
//! impl Account {
//!     /// Puts money in, and gives the new balance.
//!     #[message]
//!     fn deposit(&mut self, amount: i64) -> i64 {
//!         self.balance += amount;
//!         self.balance
//!     }
//! }
//!
//! let account = spawn(Account::default());
//! account.send(Deposit { amount: 5 })?;
//! assert_eq!(account.deposit(7).wait()?, 12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The generated code can be written by hand and mixed with hand-written code: the macros add no
//! mechanism.
//!
//! **Cost.** None at run time. At build time, the cost of the generated code: an actor with a
//! hundred messages, each sent and asked, takes 3.1 s in a debug build, with the macros or without
//! them, and 14 s in an optimised build with link-time optimisation. The macros themselves take
//! 0.03 s.

#![forbid(unsafe_code)]

mod cases;
mod derive;
mod errors;
mod handlers;
mod options;
mod stored;

use proc_macro::TokenStream;
use syn::Error;

/// Makes a type an actor whose hooks do nothing: `impl Actor for Type {}`.
///
/// Type parameters get the bounds `Send + 'static`, which every part of an actor must satisfy.
/// `#[actor(crate = path)]` gives the path of the crate `coact` if it has another name.
///
/// ```
/// use coact::prelude::*;
///
/// #[derive(Actor)]
/// struct Shelf<T> {
///     books: Vec<T>,
/// }
///
/// let shelf = spawn(Shelf { books: vec!["one", "two"] });
/// assert_eq!(call(&shelf, |shelf| shelf.books.len()).wait(), Ok(2));
/// ```
#[proc_macro_derive(Actor, attributes(actor))]
pub fn derive_actor(input: TokenStream) -> TokenStream {
    derive::actor(input.into()).unwrap_or_else(Error::into_compile_error).into()
}

/// Makes a type a message. `#[message(reply = Type)]` sets the type of the reply; the default is
/// `()`.
///
/// Type parameters get the bounds `Send + 'static`, which every part of a message must satisfy.
/// `#[message(crate = path)]` gives the path of the crate `coact` if it has another name.
///
/// ```
/// use coact::prelude::*;
/// use coact::Context;
///
/// #[derive(Message)]
/// #[message(reply = Option<T>)]
/// enum Take<T> {
///     First,
///     Last,
///     Equal(T),
/// }
///
/// #[derive(Actor)]
/// struct Shelf(Vec<u32>);
///
/// impl Handler<Take<u32>> for Shelf {
///     fn handle(&mut self, take: Take<u32>, _: &mut Context<Self>) -> Option<u32> {
///         let place = match take {
///             Take::First => 0,
///             Take::Last => self.0.len().checked_sub(1)?,
///             Take::Equal(book) => self.0.iter().position(|&found| found == book)?,
///         };
///         (place < self.0.len()).then(|| self.0.remove(place))
///     }
/// }
///
/// let shelf = spawn(Shelf(vec![1, 2, 3]));
/// assert_eq!(shelf.ask(Take::Equal(2)).wait(), Ok(Some(2)));
/// assert_eq!(shelf.ask(Take::Last).wait(), Ok(Some(3)));
/// ```
#[proc_macro_derive(Message, attributes(message))]
pub fn derive_message(input: TokenStream) -> TokenStream {
    derive::message(input.into()).unwrap_or_else(Error::into_compile_error).into()
}

/// Makes a type an element of tuples, those of dynamically typed messages. It must be `Clone`,
/// `Debug`, `Send`, `Sync` and own its values.
///
/// Type parameters get these bounds. `#[element(crate = path)]` gives the path of the crate `coact`
/// if it has another name.
///
/// ```
/// use coact::dynamic::{AnyTuple, Element, atom};
///
/// #[derive(Clone, Debug, Element)]
/// struct Point<T> { x: T, y: T }
///
/// let moved = AnyTuple::new((atom!("move"), Point { x: 1, y: 2 }));
/// assert_eq!(moved.get::<Point<i32>>(1).map(|point| point.x + point.y), Some(3));
/// ```
#[proc_macro_derive(Element, attributes(element))]
pub fn derive_element(input: TokenStream) -> TokenStream {
    derive::element(input.into()).unwrap_or_else(Error::into_compile_error).into()
}

/// Turns the methods of an actor that are marked `#[message]` into messages.
///
/// The parameters of the method become the fields of a struct named after it, its return value
/// becomes the reply, and its body handles the message:
///
/// ```
/// use coact::prelude::*;
/// use coact::Context;
///
/// #[derive(Actor, Default)]
/// struct Account {
///     balance: i64,
/// }
///
/// #[handlers]
/// impl Account {
///     #[message]
///     fn deposit(&mut self, amount: i64) -> i64 {
///         self.balance += amount;
///         self.balance
///     }
///
///     #[message]
///     fn close(&mut self, context: &mut Context<Self>) {
///         context.stop();
///     }
///
///     /// Not marked: an ordinary method.
///     fn is_empty(&self) -> bool {
///         self.balance == 0
///     }
/// }
///
/// let account = spawn(Account::default());
/// assert_eq!(account.ask(Deposit { amount: 5 }).wait(), Ok(5));
/// account.send(Close).expect("it lives");
/// assert_eq!(account.ended().wait(), Ok(ExitReason::Normal));
/// ```
///
/// is short for the method and
///
/// ```
/// # use coact::prelude::*;
/// # use coact::Context;
/// # #[derive(Actor, Default)]
/// # struct Account { balance: i64 }
/// # impl Account {
/// #     fn deposit(&mut self, amount: i64) -> i64 { self.balance += amount; self.balance }
/// # }
/// struct Deposit {
///     amount: i64,
/// }
///
/// impl Message for Deposit {
///     type Reply = i64;
/// }
///
/// impl Handler<Deposit> for Account {
///     fn handle(&mut self, message: Deposit, _: &mut Context<Self>) -> i64 {
///         let Deposit { amount } = message;
///         self.deposit(amount)
///     }
/// }
/// # assert_eq!(spawn(Account::default()).ask(Deposit { amount: 5 }).wait(), Ok(5));
/// ```
///
/// The message is as visible as the method, is declared where the block is, and carries the
/// method's documentation and `#[cfg]`s. Documentation of a parameter goes to the field. A message
/// without fields is a unit struct, such as `Close`.
///
/// # Forms of a method
///
/// | method | the reply |
/// | --- | --- |
/// | `fn(&mut self, ..) -> R`, `fn(&self, ..) -> R` | is the return value |
/// | `fn(&mut self, .., reply: Reply<R>)` | is sent through the `Reply`, at any later time |
/// | `fn(&mut self, ..) -> impl Future<Output = R>` | is the output of the future, which runs *concurrently* with the actor |
/// | `async fn(this: Addr<Self>, ..) -> R` | likewise; the address is the actor's own, and may be omitted or be a `WeakAddr<Self>` |
/// | `async fn(&mut self, ..) -> R` with `#[message(held)]` | is the output of the future, which *holds* the actor |
///
/// A parameter `&mut Context<Self>`, in any position, receives the context (`use coact::Context;`:
/// it is not in the prelude). The two kinds of future differ in what waits:
///
/// * A future that runs concurrently owns what was moved into it and has no access to the actor,
///   which continues with other messages. The macro adds `+ Send + use<..>` to the return type, so
///   a body that borrows from `self` does not compile. (E0700 there means that something in it
///   borrows: clone what it needs, and ignore what the compiler proposes.)
/// * A future that holds the actor may use all of it, and other messages wait meanwhile; hence the
///   explicit `held`. An ask in it whose answer needs this actor in turn fails and reports the
///   cycle (`AskError::Cycle`).
///
/// ```
/// use coact::prelude::*;
///
/// #[derive(Actor, Default)]
/// struct Cache {
///     page: Option<String>,
///     waiting: Vec<Reply<String>>,
/// }
///
/// async fn download(address: String) -> String {
///     format!("what is at {address}")
/// }
///
/// #[handlers]
/// impl Cache {
///     /// Runs concurrently with the actor.
///     #[message]
///     fn fetch(&self, address: String) -> impl Future<Output = String> {
///         let cached = self.page.clone();
///         async move {
///             match cached {
///                 Some(page) => page,
///                 None => download(address).await,
///             }
///         }
///     }
///
///     /// Holds the actor: no other message sees it half filled.
///     #[message(held)]
///     async fn fill(&mut self, address: String) {
///         let page = download(address).await;
///         for reply in self.waiting.drain(..) {
///             reply.send(page.clone());
///         }
///         self.page = Some(page);
///     }
///
///     /// Answered once there is a page.
///     #[message]
///     fn page(&mut self, reply: Reply<String>) {
///         match &self.page {
///             Some(page) => reply.send(page.clone()),
///             None => self.waiting.push(reply),
///         }
///     }
/// }
///
/// let cache = spawn(Cache::default());
/// let page = cache.ask(Page);
/// cache.send(Fill { address: "a".to_owned() }).expect("it lives");
/// assert_eq!(page.wait().as_deref(), Ok("what is at a"));
/// assert_eq!(cache.ask(Fetch { address: "b".to_owned() }).wait().as_deref(), Ok("what is at a"));
/// ```
///
/// # Options
///
/// On the block:
///
/// * `api = Name`, `api = pub Name`: generates a trait that gives the actor's address one method
///   per message, which asks: `account.deposit(5).await`. It contains the messages that are at
///   least as visible as the trait itself (in the order `pub`, `pub(crate)`, other restrictions,
///   none) and must be imported to be used. `api` alone names it `AccountMessages`. The trait is
///   opt-in, so that every importable name is written somewhere and several blocks of one actor do
///   not collide. A method of `Addr` itself, such as `stop`, takes precedence over a message of the
///   same name.
/// * `crate = path`: the path of the crate `coact`, if it has another name.
///
/// On a method:
///
/// * `#[message(name = Name)]`: the message's name.
/// * `#[message(held)]`: see above.
/// * `#[message(derive(Clone, Debug))]`: what the message derives.
///
/// ```
/// use coact::prelude::*;
///
/// mod bank {
///     use coact::prelude::*;
///
///     #[derive(Actor, Default)]
///     pub struct Account(i64);
///
///     #[handlers(api = pub AccountApi)]
///     impl Account {
///         #[message(name = Transfer, derive(Debug))]
///         pub fn deposit(&mut self, amount: i64) -> i64 {
///             self.0 += amount;
///             self.0
///         }
///     }
/// }
///
/// use bank::{Account, AccountApi, Transfer};
///
/// let account = spawn(Account::default());
/// assert_eq!(account.deposit(5).wait(), Ok(5));
/// assert_eq!(format!("{:?}", Transfer { amount: 5 }), "Transfer { amount: 5 }");
/// ```
///
/// # Generic blocks
///
/// A message has those of the block's generic parameters that its fields or its reply name. If only
/// the reply names one, the message has an extra marker field and is created with `new`:
///
/// ```
/// use coact::prelude::*;
///
/// #[derive(Actor)]
/// struct Stack<T>(Vec<T>);
///
/// #[handlers]
/// impl<T: Send + 'static> Stack<T> {
///     #[message]
///     fn push(&mut self, value: T) {
///         self.0.push(value);
///     }
///
///     #[message]
///     fn pop(&mut self) -> Option<T> {
///         self.0.pop()
///     }
///
///     #[message]
///     fn depth(&self) -> usize {
///         self.0.len()
///     }
/// }
///
/// let stack = spawn(Stack(Vec::new()));
/// stack.send(Push { value: 'a' }).expect("it lives");
/// assert_eq!(stack.ask(Depth).wait(), Ok(1));
/// assert_eq!(stack.ask(Pop::new()).wait(), Ok(Some('a')));
/// ```
///
/// # Errors
///
/// A method that cannot be a message does not compile, and the error says what to write instead.
/// This covers generic methods, patterns as parameters, borrowed parameters and replies, and an
/// `async fn` that would hold the actor without `held`.
#[proc_macro_attribute]
pub fn handlers(options: TokenStream, block: TokenStream) -> TokenStream {
    handlers::expand(options.into(), block.into()).into()
}

/// Marks a method as a message, in a block under [`macro@handlers`], which has the documentation.
///
/// Using it anywhere else is an error.
#[proc_macro_attribute]
pub fn message(_options: TokenStream, item: TokenStream) -> TokenStream {
    let text = "`#[message]` marks a method of an `impl` block under `#[handlers]`; on a type it \
        goes below `#[derive(Message)]`";
    let error = Error::new(proc_macro2::Span::call_site(), text).into_compile_error();
    TokenStream::from_iter([error.into(), item])
}

/// Makes a type one whose values are stored: events, snapshots, and what they consist of.
///
/// It derives the encoding (`Encode` and `Decode` of minicbor) and implements
/// `Format`. Fields and variants have numbers, which are what is stored: they never change, while
/// names may.
///
/// ```
/// use coact::durable::{FormatError, stored};
/// use coact::durable::store::{read, write};
///
/// #[stored(name = "bank.account-event")]
/// #[derive(Debug, PartialEq)]
/// enum AccountEvent {
///     #[n(0)]
///     Deposited {
///         #[n(0)]
///         cents: u64,
///         /// Came later: what was stored before has none.
///         #[n(1)]
///         memo: Option<String>,
///     },
///     #[n(1)]
///     Closed,
/// }
///
/// let stored = write(&AccountEvent::Closed)?;
/// assert_eq!((&*stored.name, stored.version), ("bank.account-event", 1));
/// assert_eq!(read::<AccountEvent>(&stored)?, AccountEvent::Closed);
/// # Ok::<(), FormatError>(())
/// ```
///
/// A field that is an `Option` may be added, and any field may go, as long as its number is not
/// used again. For all other changes there is a new version. It names the type of the one
/// `earlier`, of which it is made by [`From`]:
///
/// ```
/// use coact::durable::{FormatError, stored};
/// use coact::durable::store::{read, write};
///
/// #[stored(name = "bank.deposited")]
/// struct DepositedEuros { #[n(0)] euros: u64 }
///
/// #[stored(name = "bank.deposited", version = 2, earlier = DepositedEuros)]
/// struct Deposited { #[n(0)] cents: u64 }
///
/// impl From<DepositedEuros> for Deposited {
///     fn from(earlier: DepositedEuros) -> Self { Self { cents: 100 * earlier.euros } }
/// }
///
/// let old = write(&DepositedEuros { euros: 7 })?;
/// assert_eq!(read::<Deposited>(&old)?.cents, 700);
/// # Ok::<(), FormatError>(())
/// ```
///
/// Options: `name = ".."`, the stable name, which no other type has; `version = number` (by default
/// 1); `earlier = Type`, which has the same name and a lower version; `crate = path`, the path of
/// the crate `coact` if it has another name.
#[proc_macro_attribute]
pub fn stored(options: TokenStream, item: TokenStream) -> TokenStream {
    stored::stored(options.into(), item.into()).unwrap_or_else(Error::into_compile_error).into()
}

/// Writes a partial function over tuples, like a `match`: a `Cases` of the module `coact::dynamic`.
///
/// Each case has a pattern, perhaps a guard, and a body. The first that matches a tuple takes it.
///
/// ```
/// use coact::dynamic::{AnyTuple, Cases, atom, cases};
///
/// fn parse(text: &str) -> Option<i64> {
///     text.parse().ok()
/// }
///
/// let mut calculate: Cases<'_, (), i64> = cases! {
///     (atom!("add"), a: i64, b: i64) => a + b,
///     (atom!("divide"), a: i64, b: i64) if b != 0 => a / b,
///     (atom!("sum"), numbers: Vec<i64>) => numbers.iter().sum(),
///     ("parse", parse -> number) => number,
///     (.., last: i64) => last,
/// };
/// assert_eq!(calculate.apply(&mut (), AnyTuple::new((atom!("add"), 3_i64, 4_i64))).unwrap(), 7);
/// assert_eq!(calculate.apply(&mut (), AnyTuple::new(("parse", "12"))).unwrap(), 12);
/// assert_eq!(calculate.apply(&mut (), AnyTuple::new(("any", 'x', 5_i64))).unwrap(), 5);
///
/// let left = calculate.apply(&mut (), AnyTuple::new((atom!("add"), 3, 4))).unwrap_err();
/// assert_eq!(
///     calculate.explain(&left).to_string(),
///     "no case takes ('add', 3, 4): the nearest is `(.., last: i64)`, but `4` is \
///      `i32`, and `i64` is wanted"
/// );
/// ```
///
/// | pattern | matches |
/// | --- | --- |
/// | `x: i64` | an element of this type, and binds it |
/// | `Some(x): Option<i64>`, `1..=9: u8` | an element of this type that the pattern matches |
/// | `5`, `2.5`, `'x'`, `true`, `5_u8` | this value; numbers without a suffix are `i32` or `f64` |
/// | `"text"` | a `String` with this text |
/// | `atom!("name")` | this atom |
/// | `_: i64` | an element of this type |
/// | `_` | one element of any type |
/// | `..` | any number of elements of any types; once in a pattern |
/// | `function -> x` | an element of the type that the function takes by reference, if that returns `Some`; binds what is in it |
/// | `message` or `_`, without parentheses | every tuple, and binds it |
///
/// **Callbacks**, as in libcppa: `pattern >> |x: A, y: B| body`. Their parameters are the last
/// elements of the pattern; those on the left may be skipped. `arg_match`, as the last element, is
/// one element for each parameter, and `on_arg_match` a pattern of these alone.
///
/// ```
/// use coact::dynamic::{AnyTuple, Cases, atom, cases};
///
/// let mut of: Cases<'_, (), i32> = cases! {
///     (atom!("add"), arg_match) >> |a: i32, b: i32| a + b,
///     (_: i32, _: i32, _: f32) >> |f: f32| f as i32,
///     on_arg_match >> |a: u8, b: u8| i32::from(a.max(b)),
///     _ >> || 0,
/// };
/// let mut apply = |tuple| of.apply(&mut (), tuple).unwrap();
/// assert_eq!(apply(AnyTuple::new((atom!("add"), 1, 2))), 3);
/// assert_eq!(apply(AnyTuple::new((1, 2, 3.5_f32))), 3);
/// assert_eq!(apply(AnyTuple::new((7_u8, 8_u8))), 8);
/// ```
///
/// **Bindings** are values in bodies: moved out of the tuple, or cloned if others share it, or
/// there is `..`, `_` or `->` in the pattern. In guards they are copies if their type is `Copy`,
/// and references otherwise. A guard is evaluated at each match, with the context and what the
/// cases capture, as they are then.
///
/// **The context** is named in front, with its type:
/// `cases! { |cx: &mut Stack| (x: i32) => cx.push(x) }`. Guards see it by `&`, bodies by `&mut`.
///
/// **Guards and bodies are functions** of their own: `return` and `?` end them alone. All bodies
/// have one type; where it is found by a coercion, the first says so:
/// `Box::new(f) as Box<dyn Fn(i32) -> i32>`.
///
/// **`after time => body`**, as the last one, is what is done if no tuple has come for this time.
///
/// **Captures** are moved in, as by a `move` closure, and are `Send`. With `ref` in front they are
/// borrowed, for cases that are used where they are written: `cases! { ref (n: i32) => sum += n }`.
///
/// Cases side by side with the same types are one `match`: the compiler dispatches on their values,
/// and warns of a case that nothing reaches.
///
/// `cases! { crate = path; .. }` gives the path of the module `coact::dynamic` if it has another
/// name.
#[proc_macro]
pub fn cases(input: TokenStream) -> TokenStream {
    cases::cases(input.into()).unwrap_or_else(Error::into_compile_error).into()
}
