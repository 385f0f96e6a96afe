//! Opens the trace of a rank, once `MPI_Init` has succeeded: its place, and the description of the run in the manifest.
//!
//! The ranks agree on it, unless some of them [run without the tracer](crate::local_ranks).

use std::fs;
use std::hash::{BuildHasher as _, Hash};
use std::time::{SystemTime, UNIX_EPOCH};

use rustc_hash::FxBuildHasher;
use titr_common::event::Rank;
use titr_common::trace::Manifest;
use titr_common::trace::manifest;
use titr_config::{Config, Mode, Verbosity};
use titr_wrappers::{Abi, hidden_tool, library_file, own_file};

use crate::call_sites;
use crate::counter::Source;
use crate::directory::{self, Claim, DirectoryError};
use crate::gather::Gather;
use crate::launched;
use crate::local_ranks::PartlyTraced;
use crate::pmpi;
use crate::record::RecorderOptions;
use crate::sink::{self, Sink, SinkOptions};
use crate::stderr::log;

/// A trace that this rank can write.
pub(crate) struct Opened {
    pub abi: &'static Abi,
    pub sink: Sink,
    pub world_size: u32,
    pub options: RecorderOptions,
    pub gather: Option<Gather>,
}

/// Opens the trace of this rank; `None` if it is not to be written, which was said.
pub(crate) fn open(config: &Config, counters: &Source, abi: &'static Abi) -> Option<Opened> {
    if let Some(tool) = hidden_tool().filter(|_| pmpi::comm_rank(abi.comm_world) == 0) {
        log(format_args!(
            "{tool} defines functions of MPI, and does not see the program's calls, as it comes behind the tracer: preload it, before \
             the tracer (LD_PRELOAD={tool} titrace PROGRAM)"
        ));
    }
    match partly_traced(abi) {
        Some(partly) => open_without_agreement(config, counters, abi, &partly),
        None if !have_one_mode(config, abi) => {
            if pmpi::comm_rank(abi.comm_world) == 0 {
                log(format_args!(
                    "not tracing: the ranks differ in TITRACE_MODE or TITRACE_COLLECTIVES, by which they would wait for each other \
                     for ever: give all the same"
                ));
            }
            None
        }
        None => all_or_none(config, abi, open_with_all(config, counters, abi)),
    }
}

/// Whether collectives are made in the same way on all ranks.
fn have_one_mode(config: &Config, abi: &Abi) -> bool {
    let collectives = match config.mode {
        Mode::Ti => None,
        Mode::Extended => Some(config.collectives.trim()),
    };
    have_one(abi, collectives)
}

/// Whether a value is the same on all ranks. Collective.
fn have_one(abi: &Abi, value: impl Hash) -> bool {
    let hash = (FxBuildHasher.hash_one(value) >> 1) as i64;
    // The largest and the least hash differ otherwise.
    pmpi::allreduce(abi, hash, abi.max, abi.comm_world)
        == pmpi::allreduce(abi, -hash, abi.max, abi.comm_world).map(|least| -least)
}

/// In an extended trace, every member of a collective has to take part in the tracer's messages for it.
fn all_or_none<T>(config: &Config, abi: &Abi, opened: Option<T>) -> Option<T> {
    match config.mode {
        Mode::Ti => opened,
        Mode::Extended => {
            let everybody = pmpi::allreduce(abi, i64::from(opened.is_some()), abi.min, abi.comm_world) == Some(1);
            if !everybody && opened.is_some() {
                log(format_args!("this rank is not traced: another one cannot be, and the trace was to be extended"));
            }
            opened.filter(|_| everybody)
        }
    }
}

/// The number of this rank, and how many there are.
fn world(abi: &Abi) -> Option<(Rank, u32)> {
    let rank = Rank(u32::try_from(pmpi::comm_rank(abi.comm_world)).ok()?);
    Some((rank, u32::try_from(pmpi::comm_size(abi.comm_world)).ok()?))
}

/// The ranks that are traced, if some are known not to be.
fn partly_traced(abi: &Abi) -> Option<PartlyTraced> {
    let (rank, size) = world(abi)?;
    if size == 1 {
        return None;
    }
    let name = |path: String| Some(fs::canonicalize(path).ok()?.file_name()?.to_str()?.to_owned());
    PartlyTraced::find(rank, &name(own_file()?)?, &name(library_file()?)?)
}

/// Opens the trace of this rank in a job in which some ranks are not traced, without communicating with other ranks.
fn open_without_agreement(
    config: &Config,
    counters: &Source,
    abi: &'static Abi,
    PartlyTraced { traced, untraced, job }: &PartlyTraced,
) -> Option<Opened> {
    let (rank, size) = world(abi)?;
    let is_first = traced.first() == Some(&rank);
    let without = untraced.iter().map(|rank| rank.0.to_string()).collect::<Vec<_>>().join(", ");
    let say = |what: &str| {
        if is_first {
            log(format_args!("{what}: these ranks of the job run without the tracer: {without}"));
        }
    };
    if config.mode == Mode::Extended {
        say("not tracing, as the trace was to be extended");
        return None;
    }
    say("the trace is not complete, and cannot be replayed");
    if config.gather.is_some() {
        say("the trace will not be gathered");
    }
    let claim = directory::claim_without_agreement(&config.directory, rank, job);
    let claim = claim.map_err(|error| log(format_args!("not tracing: {error}"))).ok()?;
    let untraced_ranks = untraced.iter().map(|rank| rank.0).collect();
    let run = is_first.then(|| Manifest { untraced_ranks, ..run(config, size, &abi.library) });
    begin_sink(config, counters, abi, &claim, (run, command()), (rank, size), |_, _| None)
}

/// Opens the trace of this rank with all others. Collective, and all ranks agree whether there is a directory, and whether to
/// gather.
fn open_with_all(config: &Config, counters: &Source, abi: &'static Abi) -> Option<Opened> {
    let (rank, size) = world(abi)?;
    // Without agreement nothing is written: the largest number says so to `claim`.
    let agree = |value| pmpi::allreduce(abi, value, abi.max, abi.comm_world).unwrap_or(i64::MAX);
    let claim = directory::claim(&config.directory, rank, agree).map_err(|error| {
        // The rank where it failed says why.
        if !matches!(error, DirectoryError::Elsewhere) {
            log(format_args!("not tracing: {error}"));
        }
    });
    let claim = claim.ok()?;
    let run = (rank == Rank(0)).then(|| run(config, size, &abi.library));
    let command = command();
    // Those of a job of several programs differ.
    let command = if have_one(abi, &command) { Vec::new() } else { command };
    begin_sink(config, counters, abi, &claim, (run, command), (rank, size), |records, run| {
        Gather::plan(config.gather.as_ref(), &claim.placeholders, &claim.path, records, run, agree)
    })
}

/// Starts writing the trace of this rank in the directory that it has claimed, with its command if the job may have others.
/// `plan_gather` receives whether that
/// succeeded, and the description of the run.
fn begin_sink(
    config: &Config,
    counters: &Source,
    abi: &'static Abi,
    Claim { path, placeholders }: &Claim,
    (run, command): (Option<Manifest>, Vec<String>),
    (rank, size): (Rank, u32),
    plan_gather: impl FnOnce(bool, Option<Manifest>) -> Option<Gather>,
) -> Option<Opened> {
    let counter = counters.describe();
    if config.verbosity >= Verbosity::Steps && run.is_some() {
        log(format_args!("tracing to {}, computation is {}", path.display(), counter.unit));
    }
    let announces = launched::by_titrace() && config.gather.is_none();
    let options = SinkOptions { buffer: config.buffer, level: config.level, flush: config.flush, announces };
    let mut entry = sink::begin(placeholders.run.clone(), rank, counter);
    entry.command = command;
    if config.call_sites > 0 {
        entry.modules = call_sites::program().into_iter().collect();
    }
    let sink = Sink::open(options, path, run.clone(), entry, size);
    let gather = plan_gather(sink.is_ok(), run);
    match sink {
        Ok(sink) => {
            let explains = config.verbosity >= Verbosity::Words;
            let precision = counters.precision();
            let part = config.part.clone();
            let options = RecorderOptions { precision, explains, call_sites: None, process: None, part };
            Some(Opened { abi, sink, world_size: size, options, gather })
        }
        Err(error) => {
            log(format_args!("this rank is not traced: {}: {error}", path.display()));
            None
        }
    }
}

/// The command line of this process according to the kernel: a library does not receive its arguments.
fn command() -> Vec<String> {
    let arguments = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let arguments = arguments.split(|&byte| byte == 0).filter(|argument| !argument.is_empty());
    arguments.map(|argument| String::from_utf8_lossy(argument).into_owned()).collect()
}

/// The manifest of the whole run, as rank 0 knows it.
fn run(config: &Config, ranks: u32, mpi: &str) -> Manifest {
    Manifest {
        titr: manifest::VERSION,
        mode: config.mode,
        ranks,
        untraced_ranks: Vec::new(),
        foreign: None,
        combined: None,
        names: Vec::new(),
        command: command(),
        mpi: mpi.to_owned(),
        started: SystemTime::now().duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs()),
        config: config.effective().into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        per_rank: Vec::new(),
    }
}
