//! Traces without most iterations of a loop.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use titr_common::counts::{EventCounts, PassedLoop, has_symbol};
use titr_common::event::Rank;
use titr_common::trace::{EventSource, LocatedEvents, RankStream, SkippedEvents, Trace, TraceError};
use titr_common::units::Seconds;

use super::structure::ProgramLoop;

/// Approximate number of events that are read at a time.
const AT_ONCE: usize = 16;

/// The trace of a program that goes round its loop in these iterations only, in order.
pub(crate) fn sampled(trace: &Trace, program: &Arc<ProgramLoop>, iterations: &[u64]) -> Trace {
    let (program, kept): (_, Arc<[u64]>) = (Arc::clone(program), iterations.into());
    trace.clone().map_sources(move |rank, source| Box::new(SampledSource::new(source, rank, &program, &kept)))
}

/// For each rank, the number of events that it executes before each of these iterations of the sampled trace, and up to the end
/// of the last one.
pub(crate) fn boundaries(program: &ProgramLoop, iterations: &[u64]) -> Vec<VecDeque<u64>> {
    let of_rank = |rank: &PassedLoop| {
        let mut events = rank.before.executed;
        let mut boundaries = VecDeque::from([events]);
        for &iteration in iterations {
            events += u64::from(rank.rounds[iteration as usize].executed);
            boundaries.push_back(events);
        }
        boundaries
    };
    program.ranks.iter().map(of_rank).collect()
}

/// The events of a rank without most iterations.
struct SampledSource {
    stream: RankStream,
    /// Events with letters in an iteration.
    period: u64,
    /// The iterations that are kept, and the number of these that were begun.
    kept: Arc<[u64]>,
    begun: usize,
    /// The number of iterations that were passed over or begun, and of all.
    at: u64,
    iterations: u64,
    /// Events with letters to be given before iterations are left out.
    to_give: u64,
}

impl SampledSource {
    fn new(source: Box<dyn EventSource + Send>, rank: Rank, program: &ProgramLoop, kept: &Arc<[u64]>) -> Self {
        let found = &program.ranks[rank.0 as usize];
        Self {
            stream: RankStream::new(source),
            period: found.period,
            kept: Arc::clone(kept),
            begun: 0,
            at: 0,
            iterations: program.iterations,
            to_give: found.before.letters,
        }
    }

    /// Passes over iterations up to the next one that is kept, or up to the end of the loop.
    fn leave_out(&mut self) -> Result<(), TraceError> {
        let next = self.kept.get(self.begun).copied();
        let until = next.unwrap_or(self.iterations);
        self.stream.pass(&mut SkippedEvents::default(), (until - self.at) * self.period)?;
        self.begun += 1;
        (self.at, self.to_give) = if next.is_some() { (until + 1, self.period) } else { (until, u64::MAX) };
        Ok(())
    }
}

impl EventSource for SampledSource {
    fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        let before = events.len();
        for _ in 0..AT_ONCE {
            if self.to_give == 0 {
                self.leave_out()?;
            }
            let Some(event) = self.stream.next_event()? else { return Ok(events.len() > before) };
            self.to_give -= u64::from(has_symbol(&event));
            events.push(event, self.stream.location());
        }
        Ok(true)
    }

    fn path(&self) -> Option<PathBuf> {
        self.stream.path()
    }

    fn torn(&self) -> Option<String> {
        self.stream.torn()
    }
}

/// The computation of a rank in the whole trace, from that in the sampled one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Work {
    /// Its instructions in the whole trace.
    pub(crate) instructions: f64,
    /// Its instructions in the sampled trace.
    pub(crate) instructions_in_sample: f64,
    /// The time it sleeps in the sampled trace.
    pub(crate) slept_in_sample: Seconds,
    /// The time it sleeps in the whole trace.
    pub(crate) slept: Seconds,
}

impl Work {
    /// The computation of each rank, if these iterations are kept.
    pub(crate) fn of(program: &ProgramLoop, kept: &[u64]) -> Vec<Self> {
        let of_rank = |(rank, total): (&PassedLoop, &EventCounts)| {
            let (mut work, mut slept) = (total.work.0, total.slept.0);
            let mut next = kept.iter().copied().peekable();
            for (iteration, round) in (0..program.iterations).zip(&rank.rounds) {
                if next.next_if_eq(&iteration).is_none() {
                    work -= round.work.0;
                    slept -= round.slept.0;
                }
            }
            Self {
                instructions: total.work.0,
                // Rounding may leave a little where there is none.
                instructions_in_sample: if work > 1e-9 * total.work.0 { work } else { 0.0 },
                slept_in_sample: Seconds(slept.max(0.0)),
                slept: total.slept,
            }
        };
        program.ranks.iter().zip(&program.totals).map(of_rank).collect()
    }

    /// The time of all computation, if the sampled trace takes so long.
    pub(crate) fn time(self, sampled: Seconds) -> Seconds {
        let ratio =
            if self.instructions_in_sample > 0.0 { self.instructions / self.instructions_in_sample } else { 1.0 };
        Seconds((sampled.0 - self.slept_in_sample.0).max(0.0) * ratio + self.slept.0)
    }
}

#[cfg(test)]
mod tests {
    use titr_common::counts::Round;
    use titr_common::event::{CommId, Completion, Event, Outgoing, SendMode, Tag};
    use titr_common::trace::RankSources;
    use titr_common::units::{Bytes, Instructions};

    use super::*;

    /// A program of one rank: an event, ten iterations of a computation and two sends, and another event.
    struct Program;

    fn send(tag: i32) -> Event {
        let message = Outgoing { comm: CommId::WORLD, to: Rank(0), tag: Tag(tag), bytes: Bytes(1) };
        Event::Send(SendMode::Standard, message, Completion::Blocking)
    }

    fn iteration(number: u64) -> [Event; 3] {
        [Event::Compute(Instructions(number as f64)), send(1), send(2)]
    }

    impl RankSources for Program {
        fn source(&self, _: Rank, _: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
            let events = [Event::Init].into_iter().chain((0..10).flat_map(iteration)).chain([Event::Finalize]);
            Ok(Box::new(events.collect::<Vec<_>>().into_iter()))
        }
    }

    fn program() -> Arc<ProgramLoop> {
        let round = |work: u64| Round { work: Instructions(work as f64), slept: Seconds(0.0), executed: 3 };
        let before = EventCounts { events: 1, letters: 1, executed: 1, ..EventCounts::default() };
        let ranks = vec![PassedLoop { before, period: 2, rounds: (0..10).map(round).collect() }];
        let totals = vec![EventCounts { executed: 32, work: Instructions(45.0), ..EventCounts::default() }];
        Arc::new(ProgramLoop { iterations: 10, ranks, totals })
    }

    #[test]
    fn a_sampled_trace_has_the_iterations_of_the_sample_only() {
        let kept = [2, 3, 9];
        let mut stream = sampled(&Trace::new(1, Program), &program(), &kept).stream(Rank(0)).unwrap();
        let events: Vec<Event> = std::iter::from_fn(|| stream.next_event().unwrap()).collect();
        let expected = [Event::Init].into_iter().chain(kept.into_iter().flat_map(iteration)).chain([Event::Finalize]);
        assert_eq!(events, expected.collect::<Vec<_>>());
        assert_eq!(boundaries(&program(), &kept), [[1, 4, 7, 10]]);
        let work = Work::of(&program(), &kept)[0];
        assert_eq!((work.instructions, work.instructions_in_sample), (45.0, 14.0));
    }
}
