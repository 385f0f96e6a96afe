//! The jobs of a file, on a platform.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use thiserror::Error;
use titr_common::input::{self, WRITTEN_BY_HAND};
use titr_common::time::Time;
use titr_common::trace::{Trace, TraceError, side_by_side};
use titr_common::units::Bandwidth;
use titr_document::{Checked, Mistake, Source};
use titr_network::topology::HostId;
use titr_network::traffic::{Arrangement, BackgroundLoad, Destinations, NoSize, Pattern, Sizes};

use super::Job;
use super::placement::{Placer, hosts};
use super::schema::{BackgroundTable, JobTable, JobsFile};
use super::starts::{starts, time};
use crate::Platform;

/// Several jobs that share a machine.
#[derive(Clone)]
pub struct JobMix {
    /// The jobs, in the order of the file.
    pub jobs: Vec<Job>,
    /// The traces of all jobs as one, whose ranks are those of the jobs in their order.
    pub trace: Trace,
    /// Synthetic traffic beside the jobs.
    pub background: Vec<Background>,
}

/// A reason why there is no job mix.
#[derive(Debug, Error)]
pub enum JobMixError {
    /// The file cannot be read.
    #[error("cannot read the jobs {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: std::io::Error,
    },
    /// The file is wrong.
    #[error(transparent)]
    Mistaken(#[from] Mistake),
    /// The traces cannot be joined.
    #[error(transparent)]
    Trace(#[from] TraceError),
}

/// A mistake of a file of jobs, with advice if it is a platform.
fn of_platform(mistake: Mistake) -> Mistake {
    const KEYS: [&str; 5] = ["schema", "hosts", "topology", "network", "mpi"];
    if KEYS.iter().any(|key| mistake.message() == format!("unknown key `{key}`")) {
        let help = "this is a platform, where a trace or a file of jobs is expected: it stands after --platform";
        return mistake.with_help(help);
    }
    mistake
}

impl JobMix {
    /// Reads the jobs of a file, whose traces are opened with `open`, and places them on `platform`.
    ///
    /// # Errors
    /// If the file or a trace cannot be read, or the jobs do not fit each other or the platform.
    pub fn load(
        path: &Path,
        platform: &Platform,
        open: impl Fn(&[PathBuf]) -> Result<Trace, TraceError>,
    ) -> Result<Self, JobMixError> {
        let text = input::read_text(path, WRITTEN_BY_HAND)
            .map_err(|error| JobMixError::Unreadable { path: path.to_owned(), error })?;
        let source = Source::new(&path.display().to_string(), text, []);
        let JobsFile { job: tables, background } = source.read().map_err(of_platform)?;
        check_names(&source, &tables)?;
        let starts = starts(&source, &tables)?;
        let all = platform.topology.hosts();
        let background =
            background.iter().map(|table| self::background(&source, table, all)).collect::<Checked<_>>()?;
        let traces = traces(&source, path, &tables, open)?;
        let ranks: Vec<u32> = traces.iter().map(|(_, trace)| trace.ranks()).collect();
        let hosts = Placer::new(&source, &tables, &starts, platform).place(&ranks)?;
        let mut first = 0_u32;
        let mut jobs = Vec::new();
        for (((table, start), hosts), ranks) in tables.into_iter().zip(starts).zip(hosts).zip(ranks) {
            let last = first.saturating_add(ranks);
            jobs.push(Job { name: table.name.into_inner(), ranks: first..last, hosts, start });
            first = last;
        }
        Ok(Self { jobs, trace: side_by_side(traces)?, background })
    }

    /// The host of each rank of all jobs.
    #[must_use]
    pub fn hosts(&self) -> Vec<HostId> {
        self.jobs.iter().flat_map(|job| job.hosts.iter().copied()).collect()
    }
}

/// Refuses a file without jobs, and two jobs of one name.
fn check_names(source: &Source, jobs: &[JobTable]) -> Checked<()> {
    if jobs.is_empty() {
        return Err(source.mistake(0..0, "there is no job").with_help("write a table [[job]] with `name` and `trace`"));
    }
    let mut names = HashSet::new();
    for job in jobs {
        if job.name.get_ref().trim().is_empty() {
            return Err(source.wrong(&job.name, "a job needs a name"));
        }
        if !names.insert(job.name.get_ref()) {
            return Err(source.wrong(&job.name, format!("there are two jobs {}", job.name.get_ref())));
        }
    }
    Ok(())
}

/// The trace of each job, and the place that it was read from.
fn traces(
    source: &Source,
    path: &Path,
    jobs: &[JobTable],
    open: impl Fn(&[PathBuf]) -> Result<Trace, TraceError>,
) -> Checked<Vec<(PathBuf, Trace)>> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut traces: Vec<(PathBuf, Trace)> = Vec::new();
    for job in jobs {
        let places: Vec<PathBuf> = job.trace.get_ref().as_slice().iter().map(|place| folder.join(place)).collect();
        let Some(first) = places.first() else { return Err(source.wrong(&job.trace, "a job has a trace")) };
        let trace = open(&places).map_err(|error| source.wrong(&job.trace, error.to_string()))?;
        if let Some((_, other)) = traces.first()
            && has_times(other) != has_times(&trace)
        {
            let message = "the trace of this job has times where those of others have counts, or the reverse";
            return Err(source.wrong(&job.trace, message).with_help("convert one of the traces (titr convert)"));
        }
        traces.push((first.clone(), trace));
    }
    Ok(traces)
}

/// Whether computation is timed in a trace, as other tools record it.
fn has_times(trace: &Trace) -> bool {
    trace.manifest().is_some_and(|manifest| manifest.foreign.is_some())
}

/// A background load of a mix.
#[derive(Clone, Debug)]
pub struct Background {
    /// The name of the load in reports.
    pub name: String,
    /// The load.
    pub load: BackgroundLoad,
}

/// The sizes of messages if the file names none.
const SIZES: &str = "64KiB";

/// A background load of a file, on a platform of `all` hosts.
fn background(source: &Source, table: &BackgroundTable, all: u32) -> Checked<Background> {
    let among = match &table.hosts {
        Some(written) => hosts(source, written, all)?,
        None => (0..all).map(HostId).collect(),
    };
    let wrong = |error: &dyn std::error::Error| source.wrong(&table.pattern, error.to_string());
    let pattern: Pattern = table.pattern.get_ref().parse().map_err(|error| wrong(&error))?;
    let destinations =
        Destinations::new(pattern, among.len() as u32, Arrangement::Line).map_err(|error| wrong(&error))?;
    let sizes: Sizes = match &table.message {
        Some(written) => written.get_ref().parse().map_err(|error: NoSize| source.wrong(written, error.to_string()))?,
        None => SIZES.parse().map_err(|error: NoSize| wrong(&error))?,
    };
    let rate: Bandwidth = table.rate.0;
    let from = table.start.as_ref().map_or(Ok(Time::ZERO), |written| time(source, written))?;
    let until = table.end.as_ref().map_or(Ok(Time::NEVER), |written| time(source, written))?;
    if let Some(end) = table.end.as_ref().filter(|_| until <= from) {
        return Err(source.wrong(end, "the load ends before it starts"));
    }
    let load = BackgroundLoad { hosts: among, destinations, sizes, rate, from, until, seed: table.seed };
    Ok(Background { name: table.name.clone().unwrap_or_else(|| format!("{pattern} traffic")), load })
}
