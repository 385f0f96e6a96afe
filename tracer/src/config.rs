//! The tracer's configuration: `TITRACE_*` environment variables, read once at `MPI_Init`.
//!
//! A mistake here would be found out only after the run whose trace it spoilt, so nothing is guessed: a value that is
//! not understood and a variable that does not exist are errors.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

use thiserror::Error;

use crate::directory::Pattern;

/// The prefix that makes a variable ours.
const PREFIX: &str = "TITRACE_";

/// The variables there are.
const VARIABLES: [&str; 9] = [
    "TITRACE_BUFFER",
    "TITRACE_COLLECTIVES",
    "TITRACE_COUNTER",
    "TITRACE_DIR",
    "TITRACE_GATHER",
    "TITRACE_LEVEL",
    "TITRACE_MODE",
    "TITRACE_RATE",
    "TITRACE_VERBOSE",
];

/// What a variable asks for, where it can be listed.
const COUNTERS: &str = "auto, papi, perf or cpu";
const MODES: &str = "ti or extended";
const RATES: &str = "instructions per second of CPU time, such as 1e9, 800 Minstr/s or 2.5 Ginstr/s";
const SIZES: &str = "a size from 4 KiB to 64 MiB, such as 65536, 256KiB or 1 MiB";
const LEVELS: &str = "a gzip level from 1 (fast) to 9 (small)";
const GATHERINGS: &str =
    "0, or the archive's path, such as traces.tar, and perhaps an arity from 2 to 1024: traces.tar,arity=8";
const SWITCH: &str = "0 or 1";

/// The smallest and the largest buffer: below, a gzip member is mostly header; above, the tracer is what fills a node.
const BUFFER: std::ops::RangeInclusive<usize> = 4 << 10..=64 << 20;

/// The arity of a tree: below is no tree, above it is one level high for any machine there is.
const ARITY: std::ops::RangeInclusive<u32> = 2..=1024;

/// How the tracer was asked to work.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// `TITRACE_DIR`: the directory the trace is written to, or the next free name beside it.
    pub directory: Pattern,
    /// `TITRACE_GATHER`: into what the ranks' streams are gathered at `MPI_Finalize`, if they are.
    pub gather: Option<Gathering>,
    /// `TITRACE_MODE`: what is recorded.
    pub mode: Mode,
    /// `TITRACE_COLLECTIVES`: algorithms that an extended trace uses in place of the library's choice, `bcast=binomial`.
    /// What names there are depends on the library, and is not known here.
    pub collectives: String,
    /// `TITRACE_COUNTER`: what measures computation.
    pub counter: CounterChoice,
    /// `TITRACE_RATE`: instructions per second of CPU time, where CPU time is what is measured.
    pub rate: f64,
    /// `TITRACE_BUFFER`: text bytes per buffer.
    pub buffer: usize,
    /// `TITRACE_LEVEL`: gzip level.
    pub level: u32,
    /// `TITRACE_VERBOSE`: whether to say on standard error what is done.
    pub verbose: bool,
}

/// Into what, and how, a trace is gathered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gathering {
    /// The archive, on the host of rank 0.
    pub archive: Pattern,
    /// How many branches the tree of ranks has at each level, and one.
    pub arity: u32,
}

/// What is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Volumes only.
    TimeIndependent,
    /// Volumes, times, and the messages that collectives are made of.
    Extended,
}

/// What measures computation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CounterChoice {
    /// The best that works here: PAPI, then perf events, then CPU time.
    Auto,
    /// Instructions, counted through PAPI.
    Papi,
    /// Instructions, counted through `perf_event_open`.
    Perf,
    /// The thread's CPU time, times a stated rate.
    Cpu,
}

/// Why the environment cannot be obeyed.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ConfigError {
    /// The variable is known, its value is not.
    #[error("{variable}={value}: expected {accepted}")]
    Value {
        /// The variable.
        variable: String,
        /// What it was set to.
        value: String,
        /// What it may be set to.
        accepted: &'static str,
    },
    /// A path has a placeholder that stands for nothing.
    #[error(
        "{variable}={value}: there is no {placeholder}: %h is the host, %r the rank, %j the job, %% a percent sign"
    )]
    Placeholder {
        /// The variable.
        variable: String,
        /// What it was set to.
        value: String,
        /// What stands for nothing.
        placeholder: String,
    },
    /// No such variable.
    #[error("{variable} is not a variable titr knows: did you mean {nearest}?")]
    Unknown {
        /// The variable.
        variable: String,
        /// The one most like it.
        nearest: &'static str,
    },
}

impl Default for Config {
    fn default() -> Self {
        Self {
            directory: Pattern::default(),
            gather: None,
            mode: Mode::TimeIndependent,
            collectives: String::new(),
            counter: CounterChoice::Auto,
            rate: 1e9,
            // Four times gzip's window: larger members compress no better, smaller ones lose less when a rank is killed.
            buffer: 64 << 10,
            level: 3,
            verbose: false,
        }
    }
}

impl Config {
    /// Reads the environment of this process.
    ///
    /// # Errors
    /// The first variable, in alphabetical order, that is unknown or has a value that is not understood.
    pub fn from_env() -> Result<Self, ConfigError> {
        Self::from_variables(std::env::vars_os())
    }

    /// Reads these variables, the later of two that have the same name.
    ///
    /// # Errors
    /// As [`Config::from_env`].
    pub fn from_variables(variables: impl IntoIterator<Item = (OsString, OsString)>) -> Result<Self, ConfigError> {
        let ours: BTreeMap<String, OsString> = variables
            .into_iter()
            .filter(|(name, _)| name.as_encoded_bytes().starts_with(PREFIX.as_bytes()))
            .map(|(name, value)| (name.to_string_lossy().into_owned(), value))
            .collect();
        let mut config = Self::default();
        for (name, value) in &ours {
            config.set(name, value)?;
        }
        if config.mode == Mode::TimeIndependent && !config.collectives.is_empty() {
            let (variable, value) = ("TITRACE_COLLECTIVES".into(), config.collectives);
            return Err(ConfigError::Value { variable, value, accepted: "TITRACE_MODE=extended beside it" });
        }
        Ok(config)
    }

    fn set(&mut self, variable: &str, value: &OsStr) -> Result<(), ConfigError> {
        let text = value.to_string_lossy();
        let text = text.trim();
        let or = |accepted| move || ConfigError::Value { variable: variable.into(), value: text.into(), accepted };
        match variable {
            "TITRACE_DIR" if text.is_empty() => return Err(or("a path")()),
            "TITRACE_DIR" => self.directory = path(variable, value)?,
            "TITRACE_GATHER" => self.gather = gathering(variable, text)?,
            "TITRACE_MODE" => self.mode = mode(text).ok_or_else(or(MODES))?,
            "TITRACE_COLLECTIVES" => self.collectives = text.to_owned(),
            "TITRACE_COUNTER" => self.counter = counter(text).ok_or_else(or(COUNTERS))?,
            "TITRACE_RATE" => self.rate = rate(text).ok_or_else(or(RATES))?,
            "TITRACE_BUFFER" => self.buffer = size(text).ok_or_else(or(SIZES))?,
            "TITRACE_LEVEL" => self.level = level(text).ok_or_else(or(LEVELS))?,
            "TITRACE_VERBOSE" => self.verbose = switch(text).ok_or_else(or(SWITCH))?,
            _ => {
                return Err(ConfigError::Unknown { variable: variable.into(), nearest: nearest(variable) });
            }
        }
        Ok(())
    }

    /// Every variable with the value in force, as the manifest keeps it.
    #[must_use]
    pub fn effective(&self) -> BTreeMap<String, String> {
        let values = [
            ("TITRACE_DIR", self.directory.to_string()),
            ("TITRACE_GATHER", self.gather.as_ref().map_or("0".into(), Gathering::to_string)),
            ("TITRACE_MODE", self.mode.to_string()),
            ("TITRACE_COLLECTIVES", self.collectives.clone()),
            ("TITRACE_COUNTER", self.counter.to_string()),
            ("TITRACE_RATE", self.rate.to_string()),
            ("TITRACE_BUFFER", self.buffer.to_string()),
            ("TITRACE_LEVEL", self.level.to_string()),
            ("TITRACE_VERBOSE", u8::from(self.verbose).to_string()),
        ];
        values.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

impl std::fmt::Display for Gathering {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{},arity={}", self.archive, self.arity)
    }
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::TimeIndependent => "ti",
            Self::Extended => "extended",
        })
    }
}

impl std::fmt::Display for CounterChoice {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::Papi => "papi",
            Self::Perf => "perf",
            Self::Cpu => "cpu",
        })
    }
}

fn path(variable: &str, value: &OsStr) -> Result<Pattern, ConfigError> {
    Pattern::new(value).map_err(|placeholder| {
        let (variable, value) = (variable.to_owned(), value.display().to_string());
        ConfigError::Placeholder { variable, value, placeholder }
    })
}

fn gathering(variable: &str, text: &str) -> Result<Option<Gathering>, ConfigError> {
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

fn mode(text: &str) -> Option<Mode> {
    [Mode::TimeIndependent, Mode::Extended].into_iter().find(|mode| mode.to_string() == text)
}

fn counter(text: &str) -> Option<CounterChoice> {
    use CounterChoice::{Auto, Cpu, Papi, Perf};
    [Auto, Papi, Perf, Cpu].into_iter().find(|choice| choice.to_string() == text)
}

fn rate(text: &str) -> Option<f64> {
    let units = [("Tinstr/s", 1e12), ("Ginstr/s", 1e9), ("Minstr/s", 1e6), ("kinstr/s", 1e3), ("instr/s", 1.0)];
    let (number, unit) = with_unit(text, &units, 1.0);
    let rate = number.parse::<f64>().ok()? * unit;
    (rate.is_finite() && rate > 0.0).then_some(rate)
}

fn size(text: &str) -> Option<usize> {
    let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("kB", 1000), ("MB", 1_000_000), ("B", 1)];
    let (number, unit) = with_unit(text, &units, 1);
    let size = number.parse::<usize>().ok()?.checked_mul(unit)?;
    BUFFER.contains(&size).then_some(size)
}

fn level(text: &str) -> Option<u32> {
    text.parse().ok().filter(|level| (1..=9).contains(level))
}

fn switch(text: &str) -> Option<bool> {
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

/// The variable that takes the fewest edits to reach from `name`.
fn nearest(name: &str) -> &'static str {
    VARIABLES.into_iter().min_by_key(|known| edits(name, known)).unwrap_or(VARIABLES[0])
}

/// Levenshtein's distance: insertions, deletions and substitutions of a byte.
fn edits(from: &str, to: &str) -> usize {
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.bytes().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (b, above) in to.bytes().zip(row.iter_mut().skip(1)) {
            let here = (diagonal + usize::from(a != b)).min(left + 1).min(*above + 1);
            diagonal = std::mem::replace(above, here);
            left = here;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(variables: &[(&str, &str)]) -> Result<Config, ConfigError> {
        Config::from_variables(variables.iter().map(|(name, value)| ((*name).into(), (*value).into())))
    }

    #[test]
    fn an_environment_without_our_variables_gives_the_defaults() {
        assert_eq!(read(&[("PATH", "/bin"), ("TITR", "x")]), Ok(Config::default()));
    }

    #[test]
    fn each_variable_sets_what_it_names() {
        let config = read(&[
            ("TITRACE_DIR", "/scratch/my traces/%h"),
            ("TITRACE_GATHER", "all-%j.tar,arity=16"),
            ("TITRACE_MODE", "extended"),
            ("TITRACE_COLLECTIVES", "bcast=binomial"),
            ("TITRACE_COUNTER", "perf"),
            ("TITRACE_RATE", "2.5 Ginstr/s"),
            ("TITRACE_BUFFER", "1 MiB"),
            ("TITRACE_LEVEL", "9"),
            ("TITRACE_VERBOSE", "1"),
        ]);
        let expected = Config {
            directory: Pattern::new("/scratch/my traces/%h".as_ref()).unwrap(),
            gather: Some(Gathering { archive: Pattern::new("all-%j.tar".as_ref()).unwrap(), arity: 16 }),
            mode: Mode::Extended,
            collectives: "bcast=binomial".into(),
            counter: CounterChoice::Perf,
            rate: 2.5e9,
            buffer: 1 << 20,
            level: 9,
            verbose: true,
        };
        assert_eq!(config, Ok(expected));
    }

    #[test]
    fn quantities_are_written_as_people_write_them() {
        for (text, value) in [("1e9", 1e9), ("800 Minstr/s", 8e8), ("3Ginstr/s", 3e9), ("12 instr/s", 12.0)] {
            assert_eq!(rate(text), Some(value), "{text}");
        }
        for (text, value) in [("65536", 65536), ("256KiB", 256 << 10), ("10 kB", 10_000), ("64 MiB", 64 << 20)] {
            assert_eq!(size(text), Some(value), "{text}");
        }
    }

    #[test]
    fn a_wrong_value_is_named_with_its_variable_and_what_is_accepted() {
        let message = read(&[("TITRACE_COUNTER", "tsc")]).unwrap_err().to_string();
        assert_eq!(message, "TITRACE_COUNTER=tsc: expected auto, papi, perf or cpu");
        for (variable, value) in [
            ("TITRACE_DIR", ""),
            ("TITRACE_GATHER", "1"),
            ("TITRACE_GATHER", "a.tar,arity=1"),
            ("TITRACE_GATHER", ",arity=4"),
            ("TITRACE_MODE", "full"),
            ("TITRACE_COLLECTIVES", "bcast=binomial"),
            ("TITRACE_RATE", "0"),
            ("TITRACE_RATE", "-1e9"),
            ("TITRACE_RATE", "inf"),
            ("TITRACE_RATE", "2 GHz"),
            ("TITRACE_BUFFER", "1B"),
            ("TITRACE_BUFFER", "65 MiB"),
            ("TITRACE_BUFFER", "99999999999999999999MiB"),
            ("TITRACE_LEVEL", "0"),
            ("TITRACE_LEVEL", "10"),
            ("TITRACE_VERBOSE", "yes"),
        ] {
            let message = read(&[(variable, value)]).unwrap_err().to_string();
            assert!(message.starts_with(&format!("{variable}={value}: expected ")), "{message}");
        }
    }

    #[test]
    fn a_placeholder_that_stands_for_nothing_is_named() {
        let message = read(&[("TITRACE_DIR", "/tmp/%h-%n")]).unwrap_err().to_string();
        assert_eq!(
            message,
            "TITRACE_DIR=/tmp/%h-%n: there is no %n: %h is the host, %r the rank, %j the job, %% a percent sign"
        );
    }

    #[test]
    fn a_misspelt_variable_is_answered_with_the_nearest() {
        for (wrong, right) in [
            ("TITRACE_DIRECTORY", "TITRACE_DIR"),
            ("TITRACE_BUFER", "TITRACE_BUFFER"),
            ("TITRACE_VERBOSITY", "TITRACE_VERBOSE"),
            ("TITRACE_", "TITRACE_DIR"),
        ] {
            let expected = ConfigError::Unknown { variable: wrong.into(), nearest: right };
            assert_eq!(read(&[(wrong, "1")]), Err(expected));
        }
    }

    #[test]
    fn the_effective_configuration_reads_back_as_itself() {
        let gather = Some(Gathering { archive: Pattern::default(), arity: 2 });
        let config = Config { gather, rate: 2.5e9, level: 7, counter: CounterChoice::Cpu, ..Config::default() };
        let listed = config.effective();
        assert_eq!(listed.len(), VARIABLES.len());
        let again = Config::from_variables(listed.into_iter().map(|(name, value)| (name.into(), value.into())));
        assert_eq!(again, Ok(config));
    }
}
