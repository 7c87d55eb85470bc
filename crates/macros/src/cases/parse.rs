//! What is written between the braces of `cases!`.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, Ident, Path, Token, Type, parenthesized, parse_quote, token};

use super::element::Element;

/// `|context| case, case, after time => expression`
pub struct Input {
    pub root: Path,
    /// The name of the context, and the type of what it refers to.
    pub context: Option<(Ident, Option<Type>)>,
    pub cases: Vec<Case>,
    pub after: Option<(Expr, Expr)>,
}

/// `pattern if guard => body`
pub struct Case {
    pub pattern: Pattern,
    pub guard: Option<Expr>,
    pub body: Expr,
    /// The pattern as it is written, for people.
    pub text: String,
}

pub enum Pattern {
    /// `(element, element)`
    Tuple { paren: token::Paren, elements: Vec<Element> },
    /// A name for any tuple, or `_`.
    Any { name: Option<Ident>, span: Span },
}

impl Parse for Input {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut root: Path = parse_quote!(::coact::dynamic);
        if input.peek(Token![crate]) && input.peek2(Token![=]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            root = input.parse()?;
            input.parse::<Token![;]>()?;
        }
        let context = if input.peek(Token![|]) { Some(context(input)?) } else { None };
        let (mut cases, mut after) = (Vec::new(), None);
        while !input.is_empty() {
            if let Some((_, body)) = &after {
                let text = "`after` comes last: it is what is done if none of the cases is";
                return Err(syn::Error::new(Spanned::span(body), text));
            }
            if is_after(input) {
                input.call(Ident::parse_any)?;
                let time = input.parse()?;
                after = Some((time, body(input)?));
            } else {
                cases.push(input.parse()?);
            }
        }
        Ok(Self { root, context, cases, after })
    }
}

fn context(input: ParseStream<'_>) -> syn::Result<(Ident, Option<Type>)> {
    input.parse::<Token![|]>()?;
    let name = input.parse()?;
    let colon: Option<Token![:]> = input.parse()?;
    let of = colon.map(|_| input.parse::<Type>()).transpose()?;
    input.parse::<Token![|]>()?;
    match of {
        None => Ok((name, None)),
        Some(Type::Reference(of)) if of.mutability.is_some() => Ok((name, Some(*of.elem))),
        Some(other) => {
            let text = "the context is lent to the cases: `&mut Type`";
            Err(syn::Error::new(Spanned::span(&other), text))
        }
    }
}

/// Whether there is `after` with a time, and not a name for any tuple.
fn is_after(input: ParseStream<'_>) -> bool {
    let fork = input.fork();
    let is_word = fork.call(Ident::parse_any).is_ok_and(|word| word == "after");
    is_word && !fork.peek(Token![=>]) && !fork.peek(Token![if])
}

/// `=> body`, and the comma.
fn body(input: ParseStream<'_>) -> syn::Result<Expr> {
    input.parse::<Token![=>]>()?;
    let body = Expr::parse_with_earlier_boundary_rule(input)?;
    let ends_itself = matches!(
        body,
        Expr::Block(_)
            | Expr::If(_)
            | Expr::Match(_)
            | Expr::ForLoop(_)
            | Expr::Loop(_)
            | Expr::While(_)
    );
    if input.peek(Token![,]) || !input.is_empty() && !ends_itself {
        input.parse::<Token![,]>()?;
    }
    Ok(body)
}

impl Parse for Case {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (start, pattern) = (input.span(), input.parse::<Pattern>()?);
        let text = pattern.text().unwrap_or_else(|| start.source_text().unwrap_or_default());
        let guard = input.parse::<Option<Token![if]>>()?.map(|_| input.parse()).transpose()?;
        Ok(Self { pattern, guard, body: body(input)?, text })
    }
}

impl Parse for Pattern {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let span = input.span();
        if input.peek(token::Paren) {
            let content;
            let paren = parenthesized!(content in input);
            let elements = Punctuated::<Element, Token![,]>::parse_terminated(&content)?;
            return Ok(Self::Tuple { paren, elements: elements.into_iter().collect() });
        }
        if input.parse::<Option<Token![_]>>()?.is_some() {
            return Ok(Self::Any { name: None, span });
        }
        match input.parse::<Ident>() {
            Ok(name) => Ok(Self::Any { name: Some(name), span }),
            Err(_) => Err(syn::Error::new(
                span,
                "a case begins with its pattern: `(element, ..)`, a name for any tuple, or `_`",
            )),
        }
    }
}

impl Pattern {
    fn text(&self) -> Option<String> {
        match self {
            Self::Tuple { paren, .. } => paren.span.join().source_text(),
            Self::Any { span, .. } => span.source_text(),
        }
    }
}
