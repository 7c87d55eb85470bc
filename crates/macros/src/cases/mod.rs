//! The macro `cases!`.

mod body;
mod callback;
mod element;
mod generate;
mod parse;
mod pattern;
mod run;

use proc_macro2::TokenStream;

/// Generates a partial function.
pub fn cases(input: TokenStream) -> syn::Result<TokenStream> {
    let input: parse::CasesInput = syn::parse2(input)?;
    generate::partial_function(&input)
}
