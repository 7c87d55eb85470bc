//! `list`.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use coact_persist::{NoteKey, NoteKind};

use crate::world::{Entity, World, coact, deposited, records, tool};

const ALL: &str = r#"
LAST  EPOCH  COMMIT  SNAPSHOT  OUT  DEAD  TIMERS  KIND          KEY
   3      1       3         -    1     1       2  bank.account  alice
   5      2      11         4    -     -       -  bank.account  bob
   2      1       -         2    -     -       -  bank.order    2026/11/27
   2      1      16         -    -     -       -  journal       "night shift"
4 entities, 12 events, the last one in commit 16
"#;

#[test]
fn entities_are_listed_one_in_a_line() {
    let world = World::new();
    assert_eq!(coact(&world.path, &["list"]).well(), ALL.trim_start());
}

#[test]
fn lines_are_cut_to_the_width_that_is_wanted() {
    let world = World::new();
    let narrow = coact(&world.path, &["list", "--width", "54"]).well();
    let second = "   3      1       3         -    1     1       2  ban…";
    assert_eq!(narrow.lines().nth(1), Some(second));
    assert!(narrow.lines().all(|line| line.chars().count() <= 54), "{narrow}");
}

#[test]
fn a_part_of_them_can_be_listed_and_the_rest_after_it() {
    let world = World::new();
    let accounts = coact(&world.path, &["list", "--kind", "bank.account", "--brief"]).well();
    let expected = "\
LAST  EPOCH  KIND          KEY
   3      1  bank.account  alice
   5      2  bank.account  bob
2 entities, 8 events
";
    assert_eq!(accounts, expected);
    let first = coact(&world.path, &["list", "--limit", "3", "--brief"]).well();
    assert!(first.ends_with("There are more: --after bank.order 2026/11/27\n"), "{first}");
    let rest =
        coact(&world.path, &["list", "--after", "bank.order", "2026/11/27", "--brief"]).well();
    let expected = "\
LAST  EPOCH  KIND     KEY
   2      1  journal  \"night shift\"
1 entity, 2 events
";
    assert_eq!(rest, expected);
    let behind = ["list", "--kind", "bank.account", "--after", "alice", "--limit", "1", "--brief"];
    let behind = coact(&world.path, &behind).well();
    assert!(
        behind.contains("bob") && !behind.contains("alice") && !behind.contains("more"),
        "{behind}"
    );
    let alone = coact(&world.path, &["list", "--after", "alice"]).refused();
    assert!(alone.contains("needs `--kind KIND`"), "{alone}");
    let none = coact(&world.path, &["list", "--limit", "0"]).well();
    assert!(none.contains("0 entities"), "{none}");
    let typo = coact(&world.path, &["list", "--kind", "bank.acount"]).well();
    let kinds =
        "there are no entities of this kind; kinds are bank.account or bank.order or journal";
    assert!(typo.ends_with(&format!("0 entities, 0 events\n{kinds}\n")), "{typo}");
    let after = coact(&world.path, &["list", "--kind", "journal", "--after", "z"]).well();
    assert!(after.ends_with("0 entities, 0 events\n"), "{after}");
}

#[test]
fn records_have_what_lines_have() {
    let world = World::new();
    let all = records(&coact(&world.path, &["list", "--json"]).well());
    assert_eq!(all.len(), 5);
    let alice = serde_json::json!({
        "record": "entity", "kind": "bank.account", "key": "alice", "epoch": 1, "last": 3,
        "hash": all[0]["hash"], "position": 3, "snapshot": null,
        "notes": {"outgoing": 1, "dead_letters": 1, "answers": 1, "timers": 2}
    });
    assert_eq!(all[0], alice);
    let snapshot = serde_json::json!({"seq": 4, "name": "bank.account", "version": 2, "bytes": 3});
    assert_eq!(all[1]["snapshot"], snapshot);
    let sums = serde_json::json!({
        "record": "summary", "entities": 4, "events": 12, "position": 16, "more": false
    });
    assert_eq!(all[4], sums);
}

fn waiting_keys(world: &World, args: &[&str]) -> Vec<String> {
    let mut all = vec!["list", "--json", "--waiting"];
    all.extend(args);
    let all = records(&coact(&world.path, &all).well());
    let entities = all.iter().filter(|record| record["record"] == "entity");
    entities.map(|it| it["key"].as_str().expect("it is a text").to_owned()).collect()
}

#[test]
fn entities_that_have_something_waiting_can_be_found() {
    let world = World::new();
    let text = coact(&world.path, &["list", "--waiting"]).well();
    let expected = "\
LAST  EPOCH  COMMIT  SNAPSHOT  OUT  DEAD  TIMERS  KIND          KEY
   3      1       3         -    1     1       2  bank.account  alice
1 entity, 3 events, the last one in commit 3
";
    assert_eq!(text, expected);
    let brief = coact(&world.path, &["list", "--waiting", "--brief"]).well();
    assert_eq!(brief.lines().nth(1), Some("   3      1  bank.account  alice"));
    assert_eq!(waiting_keys(&world, &[]), ["alice"]);
    assert_eq!(waiting_keys(&world, &["--kind", "journal"]), [""; 0]);
    // An answer is not among what waits, a damaged timer is.
    world.damage("DELETE FROM note WHERE kind IN (1, 2)");
    world.damage("UPDATE note SET rank = rank + 1 WHERE kind = 4");
    assert_eq!(waiting_keys(&world, &[]), ["alice"]);
    world.damage("DELETE FROM note WHERE kind = 4");
    assert_eq!(waiting_keys(&world, &[]), [""; 0]);
}

/// More notes than one page has, damaged ones among them, of entities of which some wait for
/// nothing.
#[test]
fn all_that_wait_are_found_and_limited() {
    let world = World::empty();
    let store = world.store();
    for n in 0..300_u64 {
        let mut one = Entity::claim(&store, "busy", &format!("{n:03}"));
        one.commit(&store, |member, hash| {
            let hash = member.event(deposited(n), hash);
            if n % 3 == 0 {
                let key = NoteKey::from("later");
                member.put_note(NoteKind::Timer, key, 1_000 - n, deposited(n));
            }
            Some(hash)
        });
    }
    drop(store);
    world.damage("UPDATE note SET rank = rank + 1 WHERE entity % 7 = 1");
    world.damage("UPDATE note SET rank = entity - 50 WHERE entity IN (31, 34)");
    let expected: Vec<_> = (0..300).step_by(3).map(|n| format!("{n:03}")).collect();
    assert_eq!(waiting_keys(&world, &[]), expected);
    let behind = ["--kind", "busy", "--after", "290", "--limit", "2"];
    assert_eq!(waiting_keys(&world, &behind), ["291", "294"]);
    let some = coact(&world.path, &["list", "--waiting", "--limit", "2"]).well();
    assert!(some.ends_with("There are more: --after busy 003\n"), "{some}");
}

/// What is damaged is no reason to go on for ever, or to show nothing.
#[test]
fn damaged_entities_are_no_obstacle() {
    for (damage, entities) in [
        ("UPDATE entity SET key = X'ff' WHERE id = 1", 1),
        // (Of what kind it was, no one knows.)
        ("UPDATE entity SET kind = X'ff' WHERE id = 1", 0),
        ("UPDATE entity SET last = -1 WHERE id = 1", 1),
        ("UPDATE note SET kind = 99 WHERE kind = 2", 1),
        ("UPDATE note SET kind = 260", 0),
    ] {
        let world = World::new();
        world.damage(damage);
        assert_eq!(waiting_keys(&world, &[]).len(), entities, "{damage}");
        for command in [&["list"][..], &["list", "--json"], &["export"]] {
            coact(&world.path, command).well();
        }
        let told = coact(&world.path, &["verify"]);
        assert_eq!(told.status, 1, "{damage}: {} {}", told.out, told.err);
    }
}

/// Any text is a key, and none may break a line, be taken for another one, or reach the terminal as
/// a command.
pub const KEYS: [&str; 14] = [
    "",
    "\0",
    "a\nb",
    "a/b",
    "🦀",
    "\"",
    "\"quoted\"",
    "it's",
    "\\",
    "\u{1b}[31mred",
    "--json",
    " ",
    "\u{202e}",
    "e\u{301}",
];

pub fn of_any_text() -> World {
    let world = World::empty();
    let store = world.store();
    for key in KEYS {
        Entity::claim(&store, "any\ntext", key).event(&store, deposited(1));
    }
    world
}

#[test]
fn keys_of_any_text_are_one_line_each() {
    let world = of_any_text();
    let text = coact(&world.path, &["list"]).well();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), KEYS.len() + 2, "{text}");
    assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{text:?}");
    let mut keys: Vec<_> = lines[1..=KEYS.len()]
        .iter()
        .map(|line| line.split_once("\"any\\ntext\"  ").expect("the kind is in quotes").1)
        .collect();
    let expected = [
        r#""""#,
        r#""\0""#,
        r#"" ""#,
        r#""\"""#,
        r#""\"quoted\"""#,
        "--json",
        r#""\\""#,
        r#""a\nb""#,
        "a/b",
        r#""e\u{301}""#,
        r#""it's""#,
        r#""\u{1b}[31mred""#,
        r#""\u{202e}""#,
        "🦀",
    ];
    assert_eq!(keys.len(), expected.len());
    keys.sort_unstable();
    let mut expected = expected;
    expected.sort_unstable();
    assert_eq!(keys, expected);
}

#[test]
fn a_closed_pipe_is_the_end_and_no_error() {
    let world = World::empty();
    let store = world.store();
    let mut one = Entity::claim(&store, "log", "long");
    one.commit(&store, |member, mut hash| {
        (0..20_000).for_each(|n| hash = member.event(deposited(n), hash));
        Some(hash)
    });
    for args in [
        &["show", "log", "long", "--from", "1"][..],
        &["export"],
        &["show", "--json", "log", "long"],
    ] {
        let mut child = tool(&world.path)
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the tool runs");
        let mut first = String::new();
        let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
        out.read_line(&mut first).expect("there is a line");
        drop(out);
        let mut said = String::new();
        child.stderr.take().expect("it is piped").read_to_string(&mut said).expect("it ends");
        assert_eq!((child.wait().expect("it ends").code(), &*said), (Some(0), ""), "{args:?}");
        assert!(!first.is_empty());
    }
}
