//! Extended tracing: every collective seen as the messages it is made of.
//!
//! A profiling tool sees a collective as one opaque call. Here the tracer does not ask the library to carry it out: it
//! does so itself, by the algorithm that the library would have chosen, with point-to-point calls on a communicator of
//! its own, and so knows every message. The schedules are `common::collectives`', which the replayer simulates.
//!
//! ```text
//!   MPI_Allreduce ─► prepare ─► steps, regions ─► carry out ─► messages ─► record
//!                    (locked)                     (as long as it takes)    (locked)
//! ```
//!
//! **Data.** Schedules speak of packed bytes. What the program gives is packed into memory of ours ([`data`] says what
//! that is for each function), moved and reduced there, and what it gets is unpacked from there; datatypes, their gaps
//! and their bounds are `MPI_Pack`'s and `MPI_Reduce_local`'s business. So the result is the library's own, bit for bit,
//! wherever the order of operations is.
//!
//! **Communicators.** Messages go over a private communicator of the same members, so that they meet neither the
//! program's messages nor its attributes; it is made together with the program's, and freed with it. MPI has every member
//! call the collectives of a communicator in one order, so their number there is the same for all members: it is the
//! collective's identity, and its messages' tag.
//!
//! **Non-blocking ones** are the same steps, taken whenever the program calls MPI, and a generalized request that is
//! completed with them (`record::background`).
//!
//! **Time.** Calls and messages have the time of the host since the world's first barrier. At the beginning and at the
//! end the clocks are compared with rank 0's ([`clock`]); the manifest has what is to be added.
//!
//! **Observed.** With `TITRACE_COLLECTIVES=observe` Open MPI carries out its blocking collectives itself, and what it sends
//! is seen ([`titr_wrappers::observation`]): whatever algorithm it takes. Others are passed through then, as messages of
//! ours would not go on while the library is in a collective of its own.
//!
//! **What is passed through.** The library carries out collectives of inter-communicators, persistent ones, those of
//! neighbours, non-blocking ones on a communicator that `MPI_Comm_idup` has made and that no blocking one was called on,
//! and calls whose arguments it will refuse. They are recorded as ever, without messages, and counted as opaque in the
//! manifest. Non-blocking collectives follow the blocking ones' rules, not those of Open MPI's `libnbc`; what MPICH does
//! differently between and within nodes is not modelled either: the schedules are those of a communicator with every
//! member on a node of its own.

mod clock;
mod data;
mod execution;
mod selection;

use clock::Offset;

pub use clock::Clock;
pub use execution::{Done, Patience, Run, Sighting, Undertaking};
pub use selection::selection;

pub(crate) use data::{Data, Seat};

use rustc_hash::FxHashMap;
use titr_common::collectives::Selection;
use titr_common::event::CommId;
use titr_common::trace::manifest;
use titr_wrappers::argument::Comm;
use titr_wrappers::{Abi, observation, pmpi};

use crate::notice::tell;

/// What a recorder keeps for it.
pub struct Extended {
    /// Which algorithms.
    pub selection: Selection,
    /// Whether the library carries out its collectives, and is watched.
    pub observes: bool,
    communicators: FxHashMap<CommId, Private>,
    /// Its clock, and how far that was from rank 0's when it started.
    clock: Option<(Clock, Offset)>,
}

/// What belongs to a communicator of the program.
#[derive(Clone, Copy, Debug, Default)]
struct Private {
    /// Where its collectives' messages go, once there was one.
    comm: Option<Comm>,
    /// How many collectives there were.
    collectives: u64,
}

impl Extended {
    /// By these algorithms, or by observation where that is possible.
    #[must_use]
    pub fn new(selection: Selection, observes: bool) -> Self {
        Self { selection, observes, communicators: FxHashMap::default(), clock: None }
    }

    /// Starts the clock behind a barrier of the world, and compares it with the others. Collective.
    pub fn set_out(&mut self, abi: &'static Abi) -> Clock {
        if self.observes
            && let Err(error) = observation::install(abi)
        {
            self.observes = false;
            if pmpi::comm_rank(abi.comm_world) == 0 {
                tell(format_args!("{error}: titr carries them out"));
            }
        }
        let world = pmpi::split(abi, abi.comm_world);
        pmpi::barrier(abi.comm_world);
        let clock = Clock::start();
        if let Some(world) = world {
            self.keep(CommId::WORLD, world);
            self.clock = clock.compare(abi, world).ok().map(|offset| (clock, offset));
        }
        clock
    }

    /// Compares the clocks again. Collective.
    #[must_use]
    pub fn arrive(&self, abi: &'static Abi) -> Option<manifest::Clock> {
        let (clock, begin) = self.clock?;
        Some(begin.to(clock.compare(abi, self.private(CommId::WORLD)?).ok()?))
    }

    /// The number of a collective that begins on a communicator.
    pub fn number(&mut self, comm: CommId) -> u64 {
        let private = self.communicators.entry(comm).or_default();
        private.collectives += 1;
        private.collectives - 1
    }

    /// The number that the next one will have.
    #[must_use]
    pub fn next(&self, comm: CommId) -> u64 {
        self.communicators.get(&comm).map_or(0, |private| private.collectives)
    }

    /// The communicator for messages.
    #[must_use]
    pub fn private(&self, comm: CommId) -> Option<Comm> {
        self.communicators.get(&comm)?.comm
    }

    /// Takes note of it.
    pub fn keep(&mut self, comm: CommId, private: Comm) {
        self.communicators.entry(comm).or_default().comm = Some(private);
    }

    /// The program has freed its communicator; what is to be freed with it.
    pub fn forget(&mut self, comm: CommId) -> Option<Comm> {
        self.communicators.remove(&comm)?.comm
    }
}
