//! No module of the facade has a name of the prelude for something else. By `*` such a name would
//! be ambiguous, and imported by itself it would hide the prelude's without a word. This compiles,
//! or not.

macro_rules! beside_the_prelude {
    ($($module:ident)*) => { $(
        mod $module {
            #[expect(unused_imports, reason = "names are resolved here, and not used")]
            use coact::{prelude::*, $module::*};

            #[expect(unused_imports, reason = "names are resolved here, and not used")]
            use self::{
                Actor as _, Addr as _, Ask as _, AskError as _, Batch as _, Broken as _, Cown as _,
                ExitReason as _, Group as _, Handler as _, Message as _, Promise as _,
                Receive as _, Recipient as _, Reply as _, Runtime as _, SendError as _,
                actor as _, after as _, batch as _, call as _, every as _, handlers as _,
                message as _, read_all as _, scope as _, spawn as _, try_when as _, when as _,
                when_here as _,
            };
        }
    )* };
}

beside_the_prelude! {
    actor behaviour cache cown credits durable dynamic group mailbox promise pubsub registry routing
    runtime sim stream supervise system this_thread time
}

/// The names above are all that the prelude has.
#[test]
fn every_name_of_the_prelude_is_compared() {
    let words = |text: &'static str| {
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.filter(|word| !word.is_empty())
    };
    let facade = include_str!("../crates/coact/src/lib.rs");
    let (_, prelude) = facade.split_once("pub mod prelude {").unwrap();
    let (prelude, _) = prelude.split_once("\n}").unwrap();
    let (_, here) = include_str!("names.rs").split_once("use self::{").unwrap();
    let (here, _) = here.split_once("};").unwrap();
    let compared: Vec<_> = words(here).collect();
    let mut count = 0;
    for list in prelude.split("pub use ").skip(1) {
        let (list, _) = list.split_once(';').unwrap();
        let names = list.rsplit_once("::").map_or(list, |(_, names)| names);
        for name in words(names) {
            assert!(compared.contains(&name), "{name} of the prelude is not compared");
            count += 1;
        }
    }
    assert!(count >= 30, "{count} names in the prelude");
}
