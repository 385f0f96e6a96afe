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

use titr_common::event::{Event, Rank};
use titr_common::grammar::event_kind;
use titr_common::passage::Moment;
use titr_common::units::Bytes;

use titr_common::time::Time;

/// What a rank spends its time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Activity {
    /// Computing, or sleeping.
    Compute,
    /// Sending, blocking or not.
    Send,
    /// Receiving or probing; a `sendrecv` too.
    Recv,
    /// Completing requests.
    Wait,
    /// Collectives, and making communicators.
    Collective,
}

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
    pub fn of(moment: Moment) -> Option<Self> {
        let (word, activity) = match moment {
            Moment::Compute(_) => return Some(Self::COMPUTING),
            Moment::Send(_) => ("send", Activity::Send),
            Moment::Recv(_) => ("recv", Activity::Recv),
            Moment::Event(Event::Matched(..) | Event::Seen(_)) => return None,
            Moment::Event(event) => (event_kind(event), activity(event)),
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

fn activity(event: &Event) -> Activity {
    match event {
        Event::Send(..) | Event::Isend(..) | Event::SendInit(..) | Event::PsendInit(..) | Event::Pready(..) => {
            Activity::Send
        }
        Event::Start(_) => Activity::Send,
        Event::Recv(_) | Event::Irecv(..) | Event::Sendrecv(..) | Event::Probe(_) | Event::Iprobe(..) => Activity::Recv,
        Event::RecvInit(..) | Event::PrecvInit(..) => Activity::Recv,
        Event::Wait(..) | Event::Test(..) | Event::RequestFree(_) | Event::Cancel(_) => Activity::Wait,
        Event::OneSided(_) | Event::File(_) | Event::Other(_) => Activity::Wait,
        Event::Collective(_) | Event::Icollective(..) | Event::CollectiveInit(..) => Activity::Collective,
        Event::Neighbor(_) | Event::Ineighbor(..) | Event::NeighborInit(..) => Activity::Collective,
        Event::CommCreate(..) | Event::CommFree(_) => Activity::Collective,
        _ => Activity::Compute,
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
