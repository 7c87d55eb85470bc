//! The names of types that are stored.

use std::fmt::{self, Debug, Display, Formatter};
use std::ops::Deref;
use std::sync::Arc;

/// The stable name of a type, by which its values are read again.
///
/// One that is written in the program is not copied, and its clones count nothing: events of one
/// type, on all processors, have nothing in common that changes.
///
/// ```
/// use coact_persist::TypeName;
///
/// let written = TypeName::from("bank.deposited");
/// let read = TypeName::from("bank.deposited".to_owned());
/// assert_eq!(written, read);
/// assert_eq!(written.len(), 14);
/// ```
#[derive(Clone)]
pub struct TypeName(NameText);

#[derive(Clone)]
enum NameText {
    InProgram(&'static str),
    Read(Arc<str>),
}

impl Deref for TypeName {
    type Target = str;

    fn deref(&self) -> &str {
        match &self.0 {
            NameText::InProgram(name) => name,
            NameText::Read(name) => name,
        }
    }
}

impl From<&'static str> for TypeName {
    fn from(name: &'static str) -> Self {
        Self(NameText::InProgram(name))
    }
}

impl From<Arc<str>> for TypeName {
    fn from(name: Arc<str>) -> Self {
        Self(NameText::Read(name))
    }
}

impl From<String> for TypeName {
    fn from(name: String) -> Self {
        Self(NameText::Read(name.into()))
    }
}

impl PartialEq for TypeName {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for TypeName {}

impl Display for TypeName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(&**self, f)
    }
}

impl Debug for TypeName {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Debug::fmt(&**self, f)
    }
}
