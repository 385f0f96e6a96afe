//! The reason why a growth of the grid does not explain the recordings, by ranks and steps. Only the failure of the growth that
//! explains most becomes an error, whose lines are then looked up in the files.

use titr_common::event::Rank;

use crate::error::{Ambiguity, ExtrapolationError, Reason, Unexplained};
use crate::grid::Grid;
use crate::growth::Growth;
use crate::recording::Recording;

/// A step of a rank in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StepPlace {
    pub recording: usize,
    pub rank: Rank,
    pub step: usize,
}

/// What a growth does not explain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Two ranks with one role make different calls.
    Ranks(StepPlace, StepPlace),
    /// The ranks with one role make different calls in two recordings.
    Sizes(StepPlace, StepPlace),
    Peer(StepPlace),
    Members(StepPlace),
    Tag(StepPlace),
    Iterations(StepPlace),
    /// Ranks differ along a side of fewer than three.
    Short,
    /// The rules for sizes miss a recorded one by this percentage.
    Volume(StepPlace, u64),
    /// A loop has a negative number of iterations in the new grid.
    NoIterations(StepPlace, Grid),
    /// Rules that explain the recordings equally well differ in the new grid.
    Ambiguous(Ambiguity, StepPlace, Grid),
    /// All recordings have this number of ranks along a side, and the new grid has another one.
    Unvaried(u32, Grid),
    /// No recording has a rank with the role of this one in the new grid.
    NoSuchPlace(Rank, Grid),
    /// The peer of a rank is outside of the new grid.
    Outside(Rank, Grid, StepPlace),
    NoGrid,
}

impl Failure {
    /// How much is explained: the kind of failure, and the number of steps before it.
    pub(crate) fn progress(&self) -> (u32, usize) {
        match self {
            Self::Short => (0, 0),
            Self::Ranks(place, _) => (0, place.step),
            Self::Sizes(place, _)
            | Self::Peer(place)
            | Self::Members(place)
            | Self::Tag(place)
            | Self::Volume(place, _)
            | Self::Iterations(place) => (1, place.step),
            Self::Unvaried(..) => (2, 0),
            Self::Ambiguous(_, place, _) | Self::NoIterations(place, _) | Self::Outside(_, _, place) => (2, place.step),
            Self::NoSuchPlace(..) => (3, 0),
            Self::NoGrid => (4, 0),
        }
    }

    /// The error, for the user.
    pub(crate) fn into_error(self, growth: Growth, recordings: &[Recording], ranks: u32) -> ExtrapolationError {
        match self.reason(&growth, recordings) {
            Ok(Some(reason)) => ExtrapolationError::NoRule(Box::new(Unexplained { grids: growth.recorded, reason })),
            Ok(None) => {
                let counts: Vec<String> =
                    recordings.iter().map(|recording| recording.ranks.len().to_string()).collect();
                let recorded = format!("recordings of {} ranks", counts.join(" and "));
                ExtrapolationError::NoGrid { grids: growth.recorded, recorded, ranks }
            }
            Err(error) => error,
        }
    }

    /// `None` if there is no grid to speak of.
    fn reason(self, growth: &Growth, recordings: &[Recording]) -> Result<Option<Reason>, ExtrapolationError> {
        let at = |place: StepPlace| recordings[place.recording].place_of(place.rank, place.step);
        Ok(match self {
            Self::Ranks(one, other) => Some(Reason::DifferentRanks(at(one)?, at(other)?)),
            Self::Sizes(one, other) => Some(Reason::DifferentSizes(at(one)?, at(other)?)),
            Self::Peer(place) => Some(Reason::Peer(at(place)?)),
            Self::Members(place) => Some(Reason::Members(at(place)?)),
            Self::Tag(place) => Some(Reason::Tag(at(place)?)),
            Self::Iterations(place) => Some(Reason::Iterations(at(place)?)),
            Self::Volume(place, percent) => Some(Reason::Volume(at(place)?, percent)),
            Self::NoIterations(place, grid) => Some(Reason::NoIterations(at(place)?, grid)),
            Self::Ambiguous(what, place, grid) => Some(Reason::Ambiguous(what, at(place)?, grid)),
            Self::Unvaried(side, grid) => Some(Reason::Unvaried { side, grid }),
            Self::NoSuchPlace(rank, grid) => Some(Reason::NoSuchPlace { rank, grid }),
            Self::Outside(rank, grid, place) => Some(Reason::Outside { rank, grid, call: at(place)? }),
            Self::Short => {
                let mut grids = recordings.iter().zip(&growth.recorded).rev();
                let short = grids.find(|(_, grid)| grid.sides().iter().any(|side| *side < 3));
                short.map(|(recording, grid)| Reason::Short { path: recording.path.clone(), grid: grid.clone() })
            }
            Self::NoGrid => None,
        })
    }
}
