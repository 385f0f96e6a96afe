//! The loop of a program: the loops of all its ranks, iteration by iteration.

use thiserror::Error;
use titr_common::counts::{EventCounts, PassedLoop};
use titr_common::event::{Event, Rank};
use titr_common::event_buffer::EventRef;
use titr_common::format::counted;
use titr_common::trace::{SkippedEvents, Trace, TraceError};
use titr_simulation::parallel::Jobs;

use super::loops::{FEWEST, find_loop};

/// A loop that all ranks go round together.
#[derive(Clone, Debug)]
pub(crate) struct ProgramLoop {
    /// The number of complete iterations of every rank.
    pub(crate) iterations: u64,
    /// The loop of each rank, with at least this many iterations.
    pub(crate) ranks: Vec<PassedLoop>,
    /// The counts of all events of each rank, in and outside the loop.
    pub(crate) totals: Vec<EventCounts>,
}

/// The reason why `--steady` finds no loop in a program.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum NoProgramLoop {
    #[error("rank {} makes the same calls again in no loop of at least {FEWEST} iterations", .0.0)]
    NoLoop(Rank),
    #[error("several threads of rank {} call MPI", .0.0)]
    Threads(Rank),
    #[error("rank {} is a graph, whose events have no order", .0.0)]
    Graph(Rank),
    #[error("the loop has {}, too few to leave out any", counted(*.0, "iteration", "iterations"))]
    TooFew(u64),
    /// The numbers of iterations of two ranks do not fit.
    #[error("rank {} goes round a loop of {} iterations, and rank {} round one of {}", few.0.0, few.1, many.0.0, many.1)]
    Unlike { few: (Rank, u64), many: (Rank, u64) },
}

/// A way to find the loop of a rank. Returns the counts of all its events, too.
type Search = fn(&Trace, Rank) -> Result<(Result<PassedLoop, NoProgramLoop>, EventCounts), TraceError>;

/// The longest loop that the trace of a rank has as a loop, if it contains most events.
fn loop_of_trace(trace: &Trace, rank: Rank) -> Result<(Result<PassedLoop, NoProgramLoop>, EventCounts), TraceError> {
    let mut passed = SkippedEvents::default();
    let is_one_thread = pass(trace, rank, &mut passed)?;
    let counts = passed.counts();
    let longest = passed.longest_loop();
    let is_main = longest.rounds.len() as u64 >= FEWEST && longest.letters() * 2 > counts.letters;
    Ok((is_one_thread.and_then(|()| is_main.then(|| longest.clone()).ok_or(NoProgramLoop::NoLoop(rank))), counts))
}

/// The longest sequence of calls that recurs in the trace of a rank, if it contains most events.
fn loop_in_letters(trace: &Trace, rank: Rank) -> Result<(Result<PassedLoop, NoProgramLoop>, EventCounts), TraceError> {
    let mut passed = SkippedEvents::with_letters();
    let is_one_thread = pass(trace, rank, &mut passed)?;
    let counts = passed.counts();
    let found = match is_one_thread.and_then(|()| find_loop(passed.letters()).ok_or(NoProgramLoop::NoLoop(rank))) {
        Ok(found) => found,
        Err(reason) => return Ok((Err(reason), counts)),
    };
    let (mut stream, mut passed) = (trace.stream(rank)?, SkippedEvents::default());
    stream.pass(&mut passed, found.start)?;
    let before = passed.counts();
    let mut rounds = Vec::with_capacity(found.iterations as usize);
    for _ in 0..found.iterations {
        let began = passed.counts();
        stream.pass(&mut passed, found.period)?;
        rounds.push((passed.counts() - began).into());
    }
    Ok((Ok(PassedLoop { before, period: found.period, rounds }), counts))
}

/// Passes over all events of a rank. The inner error is the reason why they may not be sampled.
fn pass(trace: &Trace, rank: Rank, passed: &mut SkippedEvents) -> Result<Result<(), NoProgramLoop>, TraceError> {
    let mut stream = trace.stream(rank)?;
    if let Some(EventRef::Event(Event::Task(_))) = stream.peek()? {
        return Ok(Err(NoProgramLoop::Graph(rank)));
    }
    let threads = stream.pass(passed, u64::MAX)?;
    Ok(if threads > 1 { Err(NoProgramLoop::Threads(rank)) } else { Ok(()) })
}

impl ProgramLoop {
    /// Finds the loop of a program, of at least so many iterations, or why there is none. A trace that has no loop as such is read
    /// several times: it becomes one whose events are kept, unless the first rank tells that there is nothing to find.
    pub(crate) fn find(trace: &mut Trace, least: u64, jobs: Jobs) -> Result<Result<Self, NoProgramLoop>, TraceError> {
        match Self::search(trace, least, jobs, loop_of_trace)? {
            Err(NoProgramLoop::NoLoop(_) | NoProgramLoop::Unlike { .. }) => {
                let kept = trace.clone().kept();
                let found = Self::search(&kept, least, jobs, loop_in_letters)?;
                if !matches!(found, Err(NoProgramLoop::NoLoop(Rank(0)) | NoProgramLoop::TooFew(_))) {
                    *trace = kept;
                }
                Ok(found)
            }
            found => Ok(found),
        }
    }

    /// Looks at the first rank before all others: what it lacks, the program lacks.
    fn search(
        trace: &Trace,
        least: u64,
        jobs: Jobs,
        search: Search,
    ) -> Result<Result<Self, NoProgramLoop>, TraceError> {
        let first = match search(trace, Rank(0))? {
            (Ok(found), _) if (found.rounds.len() as u64) < least => {
                return Ok(Err(NoProgramLoop::TooFew(found.rounds.len() as u64)));
            }
            (Err(reason), _) => return Ok(Err(reason)),
            found => found,
        };
        let others = jobs.map(trace.ranks() as usize - 1, |rank| search(trace, Rank(rank as u32 + 1)))?;
        let (ranks, totals): (Vec<_>, Vec<_>) = [first].into_iter().chain(others).unzip();
        let ranks: Result<Vec<PassedLoop>, NoProgramLoop> = ranks.into_iter().collect();
        Ok(ranks.and_then(|ranks| Self::of(ranks, totals)))
    }

    /// The loop of a program whose ranks have these loops. An iteration of the program may be several equal iterations
    /// of a rank.
    fn of(mut ranks: Vec<PassedLoop>, totals: Vec<EventCounts>) -> Result<Self, NoProgramLoop> {
        let by_iterations = (0..).map(Rank).zip(&ranks).min_by_key(|(_, found)| found.rounds.len());
        let few = by_iterations.map_or((Rank(0), 0), |(rank, found)| (rank, found.rounds.len() as u64));
        for (rank, found) in (0..).map(Rank).zip(&mut ranks) {
            let many = (rank, found.rounds.len() as u64);
            let together = (many.1 + few.1 / 2) / few.1;
            if together > 1 {
                found.join(together as usize);
            }
            // Events before and after the loop may look like a part of it.
            if (found.rounds.len() as u64).abs_diff(few.1) > 1 {
                return Err(NoProgramLoop::Unlike { few, many });
            }
        }
        let iterations = ranks.iter().map(|found| found.rounds.len() as u64).min().unwrap_or(0);
        Ok(Self { iterations, ranks, totals })
    }

    /// The number of events that all ranks execute, in and outside the loop.
    pub(crate) fn events(&self) -> u64 {
        self.totals.iter().map(|counts| counts.executed).sum()
    }
}

#[cfg(test)]
mod tests {
    use titr_common::counts::Round;

    use super::*;

    fn loops(iterations: &[usize]) -> Vec<PassedLoop> {
        let of =
            |&rounds: &usize| PassedLoop { period: 7, rounds: vec![Round::default(); rounds], ..PassedLoop::default() };
        iterations.iter().map(of).collect()
    }

    #[test]
    fn several_iterations_of_a_rank_may_be_one_of_the_program() {
        let found = ProgramLoop::of(loops(&[100, 301, 101]), Vec::new()).unwrap();
        assert_eq!((found.iterations, found.ranks[1].period, found.ranks[1].rounds.len()), (100, 21, 100));
    }

    #[test]
    fn ranks_that_do_not_fit_have_no_loop_together() {
        let refused = ProgramLoop::of(loops(&[100, 150]), Vec::new()).unwrap_err();
        assert_eq!(refused.to_string(), "rank 0 goes round a loop of 100 iterations, and rank 1 round one of 150");
    }
}
