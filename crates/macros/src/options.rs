//! The options in the parentheses of the attributes.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::{ToTokens, format_ident};
use syn::ext::IdentExt;
use syn::parse::{Parse, ParseStream};
use syn::{
    Attribute, Ident, LitInt, LitStr, Meta, Path, Token, Type, Visibility, parenthesized,
    parse_quote,
};

/// The path of the runtime in generated code.
pub struct RuntimePath(Path);

impl Default for RuntimePath {
    fn default() -> Self {
        Self(parse_quote!(::coact))
    }
}

impl RuntimePath {
    /// The path with the span `site`, so that errors point there.
    pub fn at(&self, site: Span) -> TokenStream {
        let located = |mut token: TokenTree| {
            token.set_span(token.span().located_at(site));
            token
        };
        self.0.to_token_stream().into_iter().map(located).collect()
    }
}

impl ToTokens for RuntimePath {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        self.0.to_tokens(tokens);
    }
}

/// The trait that gives an address one method per message.
pub struct ApiTrait {
    pub vis: Visibility,
    /// `None`: named after the actor.
    pub name: Option<Ident>,
    /// The span of the option.
    pub span: Span,
}

/// `#[handlers(..)]`
#[derive(Default)]
pub struct HandlersOptions {
    pub root: RuntimePath,
    pub api: Option<ApiTrait>,
}

impl Parse for HandlersOptions {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut options = Self::default();
        each_option(input, |key, input| {
            match key.to_string().as_str() {
                "crate" => options.root = RuntimePath(value(input)?),
                "api" => options.api = Some(api(key, input)?),
                _ => {
                    return Err(unknown(
                        key,
                        "`#[handlers]`",
                        "`api`, `api = Name` and `crate = path`",
                    ));
                }
            }
            Ok(())
        })?;
        Ok(options)
    }
}

fn api(key: &Ident, input: ParseStream<'_>) -> syn::Result<ApiTrait> {
    let span = key.span();
    if !input.peek(Token![=]) {
        return Ok(ApiTrait { vis: Visibility::Inherited, name: None, span });
    }
    input.parse::<Token![=]>()?;
    Ok(ApiTrait { vis: input.parse()?, name: Some(input.parse()?), span })
}

/// `#[message(..)]` on a method
#[derive(Default)]
pub struct MethodOptions {
    pub name: Option<Ident>,
    /// The word `held`, if present.
    pub held: Option<Ident>,
    /// The traits that the message derives.
    pub derives: TokenStream,
}

impl MethodOptions {
    /// Parses `#[message]` or `#[message(..)]`.
    pub fn of(attribute: &Attribute) -> syn::Result<Self> {
        match &attribute.meta {
            Meta::Path(_) => Ok(Self::default()),
            _ => attribute.parse_args(),
        }
    }
}

impl Parse for MethodOptions {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut options = Self::default();
        each_option(input, |key, input| {
            match key.to_string().as_str() {
                "name" => options.name = Some(value(input)?),
                "held" => options.held = Some(key.clone()),
                "derive" => {
                    let traits;
                    parenthesized!(traits in input);
                    options.derives = traits.parse()?;
                }
                "reply" => {
                    let text = "the reply of a method is its return value: remove `reply`";
                    return Err(syn::Error::new(key.span(), text));
                }
                _ => {
                    let known = "`name = Name`, `held` and `derive(Trait, ..)`";
                    return Err(unknown(key, "`#[message]` on a method", known));
                }
            }
            Ok(())
        })?;
        Ok(options)
    }
}

/// `#[actor(..)]` and `#[message(..)]` on a type with a derive
#[derive(Default)]
pub struct DeriveOptions {
    pub root: RuntimePath,
    pub reply: Option<Type>,
}

impl DeriveOptions {
    /// Parses the helper attributes named `helper`; `has_reply` allows the option `reply`.
    pub fn of(attributes: &[Attribute], helper: &str, has_reply: bool) -> syn::Result<Self> {
        let mut options = Self::default();
        let known = if has_reply { "`reply = Type` and `crate = path`" } else { "`crate = path`" };
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident(helper)) {
            attribute.parse_args_with(|input: ParseStream<'_>| {
                each_option(input, |key, input| {
                    match key.to_string().as_str() {
                        "crate" => options.root = RuntimePath(value(input)?),
                        "reply" if has_reply => options.reply = Some(value(input)?),
                        _ => return Err(unknown(key, &format!("`#[{helper}]` on a type"), known)),
                    }
                    Ok(())
                })
            })?;
        }
        Ok(options)
    }
}

/// `#[stored(..)]`
pub struct StoredOptions {
    pub root: RuntimePath,
    pub name: LitStr,
    pub version: Option<LitInt>,
    /// The type of the version before.
    pub earlier: Option<Type>,
}

impl Parse for StoredOptions {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let (mut root, mut name, mut version, mut earlier) =
            (RuntimePath::default(), None::<LitStr>, None, None);
        let site = input.span();
        each_option(input, |key, input| {
            match key.to_string().as_str() {
                "crate" => root = RuntimePath(value(input)?),
                "name" => name = Some(value(input)?),
                "version" => version = Some(value(input)?),
                "earlier" => earlier = Some(value(input)?),
                _ => {
                    let known =
                        "`name = \"..\"`, `version = number`, `earlier = Type` and `crate = path`";
                    return Err(unknown(key, "`#[stored]`", known));
                }
            }
            Ok(())
        })?;
        let nameless = "it needs a name that never changes, by which its values are read again: \
            `#[stored(name = \"bank.deposited\")]`";
        let name = name.ok_or_else(|| syn::Error::new(site, nameless))?;
        if name.value().is_empty() {
            return Err(syn::Error::new(name.span(), nameless));
        }
        if let Some(version) = &version {
            check_version(version)?;
        }
        Ok(Self { root, name, version, earlier })
    }
}

fn check_version(version: &LitInt) -> syn::Result<()> {
    match version.base10_parse::<u32>() {
        Ok(0) => Err(syn::Error::new(version.span(), "the first version is 1")),
        other => other.map(drop),
    }
}

/// Reads options `key ..` separated by commas; rejects repeated keys.
fn each_option(
    input: ParseStream<'_>,
    mut read: impl FnMut(&Ident, ParseStream<'_>) -> syn::Result<()>,
) -> syn::Result<()> {
    let mut seen = Vec::new();
    while !input.is_empty() {
        let key = input.call(Ident::parse_any)?;
        if seen.contains(&key) {
            return Err(syn::Error::new(key.span(), format_args!("`{key}` is given twice")));
        }
        read(&key, input)?;
        seen.push(key);
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(())
}

/// Parses `= value` after a key.
fn value<T: Parse>(input: ParseStream<'_>) -> syn::Result<T> {
    input.parse::<Token![=]>()?;
    input.parse()
}

fn unknown(key: &Ident, what: &str, known: &str) -> syn::Error {
    syn::Error::new(
        key.span(),
        format_args!("{what} has no option `{key}`; its options are {known}"),
    )
}

/// The default name of an actor's `api`.
pub fn default_api_name(actor: &Ident) -> Ident {
    format_ident!("{}Messages", actor.unraw())
}
