//! What is written between the braces of `cases!`.

use proc_macro2::Span;
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::spanned::Spanned;
use syn::{BinOp, Expr, Ident, Path, Token, Type, parse_quote};

use super::callback;
use super::pattern::{CallbackArgument, CasePattern};

/// `ref |context| case, case, after time => expression`
pub struct CasesInput {
    pub root: Path,
    /// Whether what is captured is borrowed.
    pub borrows: bool,
    /// The name of the context, and the type of what it refers to.
    pub context: Option<(Ident, Type)>,
    pub cases: Vec<Case>,
    pub after: Option<(Expr, Expr)>,
}

/// `pattern if guard => body`
pub struct Case {
    pub pattern: CasePattern,
    pub guard: Option<Expr>,
    pub body: Expr,
    /// What a callback binds of the elements at these positions.
    pub arguments: Vec<CallbackArgument>,
    /// The pattern as it is written, for people.
    pub text: String,
}

impl Parse for CasesInput {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut root: Path = parse_quote!(::coact::dynamic);
        if input.peek(Token![crate]) && input.peek2(Token![=]) {
            input.parse::<Token![crate]>()?;
            input.parse::<Token![=]>()?;
            root = input.parse()?;
            input.parse::<Token![;]>()?;
        }
        let borrows = input.parse::<Option<Token![ref]>>()?.is_some();
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
        Ok(Self { root, borrows, context, cases, after })
    }
}

fn context(input: ParseStream<'_>) -> syn::Result<(Ident, Type)> {
    input.parse::<Token![|]>()?;
    let name: Ident = input.parse()?;
    let colon: Option<Token![:]> = input.parse()?;
    let of = colon.map(|_| input.parse::<Type>()).transpose()?;
    input.parse::<Token![|]>()?;
    match of {
        None => {
            let text = "the type of the context cannot be found: `|name: &mut Type|`";
            Err(syn::Error::new(name.span(), text))
        }
        Some(Type::Reference(of)) if of.mutability.is_some() => Ok((name, *of.elem)),
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
            | Expr::Unsafe(_)
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

fn guard(input: ParseStream<'_>) -> syn::Result<Option<Expr>> {
    let guard = input.parse::<Option<Token![if]>>()?.map(|_| input.parse::<Expr>()).transpose()?;
    match guard.as_ref().and_then(callback_behind) {
        Some(arrow) => {
            let text = "a case with a guard is written with `=>`, and binds in its pattern";
            Err(syn::Error::new(arrow, text))
        }
        None => Ok(guard),
    }
}

/// The `>>` of a callback, which is part of the expression that is written before it.
fn callback_behind(guard: &Expr) -> Option<Span> {
    let Expr::Binary(binary) = guard else { return None };
    match (&binary.op, &*binary.right) {
        (BinOp::Shr(arrow), Expr::Closure(_)) => Some(arrow.span()),
        (_, right) => callback_behind(right),
    }
}

impl Parse for Case {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut pattern = input.parse::<CasePattern>()?;
        let text = pattern.text().unwrap_or_default();
        let guard = guard(input)?;
        if input.peek(Token![>>]) {
            input.parse::<Token![>>]>()?;
            let (arguments, body) = callback::bind(input.parse()?, &mut pattern)?;
            if input.peek(Token![,]) || !input.is_empty() && !matches!(body, Expr::Block(_)) {
                input.parse::<Token![,]>()?;
            }
            return Ok(Self { pattern, guard, body, arguments, text });
        }
        callback::refuse_placeholders(&pattern)?;
        Ok(Self { pattern, guard, body: body(input)?, arguments: Vec::new(), text })
    }
}
