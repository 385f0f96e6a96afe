//! Reasons why a trace cannot be extrapolated.

use std::io;
use std::path::PathBuf;

use thiserror::Error;
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
    Unsupported { place: String, what: &'static str },
    /// A model of the program does not explain something, and these grids of the recordings come closest to it.
    #[error("no rule explains {what}: {why} (of all grids that were tried, {} explain most)", joined(grids))]
    NoRule { what: &'static str, why: String, grids: Vec<Grid> },
    #[error(
        "the program is a grid of {} in {recorded}, and {ranks} ranks form no such grid: choose another number, or name the grid with --dimensions",
        joined(grids)
    )]
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

fn joined(grids: &[Grid]) -> String {
    grids.iter().map(Grid::to_string).collect::<Vec<_>>().join(" and ")
}
