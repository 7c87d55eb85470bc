//! The program is killed again and again, and goes on each time where it was.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::yield_now;

const TRANSFERS: u64 = 3_000;

fn bank(file: &Path) -> Command {
    let mut bank = Command::new(env!("CARGO_BIN_EXE_bank"));
    bank.arg(file).args([
        "--accounts",
        "50",
        "--at-once",
        "20",
        "--transfers",
        &TRANSFERS.to_string(),
    ]);
    bank
}

fn size(file: &Path) -> u64 {
    file.metadata().map_or(0, |file| file.len())
}

#[test]
fn it_goes_on_where_it_was_killed() {
    is_killed_and_goes_on(&[]);
}

#[test]
fn messages_that_were_on_their_way_arrive_once() {
    is_killed_and_goes_on(&["--messages"]);
}

fn is_killed_and_goes_on(how: &[&str]) {
    let bank = |file: &Path| {
        let mut bank = bank(file);
        bank.args(how);
        bank
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bank.db");
    for round in 0..8 {
        let mut killed = bank(&file).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut told = BufReader::new(killed.stdout.take().unwrap()).lines();
        // It has opened the accounts, and begins.
        let first = told.next().unwrap().unwrap();
        assert!(first.contains("transfers were made before"), "{first}");
        let log = folder.path().join("bank.db-wal");
        let (len, grown) = (size(&log), 16_384 * (round + 1));
        while size(&log).abs_diff(len) < grown && killed.try_wait().unwrap().is_none() {
            yield_now();
        }
        killed.kill().unwrap();
        killed.wait().unwrap();
    }
    let last = bank(&file).output().unwrap();
    let told = String::from_utf8(last.stdout).unwrap();
    assert!(last.status.success(), "{told}{}", String::from_utf8_lossy(&last.stderr));
    assert!(!told.starts_with("0 transfers"), "nothing was made by those that were killed: {told}");
    // Nothing was made twice, and no money has come or gone, which it looks at itself.
    assert!(told.contains(&format!("{TRANSFERS} transfers are made")), "{told}");
    assert!(told.contains("there are 5000000 cents, as at the beginning"), "{told}");
    assert!(told.contains("the statement has them too"), "{told}");
    // A statement that was lost is made anew, and one of what the store does not have, as it was
    // before a backup was restored.
    let statement = folder.path().join("bank.db.statement");
    let other = "UPDATE read_up_to SET position = 1000000000; UPDATE statement SET transfers = 7";
    for lose in [&|| std::fs::remove_file(&statement).unwrap(), &|| {
        rusqlite::Connection::open(&statement).unwrap().execute_batch(other).unwrap()
    }] as [&dyn Fn(); 2]
    {
        lose();
        let again = bank(&file).output().unwrap();
        assert!(again.status.success(), "{}", String::from_utf8_lossy(&again.stderr));
        let lines = |told: &str| told.lines().last().unwrap().to_owned();
        assert_eq!(lines(&String::from_utf8(again.stdout).unwrap()), lines(&told));
    }
}
