//! `titr sweep`: the points of a study.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use clap::{Args, ValueEnum};
use titr_analyses::{ANALYSES, AnalysedSimulation};
use titr_common::format::{counted, significant};
use titr_common::output::named;
use titr_common::terminal::{message, on_one_line};
use titr_common::timeline::{EventSorter, Excerpt, Subject};
use titr_platform::Platform;
use titr_simulation::SimulationError;
use titr_simulation::parallel::Jobs;

use super::meter::Meter;
use super::runs::JobsArgs;
use super::{Failure, Out};
use crate::call_sites::CallSiteNames;
use crate::cli::page::{DRAWN, origin};
use crate::cli::replay::DRAWN_LINKS;
use crate::page::{PageData, Recorder, StudyPage, write as write_page};
use crate::recorders::{LinkHistory, Timeline};
use crate::report::variations::distinct;
use crate::studies::engine::{self, slurm};
use crate::studies::{AxisKey, Inputs, PointOutcome, PreparedPoint, Ranking, ResultsFolder, Study, StudyError};

const EXAMPLES: &str = "\
Examples:
  titr sweep study.toml --dry-run
  titr sweep study.toml --output results
  SBATCH_PARTITION=short titr sweep study.toml --output results --engine slurm

A study names a platform, traces, and axes:

  schema = 1
  platform = \"cluster.toml\"
  trace = [\"cg\", \"lu\"]
  [axes]
  network.bandwidth = [\"10 Gbit/s\", \"40 Gbit/s\"]
  hosts.cores = { from = 1, to = 4, step = 1 }";

/// Replays the points of a study: all combinations of the values of its axes, or a sample (see docs/STUDIES.md).
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SweepArgs {
    /// The study.
    study: PathBuf,
    /// The folder of the results. A sweep that was killed continues there.
    #[arg(short, long, value_name = "DIRECTORY", required_unless_present = "dry_run")]
    output: Option<PathBuf>,
    /// Where replays run: here (`local`), or as a job array of Slurm (`slurm`), whose options are in the environment
    /// (SBATCH_PARTITION, SBATCH_ACCOUNT, ...).
    #[arg(long, value_enum, default_value_t, hide_possible_values = true)]
    engine: Engine,
    /// Checks the study and each of its points, replays one point of each trace on each platform, and prints how long the study
    /// takes.
    #[arg(long)]
    dry_run: bool,
    /// Also writes a page for each point, which takes another replay of the point.
    #[arg(long)]
    reports: bool,
    /// The number of points of a task of a job array [default: as many as give 256 tasks].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    points_per_task: Option<u32>,
    /// Simulates the points of a task of a job array.
    #[arg(long, hide = true, requires = "output")]
    task: Option<usize>,
    #[command(flatten)]
    jobs: JobsArgs,
    /// Prints neither a summary nor how far the sweep is.
    #[arg(long, short)]
    quiet: bool,
}

/// A way to run replays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Engine {
    /// Threads of this command.
    #[default]
    Local,
    /// A job array of Slurm.
    Slurm,
}

pub(super) fn sweep(args: &SweepArgs, out: &mut Out) -> Result<(), Failure> {
    let inputs = Inputs::read(Study::load(&args.study)?, args.jobs.jobs())?;
    let Some(path) = args.output.as_deref().filter(|_| !args.dry_run) else {
        return args.dry_run(&inputs, out);
    };
    if let Some(task) = args.task {
        return args.task(&inputs, path, task);
    }
    if args.engine == Engine::Slurm {
        slurm::check()?;
    }
    let folder = ResultsFolder::open(path, &inputs)?;
    let missing = folder.missing(inputs.count(), args.reports);
    let old = inputs.count() - missing.len();
    let meter = if args.quiet { None } else { Meter::of_points(inputs.count()) };
    let show = |done: usize| meter.iter().for_each(|meter| meter.done(done));
    show(old);
    match args.engine {
        Engine::Local => {
            let done = AtomicUsize::new(old);
            let one_more = || show(done.fetch_add(1, Ordering::Relaxed) + 1);
            let replay = |point, prepared: &PreparedPoint| args.replay(&inputs, &folder, prepared, point);
            engine::run(&inputs, &folder, &missing, args.jobs.jobs(), &replay, &one_more)?;
        }
        Engine::Slurm => {
            let array = slurm::SlurmArray {
                folder: &folder,
                command: args.command(path)?,
                points_per_task: args.points_per_task.map(|points| points as usize),
                has_reports: args.reports,
            };
            array.run(inputs.count(), &show)?;
        }
    }
    drop(meter);
    let outcomes = folder.finish(&inputs)?;
    let ranking = Ranking::of(&inputs, &outcomes);
    let page = StudyPage::new(&args.study, &inputs, (&outcomes, &ranking), args.reports);
    page.write(&folder.path().join("page.html"))?;
    if args.quiet { Ok(()) } else { summary(&outcomes, &ranking, path, out) }
}

impl SweepArgs {
    /// Simulates a point, and writes its report if reports are asked for.
    fn replay(
        &self,
        inputs: &Inputs,
        folder: &ResultsFolder,
        prepared: &PreparedPoint,
        point: usize,
    ) -> Result<titr_analyses::AnalysedResult, StudyError> {
        let result = engine::simulate(inputs, prepared, point)?;
        if self.reports {
            write_report(inputs, prepared, point, &folder.report(point))?;
        }
        Ok(result)
    }

    /// Simulates the points of a task.
    fn task(&self, inputs: &Inputs, path: &Path, task: usize) -> Result<(), Failure> {
        let folder = ResultsFolder::of_task(path, inputs)?;
        let mut points = slurm::points_of_task(path, task)?;
        let missing = folder.missing(inputs.count(), self.reports);
        points.retain(|point| missing.binary_search(point).is_ok());
        let replay = |point, prepared: &PreparedPoint| {
            let result = self.replay(inputs, &folder, prepared, point);
            if let Err(error) = &result {
                folder.keep_failure(point, &error.to_string())?;
            }
            result
        };
        Ok(engine::run(inputs, &folder, &points, self.jobs.jobs(), &replay, &|| ())?)
    }

    /// The command of a task, without its number.
    fn command(&self, output: &Path) -> Result<Vec<String>, Failure> {
        let absolute = |path: &Path| {
            let path = std::path::absolute(path).map_err(|error| named(path, error))?;
            path.into_os_string().into_string().map_err(|path| {
                Failure::Value(format!("--engine slurm: {} has letters that no script has", path.display()))
            })
        };
        let titr = std::env::current_exe()?;
        let words = [absolute(&titr)?, "sweep".into(), absolute(&self.study)?, "--output".into(), absolute(output)?];
        Ok(words.into_iter().chain(self.reports.then(|| "--reports".to_owned())).collect())
    }

    /// Prints how many replays there are, and how long they take.
    fn dry_run(&self, inputs: &Inputs, out: &mut Out) -> Result<(), Failure> {
        let mut kinds: Vec<(String, usize, usize)> = Vec::new();
        for point in 0..inputs.count() {
            let is_of_kind = |key: &AxisKey| matches!(key, AxisKey::Platform | AxisKey::Trace);
            let settings = inputs.study.axes.iter().zip(inputs.settings(point));
            let kind: Vec<&str> =
                settings.filter(|(axis, _)| is_of_kind(&axis.key)).map(|(_, setting)| setting.shown.as_str()).collect();
            let kind = kind.join(", ");
            match kinds.iter_mut().find(|(known, ..)| *known == kind) {
                Some((.., points)) => *points += 1,
                None => kinds.push((kind, point, 1)),
            }
        }
        let mut work = Duration::ZERO;
        for (_, point, points) in &kinds {
            let prepared = inputs.point(*point)?;
            let start = Instant::now();
            engine::simulate(inputs, &prepared, *point)?;
            work += start.elapsed() * u32::try_from(*points).unwrap_or(u32::MAX);
        }
        let replays =
            inputs.count() as u64 * u64::from(inputs.study.repeats) * (1 + u64::from(inputs.study.split_communication));
        writeln!(out, "{}, {}", counted(inputs.count(), "point", "points"), counted(replays, "replay", "replays"))?;
        for (kind, _, points) in &kinds {
            writeln!(out, "  {}: {}", on_one_line(kind), counted(*points, "point", "points"))?;
        }
        let jobs = self.jobs.jobs().0.get();
        let wall = work.as_secs_f64() / jobs.min(inputs.count()) as f64;
        let (work, wall) = (significant(work.as_secs_f64(), 2), significant(wall, 2));
        writeln!(out, "about {work} s of processor time, {wall} s with --jobs {jobs}")?;
        Ok(())
    }
}

/// Prints the files, the answers, and what could not be simulated faithfully.
fn summary(outcomes: &[PointOutcome], ranking: &Ranking, path: &Path, out: &mut Out) -> Result<(), Failure> {
    let table = path.join("results.csv").display().to_string();
    writeln!(out, "{} in {}", counted(outcomes.len(), "point", "points"), on_one_line(&table))?;
    for answer in ranking.answers() {
        writeln!(out, "{}", on_one_line(&answer))?;
    }
    let warnings = distinct(outcomes.iter().flat_map(|outcome| &outcome.warnings));
    if !warnings.is_empty() {
        writeln!(out, "\nAssumptions and limits, at some or all points")?;
    }
    Ok(warnings.iter().try_for_each(|warning| writeln!(out, "  {}", message(warning)))?)
}

/// Replays a point with all analyses, and writes its page.
fn write_report(inputs: &Inputs, prepared: &PreparedPoint, point: usize, path: &Path) -> Result<(), StudyError> {
    let (platform, ranks) = (&prepared.platform, prepared.trace.ranks());
    let subject = Subject { ranks, time: "simulated time", excerpt: Excerpt::default(), jobs: Vec::new() };
    let recorder = Recorder::new(&subject);
    let mut links = LinkHistory::new(platform, ranks).map_err(SimulationError::from)?;
    let mut timeline = Timeline::new(EventSorter::new(recorder.writers()));
    let names = CallSiteNames::default();
    let simulation = prepared.simulation(&names).jobs(Jobs::ONE).read_ahead(false);
    let simulation = simulation.observe(&mut timeline).observe(&mut links);
    let analyses = ANALYSES.iter().map(|kind| kind.name).filter(|name| *name != DRAWN);
    let analysed = analyses.fold(AnalysedSimulation::new(simulation), AnalysedSimulation::analyse);
    let result = analysed.split_communication(true).run()?;
    let loads = links.busiest(DRAWN_LINKS);
    timeline.finish(&loads)?;
    let setting = |key: &AxisKey| {
        let mut axes = inputs.study.axes.iter().zip(inputs.settings(point));
        axes.find(|(axis, _)| axis.key == *key).map(|(_, setting)| setting)
    };
    let platform_file = setting(&AxisKey::Platform).map(|of| inputs.platform_file(of)).unwrap_or_default();
    let trace_file = setting(&AxisKey::Trace).map(|of| inputs.study.file(of)).unwrap_or_default();
    let machine = (platform, &*platform_file, Platform::text(&platform_file)?);
    let origin = origin(prepared.trace, trace_file.display().to_string(), machine)?;
    let (overview, detail) = recorder.finish();
    let data = PageData::new(&origin, &result, (&overview, &detail), &loads, None);
    Ok(write_page(&data, path)?)
}
