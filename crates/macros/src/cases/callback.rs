//! `pattern >> |x: Type| body`: a callback whose parameters are the last elements of the pattern.

use syn::spanned::Spanned;
use syn::{Expr, ExprClosure, Pat, PatType, ReturnType, Type, parse_quote, token};

use super::element::{PatternElement, names};
use super::pattern::{CallbackArgument, CasePattern};

/// Binds the parameters of a callback; returns them, and its body.
pub fn bind(
    callback: ExprClosure,
    pattern: &mut CasePattern,
) -> syn::Result<(Vec<CallbackArgument>, Expr)> {
    if let Some(word) = &callback.asyncness {
        let text = "a callback runs at once; what it does later it gives to a future";
        return Err(syn::Error::new(word.span(), text));
    }
    let parameters = callback.inputs.iter().map(parameter).collect::<syn::Result<Vec<_>>>()?;
    if let CasePattern::Any { name: Some(word), span } = pattern
        && word == "on_arg_match"
    {
        let elements = vec![PatternElement::Arguments(*span)];
        *pattern = CasePattern::Tuple { paren: token::Paren(*span), elements };
    }
    if let CasePattern::Tuple { elements, .. } = pattern
        && let Some(PatternElement::Arguments(_)) = elements.last()
    {
        elements.pop();
        elements.extend(parameters.iter().map(|(_, of)| wanted(of)));
    }
    refuse_placeholders(pattern)?;
    let arguments = last_elements(pattern, parameters)?;
    let body = *callback.body;
    match callback.output {
        ReturnType::Default => Ok((arguments, body)),
        ReturnType::Type(_, of) => {
            Ok((arguments, parse_quote!({ let result: #of = #body; result })))
        }
    }
}

fn parameter(parameter: &Pat) -> syn::Result<(Pat, Type)> {
    match parameter {
        Pat::Type(PatType { pat, ty, .. }) => Ok((Pat::clone(pat), Type::clone(ty))),
        other => {
            let text = "a callback says what it takes: `|x: Type|`";
            Err(syn::Error::new(other.span(), text))
        }
    }
}

fn wanted(of: &Type) -> PatternElement {
    PatternElement::Typed { pattern: parse_quote!(_), of: of.clone() }
}

/// `arg_match` is the last element, of a case with a callback.
pub fn refuse_placeholders(pattern: &CasePattern) -> syn::Result<()> {
    pattern.elements().iter().try_for_each(|element| match element {
        PatternElement::Arguments(span) => Err(syn::Error::new(
            *span,
            "`arg_match` is the last element, and has its types from a callback: \
             `(.., arg_match) >> |x: Type| ..`",
        )),
        _ => Ok(()),
    })
}

/// Finds the elements that are the arguments: the last ones. Those on the left may be skipped.
fn last_elements(
    pattern: &CasePattern,
    parameters: Vec<(Pat, Type)>,
) -> syn::Result<Vec<CallbackArgument>> {
    let elements = pattern.elements();
    let places: Vec<usize> = (0..elements.len()).filter(|&at| elements[at].is_argument()).collect();
    let Some(skipped) = places.len().checked_sub(parameters.len()) else {
        let (count, most) = (parameters.len(), places.len());
        let text = format!("the callback takes {count} arguments, and the pattern has {most}");
        return Err(syn::Error::new(parameters[most].0.span(), text));
    };
    let arguments = places[skipped..].iter().zip(parameters);
    let argument = |(&at, (pattern, of)): (&usize, (Pat, Type))| match elements[at].binding() {
        Some(bound) if !names(bound).is_empty() => {
            let text = "this element is bound twice: by the pattern and by the callback";
            Err(syn::Error::new(bound.span(), text))
        }
        _ => Ok(CallbackArgument { at, pattern, of }),
    };
    arguments.map(argument).collect()
}
