//! The part of the block's generic parameters that a message carries.

use std::collections::HashSet;

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{GenericParam, Generics, WherePredicate};

use super::method_parameters::MessageField;

/// The generic parameters of a message.
pub struct MessageGenerics {
    /// Those named by its fields or its reply, with all their bounds.
    pub generics: Generics,
    /// Those among them that no field names.
    pub markers: Vec<Ident>,
}

impl MessageGenerics {
    pub fn new(block: &Generics, fields: &[MessageField], reply: &TokenStream) -> Self {
        let in_fields = names(fields.iter().map(|field| field.ty.clone()).collect());
        let mut used = names(reply.clone());
        used.extend(in_fields.iter().cloned());
        let used = with_bounds(block, used);
        let is_marker = |ident: &&Ident| !in_fields.contains(&ident.to_string());
        let generics = restricted(block, &used);
        let markers =
            generics.type_params().map(|param| &param.ident).filter(is_marker).cloned().collect();
        Self { generics, markers }
    }
}

/// Returns the parameters named in `used`, and those that their bounds name in turn.
fn with_bounds(block: &Generics, used: HashSet<String>) -> HashSet<String> {
    let params: HashSet<String> = block.params.iter().map(name).collect();
    let mut used: HashSet<String> = used.intersection(&params).cloned().collect();
    let declared = block.params.iter().map(|param| names(param.to_token_stream()));
    let required = predicates(block).map(|predicate| names(predicate.to_token_stream()));
    let together: Vec<HashSet<String>> =
        declared.chain(required).map(|names| &names & &params).collect();
    loop {
        let before = used.len();
        for names in &together {
            if !names.is_disjoint(&used) {
                used.extend(names.iter().cloned());
            }
        }
        if used.len() == before {
            return used;
        }
    }
}

/// Returns only the parameters with these names, and the predicates on them.
fn restricted(block: &Generics, used: &HashSet<String>) -> Generics {
    let params = block.params.iter().filter(|&param| used.contains(&name(param))).cloned();
    let mut generics = Generics { params: params.collect(), ..Generics::default() };
    if !generics.params.is_empty() {
        let is_about_used =
            |predicate: &&WherePredicate| !names(predicate.to_token_stream()).is_disjoint(used);
        let kept: Vec<_> = predicates(block).filter(is_about_used).cloned().collect();
        generics.make_where_clause().predicates.extend(kept);
    }
    generics
}

fn predicates(generics: &Generics) -> impl Iterator<Item = &WherePredicate> {
    generics.where_clause.iter().flat_map(|clause| &clause.predicates)
}

fn name(param: &GenericParam) -> String {
    match param {
        GenericParam::Lifetime(param) => param.lifetime.to_string(),
        GenericParam::Type(param) => param.ident.to_string(),
        GenericParam::Const(param) => param.ident.to_string(),
    }
}

/// Returns all identifiers in `tokens`.
fn names(tokens: TokenStream) -> HashSet<String> {
    let mut found = HashSet::new();
    for token in tokens {
        match token {
            TokenTree::Group(group) => found.extend(names(group.stream())),
            TokenTree::Ident(name) => {
                found.insert(name.to_string());
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use syn::{ItemImpl, parse_quote};

    use super::*;

    /// The parameters carried by a message with a field of the first type and a reply of the
    /// second.
    fn carried(block: ItemImpl, field: TokenStream, reply: TokenStream) -> (String, Vec<String>) {
        let field = MessageField { docs: vec![], name: parse_quote!(field), ty: field };
        let carried = MessageGenerics::new(&block.generics, &[field], &reply);
        let markers = carried.markers.iter().map(Ident::to_string).collect();
        let params = carried.generics.to_token_stream();
        let predicates = &carried.generics.where_clause;
        (quote::quote!(#params #predicates).to_string().replace(' ', ""), markers)
    }

    #[test]
    fn what_is_not_named_is_left_out() {
        let block = parse_quote!(
            impl<K: Eq, V> Store<K, V> where V: Send {}
        );
        let (generics, markers) = carried(block, parse_quote!(Vec<K>), parse_quote!(()));
        assert_eq!(generics, "<K:Eq>");
        assert!(markers.is_empty());
    }

    #[test]
    fn what_the_reply_alone_names_is_marked() {
        let block = parse_quote!(
            impl<K: Eq, V> Store<K, V> where V: Send {}
        );
        let (generics, markers) = carried(block, parse_quote!(K), parse_quote!(Option<V>));
        assert_eq!(generics, "<K:Eq,V>whereV:Send");
        assert_eq!(markers, ["V"]);
    }

    #[test]
    fn bounds_bring_what_they_name() {
        let block = parse_quote!(
            impl<A: Into<B>, B, C: Copy> Store<A, B, C> where B: From<C> {}
        );
        let (generics, markers) = carried(block, parse_quote!(A), parse_quote!(()));
        assert_eq!(generics, "<A:Into<B>,B,C:Copy>whereB:From<C>");
        assert_eq!(markers, ["B", "C"]);
    }

    #[test]
    fn lengths_need_no_mark() {
        let block = parse_quote!(
            impl<const N: usize> Ring<N> {}
        );
        let (generics, markers) = carried(block, parse_quote!(u8), parse_quote!([u8; N]));
        assert_eq!(generics, "<constN:usize>");
        assert!(markers.is_empty());
    }
}
