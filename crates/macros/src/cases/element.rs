//! The elements of a pattern.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, ExprLit, Ident, Lit, Pat, PatIdent, Path, Token, Type, parse_quote};

/// One element of a pattern.
pub enum PatternElement {
    /// `..`
    Rest,
    /// `_`
    One,
    /// `"text"`, or several of them
    Text(Pat),
    /// `atom!("name")`, or several of them
    Atom(Vec<Pat>),
    /// `pattern: Type`, or a literal
    Typed { pattern: Pat, of: Type },
    /// `function -> pattern`
    Projected { function: Expr, pattern: Pat, of: Option<Type> },
    /// `arg_match`: an element for each parameter of the callback. Replaced before code is
    /// generated.
    Arguments(Span),
}

impl Parse for PatternElement {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        if let Some(function) = projection(input)? {
            let pattern = checked(input.call(Pat::parse_single)?)?;
            return Ok(Self::Projected { function, pattern, of: type_of(input)? });
        }
        let pattern = checked(input.call(Pat::parse_multi)?)?;
        let alternatives = alternatives(&pattern);
        match (type_of(input)?, &pattern) {
            (None, Pat::Rest(_)) => Ok(Self::Rest),
            (None, Pat::Wild(_)) => Ok(Self::One),
            (None, Pat::Ident(name)) if name.ident == "arg_match" => {
                Ok(Self::Arguments(name.ident.span()))
            }
            _ if alternatives.iter().all(is_text) => Ok(Self::Text(pattern)),
            _ if alternatives.iter().all(is_atom) => Ok(Self::Atom(alternatives)),
            (Some(of), _) => Ok(Self::Typed { pattern, of }),
            (None, _) => match type_of_literal(&alternatives[0]) {
                Some(of) => Ok(Self::Typed { pattern, of }),
                None => Err(syn::Error::new(pattern.span(), needs_type(&pattern))),
            },
        }
    }
}

/// The patterns of `pattern | pattern`, or the one.
fn alternatives(pattern: &Pat) -> Vec<Pat> {
    match pattern {
        Pat::Or(several) => several.cases.iter().cloned().collect(),
        Pat::Paren(within) => alternatives(&within.pat),
        one => vec![one.clone()],
    }
}

fn is_text(pattern: &Pat) -> bool {
    matches!(pattern, Pat::Lit(ExprLit { lit: Lit::Str(_), .. }))
}

fn is_atom(pattern: &Pat) -> bool {
    let is_name = |path: &Path| path.segments.last().is_some_and(|last| last.ident == "atom");
    matches!(pattern, Pat::Macro(call) if is_name(&call.mac.path))
}

/// The function of `function -> pattern`, if there is one, and the arrow.
fn projection(input: ParseStream<'_>) -> syn::Result<Option<Expr>> {
    let fork = input.fork();
    if fork.parse::<Expr>().is_err() || !fork.peek(Token![->]) {
        return Ok(None);
    }
    let function = input.parse()?;
    input.parse::<Token![->]>()?;
    Ok(Some(function))
}

fn type_of(input: ParseStream<'_>) -> syn::Result<Option<Type>> {
    input.parse::<Option<Token![:]>>()?.map(|_| input.parse()).transpose()
}

/// Whether a pattern names a constant, as far as one sees.
fn is_constant(pattern: &Pat) -> bool {
    match pattern {
        Pat::Ident(name) => name.subpat.is_none() && names(pattern).is_empty(),
        Pat::Path(_) => true,
        _ => false,
    }
}

fn needs_type(pattern: &Pat) -> String {
    let text = pattern.to_token_stream().to_string();
    format!("the type of an element is part of its pattern: `{text}: Type`")
}

/// The type of a literal, or of a range of literals.
fn type_of_literal(pattern: &Pat) -> Option<Type> {
    let literal = match pattern {
        Pat::Lit(literal) => &literal.lit,
        Pat::Range(range) => match range.start.as_deref().or(range.end.as_deref())? {
            Expr::Lit(literal) => &literal.lit,
            _ => return None,
        },
        _ => return None,
    };
    let suffix = |suffix: &str, default: &str| {
        let name = if suffix.is_empty() { default } else { suffix };
        syn::parse_str(name).ok()
    };
    match literal {
        Lit::Int(int) => suffix(int.suffix(), "i32"),
        Lit::Float(float) => suffix(float.suffix(), "f64"),
        Lit::Bool(_) => Some(parse_quote!(bool)),
        Lit::Char(_) => Some(parse_quote!(char)),
        Lit::Byte(_) => Some(parse_quote!(u8)),
        _ => None,
    }
}

/// Refuses what cannot be matched by reference first and then be moved.
fn checked(pattern: Pat) -> syn::Result<Pat> {
    struct ByRefCheck(Option<syn::Error>);
    impl<'ast> Visit<'ast> for ByRefCheck {
        fn visit_pat_ident(&mut self, pattern: &'ast PatIdent) {
            if let Some(by_ref) = &pattern.by_ref {
                let text = "a case owns what it binds: remove `ref`";
                self.0 = Some(syn::Error::new(by_ref.span(), text));
            }
            visit::visit_pat_ident(self, pattern);
        }
    }
    let mut refs = ByRefCheck(None);
    refs.visit_pat(&pattern);
    refs.0.map_or(Ok(pattern), Err)
}

impl PatternElement {
    /// Its type, if the pattern says it.
    pub fn of(&self, root: &Path) -> Option<TokenStream> {
        match self {
            Self::Rest | Self::One | Self::Projected { .. } | Self::Arguments(_) => None,
            Self::Text(text) => Some(quote_spanned!(text.span()=> ::std::string::String)),
            Self::Atom(_) => Some(quote!(#root::Atom)),
            Self::Typed { of, .. } => Some(of.to_token_stream()),
        }
    }

    /// What tells its type from others, for the compiler as for people.
    pub fn key(&self) -> Option<String> {
        match self {
            Self::Rest | Self::One | Self::Projected { .. } | Self::Arguments(_) => None,
            // As no type is written, since a program may have a `String` or an `Atom` of its own.
            Self::Text(_) => Some("a text".into()),
            Self::Atom(_) => Some("an atom".into()),
            Self::Typed { of, .. } => Some(of.to_token_stream().to_string()),
        }
    }

    /// Whether a callback can have it as an argument.
    pub fn is_argument(&self) -> bool {
        !matches!(self, Self::Rest | Self::One | Self::Arguments(_))
    }

    /// The pattern that may bind something.
    pub fn binding(&self) -> Option<&Pat> {
        match self {
            Self::Typed { pattern, .. } | Self::Projected { pattern, .. } => Some(pattern),
            Self::Rest | Self::One | Self::Text(_) | Self::Atom(_) | Self::Arguments(_) => None,
        }
    }
}

/// The name, if the pattern is that of the whole element.
pub fn whole_name(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::Ident(name) if name.subpat.is_none() && !names(pattern).is_empty() => {
            Some(&name.ident)
        }
        _ => None,
    }
}

/// The names that a pattern binds. (What may be a constant as well is a name.)
pub fn names(pattern: &Pat) -> Vec<Ident> {
    struct BindingNames(Vec<Ident>);
    impl<'ast> Visit<'ast> for BindingNames {
        fn visit_pat_ident(&mut self, pattern: &'ast PatIdent) {
            self.0.push(pattern.ident.clone());
            visit::visit_pat_ident(self, pattern);
        }
    }
    let mut names = BindingNames(Vec::new());
    names.visit_pat(pattern);
    names.0.retain(|name| name.to_string().starts_with(|first: char| !first.is_uppercase()));
    names.0
}

/// The pattern for a reference to the value: without `mut`.
pub fn by_reference(pattern: &Pat) -> TokenStream {
    let alternatives = alternatives(pattern).into_iter().map(|pattern| {
        // Unlike others, constants are not compared through references.
        if is_constant(&pattern) { quote!(&#pattern) } else { without_mut(pattern) }
    });
    quote!(#(#alternatives)|*)
}

fn without_mut(mut pattern: Pat) -> TokenStream {
    struct MutRemover;
    impl VisitMut for MutRemover {
        fn visit_pat_ident_mut(&mut self, pattern: &mut PatIdent) {
            pattern.mutability = None;
            visit_mut::visit_pat_ident_mut(self, pattern);
        }
    }
    MutRemover.visit_pat_mut(&mut pattern);
    quote!(#pattern)
}
