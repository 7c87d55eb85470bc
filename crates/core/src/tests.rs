//! What unit tests share.

use std::env;
use std::process::{Command, Stdio};

/// Set in a process that is to abort.
const DOOMED: &str = "COACT_TEST_IS_DOOMED";

/// Asserts that `doomed` aborts the process. `test` is the path of the calling test, which runs a
/// second time for that, in a process of its own, and there goes no further than this call.
pub(crate) fn assert_aborts(test: &str, doomed: impl FnOnce()) {
    if env::var_os(DOOMED).is_some() {
        doomed();
        return;
    }
    let name = test.strip_prefix("coact_core::").expect("the path begins with the crate");
    let status = Command::new(env::current_exe().expect("a test has a program"))
        .args([name, "--exact"])
        .env(DOOMED, "1")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("the program can be run again");
    // 0: nothing happens; 101: it panics. A signal has no code.
    assert!(!matches!(status.code(), Some(0 | 101)), "it does not abort: {status}");
}
