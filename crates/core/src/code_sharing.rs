//! Whether closures share the code that runs them.

/// In a release build the code that runs a closure is compiled for the type of that closure, and
/// the optimizer makes one function of the two. Without optimization this gains nothing, and takes
/// most of the time that a program of many closures takes to compile. So debug builds call closures
/// through pointers.
///
/// `--cfg coact_inlined` turns this off, for tests of the code that release builds have. Loom
/// models and Miri have that code, too.
pub const SHARES_CODE: bool = cfg!(all(debug_assertions, not(coact_inlined), not(loom), not(miri)));
