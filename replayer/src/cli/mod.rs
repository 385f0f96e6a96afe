//! The commands: what they are told, what they print, and with which status they end.
//!
//! 0: done. 1: the input is at fault, and standard error says how. 2: wrong usage (clap's status).

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, BufWriter, StdoutLock, Write};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use serde::Serialize;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use thiserror::Error;
use titr_analyses::AnalysisError;
use titr_calibration::benchmarks::BenchmarkError;
use titr_calibration::measurements::MeasurementsError;
use titr_calibration::{CalibrationError, NoRate, RefineError};
use titr_common::collectives::Library;
use titr_common::output::{Command, remove_unfinished};
use titr_common::terminal::{self, Escaped, say};
use titr_common::trace::TraceError;
use titr_extrapolation::ExtrapolationError;
use titr_formats::output::ConvertError;
use titr_hypotheses::HypothesesError;
use titr_platform::PlatformError;
use titr_platform::job_mix::JobMixError;
use titr_simulation::SimulationError;
use titr_simulation::network_traces::{NetworkTraceError, NoTriggers};
use titr_simulation::traffic::TrafficError;
use titr_simulation::triggered::TriggeredError;
use trace::TraceArgs;

use crate::combine::CombineError;
use crate::diff::DiffError;
use crate::studies::StudyError;

mod advise;
mod benchmarks;
mod calibrate;
mod cat;
mod check;
mod combine;
mod convert;
mod diff;
mod efficiency;
mod extrapolate;
mod gather;
mod generate;
mod info;
mod machine;
mod manual;
mod meter;
mod page;
mod place;
mod platform;
mod program;
mod replay;
mod report;
mod runs;
mod schedule;
mod schema;
mod spread;
mod suggestion;
mod sweep;
mod symbolize;
mod time;
mod timeline;
pub mod titr;
mod titr_replay;
mod tolerance;
mod trace;
mod traffic;
mod trigger;
mod triggers;
mod vary;

/// The exit statuses; that of wrong usage is clap's.
const DONE: u8 = 0;
const AT_FAULT: u8 = 1;
const WRONG_USAGE: u8 = 2;

/// An error that ends a command.
#[derive(Debug, Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    TraceArgs(#[from] TraceError),
    #[error(transparent)]
    Platform(#[from] PlatformError),
    #[error("{}{}", option_at_fault(.0), .0)]
    Simulation(#[from] SimulationError),
    #[error(transparent)]
    Benchmark(#[from] BenchmarkError),
    #[error(transparent)]
    Diff(#[from] DiffError),
    #[error(transparent)]
    Hypotheses(#[from] HypothesesError),
    #[error(transparent)]
    JobMix(#[from] JobMixError),
    #[error(transparent)]
    Convert(#[from] ConvertError),
    #[error(transparent)]
    Combine(#[from] CombineError),
    #[error(transparent)]
    Extrapolation(#[from] ExtrapolationError),
    #[error(transparent)]
    Traffic(#[from] TrafficError),
    #[error(transparent)]
    Triggered(#[from] TriggeredError),
    #[error(transparent)]
    NetworkTrace(#[from] NetworkTraceError),
    #[error(transparent)]
    Triggers(#[from] NoTriggers),
    #[error(transparent)]
    Measurements(#[from] MeasurementsError),
    #[error(transparent)]
    Calibration(#[from] CalibrationError),
    #[error(transparent)]
    Refinement(#[from] RefineError),
    #[error("--trace: {0}")]
    Rate(#[from] NoRate),
    #[error(transparent)]
    Study(#[from] StudyError),
    /// The command has already printed what is wrong.
    #[error("")]
    Findings,
    /// The value of an option contradicts another value, or the contents of a file.
    #[error("{0}")]
    Value(String),
    /// An option has no effect in this command.
    #[error("{0}")]
    Usage(String),
    #[error("{}", unwritten(.0))]
    Output(#[from] io::Error),
}

impl From<AnalysisError> for Failure {
    fn from(error: AnalysisError) -> Self {
        match error {
            AnalysisError::Simulation(error) => error.into(),
            AnalysisError::Unknown(_) => Self::Value(format!("--analyse: {error}")),
        }
    }
}

/// The option that caused an error, as a prefix of the message; empty if no option did.
fn option_at_fault(error: &SimulationError) -> &'static str {
    match error {
        SimulationError::NoTimes => "--compute timed: ",
        SimulationError::NotComparable(_) => "--normalise: ",
        SimulationError::NoRuns => "--runs: ",
        SimulationError::Trace(_)
        | SimulationError::Placement(_)
        | SimulationError::Replay(_)
        | SimulationError::Deadlock { .. } => "",
    }
}

/// The library with this name. The error lists all names.
fn library(name: &str) -> Result<Library, String> {
    let names = || Library::ALL.iter().map(|library| library.name()).collect::<Vec<_>>().join(", ");
    Library::named(name).ok_or_else(|| format!("there are {}", names()))
}

/// The message of an error in writing. An error of a file already names the file.
fn unwritten(error: &io::Error) -> String {
    match error.get_ref() {
        Some(_) => error.to_string(),
        None => format!("cannot write to standard output: {error}"),
    }
}

/// Standard output, as commands print to it.
type Out = Escaped<BufWriter<StdoutLock<'static>>>;

/// Words that other programs or earlier versions have, each with what to do instead. One that begins with an option is for the
/// subcommands that have it.
const OTHER_WORDS: [(&[&str], &str); 22] = [
    (&["--cycle"], "titr reads no traces of netrace any more"),
    (&["dumpi"], "titr writes no traces of DUMPI any more, and reads them as before: otf2 keeps the same calls"),
    (&["--paraver"], "--perfetto and --paje draw a replay; `titr convert --to paraver` writes a trace for Paraver"),
    (&["--rsh"], "copy the parts to this host (scp -r, rsync), and name the copies"),
    (&["--mapper"], "titr maps ranks by itself, and no longer by Scotch"),
    (
        &["--html", "--output", "-o", "--page", "--svg", "--pdf", "--plot", "--chart", "--gantt", "--visualize"],
        "--report FILE writes a page for a browser",
    ),
    (
        &["--report", "--html", "--page", "--plot", "--chart"],
        "--reports adds a page of each point to that of the study, which is page.html in --output DIRECTORY",
    ),
    (&["--report", "--html", "--page"], "titr replay --report FILE draws a replay on a page for a browser"),
    (
        &["--bandwidth", "--latency", "--topology", "--speed", "--cores", "--model", "--network", "--network-model"],
        "--set KEY=VALUE sets a key of the platform, such as --set 'network.bandwidth=40 Gbit/s'",
    ),
    (
        &["--analysis", "--analyses", "--profile", "--critical-path", "--wait-states"],
        "--analyse ANALYSIS explains the time",
    ),
    (&["--threads", "--parallel"], "--jobs N runs simulations at the same time"),
    (&["--np", "-n"], "a trace has its number of ranks, which titr extrapolate changes"),
    (&["--color", "--colour", "--no-color"], "NO_COLOR=1 in the environment: no colours"),
    (
        &["report", "plot", "view", "timeline", "gantt"],
        "titr replay --report FILE draws a replay on a page for a browser",
    ),
    (&["analyse", "analyze", "analysis", "profile", "explain"], "titr replay --analyse critical-path, or wait-states"),
    (
        &["show", "list", "stats", "summary", "inspect"],
        "titr info and titr cat show traces, titr platform show a machine",
    ),
    (&["compare"], "titr diff compares two results, titr vary and titr sweep machines"),
    (&["simulate", "predict", "run"], "titr replay predicts the time of a traced program"),
    (&["trace", "record"], "mpirun -np N titrace PROGRAM records a trace"),
    (&["validate", "verify"], "titr check says whether a trace is sound"),
    (&["merge", "join"], "titr gather joins the parts of a trace, titr combine the traces of several runs"),
    (&["print", "dump"], "titr cat prints the events of a trace"),
];

/// The subcommand that the first words of a command line name.
fn subcommand<'c>(command: &'c clap::Command, words: &[OsString]) -> &'c clap::Command {
    let mut names = words.iter().skip(1).map_while(|word| word.to_str());
    let found = names.try_fold(command, |command, name| command.find_subcommand(name).ok_or(command));
    let (Ok(found) | Err(found)) = found;
    found
}

/// Says of an unknown subcommand, option or value what to do instead.
fn tell_of_other_words(error: &mut clap::Error, command: &clap::Command, words: &[OsString]) {
    let kind = match error.kind() {
        ErrorKind::UnknownArgument => ContextKind::InvalidArg,
        ErrorKind::InvalidSubcommand => ContextKind::InvalidSubcommand,
        _ => ContextKind::InvalidValue,
    };
    // That a mistaken option could be a value leads nowhere.
    error.remove(ContextKind::Suggested);
    let Some(ContextValue::String(word)) = error.get(kind) else { return };
    let command = subcommand(command, words);
    let has = |option: &str| command.get_opts().any(|known| known.get_long() == Some(option));
    let is_possible =
        |instead: &str| instead.strip_prefix("--").is_none_or(|text| text.split(' ').next().is_some_and(has));
    let known = OTHER_WORDS.iter().find(|(known, instead)| {
        known.iter().any(|known| word.split('=').next() == Some(known)) && is_possible(instead)
    });
    if let Some((_, instead)) = known {
        for kind in [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue] {
            error.remove(kind);
        }
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![(*instead).into()]));
    }
}

/// The mistake of a long option behind one dash, which would be a short one with a value: `-platform`.
fn option_with_one_dash(command: &clap::Command, all: &[OsString]) -> Option<clap::Error> {
    let mut words = all.iter().skip(1).map_while(|word| word.to_str()).take_while(|word| *word != "--");
    let found = subcommand(command, all);
    let is_long = |name: &str| name.len() > 1 && found.get_opts().any(|option| option.get_long() == Some(name));
    let word = words.find(|word| word.strip_prefix('-').is_some_and(is_long))?;
    let message = format!("unexpected argument '{word}' found\n\n  tip: a similar argument exists: '-{word}'");
    Some(command.clone().error(ErrorKind::ValueValidation, message))
}

/// The arguments in the words of a command line. On a mistake or a request for help, prints it and ends the process.
fn arguments<A: Parser>(words: &[OsString]) -> A {
    let is_candidate = |word: &OsString| matches!(word.as_encoded_bytes(), [b'-', b'a'..=b'z', _, ..]);
    let mistake = words.iter().any(is_candidate).then(|| option_with_one_dash(&A::command(), words)).flatten();
    let parsed = mistake.map_or_else(|| A::try_parse_from(words), Err);
    parsed.unwrap_or_else(|mut error| {
        tell_of_other_words(&mut error, &A::command(), words);
        let words = words.iter().map(|word| word.to_string_lossy());
        // A message has its colours where it repeats nothing that a terminal would obey.
        let printed = match words.clone().all(|word| terminal::on_one_line(&word) == *word) {
            true => error.print(),
            false => {
                let text = terminal::usage(&error.render().to_string(), words.map(Cow::into_owned));
                let line = terminal::line_of(format_args!("{}", text.trim_end()));
                if error.use_stderr() { io::stderr().write_all(&line) } else { io::stdout().write_all(&line) }
            }
        };
        match error.use_stderr() {
            true => std::process::exit(error.exit_code()),
            false => std::process::exit(terminal::status_of("titr", printed).into()),
        }
    })
}

/// The words of this command line as a file records them; with `name`, the first word is that.
fn recorded_command(name: Option<&str>) -> Vec<String> {
    let mut words: Vec<_> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    if let (Some(first), Some(name)) = (words.first_mut(), name) {
        *first = name.to_owned();
    }
    words
}

/// Prints a result as one JSON object.
fn print_json(result: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, result)?;
    writeln!(out)
}

/// Runs a command that prints to standard output, and says on standard error what is wrong. Returns the exit status.
fn run(name: &str, command: impl FnOnce(&mut Out) -> Result<(), Failure>) -> u8 {
    watch_signals();
    let _command = Command::begin();
    let mut out = Escaped::to_stdout(BufWriter::new(io::stdout().lock()));
    let result = command(&mut out).and_then(|()| Ok(out.flush()?));
    match result {
        Ok(()) => DONE,
        // Who reads has seen enough.
        Err(Failure::Output(error)) if error.raw_os_error().is_some() && error.kind() == io::ErrorKind::BrokenPipe => {
            DONE
        }
        Err(Failure::Findings) => AT_FAULT,
        Err(failure) => {
            let _ = out.flush();
            say(format_args!("{name}: {failure}"));
            if matches!(failure, Failure::Usage(_)) { WRONG_USAGE } else { AT_FAULT }
        }
    }
}

/// Removes unfinished files when the user or the system ends this process, and makes a file that grows beyond its limit an
/// error of writing. Best effort: without, the process ends as any other does.
fn watch_signals() {
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    let Ok(mut signals) = Signals::new([SIGHUP, SIGINT, SIGTERM]) else { return };
    let _ = thread::Builder::new().name("signals".to_owned()).spawn(move || {
        if let Some(signal) = signals.forever().next() {
            remove_unfinished();
            let _ = emulate_default_handler(signal);
        }
    });
}
