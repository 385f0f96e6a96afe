//! Options for the page that shows a replay.

use std::path::{Path, PathBuf};

use clap::Args;
use titr_analyses::{ANALYSES, AnalysedResult};
use titr_common::timeline::Series;
use titr_common::trace::Trace;
use titr_platform::Platform;
use titr_simulation::SimulationError;

use super::Failure;
use super::program::EVERY_ITERATION;
use crate::diff::{DiffError, ReplayedResult};
use crate::page::{Origin, PageData, Recorder, write};

/// The analysis that has its own picture on the page.
pub(super) const DRAWN: &str = "matrix";

/// The page that is asked for.
#[derive(Debug, Args)]
#[command(next_help_heading = "Page")]
pub(super) struct PageArgs {
    /// Also writes a page for a browser, in one file of HTML: the predicted time and its parts, ranks, timeline,
    /// messages, links, and the findings of all analyses.
    #[arg(long = "report", value_name = "FILE", group = EVERY_ITERATION)]
    pub(super) file: Option<PathBuf>,
    /// Adds a comparison with this earlier result of --json to the page.
    #[arg(long, value_name = "BEFORE.json", requires = "file")]
    compare: Option<PathBuf>,
}

impl PageArgs {
    /// The result that the page compares with, if it compares.
    pub(super) fn compared(&self) -> Result<Option<ReplayedResult>, DiffError> {
        self.compare.as_deref().map(ReplayedResult::read).transpose()
    }

    /// The analyses that are to be made where these were asked for: a page shows the findings of all.
    pub(super) fn analyses<'a>(&self, asked_for: &'a [String]) -> Vec<&'a str> {
        let mut names: Vec<&str> = asked_for.iter().map(String::as_str).collect();
        if self.file.is_some() {
            let others = ANALYSES.iter().map(|kind| kind.name).filter(|name| *name != DRAWN);
            names.extend(others.filter(|name| !asked_for.iter().any(|asked| asked == name)));
        }
        names
    }

    /// Writes the page of the replay that `recorder` has recorded, with its result and the one before.
    pub(super) fn write(
        &self,
        recorder: Recorder,
        (result, before): (&AnalysedResult, Option<&ReplayedResult>),
        loads: &[Series],
        origin: &Origin,
    ) -> Result<(), Failure> {
        let Some(path) = &self.file else { return Ok(()) };
        let comparison = before.map(|before| before.to(&ReplayedResult::of(result)));
        let (overview, detail) = recorder.finish();
        let data = PageData::new(origin, result, (&overview, &detail), loads, comparison.as_ref());
        Ok(write(&data, path)?)
    }
}

/// What a page is about: a trace and its name, and a platform with its file and its text.
pub(super) fn origin(
    trace: &Trace,
    trace_name: String,
    (platform, file, platform_text): (&Platform, &Path, String),
) -> Result<Origin, SimulationError> {
    let program = trace.manifest().and_then(|manifest| program_name(&manifest.command));
    let topology = &*platform.topology;
    Ok(Origin {
        command: super::recorded_command(None),
        program: program.or_else(|| last_name(&trace_name)).unwrap_or_else(|| trace_name.clone()),
        trace: trace_name,
        platform: file.display().to_string(),
        platform_text,
        bandwidth: Origin::bandwidth(platform),
        hosts: platform.place(trace.ranks())?.0.iter().map(|host| host.0).collect(),
        names: Origin::names(topology),
        failures: Origin::failures(topology),
        failed: Origin::failed(topology),
    })
}

/// The name of the program that a command starts: of a script, if an interpreter runs it. `None` if the command made the
/// trace without running a program.
fn program_name(command: &[String]) -> Option<String> {
    const INTERPRETERS: [&str; 6] = ["python", "julia", "Rscript", "perl", "bash", "sh"];
    let name = last_name(command.first()?)?;
    let is_interpreter = INTERPRETERS.iter().any(|interpreter| name.starts_with(interpreter));
    let script = command.iter().skip(1).find(|word| !word.starts_with('-')).filter(|_| is_interpreter);
    match script {
        Some(script) => last_name(script),
        None => (name != "titr").then_some(name),
    }
}

fn last_name(path: &str) -> Option<String> {
    Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_named_instead_of_its_interpreter() {
        let name = |command: &str| program_name(&command.split(' ').map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(name("./bin/lu.B.64 -v").unwrap(), "lu.B.64");
        assert_eq!(name("/usr/bin/python3 -u src/heat.py 100").unwrap(), "heat.py");
        assert_eq!(name("python3").unwrap(), "python3");
        assert_eq!(name("titr generate stencil"), None);
        assert_eq!(program_name(&[]), None);
    }
}
