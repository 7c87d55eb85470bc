//! Runs the program as a user does, on good files and on every kind of bad one.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const HEADER: &str = "operation,accounts,amount\n";

/// A folder of its own for each test, in which the program runs.
struct Folder(TempDir);

/// What a run of the program left behind.
struct Run {
    code: i32,
    out: String,
    err: String,
}

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn write(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.0.path().join(name), bytes).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.0.path().join(name)).unwrap()
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ledger"));
        command.current_dir(self.0.path());
        command
    }

    fn run<const N: usize>(&self, args: [&str; N]) -> Run {
        Run::of(self.command().args(args).output().unwrap())
    }

    /// Replays a file with this body after the header.
    fn replay(&self, body: impl AsRef<[u8]>) -> Run {
        self.write("ledger.csv", [HEADER.as_bytes(), body.as_ref()].concat());
        self.run(["ledger.csv", "--verify", "--workers", "2"])
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

    /// The report says each of these.
    #[track_caller]
    fn assert_says<const N: usize>(&self, texts: [&str; N]) {
        assert_eq!(self.err, "");
        for text in texts {
            assert!(self.out.contains(text), "{text:?} is not in\n{}", self.out);
        }
    }

    /// One line is malformed, and all others count.
    #[track_caller]
    fn assert_malformed(&self, line: u64, reason: &str, balances: &str) {
        assert_eq!(self.code, 3, "{}", self.err);
        let found = format!("\nmalformed\n  {:<14}{reason}  ", format!("line {line}"));
        self.assert_says(["  verified  ", &format!("       1  {reason}\n"), &found, balances]);
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
    let run = Folder::new().replay(
        "open,alice,1000\nopen,bob,0\nopen,carol,0\n\
         split,alice;bob;carol,901\ntransfer,bob;alice,1000\nfreeze,carol,\n\
         deposit,carol,5\naudit,alice;bob;carol,\naudit,alice;dave,\n",
    );
    assert_eq!(run.code, 0);
    run.assert_says([
        "ledger.csv: 9 lines, 4 accounts\n",
        "2 workers, 10 µs of work per operation\n",
        "  verified   every decision and every balance agree; ",
        "  accepted             6   66.7 %\n",
        "  rejected             3   33.3 %\n",
        "  malformed            0    0.0 %\n",
        "\nrejected\n  line 6        insufficient funds: bob\n",
        "  line 8        account frozen: carol\n",
        "  line 10       account was never opened: dave\n",
        "\ncritical path\n  5 of 9 operations: on average, at most 1.8 can run in parallel\n",
        "  10.00 in 2 open and 1 frozen; 0 closed, 1 never opened\n",
    ]);
    assert!(!run.out.contains('\x1b'), "no control sequences outside a terminal");
}

#[test]
fn a_missing_file_is_an_error() {
    Folder::new().run(["nowhere.csv"]).assert_unusable("cannot open nowhere.csv: No such file");
}

#[test]
fn a_directory_is_an_error() {
    Folder::new().run(["."]).assert_unusable("cannot read .: Is a directory");
}

#[test]
fn an_empty_file_is_an_error() {
    let folder = Folder::new();
    folder.write("empty.csv", "");
    folder.run(["empty.csv"]).assert_unusable("empty.csv is empty");
    folder.run(["empty.csv", "--verify"]).assert_unusable("empty.csv is empty");
}

#[test]
fn a_wrong_header_is_an_error() {
    let folder = Folder::new();
    folder.write("l.csv", "operation,account\nopen,a,1\n");
    folder.run(["l.csv"]).assert_unusable("l.csv, line 1: the header must be");
}

#[test]
fn a_binary_file_is_an_error() {
    let folder = Folder::new();
    folder.write("l.csv", b"\x7fELF\x02\x01\x01\x00\xff\xfe\n");
    let run = folder.run(["l.csv"]);
    run.assert_unusable("line 1: the header must be");
    assert!(!run.err.contains('\x7f'), "control characters are escaped");
}

#[test]
fn a_header_alone_is_a_ledger_without_operations() {
    let run = Folder::new().replay("");
    assert_eq!(run.code, 0);
    run.assert_says(["ledger.csv: 0 lines, 0 accounts\n", "  verified  ", "  0.00 in 0 open"]);
}

#[test]
fn a_line_cut_short_by_the_end_of_the_file_changes_nothing() {
    let run = Folder::new().replay("open,a,100\ndeposit,a,10");
    run.assert_malformed(
        3,
        "truncated: the file ends in the middle of the line",
        "  1.00 in 1 open",
    );
}

#[test]
fn a_line_that_is_not_utf8_changes_nothing() {
    let run = Folder::new().replay(b"open,a,100\ndeposit,a\xff,10\ndeposit,a,1\n");
    run.assert_malformed(3, "not UTF-8", "  1.01 in 1 open");
}

#[test]
fn the_same_account_twice_changes_nothing() {
    let run = Folder::new().replay("open,a,100\ntransfer,a;a,10\n");
    run.assert_malformed(3, "same account twice", "  1.00 in 1 open");
    let run = Folder::new().replay("open,a,100\nopen,b,0\nsplit,a;b;b,10\n");
    run.assert_malformed(4, "same account twice", "  1.00 in 2 open");
}

#[test]
fn an_amount_beyond_the_limit_changes_nothing() {
    let run = Folder::new().replay("open,a,100\ndeposit,a,99999999999999999999999\n");
    run.assert_malformed(3, "amount too large", "  1.00 in 1 open");
}

#[test]
fn a_balance_beyond_the_limit_is_rejected() {
    let run = Folder::new().replay("open,a,18446744073709551615\nopen,b,5\ndeposit,a,1\n");
    assert_eq!(run.code, 0);
    run.assert_says([
        "  line 4        largest amount exceeded: a\n",
        "  184467440737095516.20 in 2 open",
    ]);
}

#[test]
fn a_line_of_megabytes_spoils_nothing_else() {
    let body = [b"open,a,1\n".as_slice(), &[b'x'; 5_000_000], b"\ndeposit,a,1\n"].concat();
    let run = Folder::new().replay(body);
    run.assert_malformed(3, "not three fields", "  0.02 in 1 open");
}

#[test]
fn every_line_that_was_not_carried_out_can_be_listed() {
    let folder = Folder::new();
    folder.write("l.csv", format!("{HEADER}open,a,1\nwithdraw,a,2\n\nclose,b,\n"));
    let run = folder.run(["l.csv", "--rejected", "r.csv"]);
    assert_eq!(run.code, 3);
    assert_eq!(
        folder.read("r.csv"),
        "line,decision,reason,account\n\
         3,rejected,insufficient funds,a\n\
         4,malformed,blank line,\n\
         5,rejected,account was never opened,b\n"
    );
}

#[test]
fn a_list_that_cannot_be_written_is_an_error() {
    let folder = Folder::new();
    folder.write("l.csv", HEADER);
    let run = folder.run(["l.csv", "--rejected", "no/such/folder/r.csv"]);
    run.assert_unusable("cannot write no/such/folder/r.csv");
}

#[test]
fn standard_input_can_be_verified_too() {
    let mut child = Folder::new()
        .command()
        .args(["-", "--verify"])
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
    run.assert_says(["standard input: 1 line, 1 account\n", "  verified  "]);
}

#[test]
fn wrong_usage_is_explained() {
    let folder = Folder::new();
    for args in [
        vec!["l.csv", "--workers", "0"],
        vec!["l.csv", "--work-us", "-1"],
        vec!["l.csv", "--seed", "1"],
        vec!["l.csv", "--write", "w.csv"],
        vec!["--accounts", "0"],
        vec!["--operations", "many"],
        vec!["--write", "w.csv", "--verify"],
    ] {
        let run = Run::of(folder.command().args(&args).output().unwrap());
        assert_eq!(run.code, 2, "{args:?}");
        assert!(run.err.contains("--help"), "{args:?}: {}", run.err);
    }
}

#[test]
fn help_shows_the_format_examples_and_exit_codes() {
    let run = Folder::new().run(["--help"]);
    assert_eq!(run.code, 0);
    run.assert_says(["operation,accounts,amount", "Examples:", "Exit codes:", "--seed", "--write"]);
}

#[test]
fn without_a_file_the_same_ledger_is_generated_and_verified() {
    let runs = [1, 2].map(|_| Folder::new().run(["--verify", "--work-us", "0"]));
    for run in &runs {
        assert_eq!(run.code, 0);
        run.assert_says(["seed 1: 100,000 lines, 2,000 accounts\n", "  verified  "]);
    }
    let results = runs.each_ref().map(|run| run.out.split_once("\ndecisions\n").unwrap().1);
    assert_eq!(results[0], results[1]);
}

#[test]
fn a_generated_ledger_can_be_written_and_replays_alike_from_its_file() {
    let folder = Folder::new();
    let plan = ["--operations", "3000", "--accounts", "50", "--seed", "5"];
    let run = |args: &[&str]| Run::of(folder.command().args(args).output().unwrap());
    let written = run(&[&plan[..], &["--write", "l.csv"]].concat());
    assert_eq!((written.code, written.out.as_str(), written.err.as_str()), (0, "", ""));
    let printed = run(&[&plan[..], &["--write", "-"]].concat());
    assert!(printed.out == folder.read("l.csv"));

    let read = folder.run(["l.csv", "--verify", "--workers", "3"]);
    assert_eq!(read.code, 0);
    read.assert_says(["l.csv: 3,000 lines, 50 accounts\n", "  verified  "]);
    let generated = run(&plan);
    let results = [&read, &generated].map(|run| run.out.split_once("\ndecisions\n").unwrap().1);
    assert_eq!(counts(results[0]), counts(results[1]));
}

/// The lines of a report that do not name accounts, whose numbers depend on where they come from.
fn counts(results: &str) -> Vec<&str> {
    results.lines().filter(|line| !line.contains("acct-")).collect()
}

#[test]
fn work_is_done_and_told() {
    let run = Folder::new().run(["--verify", "--operations", "300", "--work-us", "20"]);
    assert_eq!(run.code, 0);
    run.assert_says([", 20 µs of work per operation\n", "/s  20 µs of work per operation\n"]);
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let folder = Folder::new();
    let mut child = folder
        .command()
        .args(["--operations", "200000", "--write", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let run = Run::of(child.wait_with_output().unwrap());
    assert_eq!((run.code, run.err.as_str()), (0, ""));
}
