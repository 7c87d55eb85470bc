//! Cases that stand one behind the other and want the same types: one `match`, so that the compiler
//! dispatches on their values, and warns of those that nothing reaches.

use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Path, Type};

use super::body::{done, generated_ident, guarded};
use super::element::{PatternElement, by_reference, names, whole_name};
use super::parse::{Case, CasesInput};
use super::pattern::CasePattern;

pub struct CaseGroup<'c>(Vec<&'c Case>);

/// Divides the cases.
pub fn runs(cases: &[Case]) -> Vec<CaseGroup<'_>> {
    let mut runs: Vec<CaseGroup<'_>> = Vec::new();
    for case in cases {
        match runs.last_mut() {
            Some(run) if types(run.0[0]).is_some() && types(run.0[0]) == types(case) => {
                run.0.push(case);
            }
            _ => runs.push(CaseGroup(vec![case])),
        }
    }
    runs
}

/// The types of all elements, if all are said.
fn types(case: &Case) -> Option<Vec<String>> {
    match &case.pattern {
        CasePattern::Tuple { elements, .. } => elements.iter().map(PatternElement::key).collect(),
        CasePattern::Any { .. } => None,
    }
}

/// Where an element is found.
enum ElementPlace {
    /// Of the tuple with its type, a field.
    Field(syn::Index),
    /// An element by its number.
    Element(TokenStream),
    /// What was made of an element.
    Projected(Ident),
}

impl CaseGroup<'_> {
    /// Says what the cases want.
    pub fn wants(&self, root: &Path) -> TokenStream {
        let call = generated_ident("call");
        let texts = self.0.iter().map(|case| &case.text);
        let wanted = match &self.0[0].pattern {
            CasePattern::Any { .. } => vec![quote!(#root::internals::WantedElement::Rest)],
            CasePattern::Tuple { elements, .. } => {
                elements.iter().map(|element| wanted(element, root)).collect()
            }
        };
        let elements = self.0[0].pattern.elements();
        if elements.iter().any(|element| matches!(element, PatternElement::Projected { .. })) {
            // Of what type a function is, is known from its value.
            return quote!(#call.wants(&[#(#texts),*], ::std::vec![#(#wanted),*]););
        }
        quote!(#call.wants(&[#(#texts),*], const { &[#(#wanted),*] as &[_] });)
    }

    /// Takes a tuple that has the types, or goes on with the next.
    pub fn code(&self, input: &CasesInput) -> TokenStream {
        match &self.0[0].pattern {
            CasePattern::Any { name, .. } => any(input, self.0[0], name.as_ref()),
            CasePattern::Tuple { .. } if types(self.0[0]).is_some() => self.typed(input),
            CasePattern::Tuple { elements, .. } => match_untyped(input, self.0[0], elements),
        }
    }

    /// Of cases whose elements all have a type.
    fn typed(&self, input: &CasesInput) -> TokenStream {
        let root = &input.root;
        let [call, view, chosen] = ["call", "view", "chosen"].map(generated_ident);
        let of = self.0[0].pattern.elements().iter().map(|element| type_of(element, root));
        let of = quote!((#(#of,)*));
        let places: Vec<ElementPlace> = (0..self.0[0].pattern.elements().len())
            .map(|at| ElementPlace::Field(at.into()))
            .collect();
        let columns = places.iter().enumerate().map(|(at, place)| {
            let column = self.0.iter().map(|case| &case.pattern.elements()[at]);
            scrutinee(column, &place.reference(&quote!()))
        });
        let atoms = self.0.iter().enumerate().flat_map(|(number, case)| atoms(number, case));
        let arms = self
            .0
            .iter()
            .enumerate()
            .map(|(number, case)| arm(input, case, number, &places, &quote!(#number)));
        let fields: Vec<Ident> =
            (0..places.len()).map(|at| generated_ident(&format!("e{at}"))).collect();
        let bodies = self.0.iter().enumerate().map(|(number, case)| {
            let body = moved(input, case, &fields);
            quote!(#number => #body)
        });
        quote! {{
            #[allow(unused_imports)]
            use #root::internals::{ByRef as _, ByValue as _};
            let #chosen: usize = {
                #(#atoms)*
                #[allow(unused_variables)]
                let #view = #call.view::<#of>();
                match (#(#columns,)*) {
                    #(#arms)*
                    #[allow(unreachable_patterns)]
                    _ => continue,
                }
            };
            #[allow(unused_variables)]
            let (#(#fields,)*) = #call.take::<#of>();
            return ::core::option::Option::Some(match #chosen {
                #(#bodies)*
                _ => ::core::unreachable!(),
            });
        }}
    }
}

/// Whether the pattern of an element binds something, or compares it once more by value.
fn is_bound(element: &PatternElement) -> bool {
    element.binding().is_some_and(|pattern| !matches!(pattern, syn::Pat::Wild(_)))
}

/// What only the guard uses is used.
fn unused_if_guarded(case: &Case) -> Option<TokenStream> {
    case.guard.as_ref().map(|_| quote!(#[allow(unused_variables)]))
}

/// Whether a callback has the element.
fn is_argument(case: &Case, at: usize) -> bool {
    case.arguments.iter().any(|argument| argument.at == at)
}

/// Of a case that takes any tuple.
fn any(input: &CasesInput, case: &Case, name: Option<&Ident>) -> TokenStream {
    let call = generated_ident("call");
    let seen = name.map(|name| quote!(#[allow(unused_variables)] let #name = #call.tuple();));
    let unused = unused_if_guarded(case);
    let bound = name.map(|name| quote!(#unused let #name = #call.take_any();));
    let guard = case.guard.as_ref().map(|guard| guarded(input, guard, &quote!(#seen)));
    let guard = guard.map(|guard| quote!(if !#guard { continue; }));
    let body = done(input, &case.body);
    quote! {{
        #guard
        #bound
        return ::core::option::Option::Some(#body);
    }}
}

/// Of a case with elements of any number or type, or with projections.
fn match_untyped(input: &CasesInput, case: &Case, elements: &[PatternElement]) -> TokenStream {
    let (root, call) = (&input.root, generated_ident("call"));
    let rest = elements.iter().position(|element| matches!(element, PatternElement::Rest));
    let mut projections = Vec::new();
    let mut places = Vec::new();
    for (at, element) in elements.iter().enumerate() {
        let number = match rest {
            Some(rest) if at > rest => {
                let behind = elements.len() - at;
                quote!(#call.tuple().len() - #behind)
            }
            _ => quote!(#at),
        };
        if let PatternElement::Projected { function, of, .. } = element {
            let of = value_type(of.as_ref());
            let projected = generated_ident(&format!("p{at}"));
            projections.push(quote! {
                let ::core::option::Option::Some(#projected) =
                    #root::internals::extract::<_, #of>(&#function, #call.tuple(), #number)
                else {
                    continue;
                };
            });
            places.push(ElementPlace::Projected(projected));
        } else {
            places.push(ElementPlace::Element(number));
        }
    }
    let used: Vec<usize> = (0..elements.len())
        .filter(|&at| !matches!(elements[at], PatternElement::Rest | PatternElement::One))
        .collect();
    let columns = used.iter().map(|&at| {
        let reference = places[at].reference(&type_of(&elements[at], root));
        scrutinee(std::iter::once(&elements[at]), &reference)
    });
    let (atoms, arm) = (atoms(0, case), arm(input, case, 0, &places, &quote!(())));
    let fields: Vec<Ident> =
        (0..elements.len()).map(|at| generated_ident(&format!("e{at}"))).collect();
    let copies = used.iter().map(|&at| {
        let (field, element) = (&fields[at], &elements[at]);
        match &places[at] {
            ElementPlace::Projected(projected) => quote!(let #field = #projected;),
            place if is_bound(element) || is_argument(case, at) => {
                let of = type_of(element, root);
                let reference = place.reference(&of);
                quote! {
                    #[allow(unused_variables)]
                    let #field = <#of as ::core::clone::Clone>::clone(#reference);
                }
            }
            _ => quote!(let #field = ();),
        }
    });
    let body = moved(input, case, &fields);
    quote! {{
        #[allow(unused_imports)]
        use #root::internals::{ByRef as _, ByValue as _};
        #(#atoms)*
        #(#projections)*
        match (#(#columns,)*) {
            #arm
            #[allow(unreachable_patterns)]
            _ => continue,
        }
        #(#copies)*
        return ::core::option::Option::Some(#body);
    }}
}

/// Looks by reference whether a case matches: `pattern if guard => number`.
fn arm(
    input: &CasesInput,
    case: &Case,
    number: usize,
    places: &[ElementPlace],
    result: &TokenStream,
) -> TokenStream {
    let root = &input.root;
    let CasePattern::Tuple { paren, elements } = &case.pattern else { unreachable!() };
    let (mut patterns, mut bound) = (Vec::new(), Vec::new());
    for (at, (element, place)) in elements.iter().zip(places).enumerate() {
        match element {
            PatternElement::Rest | PatternElement::One | PatternElement::Arguments(_) => {}
            PatternElement::Text(text) => patterns.push(quote!(#text)),
            PatternElement::Atom(atoms) => {
                let bits = (0..atoms.len()).map(|which| atom_constant(number, at, which));
                patterns.push(quote!(#(#bits)|*));
            }
            PatternElement::Typed { pattern, .. } | PatternElement::Projected { pattern, .. } => {
                if let Some(name) = whole_name(pattern) {
                    // Whatever else the column is compared with.
                    patterns.push(quote_spanned!(name.span()=> _));
                    bound.push((name.clone(), place.reference(&type_of(element, root))));
                } else {
                    patterns.push(by_reference(pattern));
                    bound.extend(names(pattern).into_iter().map(|name| {
                        let reference = quote!(#name);
                        (name, reference)
                    }));
                }
            }
        }
    }
    let bound = bound.iter().map(|(name, reference)| {
        quote! {
            #[allow(unused_variables)]
            let #name = (&#root::internals::GuardView(#reference))._as_guards_see_it();
        }
    });
    let guard = case.guard.as_ref().map(|guard| guarded(input, guard, &quote!(#(#bound)*)));
    let guard = guard.map(|guard| quote!(if #guard));
    let pattern = quote_spanned!(paren.span.join()=> (#(#patterns,)*));
    quote! {
        #[allow(unused_variables)]
        #pattern #guard => #result,
    }
}

/// The body of a case, with what it binds by value.
fn moved(input: &CasesInput, case: &Case, fields: &[Ident]) -> TokenStream {
    let unused = unused_if_guarded(case);
    let (mut values, mut patterns, mut lets) = (Vec::new(), Vec::new(), Vec::new());
    for argument in &case.arguments {
        let (field, of, pattern) = (&fields[argument.at], &argument.of, &argument.pattern);
        // With the type: the callback's parameter must be what the pattern says.
        let value = generated_ident("value");
        values.push(quote_spanned!(of.span()=> { let #value: #of = #field; #value }));
        patterns.push(quote!(#pattern));
    }
    for (at, (element, field)) in case.pattern.elements().iter().zip(fields).enumerate() {
        let Some(pattern) = element.binding().filter(|_| is_bound(element)) else { continue };
        if is_argument(case, at) {
            continue;
        }
        if whole_name(pattern).is_some() {
            // By `let`, which is an error for what looks like a name but is a constant.
            lets.push(quote!(#unused let #pattern = #field;));
        } else {
            values.push(quote!(#field));
            patterns.push(quote!(#pattern));
        }
    }
    let body = done(input, &case.body);
    quote! {{
        #(#lets)*
        match (#(#values,)*) {
            #unused
            (#(#patterns,)*) => #body
            #[allow(unreachable_patterns)]
            _ => ::core::unreachable!("a clone matches what it was cloned from"),
        }
    }}
}

/// What a column is compared by: texts and atoms by what the compiler has patterns for.
fn scrutinee<'e>(
    mut column: impl Iterator<Item = &'e PatternElement> + Clone,
    reference: &TokenStream,
) -> TokenStream {
    if column.clone().any(|element| matches!(element, PatternElement::Text(_))) {
        quote!(::std::string::String::as_str(#reference))
    } else if column.any(|element| matches!(element, PatternElement::Atom(_))) {
        quote!((#reference).to_bits())
    } else {
        quote!(#reference)
    }
}

/// The constant for an atom of a case.
fn atom_constant(number: usize, at: usize, which: usize) -> Ident {
    generated_ident(&format!("ATOM_{number}_{at}_{which}"))
}

/// The atoms of a case, as constants that patterns can name.
fn atoms(number: usize, case: &Case) -> Vec<TokenStream> {
    let mut constants = Vec::new();
    for (at, element) in case.pattern.elements().iter().enumerate() {
        if let PatternElement::Atom(atoms) = element {
            constants.extend(atoms.iter().enumerate().map(|(which, atom)| {
                let bits = atom_constant(number, at, which);
                quote!(const #bits: u64 = (#atom).to_bits();)
            }));
        }
    }
    constants
}

/// The type of an element that has one.
fn type_of(element: &PatternElement, root: &Path) -> TokenStream {
    element.of(root).unwrap_or_default()
}

/// The type of what a projection makes, for the compiler to find if it is not written.
fn value_type(of: Option<&Type>) -> TokenStream {
    of.map_or_else(|| quote!(_), ToTokens::to_token_stream)
}

fn wanted(element: &PatternElement, root: &Path) -> TokenStream {
    match element {
        PatternElement::Rest => quote!(#root::internals::WantedElement::Rest),
        PatternElement::One => quote!(#root::internals::WantedElement::One),
        PatternElement::Projected { function, of, .. } => {
            let of = value_type(of.as_ref());
            quote!(#root::internals::wanted_by::<_, #of>(&#function))
        }
        element => {
            let of = type_of(element, root);
            quote!(#root::internals::WantedElement::of::<#of>())
        }
    }
}

impl ElementPlace {
    /// A reference to it; `of` is the type of an element.
    fn reference(&self, of: &TokenStream) -> TokenStream {
        match self {
            Self::Field(at) => {
                let view = generated_ident("view");
                quote!(&#view.#at)
            }
            Self::Element(number) => {
                let call = generated_ident("call");
                quote!(#call.element::<#of>(#number))
            }
            Self::Projected(projected) => quote!(&#projected),
        }
    }
}
