//! A run that blocks in real time is reported while it blocks.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};

use coact::sim::{self, Config, Sim};
use coact::{Cown, call, when};
use coact_tests::PATIENCE;

/// Set in the processes of programs that block for ever.
const CHILD: &str = "COACT_TEST_BLOCKS";

/// A lock is held across a wait in simulated time, and a behaviour takes it.
fn blocks_at_a_lock() {
    let lock = Arc::new(Mutex::new(0));
    let cown = Cown::new(0);
    let guard = lock.lock().unwrap();
    let other = Arc::clone(&lock);
    when(&cown, move |n| *n += *other.lock().unwrap());
    let _ = call(&cown, |n| *n).wait(); // holds
    drop(guard);
}

/// A simulated thread waits for a thread of `std`, which waits for ever.
fn blocks_at_a_join() {
    let thread = sim::thread(|| {
        let (keep, never) = mpsc::channel::<()>();
        std::mem::forget(keep);
        std::thread::spawn(move || never.recv()).join().unwrap().unwrap();
    });
    let _ = thread.wait();
}

/// Runs this test alone in a process of its own, and returns its report.
fn report_of(test: &str) -> String {
    let this = std::env::current_exe().unwrap();
    let arguments = ["--exact", test, "--nocapture", "--test-threads=1"];
    let mut child = Command::new(this)
        .args(arguments)
        .env(CHILD, "1")
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let (write, read) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        lines.map_while(Result::ok).try_for_each(|line| write.send(line)).is_ok()
    });
    let mut report = String::new();
    // Without a report the test fails for what it has read.
    while let Ok(line) = read.recv_timeout(PATIENCE) {
        report += &line;
        report.push('\n');
        // The last line of a report.
        if line.contains("COACT_SIM_RUNS=") {
            break;
        }
    }
    drop(read);
    child.kill().unwrap();
    child.wait().unwrap();
    reader.join().unwrap();
    report
}

fn explore(program: fn()) {
    Sim::new().config(Config::new().runs(100)).check(program);
}

#[test]
fn p9_a_lock_that_is_held_across_a_wait_is_reported() {
    if std::env::var_os(CHILD).is_some() {
        return explore(blocks_at_a_lock);
    }
    let report = report_of("stalls::p9_a_lock_that_is_held_across_a_wait_is_reported");
    let who = "`simulation::stalls::blocks_at_a_lock::{{closure}}` on runtime `simulated`, blocks in real time";
    assert!(report.contains(who), "{report}");
    assert!(report.contains("used no processor time for a second"), "{report}");
    // Who has the lock, and where that waits.
    let line = include_str!("stalls.rs").lines().position(|line| line.ends_with("// holds"));
    let holds = format!("#0, the main program, waits at {}:{}:", file!(), line.unwrap() + 1);
    assert!(report.contains(&holds), "{report}");
    assert!(report.contains("COACT_SIM_SCHEDULE=coact1-"), "{report}");
}

#[test]
fn p9_a_thread_of_std_that_is_joined_is_reported() {
    if std::env::var_os(CHILD).is_some() {
        return explore(blocks_at_a_join);
    }
    let report = report_of("stalls::p9_a_thread_of_std_that_is_joined_is_reported");
    let who = format!("the thread of {}", file!());
    assert!(report.contains(&who) && report.contains("blocks in real time"), "{report}");
}

/// A wait in real time that ends is no failure: the run goes on when it has ended.
#[test]
fn a_run_that_goes_on_passes() {
    Sim::new().config(Config::new().runs(2)).check(|| {
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || tell.send(7).unwrap());
        assert_eq!(told.recv(), Ok(7));
    });
}
