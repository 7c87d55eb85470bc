//! The code of a partial function.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};

use super::body::{done, generated_ident};
use super::parse::CasesInput;
use super::run::{CaseGroup, runs};

pub fn partial_function(input: &CasesInput) -> syn::Result<TokenStream> {
    let CasesInput { root, after, .. } = input;
    let runs: Vec<CaseGroup<'_>> = runs(&input.cases);
    let wants = runs.iter().map(|run| run.wants(root));
    let codes = runs.iter().enumerate().map(|(number, run)| {
        let (number, code) = (number as u16, run.code(input));
        quote!(#number => #code)
    });
    let (time, late) = match after {
        Some((time, body)) => {
            let body = done(input, body);
            let call = generated_ident("call");
            let late = quote! {
                if #call.is_late() {
                    return ::core::option::Option::Some(#body);
                }
            };
            (quote!(::core::option::Option::Some(#time)), late)
        }
        None => (quote!(::core::option::Option::None), quote!()),
    };
    let moved = (!input.borrows).then(|| quote!(move));
    let (call, shapes) = (generated_ident("call"), runs.len());
    let context = match &input.context {
        Some((_, of)) => quote!(#of),
        _ => quote!(_),
    };
    Ok(quote_spanned! {Span::mixed_site()=>
        #root::Cases::from_code(#shapes, #time, #moved |#call: &mut #root::internals::CaseCall<'_, #context>| {
            if #call.asks() {
                #(#wants)*
                return ::core::option::Option::None;
            }
            #late
            while let ::core::option::Option::Some(shape) = #call.next() {
                match shape {
                    #(#codes)*
                    _ => ::core::unreachable!(),
                }
            }
            ::core::option::Option::None
        })
    })
}
