//! Generates the code for one message: its type, and the actor's implementation for it.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::Attribute;

use super::block::HandlersBlock;
use super::generics::MessageGenerics;
use super::method::{HandlerForm, MarkedMethod};
use super::method_parameters::{CallArgument, MessageField};

/// A message of an actor.
pub struct MessageCode<'a> {
    block: &'a HandlersBlock<'a>,
    /// The block's path to `coact`, with the method's span.
    root: TokenStream,
    method: &'a MarkedMethod,
    carried: MessageGenerics,
    /// The span of generated code: errors point at the method, and names do not collide with the
    /// user's.
    site: Span,
}

impl<'a> MessageCode<'a> {
    pub fn new(block: &'a HandlersBlock<'a>, method: &'a MarkedMethod) -> Self {
        let carried = MessageGenerics::new(block.generics, &method.fields, &method.reply);
        let site = Span::mixed_site().located_at(method.ident.span());
        let root = block.root.at(site);
        Self { block, root, method, carried, site }
    }

    /// Generates the message's type and the implementation of its handler.
    pub fn write(&self) -> TokenStream {
        let declaration = self.declaration();
        let constructor = self.constructor();
        let reply = self.reply_impl();
        let handler = self.handler_impl();
        let items = [declaration, constructor, reply, handler];
        let conditions: TokenStream =
            self.method.conditions().map(ToTokens::to_token_stream).collect();
        let items = items.into_iter().filter(|item| !item.is_empty());
        quote!(#(#conditions #items)*)
    }

    fn declaration(&self) -> TokenStream {
        let MarkedMethod { vis, name, derives, fields, .. } = self.method;
        let docs = self.docs();
        let generics = &self.carried.generics;
        let predicates = &generics.where_clause;
        let derive = (!derives.is_empty()).then(|| quote!(#[derive(#derives)]));
        if fields.is_empty() && self.carried.markers.is_empty() {
            return quote!(#docs #derive #vis struct #name #generics #predicates;);
        }
        let fields = fields.iter().map(|field| {
            let docs = self.field_docs(field);
            let MessageField { name, ty, .. } = field;
            quote!(#docs #vis #name: #ty)
        });
        let marker = self.marker().map(|(name, ty)| quote!(#name: #ty));
        let fields = fields.chain(marker);
        quote!(#docs #derive #vis struct #name #generics #predicates { #(#fields),* })
    }

    /// The field for parameters that no other field names, and its type.
    fn marker(&self) -> Option<(Ident, TokenStream)> {
        let markers = &self.carried.markers;
        let of = format_ident!("_of", span = self.method.name.span());
        (!markers.is_empty())
            .then(|| (of, quote!(::core::marker::PhantomData<fn() -> (#(#markers,)*)>)))
    }

    /// Generates `new`, for a message with a marker field, which users should not have to write.
    fn constructor(&self) -> TokenStream {
        let Some((marker, _)) = self.marker() else { return TokenStream::new() };
        let MarkedMethod { vis, name, fields, .. } = self.method;
        let (params, arguments, predicates) = self.carried.generics.split_for_impl();
        let (names, types) = (names(fields), fields.iter().map(|field| &field.ty));
        let values = names.clone();
        quote! {
            impl #params #name #arguments #predicates {
                /// Creates the message.
                #vis fn new(#(#names: #types),*) -> Self {
                    Self { #(#values,)* #marker: ::core::marker::PhantomData }
                }
            }
        }
    }

    fn reply_impl(&self) -> TokenStream {
        let (root, MarkedMethod { name, reply, .. }) = (&self.root, self.method);
        let (params, arguments, predicates) = self.carried.generics.split_for_impl();
        quote_spanned! {self.site=>
            #[automatically_derived]
            impl #params #root::actor::Message for #name #arguments #predicates {
                type Reply = #reply;
            }
        }
    }

    fn handler_impl(&self) -> TokenStream {
        let (root, HandlersBlock { actor, generics, .. }) = (&self.root, self.block);
        let (params, _, predicates) = generics.split_for_impl();
        let message = self.ty();
        let (which, body) = match self.method.form {
            HandlerForm::Now => (quote_spanned!(self.site=> Handler), self.handle()),
            _ => (quote_spanned!(self.site=> Receive), self.receive()),
        };
        quote_spanned! {self.site=>
            #[automatically_derived]
            impl #params #root::actor::#which<#message> for #actor #predicates { #body }
        }
    }

    fn handle(&self) -> TokenStream {
        let (root, MarkedMethod { reply, .. }) = (&self.root, self.method);
        let (message, taken_apart, call) = (self.ty(), self.taken_apart(), self.call());
        quote_spanned! {self.site=>
            fn handle(&mut self, message: #message, context: &mut #root::actor::Context<Self>) -> #reply {
                #taken_apart
                #call
            }
        }
    }

    fn receive(&self) -> TokenStream {
        let (root, MarkedMethod { reply, .. }) = (&self.root, self.method);
        let (message, taken_apart, call) = (self.ty(), self.taken_apart(), self.call());
        let body = match self.method.form {
            HandlerForm::Now | HandlerForm::ByHand => call,
            HandlerForm::Detached => quote_spanned! {self.site=>
                let future = #call;
                #root::actor::Context::detach(context, reply, future);
            },
            HandlerForm::Held => quote_spanned! {self.site=>
                #root::actor::Context::hold(context, reply, move |actor, context| {
                    ::std::boxed::Box::pin(#call)
                });
            },
        };
        quote_spanned! {self.site=>
            fn receive(
                &mut self,
                message: #message,
                reply: #root::actor::Reply<#reply>,
                context: &mut #root::actor::Context<Self>,
            ) {
                #taken_apart
                #body
            }
        }
    }

    /// Generates the pattern that binds the fields to variables of their names.
    fn taken_apart(&self) -> TokenStream {
        let MarkedMethod { name, fields, .. } = self.method;
        let names = names(fields);
        quote_spanned!(self.site=> let #name { #(#names,)* .. } = message;)
    }

    /// Generates the call of the method.
    fn call(&self) -> TokenStream {
        let (root, site) = (&self.root, self.site);
        let arguments = self.method.call.iter().map(|argument| match argument {
            CallArgument::Actor if self.method.form == HandlerForm::Held => {
                quote_spanned!(site=> actor)
            }
            CallArgument::Actor => quote_spanned!(site=> self),
            CallArgument::Field(name) => name.to_token_stream(),
            CallArgument::Context => quote_spanned!(site=> context),
            CallArgument::Reply => quote_spanned!(site=> reply),
            CallArgument::Address => quote_spanned!(site=> #root::actor::Context::address(context)),
            CallArgument::WeakAddress => {
                quote_spanned!(site=> #root::actor::Context::weak(context))
            }
        });
        let method = &self.method.ident;
        quote_spanned!(site=> Self::#method(#(#arguments),*))
    }

    /// The message's type with its generic arguments.
    fn ty(&self) -> TokenStream {
        let name = &self.method.name;
        let (_, arguments, _) = self.carried.generics.split_for_impl();
        quote!(#name #arguments)
    }

    /// Generates an expression that builds the message from variables named like its fields.
    pub fn made(&self) -> TokenStream {
        let name = &self.method.name;
        let fields = names(&self.method.fields);
        match self.marker() {
            Some(_) => quote!(#name::new(#(#fields),*)),
            None => quote!(#name { #(#fields),* }),
        }
    }

    fn docs(&self) -> TokenStream {
        let MarkedMethod { ident, .. } = self.method;
        let docs: Vec<&Attribute> = self.method.docs().collect();
        if docs.is_empty() {
            let text = format!("The message that calls `{}::{ident}`.", self.block.actor_name());
            return quote!(#[doc = #text]);
        }
        quote!(#(#docs)*)
    }

    fn field_docs(&self, field: &MessageField) -> TokenStream {
        let docs = &field.docs;
        if docs.is_empty() {
            let text = format!("The argument `{}`.", field.name);
            return quote!(#[doc = #text]);
        }
        quote!(#(#docs)*)
    }
}

/// The names of the fields.
pub fn names(fields: &[MessageField]) -> impl Iterator<Item = &Ident> + Clone {
    fields.iter().map(|field| &field.name)
}
