//! Reads a method marked as a message and reports what is wrong with it.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::{Attribute, ImplItemFn, Safety, Signature, Type, Visibility};

use super::method_parameters::{self, CallArgument, MessageField, MethodArguments};
use super::name;
use super::return_type::{self, MethodReturn};
use crate::errors::ErrorList;
use crate::options::MethodOptions;

const DEADLOCK: &str = "this would hold the actor while it waits, and could deadlock: write \
    `#[message(held)]` to let other messages wait meanwhile, or return a future that does not \
    borrow: `fn name(&self, ..) -> impl Future<Output = R>`";
const NO_RECEIVER: &str = "an actor handles the message: take `&mut self` or `&self`, or make this \
    an `async fn` that takes the address, `this: Addr<Self>`";
const HELD_WITHOUT_WAITING: &str =
    "only an `async fn` can hold the actor: write one, or remove `held`";
const HELD_WITHOUT_ACTOR: &str = "without `self` there is no actor to hold: remove `held`, or \
    take `&mut self`";
const TWO_REPLIES: &str = "the output of the future is the reply: remove this parameter, or return \
    nothing and reply later";
const REPLY_AND_VALUE: &str =
    "the `Reply` sends the reply: return nothing, or remove that parameter";
const FUTURE_OF_FUTURE: &str =
    "an `async fn` is already a future: return its output, or remove `async`";
const CONTEXT_OF_RUNNING: &str = "the actor continues while this runs, and needs its context: take \
    the address instead, `this: Addr<Self>` as the first parameter";
const NO_NAME: &str = "this gives no name for the message: write `#[message(name = Name)]`";

/// How the message is handled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum HandlerForm {
    /// The method returns the reply.
    Now,
    /// The method takes the `Reply` and returns nothing.
    ByHand,
    /// The method returns a future of the reply, which runs concurrently with the actor.
    Detached,
    /// The method is a future that holds the actor.
    Held,
}

/// A marked method.
pub struct MarkedMethod {
    /// Attributes that its message gets as well: documentation and conditions.
    pub attrs: Vec<Attribute>,
    pub vis: Visibility,
    pub ident: Ident,
    /// The message's name.
    pub name: Ident,
    pub derives: TokenStream,
    pub fields: Vec<MessageField>,
    pub call: Vec<CallArgument>,
    pub form: HandlerForm,
    /// The reply's type, as written outside of the block.
    pub reply: TokenStream,
}

impl MarkedMethod {
    /// Reads a method and its mark.
    pub fn read(method: &ImplItemFn, mark: &Attribute, actor: &Type) -> syn::Result<Self> {
        let mut errors = ErrorList::default();
        let options = errors.keep(MethodOptions::of(mark)).unwrap_or_default();
        let signature = &method.sig;
        check_signature(signature, &mut errors);
        let arguments = method_parameters::read(signature, actor, &mut errors);
        let output = return_type::read(&signature.output, actor, &mut errors);
        let name = options.name.or_else(|| name::of_method(&signature.ident));
        if name.is_none() {
            errors.at(&signature.ident, NO_NAME);
        }
        let held = options.held.as_ref();
        let form = output.and_then(|output| form(signature, held, &arguments, output, &mut errors));
        if matches!(form, Some((HandlerForm::Detached, _))) {
            return_type::check_body(method.block.to_token_stream(), &mut errors);
        }
        let method = form.zip(name).map(|((form, reply), name)| Self {
            attrs: carried_attributes(&method.attrs),
            vis: method.vis.clone(),
            ident: signature.ident.clone(),
            name,
            derives: options.derives,
            fields: arguments.fields,
            call: arguments.call,
            form,
            reply,
        });
        errors.or(method)
    }

    /// The `#[cfg]`s of the method.
    pub fn conditions(&self) -> impl Iterator<Item = &Attribute> {
        self.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg"))
    }

    /// The method's documentation.
    pub fn docs(&self) -> impl Iterator<Item = &Attribute> {
        self.attrs.iter().filter(|attribute| attribute.path().is_ident("doc"))
    }
}

fn carried_attributes(attributes: &[Attribute]) -> Vec<Attribute> {
    let is_carried = |attribute: &&Attribute| {
        attribute.path().is_ident("doc") || attribute.path().is_ident("cfg")
    };
    attributes.iter().filter(is_carried).cloned().collect()
}

fn check_signature(signature: &Signature, errors: &mut ErrorList) {
    if let Safety::Unsafe(word) = &signature.safety {
        errors.at(word, "safe code can send any message: the method must be safe");
    }
    let generics = &signature.generics;
    if !generics.params.is_empty() {
        errors.at(
            generics,
            "a message is one type, so the method cannot be generic: make this a parameter of the `impl` block, or name the type",
        );
    }
}

/// Returns how the message is handled and the type of its reply, or `None` after an error.
fn form(
    signature: &Signature,
    held: Option<&Ident>,
    arguments: &MethodArguments,
    output: MethodReturn,
    errors: &mut ErrorList,
) -> Option<(HandlerForm, TokenStream)> {
    let before = errors.count();
    let is_async = signature.asyncness.is_some();
    let is_future = is_async || matches!(output, MethodReturn::Future(_));
    match (is_async, arguments.has_receiver, held) {
        (false, _, Some(held)) => errors.at(held, HELD_WITHOUT_WAITING),
        (false, false, None) => errors.at(&signature.ident, NO_RECEIVER),
        (true, false, Some(held)) => errors.at(held, HELD_WITHOUT_ACTOR),
        (true, true, None) => errors.at(signature.asyncness, DEADLOCK),
        (true, false, None) => {
            if let Some(context) = &arguments.context {
                errors.at(context, CONTEXT_OF_RUNNING);
            }
        }
        _ => {}
    }
    match (&arguments.reply, is_future) {
        (None, _) if is_async && matches!(output, MethodReturn::Future(_)) => {
            errors.at(&signature.output, FUTURE_OF_FUTURE);
        }
        (Some((parameter, _)), true) => errors.at(parameter, TWO_REPLIES),
        (Some(_), false) if !is_nothing(&output) => errors.at(&signature.output, REPLY_AND_VALUE),
        _ => {}
    }
    if errors.count() > before {
        return None;
    }
    Some(match (output, &arguments.reply) {
        (MethodReturn::Value(_), Some((_, reply))) => (HandlerForm::ByHand, reply.clone()),
        (MethodReturn::Value(reply), None) if held.is_some() => (HandlerForm::Held, reply),
        (MethodReturn::Value(reply), None) if !is_async => (HandlerForm::Now, reply),
        (MethodReturn::Value(reply) | MethodReturn::Future(reply), _) => {
            (HandlerForm::Detached, reply)
        }
    })
}

fn is_nothing(output: &MethodReturn) -> bool {
    matches!(output, MethodReturn::Value(ty) if ty.to_token_stream().to_string() == "()")
}
