//! The intervals of a replay that the program measures in a real run: from one [mark](Mark) to the next on each rank;
//! the longest of all ranks counts.

use std::error::Error;

use titr_common::event::{Annotation, CollectiveKind, Event, Rank};
use titr_common::event_buffer::EventRef;
use titr_common::time::Time;
use titr_simulation::observe::Observer;
use titr_simulation::{Computation, Draw, Platform, Simulation, Trace};

/// A call that begins or ends an interval, alternately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// `MPI_Iprobe`, when the call begins.
    Iprobe,
    /// `MPI_Barrier`, when the call ends, which is when the rank's next event begins.
    Barrier,
}

/// Hears a replay and notes how long each measured interval takes.
pub struct Sections {
    mark: Mark,
    ranks: Vec<Progress>,
    longest: Vec<Time>,
}

/// The progress of a rank.
#[derive(Clone, Copy, Default)]
struct Progress {
    /// Intervals that are complete.
    complete: usize,
    /// When the interval began that the rank is in.
    since: Option<Time>,
    /// Whether the rank's last event was a barrier.
    after_barrier: bool,
}

impl Sections {
    /// No sections yet, of `ranks` ranks.
    fn new(ranks: u32, mark: Mark) -> Self {
        Self { mark, ranks: vec![Progress::default(); ranks as usize], longest: Vec::new() }
    }

    /// The intervals of a replay, in seconds, with the random choices of `draw` if there is one.
    pub fn replayed(
        platform: &Platform,
        trace: &Trace,
        computation: Computation,
        mark: Mark,
        draw: Option<Draw>,
    ) -> Result<Vec<f64>, Box<dyn Error>> {
        let mut sections = Self::new(trace.ranks(), mark);
        let simulation = Simulation::new(platform, trace).computation(computation).observe(&mut sections);
        let factor = draw.map_or(1.0, |draw| draw.factor_on_time(platform.spread.model));
        match draw {
            Some(draw) => simulation.draw(draw).run()?,
            None => simulation.run()?,
        };
        Ok(sections.seconds().into_iter().map(|time| time * factor).collect())
    }

    /// The intervals between calls of `MPI_Iprobe` in the run that an extended trace recorded, in seconds.
    pub fn recorded(trace: &Trace) -> Result<Vec<f64>, Box<dyn Error>> {
        let mut sections = Self::new(trace.ranks(), Mark::Iprobe);
        for rank in (0..trace.ranks()).map(Rank) {
            let mut stream = trace.stream(rank)?;
            let mut called = None;
            while let Some(event) = stream.next_event()? {
                if let Event::Annotation(Annotation::Call(call)) = event {
                    called = Some(Time(call.begin.0.saturating_mul(1000)));
                } else if let (Event::Iprobe(..), Some(at)) = (event, called) {
                    sections.mark(rank, at);
                }
            }
        }
        Ok(sections.seconds())
    }

    /// The intervals, in seconds.
    fn seconds(&self) -> Vec<f64> {
        self.longest.iter().map(|time| time.seconds().0).collect()
    }

    /// A rank is at a mark.
    fn mark(&mut self, rank: Rank, at: Time) {
        let Some(progress) = self.ranks.get_mut(rank.0 as usize) else { return };
        let Some(since) = progress.since.take() else {
            progress.since = Some(at);
            return;
        };
        self.longest.resize(self.longest.len().max(progress.complete + 1), Time::ZERO);
        let longest = &mut self.longest[progress.complete];
        *longest = (*longest).max(Time(at.0.saturating_sub(since.0)));
        progress.complete += 1;
    }
}

impl Observer for Sections {
    fn event_began(&mut self, rank: Rank, event: EventRef<'_>, at: Time) {
        let marks = match self.mark {
            Mark::Iprobe => matches!(event, EventRef::Event(Event::Iprobe(..))),
            Mark::Barrier => {
                let is_barrier = matches!(event, EventRef::Event(Event::Collective(call, _)) if call.kind == CollectiveKind::Barrier);
                let progress = self.ranks.get_mut(rank.0 as usize);
                progress.is_some_and(|progress| std::mem::replace(&mut progress.after_barrier, is_barrier))
            }
        };
        if marks {
            self.mark(rank, at);
        }
    }
}
