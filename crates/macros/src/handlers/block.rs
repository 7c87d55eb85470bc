//! The `impl` block that `#[handlers]` stands at.

use proc_macro2::Ident;
use syn::{Generics, Type};

use super::method_parameters::peeled;
use crate::options::RuntimePath;

/// What all messages of one block share.
pub struct HandlersBlock<'a> {
    pub root: RuntimePath,
    pub actor: &'a Type,
    pub generics: &'a Generics,
}

impl HandlersBlock<'_> {
    /// The name of the actor's type.
    ///
    /// # Panics
    /// Panics if it has none; `check` has rejected that.
    pub fn actor_name(&self) -> &Ident {
        name_of(self.actor).expect("an actor's type has a name")
    }
}

/// The name of a type, if it has one.
pub fn name_of(ty: &Type) -> Option<&Ident> {
    match peeled(ty) {
        Type::Path(path) => path.path.segments.last().map(|last| &last.ident),
        _ => None,
    }
}
