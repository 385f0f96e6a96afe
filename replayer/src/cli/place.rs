//! `titr place`.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use titr_common::format::{counted, significant, uncertain};
use titr_common::output::{OutputFile, claim};
use titr_common::units::Seconds;
use titr_network::topology::HostId;
use titr_platform::Policy;
use titr_simulation::SimulationError;
use titr_simulation::parallel::Jobs;

use super::machine::MachineArgs;
use super::program::ProgramArgs;
use super::runs::JobsArgs;
use super::{Failure, print_json};
use crate::call_sites::CallSiteNames;
use crate::studies::placement::{
    FastestPlacement, HostNames, PlacementMethod, PlacementSubject, RankFileFormat, by_rule,
};

const EXAMPLES: &str = "\
Examples:
  titr place --platform examples/torus.toml --output rankfile traces/
  titr place --platform cluster.toml --hosts-file hosts --for slurm --output tasks traces/

The file is for
  openmpi  mpirun --rankfile FILE; without --hosts-file, host 0 is the first of the allocation of a batch system
  mpich    mpiexec -f FILE
  slurm    SLURM_HOSTFILE=FILE srun --distribution=arbitrary";

/// Finds the core of each rank with which a program is fastest, and writes a file for the MPI library or the batch system.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PlaceArgs {
    #[command(flatten)]
    machine: MachineArgs,
    /// The rank file to write.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Format of the rank file: `openmpi`, `mpich` or `slurm`.
    #[arg(long = "for", value_name = "READER", value_enum, default_value_t, hide_possible_values = true)]
    reader: RankFileFormat,
    /// The names of the hosts: a line for each host of the platform, whose first word is the name. `-` stands for a host that no
    /// rank may have.
    #[arg(long, value_name = "FILE")]
    hosts_file: Option<PathBuf>,
    /// Also writes the number of the host of each rank, and of its core where hosts have levels, for `placement.file` of a platform.
    #[arg(long, value_name = "FILE")]
    placement_file: Option<PathBuf>,
    /// The number of replays of the search; 0 only compares block, round robin, random and the mapping of the communication matrix.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(..=1_000_000))]
    replays: u32,
    /// The seed of the search.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Prints one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    jobs: JobsArgs,
    #[command(flatten)]
    program: ProgramArgs,
}

pub(super) fn place(args: &PlaceArgs, out: &mut impl Write) -> Result<(), Failure> {
    let platform = args.machine.load()?;
    let program = args.program.open()?.kept();
    let mut platform = program.on(platform)?;
    let outputs = || [Some(&args.output), args.placement_file.as_ref()].into_iter().flatten();
    let names = match &args.hosts_file {
        Some(path) => Some(HostNames::read(path, platform.topology.hosts())?),
        None => HostNames::of_platform(&*platform.topology),
    };
    let format = args.reader;
    if format.needs_names() && names.is_none() {
        let message = "--for mpich and --for slurm need the names of the hosts: give --hosts-file";
        return Err(Failure::Value(message.to_owned()));
    }
    claim(outputs().cloned())?;
    outputs().try_for_each(|path| OutputFile::check(path))?;
    let hosts = match &names {
        Some(names) => names.usable(),
        None => (0..platform.topology.hosts()).map(HostId).collect(),
    };
    let each = |host| (0..platform.cores).map(move |_| host);
    let cores: Vec<HostId> = hosts.into_iter().flat_map(each).collect();
    let ranks = program.trace.ranks();
    let block = by_rule(&Policy::Block, ranks, &cores, &platform).map_err(SimulationError::from)?;
    platform.policy = Policy::Assigned { hosts: block, cores: Vec::new() };

    let call_sites = CallSiteNames::default();
    let simulation = || program.simulation(&platform, &call_sites, false).jobs(Jobs::ONE).read_ahead(false);
    let analysed = args.program.analysed(simulation(), &["matrix"], args.jobs.jobs()).run()?;
    if analysed.waiting_ranks > 0 || analysed.simulated_time.0 <= 0.0 {
        let message = "the trace is not complete or takes no time: no placement is faster than another";
        return Err(Failure::Value(message.to_owned()));
    }
    let pairs = analysed.analyses.as_ref().and_then(|found| found.matrix.as_deref()).unwrap_or_default();
    let (_, replay) = simulation().run_observed::<()>(Vec::new())?;
    let subject = PlacementSubject {
        platform: &platform,
        replay: &replay,
        pairs,
        ranks,
        cores: &cores,
        any_core: format.has_cores(),
        replays: args.replays,
        seed: args.seed,
    };
    let found = subject.fastest(args.jobs.jobs())?;
    if let Some(path) = &args.placement_file {
        let slot = |rank| found.cores.get(rank).map_or_else(String::new, |core| format!(" slot={core}"));
        let list: String = (0..).zip(&found.hosts).map(|(rank, host)| format!("{host}{}\n", slot(rank))).collect();
        OutputFile::write(path, list.as_bytes())?;
    }
    OutputFile::write(&args.output, format.file(&found.hosts, &found.cores, names.as_ref()).as_bytes())?;
    Ok(if args.json { print_json(&found, out) } else { summary(&found, out) }?)
}

/// The width of a method's name.
const NAME: usize = 16;

/// Prints the predicted times of placements, and the saving of the fastest.
fn summary(found: &FastestPlacement, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{:<NAME$}  predicted time", "Placement")?;
    for one in &found.methods {
        let is_search = one.method == PlacementMethod::LocalSearch;
        let replays = || format!(" ({})", counted(found.replays, "replay", "replays"));
        let remark = if is_search { replays() } else { String::new() };
        writeln!(out, "  {:<NAME$}{}{remark}", name(one.method), uncertain(one.simulated_time, None))?;
    }
    let times = found.random.simulated_times.iter().map(|time| time.0);
    let [least, most] = [times.clone().fold(f64::INFINITY, f64::min), times.fold(0.0, f64::max)].map(Seconds);
    let [least, most, mean] = [least, most, found.random.mean].map(|time| uncertain(time, None));
    let number = found.random.simulated_times.len();
    writeln!(out, "  {:<NAME$}{mean} (mean of {number}: from {least} to {most})", name(PlacementMethod::Random))?;
    let others = found.methods.iter().filter(|one| one.method != found.found_by);
    let others = others.filter(|one| matches!(one.method, PlacementMethod::Block | PlacementMethod::RoundRobin));
    let others = others.map(|one| (name(one.method), one.simulated_time));
    let savings: Vec<String> = others
        .chain([("random placement", found.random.mean)])
        .map(|(name, time)| format!("{} % faster than {name}", percent(found.simulated_time, time)))
        .collect();
    writeln!(out, "\n{}: {}", name(found.found_by), savings.join(", "))
}

/// The saved part of a time in percent.
fn percent(time: Seconds, of: Seconds) -> String {
    significant(100.0 * (1.0 - time.0 / of.0), 3)
}

fn name(method: PlacementMethod) -> &'static str {
    match method {
        PlacementMethod::Block => "block",
        PlacementMethod::RoundRobin => "round robin",
        PlacementMethod::Mapping => "mapping",
        PlacementMethod::Random => "random",
        PlacementMethod::LocalSearch => "local search",
    }
}
