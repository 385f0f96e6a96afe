//! The loop of a program: the loops of all its ranks, iteration by iteration.

use std::fmt::{self, Display, Formatter};

use titr_common::event::{Event, Rank};
use titr_common::trace::{Passed, Trace, TraceError};
use titr_simulation::parallel::Jobs;
use titr_simulation::profile::{self, OwnWork};

use super::loops::{FEWEST, Loop, find_loop};

/// A loop that all ranks go round together.
#[derive(Clone, Debug)]
pub(crate) struct ProgramLoop {
    /// The number of complete iterations of every rank.
    pub iterations: u64,
    /// The loop of each rank, with at least this many iterations.
    pub ranks: Vec<Loop>,
    /// Events that all ranks execute, in and outside the loop.
    pub events: u64,
}

/// The reason why `--steady` finds no loop in a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoProgramLoop {
    /// A rank goes round no loop.
    NoLoop(Rank),
    /// Several threads of a rank call MPI.
    Threads(Rank),
    /// A rank is a graph, whose events have no order.
    Graph(Rank),
    /// The loops of two ranks have numbers of iterations that do not fit.
    Unlike { few: (Rank, u64), many: (Rank, u64) },
}

impl Display for NoProgramLoop {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoLoop(rank) => {
                write!(f, "rank {} makes the same calls again in no loop of at least {FEWEST} iterations", rank.0)
            }
            Self::Threads(rank) => write!(f, "several threads of rank {} call MPI", rank.0),
            Self::Graph(rank) => write!(f, "rank {} is a graph, whose events have no order", rank.0),
            Self::Unlike { few, many } => write!(
                f,
                "rank {} goes round a loop of {} iterations, and rank {} round one of {}",
                few.0.0, few.1, many.0.0, many.1
            ),
        }
    }
}

impl ProgramLoop {
    /// Finds the loop of a program, reading its trace once; or why there is none.
    ///
    /// # Errors
    /// If the trace cannot be read.
    pub(crate) fn find(trace: &Trace, jobs: Jobs) -> Result<Result<Self, NoProgramLoop>, TraceError> {
        let ranks = jobs.map(trace.ranks() as usize, |rank| -> Result<_, TraceError> {
            let rank = Rank(rank as u32);
            let _reading = profile::enter(OwnWork::Reading);
            let mut passed = Passed::with_letters();
            let is_graph = matches!(trace.stream(rank)?.next_event()?, Some(Event::Task(_)));
            let threads = trace.stream(rank)?.pass(&mut passed, u64::MAX)?;
            let found = if is_graph {
                Err(NoProgramLoop::Graph(rank))
            } else if threads > 1 {
                Err(NoProgramLoop::Threads(rank))
            } else {
                find_loop(passed.letters()).ok_or(NoProgramLoop::NoLoop(rank))
            };
            Ok((found, passed.executed()))
        })?;
        let events = ranks.iter().map(|(_, events)| events).sum();
        let found: Result<Vec<Loop>, NoProgramLoop> = ranks.into_iter().map(|(found, _)| found).collect();
        Ok(found.and_then(|ranks| Self::of(ranks, events)))
    }

    /// The loop of a program whose ranks have these loops. An iteration of the program may be several equal iterations
    /// of a rank.
    fn of(mut ranks: Vec<Loop>, events: u64) -> Result<Self, NoProgramLoop> {
        let by_iterations = (0..).map(Rank).zip(&ranks).min_by_key(|(_, found)| found.iterations);
        let few = by_iterations.map_or((Rank(0), 0), |(rank, found)| (rank, found.iterations));
        for (rank, found) in (0..).map(Rank).zip(&mut ranks) {
            let many = (rank, found.iterations);
            let together = (found.iterations + few.1 / 2) / few.1;
            found.period *= together;
            found.iterations /= together;
            // Events before and after the loop may look like a part of it.
            if found.iterations.abs_diff(few.1) > 1 {
                return Err(NoProgramLoop::Unlike { few, many });
            }
        }
        let iterations = ranks.iter().map(|found| found.iterations).min().unwrap_or(0);
        Ok(Self { iterations, ranks, events })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loops(iterations: &[u64]) -> Vec<Loop> {
        iterations.iter().map(|&iterations| Loop { start: 0, period: 7, iterations }).collect()
    }

    #[test]
    fn several_iterations_of_a_rank_may_be_one_of_the_program() {
        let found = ProgramLoop::of(loops(&[100, 301, 101]), 0).unwrap();
        assert_eq!((found.iterations, found.ranks[1].period, found.ranks[1].iterations), (100, 21, 100));
    }

    #[test]
    fn ranks_that_do_not_fit_have_no_loop_together() {
        let refused = ProgramLoop::of(loops(&[100, 150]), 0).unwrap_err();
        assert_eq!(refused.to_string(), "rank 0 goes round a loop of 100 iterations, and rank 1 round one of 150");
    }
}
