//! The parameters of a marked method: the message's fields, the context, the address, the reply.

use proc_macro2::{Ident, TokenStream};
use quote::ToTokens;
use syn::punctuated::Punctuated;
use syn::{
    Attribute, FnArg, GenericArgument, Pat, PatType, PathArguments, Receiver, ReceiverKind,
    Signature, Token, Type,
};

use super::rewrite_self;
use crate::errors::ErrorList;

/// A field of the message.
pub struct MessageField {
    /// The parameter's own documentation.
    pub docs: Vec<Attribute>,
    pub name: Ident,
    pub ty: TokenStream,
}

/// An argument of the call of the method.
pub enum CallArgument {
    Actor,
    Field(Ident),
    Context,
    Reply,
    Address,
    WeakAddress,
}

/// The parameters of a method, as read.
#[derive(Default)]
pub struct MethodArguments {
    pub has_receiver: bool,
    pub fields: Vec<MessageField>,
    /// In the order of the parameters.
    pub call: Vec<CallArgument>,
    /// The `&mut Context` parameter.
    pub context: Option<PatType>,
    /// The `Reply` parameter, and the reply's type.
    pub reply: Option<(PatType, TokenStream)>,
}

/// Reads the parameters of a signature.
pub fn read(signature: &Signature, actor: &Type, errors: &mut ErrorList) -> MethodArguments {
    let mut arguments = MethodArguments::default();
    for (index, input) in signature.inputs.iter().enumerate() {
        match input {
            FnArg::Receiver(receiver) => {
                check_receiver(receiver, errors);
                arguments.has_receiver = true;
                arguments.call.push(CallArgument::Actor);
            }
            FnArg::Typed(parameter) => {
                let own_address = (index == 0 && signature.asyncness.is_some())
                    .then(|| address(peeled(&parameter.ty), actor))
                    .flatten();
                match own_address {
                    Some(address) => arguments.call.push(address),
                    None => arguments.add(parameter, actor, errors),
                }
            }
        }
    }
    arguments
}

/// Removes the documentation of parameters, which the compiler would reject.
pub fn strip_docs(inputs: &mut Punctuated<FnArg, Token![,]>) {
    for input in inputs {
        if let FnArg::Typed(parameter) = input {
            parameter.attrs.retain(|attribute| !attribute.path().is_ident("doc"));
        }
    }
}

impl MethodArguments {
    fn add(&mut self, parameter: &PatType, actor: &Type, errors: &mut ErrorList) {
        let ty = peeled(&parameter.ty);
        if is_context(referent(ty), actor) {
            self.add_context(parameter, errors);
        } else if let Some(reply) = argument_of(ty, "Reply") {
            self.add_reply(parameter, reply, actor, errors);
        } else if let Some(field) = field(parameter, actor, errors) {
            self.call.push(CallArgument::Field(field.name.clone()));
            self.fields.push(field);
        }
    }

    fn add_context(&mut self, parameter: &PatType, errors: &mut ErrorList) {
        if !matches!(peeled(&parameter.ty), Type::Reference(_)) {
            errors.at(&parameter.ty, "the context is borrowed: take `&mut Context<Self>`");
        } else if self.context.is_some() {
            errors.at(parameter, "an actor has one context: take it once");
        } else {
            self.context = Some(parameter.clone());
            self.call.push(CallArgument::Context);
        }
    }

    fn add_reply(
        &mut self,
        parameter: &PatType,
        reply: &Type,
        actor: &Type,
        errors: &mut ErrorList,
    ) {
        if self.reply.is_some() {
            errors.at(parameter, "a message has one reply: take one `Reply`");
        } else if let Some(reply) = errors.keep(rewrite_self::without_self(reply, actor)) {
            self.reply = Some((parameter.clone(), reply));
            self.call.push(CallArgument::Reply);
        }
    }
}

fn check_receiver(receiver: &Receiver, errors: &mut ErrorList) {
    let is_reference = match &receiver.kind {
        ReceiverKind::Reference(..) => true,
        ReceiverKind::Typed(_, ty) => match peeled(ty) {
            Type::Reference(ty) => ty.elem.to_token_stream().to_string() == "Self",
            _ => false,
        },
        _ => false,
    };
    if !is_reference {
        errors.at(receiver, "an actor outlives its messages: take `&mut self` or `&self`");
    }
}

fn field(parameter: &PatType, actor: &Type, errors: &mut ErrorList) -> Option<MessageField> {
    let (docs, others): (Vec<Attribute>, Vec<Attribute>) =
        parameter.attrs.iter().cloned().partition(|attribute| attribute.path().is_ident("doc"));
    if let Some(attribute) = others.first() {
        errors.at(attribute, "a parameter of a message can have only documentation: put other attributes on the method");
    }
    check_field_type(&parameter.ty, errors);
    let ty = errors.keep(rewrite_self::without_self(&parameter.ty, actor))?;
    let name = field_name(&parameter.pat, errors)?;
    Some(MessageField { docs, name, ty })
}

fn field_name(pattern: &Pat, errors: &mut ErrorList) -> Option<Ident> {
    if let Pat::Ident(name) = pattern
        && name.by_ref.is_none()
        && name.subpat.is_none()
    {
        return Some(name.ident.clone());
    }
    errors.at(
        pattern,
        "the parameter becomes a field of the message: give it a plain name and destructure it in the body",
    );
    None
}

fn check_field_type(ty: &Type, errors: &mut ErrorList) {
    match peeled(ty) {
        Type::Reference(reference) if !is_static(reference) => errors.at(
            ty,
            "a message outlives the call that sends it, so it cannot borrow: own the value (`String` for `&str`, `Vec<T>` for `&[T]`, `Arc<T>` to share)",
        ),
        Type::ImplTrait(_) => errors.at(
            ty,
            "a field of a message has one type: name it, or make it a parameter of the `impl` block",
        ),
        _ => {}
    }
}

/// Returns whether the reference is `'static`.
pub fn is_static(reference: &syn::TypeReference) -> bool {
    reference.lifetime.as_ref().is_some_and(|lifetime| lifetime.ident == "static")
}

/// Strips invisible and superfluous parentheses from a type.
pub fn peeled(mut ty: &Type) -> &Type {
    loop {
        ty = match ty {
            Type::Group(group) => &group.elem,
            Type::Paren(paren) => &paren.elem,
            _ => return ty,
        }
    }
}

fn referent(ty: &Type) -> &Type {
    match ty {
        Type::Reference(reference) => peeled(&reference.elem),
        _ => ty,
    }
}

fn is_context(ty: &Type, actor: &Type) -> bool {
    argument_of(ty, "Context").is_some_and(|of| is_actor(of, actor))
}

fn address(ty: &Type, actor: &Type) -> Option<CallArgument> {
    let of_actor = |name| argument_of(ty, name).is_some_and(|of| is_actor(of, actor));
    if of_actor("Addr") {
        Some(CallArgument::Address)
    } else if of_actor("WeakAddr") {
        Some(CallArgument::WeakAddress)
    } else {
        None
    }
}

fn is_actor(ty: &Type, actor: &Type) -> bool {
    let ty = peeled(ty).to_token_stream().to_string();
    ty == "Self" || ty == actor.to_token_stream().to_string()
}

/// The `T` of `path::name<T>`.
fn argument_of<'a>(ty: &'a Type, name: &str) -> Option<&'a Type> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == name)?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(ty)) if arguments.args.len() == 1 => Some(ty),
        _ => None,
    }
}
