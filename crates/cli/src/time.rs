//! Times as text.

use coact_persist::date;

const DAY: u64 = 24 * 60 * 60 * 1_000;

/// Before this (March 1973), a number is more likely no time.
const LEAST: u64 = 100_000_000_000;

/// Behind this (the year 10000), too.
const MOST: u64 = 253_402_300_800_000;

/// Milliseconds since 1970 as a time in UTC, if that is what they look like.
pub fn utc(millis: u64) -> Option<String> {
    if !(LEAST..MOST).contains(&millis) {
        return None;
    }
    let ((year, month, day), rest) = (date(millis / DAY), millis % DAY);
    let (hours, minutes, seconds) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1_000 % 60);
    let fraction = rest % 1_000;
    Some(format!(
        "{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{fraction:03}Z"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_the_calendar() {
        let cases = [
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_700_000_000_123, "2023-11-14T22:13:20.123Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ];
        for (millis, text) in cases {
            assert_eq!(utc(millis).as_deref(), Some(text));
        }
        for number in [0, 7, LEAST - 1, MOST, u64::MAX] {
            assert_eq!(utc(number), None);
        }
    }
}
