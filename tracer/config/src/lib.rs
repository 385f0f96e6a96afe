//! The tracer's configuration: `TITRACE_*` environment variables, read once at `MPI_Init`.
//!
//! A mistake in a setting would be noticed only after the run whose trace it spoilt, so nothing is guessed: an invalid
//! value or an unknown variable is an error.

pub mod emulation;
pub mod launched;
mod part;
mod pattern;
mod value;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use part::PARTS;
use value::{
    CALL_SITES, COUNTER_WORDS, COUNTERS, FLUSHES, LEVELS, MODE_WORDS, MODES, RATES, SIZES, THREAD_WORDS, THREADS,
    VERBOSITIES, VERBOSITY_WORDS, call_sites, choice, flush, gathering, level, path, rate, size, word,
};

pub use part::Part;
pub use pattern::{Pattern, Placeholders};
pub use titr_common::trace::manifest::Mode;

/// The prefix that makes a variable ours.
const PREFIX: &str = "TITRACE_";

/// The settings of the tracer.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// `TITRACE_DIR`: the directory the trace is written to, or the next free name beside it.
    pub directory: Pattern,
    /// `TITRACE_GATHER`: the archive into which the ranks' streams are gathered at `MPI_Finalize`, if any.
    pub gather: Option<Gathering>,
    /// `TITRACE_MODE`: the contents of the trace.
    pub mode: Mode,
    /// `TITRACE_COLLECTIVES`: algorithms that an extended trace uses instead of the library's choice, `bcast=binomial`.
    /// The valid names depend on the library, and are not known here.
    pub collectives: String,
    /// `TITRACE_PART`: the part of the program that is traced.
    pub part: Part,
    /// `TITRACE_COUNTER`: the counter of computation.
    pub counter: CounterChoice,
    /// `TITRACE_RATE`: instructions per second of CPU time, if CPU time is measured.
    pub rate: f64,
    /// `TITRACE_THREADS`: the threads whose computation is counted.
    pub threads: CountedThreads,
    /// `TITRACE_BUFFER`: text bytes per buffer.
    pub buffer: usize,
    /// `TITRACE_FLUSH`: the time that recorded events may wait for the disk; forever if `None`.
    pub flush: Option<Duration>,
    /// `TITRACE_LEVEL`: gzip level.
    pub level: u32,
    /// `TITRACE_CALLSITES`: the number of places in the program's code that are recorded for each call: the place of
    /// the call and those around it.
    pub call_sites: usize,
    /// `TITRACE_VERBOSE`: the amount of output on standard error beside errors.
    pub verbosity: Verbosity,
}

/// The archive of a gather, and the method.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gathering {
    /// The archive, on the host of rank 0.
    pub archive: Pattern,
    /// The base of the tree of ranks: the number of branches at each level, plus one.
    pub arity: u32,
}

/// The counter of computation.
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
    /// Instructions, counted by an emulator that executes the program.
    Emulated,
}

/// The threads whose computation is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountedThreads {
    /// The threads that call MPI.
    Calling,
    /// All: the computation of other threads is added to that of the thread that calls MPI next.
    All,
}

/// The amount of output on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verbosity {
    /// Only errors.
    Errors,
    /// Also the steps that the tracer takes.
    Steps,
    /// Also the words that the calls of each MPI function were recorded as.
    Words,
}

/// An error in the tracer's environment variables.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum ConfigError {
    /// The variable is known, its value is not.
    #[error("{variable}={value}: expected {accepted}")]
    Value { variable: String, value: String, accepted: &'static str },
    /// A path has an unknown placeholder.
    #[error(
        "{variable}={value}: there is no {placeholder}: %h is the host, %r the rank, %j the job, %% a percent sign"
    )]
    Placeholder { variable: String, value: String, placeholder: String },
    /// The trace would be in a directory that does not exist: its name is probably misspelt.
    #[error("TITRACE_DIR={value}: there is no directory {missing} to put the trace in: create it, or correct the path")]
    NoDirectory { value: String, missing: PathBuf },
    /// No such variable.
    #[error("{variable} is not a variable titr knows: did you mean {nearest}?")]
    Unknown { variable: String, nearest: &'static str },
}

impl Default for Config {
    fn default() -> Self {
        Self {
            directory: Pattern::default(),
            gather: None,
            mode: Mode::Ti,
            collectives: String::new(),
            part: Part::All,
            counter: CounterChoice::Auto,
            rate: 1e9,
            threads: CountedThreads::Calling,
            // Four times gzip's window: larger members compress no better, smaller ones lose less when a rank is killed.
            buffer: 64 << 10,
            flush: Some(Duration::from_secs(5)),
            level: 3,
            call_sites: 0,
            verbosity: Verbosity::Errors,
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
        if config.mode == Mode::Ti && !config.collectives.is_empty() {
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
            "TITRACE_MODE" => self.mode = choice(&MODE_WORDS, text).ok_or_else(or(MODES))?,
            "TITRACE_COLLECTIVES" => self.collectives = text.to_owned(),
            "TITRACE_PART" => self.part = text.parse().map_err(|()| or(PARTS)())?,
            "TITRACE_COUNTER" => self.counter = choice(&COUNTER_WORDS, text).ok_or_else(or(COUNTERS))?,
            "TITRACE_RATE" => self.rate = rate(text).ok_or_else(or(RATES))?,
            "TITRACE_THREADS" => self.threads = choice(&THREAD_WORDS, text).ok_or_else(or(THREADS))?,
            "TITRACE_BUFFER" => self.buffer = size(text).ok_or_else(or(SIZES))?,
            "TITRACE_FLUSH" => self.flush = flush(text).ok_or_else(or(FLUSHES))?,
            "TITRACE_LEVEL" => self.level = level(text).ok_or_else(or(LEVELS))?,
            "TITRACE_CALLSITES" => self.call_sites = call_sites(text).ok_or_else(or(CALL_SITES))?,
            "TITRACE_VERBOSE" => self.verbosity = choice(&VERBOSITY_WORDS, text).ok_or_else(or(VERBOSITIES))?,
            _ => {
                return Err(ConfigError::Unknown { variable: variable.into(), nearest: nearest(variable) });
            }
        }
        Ok(())
    }

    /// Checks that the parent of the trace's directory exists, or the parent of the first path component with
    /// placeholders.
    ///
    /// # Errors
    /// If there is no such directory.
    pub fn check_directory(&self) -> Result<(), ConfigError> {
        match self.directory.fixed_parent() {
            Some(missing) if !missing.is_dir() => {
                Err(ConfigError::NoDirectory { value: self.directory.to_string(), missing })
            }
            _ => Ok(()),
        }
    }

    /// Every variable with the value in force, as the manifest keeps it.
    pub fn effective(&self) -> BTreeMap<&'static str, String> {
        BTreeMap::from([
            ("TITRACE_DIR", self.directory.to_string()),
            ("TITRACE_GATHER", self.gather.as_ref().map_or("0".into(), Gathering::to_string)),
            ("TITRACE_MODE", word(&MODE_WORDS, self.mode).into()),
            ("TITRACE_COLLECTIVES", self.collectives.clone()),
            ("TITRACE_PART", self.part.to_string()),
            ("TITRACE_COUNTER", self.counter.to_string()),
            ("TITRACE_RATE", self.rate.to_string()),
            ("TITRACE_THREADS", word(&THREAD_WORDS, self.threads).into()),
            ("TITRACE_BUFFER", self.buffer.to_string()),
            ("TITRACE_FLUSH", self.flush.map_or("never".into(), |flush| format!("{} s", flush.as_secs_f64()))),
            ("TITRACE_LEVEL", self.level.to_string()),
            ("TITRACE_CALLSITES", self.call_sites.to_string()),
            ("TITRACE_VERBOSE", word(&VERBOSITY_WORDS, self.verbosity).into()),
        ])
    }
}

/// The variable whose name is most like this one.
fn nearest(name: &str) -> &'static str {
    let known = Config::default().effective().into_keys();
    known.min_by_key(|known| strsim::levenshtein(name, known)).unwrap_or_default()
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
        let variables = [
            ("TITRACE_DIR", "/scratch/my traces/%h"),
            ("TITRACE_GATHER", "all-%j.tar,arity=16"),
            ("TITRACE_MODE", "extended"),
            ("TITRACE_COLLECTIVES", "bcast=binomial"),
            ("TITRACE_PART", "pcontrol"),
            ("TITRACE_COUNTER", "perf"),
            ("TITRACE_RATE", "2.5 Ginstr/s"),
            ("TITRACE_THREADS", "sum"),
            ("TITRACE_BUFFER", "1 MiB"),
            ("TITRACE_FLUSH", "200 ms"),
            ("TITRACE_LEVEL", "9"),
            ("TITRACE_CALLSITES", "2"),
            ("TITRACE_VERBOSE", "1"),
        ];
        let expected = Config {
            directory: Pattern::new("/scratch/my traces/%h".as_ref()).unwrap(),
            gather: Some(Gathering { archive: Pattern::new("all-%j.tar".as_ref()).unwrap(), arity: 16 }),
            mode: Mode::Extended,
            collectives: "bcast=binomial".into(),
            part: Part::Control,
            counter: CounterChoice::Perf,
            rate: 2.5e9,
            threads: CountedThreads::All,
            buffer: 1 << 20,
            flush: Some(Duration::from_millis(200)),
            level: 9,
            call_sites: 2,
            verbosity: Verbosity::Steps,
        };
        assert!(expected.effective().into_keys().eq(BTreeMap::from(variables).into_keys()));
        assert_eq!(read(&variables), Ok(expected));
    }

    #[test]
    fn a_wrong_value_is_named_with_its_variable_and_what_is_accepted() {
        let message = read(&[("TITRACE_COUNTER", "tsc")]).unwrap_err().to_string();
        assert_eq!(message, "TITRACE_COUNTER=tsc: expected auto, papi, perf, cpu or emulated");
        for (variable, value) in [
            ("TITRACE_DIR", ""),
            ("TITRACE_GATHER", "1"),
            ("TITRACE_GATHER", "a.tar,arity=1"),
            ("TITRACE_GATHER", ",arity=4"),
            ("TITRACE_MODE", "full"),
            ("TITRACE_COLLECTIVES", "bcast=binomial"),
            ("TITRACE_PART", "region="),
            ("TITRACE_RATE", "0"),
            ("TITRACE_RATE", "-1e9"),
            ("TITRACE_RATE", "inf"),
            ("TITRACE_RATE", "2 GHz"),
            ("TITRACE_THREADS", "all"),
            ("TITRACE_BUFFER", "1B"),
            ("TITRACE_BUFFER", "65 MiB"),
            ("TITRACE_BUFFER", "99999999999999999999MiB"),
            ("TITRACE_FLUSH", "0"),
            ("TITRACE_FLUSH", "often"),
            ("TITRACE_LEVEL", "0"),
            ("TITRACE_LEVEL", "10"),
            ("TITRACE_CALLSITES", "yes"),
            ("TITRACE_CALLSITES", "17"),
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
    fn a_flush_is_a_time_or_never() {
        for (text, flush) in [("5", Some(5.0)), ("0.2", Some(0.2)), ("2 s", Some(2.0)), ("never", None)] {
            let expected = flush.map(Duration::from_secs_f64);
            assert_eq!(read(&[("TITRACE_FLUSH", text)]).map(|config| config.flush), Ok(expected), "{text}");
        }
    }

    #[test]
    fn the_effective_configuration_reads_back_as_itself() {
        let gather = Some(Gathering { archive: Pattern::default(), arity: 2 });
        let config = Config { gather, rate: 2.5e9, level: 7, counter: CounterChoice::Cpu, ..Config::default() };
        let listed = config.effective();
        let again = Config::from_variables(listed.into_iter().map(|(name, value)| (name.into(), value.into())));
        assert_eq!(again, Ok(config));
    }
}
