//! The trait that gives an address one method per message.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use syn::{Attribute, Visibility};

use super::block::HandlersBlock;
use super::message::{MessageCode, names};
use super::method::MarkedMethod;
use super::method_parameters::MessageField;
use crate::options::{ApiTrait, default_api_name};

/// Generates the trait, and its implementation for the actor's address.
pub fn write(
    api: &ApiTrait,
    block: &HandlersBlock<'_>,
    methods: &[MarkedMethod],
) -> syn::Result<TokenStream> {
    let reach = reach(&api.vis);
    let methods: Vec<&MarkedMethod> =
        methods.iter().filter(|method| self::reach(&method.vis) >= reach).collect();
    if methods.is_empty() {
        let text = "no message is as visible as this trait: make the trait less visible, or a method more visible";
        return Err(syn::Error::new(api.span, text));
    }
    let HandlersBlock { root, actor, generics } = block;
    let (params, arguments, predicates) = generics.split_for_impl();
    let signatures: Vec<TokenStream> =
        methods.iter().map(|method| signature(block, method)).collect();
    let bodies = methods.iter().map(|method| MessageCode::new(block, method).made());
    let conditions: Vec<Vec<&Attribute>> =
        methods.iter().map(|method| method.conditions().collect()).collect();
    let docs = methods.iter().map(|method| method_docs(method));
    let vis = &api.vis;
    let name = name(api, block);
    let about =
        format!("The messages of `{}`, as methods of its address that ask.", block.actor_name());
    Ok(quote! {
        #[doc = #about]
        #vis trait #name #generics #predicates {
            #(#docs #(#conditions)* #signatures;)*
        }

        #[automatically_derived]
        impl #params #name #arguments for #root::actor::Addr<#actor> #predicates {
            #(#(#conditions)* #signatures { #root::actor::Addr::ask(self, #bodies) })*
        }
    })
}

/// Generates, for a block without `api`, methods of the same names for addresses that have the
/// trait `HasApi`. None has: so the compiler says what is missing where one is called.
pub fn write_missing(block: &HandlersBlock<'_>, methods: &[MarkedMethod]) -> TokenStream {
    let Some(first) = methods.first() else { return TokenStream::new() };
    let root = &block.root;
    // One name for each block of the actor.
    let name = format_ident!("{}WithoutApi{}", block.actor_name(), first.name);
    let signatures: Vec<TokenStream> = methods
        .iter()
        .map(|method| {
            let (conditions, ident) = (method.conditions(), &method.ident);
            quote!(#(#conditions)* fn #ident(&self))
        })
        .collect();
    quote! {
        #[doc(hidden)]
        #[allow(dead_code, non_camel_case_types)]
        trait #name {
            #(#signatures;)*
        }

        #[automatically_derived]
        impl<A: #root::actor::Actor> #name for #root::actor::Addr<A>
        where
            #root::actor::Addr<A>: #root::actor::HasApi,
        {
            #(#signatures {})*
        }
    }
}

fn name(api: &ApiTrait, block: &HandlersBlock<'_>) -> Ident {
    api.name.clone().unwrap_or_else(|| {
        let mut name = default_api_name(block.actor_name());
        name.set_span(api.span);
        name
    })
}

fn signature(block: &HandlersBlock<'_>, method: &MarkedMethod) -> TokenStream {
    let root = &block.root;
    let MarkedMethod { ident, fields, reply, .. } = method;
    let (names, types) = (names(fields), fields.iter().map(|field: &MessageField| &field.ty));
    quote!(fn #ident(&self, #(#names: #types),*) -> #root::actor::Ask<#reply>)
}

fn method_docs(method: &MarkedMethod) -> TokenStream {
    let docs: Vec<&Attribute> = method.docs().collect();
    if docs.is_empty() {
        let text = format!("Asks with `{}`.", method.name);
        return quote!(#[doc = #text]);
    }
    quote!(#(#docs)*)
}

/// Ranks a visibility: a higher number is visible further.
fn reach(vis: &Visibility) -> u8 {
    match vis {
        Visibility::Public(_) => 3,
        Visibility::Restricted(within) if within.path.is_ident("crate") => 2,
        Visibility::Restricted(_) => 1,
        Visibility::Inherited => 0,
    }
}
