//! What a behaviour is given is its own only while it runs.

use coact::prelude::*;

fn main() {
    let (resolver, promise) = Promise::<&mut String>::channel();
    let cown = Cown::new(String::new());
    when(&cown, move |text| resolver.resolve(text));
    drop(promise);
}
