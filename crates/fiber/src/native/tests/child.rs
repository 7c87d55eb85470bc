//! Tests that end their process, or use up something of it: they run in a process of their own.

use std::env;
use std::process::{Command, Output};

const VARIABLE: &str = "COACT_FIBER_TEST";

/// Runs the test of this name in another process, and returns the output of that. There, runs `f`
/// instead, and returns `None`.
pub(super) fn run(test: &str, f: impl FnOnce()) -> Option<Output> {
    run_with(test, &[], f)
}

/// The same, with these variables.
pub(super) fn run_with(test: &str, variables: &[(&str, &str)], f: impl FnOnce()) -> Option<Output> {
    if env::var_os(VARIABLE).is_some_and(|running| running == test) {
        f();
        return None;
    }
    let this = env::current_exe().unwrap();
    let path = format!("native::tests::{test}");
    let arguments = ["--exact", "--nocapture", "--test-threads=1"];
    let mut child = Command::new(this);
    child.arg(path).args(arguments).env(VARIABLE, test).envs(variables.iter().copied());
    Some(child.output().unwrap())
}

/// Runs the test of this name in another process, where `f` must not fail.
#[cfg(target_os = "linux")]
#[track_caller]
pub(super) fn must_pass(test: &str, f: impl FnOnce()) {
    if let Some(output) = run(test, f) {
        let text = [output.stdout, output.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        assert!(output.status.success(), "{text}");
        assert!(text.contains("1 passed"), "no test is called {test}: {text}");
    }
}
