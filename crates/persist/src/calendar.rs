//! The calendar, for texts that tell times.

/// Year, month and day, given the days since 1970. The years are counted from March, so that leap
/// days come last.
#[doc(hidden)]
#[must_use]
pub fn date(days: u64) -> (u64, u64, u64) {
    const FOUR_CENTURIES: u64 = 146_097;
    // From 0000-03-01 on.
    let days = days + 719_468;
    let (era, day) = (days / FOUR_CENTURIES, days % FOUR_CENTURIES);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, is_next_year) = (day - (153 * month + 2) / 5 + 1, month >= 10);
    let month = if is_next_year { month - 9 } else { month + 3 };
    (400 * era + year + u64::from(is_next_year), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_day_follows_the_other() {
        let of = |year: u64, many| year.is_multiple_of(many);
        let leap = |year| of(year, 4) && (!of(year, 100) || of(year, 400));
        let (mut year, mut month, mut day) = (1970, 1, 1);
        for days in 0..200_000 {
            assert_eq!(date(days), (year, month, day));
            let length = match month {
                2 => 28 + u64::from(leap(year)),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            (month, day) = if day == length { (month + 1, 1) } else { (month, day + 1) };
            (year, month) = if month == 13 { (year + 1, 1) } else { (year, month) };
        }
    }
}
