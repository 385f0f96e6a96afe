//! The values of variables.

use std::ffi::OsStr;
use std::fmt;
use std::time::Duration;

use titr_common::units::{Bytes, Quantity, Seconds, Speed};

use super::{ConfigError, CountedThreads, CounterChoice, Gathering, Mode, Pattern, Verbosity};

/// Descriptions of the accepted values, for error messages.
pub(super) const COUNTERS: &str = "auto, papi, perf, cpu or emulated";
pub(super) const MODES: &str = "ti or extended";
pub(super) const RATES: &str = "instructions per second of CPU time, such as 1e9, 800 Minstr/s or 2.5 Ginstr/s";
pub(super) const THREADS: &str = "calling or sum";
pub(super) const SIZES: &str = "a size from 4 KiB to 64 MiB, such as 65536, 256KiB or 1 MiB";
pub(super) const FLUSHES: &str = "a time from 10 ms to 1 h, such as 5 s or 500 ms, or never";
pub(super) const LEVELS: &str = "a gzip level from 1 (fast) to 9 (small)";
pub(super) const CALL_SITES: &str = "how many places of each call, from 0 (none) to 16";
pub(super) const GATHERINGS: &str =
    "0, or the archive's path, such as traces.tar, and perhaps an arity from 2 to 1024: traces.tar,arity=8";
pub(super) const VERBOSITIES: &str = "0, 1 or 2";

/// The smallest and the largest buffer: a smaller gzip member would be mostly header; larger buffers would fill a
/// node's memory.
const BUFFER: std::ops::RangeInclusive<usize> = 4 << 10..=64 << 20;

/// The shortest and the longest time between two flushes, in seconds: a flush takes some microseconds, and writes to a file.
const FLUSH: std::ops::RangeInclusive<f64> = 0.01..=3600.0;

/// The allowed arity of the gather tree.
const ARITY: std::ops::RangeInclusive<u32> = 2..=1024;

impl fmt::Display for Gathering {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},arity={}", self.archive, self.arity)
    }
}

impl fmt::Display for CounterChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(word(&COUNTER_WORDS, *self))
    }
}

/// The words for the values of settings that are a choice.
pub(super) const MODE_WORDS: [(Mode, &str); 2] = [(Mode::Ti, "ti"), (Mode::Extended, "extended")];
pub(super) const COUNTER_WORDS: [(CounterChoice, &str); 5] = [
    (CounterChoice::Auto, "auto"),
    (CounterChoice::Papi, "papi"),
    (CounterChoice::Perf, "perf"),
    (CounterChoice::Cpu, "cpu"),
    (CounterChoice::Emulated, "emulated"),
];
pub(super) const THREAD_WORDS: [(CountedThreads, &str); 2] =
    [(CountedThreads::Calling, "calling"), (CountedThreads::All, "sum")];
pub(super) const VERBOSITY_WORDS: [(Verbosity, &str); 3] =
    [(Verbosity::Errors, "0"), (Verbosity::Steps, "1"), (Verbosity::Words, "2")];

/// The word for a value.
pub(super) fn word<T: PartialEq>(words: &[(T, &'static str)], value: T) -> &'static str {
    words.iter().find(|(known, _)| *known == value).map_or("", |(_, word)| word)
}

/// The value that a word stands for.
pub(super) fn choice<T: Copy>(words: &[(T, &str)], text: &str) -> Option<T> {
    words.iter().find(|(_, word)| *word == text).map(|(value, _)| *value)
}

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

pub(super) fn rate(text: &str) -> Option<f64> {
    text.parse().ok().map(|rate: Speed| rate.per_second)
}

pub(super) fn size(text: &str) -> Option<usize> {
    let Bytes(size) = text.parse().ok()?;
    usize::try_from(size).ok().filter(|size| BUFFER.contains(size))
}

/// The time that text may wait for the disk; forever if `None`.
pub(super) fn flush(text: &str) -> Option<Option<Duration>> {
    if text == "never" {
        return Some(None);
    }
    let Quantity(Seconds(seconds)) = text.parse().or_else(|_| format!("{text} s").parse()).ok()?;
    FLUSH.contains(&seconds).then(|| Some(Duration::from_secs_f64(seconds)))
}

pub(super) fn level(text: &str) -> Option<u32> {
    text.parse().ok().filter(|level| (1..=9).contains(level))
}

pub(super) fn call_sites(text: &str) -> Option<usize> {
    text.parse().ok().filter(|depth| *depth <= 16)
}
