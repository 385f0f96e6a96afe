//! Reasons why a trace cannot be extrapolated.

use std::fmt::{self, Display, Formatter};
use std::io;
use std::path::PathBuf;

use thiserror::Error;
use titr_common::event::Rank;
use titr_common::trace::TraceError;
use titr_common::trace::manifest::Ended;

use crate::grid::Grid;

/// A trace that could not be extrapolated.
#[derive(Debug, Error)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum ExtrapolationError {
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error(
        "one number of ranks says nothing about others: name recordings with two different numbers of ranks, or more"
    )]
    TooFew,
    #[error("{} and {} both have {ranks} ranks: name recordings with different numbers of ranks", paths.0.display(), paths.1.display())]
    SameRanks { paths: (PathBuf, PathBuf), ranks: u32 },
    #[error("{}: an extended trace has the times of one run: convert each recording with `titr convert --to ti` first", path.display())]
    Extended { path: PathBuf },
    #[error("{}: computation is counted with {}, and in {} with {}: record all with one counter, by TITRACE_COUNTER", paths.1.display(), counters.1, paths.0.display(), counters.0)]
    Counters { paths: (PathBuf, PathBuf), counters: (String, String) },
    #[error("{place}: {what}")]
    Unsupported { place: CallPlace, what: &'static str },
    #[error("{0}")]
    NoRule(Box<Unexplained>),
    #[error("the program is a grid of {} in {recorded}, and {ranks} ranks form no such grid: choose another number, or name the grid with --dimensions", .grids.iter().map(Grid::to_string).collect::<Vec<_>>().join(" and "))]
    NoGrid { grids: Vec<Grid>, recorded: String, ranks: u32 },
    #[error("{grid} places are {}, not {ranks} ranks", .grid.places())]
    Places { grid: Grid, ranks: u32 },
    #[error("{}: rank {rank} ended {ended}, so that the rest of its calls is unknown: record the program to its end", path.display())]
    Unfinished { path: PathBuf, rank: u32, ended: Ended },
    #[error("{}: {lost} events of rank {rank} could not be written when tracing: record the program again, with more space", path.display())]
    Lost { path: PathBuf, rank: u32, lost: u64 },
    #[error(
        "the recordings form no grids of {dimensions} dimensions: record other numbers of ranks, or leave out --dimensions"
    )]
    NoRecordedGrids { dimensions: usize },
    #[error(
        "the recordings form more grids than the {tried} that were tried, and none of these explains them: name fewer recordings, or leave out --dimensions"
    )]
    TooManyGrids { tried: usize },
    /// Names the file.
    #[error("{0}")]
    Output(#[from] io::Error),
}

/// A call in a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallPlace {
    /// The file of the rank, or the name of the trace.
    pub path: PathBuf,
    /// The line in the file.
    pub line: Option<u64>,
    /// The rank.
    pub rank: Rank,
    /// The call as the trace has it; `None` at the end of the recording.
    pub call: Option<String>,
}

/// What a model of the program does not explain, and the grids of the recordings that come closest to explaining it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unexplained {
    /// The grid of each recording.
    pub grids: Vec<Grid>,
    /// The reason.
    pub reason: Reason,
}

/// What several rules that explain the recordings equally well give differently on more ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The messages say what the variants are.
pub enum Ambiguity {
    Peer,
    Volume,
    Iterations,
    Work,
}

/// The reason why a model does not explain the recordings.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum Reason {
    /// Two ranks at the same kind of place in the grid make different calls.
    DifferentRanks(CallPlace, CallPlace),
    /// The same rank position makes different calls in two recordings.
    DifferentSizes(CallPlace, CallPlace),
    /// The peer of a call.
    Peer(CallPlace),
    /// The members of a new communicator.
    Members(CallPlace),
    /// A tag.
    Tag(CallPlace),
    /// The number of iterations of the loop that begins with a call.
    Iterations(CallPlace),
    /// Ranks differ along a side of fewer than three in the grid of this recording.
    Short { path: PathBuf, grid: Grid },
    /// Sizes that the rules miss by this percentage.
    Volume(CallPlace, u64),
    /// The loop that begins with a call has a negative number of iterations.
    NoIterations(CallPlace, Grid),
    /// Rules that explain the recordings equally well differ in the new grid.
    Ambiguous(Ambiguity, CallPlace, Grid),
    /// All recordings have this number of ranks along a side, and the new grid has another one.
    Unvaried { side: u32, grid: Grid },
    /// No recording has a rank at this kind of place.
    NoSuchPlace { rank: Rank, grid: Grid },
    /// A peer outside of the new grid.
    Outside { rank: Rank, grid: Grid, call: CallPlace },
}

impl Unexplained {
    fn what(&self) -> &'static str {
        match self.reason {
            Reason::DifferentRanks(..) => "which ranks make which calls",
            Reason::DifferentSizes(..) => "how the calls of a rank change with the number of ranks",
            Reason::Peer(_) | Reason::Outside { .. } | Reason::Ambiguous(Ambiguity::Peer, ..) => "the peers of a call",
            Reason::Members(_) => "the members of a communicator",
            Reason::Tag(_) => "the tags of a call",
            Reason::Iterations(_) | Reason::NoIterations(..) | Reason::Ambiguous(Ambiguity::Iterations, ..) => {
                "the number of iterations of a loop"
            }
            Reason::Volume(..) => "the bytes of a call",
            Reason::Ambiguous(Ambiguity::Volume, ..) => "on which side of the grid the bytes of a call depend",
            Reason::Ambiguous(Ambiguity::Work, ..) => "the computation before a call",
            Reason::NoSuchPlace { .. } | Reason::Short { .. } | Reason::Unvaried { .. } => "the calls of a rank",
        }
    }
}

impl Display for Unexplained {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "no rule explains {}: ", self.what())?;
        match &self.reason {
            Reason::DifferentRanks(one, other) | Reason::DifferentSizes(one, other) => write!(f, "{one}, and {other}")?,
            Reason::Peer(call) | Reason::Members(call) | Reason::Tag(call) | Reason::Iterations(call) => {
                write!(f, "{call}")?
            }
            Reason::Short { path, grid } => write!(
                f,
                "{}: a grid of {grid} has fewer than three ranks along a side, and ranks along it differ: record at least \
                 three along each side",
                path.display()
            )?,
            Reason::Volume(call, percent) => {
                write!(f, "{call}: by the rule that comes closest, the bytes of a rank are wrong by {percent} %")?;
            }
            Reason::NoIterations(call, grid) => {
                write!(
                    f,
                    "{call}: by the same rule, the number is negative in a grid of {grid}: choose a smaller one"
                )?;
            }
            Reason::Ambiguous(_, call, grid) => write!(
                f,
                "{call}: several rules explain the recordings equally well, and differ in {grid}: record another grid, too"
            )?,
            Reason::Unvaried { side, grid } => write!(
                f,
                "all recordings have {side} ranks along a side that has another number in {grid}: record grids with \
                 different numbers of ranks along that side, or keep its {side} ranks by --dimensions"
            )?,
            Reason::NoSuchPlace { rank, grid } => write!(
                f,
                "rank {} of a grid of {grid} is at a place that no recording has: record grids with at least three ranks \
                 along each side",
                rank.0
            )?,
            Reason::Outside { rank, grid, call } => {
                write!(f, "{call}: by the same rule, the peer of rank {} is outside of a grid of {grid}", rank.0)?;
            }
        }
        let grids: Vec<String> = self.grids.iter().map(Grid::to_string).collect();
        write!(f, " (of all grids that were tried, {} explain most)", grids.join(" and "))
    }
}

impl Display for CallPlace {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        match &self.call {
            Some(call) => write!(f, ": rank {}: `{call}`", self.rank.0),
            None => write!(f, ": rank {} ends", self.rank.0),
        }
    }
}
