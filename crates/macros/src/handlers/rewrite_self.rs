//! Rewrites types for use outside of the `impl` block.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::ToTokens;
use syn::Type;

/// Replaces `Self` in `ty` by the actor's type: in the message's declaration `Self` is the message.
pub fn without_self(ty: impl ToTokens, actor: &Type) -> syn::Result<TokenStream> {
    replaced(ty.into_token_stream(), actor)
}

fn replaced(tokens: TokenStream, actor: &Type) -> syn::Result<TokenStream> {
    let mut written = TokenStream::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), replaced(group.stream(), actor)?);
                inner.set_span(group.span());
                written.extend([TokenTree::Group(inner)]);
            }
            TokenTree::Ident(name) if name == "Self" => {
                if matches!(tokens.peek(), Some(TokenTree::Punct(next)) if next.as_char() == ':') {
                    return Err(syn::Error::new(name.span(), projection(actor)));
                }
                actor.to_tokens(&mut written);
            }
            other => written.extend([other]),
        }
    }
    Ok(written)
}

fn projection(actor: &Type) -> String {
    let actor = actor.to_token_stream();
    format!(
        "this type also appears in the message, where `Self` is not the actor: write \
         `<{actor} as Trait>::Name`, or the type itself"
    )
}
