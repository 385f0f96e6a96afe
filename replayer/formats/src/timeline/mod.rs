//! A run to look at: what each rank did when, and an arrow for each message, in the formats of viewers.
//!
//! A timeline is told as **marks** in the order of time, whoever tells them: a replay as simulated time goes on, or an
//! extended trace. A rank is in one state from its first mark to its last; a message departs and arrives. Viewers want the
//! marks in this order, and files of any length: a [`Format`] writes each as it comes. Who learns of marks ahead of time
//! keeps them in a [`Chronicle`] until then.

mod chronicle;
mod paje;
mod perfetto;

pub use chronicle::Chronicle;
pub use paje::Paje;
pub use perfetto::Perfetto;

use std::io;

use titr_common::event::Rank;
use titr_common::event_buffer::EventRef;
use titr_common::time::Time;
use titr_common::units::Bytes;

pub use titr_common::event::Activity;

/// What a rank is in: an MPI call, or between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    /// Its word in the trace.
    word: &'static str,
    /// What kind of thing that is.
    pub activity: Activity,
}

impl State {
    /// Between two calls.
    pub const COMPUTING: Self = Self { word: "compute", activity: Activity::Compute };

    /// The state of a rank whose event this is; none for what only tells something of another.
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

    /// As people call it: `MPI_Allreduce`, `computing`.
    #[must_use]
    pub fn name(&self) -> String {
        let word = match self.word {
            "compute" => return "computing".to_owned(),
            "sleep" => return "sleeping".to_owned(),
            "call" => return "another call".to_owned(),
            // As SimGrid spells it.
            word => word.replace("reducescatter", "reduce_scatter"),
        };
        let (first, rest) = word.split_at(1);
        format!("MPI_{}{rest}", first.to_ascii_uppercase())
    }
}

/// A message between two ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrow {
    /// Names it: no two of a timeline have the same.
    pub key: u64,
    /// The sender.
    pub from: Rank,
    /// The receiver.
    pub to: Rank,
    /// What it carries.
    pub bytes: Bytes,
    /// Whether a collective is made of it.
    pub in_collective: bool,
}

/// Something that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A rank begins something; what it was at before ends.
    Enter(Rank, State),
    /// A rank comes to its end.
    Leave(Rank),
    /// A message leaves.
    Depart(Arrow),
    /// It is there.
    Arrive(Arrow),
}

/// A file of a viewer.
pub trait Format {
    /// Writes what happens at `at`; nothing that is told later happens earlier.
    ///
    /// # Errors
    /// Where it cannot be written.
    fn mark(&mut self, at: Time, mark: Mark) -> io::Result<()>;

    /// Writes that there is nothing after `end`.
    ///
    /// # Errors
    /// Where it cannot be written.
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
