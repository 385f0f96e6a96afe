//! What messages a collective is made of: one pure function for each collective and algorithm, from (size of the
//! communicator, my rank there, root, volumes) to the ordered steps of that member. The tracer executes the schedule
//! in extended mode, the replayer simulates it; it exists once.

mod step;

pub use step::{Buffer, Member, Slice, Step};

use crate::event::CollectiveOp;
use crate::units::Bytes;

/// Whose selection rules to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Library {
    /// MPICH's defaults.
    Mpich,
    /// Open MPI's `tuned` component with its fixed decision rules.
    OpenMpi,
    /// SimGrid's default selector.
    SimGrid,
}

/// Which algorithm to use for each collective.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// The library whose rules choose.
    pub library: Library,
}

impl Selection {
    /// The steps of member `me` of a communicator of `size`, with `root` as a member of it (0 where there is none).
    #[must_use]
    pub fn schedule(&self, me: Member, size: u32, root: Member, op: &CollectiveOp, element: Bytes) -> Vec<Step> {
        let _ = (me, size, root, op, element);
        Vec::new()
    }
}
