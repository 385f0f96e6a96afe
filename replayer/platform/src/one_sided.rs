//! One-sided communication of an MPI library: when accesses travel, how ranks synchronise, and the cost of both.
//!
//! Each preset describes an implementation, according to its source code:
//!
//! | preset | implementation | source |
//! | --- | --- | --- |
//! | `mpich` | MPICH's device ch4, by active messages | `src/mpid/ch4/src/mpidig_win.h`, `mpidig_rma.h`, `mpidig_rma_callbacks.c` of MPICH 4 |
//! | `openmpi-rdma` | Open MPI's component osc/rdma | `ompi/mca/osc/rdma/osc_rdma_active_target.c`, `osc_rdma_passive_target.c`, `osc_rdma_lock.h` of Open MPI 4.1 |

use serde::Deserialize;
use titr_common::collectives::Library;
use titr_common::units::Bytes;

use crate::overhead::Overhead;

/// One-sided communication of an MPI library.
#[derive(Clone, Debug, PartialEq)]
pub struct OneSided {
    /// The members to which `MPI_Win_lock_all` sends lock requests.
    pub lock_all: LockAll,
    /// The way in which fence and complete ensure that accesses are complete at their targets.
    pub active_target: ActiveTarget,
    /// Whether `MPI_Win_unlock` waits until the target has released the lock.
    pub await_unlock: bool,
    /// The agent that executes the origin's requests at the target.
    pub passive_progress: PassiveProgress,
    /// Bytes of a message that only synchronises, and of the request for data.
    pub control: Bytes,
    /// Bytes before the data of an access.
    pub header: Bytes,
    /// Time that an access takes its origin before it sets out.
    pub origin_overhead: Overhead,
    /// Time that an access takes at its target before it is done.
    pub target_overhead: Overhead,
}

/// The members to which `MPI_Win_lock_all` sends lock requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LockAll {
    /// Every member, and it returns with all locks.
    Each,
    /// Only the first member, which also arbitrates exclusive locks.
    Leader,
}

/// The way in which fence and complete ensure that accesses are complete at their targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActiveTarget {
    /// The origin waits until each access is acknowledged.
    Acknowledged,
    /// The target waits for as many accesses as there are for it; the origin waits only for its own memory.
    Counted,
}

/// The agent that executes the origin's requests at the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PassiveProgress {
    /// The network adapter, regardless of what the target does.
    Hardware,
    /// The target, while it is in a call of MPI.
    Target,
}

/// An implementation of one-sided communication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Implementation {
    /// MPICH's ch4, by active messages.
    Mpich,
    /// Open MPI's osc/rdma.
    OpenmpiRdma,
}

impl From<Library> for Implementation {
    /// The implementation of the library whose collectives a platform has.
    fn from(library: Library) -> Self {
        match library {
            Library::OpenMpi | Library::OpenMpi40 | Library::OpenMpi50 | Library::SimGridOpenMpi => Self::OpenmpiRdma,
            Library::Mpich | Library::SimGrid => Self::Mpich,
        }
    }
}

impl From<Implementation> for OneSided {
    fn from(implementation: Implementation) -> Self {
        let free = Overhead::default();
        match implementation {
            // `MPIDIG_mpi_win_lock` and `_lock_all` wait for the locks, of each member one; `MPIDIG_mpi_win_start` waits
            // for posts; `_fence` and `_complete` wait for local completion, and messages keep their order. Each put has an
            // acknowledgement (`MPIDIG_PUT_ACK`). 16 is the size of `MPIDIG_win_cntrl_msg_t`, 72 of `MPIDIG_put_msg_t`.
            Implementation::Mpich => Self {
                lock_all: LockAll::Each,
                active_target: ActiveTarget::Counted,
                await_unlock: true,
                passive_progress: PassiveProgress::Target,
                control: Bytes(16),
                header: Bytes(72),
                origin_overhead: free.clone(),
                target_overhead: free,
            },
            // `ompi_osc_rdma_sync_rdma_complete` waits for completions before a barrier or before the counters of
            // `ompi_osc_rdma_complete_atomic`; locks are counters of 8 bytes (`ompi_osc_rdma_lock_t`), on two levels by
            // default (`OMPI_OSC_RDMA_LOCKING_TWO_LEVEL`), and are released without waiting.
            Implementation::OpenmpiRdma => Self {
                lock_all: LockAll::Leader,
                active_target: ActiveTarget::Acknowledged,
                await_unlock: false,
                passive_progress: PassiveProgress::Hardware,
                control: Bytes(8),
                header: Bytes(0),
                origin_overhead: free.clone(),
                target_overhead: free,
            },
        }
    }
}

impl OneSided {
    /// This implementation, without software overheads.
    pub(crate) fn without_overheads(&self) -> Self {
        let free = Overhead::default();
        Self { origin_overhead: free.clone(), target_overhead: free, ..self.clone() }
    }
}
