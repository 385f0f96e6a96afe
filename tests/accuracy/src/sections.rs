//! The intervals of a replay that the program measures in a real run: on each rank from a call of `MPI_Iprobe` to the next, on the
//! rank where that takes longest.

use titr_common::event::{Event, Rank};
use titr_common::event_buffer::EventRef;
use titr_common::time::Time;
use titr_simulation::observe::Observer;

/// Hears a replay and notes how long each measured interval takes.
pub struct Sections {
    ranks: Vec<Progress>,
    longest: Vec<Time>,
}

/// How far a rank is.
#[derive(Clone, Copy, Default)]
struct Progress {
    /// Intervals that are complete.
    complete: usize,
    /// When the interval began that the rank is in.
    since: Option<Time>,
}

impl Sections {
    /// No sections yet, of a replay of `ranks` ranks.
    pub fn new(ranks: u32) -> Self {
        Self { ranks: vec![Progress::default(); ranks as usize], longest: Vec::new() }
    }

    /// The intervals, in seconds.
    pub fn seconds(&self) -> Vec<f64> {
        self.longest.iter().map(|time| time.seconds().0).collect()
    }
}

impl Observer for Sections {
    fn entered(&mut self, rank: Rank, event: EventRef<'_>, at: Time) {
        let EventRef::Event(Event::Iprobe(..)) = event else { return };
        let Some(progress) = self.ranks.get_mut(rank.0 as usize) else { return };
        let Some(since) = progress.since.take() else {
            progress.since = Some(at);
            return;
        };
        self.longest.resize(self.longest.len().max(progress.complete + 1), Time::ZERO);
        let longest = &mut self.longest[progress.complete];
        *longest = (*longest).max(Time(at.0 - since.0));
        progress.complete += 1;
    }
}
