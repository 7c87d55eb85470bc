//! Schedules survive printing, and nothing else parses.

use super::*;
use crate::TaskId;
use proptest::prelude::*;

fn task(id: u32) -> Choice {
    Choice::Task(TaskId(id))
}

/// Mostly small numbers and short stretches, with the extremes among them.
fn stretches() -> impl proptest::strategy::Strategy<Value = Vec<(Choice, u64)>> {
    let choice = prop_oneof![
        4 => (0_u32..20).prop_map(task),
        2 => (0_u64..20).prop_map(Choice::Value),
        1 => any::<u32>().prop_map(task),
        1 => any::<u64>().prop_map(Choice::Value),
        1 => Just(task(u32::MAX)),
        1 => Just(Choice::Value(u64::MAX)),
    ];
    let count = prop_oneof![4 => 1_u64..9, 1 => 1_u64..1 << 50];
    prop::collection::vec((choice, count), 0..40)
}

fn schedule_of(stretches: &[(Choice, u64)]) -> Schedule {
    let mut schedule = Schedule::new();
    for &(choice, count) in stretches {
        schedule.push_stretch(RepeatedChoice { choice, count }).unwrap();
    }
    schedule
}

fn printed(bytes: &[u8]) -> String {
    let mut all = bytes.to_vec();
    all.extend(checksum::crc32(bytes).to_le_bytes());
    let mut text = String::from("coact1-");
    base32::encode(&all, &mut text);
    text
}

#[test]
fn equal_choices_in_a_row_are_one_stretch() {
    let choices = [task(1), task(1), Choice::Value(1), task(1)];
    let schedule: Schedule = choices.into_iter().collect();
    assert_eq!(schedule.stretches.len(), 3);
    assert_eq!(schedule.len(), 4);
    assert!(schedule.iter().eq(choices));
}

#[test]
fn a_cleared_schedule_is_a_new_one() {
    let mut schedule: Schedule = [task(1)].into_iter().collect();
    schedule.clear();
    assert!(schedule.is_empty());
    assert_eq!(schedule, Schedule::new());
    assert_eq!(schedule.to_string(), "coact1-0000000");
}

#[test]
fn a_thousand_steps_without_a_switch_print_short() {
    let schedule: Schedule = std::iter::repeat_n(task(3), 1000).collect();
    assert!(schedule.to_string().len() <= "coact1-".len() + 12, "{schedule}");
}

#[test]
fn errors_say_what_is_wrong() {
    use ScheduleParseError::*;
    let parse = |text: &str| text.parse::<Schedule>().unwrap_err();
    assert_eq!(parse(""), NotASchedule);
    assert_eq!(parse("coact-000"), NotASchedule);
    assert_eq!(parse("coact1"), NotASchedule);
    assert_eq!(parse("coactx-000"), NotASchedule);
    assert_eq!(parse("coact2-000"), UnknownVersion("2".into()));
    let (character, at) = ('!', 9);
    assert_eq!(parse("coact1-00!0"), UnexpectedCharacter { character, at });
    assert_eq!(parse("coact1-"), WrongLength);
    assert_eq!(parse("coact1-000000"), WrongLength);
    assert_eq!(parse("coact1-1000000"), WrongChecksum);
}

#[test]
fn well_summed_nonsense_is_refused() {
    let overlong = [0xff; 12];
    let task_too_large = [0x80, 0x80, 0x80, 0x80, 0x80, 0x01];
    let rest_missing = [0b0110];
    let too_many = [0b0110, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
    for bytes in [&overlong[..], &task_too_large, &rest_missing, &too_many] {
        assert_eq!(
            printed(bytes).parse::<Schedule>(),
            Err(ScheduleParseError::Malformed),
            "{bytes:x?}"
        );
    }
}

#[test]
fn a_total_that_cannot_be_counted_is_refused() {
    // Twice 2^63 choices, of two tasks so that no single count overflows.
    let half = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01];
    let bytes = [&[0b0110][..], &half, &[0b1110], &half].concat();
    let parsed = printed(&bytes).parse::<Schedule>();
    assert_eq!(parsed, Err(ScheduleParseError::Malformed));
}

proptest! {
    #[test]
    fn printing_and_parsing_agree(stretches in stretches()) {
        let schedule = schedule_of(&stretches);
        prop_assert_eq!(schedule.to_string().parse(), Ok(schedule.clone()));
        prop_assert_eq!(schedule.to_string().to_uppercase().replace("COACT", "coact").parse(), Ok(schedule));
    }

    #[test]
    fn iterating_gives_back_what_was_pushed(choices in prop::collection::vec(0_u32..3, 0..60)) {
        let choices: Vec<_> = choices.into_iter().map(task).collect();
        let schedule: Schedule = choices.iter().copied().collect();
        prop_assert_eq!(schedule.len(), choices.len() as u64);
        prop_assert_eq!(schedule.iter().collect::<Vec<_>>(), choices);
    }

    #[test]
    fn one_wrong_character_is_noticed(stretches in stretches(), place: prop::sample::Index, digit in "[0-9a-hjkmnp-tv-z]") {
        let text = schedule_of(&stretches).to_string();
        let place = "coact1-".len() + place.index(text.len() - "coact1-".len());
        let mut wrong = text.clone();
        wrong.replace_range(place..=place, &digit);
        prop_assume!(wrong != text);
        prop_assert!(wrong.parse::<Schedule>().is_err());
    }

    #[test]
    fn two_swapped_characters_are_noticed(stretches in stretches(), place: prop::sample::Index) {
        let text = schedule_of(&stretches).to_string();
        let place = "coact1-".len() + place.index(text.len() - "coact1-".len() - 1);
        let mut swapped = text.clone().into_bytes();
        swapped.swap(place, place + 1);
        let swapped = String::from_utf8(swapped).unwrap();
        prop_assume!(swapped != text);
        prop_assert!(swapped.parse::<Schedule>().is_err());
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "(coact[0-9]?-)?[0-9a-z]{0,30}", junk: String) {
        let _ = text.parse::<Schedule>();
        let _ = junk.parse::<Schedule>();
    }

    #[test]
    fn whatever_parses_prints_again(bytes: Vec<u8>) {
        if let Ok(schedule) = printed(&bytes).parse::<Schedule>() {
            prop_assert_eq!(schedule.to_string().parse(), Ok(schedule));
        }
    }
}
