//! `titr generate`.

use std::io::Write;
use std::path::PathBuf;

use clap::{CommandFactory, Parser, Subcommand};
use titr_common::collectives::{CallMode, Member};
use titr_common::event::CollectiveKind;
use titr_common::format::{count, plural};
use titr_common::terminal::say;
use titr_common::units::{Bytes, Instructions, Quantity, UnitError};
use titr_extrapolation::Grid;
use titr_network::topology::Edge;

use super::Failure;
use super::schedule::{AlgorithmArgs, CollectiveParser, example};
use crate::generate::{self, Impossible, Kernel, Pattern, Pause, grid};

const NOTES: &str = "\
All commands take such a trace: titr check, titr replay, titr convert and the others.

Examples:
  titr generate --list
  titr generate all-to-all --ranks 32 --bytes 10kB -o all-to-all
  titr generate random --ranks 32 --bytes 1kB --messages 10000 --wave 100 --seed 7 -o random
  titr generate stencil --ranks 64 --dimensions 8x8 --torus --bytes 64KiB --iterations 10 --compute 1e6 -o halo
  titr generate collective allreduce --algorithm ring --ranks 64 --bytes 1MiB -o ring
  titr replay --platform examples/packet.toml all-to-all

Exit status: 0 done; 1 the directory or a value is at fault; 2 wrong usage.";

/// Writes the trace of a communication kernel, without running a program.
#[derive(Debug, Parser)]
#[command(after_help = NOTES, arg_required_else_help = true, disable_help_subcommand = true)]
pub(super) struct GenerateArgs {
    /// Lists the kernels with a description each, separated by tabs.
    #[arg(long)]
    list: bool,
    #[command(subcommand)]
    kernel: Option<Named>,
}

/// The kernels by name.
#[derive(Debug, Subcommand)]
enum Named {
    /// The root sends a message to each other rank, all at once.
    #[command(alias = "onetoall")]
    OneToAll {
        #[command(flatten)]
        root: Root,
        #[command(flatten)]
        size: Size,
    },
    /// Each other rank sends a message to the root.
    #[command(alias = "alltoone")]
    AllToOne {
        #[command(flatten)]
        root: Root,
        #[command(flatten)]
        size: Size,
    },
    /// Each rank sends a message to every other rank, and then waits for their messages.
    #[command(alias = "alltoall")]
    AllToAll {
        #[command(flatten)]
        size: Size,
    },
    /// Messages between random pairs, in waves with a barrier between them.
    Random {
        /// Number of messages in an iteration.
        #[arg(long, value_name = "NUMBER")]
        messages: u64,
        /// Number of messages before each barrier.
        #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
        wave: u64,
        /// Seed for the choice of pairs.
        #[arg(long, value_name = "NUMBER", default_value_t = 1)]
        seed: u64,
        #[command(flatten)]
        size: Size,
    },
    /// The messages of a collective; `titr schedule --list` names the algorithms.
    Collective {
        /// The collective.
        #[arg(value_parser = CollectiveParser)]
        collective: (CollectiveKind, CallMode),
        #[command(flatten)]
        by: AlgorithmArgs,
        /// Number of ranks.
        #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=MOST_RANKS))]
        ranks: u32,
        /// Amount of data, counted as in `titr schedule --help`.
        #[arg(long, default_value = "0")]
        bytes: Bytes,
        /// Size of one element of the datatype.
        #[arg(long, value_name = "BYTES", default_value = "1")]
        elements: Bytes,
        #[command(flatten)]
        root: Root,
        #[command(flatten)]
        run: Run,
    },
    /// Each rank exchanges a message with each of its neighbours in a mesh or a torus.
    Stencil {
        #[command(flatten)]
        grid: GridArgs,
        /// Also makes the two ends of each row neighbours.
        #[arg(long)]
        torus: bool,
        #[command(flatten)]
        size: Size,
    },
    /// Each rank of a mesh receives from its predecessor in each dimension, and then sends to its successors.
    Wavefront {
        #[command(flatten)]
        grid: GridArgs,
        #[command(flatten)]
        size: Size,
    },
    /// Exchanges with the ranks whose number differs in the first bit, the second, and so on.
    Butterfly {
        #[command(flatten)]
        size: Size,
    },
    /// Messages from the leaves of a tree to its root, and back.
    Tree {
        /// Number of children of a rank.
        #[arg(long, value_name = "NUMBER", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
        arity: u32,
        #[command(flatten)]
        size: Size,
    },
}

const MOST_RANKS: i64 = 1 << 20;

/// The options of all kernels but collectives: among how many, and how much.
#[derive(Debug, clap::Args)]
struct Size {
    /// Number of ranks.
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=MOST_RANKS))]
    ranks: u32,
    /// Size of each message: 65536, 64KiB, 1 MB.
    #[arg(long)]
    bytes: Bytes,
    #[command(flatten)]
    run: Run,
}

#[derive(Debug, clap::Args)]
struct Root {
    /// The root, if the kernel has one.
    #[arg(long, value_name = "RANK", default_value_t = 0)]
    root: Member,
}

#[derive(Debug, clap::Args)]
struct GridArgs {
    /// Number of ranks along each of one to three dimensions, such as 8x8 [default: all in one row].
    #[arg(long, value_name = "SIZES")]
    dimensions: Option<Grid>,
}

/// The options of all kernels.
#[derive(Debug, clap::Args)]
struct Run {
    /// Number of iterations.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    iterations: u64,
    /// Computation of each rank before it communicates (in each iteration, wave, or stage of a butterfly): a number of
    /// instructions, or a time such as 10us.
    #[arg(long, value_name = "VOLUME", value_parser = pause)]
    compute: Option<Pause>,
    /// The output: a new or empty directory.
    #[arg(short, long, value_name = "DIRECTORY")]
    output: PathBuf,
}

fn pause(text: &str) -> Result<Pause, String> {
    if let Ok(work) = text.trim().parse::<f64>() {
        let possible = work.is_finite() && work >= 0.0;
        return possible.then_some(Pause::Compute(Instructions(work))).ok_or(format!("nobody can compute {work}"));
    }
    let wrong = |error: UnitError| error.to_string();
    text.parse().map(|Quantity(span)| Pause::Sleep(span)).map_err(wrong)
}

pub(super) fn generate(args: &GenerateArgs, out: &mut impl Write) -> Result<(), Failure> {
    let Some(named) = args.kernel.as_ref().filter(|_| !args.list) else { return list(out) };
    let (kernel, run) = named.kernel()?;
    let command = super::recorded_command(Some("titr"));
    let events = generate::write(&kernel, run.iterations, run.compute, command, &run.output)?;
    let (events, ranks) = (count(events), count(kernel.ranks.into()));
    let (which, of) = (run.output.display(), plural(kernel.ranks.into(), "rank", "ranks"));
    say(format_args!("{which}: {events} events of {ranks} {of}"));
    Ok(())
}

fn list(out: &mut impl Write) -> Result<(), Failure> {
    for kernel in GenerateArgs::command().get_subcommands() {
        writeln!(out, "{}\t{}", kernel.get_name(), kernel.get_about().map(ToString::to_string).unwrap_or_default())?;
    }
    Ok(())
}

impl From<Impossible> for Failure {
    fn from(why: Impossible) -> Self {
        Self::Value(why.to_string())
    }
}

impl Named {
    fn kernel(&self) -> Result<(Kernel, &Run), Failure> {
        let (pattern, size) = match self {
            Self::OneToAll { root, size } => (Pattern::OneToAll { root: root.root }, size),
            Self::AllToOne { root, size } => (Pattern::AllToOne { root: root.root }, size),
            Self::AllToAll { size } => (Pattern::AllToAll, size),
            Self::Random { messages, wave, seed, size } => {
                (Pattern::Random { messages: *messages, wave: *wave, seed: *seed }, size)
            }
            Self::Collective { collective, by, ranks, bytes, elements, root, run } => {
                let example = example(by, *collective, (*ranks, *bytes), root.root, *elements, true)?;
                return Ok((Kernel::new(Pattern::Collective(example), *ranks, *bytes)?, run));
            }
            Self::Stencil { grid: GridArgs { dimensions }, torus, size } => {
                let edge = if *torus { Edge::Closed } else { Edge::Open };
                (Pattern::Stencil(grid(size.ranks, dimensions.as_ref(), edge)?), size)
            }
            Self::Wavefront { grid: GridArgs { dimensions }, size } => {
                (Pattern::Wavefront(grid(size.ranks, dimensions.as_ref(), Edge::Open)?), size)
            }
            Self::Butterfly { size } => (Pattern::Butterfly, size),
            Self::Tree { arity, size } => (Pattern::Tree { arity: *arity }, size),
        };
        Ok((Kernel::new(pattern, size.ranks, size.bytes)?, &size.run))
    }
}
