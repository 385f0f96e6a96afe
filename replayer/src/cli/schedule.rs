//! `titr schedule`.

use std::ffi::OsStr;
use std::io::Write;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Args, Command, Parser};
use titr_common::collectives::{CallMode, Library, Member, Selection, collective_named};
use titr_common::event::CollectiveKind;
use titr_common::terminal::say;
use titr_common::units::Bytes;

use super::Failure;
use crate::schedule::{Example, Outline, write_catalogue, write_matrix, write_steps};

const NOTES: &str = "\
BYTES is the whole vector of bcast, reduce, allreduce, scan, exscan and reduce_scatter (which divides it as evenly as \
possible: the parts of the first ranks may be one element longer). For gather, scatter, allgather, alltoall, \
reduce_scatter_block and the v- and w-variants, BYTES is one rank's block.

With an i before its name (ibcast), a collective is one that does not block or is persistent, for which libraries have other \
algorithms.

A line is a RANK and a step. A slice of data is BYTES BUFFER+OFFSET. The buffer is the caller's send buffer (send), its \
receive buffer (recv), or scratch space (scratch):

  0 isend 1 8192 recv+0           starts a send to rank 1; likewise irecv, from rank 1
  0 send 1 8192 recv+0            sends and waits; likewise recv, and sendrecv TO SLICE FROM SLICE
  0 wait 0                        waits for the oldest operation that was started; waitall waits for all
  0 copy 8192 send+0 recv+0
  0 reduce_left 8192 scratch+0 recv+0    recv = scratch ⊕ recv; reduce_right: recv = recv ⊕ scratch

Examples:
  titr schedule allreduce --library openmpi --algorithm ring --ranks 8 --bytes 64KiB
  titr schedule bcast --library mpich --ranks 16 --bytes 1MiB --root 3 --matrix
  titr schedule --list | grep ^scan

Exit status: 0 done; 1 a value is at fault; 2 wrong usage.";

/// Shows the messages of a collective.
#[derive(Debug, Parser)]
#[command(after_help = NOTES)]
pub(super) struct ScheduleArgs {
    /// Lists all algorithms, separated by tabs: COLLECTIVE, ALGORITHM and its other names.
    #[arg(long)]
    list: bool,
    #[arg(required_unless_present = "list", value_parser = CollectiveParser)]
    collective: Option<(CollectiveKind, CallMode)>,
    #[command(flatten)]
    by: AlgorithmArgs,
    /// Number of members of the communicator.
    #[arg(long, value_name = "NUMBER", required_unless_present = "list", value_parser = clap::value_parser!(u32).range(1..=1 << 20))]
    ranks: Option<u32>,
    /// Amount of data (see below): 65536, 64KiB, 1 MB.
    #[arg(long, default_value = "0")]
    bytes: Bytes,
    /// The root, if the collective has one.
    #[arg(long, value_name = "RANK", default_value_t = 0)]
    root: Member,
    /// Size of one element of the datatype.
    #[arg(long, value_name = "BYTES", default_value = "8", alias = "element")]
    elements: Bytes,
    /// Assumes a reduction that does not commute.
    #[arg(long)]
    non_commutative: bool,
    /// Prints a line for each pair of ranks instead of the steps, tab-separated: source, destination, messages, bytes.
    #[arg(long)]
    matrix: bool,
}

/// The algorithm of a collective.
#[derive(Debug, Args)]
pub(super) struct AlgorithmArgs {
    /// The library whose algorithms, selection rules and names are used.
    #[arg(long, default_value = "openmpi", value_parser = library())]
    library: Library,
    /// An algorithm of the library, perhaps with a segment size (pipeline:65536); `default` is the choice of its rules.
    #[arg(long, value_name = "NAME", default_value = "default")]
    algorithm: String,
}

/// Reads the name of a collective, with an `i` before it where it does not block.
#[derive(Clone)]
pub(super) struct CollectiveParser;

impl TypedValueParser for CollectiveParser {
    type Value = (CollectiveKind, CallMode);

    fn parse_ref(&self, cmd: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<Self::Value, clap::Error> {
        if let Some(found) = value.to_str().and_then(collective_named) {
            return Ok(found);
        }
        // This explains what is wrong.
        let blocking = PossibleValuesParser::new(CollectiveKind::ALL.map(CollectiveKind::name));
        let name = blocking.parse_ref(cmd, arg, value)?;
        collective_named(&name).ok_or_else(|| clap::Error::new(ErrorKind::InvalidValue))
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(CollectiveKind::ALL.into_iter().map(|kind| PossibleValue::new(kind.name()))))
    }
}

fn library() -> impl TypedValueParser<Value = Library> {
    PossibleValuesParser::new(Library::ALL.iter().map(|library| library.name()))
        .try_map(|name| Library::named(&name).ok_or("no library"))
}

/// A call of a collective by an algorithm of a library.
pub(super) fn example(
    AlgorithmArgs { library, algorithm }: &AlgorithmArgs,
    (collective, mode): (CollectiveKind, CallMode),
    (ranks, bytes): (u32, Bytes),
    root: Member,
    element: Bytes,
    is_commutative: bool,
) -> Result<Example, Failure> {
    let mut selection = Selection::from(*library);
    let forced = selection.force(&format!("{}{collective}", mode.prefix()), algorithm);
    forced.map_err(|why| Failure::Value(why.to_string()))?;
    let outline = Outline { selection, collective, mode, ranks, bytes, root, element, is_commutative };
    Example::new(outline).map_err(|why| Failure::Value(why.to_string()))
}

pub(super) fn schedule(args: &ScheduleArgs, out: &mut impl Write) -> Result<(), Failure> {
    let (Some(collective), Some(ranks), false) = (args.collective, args.ranks, args.list) else {
        return Ok(write_catalogue(out)?);
    };
    let (size, is_commutative) = ((ranks, args.bytes), !args.non_commutative);
    let example = example(&args.by, collective, size, args.root, args.elements, is_commutative)?;
    if !args.matrix {
        return Ok(write_steps(&example, out)?);
    }
    if let Some(asked) = example.replaced() {
        let [asked, taken] =
            [asked, example.choice()].map(|choice| args.by.library.name_of(collective.1, choice.algorithm));
        say(format_args!("titr: {asked} is impossible here: {} takes {taken}", args.by.library.name()));
    }
    Ok(write_matrix(&example, out)?)
}
