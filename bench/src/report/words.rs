//! Figures in words that a person reads.

use crate::measure::statistics::Summary;

/// Whether a figure can be drawn, divided by, and averaged.
pub fn is_usable(value: f64) -> bool {
    (1e-30..1e30).contains(&value)
}

/// A dash, for what is not known.
pub const NONE: &str = "–";

/// A unit of time that suits the figures that are shown side by side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure<'a> {
    /// As it is printed.
    pub symbol: &'a str,
    factor: f64,
}

const TIMES: [(&str, f64); 4] = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];

impl<'a> Measure<'a> {
    /// The unit in which `least`, given in `unit`, has one to three digits before the point. A unit
    /// that is not one of time stays.
    pub fn fitting(unit: &'a str, least: f64) -> Measure<'a> {
        let Some(&(_, nanos)) = TIMES.iter().find(|(symbol, _)| *symbol == unit) else {
            return Measure { symbol: unit, factor: 1.0 };
        };
        let fits = |(_, size): &&(&str, f64)| least * nanos >= *size;
        let &(symbol, size) = TIMES.iter().rev().find(fits).unwrap_or(&TIMES[0]);
        Measure { symbol, factor: nanos / size }
    }

    /// The figure in this unit.
    pub fn of(&self, value: f64) -> f64 {
        value * self.factor
    }

    /// The figure, without the unit.
    pub fn bare(&self, value: f64) -> String {
        figure(self.of(value))
    }

    /// The figure and the unit.
    pub fn full(&self, value: f64) -> String {
        format!("{} {}", self.bare(value), self.symbol)
    }
}

/// Three significant digits, or all before the point.
pub fn figure(value: f64) -> String {
    match value.abs() {
        _ if !value.is_finite() => NONE.to_owned(),
        0.0 => "0".to_owned(),
        1e15.. => format!("{value:.2e}"),
        100.0.. => grouped(value.round() as u64),
        10.0.. => format!("{value:.1}"),
        1.0.. => format!("{value:.2}"),
        0.1.. => format!("{value:.3}"),
        0.001.. => format!("{value:.5}"),
        _ => format!("{value:.2e}"),
    }
}

/// A whole number with a comma at each thousand.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let first = digits.len() % 3;
    let (head, tail) = digits.split_at(first);
    let mut parts: Vec<&str> = Some(head).filter(|head| !head.is_empty()).into_iter().collect();
    parts.extend((0..tail.len()).step_by(3).map(|at| &tail[at..at + 3]));
    parts.join(",")
}

/// A large number in short: 1.5k, 20M.
pub fn short(value: f64) -> String {
    let (divisor, suffix) = match value.abs() {
        1e12.. => (1e12, "T"),
        1e9.. => (1e9, "G"),
        1e6.. => (1e6, "M"),
        1e3.. => (1e3, "k"),
        _ => (1.0, ""),
    };
    format!("{}{suffix}", plain(value / divisor))
}

/// Without zeros at the end, for the marks of an axis.
pub fn plain(value: f64) -> String {
    match value.abs() {
        1e6.. | 0.0..1e-4 if value != 0.0 => format!("{value:e}"),
        1000.0.. => grouped(value.round() as u64),
        _ => {
            // Six digits hide that a sum of steps is not exact.
            let shown = format!("{value:.6}");
            shown.trim_end_matches('0').trim_end_matches('.').to_owned()
        }
    }
}

/// Bytes in the unit that suits them.
pub fn bytes(bytes: f64) -> String {
    let mebibytes = bytes / f64::from(1 << 20);
    match mebibytes {
        1024.0.. => format!("{} GiB", figure(mebibytes / 1024.0)),
        0.1.. => format!("{} MiB", figure(mebibytes)),
        _ => format!("{} KiB", figure(bytes / 1024.0)),
    }
}

/// How many times: two or three digits.
pub fn times(factor: f64) -> String {
    match factor {
        100.0.. => figure(factor),
        10.0.. => format!("{factor:.0}"),
        1.995.. => format!("{factor:.1}"),
        _ => format!("{factor:.2}"),
    }
}

/// What a ratio of two times, each from one round, says of the first.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Standing {
    /// Less in every round.
    Faster,
    /// Less in one round and more in another.
    Even,
    /// More in every round.
    Slower,
}

impl Standing {
    /// Judges by the spread.
    pub fn of(ratio: &Summary) -> Standing {
        match ratio {
            Summary { max, .. } if *max < 1.0 => Standing::Faster,
            Summary { min, .. } if *min > 1.0 => Standing::Slower,
            _ => Standing::Even,
        }
    }
}

/// A ratio to our figure, in words: `7.3 times slower (6.9 to 7.8)`.
pub fn standing(ratio: &Summary) -> String {
    let Summary { median, min, max } = *ratio;
    if ![median, min, max].into_iter().all(is_usable) {
        return NONE.to_owned();
    }
    let (factor, least, most, word) = match Standing::of(ratio) {
        Standing::Slower => (median, min, max, "times slower"),
        Standing::Faster => (1.0 / median, 1.0 / max, 1.0 / min, "times faster"),
        Standing::Even if min == max => return "as fast".to_owned(),
        Standing::Even => {
            return format!("no clear difference ({} to {} times)", times(min), times(max));
        }
    };
    if min == max {
        return format!("{} {word}", times(factor));
    }
    format!("{} {word} ({} to {})", times(factor), times(least), times(most))
}

/// `1 thing`, `2 things`.
pub fn several(count: usize, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {thing}{plural}", grouped(count as u64))
}

#[cfg(test)]
mod tests {
    use super::{Measure, bytes, figure, grouped, plain, several, short, standing};
    use crate::measure::statistics::Summary;

    #[test]
    fn figures_keep_three_digits() {
        let shown: Vec<String> =
            [1_234_567.8, 123.4, 12.34, 1.234, 0.1822, 0.0, 1e-9, f64::NAN].map(figure).into();
        assert_eq!(shown, ["1,234,568", "123", "12.3", "1.23", "0.182", "0", "1.00e-9", "–"]);
        assert_eq!([5, 999, 1000, 1_234_567].map(grouped), ["5", "999", "1,000", "1,234,567"]);
        assert_eq!([0.5, 1500.0, 2e7, 3e9].map(short), ["0.5", "1.5k", "20M", "3G"]);
        assert_eq!([0.0, 0.1 + 0.2, 20.0, 5000.0].map(plain), ["0", "0.3", "20", "5,000"]);
        assert_eq!([2048.0, 5e6, 5e9].map(bytes), ["2.00 KiB", "4.77 MiB", "4.66 GiB"]);
        assert_eq!([several(1, "round"), several(0, "round")], ["1 round", "0 rounds"]);
    }

    #[test]
    fn the_unit_suits_the_least_figure() {
        assert_eq!(Measure::fitting("ns", 2500.0).full(2500.0), "2.50 µs");
        assert_eq!(Measure::fitting("s", 0.0042).full(0.0042), "4.20 ms");
        assert_eq!(Measure::fitting("s", 75.0).full(75.0), "75.0 s");
        assert_eq!(Measure::fitting("ns", 0.0).symbol, "ns");
        assert_eq!(Measure::fitting("apples", 5.0).full(5.0), "5.00 apples");
    }

    #[test]
    fn a_ratio_is_said_in_words_and_with_its_spread() {
        let say = |median, min, max| standing(&Summary { median, min, max });
        assert_eq!(say(7.3, 6.9, 7.8), "7.3 times slower (6.9 to 7.8)");
        assert_eq!(say(0.5, 0.4, 0.8), "2.0 times faster (1.25 to 2.5)");
        assert_eq!(say(1.1, 0.9, 1.3), "no clear difference (0.90 to 1.30 times)");
        assert_eq!(say(40.0, 40.0, 40.0), "40 times slower");
        assert_eq!(say(f64::NAN, 1.0, 1.0), "–");
    }
}
