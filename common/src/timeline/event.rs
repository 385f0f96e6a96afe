//! The events of a timeline, and numbers that change over time.

use std::io;

use crate::event::{Activity, Rank};
use crate::event_buffer::EventRef;
use crate::time::Time;
use crate::units::Bytes;

/// The state of a rank: in an MPI call, or between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// The word of the call in the trace.
    pub word: &'static str,
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
            EventRef::Send(..) | EventRef::Recv(..) => return Self::of(EventRef::Event(&moment.to_event())),
            EventRef::Event(event) => (event.word(), event.activity()?),
        };
        Some(Self { word, activity })
    }

    /// The name that people call the state by: `MPI_Allreduce`, `computing`.
    pub fn name(&self) -> String {
        let word = match self.word {
            "compute" => return "computing".to_owned(),
            "sleep" => return "computing for a fixed time".to_owned(),
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

/// Writes a timeline, event by event.
pub trait TimelineWriter {
    /// Writes an event at `at`; later calls have no earlier time.
    fn event(&mut self, at: Time, event: TimelineEvent) -> io::Result<()>;

    /// Writes a number that changed over time, after all events. A format whose readers require everything in order of
    /// time omits it.
    fn series(&mut self, series: &Series) -> io::Result<()>;

    /// Writes that there is nothing after `end`.
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
