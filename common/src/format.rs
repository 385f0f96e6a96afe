//! Numbers and nouns in messages for users.

use std::borrow::Cow;

use crate::units::{Bytes, Seconds};

/// `1234567` as `1,234,567`.
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A text as a cell of a table for a spreadsheet: with an apostrophe before it if it could be interpreted as a formula
/// (OWASP, "CSV Injection"), unless it is a number.
#[must_use]
pub fn cell(text: &str) -> Cow<'_, str> {
    let begins = |first| matches!(first, '=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '＝' | '＋' | '－' | '＠');
    let is_number = || text.parse::<f64>().is_ok() && text.bytes().any(|byte| byte.is_ascii_digit());
    if text.starts_with(begins) && !is_number() { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// The form of a word that goes with `number`.
#[must_use]
pub fn plural<'a>(number: u64, one: &'a str, many: &'a str) -> &'a str {
    if number == 1 { one } else { many }
}

/// A number and its noun: `1 core`, `1024 cores`.
#[must_use]
pub fn counted(number: impl TryInto<u64>, one: &str, many: &str) -> String {
    // A number that does not fit is none of one.
    let number = number.try_into().unwrap_or(u64::MAX);
    format!("{number} {}", plural(number, one, many))
}

/// Increasing numbers as ranges, the first few: `0–3, 5, 7–9`.
#[must_use]
pub fn ranges(numbers: &[u32]) -> String {
    const SHOWN: usize = 8;
    let mut words: Vec<String> = Vec::new();
    for run in numbers.chunk_by(|a, b| *b == a.saturating_add(1)) {
        if words.len() == SHOWN {
            words.push("…".into());
            break;
        }
        match run {
            [one] => words.push(one.to_string()),
            [first, .., last] => words.push(format!("{first}–{last}")),
            [] => {}
        }
    }
    words.join(", ")
}

/// Bytes in the unit that leaves one to three digits before the point.
#[must_use]
pub fn volume(bytes: Bytes) -> String {
    if bytes.0 < 1000 {
        return format!("{} B", bytes.0);
    }
    scaled(bytes.0 as f64, &["kB", "MB", "GB", "TB", "PB", "EB"])
}

/// `value` with the first of `units` that leaves it under a thousand; each is a thousand of the one before.
fn scaled(mut value: f64, units: &[&str]) -> String {
    let mut units = units.iter();
    let mut unit = units.next().copied().unwrap_or_default();
    value /= 1000.0;
    // A value that would be rounded up to a thousand is in the next unit.
    while value >= 999.5
        && let Some(next) = units.next()
    {
        unit = next;
        value /= 1000.0;
    }
    let decimals = if value < 9.995 { 2 } else { usize::from(value < 99.95) };
    format!("{value:.decimals$} {unit}")
}

/// `value` with this number of significant digits, in decimal notation.
#[must_use]
pub fn significant(value: f64, digits: usize) -> String {
    // The exponent after rounding: 9.996 has four digits as 9.996, and three as 10.0.
    let rounded = format!("{:.*e}", digits.saturating_sub(1), value);
    let exponent = rounded.split_once('e').and_then(|(_, exponent)| exponent.parse::<i64>().ok()).unwrap_or_default();
    let decimals = (digits as i64 - 1 - exponent).max(0) as usize;
    match rounded.parse::<f64>() {
        Ok(number) => format!("{number:.decimals$}"),
        Err(_) => rounded,
    }
}

/// Significant digits of a number that is exact, as far as anybody knows.
const DIGITS: usize = 4;

/// A time in the unit that fits, with the digits that are known: `41.6 ms ± 9 %`. The uncertainty is a fraction of the time;
/// if it is not known, there are four digits.
#[must_use]
pub fn uncertain(span: Seconds, uncertainty: Option<f64>) -> String {
    if span.0 == 0.0 {
        return "0 s".to_owned();
    }
    let unit = TimeUnit::of(span);
    let number = span.0 * unit.per_second;
    match uncertainty.filter(|uncertainty| *uncertainty >= 1e-4) {
        None => format!("{} {}", significant(number, DIGITS), unit.name),
        Some(uncertainty) => {
            // Two digits of the uncertainty: 9 % leaves three digits of the number.
            let digits = (1.0 - uncertainty.log10().floor()).clamp(2.0, 6.0) as usize;
            let percent = 100.0 * uncertainty;
            let of_percent = if percent >= 9.5 { 2 } else { 1 };
            format!("{} {} ± {} %", significant(number, digits), unit.name, significant(percent, of_percent))
        }
    }
}

/// The date of a moment in seconds since 1970, as ISO 8601 writes it: `2026-11-26`.
#[must_use]
pub fn date(seconds: u64) -> String {
    // Days are counted in years that begin in March, from the year 0 on, so that the odd day of leap years is the last.
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", 400 * era + year + next)
}

/// The unit in which a span of time is printed, and the number of units in a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TimeUnit {
    /// The symbol of the unit, such as `ms`.
    pub name: &'static str,
    per_second: f64,
}

impl TimeUnit {
    /// The largest unit with at least one unit in `span`.
    pub fn of(span: Seconds) -> Self {
        [("s", 1.0), ("ms", 1e3), ("us", 1e6)]
            .into_iter()
            .map(|(name, per_second)| Self { name, per_second })
            .find(|unit| span.0.abs() * unit.per_second >= 1.0)
            .unwrap_or(Self { name: "ns", per_second: 1e9 })
    }

    /// `span` in this unit.
    pub fn show(self, span: Seconds) -> String {
        format!("{:.3}", span.0 * self.per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_no_formulas() {
        for text in ["=1+1", "+a", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "＝1", "-inf", "+"] {
            assert_eq!(cell(text), format!("'{text}"));
        }
        for text in ["", "node-1", "-1.5", "+1", "-1e-9", "a=b", "'=1"] {
            assert_eq!(cell(text), text);
        }
    }

    #[test]
    fn counts_have_separators() {
        assert_eq!([0, 999, 1000, 1_234_567].map(count), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn a_noun_is_plural_unless_there_is_one() {
        let shown = [0_u32, 1, 2, 1024].map(|number| counted(number, "core", "cores"));
        assert_eq!(shown, ["0 cores", "1 core", "2 cores", "1024 cores"]);
    }

    #[test]
    fn volumes_have_three_digits() {
        let volumes = [0, 999, 1000, 12_345, 999_499, 999_999, 4_000_000, u64::MAX].map(|bytes| volume(Bytes(bytes)));
        assert_eq!(volumes, ["0 B", "999 B", "1.00 kB", "12.3 kB", "999 kB", "1.00 MB", "4.00 MB", "18.4 EB"]);
    }

    #[test]
    fn numbers_have_as_many_digits_as_are_known() {
        let shown = [(9.996, 4), (9.996, 3), (0.001_234_5, 2), (123_456.0, 3), (0.0, 4)];
        assert_eq!(
            shown.map(|(value, digits)| significant(value, digits)),
            ["9.996", "10.0", "0.0012", "123000", "0.000"]
        );
        let times = [None, Some(0.0), Some(0.09), Some(0.22), Some(0.003)];
        let shown = times.map(|uncertainty| uncertain(Seconds(0.041_629_109), uncertainty));
        assert_eq!(shown, ["41.63 ms", "41.63 ms", "41.6 ms ± 9 %", "42 ms ± 22 %", "41.63 ms ± 0.3 %"]);
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        let dates = [0, 951_782_399, 951_782_400, 1_709_164_800, 1_795_651_200, 4_107_542_400];
        let expected = ["1970-01-01", "2000-02-28", "2000-02-29", "2024-02-29", "2026-11-26", "2100-03-01"];
        assert_eq!(dates.map(date), expected);
    }

    #[test]
    fn a_span_is_told_in_the_unit_that_fits() {
        let shown = [12.5, 0.0401, 2.5e-6, 3e-9, 0.0].map(|span| {
            let unit = TimeUnit::of(Seconds(span));
            format!("{} {}", unit.show(Seconds(span)), unit.name)
        });
        assert_eq!(shown, ["12.500 s", "40.100 ms", "2.500 us", "3.000 ns", "0.000 ns"]);
    }
}
