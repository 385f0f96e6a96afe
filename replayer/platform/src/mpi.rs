//! MPI on a platform: the protocols of point-to-point messages, their software costs, and algorithms of collectives.

use crate::one_sided::{Implementation, OneSided};
use crate::overhead::Overhead;
use serde::Deserialize;
use std::collections::BTreeMap;

use titr_common::collectives::{Library, Selection};
use titr_common::event::CollectiveKind;
use titr_common::units::{Bytes, Quantity, Seconds};

/// SimGrid's smpi/send-is-detached-thresh.
const EAGER_THRESHOLD: Bytes = Bytes(65536);

/// The protocols and costs of an MPI library.
#[derive(Clone, Debug)]
pub struct Mpi {
    /// Sends of fewer bytes complete at once.
    pub eager_threshold: Bytes,
    /// The moment at which an eager message starts to travel.
    pub eager_transfer: EagerTransfer,
    /// Cost of a blocking send (SimGrid's `os`).
    pub send_overhead: Overhead,
    /// Cost of a non-blocking send (`ois`).
    pub isend_overhead: Overhead,
    /// The part of a send's cost that overlaps with the way of its message, which leaves so much earlier; from 0 to 1.
    pub send_overlap: f64,
    /// Cost of a blocking send that waits for its receive, besides: the handshake.
    pub rendezvous_overhead: Overhead,
    /// Cost of receiving an eager message (`or`).
    pub recv_overhead: Overhead,
    /// Costs of messages within a host; `None`: as of all others.
    pub local: Option<LocalOverheads>,
    /// Cost of a test, such as `MPI_Test` (`smpi/test`).
    pub test_overhead: Seconds,
    /// Cost of a probe that does not wait, such as `MPI_Iprobe` (`smpi/iprobe`).
    pub iprobe_overhead: Seconds,
    /// When background communication makes progress.
    pub progress: Progress,
    /// The transfer of data of messages that are not eager.
    pub rendezvous: Rendezvous,
    /// Whether such data travels in both directions at once between two ranks on different hosts.
    pub rendezvous_duplex: bool,
    /// The algorithm of each collective.
    pub collectives: Selection,
    /// Factors on the costs of the messages of collectives.
    pub collective_factors: BTreeMap<CollectiveKind, CollectiveFactors>,
    /// Cost of reducing data in a collective, by its size.
    pub reduction: Overhead,
    /// One-sided communication.
    pub one_sided: OneSided,
    /// Starting processes.
    pub spawn: Spawn,
}

/// A library as a platform without further keys has it: its algorithms and progress, at no cost of its own.
impl From<Library> for Mpi {
    fn from(library: Library) -> Self {
        Self {
            eager_threshold: EAGER_THRESHOLD,
            eager_transfer: EagerTransfer::AtOnce,
            send_overhead: Overhead::default(),
            isend_overhead: Overhead::default(),
            send_overlap: 0.0,
            rendezvous_overhead: Overhead::default(),
            recv_overhead: Overhead::default(),
            local: None,
            test_overhead: Seconds(0.0),
            iprobe_overhead: Seconds(0.0),
            progress: library.into(),
            rendezvous: Rendezvous::ClearToSend,
            rendezvous_duplex: true,
            collectives: library.into(),
            collective_factors: BTreeMap::new(),
            reduction: Overhead::default(),
            one_sided: Implementation::from(library).into(),
            spawn: Spawn::default(),
        }
    }
}

impl Mpi {
    /// These protocols and algorithms, with overheads of messages multiplied by `factor`.
    #[must_use]
    pub fn scale_overheads(&self, factor: f64) -> Self {
        let one_sided = OneSided {
            origin_overhead: self.one_sided.origin_overhead.scaled(factor),
            target_overhead: self.one_sided.target_overhead.scaled(factor),
            ..self.one_sided.clone()
        };
        Self {
            send_overhead: self.send_overhead.scaled(factor),
            isend_overhead: self.isend_overhead.scaled(factor),
            rendezvous_overhead: self.rendezvous_overhead.scaled(factor),
            recv_overhead: self.recv_overhead.scaled(factor),
            local: self.local.as_ref().map(|LocalOverheads { send, receive, latency }| LocalOverheads {
                latency: *latency,
                send: send.scaled(factor),
                receive: receive.scaled(factor),
            }),
            test_overhead: Seconds(self.test_overhead.0 * factor),
            iprobe_overhead: Seconds(self.iprobe_overhead.0 * factor),
            one_sided,
            ..self.clone()
        }
    }

    /// These protocols and algorithms, at no cost of their own.
    #[must_use]
    pub fn without_overheads(&self) -> Self {
        let free = Overhead::default();
        Self {
            send_overhead: free.clone(),
            isend_overhead: free.clone(),
            rendezvous_overhead: free.clone(),
            recv_overhead: free.clone(),
            local: None,
            reduction: free,
            test_overhead: Seconds(0.0),
            iprobe_overhead: Seconds(0.0),
            one_sided: self.one_sided.without_overheads(),
            spawn: Spawn::default(),
            ..self.clone()
        }
    }
}

/// Factors on the costs of a collective's messages for processors, by the size of the call: within hosts, and between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CollectiveFactors(pub BTreeMap<Bytes, [f32; 2]>);

impl CollectiveFactors {
    /// The factors for a call of this size.
    #[must_use]
    pub fn of(&self, bytes: Bytes) -> [f32; 2] {
        let step = self.0.range(..=bytes).next_back();
        step.map_or([1.0; 2], |(_, factors)| *factors)
    }
}

/// Time that a message within a host takes its processors.
#[derive(Clone, Debug, Default)]
pub struct LocalOverheads {
    /// Of the sender, while the message is on its way.
    pub send: Overhead,
    /// Of the receiver, after it.
    pub receive: Overhead,
    /// The largest latency of a message within the host: what it takes longer is time of the copy.
    pub latency: Seconds,
}

/// The moment at which an eager message starts to travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EagerTransfer {
    /// When it is sent, as in MPI libraries.
    #[default]
    AtOnce,
    /// Once the receive is posted too: SimGrid's default.
    OnMatch,
}

/// When background communication makes progress: matching the request of a rendezvous, sending its data, and the next
/// steps of non-blocking collectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Progress {
    /// While one of the rank's threads is in an MPI call. This holds for Open MPI (`opal_progress`, which only calls
    /// run, and which executes `libnbc`'s rounds: `ompi_coll_libnbc_progress`) and MPICH (`MPID_Progress_test`, with
    /// the schedules of `MPIDU_Sched_progress`), unless a progress thread is requested.
    Calls,
    /// A thread that has nothing else to do, as in SimGrid.
    Thread,
}

impl From<Library> for Progress {
    fn from(library: Library) -> Self {
        match library {
            Library::Mpich | Library::OpenMpi | Library::OpenMpi40 | Library::OpenMpi50 => Self::Calls,
            Library::SimGrid | Library::SimGridOpenMpi => Self::Thread,
        }
    }
}

/// The transfer of data of a message that is not eager, after the receiver has answered the sender's request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rendezvous {
    /// The sender sends the data when it sees the answer: Open MPI's `ob1` if the network cannot read remote memory,
    /// such as TCP (`mca_pml_ob1_recv_frag_callback_ack`), and MPICH's `ch4` (`MPIDIG_send_cts_target_msg_cb`).
    #[default]
    ClearToSend,
    /// The receiver's adapter reads the data without the sender's processor: `ob1` on adapters that support this
    /// (`mca_pml_ob1_recv_request_progress_rget`), and UCX and libfabric on InfiniBand.
    Get,
}

/// The time that `MPI_Comm_spawn` and `MPI_Comm_spawn_multiple` take before the new processes are in `MPI_Init`; zero
/// by default. It depends on the launcher (`prted` of PRRTE, `hydra`, `srun`), on the operating system and on the
/// storage of the programs, and not on MPI.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Spawn {
    /// Cost of each call.
    pub call: Quantity<Seconds>,
    /// Cost of each process that the call starts.
    pub process: Quantity<Seconds>,
}

impl Default for Spawn {
    fn default() -> Self {
        let nothing = Quantity(Seconds(0.0));
        Self { call: nothing, process: nothing }
    }
}

impl Spawn {
    /// The time of a call that starts this many processes.
    #[must_use]
    pub fn of(&self, processes: usize) -> Seconds {
        Seconds(self.call.0.0 + self.process.0.0 * processes as f64)
    }
}
