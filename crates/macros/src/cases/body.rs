//! Guards and bodies, with what they see.

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;
use syn::Expr;

use super::parse::CasesInput;

/// Returns a name of the generated code, which those of the program cannot clash with.
pub fn generated_ident(name: &str) -> Ident {
    Ident::new(name, Span::mixed_site())
}

/// A guard, with what it sees.
pub fn guarded(input: &CasesInput, guard: &Expr, bound: &TokenStream) -> TokenStream {
    let context = context(input, "seen");
    let root = &input.root;
    quote!({
        #context
        #bound
        // In a function of its own, as a body is.
        #root::internals::run_body(|| -> bool { #guard })
    })
}

/// What is done: the body, with the context. In a function of its own, so that `return` and `?` end
/// it alone.
pub fn done(input: &CasesInput, body: &Expr) -> TokenStream {
    let context = context(input, "context");
    let (root, call) = (&input.root, generated_ident("call"));
    quote!({
        #call.starts();
        #context
        #root::internals::run_body(|| #body)
    })
}

/// Binds the context, which this method of `CaseCall` lends.
fn context(input: &CasesInput, method: &str) -> Option<TokenStream> {
    let (name, _) = input.context.as_ref()?;
    let (call, method) = (generated_ident("call"), generated_ident(method));
    Some(quote! {
        #[allow(unused_variables)]
        let #name = #call.#method();
    })
}
