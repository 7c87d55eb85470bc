//! `#[handlers]`: generates messages from the methods of an actor.
//!
//! `method` reads a marked method (`method_parameters` and `return_type` its signature), `message`
//! generates the code for it, and `api` generates the trait over all of them.

mod api;
mod block;
mod generics;
mod message;
mod method;
mod method_parameters;
mod name;
mod return_type;
mod rewrite_self;

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, ImplItem, ItemImpl};

use crate::derive::borrows;
use crate::errors::ErrorList;
use crate::options::HandlersOptions;
use block::{HandlersBlock, name_of};
use message::MessageCode;
use method::{HandlerForm, MarkedMethod};

/// Expands `#[handlers]`: the block without its marks, the generated code, and the errors.
pub fn expand(options: TokenStream, input: TokenStream) -> TokenStream {
    let Ok(mut block) = syn::parse2::<ItemImpl>(input.clone()) else {
        let text = "`#[handlers]` applies to an `impl` block: `impl Account { .. }`";
        let error = syn::Error::new_spanned(first_line(&input), text).into_compile_error();
        return quote!(#error #input);
    };
    let mut errors = ErrorList::default();
    let options = errors.keep(syn::parse2::<HandlersOptions>(options)).unwrap_or_default();
    let is_sound = check(&block, &mut errors);
    let marked = take_marks(&mut block, &mut errors);
    // An error of the block would otherwise be repeated for each of its methods.
    let written = is_sound.then(|| {
        let methods = methods(&mut block, &marked, &mut errors);
        write(options, &block, &methods, &mut errors)
    });
    let errors = errors.combined().map(syn::Error::into_compile_error);
    quote!(#block #written #errors)
}

/// The first token, for errors that would be too long if they pointed at everything.
fn first_line(input: &TokenStream) -> TokenStream {
    input.clone().into_iter().take(1).collect()
}

/// Returns whether the block can contain messages at all.
fn check(block: &ItemImpl, errors: &mut ErrorList) -> bool {
    let before = errors.count();
    if let Some((path, _)) = &block.trait_ {
        errors.at(path, "messages are inherent methods of the actor: move them to an `impl` block without a trait");
    }
    if name_of(&block.self_ty).is_none() {
        errors.at(&block.self_ty, "an actor is a named type: a struct or an enum");
    }
    if let Some(lifetime) = block.generics.lifetimes().next() {
        errors.at(lifetime, borrows("an actor"));
    }
    errors.count() == before
}

/// Removes the marks, and returns them with the indices of their methods in the block.
fn take_marks(block: &mut ItemImpl, errors: &mut ErrorList) -> Vec<(usize, Attribute)> {
    let mut marked = Vec::new();
    for (place, item) in block.items.iter_mut().enumerate() {
        let ImplItem::Fn(method) = item else { continue };
        let marks = method.attrs.extract_if(.., |attribute| is_mark(attribute));
        let marks: Vec<Attribute> = marks.collect();
        if let Some(second) = marks.get(1) {
            errors.at(second, "this method is already a message: one `#[message]` is enough");
        }
        marked.extend(marks.into_iter().take(1).map(|mark| (place, mark)));
    }
    if marked.is_empty() {
        errors.at(&block.self_ty, "this block has no message: mark a method with `#[message]`");
    }
    marked
}

fn is_mark(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|last| last.ident == "message")
}

/// Reads the marked methods, and completes their return types.
fn methods(
    block: &mut ItemImpl,
    marked: &[(usize, Attribute)],
    errors: &mut ErrorList,
) -> Vec<MarkedMethod> {
    let mut methods = Vec::new();
    for (place, mark) in marked {
        let ImplItem::Fn(method) = &mut block.items[*place] else { continue };
        let read = errors.keep(MarkedMethod::read(method, mark, &block.self_ty));
        method_parameters::strip_docs(&mut method.sig.inputs);
        if read.as_ref().is_some_and(|read| read.form == HandlerForm::Detached) {
            return_type::complete(&mut method.sig.output, &block.generics);
        }
        methods.extend(read);
    }
    methods
}

fn write(
    options: HandlersOptions,
    block: &ItemImpl,
    methods: &[MarkedMethod],
    errors: &mut ErrorList,
) -> TokenStream {
    let HandlersOptions { root, api } = options;
    let block = HandlersBlock { root, actor: &block.self_ty, generics: &block.generics };
    let messages = methods.iter().map(|method| MessageCode::new(&block, method).write());
    let mut written: TokenStream = messages.collect();
    match api {
        Some(api) if !methods.is_empty() => {
            written.extend(errors.keep(api::write(&api, &block, methods)));
        }
        Some(_) => {}
        None => written.extend(api::write_missing(&block, methods)),
    }
    written
}
