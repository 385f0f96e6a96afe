//! The reason why a growth of the grid does not explain the recordings, by ranks and steps. Only the failure of the growth that
//! explains most becomes an error, whose lines are then looked up in the files.

use titr_common::event::Rank;

use crate::error::ExtrapolationError;
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

/// What several rules that explain the recordings equally well give differently on more ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ambiguity {
    Peer,
    Volume,
    Iterations,
    Work,
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
        let grids = growth.recorded;
        match self.why(&grids, recordings) {
            Ok(Some(why)) => ExtrapolationError::NoRule { what: self.what(), why, grids },
            Ok(None) => {
                let counts: Vec<String> =
                    recordings.iter().map(|recording| recording.ranks.len().to_string()).collect();
                let recorded = format!("recordings of {} ranks", counts.join(" and "));
                ExtrapolationError::NoGrid { grids, recorded, ranks }
            }
            Err(error) => error,
        }
    }

    fn what(&self) -> &'static str {
        match self {
            Self::Ranks(..) => "which ranks make which calls",
            Self::Sizes(..) => "how the calls of a rank change with the number of ranks",
            Self::Peer(_) | Self::Outside(..) | Self::Ambiguous(Ambiguity::Peer, ..) => "the peers of a call",
            Self::Members(_) => "the members of a communicator",
            Self::Tag(_) => "the tags of a call",
            Self::Iterations(_) | Self::NoIterations(..) | Self::Ambiguous(Ambiguity::Iterations, ..) => {
                "the number of iterations of a loop"
            }
            Self::Volume(..) => "the bytes of a call",
            Self::Ambiguous(Ambiguity::Volume, ..) => "on which side of the grid the bytes of a call depend",
            Self::Ambiguous(Ambiguity::Work, ..) => "the computation before a call",
            Self::NoSuchPlace(..) | Self::Short | Self::Unvaried(..) | Self::NoGrid => "the calls of a rank",
        }
    }

    /// The place in the recordings, and what to record in their place; `None` if there is no grid to speak of.
    fn why(&self, grids: &[Grid], recordings: &[Recording]) -> Result<Option<String>, ExtrapolationError> {
        let at = |place: &StepPlace| recordings[place.recording].place_of(place.rank, place.step);
        Ok(Some(match self {
            Self::Ranks(one, other) | Self::Sizes(one, other) => format!("{}, and {}", at(one)?, at(other)?),
            Self::Peer(call) | Self::Members(call) | Self::Tag(call) | Self::Iterations(call) => at(call)?,
            Self::Short => {
                let mut grids = recordings.iter().zip(grids).rev();
                let short = grids.find(|(_, grid)| grid.sides().iter().any(|side| *side < 3));
                let Some((recording, grid)) = short else { return Ok(None) };
                format!(
                    "{}: a grid of {grid} has fewer than three ranks along a side, and ranks along it differ: record at least \
                     three along each side",
                    recording.path.display()
                )
            }
            Self::Volume(call, percent) => {
                let call = at(call)?;
                format!("{call}: by the rule that comes closest, the bytes of a rank are wrong by {percent} %")
            }
            Self::NoIterations(call, grid) => {
                let call = at(call)?;
                format!("{call}: by the same rule, the number is negative in a grid of {grid}: choose a smaller one")
            }
            Self::Ambiguous(_, call, grid) => format!(
                "{}: several rules explain the recordings equally well, and differ in {grid}: record another grid, too",
                at(call)?
            ),
            Self::Unvaried(side, grid) => format!(
                "all recordings have {side} ranks along a side that has another number in {grid}: record grids with \
                 different numbers of ranks along that side, or keep its {side} ranks by --dimensions"
            ),
            Self::NoSuchPlace(rank, grid) => format!(
                "rank {} of a grid of {grid} is at a place that no recording has: record grids with at least three ranks \
                 along each side",
                rank.0
            ),
            Self::Outside(rank, grid, call) => {
                let call = at(call)?;
                format!("{call}: by the same rule, the peer of rank {} is outside of a grid of {grid}", rank.0)
            }
            Self::NoGrid => return Ok(None),
        }))
    }
}
