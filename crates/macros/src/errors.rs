//! Collects all errors of one macro call, each with its own span.

use quote::ToTokens;

/// The errors so far.
#[derive(Default)]
pub struct ErrorList(Vec<syn::Error>);

impl ErrorList {
    /// Adds an error that points at `tokens`.
    pub fn at(&mut self, tokens: impl ToTokens, message: impl std::fmt::Display) {
        self.push(syn::Error::new_spanned(tokens, message));
    }

    pub fn push(&mut self, error: syn::Error) {
        self.0.push(error);
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the value, or records the error and returns `None`.
    pub fn keep<T>(&mut self, result: syn::Result<T>) -> Option<T> {
        result.map_err(|error| self.push(error)).ok()
    }

    /// Returns all errors as one, if there are any.
    pub fn combined(self) -> Option<syn::Error> {
        self.0.into_iter().reduce(|mut all, error| {
            all.combine(error);
            all
        })
    }

    /// Returns the value if there is no error.
    ///
    /// # Panics
    /// Panics if there is neither an error nor a value.
    pub fn or<T>(self, value: Option<T>) -> syn::Result<T> {
        match self.combined() {
            Some(errors) => Err(errors),
            None => Ok(value.expect("a missing value has left an error")),
        }
    }
}
