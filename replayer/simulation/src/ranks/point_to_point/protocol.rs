//! The software cost of messages, and the two protocols that carry them (MPI 4.0 §3.4, and existing libraries).
//!
//! * **eager** — fewer bytes than the threshold, or a buffered send: the send completes at once. The message travels at
//!   once too, as in MPI libraries, or only when it is matched, as in SimGrid by default ([`EagerTransfer`]).
//! * **rendezvous** — the message travels once it is matched, and the send completes when it has arrived. As in
//!   SimGrid, the handshake itself takes no time. But if a library makes progress in calls only, the receiver has to be
//!   in one to answer the request, and the sender to send the data ([`chapters`](crate::ranks::chapters)).
//!
//! A sender pays its overhead: `send_overhead` for a blocking send that is eager or synchronous, `rendezvous_overhead` for any other
//! blocking send, and `isend_overhead` for one that does not block. The message leaves at the end of that time, or earlier by `send_overlap` of it. A
//! receiver pays `recv_overhead` when it completes the receive of an eager message.

use titr_common::event::{Completion, MessageCompletion, Rank, SendMode};
use titr_common::time::Time;
use titr_common::units::{Bytes, Seconds};
use titr_network::topology::HostId;
use titr_platform::{EagerTransfer, LocalOverheads, Mpi, Overhead, Progress, Rendezvous};

use crate::ranks::core::Core;

/// The protocols and overheads of a simulated MPI library.
pub(in crate::ranks) struct Protocol {
    pub(in crate::ranks) mpi: Mpi,
    /// The host of each rank, where costs within hosts differ.
    hosts: Option<Vec<HostId>>,
}

/// The ranks that send and receive a message.
pub(in crate::ranks) type MessageEnds = (Rank, Rank);

impl Protocol {
    /// The protocols of a library for ranks on these cores.
    pub(in crate::ranks) fn new(mpi: &Mpi, cores: &[Core]) -> Self {
        let differs = mpi.local.is_some() || !mpi.collective_factors.is_empty();
        Self { mpi: mpi.clone(), hosts: differs.then(|| cores.iter().map(|core| core.host).collect()) }
    }

    /// Whether two ranks are on one host, where costs within hosts differ.
    pub(in crate::ranks) fn share_host(&self, (from, to): MessageEnds) -> bool {
        self.hosts.as_ref().is_some_and(|hosts| hosts[from.0 as usize] == hosts[to.0 as usize])
    }

    /// The overheads of a message within a host, if they are not those of all messages.
    #[inline]
    fn local(&self, ends: MessageEnds) -> Option<&LocalOverheads> {
        self.mpi.local.as_ref().filter(|_| self.share_host(ends))
    }

    /// Whether a send completes at once.
    pub(in crate::ranks) fn is_eager(&self, mode: SendMode, bytes: Bytes) -> bool {
        match mode {
            SendMode::Standard | SendMode::Ready => bytes < self.mpi.eager_threshold,
            SendMode::Buffered => true,
            SendMode::Synchronous => false,
        }
    }

    /// Whether a message travels before it is matched.
    pub(in crate::ranks) fn travels_at_once(&self, mode: SendMode, bytes: Bytes) -> bool {
        let is_early = self.mpi.eager_transfer == EagerTransfer::AtOnce && !self.has_separate_data(bytes);
        is_early && self.is_eager(mode, bytes)
    }

    /// Whether the request to send a message waits for the receiver's processor.
    pub(in crate::ranks) fn needs_receiver(&self, synchronous: bool, bytes: Bytes) -> bool {
        self.mpi.progress == Progress::Calls && (synchronous || self.has_separate_data(bytes))
    }

    /// Whether a message has more data than its request carries.
    pub(in crate::ranks) fn has_separate_data(&self, bytes: Bytes) -> bool {
        bytes >= self.mpi.eager_threshold
    }

    /// Whether a message waits for the sender's processor once the receiver has answered the request. A short one came with the
    /// request (`mca_pml_ob1_send_request_start_rndv`).
    pub(in crate::ranks) fn needs_sender(&self, bytes: Bytes) -> bool {
        let sends = self.mpi.progress == Progress::Calls && self.mpi.rendezvous == Rendezvous::ClearToSend;
        sends && self.has_separate_data(bytes)
    }

    /// The time that a send with this completion takes; the setup of a persistent one takes none.
    #[inline]
    pub(in crate::ranks) fn cost_of_message(
        &self,
        mode: SendMode,
        bytes: Bytes,
        ends: MessageEnds,
        completion: MessageCompletion,
    ) -> SendCost {
        match completion {
            Completion::Blocking => self.cost_of_send(mode, bytes, ends),
            Completion::Request(_) => self.cost_of_isend(bytes, ends),
            Completion::Persistent(_) => SendCost::default(),
        }
    }

    /// The time that a blocking send takes.
    #[inline]
    pub(in crate::ranks) fn cost_of_send(&self, mode: SendMode, bytes: Bytes, ends: MessageEnds) -> SendCost {
        if let Some(local) = self.local(ends) {
            return SendCost { before: Seconds(0.0), after: local.send.of(bytes) };
        }
        if mode == SendMode::Synchronous || self.is_eager(mode, bytes) {
            self.cost(&self.mpi.send_overhead, bytes)
        } else {
            self.mpi.rendezvous_overhead.of(bytes).into()
        }
    }

    /// The time that any other send takes.
    #[inline]
    pub(in crate::ranks) fn cost_of_isend(&self, bytes: Bytes, ends: MessageEnds) -> SendCost {
        if let Some(local) = self.local(ends) {
            return SendCost { before: Seconds(0.0), after: local.send.of(bytes) };
        }
        self.cost(&self.mpi.isend_overhead, bytes)
    }

    #[inline]
    fn cost(&self, overhead: &Overhead, bytes: Bytes) -> SendCost {
        let all = overhead.of(bytes).0;
        let overlap = self.mpi.send_overlap;
        SendCost { before: Seconds(all * (1.0 - overlap)), after: Seconds(all * overlap) }
    }

    /// The time that the completion of a receive takes, whose message was under way for this time. A copy within a host takes
    /// the longer of the processor's time and of the way through memory.
    #[inline]
    pub(in crate::ranks) fn cost_of_receive(
        &self,
        is_eager: bool,
        bytes: Bytes,
        ends: MessageEnds,
        under_way: Time,
    ) -> Seconds {
        match self.local(ends) {
            Some(local) => {
                let way = (under_way.seconds().0 - local.latency.0).max(0.0);
                Seconds((local.receive.of(bytes).0 - way).max(0.0))
            }
            None if is_eager => self.mpi.recv_overhead.of(bytes),
            None => Seconds(0.0),
        }
    }
}

/// The time that a send takes its rank.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::ranks) struct SendCost {
    /// Until the message leaves.
    pub(in crate::ranks) before: Seconds,
    /// From then on.
    pub(in crate::ranks) after: Seconds,
}

impl SendCost {
    pub(in crate::ranks) fn times(self, factor: f32) -> Self {
        let times = |time: Seconds| Seconds(time.0 * f64::from(factor));
        Self { before: times(self.before), after: times(self.after) }
    }

    pub(in crate::ranks) fn all(self) -> Seconds {
        self.before + self.after
    }
}

impl From<Seconds> for SendCost {
    /// A time after which others see the effects of a call.
    fn from(before: Seconds) -> Self {
        Self { before, after: Seconds(0.0) }
    }
}

// How much of the order of a program's messages a replay keeps.
//
// These are the three ways in which J. Miguel-Alonso, J. Navaridas and F. J. Ridruejo feed a network with a trace
// ("Interconnection network simulation using traces of MPI applications", International Journal of Parallel
// Programming 37(2), 2009, §4), from the highest load that an application could impose on a network to its actual
// load.

/// The dependencies that a replay keeps: the earlier events of its rank that a send waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Causality {
    /// A send waits for nothing: each rank sends all its messages in order, as fast as the network takes them (§4.1).
    None,
    /// A send waits for the receives before it; computation and MPI itself take no time (§4.2).
    Causal,
    /// A send waits for the receives and the computation before it (§4.3).
    #[default]
    Timed,
}

impl Causality {
    /// Whether ranks take time of their own.
    pub(crate) fn is_timed(self) -> bool {
        self == Self::Timed
    }

    /// Whether a rank waits for what others send to it.
    pub(crate) fn has_receives(self) -> bool {
        self != Self::None
    }
}

#[cfg(test)]
mod tests {
    use titr_common::collectives::Library;

    use super::*;

    #[test]
    fn modes_and_sizes_choose_the_protocol() {
        let protocol = Protocol::new(&Mpi { eager_threshold: Bytes(100), ..Mpi::from(Library::Mpich) }, &[]);
        let eager = |mode| [99, 100].map(|bytes| protocol.is_eager(mode, Bytes(bytes)));
        assert_eq!(eager(SendMode::Standard), [true, false]);
        assert_eq!(eager(SendMode::Ready), [true, false]);
        assert_eq!(eager(SendMode::Buffered), [true, true]);
        assert_eq!(eager(SendMode::Synchronous), [false, false]);
        assert!(!protocol.travels_at_once(SendMode::Buffered, Bytes(100)));
    }
}
