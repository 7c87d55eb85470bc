//! The pattern of a case.

use proc_macro2::Span;
use syn::parse::{Parse, ParseStream};
use syn::punctuated::Punctuated;
use syn::{Ident, Pat, Token, Type, parenthesized, token};

use super::element::PatternElement;

/// A parameter of a callback, and the position of its element.
pub struct CallbackArgument {
    pub at: usize,
    pub pattern: Pat,
    pub of: Type,
}

pub enum CasePattern {
    /// `(element, element)`
    Tuple { paren: token::Paren, elements: Vec<PatternElement> },
    /// A name for any tuple, or `_`.
    Any { name: Option<Ident>, span: Span },
}

impl Parse for CasePattern {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let span = input.span();
        if input.peek(token::Paren) {
            let content;
            let paren = parenthesized!(content in input);
            let elements = Punctuated::<PatternElement, Token![,]>::parse_terminated(&content)?;
            let elements: Vec<PatternElement> = elements.into_iter().collect();
            let rests =
                elements.iter().filter(|element| matches!(element, PatternElement::Rest)).count();
            let refuse = |text| Err(syn::Error::new(paren.span.join(), text));
            return match (rests, elements.len()) {
                (2.., _) => refuse("`..` is in a pattern once: where would the second begin?"),
                (0, 13..) => refuse("a tuple has up to twelve elements"),
                _ => Ok(Self::Tuple { paren, elements }),
            };
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

impl CasePattern {
    /// Its elements; none for any tuple.
    pub fn elements(&self) -> &[PatternElement] {
        match self {
            Self::Tuple { elements, .. } => elements,
            Self::Any { .. } => &[],
        }
    }

    /// As it is written.
    pub fn text(&self) -> Option<String> {
        match self {
            Self::Tuple { paren, .. } => paren.span.join().source_text(),
            Self::Any { span, .. } => span.source_text(),
        }
    }
}
