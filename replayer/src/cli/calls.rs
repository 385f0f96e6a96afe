//! The commands as functions, for interfaces to other languages: the words of a command line go in, and the result comes
//! back instead of being printed.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, FromArgMatches, Parser};
use titr_analyses::AnalysedResult;
use titr_calibration::RefineError;
use titr_calibration::measurements::MeasurementsError;
use titr_common::output::Command;
use titr_common::terminal::Escaped;
use titr_hypotheses::HypothesesError;
use titr_job_mix::JobMixError;
use titr_platform::PlatformError;
use titr_simulation::observe::Observer;
use titr_simulation::ranks::ReplayError;
use titr_simulation::{SimulationError, StopRequest};
use titr_studies::StudyError;

use super::replay::ReplayArgs;
use super::vary::VaryArgs;
use super::{Failure, titr, titr_replay};
use crate::report::text;
use crate::report::variations::Variations;

/// Inputs of a command apart from its words.
#[derive(Clone, Debug, Default)]
pub struct Inputs {
    /// The text of the platform. The word after `--platform` is then only its name.
    pub platform: Option<String>,
    /// The text of the hypotheses.
    pub what_if: Option<String>,
    /// The request that all replays end early.
    pub stop: StopRequest,
}

/// The options of a command without its name.
#[derive(Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Options<A: Args + FromArgMatches> {
    #[command(flatten)]
    args: A,
}

fn options<A: Args + FromArgMatches>(words: &[OsString]) -> Result<A, Failure> {
    match Options::try_parse_from(words) {
        Ok(Options { args }) => Ok(args),
        Err(error) => {
            let text = error.render().to_string();
            let text = text.strip_prefix("error: ").unwrap_or(&text);
            let message = text.split("\n\nUsage:").next().unwrap_or(text);
            let message = message.split("\n\nFor more information").next().unwrap_or(message);
            Err(Failure::Usage(message.trim_end().to_owned()))
        }
    }
}

/// The result of `titr replay` with these words. `observers` follow the first run.
///
/// # Errors
/// If the command would end with an error.
pub fn replay(
    words: &[OsString],
    inputs: Inputs,
    observers: Vec<&mut dyn Observer>,
) -> Result<AnalysedResult, Failure> {
    let _command = Command::begin();
    let mut args: ReplayArgs = options(words)?;
    args.machine.text = inputs.platform;
    (args.program.what_if_text, args.program.stop) = (inputs.what_if, inputs.stop);
    args.result(observers)
}

/// The results of `titr vary` with these words.
///
/// # Errors
/// If the command would end with an error.
pub fn vary(words: &[OsString], inputs: Inputs) -> Result<Variations, Failure> {
    let _command = Command::begin();
    let mut args: VaryArgs = options(words)?;
    args.machine.text = inputs.platform;
    (args.program.what_if_text, args.program.stop) = (inputs.what_if, inputs.stop);
    args.run()
}

/// The summary that `titr replay` prints.
#[must_use]
pub fn summary(result: &AnalysedResult) -> String {
    let mut text = Vec::new();
    // Memory takes everything.
    let _ = text::summary(result, false, &mut Escaped::new(&mut text));
    String::from_utf8_lossy(&text).into_owned()
}

/// Runs the command of this name, `titr` or `titr-replay`, with the words that follow the name. Returns the exit status.
#[must_use]
pub fn command(name: &str, words: Vec<OsString>) -> u8 {
    match name {
        "titr-replay" => titr_replay::run_command(words),
        _ => titr::run_command("titr", [OsString::from("titr")].into_iter().chain(words).collect()),
    }
}

impl Failure {
    /// Whether the failure is a [`StopRequest`] that was made.
    #[must_use]
    pub fn is_stop(&self) -> bool {
        matches!(self, Self::Simulation(SimulationError::Replay(ReplayError::Stopped)))
    }

    /// The file at fault, and the line where one is, from 1; `None` if no single file is at fault.
    #[must_use]
    pub fn place(&self) -> Option<(PathBuf, Option<u64>)> {
        let whole = |path: &Path| Some((path.to_owned(), None));
        match self {
            Self::TraceArgs(error) | Self::Simulation(SimulationError::Trace(error)) => error.place(),
            Self::Simulation(SimulationError::Replay(error)) => match error {
                ReplayError::Trace(error) => error.place(),
                ReplayError::Event { place, .. } | ReplayError::EndOfTime { place } => {
                    place.line.as_ref().map(|(path, line)| (path.clone(), Some(*line)))
                }
                ReplayError::Deadlock(_)
                | ReplayError::Places { .. }
                | ReplayError::Unreachable(_)
                | ReplayError::Stopped => None,
            },
            Self::Platform(PlatformError::Unreadable { path, .. })
            | Self::Hypotheses(HypothesesError::Unreadable { path, .. }) => whole(path),
            Self::Platform(PlatformError::Mistaken(mistake)) | Self::Hypotheses(HypothesesError::Mistaken(mistake)) => {
                mistake.place()
            }
            Self::JobMix(JobMixError::Unreadable { path, .. }) | Self::Study(StudyError::Unreadable { path, .. }) => {
                whole(path)
            }
            Self::JobMix(JobMixError::Mistaken(mistake)) | Self::Study(StudyError::Mistaken(mistake)) => {
                mistake.place()
            }
            Self::Refinement(error) => match error {
                RefineError::Unreadable { path, .. } => whole(path),
                RefineError::Mistaken(mistake) => mistake.place(),
                RefineError::Platform(_) | RefineError::Replay { .. } => None,
            },
            Self::JobMix(JobMixError::Trace(error)) | Self::Study(StudyError::Trace(error)) => error.place(),
            Self::Measurements(error) => match error {
                MeasurementsError::Unreadable { path, .. } | MeasurementsError::Inconsistent { path, .. } => {
                    whole(path)
                }
                MeasurementsError::Malformed { path, source } => Some((path.clone(), Some(source.line() as u64))),
            },
            Self::Simulation(
                SimulationError::Placement(_)
                | SimulationError::Deadlock { .. }
                | SimulationError::NoTimes
                | SimulationError::NotComparable(_)
                | SimulationError::NoRuns,
            ) => None,
            Self::Combine(_) | Self::Extrapolation(_) | Self::Diff(_) | Self::Convert(_) => None,
            Self::Traffic(_) | Self::Triggered(_) => None,
            Self::NetworkTrace(_) | Self::Triggers(_) | Self::Calibration(_) | Self::Rate(_) => None,
            // What else a study finds wrong is in its message.
            Self::Study(_) => None,
            Self::Findings | Self::Value(_) | Self::Usage(_) => None,
            Self::Output(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replayed(words: &str) -> Result<AnalysedResult, Failure> {
        let words: Vec<OsString> = words.split_whitespace().map(OsString::from).collect();
        replay(&words, Inputs::default(), Vec::new())
    }

    #[test]
    fn a_wrong_word_is_an_error_and_not_the_end_of_the_process() {
        let message = |words| replayed(words).unwrap_err().to_string();
        assert!(message("--platform p --colour t").starts_with("unexpected argument '--colour' found"));
        assert!(message("--platform p --help t").starts_with("unexpected argument '--help' found"));
        let wrong = message("--platform p --compute timely t");
        assert!(wrong.starts_with("invalid value 'timely'") && !wrong.contains("Usage"), "{wrong}");
    }

    #[test]
    fn an_error_names_its_file_and_line() {
        let failure = replayed("--quiet --platform no-such-file.toml ../examples/ring.txt").unwrap_err();
        assert_eq!(failure.place(), Some(("no-such-file.toml".into(), None)));
        let words = ["--quiet", "--platform", "platform", "../examples/ring.txt"].map(OsString::from);
        let inputs = Inputs { platform: Some("schema = 1\n[topology]\nkind = 3\n".to_owned()), ..Inputs::default() };
        let failure = replay(&words, inputs, Vec::new()).unwrap_err();
        assert_eq!(failure.place(), Some(("platform".into(), Some(3))), "{failure}");
    }

    #[test]
    fn a_stop_that_is_requested_is_known_as_one() {
        assert!(Failure::from(SimulationError::Replay(ReplayError::Stopped)).is_stop());
        assert!(!Failure::Findings.is_stop());
    }
}
