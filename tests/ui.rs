//! Programs that must not compile, with the messages that their authors get.
//!
//! After a change of the messages: `TRYBUILD=overwrite cargo test -p coact-tests --test ui`, and
//! read what it wrote.

#[test]
fn what_must_not_compile_does_not() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("ui/*.rs");
    cases.compile_fail("ui/macros/*.rs");
    cases.compile_fail("ui/dynamic/*.rs");
    cases.compile_fail("ui/durable/*.rs");
}
