//! The tool and a peer: a shell script in the place of its program, good or bad in every way that
//! matters.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use tempfile::TempDir;

/// What the tool said, and whether it succeeded.
struct Said {
    well: bool,
    out: String,
    errors: String,
}

/// A folder with one peer in it, which is this script.
fn peer(script: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let build = folder.path().join("rust/build");
    fs::create_dir_all(&build).expect("folders can be made in it");
    let program = build.join("rust");
    fs::write(&program, format!("#!/bin/sh\n{script}\n")).expect("a file can be written");
    fs::set_permissions(&program, Permissions::from_mode(0o755)).expect("it is ours");
    folder
}

/// A peer that lists one implementation of `one-cown` and does this when it is run; `$*` is how it
/// is called.
fn runner(run: &str) -> TempDir {
    peer(&format!(
        "case $1 in\n\
         about) echo 'a script 1.0' ;;\n\
         list) printf 'one-cown\\tscript\\t1\\tby hand\\none-cown\\tscript-tenth\\t10\\ta part\\n' ;;\n\
         run) {run} ;;\n\
         esac"
    ))
}

/// Measures `one-cown`, which has 100 adds at this scale, beside the peers of the folder.
fn measure(folder: &TempDir, more: &[&str]) -> Said {
    let output = Command::new(env!("CARGO_BIN_EXE_coact-bench"))
        .args(["run", "one-cown", "--scale", "0.0001", "--runs", "2", "--workers", "2"])
        .arg("--peers-folder")
        .arg(folder.path())
        .args(more)
        .output()
        .expect("the tool starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("the output is UTF-8");
    Said { well: output.status.success(), out: text(output.stdout), errors: text(output.stderr) }
}

/// The lines of the table for one implementation.
fn lines<'a>(printed: &'a str, implementation: &str) -> Vec<&'a str> {
    let is_of = |line: &&str| line.split_whitespace().nth(1) == Some(implementation);
    printed.lines().filter(is_of).collect()
}

/// Answers rightly: the sum is the number of adds, which is told by name.
const RIGHT: &str = r#"for word in "$@"; do case $word in adds_each=*) adds=${word#*=} ;; esac; done
    echo 'warming up'
    echo '{"elapsed_ns":5000,"operations":'$adds',"result":'$adds'}'"#;

#[test]
fn a_peer_runs_beside_ours_and_does_its_share() {
    let folder = runner(RIGHT);
    let file = folder.path().join("records.json");
    let said = measure(&folder, &["--json", file.to_str().expect("the path is UTF-8")]);
    assert!(said.well, "{}{}", said.out, said.errors);
    assert_eq!(lines(&said.out, "script").len(), 1, "{}", said.out);
    let written = fs::read_to_string(file).expect("the records are there");
    let records: Vec<serde_json::Value> = serde_json::from_str(&written).expect("it is JSON");
    let of = |name| records.iter().find(|record| record["implementation"] == name).expect(name);
    let (whole, tenth) = (of("script"), of("script-tenth"));
    assert_eq!((&whole["program"], &whole["how"]), (&"a script 1.0".into(), &"by hand".into()));
    assert_eq!((&whole["count"], &whole["median"]), (&100.into(), &50.0.into()));
    assert_eq!((&tenth["share"], &tenth["count"]), (&10.into(), &10.into()));
    assert_eq!(tenth["median"], 500.0);
}

#[test]
fn peers_are_chosen_by_name_or_left_out() {
    let folder = runner(RIGHT);
    let seen = |peers: &str| {
        let said = measure(&folder, &["--peers", peers]);
        assert!(said.well, "{}{}", said.out, said.errors);
        assert_eq!(lines(&said.out, "coact").len(), 1, "{}", said.out);
        ["script", "script-tenth"].map(|name| lines(&said.out, name).len())
    };
    assert_eq!(seen("all"), [1, 1]);
    assert_eq!(seen("script"), [1, 1]);
    assert_eq!(seen("script-tenth"), [0, 1]);
    assert_eq!(seen("none"), [0, 0]);
}

#[test]
fn a_peer_that_is_not_built_is_skipped_with_a_hint_and_refused_if_it_is_named() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let said = measure(&folder, &[]);
    assert!(said.well, "{}", said.errors);
    assert!(said.out.contains("erlang/install.sh"), "{}", said.out);
    let said = measure(&folder, &["--peers", "erlang"]);
    assert!(!said.well && said.errors.contains("erlang/install.sh"), "{}", said.errors);
}

#[test]
fn a_peer_that_does_not_speak_the_protocol_is_refused_by_name() {
    for (script, reason) in [
        ("echo nonsense", "nonsense"),
        ("[ $1 = about ] || exit 3", "exit status: 3"),
        ("echo broken >&2; exit 1", "broken"),
    ] {
        let said = measure(&peer(script), &[]);
        assert!(!said.well);
        let errors = said.errors;
        assert!(errors.contains("the peer rust") && errors.contains(reason), "{errors}");
    }
}

#[test]
fn a_peer_that_fails_is_told_and_the_others_are_measured() {
    for (run, reason) in [
        (r#"echo '{"elapsed_ns":5,"operations":100,"result":99}'"#, "is 99 but must be 100"),
        ("echo 'in vain'", "in vain"),
        ("true", "printed nothing"),
        ("exit 1", "exit status: 1"),
        ("exec sleep 100", "took longer than 1 s"),
    ] {
        let said = measure(&runner(run), &["--peers", "script", "--limit", "1"]);
        assert!(!said.well, "{run}: {}", said.out);
        let failed =
            said.out.lines().find(|line| line.starts_with("FAILED one-cown / script on 2"));
        assert!(failed.is_some_and(|line| line.contains(reason)), "{run}: {}", said.out);
        assert_eq!(lines(&said.out, "coact").len(), 1, "{}", said.out);
        assert!(said.errors.contains("failed"), "{}", said.errors);
    }
}
