//! Runs the program as a user does, on good files and on every kind of bad one.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

const HEADER: &str = "operation,accounts,amount\n";

/// A folder of its own for each test, with the program in it.
struct Bench {
    folder: TempDir,
}

/// What a run of the program left behind.
struct Run {
    code: i32,
    out: String,
    err: String,
}

impl Bench {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        Self { folder }
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coact"));
        command.arg("ledger").current_dir(self.folder.path());
        command
    }

    fn run<const N: usize>(&self, args: [&str; N]) -> Run {
        Run::of(self.command().args(args).output().unwrap())
    }

    /// Replays a file with this body after the header.
    fn replay(&self, body: impl AsRef<[u8]>) -> Run {
        self.write("ledger.csv", [HEADER.as_bytes(), body.as_ref()].concat());
        self.run(["ledger.csv", "--verify", "--workers", "2", "--json"])
    }
}

impl Run {
    fn of(output: Output) -> Self {
        Self {
            code: output.status.code().unwrap(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn json(&self) -> Value {
        assert_eq!(self.err, "");
        serde_json::from_str(&self.out).unwrap()
    }

    /// The one malformed line of the report.
    #[track_caller]
    fn assert_malformed(&self, line: u64, reason: &str) {
        let report = self.json();
        assert_eq!(self.code, 3);
        assert_eq!(report["decisions"]["malformed"], 1);
        assert_eq!(report["first_malformed"][0]["line"], line);
        assert_eq!(report["first_malformed"][0]["reason"], reason);
        assert_eq!(report["verification"]["same"], true);
    }

    #[track_caller]
    fn assert_unusable(&self, message: &str) {
        assert_eq!(self.code, 2, "{}", self.err);
        assert_eq!(self.out, "");
        assert!(self.err.starts_with("error: "), "{}", self.err);
        assert!(self.err.contains(message), "{}", self.err);
    }
}

#[test]
fn a_good_ledger_gives_balances_decisions_and_reasons() {
    let run = Bench::new().replay(
        "open,alice,1000\nopen,bob,0\nopen,carol,0\n\
         split,alice;bob;carol,901\ntransfer,bob;alice,1000\nfreeze,carol,\n\
         deposit,carol,5\naudit,alice;bob;carol,\naudit,alice;dave,\n",
    );
    let report = run.json();
    assert_eq!(run.code, 0);
    assert_eq!(report["lines"], 9);
    assert_eq!(report["decisions"]["accepted"], 6);
    assert_eq!(report["decisions"]["rejected"], 3);
    assert_eq!(report["accounts"]["total_cents"], 1000);
    assert_eq!(report["accounts"]["never_opened"], 1);
    let rejected: Vec<_> = report["first_rejected"].as_array().unwrap().iter().collect();
    let told = |i: usize| (rejected[i]["line"].as_u64(), rejected[i]["reason"].as_str());
    assert_eq!(told(0), (Some(6), Some("insufficient funds")));
    assert_eq!(told(1), (Some(8), Some("account frozen")));
    assert_eq!(told(2), (Some(10), Some("account was never opened")));
    assert_eq!(rejected[2]["account"], "dave");
}

#[test]
fn the_summary_says_what_the_json_says() {
    let bench = Bench::new();
    bench.write("l.csv", format!("{HEADER}open,a,1250\nwithdraw,b,1\nnonsense\n"));
    let run = bench.run(["l.csv", "--verify"]);
    assert_eq!(run.code, 3);
    for text in [
        "3 lines, 2 accounts",
        "verified",
        "line 3        account was never opened: b",
        "line 4        not three fields  nonsense",
        "12.50 in 1 open",
    ] {
        assert!(run.out.contains(text), "{text:?} is not in\n{}", run.out);
    }
    assert!(!run.out.contains('\x1b'), "no colours outside a terminal");
    assert_eq!(run.err, "", "no progress bar outside a terminal");
}

#[test]
fn a_missing_file_is_an_error() {
    Bench::new().run(["nowhere.csv"]).assert_unusable("cannot open nowhere.csv: No such file");
}

#[test]
fn a_directory_is_an_error() {
    Bench::new().run(["."]).assert_unusable(". is a directory, not a ledger file");
}

#[test]
fn an_empty_file_is_an_error() {
    let bench = Bench::new();
    bench.write("empty.csv", "");
    bench.run(["empty.csv"]).assert_unusable("empty.csv is empty");
    bench.run(["empty.csv", "--verify"]).assert_unusable("empty.csv is empty");
}

#[test]
fn a_wrong_header_is_an_error() {
    let bench = Bench::new();
    bench.write("l.csv", "operation,account\nopen,a,1\n");
    bench.run(["l.csv"]).assert_unusable("l.csv, line 1: the header must be");
}

#[test]
fn a_binary_file_is_an_error() {
    let bench = Bench::new();
    bench.write("l.csv", b"\x7fELF\x02\x01\x01\x00\xff\xfe\n");
    let run = bench.run(["l.csv"]);
    run.assert_unusable("line 1: the header must be");
    assert!(!run.err.contains('\x7f'), "control characters are escaped");
}

#[test]
fn a_header_alone_is_a_ledger_without_operations() {
    let run = Bench::new().replay("");
    assert_eq!(run.code, 0);
    assert_eq!(run.json()["lines"], 0);
}

#[test]
fn a_line_cut_short_by_the_end_of_the_file_changes_nothing() {
    let run = Bench::new().replay("open,a,100\ndeposit,a,10");
    run.assert_malformed(3, "truncated: the file ends in the middle of the line");
    assert_eq!(run.json()["accounts"]["total_cents"], 100);
}

#[test]
fn a_line_that_is_not_utf8_changes_nothing() {
    let run = Bench::new().replay(b"open,a,100\ndeposit,a\xff,10\ndeposit,a,1\n");
    run.assert_malformed(3, "not UTF-8");
    assert_eq!(run.json()["accounts"]["total_cents"], 101);
}

#[test]
fn the_same_account_twice_changes_nothing() {
    let run = Bench::new().replay("open,a,100\ntransfer,a;a,10\n");
    run.assert_malformed(3, "same account twice");
    let run = Bench::new().replay("open,a,100\nopen,b,0\nsplit,a;b;b,10\n");
    run.assert_malformed(4, "same account twice");
}

#[test]
fn an_amount_beyond_the_limit_changes_nothing() {
    let run = Bench::new().replay("open,a,100\ndeposit,a,99999999999999999999999\n");
    run.assert_malformed(3, "amount too large");
}

#[test]
fn a_balance_beyond_the_limit_is_rejected() {
    let run = Bench::new().replay("open,a,999999999999999999\ndeposit,a,1\n");
    let report = run.json();
    assert_eq!(run.code, 0);
    assert_eq!(report["first_rejected"][0]["reason"], "largest amount passed");
    assert_eq!(report["accounts"]["total_cents"], 999_999_999_999_999_999u64);
}

#[test]
fn a_line_of_megabytes_is_skipped() {
    let body = [b"open,a,1\n".as_slice(), &[b'x'; 5_000_000], b"\ndeposit,a,1\n"].concat();
    let run = Bench::new().replay(body);
    run.assert_malformed(3, "longer than 64 KiB");
    assert_eq!(run.json()["accounts"]["total_cents"], 2);
}

#[test]
fn every_line_that_was_not_carried_out_can_be_listed() {
    let bench = Bench::new();
    bench.write("l.csv", format!("{HEADER}open,a,1\nwithdraw,a,2\n\nclose,b,\n"));
    let run = bench.run(["l.csv", "--rejected", "r.csv"]);
    assert_eq!(run.code, 3);
    assert_eq!(
        fs::read_to_string(bench.folder.path().join("r.csv")).unwrap(),
        "line,decision,reason,account\n\
         3,rejected,insufficient funds,a\n\
         4,malformed,blank line,\n\
         5,rejected,account was never opened,b\n"
    );
}

#[test]
fn a_list_that_cannot_be_written_is_an_error() {
    let bench = Bench::new();
    bench.write("l.csv", HEADER);
    let run = bench.run(["l.csv", "--rejected", "no/such/folder/r.csv"]);
    run.assert_unusable("cannot write no/such/folder/r.csv");
}

#[test]
fn standard_input_can_be_verified_too() {
    let mut child = Bench::new()
        .command()
        .args(["-", "--verify", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    writeln!(stdin, "{HEADER}open,a,7").unwrap();
    drop(stdin);
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!(run.code, 0);
    assert_eq!(run.json()["input"], "standard input");
    assert_eq!(run.json()["verification"]["same"], true);
}

#[test]
fn wrong_usage_is_explained() {
    let bench = Bench::new();
    for args in [
        vec![],
        vec!["l.csv", "--workers", "0"],
        vec!["l.csv", "--work-us", "-1"],
        vec!["generate", "--skew", "nan"],
        vec!["generate", "--accounts", "0"],
    ] {
        let run = Run::of(bench.command().args(&args).output().unwrap());
        assert_eq!(run.code, 2, "{args:?}");
        assert!(run.err.contains("--help"), "{args:?}: {}", run.err);
    }
}

#[test]
fn help_shows_the_format_examples_and_exit_codes() {
    let run = Bench::new().run(["--help"]);
    assert_eq!(run.code, 0);
    for text in ["operation,accounts,amount", "Examples:", "Exit codes:", "generate"] {
        assert!(run.out.contains(text), "{text}");
    }
}

#[test]
fn generated_ledgers_are_reproducible_and_replay() {
    let bench = Bench::new();
    let plan = ["generate", "--lines", "3000", "--accounts", "50", "--seed", "5", "--out"];
    for file in ["a.csv", "b.csv"] {
        let run = Run::of(bench.command().args(plan).arg(file).output().unwrap());
        assert_eq!((run.code, run.out.as_str(), run.err.as_str()), (0, "", ""));
    }
    let read = |file| fs::read(bench.folder.path().join(file)).unwrap();
    assert!(read("a.csv") == read("b.csv"));
    let run = bench.run(["a.csv", "--verify", "--workers", "3", "--json"]);
    assert_eq!(run.code, 0);
    assert_eq!(run.json()["verification"]["same"], true);
}

#[test]
fn the_shipped_ledger_is_what_generate_makes_by_default_and_verifies() {
    let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/ledger.csv");
    let bench = Bench::new();
    let generated = bench.command().arg("generate").output().unwrap();
    assert!(generated.stdout == fs::read(&shipped).unwrap(), "data/ledger.csv is out of date");
    let run = bench.run([shipped.to_str().unwrap(), "--verify", "--json"]);
    assert_eq!(run.code, 0);
    assert_eq!(run.json()["lines"], 100_000);
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let bench = Bench::new();
    let mut child = bench
        .command()
        .args(["generate", "--lines", "200000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!((run.code, run.err.as_str()), (0, ""));
}
