//! The tool from outside: its commands, its records, and what it refuses.

use std::path::Path;
use std::process::{Command, Output};

fn tool(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_coact-bench"))
        .args(arguments)
        .output()
        .expect("the tool starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("the output is UTF-8")
}

fn records(file: &Path) -> Vec<serde_json::Value> {
    let written = std::fs::read_to_string(file).expect("the records are there");
    serde_json::from_str(&written).expect("the records are a JSON array")
}

#[test]
fn list_names_the_workloads_and_their_implementations() {
    let output = tool(&["list"]);
    assert!(output.status.success());
    let listed = text(&output.stdout);
    for name in ["two-producers", "skynet", "coact-credits"] {
        assert!(listed.contains(name), "{name} is not listed");
    }
}

#[test]
fn a_run_writes_a_record_for_each_implementation_with_the_machine_in_it() {
    let folder = tempfile::tempdir().expect("a folder can be made");
    let file = folder.path().join("records.json");
    let path = file.to_str().expect("the path is UTF-8");
    let tiny = ["--scale", "0.0001", "--runs", "3", "--peers", "none", "--json", path];
    let output = tool(&[&["run", "transfers"], &tiny[..]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let records = records(&file);
    assert_eq!(records.len(), 2);
    for record in &records {
        assert_eq!(record["workload"], "transfers");
        assert_eq!(record["repetitions"], 3);
        assert_eq!(record["unit"], "ns");
        assert_eq!(record["count"], 100);
        assert_eq!(record["values"].as_array().map(Vec::len), Some(3));
        let figure = |name: &str| record[name].as_f64().expect(name);
        assert!(figure("min") <= figure("median") && figure("median") <= figure("max"));
        assert!(record["machine"]["processors"].as_u64() >= Some(1));
        assert!(record["calibration"]["atomic_add_ns"].as_f64() > Some(0.0));
    }
    assert_eq!(records[0]["implementation"], "coact");
    assert_eq!(records[0]["ratio"]["median"], 1.0);
}

#[test]
fn what_does_not_exist_is_refused_by_name() {
    for (arguments, named) in [
        (["run", "no-such-workload", "--runs", "1"], "no-such-workload"),
        (["run", "cown-ring", "--peers", "no-such-peer"], "no-such-peer"),
        (["run", "cown-ring", "--scale", "0"], "above zero"),
    ] {
        let output = tool(&arguments);
        assert!(!output.status.success());
        assert!(text(&output.stderr).contains(named), "{}", text(&output.stderr));
    }
}

#[test]
fn instructions_names_what_is_counted_and_counts_no_debug_build() {
    let output = tool(&["instructions", "here-one", "--list"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout), "here-one/coact\nhere-one/coact-behaviour\n");
    let unknown = tool(&["instructions", "no-such-workload"]);
    assert!(!unknown.status.success() && text(&unknown.stderr).contains("no-such-workload"));
    if cfg!(debug_assertions) {
        let refused = tool(&["instructions", "here-one"]);
        assert!(!refused.status.success() && text(&refused.stderr).contains("debug build"));
    }
}
