//! `show`.

use crate::listing::{KEYS, of_any_text};
use crate::world::{World, coact, records};

const ALICE: &str = r#"
bank.account alice
  last event  3
  epoch       1
  hash        {hash}

events
  SEQ  COMMIT  HASH              EVENT              PAYLOAD
    1       1  {hash}  bank.deposited v1  [0, [10000]]
    2       2  {hash}  bank.deposited v1  [0, [376]]
    3       3  {hash}  bank.deposited v1  [0, [25]]

messages to be delivered
  KEY                   SINCE                     MESSAGE            PAYLOAD
  "bank.account/bob 7"  2023-11-14T22:13:20.123Z  bank.deposited v1  [0, [376]]

dead letters: messages that could not be delivered
  KEY                   SINCE                     MESSAGE            PAYLOAD
  carol                 0                         bank.deposited v1  [0, [25]]

answers that clients may ask for again
  KEY                   KEPT UNTIL                MESSAGE            PAYLOAD
  h'ff00'               2023-11-14T22:23:20.000Z  bank.deposited v1  [0, [2]]

timers
  KEY                   DUE                       MESSAGE            PAYLOAD
  "monthly fee"         2023-12-01T00:00:00.000Z  bank.deposited v1  [0, [500]]
  soon                  7                         bank.deposited v1  [0, [0]]
"#;

const BOB: &str = r#"
bank.account bob
  last event  5
  epoch       2
  hash        {hash}
  snapshot    up to event 4, hash {hash}: bank.account v2 [4, true]
  snapshot    up to event 2, hash {hash}: bank.account v2 [2, true]

events
  SEQ  COMMIT  HASH              EVENT              PAYLOAD
    3       8  {hash}  bank.deposited v1  [0, [3]]
    4       9  {hash}  bank.deposited v1  [0, [4]]
    5      11  {hash}  bank.deposited v1  [0, [5]]
  (events 1 to 2 are not stored any more)
"#;

const ORDER: &str = r#"
bank.order 2026/11/27
  last event  2
  epoch       1
  hash        {hash}
  snapshot    up to event 2, hash {hash}: bank.order v1 [1, "paid"]

events
  (none: the snapshot is all there is of them, or a state that has none)
"#;

const JOURNAL: &str = r#"
journal "night shift"
  last event  2
  epoch       1
  hash        {hash}

events
  SEQ  COMMIT  HASH              EVENT                     PAYLOAD
    1      15  {hash}  line v1 #night #"pump 3"  h'70756d70203320697320226f6464220a' "pump 3 is \"odd\"\n"
    2      16  {hash}  line v1                   h'ff00'
"#;

/// Hashes as a word, so that expected texts can be read. (That they are right, `verify` says.)
fn without_hashes(text: &str) -> String {
    let is_hash = |word: &str| word.len() == 16 && word.chars().all(|c| c.is_ascii_hexdigit());
    let mut text = text.to_owned();
    let words: Vec<String> = text
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| is_hash(word))
        .map(str::to_owned)
        .collect();
    for hash in words {
        text = text.replace(&hash, "{hash}");
    }
    text
}

#[test]
fn all_of_an_entity_is_shown() {
    let world = World::new();
    for (kind, key, expected) in [
        ("bank.account", "alice", ALICE),
        ("bank.account", "bob", BOB),
        ("bank.order", "2026/11/27", ORDER),
        ("journal", "night shift", JOURNAL),
        ("journal", "\"night shift\"", JOURNAL),
    ] {
        let text = coact(&world.path, &["show", kind, key]).well();
        assert_eq!(without_hashes(&text), expected.trim_start());
    }
}

#[test]
fn the_numbers_of_events_can_be_chosen() {
    let world = World::new();
    let numbers = |args: &[&str]| -> Vec<u64> {
        let mut all = vec!["show", "--json", "bank.account", "bob"];
        all.extend(args);
        let all = records(&coact(&world.path, &all).well());
        let events = all.iter().filter(|record| record["record"] == "event");
        events.map(|event| event["seq"].as_u64().expect("it is a number")).collect()
    };
    assert_eq!(numbers(&[]), [3, 4, 5]);
    assert_eq!(numbers(&["--from", "4"]), [4, 5]);
    assert_eq!(numbers(&["--to", "4"]), [3, 4]);
    assert_eq!(numbers(&["--from", "4", "--to", "4"]), [4]);
    assert_eq!(numbers(&["--last", "1"]), [5]);
    assert_eq!(numbers(&["--to", "4", "--last", "1"]), [4]);
    assert_eq!(numbers(&["--last", "0"]), [0; 0]);
    assert_eq!(numbers(&["--from", "6"]), [0; 0]);
    assert_eq!(numbers(&["--from", "18446744073709551615"]), [0; 0]);
    assert_eq!(numbers(&["--last", "18446744073709551615"]), [3, 4, 5]);
    let none = coact(&world.path, &["show", "bank.account", "bob", "--from", "6"]).well();
    assert!(none.ends_with("events\n  (none: its last event is 5)\n"), "{none}");
}

#[test]
fn people_get_the_last_events_unless_they_ask_for_more() {
    let world = World::empty();
    std::fs::copy("../sqlite/tests/files/version-1.db", &world.path).expect("it can be copied");
    let text = coact(&world.path, &["show", "bank.account", "1"]).well();
    assert!(text.ends_with("  (the last 20 of 105: `--from 1` shows all)\n"), "{text}");
    assert_eq!(text.lines().count(), 5 + 2 + 1 + 20 + 1, "{text}");
    let text = coact(&world.path, &["show", "bank.account", "1", "--from", "1"]).well();
    assert_eq!(text.lines().count(), 5 + 2 + 1 + 105, "{text}");
}

#[test]
fn records_have_the_bytes_and_what_they_mean() {
    let world = World::new();
    let alice = records(&coact(&world.path, &["show", "--json", "bank.account", "alice"]).well());
    let payload = serde_json::json!({
        "hex": "820081192710", "cbor": "[0, [10000]]", "json": [0, [10000]]
    });
    assert_eq!(alice[1]["payload"], payload);
    let timer = alice.iter().find(|it| it["note"] == "timer").expect("there is a timer");
    assert_eq!(timer["time"], "2023-12-01T00:00:00.000Z");
    assert_eq!(timer["note_key"]["text"], "monthly fee");
    assert_eq!(timer["key"], "alice");
    let lines = records(&coact(&world.path, &["show", "--json", "journal", "night shift"]).well());
    let text = serde_json::json!({"hex": "70756d70203320697320226f6464220a", "text": "pump 3 is \"odd\"\n"});
    assert_eq!(lines[1]["payload"], text);
    assert_eq!(lines[1]["tags"], serde_json::json!(["night", "pump 3"]));
    assert_eq!(lines[2]["payload"], serde_json::json!({"hex": "ff00"}));
    assert!(lines[2].get("tags").is_none(), "it has none");
}

#[test]
fn keys_of_any_text_can_be_given_as_they_are_shown() {
    let world = of_any_text();
    for key in KEYS {
        let quoted = format!("{key:?}");
        let text = coact(&world.path, &["show", "--", "\"any\\ntext\"", &quoted]).well();
        assert!(text.contains("last event  1"), "{text}");
        let record = coact(&world.path, &["show", "--json", "--", "any\ntext", &quoted]).well();
        assert_eq!(records(&record)[0]["key"], key);
        // (The system hands over no NUL, and what is in quotes is what they stand for.)
        if !key.contains('\0') && !key.starts_with('"') {
            let record = coact(&world.path, &["show", "--json", "--", "any\ntext", key]).well();
            assert_eq!(records(&record)[0]["key"], key);
        }
    }
}

#[test]
fn what_is_not_there_suggests_what_is() {
    let world = World::new();
    let said = |kind, key| coact(&world.path, &["show", kind, key]).refused();
    assert_eq!(
        said("bank.account", "alcie"),
        "nothing is stored of bank.account alcie: did you mean bank.account alice?"
    );
    assert_eq!(
        said("bank.acount", "bob"),
        "nothing is stored of bank.acount bob: did you mean bank.account bob?"
    );
    assert_eq!(
        said("journal", "nightshift"),
        "nothing is stored of journal nightshift: did you mean journal '\"night shift\"'?"
    );
    assert_eq!(
        said("bank.account", "zacharias"),
        "nothing is stored of bank.account zacharias: 2 entities of this kind are stored, see `list --kind bank.account`"
    );
    assert_eq!(
        said("x", "y\n"),
        "nothing is stored of x \"y\\n\": there are no entities of this kind; kinds are bank.account or bank.order or journal"
    );
    let empty = World::empty();
    drop(empty.store());
    let said = coact(&empty.path, &["show", "a", "b"]).refused();
    assert_eq!(said, "nothing is stored of a b, nor of anything else");
}
