//! Timelines: the activity of each rank over time, and an arrow for each message, in the formats of viewers.
//!
//! A timeline is a series of **events** in order of time, from a replay as simulated time advances or from an extended
//! trace. A rank is in one state from its first event to its last; a message departs and arrives. Viewers expect files
//! of any length in this order, so a [`TimelineWriter`] writes each event as it comes. Sources that learn of events
//! ahead of time keep them in an [`EventSorter`] until then. Numbers that are known only at the end, such as the load
//! of a link, come last, as a [`Series`].
//!
//! An [`Excerpt`] keeps a large run viewable: some of the ranks, and a part of the time.
//!
//! To add a format, write it in a file of this folder and name it in [`FORMATS`].

mod csv;
mod event_sorter;
mod excerpt;
mod paje;
mod paraver;
mod perfetto;
mod protobuf;
pub mod recorded;

pub use event_sorter::EventSorter;
pub use excerpt::{Excerpt, Excerpted};

use std::io;
use std::path::{Path, PathBuf};

use titr_common::event::Rank;
use titr_common::event_buffer::EventRef;
use titr_common::time::Time;
use titr_common::units::Bytes;

pub use titr_common::event::Activity;

/// The state of a rank: in an MPI call, or between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The word of the call in the trace.
    word: &'static str,
    /// The kind of activity.
    pub activity: Activity,
}

impl State {
    /// The state between two calls.
    pub const COMPUTING: Self = Self { word: "compute", activity: Activity::Compute };

    /// The state of a rank during this event; none for events that only describe other events.
    #[must_use]
    pub fn of(moment: EventRef) -> Option<Self> {
        let (word, activity) = match moment {
            EventRef::Compute(_) => return Some(Self::COMPUTING),
            EventRef::Send(_) => ("send", Activity::Send),
            EventRef::Recv(_) => ("recv", Activity::Recv),
            EventRef::Event(event) => (event.word(), event.activity()?),
        };
        Some(Self { word, activity })
    }

    /// The name that people call the state by: `MPI_Allreduce`, `computing`.
    #[must_use]
    pub fn name(&self) -> String {
        let word = match self.word {
            "compute" => return "computing".to_owned(),
            "sleep" => return "sleeping".to_owned(),
            "call" => return "another call".to_owned(),
            // In SimGrid's spelling.
            word => word.replace("reducescatter", "reduce_scatter"),
        };
        let (first, rest) = word.split_at(1);
        format!("MPI_{}{rest}", first.to_ascii_uppercase())
    }
}

/// A message between two ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// A number that no other message of the timeline has.
    pub key: u64,
    /// The sender.
    pub from: Rank,
    /// The receiver.
    pub to: Rank,
    /// The payload.
    pub bytes: Bytes,
    /// Whether the message is part of a collective.
    pub in_collective: bool,
}

/// An event of a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimelineEvent {
    /// A rank enters a state; its previous state ends.
    Enter(Rank, State),
    /// A rank ends.
    Leave(Rank),
    /// A message departs.
    Depart(Arrow),
    /// A message arrives.
    Arrive(Arrow),
    /// The payload of all messages in transit, from now on.
    InFlight(Bytes),
}

/// A number that changes as time goes by.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The name for people: `node-3 up, % of its bandwidth`.
    pub name: String,
    /// The number from each time on, until the next.
    pub samples: Vec<(Time, f64)>,
}

/// A format that viewers read.
pub struct TimelineFormat {
    /// The name of the format.
    pub name: &'static str,
    /// The programs that read the format.
    pub viewers: &'static str,
    /// Begins a file, or several with the same name except for the ending.
    begin: Begin,
    /// The files that are written for a path.
    files: fn(&Path) -> Vec<PathBuf>,
}

type Begin = fn(&Path, &Subject) -> io::Result<Box<dyn TimelineWriter>>;

impl TimelineFormat {
    /// The files that are written for `path`: this one, and those that belong beside it.
    #[must_use]
    pub fn files(&self, path: &Path) -> Vec<PathBuf> {
        (self.files)(path)
    }

    /// Begins a file at `path`, with no more in it than the excerpt.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn begin(&self, path: &Path, subject: &Subject) -> io::Result<Box<dyn TimelineWriter>> {
        let writer = (self.begin)(path, subject)?;
        Ok(if subject.excerpt.is_everything() { writer } else { Box::new(Excerpted::new(writer, subject)) })
    }
}

/// The subject of a timeline.
#[derive(Clone, Debug)]
pub struct Subject {
    /// Size of the world.
    pub ranks: u32,
    /// The kind of time that goes by, such as `simulated time`.
    pub time: &'static str,
    /// The part that is shown.
    pub excerpt: Excerpt,
}

impl Subject {
    /// The ranks that are shown.
    fn shown(&self) -> impl Iterator<Item = Rank> {
        (0..self.ranks).map(Rank).filter(|rank| self.excerpt.has(*rank))
    }
}

/// All formats of timelines.
pub static FORMATS: &[TimelineFormat] = &[paje::PAJE, perfetto::PERFETTO, paraver::PARAVER, csv::CSV];

/// A file in a format that viewers read.
pub trait TimelineWriter {
    /// Writes an event at `at`; later calls have no earlier time.
    ///
    /// # Errors
    /// If the file cannot be written.
    fn event(&mut self, at: Time, event: TimelineEvent) -> io::Result<()>;

    /// Writes a number that changed over time, after all events. A format whose readers require everything in order of
    /// time omits it.
    ///
    /// # Errors
    /// If the file cannot be written.
    fn series(&mut self, series: &Series) -> io::Result<()>;

    /// Writes that there is nothing after `end`.
    ///
    /// # Errors
    /// If the file cannot be written.
    fn finish(&mut self, end: Time) -> io::Result<()>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_called_as_mpi_does() {
        let name = |word| State { word, activity: Activity::Wait }.name();
        let names = ["init", "isend", "waitall", "reducescatter_block", "comm_dup", "compute"].map(name);
        assert_eq!(
            names,
            ["MPI_Init", "MPI_Isend", "MPI_Waitall", "MPI_Reduce_scatter_block", "MPI_Comm_dup", "computing"]
        );
    }
}
