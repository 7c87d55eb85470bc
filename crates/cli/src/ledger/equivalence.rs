//! The promise of this program as a property: whatever the file, a parallel replay decides every
//! line and leaves every account as a sequential one does.

use coact::prelude::*;
use proptest::prelude::*;

use super::decisions::Decisions;
use super::generate::{Plan, generate};
use super::parallel::Parallel;
use super::progress::Progress;
use super::reader::HEADER;
use super::replay::{Books, Replay, replay};
use super::report::{Report, Timing};
use super::sequential::Sequential;
use super::source::Input;
use super::summary;
use super::trail::Trail;
use super::verification::Verification;
use super::window::CHUNK_LINES;
use super::work::Work;

fn input(file: &str) -> Input<'_> {
    Input { name: "test".into(), bytes: Box::new(file.as_bytes()), size: None }
}

fn books(trail: Trail) -> Books {
    Books::new(Decisions::new(3, None, trail), 3)
}

fn sequential(file: &str) -> (Replay, Trail) {
    let engine = Sequential::new(Work::default());
    let progress = Progress::new("test", None);
    let mut replay = replay(input(file), engine, books(Trail::written()), &progress).unwrap();
    let trail = replay.books.decisions.finish().unwrap();
    (replay, trail)
}

fn parallel(file: &str, workers: usize, trail: Trail) -> (Replay, Trail) {
    let runtime = Runtime::builder().workers(workers).build().unwrap();
    let progress = Progress::new("test", None);
    let mut replay = runtime
        .run(|| {
            let engine = Parallel::new(Work::default());
            replay(input(file), engine, books(trail), &progress)
        })
        .unwrap();
    let trail = replay.books.decisions.finish().unwrap();
    (replay, trail)
}

fn assert_equivalent(file: &str, workers: usize) {
    let (expected, trail) = sequential(file);
    let (found, trail) = parallel(file, workers, trail.compare().unwrap());
    let comparison = trail.into_comparison().unwrap();
    let verification = Verification::new(&expected, &found, &comparison).unwrap();
    assert_eq!(verification.first_line, None);
    assert_eq!(verification.first_account, None);
    assert!(verification.holds());
    let digests = [expected, found].map(|replay| replay.books.decisions.digest());
    assert_eq!(digests[0], digests[1]);
}

fn generated(plan: Plan) -> String {
    let mut file = Vec::new();
    generate(plan, &mut file).unwrap();
    String::from_utf8(file).unwrap()
}

/// Lines over a handful of accounts, where nearly everything collides, and now and then nonsense.
fn line() -> impl Strategy<Value = String> {
    let account = "[a-f]";
    let accounts = prop::sample::subsequence(vec!["a", "b", "c", "d", "e", "f"], 1..=6);
    let accounts = accounts.prop_shuffle().prop_map(|names| names.join(";"));
    let pair = prop::sample::subsequence(vec!["a", "b", "c", "d", "e", "f"], 2);
    let pair = pair.prop_shuffle().prop_map(|names| names.join(";"));
    prop_oneof![
        2 => (account, 0u64..1000).prop_map(|(a, n)| format!("open,{a},{n}")),
        2 => (account, 1u64..1000).prop_map(|(a, n)| format!("deposit,{a},{n}")),
        2 => (account, 1u64..1000).prop_map(|(a, n)| format!("withdraw,{a},{n}")),
        4 => (pair, 1u64..1000).prop_map(|(a, n)| format!("transfer,{a},{n}")),
        3 => (accounts.clone(), 1u64..1000).prop_map(|(a, n)| format!("split,{a},{n}")),
        2 => accounts.prop_map(|a| format!("audit,{a},")),
        1 => account.prop_map(|a| format!("freeze,{a},")),
        1 => account.prop_map(|a| format!("unfreeze,{a},")),
        1 => account.prop_map(|a| format!("close,{a},")),
        1 => "[a-z,;]{0,12}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn generated_files_replay_alike(
        seed: u64,
        accounts in 1u32..200,
        lines in 0u64..6_000,
        skew in 0.0..2.0f64,
        workers in 1usize..=4,
    ) {
        assert_equivalent(&generated(Plan { lines, accounts, seed, skew }), workers);
    }

    #[test]
    fn hostile_files_replay_alike(
        lines in prop::collection::vec(line(), 0..400),
        workers in 1usize..=4,
    ) {
        let file = format!("{HEADER}\n{}", lines.join("\n"));
        assert_equivalent(&file, workers);
    }
}

#[test]
fn a_file_of_many_chunks_replays_alike() {
    let lines = 50 * CHUNK_LINES as u64 + 17;
    let plan = Plan { lines, accounts: 300, seed: 9, skew: 0.9 };
    assert_equivalent(&generated(plan), 3);
}

#[test]
fn audits_so_wide_that_chunks_end_early_replay_alike() {
    let mut file = format!("{HEADER}\n");
    let names: Vec<_> = (0..3_000).map(|i| format!("a{i}")).collect();
    for name in &names {
        file += &format!("open,{name},{}\n", name.len());
    }
    let all = names.join(";");
    for name in &names[..200] {
        file += &format!("audit,{all},\nwithdraw,{name},1\n");
    }
    assert_equivalent(&file, 2);
}

#[test]
fn a_difference_is_named_with_its_line_and_its_account() {
    let (expected, trail) = sequential(&format!("{HEADER}\nopen,a,1\nwithdraw,a,2\n"));
    let other = format!("{HEADER}\nopen,a,2\nwithdraw,a,2\n");
    let (found, trail) = parallel(&other, 1, trail.compare().unwrap());
    let comparison = trail.into_comparison().unwrap();
    let verification = Verification::new(&expected, &found, &comparison).unwrap();
    assert!(!verification.holds());

    let timing = Timing::new(Some(1), 0, 2, found.elapsed);
    let mut report = Report::new("test".into(), &found, timing, 3);
    report.add_verification(&verification, &found.books);
    let mut text = Vec::new();
    summary::write(&report, &mut anstream::StripStream::new(&mut text)).unwrap();
    let text = String::from_utf8(text).unwrap();
    let told = "  DIFFERENT  1 line and 1 account came out differently
    first line: 3
      sequential  rejected, insufficient funds: a
      parallel    accepted
    first account: a
      sequential  open, balance 0.01
      parallel    open, balance 0.00
";
    assert!(text.contains(told), "{text}");
}

#[test]
fn replays_of_inputs_of_different_length_are_not_compared() {
    let (expected, trail) = sequential(&format!("{HEADER}\nopen,a,1\n"));
    let longer = format!("{HEADER}\nopen,a,1\nopen,b,1\n");
    let (found, trail) = parallel(&longer, 1, trail.compare().unwrap());
    let comparison = trail.into_comparison().unwrap();
    assert!(Verification::new(&expected, &found, &comparison).is_none());
}
