//! What may stand in a variable.

use std::ffi::OsStr;

use super::{ConfigError, CounterChoice, Gathering, Mode};
use crate::directory::Pattern;

/// What a variable asks for, where it can be listed.
pub(super) const COUNTERS: &str = "auto, papi, perf or cpu";
pub(super) const MODES: &str = "ti or extended";
pub(super) const RATES: &str = "instructions per second of CPU time, such as 1e9, 800 Minstr/s or 2.5 Ginstr/s";
pub(super) const SIZES: &str = "a size from 4 KiB to 64 MiB, such as 65536, 256KiB or 1 MiB";
pub(super) const LEVELS: &str = "a gzip level from 1 (fast) to 9 (small)";
pub(super) const GATHERINGS: &str =
    "0, or the archive's path, such as traces.tar, and perhaps an arity from 2 to 1024: traces.tar,arity=8";
pub(super) const SWITCH: &str = "0 or 1";

/// The smallest and the largest buffer: below, a gzip member is mostly header; above, the tracer is what fills a node.
const BUFFER: std::ops::RangeInclusive<usize> = 4 << 10..=64 << 20;

/// The arity of a tree: below is no tree, above it is one level high for any machine there is.
const ARITY: std::ops::RangeInclusive<u32> = 2..=1024;

pub(super) fn path(variable: &str, value: &OsStr) -> Result<Pattern, ConfigError> {
    Pattern::new(value).map_err(|placeholder| {
        let (variable, value) = (variable.to_owned(), value.display().to_string());
        ConfigError::Placeholder { variable, value, placeholder }
    })
}

pub(super) fn gathering(variable: &str, text: &str) -> Result<Option<Gathering>, ConfigError> {
    /// Few levels, and few children of the root: 24 for 4,096 ranks.
    const USUAL: u32 = 4;
    if text == "0" {
        return Ok(None);
    }
    let wrong = || ConfigError::Value { variable: variable.into(), value: text.into(), accepted: GATHERINGS };
    let (archive, arity) = match text.rsplit_once(",arity=") {
        Some((archive, arity)) => (archive, arity.parse().ok().filter(|arity| ARITY.contains(arity))),
        None => (text, Some(USUAL)),
    };
    match arity {
        Some(arity) if !archive.is_empty() && archive != "1" => {
            Ok(Some(Gathering { archive: path(variable, archive.as_ref())?, arity }))
        }
        _ => Err(wrong()),
    }
}

pub(super) fn mode(text: &str) -> Option<Mode> {
    [Mode::TimeIndependent, Mode::Extended].into_iter().find(|mode| mode.to_string() == text)
}

pub(super) fn counter(text: &str) -> Option<CounterChoice> {
    use CounterChoice::{Auto, Cpu, Papi, Perf};
    [Auto, Papi, Perf, Cpu].into_iter().find(|choice| choice.to_string() == text)
}

pub(super) fn rate(text: &str) -> Option<f64> {
    let units = [("Tinstr/s", 1e12), ("Ginstr/s", 1e9), ("Minstr/s", 1e6), ("kinstr/s", 1e3), ("instr/s", 1.0)];
    let (number, unit) = with_unit(text, &units, 1.0);
    let rate = number.parse::<f64>().ok()? * unit;
    (rate.is_finite() && rate > 0.0).then_some(rate)
}

pub(super) fn size(text: &str) -> Option<usize> {
    let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("kB", 1000), ("MB", 1_000_000), ("B", 1)];
    let (number, unit) = with_unit(text, &units, 1);
    let size = number.parse::<usize>().ok()?.checked_mul(unit)?;
    BUFFER.contains(&size).then_some(size)
}

pub(super) fn level(text: &str) -> Option<u32> {
    text.parse().ok().filter(|level| (1..=9).contains(level))
}

pub(super) fn switch(text: &str) -> Option<bool> {
    match text {
        "0" => Some(false),
        "1" => Some(true),
        _ => None,
    }
}

/// Splits a quantity into its number and what its unit stands for.
fn with_unit<'a, T: Copy>(text: &'a str, units: &[(&str, T)], none: T) -> (&'a str, T) {
    let unit = units.iter().find_map(|&(name, worth)| Some((text.strip_suffix(name)?.trim_end(), worth)));
    unit.unwrap_or((text, none))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_written_as_people_write_them() {
        for (text, value) in [("1e9", 1e9), ("800 Minstr/s", 8e8), ("3Ginstr/s", 3e9), ("12 instr/s", 12.0)] {
            assert_eq!(rate(text), Some(value), "{text}");
        }
        for (text, value) in [("65536", 65536), ("256KiB", 256 << 10), ("10 kB", 10_000), ("64 MiB", 64 << 20)] {
            assert_eq!(size(text), Some(value), "{text}");
        }
    }
}
