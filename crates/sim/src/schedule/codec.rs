//! The printed form of a schedule, version 1.
//!
//! `coact1-` and, in base 32, the bytes of the stretches followed by their CRC-32 (little endian).
//! A stretch is a *token* and, if the token says so, a *rest*; both are LEB128 numbers (seven bits
//! per byte, the low ones first, the high bit set on all bytes but the last):
//!
//! ```text
//!   token, up to 67 bits:   payload ······· count  kind
//!                           task or value   2 bits 1 bit (0 task, 1 value)
//!   count 0, 1, 2:          1, 2 or 3 equal choices
//!   count 3:                4 + rest of them
//! ```
//!
//! So a short stretch of one of the first sixteen tasks takes one byte.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use super::base32::{self, Base32Error};
use super::checksum::crc32;
use super::{RepeatedChoice, Schedule};
use crate::{Choice, TaskId};

const FAMILY: &str = "coact";
const VERSION: &str = "1";

/// Counts from here on are written with a rest.
const LONG: u64 = 4;

/// The text is not a printed schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScheduleParseError {
    /// It does not begin with `coact`, a version and a dash.
    NotASchedule,
    /// It was printed by another version of this crate, whose format version this is.
    UnknownVersion(String),
    /// A character that no schedule contains, at this byte of the text.
    UnexpectedCharacter {
        /// The character.
        character: char,
        /// Its place, in bytes from the start of the text.
        at: usize,
    },
    /// Characters are missing or superfluous: usually the line was cut off.
    WrongLength,
    /// The checksum does not match: a character is wrong, missing or superfluous.
    WrongChecksum,
    /// The checksum matches, but the content is not what this version prints.
    Malformed,
}

impl fmt::Display for ScheduleParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotASchedule => write!(f, "a schedule begins with `{FAMILY}{VERSION}-`"),
            Self::UnknownVersion(version) => write!(
                f,
                "the schedule has format version {version}; this crate reads only version {VERSION}"
            ),
            Self::UnexpectedCharacter { character, at } => {
                write!(f, "{character:?} at byte {at} does not occur in schedules")
            }
            Self::WrongLength => f.write_str("the schedule is cut off, or too long"),
            Self::WrongChecksum => f.write_str("the schedule's checksum does not match"),
            Self::Malformed => f.write_str("the schedule's content is malformed"),
        }
    }
}

impl Error for ScheduleParseError {}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&print(self))
    }
}

impl FromStr for Schedule {
    type Err = ScheduleParseError;

    fn from_str(text: &str) -> Result<Self, ScheduleParseError> {
        parse(text)
    }
}

fn print(schedule: &Schedule) -> String {
    let mut bytes = Vec::new();
    for stretch in &schedule.stretches {
        write_stretch(stretch, &mut bytes);
    }
    bytes.extend(crc32(&bytes).to_le_bytes());
    let mut text = format!("{FAMILY}{VERSION}-");
    base32::encode(&bytes, &mut text);
    text
}

fn parse(text: &str) -> Result<Schedule, ScheduleParseError> {
    let digits = strip_prefix(text)?;
    let bytes = base32::decode(digits).map_err(|reason| match reason {
        Base32Error::Character { character, at } => ScheduleParseError::UnexpectedCharacter {
            character,
            at: text.len() - digits.len() + at,
        },
        Base32Error::Length => ScheduleParseError::WrongLength,
    })?;
    let (mut content, checksum) =
        bytes.split_last_chunk::<4>().ok_or(ScheduleParseError::WrongLength)?;
    if crc32(content) != u32::from_le_bytes(*checksum) {
        return Err(ScheduleParseError::WrongChecksum);
    }
    let mut schedule = Schedule::new();
    while !content.is_empty() {
        read_stretch(&mut content)
            .and_then(|stretch| schedule.push_stretch(stretch))
            .ok_or(ScheduleParseError::Malformed)?;
    }
    Ok(schedule)
}

/// Returns the digits behind `coact1-`.
fn strip_prefix(text: &str) -> Result<&str, ScheduleParseError> {
    let (version, digits) = text
        .strip_prefix(FAMILY)
        .and_then(|rest| rest.split_once('-'))
        .ok_or(ScheduleParseError::NotASchedule)?;
    match version {
        VERSION => Ok(digits),
        other if !other.is_empty() && other.bytes().all(|b| b.is_ascii_digit()) => {
            Err(ScheduleParseError::UnknownVersion(other.to_owned()))
        }
        _ => Err(ScheduleParseError::NotASchedule),
    }
}

fn write_stretch(stretch: &RepeatedChoice, bytes: &mut Vec<u8>) {
    let (kind, payload) = match stretch.choice {
        Choice::Task(task) => (0, u128::from(task.0)),
        Choice::Value(value) => (1, u128::from(value)),
    };
    let count = stretch.count.min(LONG) - 1;
    write_number(payload << 3 | u128::from(count << 1 | kind), bytes);
    if stretch.count >= LONG {
        write_number(u128::from(stretch.count - LONG), bytes);
    }
}

fn read_stretch(bytes: &mut &[u8]) -> Option<RepeatedChoice> {
    let token = read_number(bytes)?;
    let payload = u64::try_from(token >> 3).ok()?;
    let choice = match token & 1 {
        0 => Choice::Task(TaskId(u32::try_from(payload).ok()?)),
        _ => Choice::Value(payload),
    };
    let mut count = (token >> 1 & 3) as u64 + 1;
    if count == LONG {
        let rest = u64::try_from(read_number(bytes)?).ok()?;
        count = rest.checked_add(LONG)?;
    }
    Some(RepeatedChoice { choice, count })
}

fn write_number(mut number: u128, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Takes one number off `bytes`; `None` if they end within it, or if it has more than 70 bits.
fn read_number(bytes: &mut &[u8]) -> Option<u128> {
    let mut number = 0;
    for shift in (0..70).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u128::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(number);
        }
    }
    None
}
