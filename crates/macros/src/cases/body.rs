//! Guards and bodies, with what they see.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::Expr;

use super::parse::Input;

/// Names of the generated code, which the program's own cannot meet.
pub fn own(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// A guard, with what it sees.
pub fn guarded(input: &Input, guard: &Expr, bound: &TokenStream) -> TokenStream {
    let context = input.context.as_ref().map(|(name, _)| {
        let call = own("call");
        quote! {
            #[allow(unused_variables)]
            let #name = #call.seen();
        }
    });
    let root = &input.root;
    quote!({
        #context
        #bound
        // In a function of its own, as a body is.
        #root::internals::run_body(|| -> bool { #guard })
    })
}

/// What is done: the body, with the context. In a function of its own, so that `return` and `?` end it
/// alone.
pub fn done(input: &Input, body: TokenStream) -> TokenStream {
    let context = input.context.as_ref().map(|(name, _)| {
        let call = own("call");
        quote! {
            #[allow(unused_variables)]
            let #name = #call.context();
        }
    });
    let root = &input.root;
    quote!({
        #context
        #root::internals::run_body(|| #body)
    })
}
