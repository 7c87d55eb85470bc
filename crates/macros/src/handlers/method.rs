//! A method that is marked as a message: what it says, and what is wrong with it.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::{Attribute, ImplItemFn, Safety, Signature, Type, Visibility};

use super::arguments::{self, Argument, Arguments, Field};
use super::name;
use super::output::{self, Output};
use crate::errors::Errors;
use crate::options::MethodOptions;

const DEADLOCK: &str = "this would hold the actor while it waits, and could deadlock: write \
    `#[message(held)]` if its other messages are to wait so long, or return a future that borrows \
    nothing: `fn name(&self, ..) -> impl Future<Output = R>`";
const NO_RECEIVER: &str = "a message is handled by an actor: take `&mut self` or `&self`, or make \
    it an `async fn` that gets the address, `this: Addr<Self>`";
const HELD_WITHOUT_WAITING: &str = "only an `async fn` waits: write one, or take `held` away";
const HELD_WITHOUT_ACTOR: &str = "without `self` there is no actor to hold: take `held` away, or \
    take `&mut self`";
const TWO_REPLIES: &str = "what the future gives is the reply: take this parameter away, or return \
    nothing and reply when it is time";
const REPLY_AND_VALUE: &str = "the reply goes through the `Reply`: return nothing, or take that \
    parameter away";
const FUTURE_OF_FUTURE: &str = "an `async fn` is a future itself: return what that gives, or take \
    `async` away";
const CONTEXT_OF_RUNNING: &str = "the actor goes on while this runs, and needs its context: get \
    the address instead, `this: Addr<Self>` as the first parameter";
const NO_NAME: &str = "no name for the message comes of this: write `#[message(name = Name)]`";

/// How the message is handled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// The method returns the reply.
    Now,
    /// The method gets the `Reply` and returns nothing.
    ByHand,
    /// The method returns a future of the reply, which runs beside the actor.
    Detached,
    /// The method is a future that has the actor.
    Held,
}

/// A marked method.
pub struct Method {
    /// Those that its message has too: documentation and conditions.
    pub attrs: Vec<Attribute>,
    pub vis: Visibility,
    pub ident: Ident,
    /// The message's name.
    pub name: Ident,
    pub derives: TokenStream,
    pub fields: Vec<Field>,
    pub call: Vec<Argument>,
    pub form: Form,
    /// The reply's type, as it is written outside of the block.
    pub reply: TokenStream,
}

impl Method {
    /// Reads a method and its mark.
    pub fn read(method: &ImplItemFn, mark: &Attribute, actor: &Type) -> syn::Result<Self> {
        let mut errors = Errors::default();
        let options = errors.keep(MethodOptions::of(mark)).unwrap_or_default();
        let signature = &method.sig;
        check_signature(signature, &mut errors);
        let arguments = arguments::read(signature, actor, &mut errors);
        let output = output::read(&signature.output, actor, &mut errors);
        let name = options.name.or_else(|| name::of_method(&signature.ident));
        if name.is_none() {
            errors.at(&signature.ident, NO_NAME);
        }
        let held = options.held.as_ref();
        let form = output.and_then(|output| form(signature, held, &arguments, output, &mut errors));
        if matches!(form, Some((Form::Detached, _))) {
            output::check_body(method.block.to_token_stream(), &mut errors);
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

    /// The conditions under which the method is there.
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

fn check_signature(signature: &Signature, errors: &mut Errors) {
    if let Safety::Unsafe(word) = &signature.safety {
        errors.at(word, "anybody may send a message: the method has to be safe");
    }
    let generics = &signature.generics;
    if !generics.params.is_empty() {
        errors.at(
            generics,
            "a message is one type, which a generic method is not: make it a parameter of the whole `impl` block, or name the type",
        );
    }
}

/// How a message is handled, and the type of its reply; none after an error.
fn form(
    signature: &Signature,
    held: Option<&Ident>,
    arguments: &Arguments,
    output: Output,
    errors: &mut Errors,
) -> Option<(Form, TokenStream)> {
    let before = errors.count();
    let is_async = signature.asyncness.is_some();
    let is_future = is_async || matches!(output, Output::Future(_));
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
        (None, _) if is_async && matches!(output, Output::Future(_)) => {
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
        (Output::Value(_), Some((_, reply))) => (Form::ByHand, reply.clone()),
        (Output::Value(reply), None) if held.is_some() => (Form::Held, reply),
        (Output::Value(reply), None) if !is_async => (Form::Now, reply),
        (Output::Value(reply) | Output::Future(reply), _) => (Form::Detached, reply),
    })
}

fn is_nothing(output: &Output) -> bool {
    matches!(output, Output::Value(ty) if ty.to_token_stream().to_string() == "()")
}
