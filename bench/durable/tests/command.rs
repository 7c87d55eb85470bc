//! The tool from outside: some cases of each kind, tiny.

use std::process::Command;

#[test]
fn cases_run_and_are_recorded() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let file = folder.path().join("records.json");
    let output = Command::new(env!("CARGO_BIN_EXE_coact-bench-durable"))
        .args(["run", "events-100", "one-at-a-time", "transfers-hot", "outbox"])
        .args(["recovery-snapshot", "memory-passive"])
        .args(["--scale", "0.001", "--runs", "1", "--folder"])
        .arg(folder.path())
        .arg("--json")
        .arg(&file)
        .output()
        .expect("the tool starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let written = std::fs::read_to_string(file).expect("the records are there");
    let records: serde_json::Value = serde_json::from_str(&written).expect("they are JSON");
    let all = records.as_array().expect("there are several");
    for name in ["events-100-bare", "transfers-hot", "recovery-snapshot", "memory-passive"] {
        let record = all.iter().find(|record| record["case"] == name).expect(name);
        assert!(record["runs"][0]["seconds"].as_f64() > Some(0.0), "{record}");
    }
    // The bare library has written as many at once as the store had.
    let batch = |name: &str| {
        let record = all.iter().find(|record| record["case"] == name).expect(name);
        let run = &record["runs"][0];
        run["count"].as_f64().expect(name) / run["transactions"].as_f64().expect(name)
    };
    assert!(batch("one-at-a-time-bare") == 1.0 && batch("one-at-a-time") == 1.0);
    let (ours, bare) = (batch("events-100"), batch("events-100-bare"));
    assert!(bare >= ours / 2.0 && bare <= ours * 2.0, "{ours} and {bare}");
}

#[test]
fn what_does_not_exist_is_refused_by_name() {
    let output = Command::new(env!("CARGO_BIN_EXE_coact-bench-durable"))
        .args(["run", "no-such-case", "--folder", "."])
        .output()
        .expect("the tool starts");
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("no-such-case"));
}

#[test]
fn what_is_missing_for_a_case_is_named() {
    let folder = tempfile::tempdir().expect("there is room for a folder");
    let output = Command::new(env!("CARGO_BIN_EXE_coact-bench-durable"))
        .args(["run", "one-each", "transfers-hot-sqlite", "--runs", "1", "--folder"])
        .arg(folder.path())
        .arg("--peers-folder")
        .arg(folder.path())
        .output()
        .expect("the tool starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told = String::from_utf8_lossy(&output.stderr);
    for needed in ["sql/install.sh", "pekko-persistence/install.sh", "--postgres"] {
        assert!(told.contains(needed), "{needed} is not in: {told}");
    }
}
