//! Derives the name of a message from that of its method.

use proc_macro2::Ident;
use syn::ext::IdentExt;

/// Turns `get_all` into `GetAll`; returns `None` if the result is no identifier.
pub fn of_method(method: &Ident) -> Option<Ident> {
    let name: String = method.unraw().to_string().split('_').map(capitalised).collect();
    let mut name = syn::parse_str::<Ident>(&name).ok()?;
    name.set_span(method.span());
    Some(name)
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(method: &str) -> Option<String> {
        let method = Ident::parse_any.parse_str(method).expect("a name");
        of_method(&method).map(|name| name.to_string())
    }

    use syn::parse::Parser;

    #[test]
    fn words_are_joined() {
        assert_eq!(named("deposit").as_deref(), Some("Deposit"));
        assert_eq!(named("get_all").as_deref(), Some("GetAll"));
        assert_eq!(named("_sync2_v4").as_deref(), Some("Sync2V4"));
        assert_eq!(named("étape_ß").as_deref(), Some("ÉtapeSS"));
    }

    #[test]
    fn raw_names_lose_their_mark() {
        assert_eq!(named("r#type").as_deref(), Some("Type"));
    }

    #[test]
    fn some_methods_give_no_name() {
        assert_eq!(named("_1"), None);
        assert_eq!(named("__"), None);
        assert_eq!(named("r#_Self"), None);
    }
}
