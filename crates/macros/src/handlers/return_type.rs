//! The return type of a marked method: the reply, or a future of it.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{
    CapturedParam, GenericArgument, GenericParam, Generics, PathArguments, ReturnType, Type,
    TypeImplTrait, TypeParamBound, parse_quote_spanned,
};

use super::method_parameters::{is_static, peeled};
use super::rewrite_self;
use crate::errors::ErrorList;

/// The return type of a method.
pub enum MethodReturn {
    Value(TokenStream),
    Future(TokenStream),
}

/// Reads the return type.
pub fn read(output: &ReturnType, actor: &Type, errors: &mut ErrorList) -> Option<MethodReturn> {
    let ReturnType::Type(_, ty) = output else { return Some(MethodReturn::Value(quote!(()))) };
    match peeled(ty) {
        Type::ImplTrait(opaque) => {
            let reply = future_output(opaque, errors)?;
            check_captures(opaque, errors);
            errors.keep(rewrite_self::without_self(reply, actor)).map(MethodReturn::Future)
        }
        Type::Reference(reference) if !is_static(reference) => {
            errors.at(ty, "a reply outlives the call that creates it, so it cannot borrow: return an owned value");
            None
        }
        _ => errors.keep(rewrite_self::without_self(ty, actor)).map(MethodReturn::Value),
    }
}

/// The `R` of `impl Future<Output = R>`.
fn future_output<'a>(opaque: &'a TypeImplTrait, errors: &mut ErrorList) -> Option<&'a Type> {
    let Some(arguments) = opaque.bounds.iter().find_map(|bound| arguments_of(bound, "Future"))
    else {
        errors.at(opaque, "a reply needs a nameable type: write it, or return `impl Future<Output = R>` for a reply that comes later");
        return None;
    };
    let PathArguments::AngleBracketed(arguments) = arguments else {
        errors.at(opaque, "the reply's type is missing: write `impl Future<Output = R>`");
        return None;
    };
    let output = arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::AssocType(output) if output.ident == "Output" => Some(&output.ty),
        _ => None,
    });
    if output.is_none() {
        errors.at(opaque, "the reply's type is missing: write `impl Future<Output = R>`");
    }
    output
}

/// The arguments of a bound on the trait of this name.
fn arguments_of<'a>(bound: &'a TypeParamBound, name: &str) -> Option<&'a PathArguments> {
    let TypeParamBound::Trait(bound) = bound else { return None };
    let last = bound.path.segments.last().filter(|last| last.ident == name)?;
    Some(&last.arguments)
}

fn check_captures(opaque: &TypeImplTrait, errors: &mut ErrorList) {
    for bound in &opaque.bounds {
        let borrows = match bound {
            TypeParamBound::Lifetime(lifetime) => lifetime.ident != "static",
            TypeParamBound::PreciseCapture(captures) => {
                captures.params.iter().any(|param| matches!(param, CapturedParam::Lifetime(_)))
            }
            _ => false,
        };
        if borrows {
            errors.at(bound, "the actor continues while this future runs, so the future cannot borrow: move what it needs into it, or write an `async fn` with `#[message(held)]`");
        }
    }
}

/// Reports futures in the body that use `self`: an easy mistake.
pub fn check_body(body: TokenStream, errors: &mut ErrorList) {
    let mut in_future = false;
    for token in body {
        match token {
            TokenTree::Ident(word) => in_future = word == "async" || (in_future && word == "move"),
            TokenTree::Group(group) if in_future => {
                if let Some(word) = actor_in(group.stream()) {
                    errors.at(word, "the actor continues while this future runs, so the future cannot use `self`: take what it needs out of `self` before the `async move`, or write an `async fn` with `#[message(held)]`");
                }
                in_future = false;
            }
            TokenTree::Group(group) => check_body(group.stream(), errors),
            _ => in_future = false,
        }
    }
}

/// Returns the first `self` in `tokens`.
fn actor_in(tokens: TokenStream) -> Option<Ident> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Ident(word) if word == "self" => Some(word),
        TokenTree::Group(group) => actor_in(group.stream()),
        _ => None,
    })
}

/// Adds to `impl Future<..>` the bounds that every such future needs: `Send`, and no borrow of the
/// actor. So an error points at a body that violates them, not at the code that runs the future.
pub fn complete(output: &mut ReturnType, generics: &Generics) {
    let ReturnType::Type(_, ty) = output else { return };
    let Type::ImplTrait(opaque) = &mut **ty else { return };
    let site = opaque.impl_token.span;
    if !opaque.bounds.iter().any(|bound| arguments_of(bound, "Send").is_some()) {
        opaque.bounds.push(parse_quote_spanned!(site=> ::core::marker::Send));
    }
    let captures = |bound: &TypeParamBound| matches!(bound, TypeParamBound::PreciseCapture(_));
    if !opaque.bounds.iter().any(captures) {
        let params = generics.params.iter().map(name_of);
        opaque.bounds.push(parse_quote_spanned!(site=> use<#(#params),*>));
    }
}

fn name_of(param: &GenericParam) -> TokenStream {
    match param {
        GenericParam::Lifetime(param) => param.lifetime.to_token_stream(),
        GenericParam::Type(param) => param.ident.to_token_stream(),
        GenericParam::Const(param) => param.ident.to_token_stream(),
    }
}
