//! Reports on simulated runs that deadlock or do not end.
#![cfg(feature = "sim")]

use coact_core::credits::Credits;
use coact_core::runtime::{blocking, spawn_future};
use coact_core::sim::{self, Config, Failure, Method, Sim};
use coact_core::{Batch, Cown, Promise, Runtime, call, scope, when};

/// The report on a program that fails, which is the same in a replay.
#[track_caller]
fn failure(sim: &Sim, program: impl Fn() + Clone + 'static) -> Failure {
    let run = |method| {
        let config = Config::new().method(method).runs(50);
        sim.clone().config(config).run(program.clone()).expect_err("it is to fail")
    };
    let failure = run(Method::Random);
    let again = run(Method::Replay(failure.schedule().clone()));
    assert_eq!(failure.cause(), again.cause());
    failure
}

#[track_caller]
fn report(program: impl Fn() + Clone + 'static) -> String {
    failure(&Sim::new(), program).cause().to_owned()
}

/// The location of the line of this file that ends with a mark.
fn at(mark: &str) -> String {
    let mark = format!("// {mark}");
    let line = include_str!("sim_reports.rs").lines().position(|line| line.ends_with(&mark));
    format!("{}:{}:", file!(), line.expect("some line has the mark") + 1)
}

/// Asserts that some line of the report has all of these parts, in this order.
#[track_caller]
fn assert_line(report: &str, parts: &[&str]) {
    let after = |rest: &mut &str, part: &str| {
        rest.split_once(part).map(|(_, behind)| *rest = behind).is_some()
    };
    let has_all = |mut line: &str| parts.iter().all(|part| after(&mut line, part));
    assert!(report.lines().any(has_all), "no line with {parts:#?} in\n{report}");
}

/// A promise that is never completed.
fn never() -> Promise<()> {
    let (resolver, promise) = Promise::channel(); // never
    std::mem::forget(resolver);
    promise
}

#[test]
fn a_promise_that_the_program_itself_is_to_keep() {
    let report = report(|| drop(never().wait())); // waits
    let head = "deadlock: one simulated thread waits, and nothing is left that could wake it";
    assert_line(&report, &[head]);
    let (made, waits) = (at("never"), at("waits"));
    let parts =
        ["    #0, the main program, waits at ", &waits, " for a promise that the program itself"];
    assert_line(&report, &parts);
    assert_line(&report, &[" must complete (", &made]);
    assert_eq!(report.lines().count(), 2, "{report}");
}

#[test]
fn a_circle_of_asks_from_blocking_threads() {
    let report = report(|| {
        let files = Runtime::builder().name("files").on_blocking_threads(2).build().unwrap();
        let (a, b) = files.run(|| (Cown::new(1), Cown::new(2)));
        let (far_a, far_b) = (a.clone(), b.clone());
        when(&a, move |_| {
            let answer = call(&far_b, |b| *b); // a asks
            let _ = answer.wait(); // a waits
        });
        when(&b, move |_| {
            let answer = call(&far_a, |a| *a); // b asks
            let _ = answer.wait(); // b waits
        });
        files.wait_idle();
    });
    let head = "deadlock: 3 simulated threads wait, and nothing is left that could wake them";
    assert_line(&report, &[head]);
    assert_line(
        &report,
        &["#0, the main program, waits at ", " for runtime `files` to have no work left"],
    );
    let edges = ["a", "b"].map(|name| {
        let (asks, waits) = (at(&format!("{name} asks")), at(&format!("{name} waits")));
        let waits_for =
            ["::{{closure}}` on runtime `files`, waits at ", &waits, " for the result of `"];
        assert_line(&report, &waits_for);
        assert_line(&report, &[&waits, "::{{closure}}` (", &asks, "), which is queued behind #"]);
        let line = report.lines().find(|line| line.contains(&waits)).unwrap();
        let waiter = line.trim().split_once(',').unwrap().0;
        (waiter.to_owned(), format!("#{}", line.rsplit_once('#').unwrap().1))
    });
    let [(a, behind_a), (b, behind_b)] = edges;
    assert_eq!((a, b), (behind_b, behind_a), "{report}");
}

#[test]
fn a_thread_that_joins_another_which_waits() {
    let report = report(|| {
        let other = sim::thread(|| drop(never().wait())); // the other
        let _ = other.wait(); // joins
    });
    let (other, joins) = (at("the other"), at("joins"));
    let main =
        ["#0, the main program, waits at ", &joins, " for the thread of ", &other, ", which is #1"];
    assert_line(&report, &main);
    assert_line(
        &report,
        &["#1, the thread of ", &other, ", waits at ", &other, " for a promise that"],
    );
}

#[test]
fn promises_that_come_after_each_other() {
    let report = report(|| {
        let files = Runtime::builder().name("files").on_blocking_threads(2).build().unwrap();
        let held = files.run(|| Cown::new(1));
        when(&held, |_| drop(never().wait()));
        let future = spawn_future(async move { call(&held, |n| *n).await });
        let job = blocking(move || future.wait()); // the job
        let cown = Cown::new(0);
        let first = job.then(&cown, |n, _| *n += 1); // first
        let second = first.then(&cown, |n, _| *n += 1); // second
        let _ = second.wait(); // the end
    });
    let [end, first, second, job] = ["the end", "first", "second", "the job"].map(at);
    let main = ["#0, the main program, waits at ", &end, " for `then` with `", "` (", &second];
    assert_line(&report, &main);
    let after = [&second, "), which follows `then` with `", "` (", &first, "), which follows "];
    assert_line(&report, &after);
    assert_line(&report, &["), which follows the blocking job `", "`, which is #"]);
    assert_line(&report, &["the blocking job `", "`, waits at ", &job, " for the future `"]);
    let awaits =
        [" for the future `", "`, which awaits the result of `", "which is queued behind #1"];
    assert_line(&report, &awaits);
}

#[test]
fn credits_and_scopes() {
    let report = report(|| {
        let files = Runtime::builder().name("files").on_blocking_threads(1).build().unwrap();
        let (credits, held) = (Credits::new(2), files.run(|| Cown::new(1)));
        let permit = credits.acquire_blocking(1);
        drop(sim::thread(move || drop(credits.acquire_blocking(2)))); // acquires
        when(&held, |_| drop(never().wait()));
        let _end = sim::thread(move || scope(|s| s.when(&held, |n| *n += 1))); // scope
        let _ = never().wait();
        drop(permit);
    });
    assert_line(
        &report,
        &["#1, the thread of ", ", waits at ", &at("acquires"), " for 2 credits: 1 of 2 are free"],
    );
    assert_line(
        &report,
        &["the thread of ", ", waits at ", &at("scope"), " for the end of its scope's behaviours"],
    );
}

#[test]
fn pumps() {
    let report = report(|| {
        let pump = Runtime::builder().name("window").build_pumped().unwrap();
        let far = pump.run(|| Cown::new(0));
        let asked = call(&far, |n| *n); // asked
        drop(sim::thread(move || drop(asked.wait()))); // waits for the pump
        let mut never = Box::pin(never());
        let other = Runtime::builder().name("loop").build_pumped().unwrap();
        other.run_future(async move { never.as_mut().await }).unwrap_or_default(); // pumps
    });
    let parts = [
        "the main program, waits at ",
        &at("pumps"),
        " for work for the pump `loop`, where a future awaits",
    ];
    assert_line(&report, &parts);
    let parts = [
        &at("waits for the pump"),
        " for the result of `",
        &at("asked"),
        "), which is ready, but the pump",
    ];
    assert_line(&report, &parts);
}

/// What has no thread is reported as well.
#[test]
fn behaviours_and_futures() {
    let report = report(|| {
        let files = Runtime::builder().name("files").on_blocking_threads(1).build().unwrap();
        let (a, b, c) = files.run(|| (Cown::new(1), Cown::new(2), Cown::new(3)));
        when(&a, |_| drop(never().wait())); // holds
        when(&a, |_| ()); // behind
        when((&a, &b), |_| ()); // both
        when(&b, |_| ()); // behind both
        Batch::new().when(&b, |_| ()).spawn(); // batch
        when(&c, |_| ()); // no thread
        let entered = files.enter();
        drop(spawn_future(async { never().await }));
        drop(entered);
        drop(spawn_future(async { never().await }));
        files.wait_idle(); // waits for files
    });
    let idle = " for runtime `files` to have no work left (jobs, futures and holds: 1)";
    assert_line(&report, &[&at("waits for files"), idle]);
    let head = report.lines().position(|line| line == "  and without a thread:");
    assert_eq!(head, Some(3), "{report}");
    assert_line(&report, &["    `", "::{{closure}}` (", &at("behind"), ") is queued behind #1"]);
    assert_line(&report, &["::{{closure}}` (", &at("both"), ") is queued behind #1"]);
    let behind = ["::{{closure}}` (", &at("behind both"), ") is queued behind `", &at("both")];
    assert_line(&report, &behind);
    assert_line(&report, &["::{{closure}}` (", &at("batch"), ") is queued behind `", &at("both")]);
    let ready = [
        "` (",
        &at("no thread"),
        "on runtime `files`, is ready, but all threads of the runtime are waiting",
    ];
    assert_line(&report, &ready);
    assert_line(
        &report,
        &["the future `", "`, which awaits a promise that the program itself must complete"],
    );
}

#[test]
fn the_report_is_bounded() {
    let report = report(|| {
        (0..1_000).for_each(|_| drop(sim::thread(|| drop(never().wait()))));
    });
    assert!(report.lines().count() < 50, "{report}");
    assert_line(&report, &["deadlock: 1000 simulated threads wait"]);
    assert_line(&report, &["    and 960 more"]);
}

#[test]
fn a_run_without_an_end() {
    fn forever(cown: Cown<u32>) {
        when(cown, |held| forever(held.into_cown()));
    }
    let failure = failure(&Sim::new().max_steps(20_000), || {
        forever(Cown::new(0));
        forever(Cown::new(1));
        let _ = never().wait(); // besides
    });
    let report = failure.to_string();
    assert_eq!(failure.schedule().len(), 20_000);
    assert!(report.len() < 3_000, "{report}");
    let head = "no end after 20000 scheduling decisions; the last 1000 went to";
    assert_line(&report, &[head]);
    assert_line(&report, &["forever::{{closure}}` on runtime `simulated`: 1000 times"]);
    assert_line(&report, &["#0, the main program, waits at ", &at("besides")]);
    assert_line(&report, &["COACT_SIM_STRATEGY=random COACT_SIM_SEED=0x0 COACT_SIM_RUNS=1"]);
}
