//! `#[stored]`: types whose values are stored.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::{DeriveInput, LitStr, Type};

use crate::options::StoredOptions;

/// Derives the encoding, and generates `impl Format`.
pub fn stored(options: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let StoredOptions { root, name, version, earlier } = syn::parse2(options)?;
    let input: DeriveInput = syn::parse2(item)?;
    if !input.generics.params.is_empty() {
        let text = "a stored type has one name for all of its values, so it has no parameters: name a type for each use";
        return Err(syn::Error::new_spanned(&input.generics, text));
    }
    let codec = quote!(#root::durable::minicbor);
    let path = LitStr::new(&codec.to_string().replace(' ', ""), proc_macro2::Span::call_site());
    let version = version.map_or_else(|| quote!(1), ToTokens::into_token_stream);
    let (own, kind) = (&input.ident, quote!(#root::durable::Format));
    let read_earlier = earlier.as_ref().map(|earlier| read_earlier(&root, earlier));
    let check = earlier
        .as_ref()
        .map(|earlier| quote!(const _: () = #root::durable::assert_earlier::<#earlier, #own>();));
    Ok(quote! {
        #[derive(#codec::Encode, #codec::Decode)]
        #[cbor(crate = #path)]
        #input

        #[automatically_derived]
        impl #kind for #own {
            const NAME: &'static str = #name;
            const VERSION: u32 = #version;
            #read_earlier
        }

        #check
    })
}

fn read_earlier(root: &impl ToTokens, earlier: &Type) -> TokenStream {
    quote! {
        fn read_earlier(
            version: u32,
            bytes: &[u8],
        ) -> ::core::result::Result<Self, #root::durable::FormatError> {
            let earlier = <#earlier as #root::durable::Format>::read_version(version, bytes)?;
            ::core::result::Result::Ok(::core::convert::From::from(earlier))
        }
    }
}
