//! The result of a behaviour cannot borrow from its cowns.

use coact::prelude::*;

fn main() {
    let cown = Cown::new(String::from("text"));
    let text: Promise<&str> = call(&cown, |text| text.as_str());
    drop(text);
}
