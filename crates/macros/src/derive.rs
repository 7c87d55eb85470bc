//! The derives: `Actor`, `Message` and `Element`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{DeriveInput, Generics, parse_quote};

use crate::options::DeriveOptions;

/// Generates an empty `impl Actor`.
pub fn actor(input: TokenStream) -> syn::Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let DeriveOptions { root, .. } = DeriveOptions::of(&input.attrs, "actor", false)?;
    let generics = owned(input.generics, "an actor")?;
    let (params, arguments, predicates) = generics.split_for_impl();
    let name = &input.ident;
    Ok(quote! {
        #[automatically_derived]
        impl #params #root::actor::Actor for #name #arguments #predicates {}
    })
}

/// Generates `impl Message` with the reply that the attribute names.
pub fn message(input: TokenStream) -> syn::Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let DeriveOptions { root, reply } = DeriveOptions::of(&input.attrs, "message", true)?;
    let reply = reply.unwrap_or_else(|| parse_quote!(()));
    let generics = owned(input.generics, "a message")?;
    let (params, arguments, predicates) = generics.split_for_impl();
    let name = &input.ident;
    Ok(quote! {
        #[automatically_derived]
        impl #params #root::actor::Message for #name #arguments #predicates {
            type Reply = #reply;
        }
    })
}

/// Generates `impl Element`, for tuples.
pub fn element(input: TokenStream) -> syn::Result<TokenStream> {
    let input: DeriveInput = syn::parse2(input)?;
    let DeriveOptions { root, .. } = DeriveOptions::of(&input.attrs, "element", false)?;
    let mut generics = owned(input.generics, "an element")?;
    for param in generics.type_params_mut() {
        param.bounds.push(parse_quote!(::core::marker::Sync));
        param.bounds.push(parse_quote!(::core::clone::Clone));
        param.bounds.push(parse_quote!(::core::fmt::Debug));
    }
    let (params, arguments, predicates) = generics.split_for_impl();
    let name = &input.ident;
    Ok(quote! {
        #[automatically_derived]
        impl #params #root::dynamic::Element for #name #arguments #predicates {}
    })
}

/// Returns the generics with `Send + 'static` on each type, as required of the whole.
fn owned(mut generics: Generics, what: &str) -> syn::Result<Generics> {
    if let Some(lifetime) = generics.lifetimes().next() {
        return Err(syn::Error::new_spanned(lifetime, borrows(what)));
    }
    for param in generics.type_params_mut() {
        param.bounds.push(parse_quote!(::core::marker::Send));
        param.bounds.push(parse_quote!('static));
    }
    Ok(generics)
}

/// Explains why there can be no lifetime.
pub fn borrows(what: &str) -> String {
    format!("{what} outlives the code that creates it, so it cannot borrow: own the values")
}
