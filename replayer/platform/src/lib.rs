//! A machine: what a platform file says, with every default filled in.
//!
//! [`schema`] is what can be written, [`resolve`] what it means. A mistake is shown in the file's own text ([`source`]).

mod cabling;
mod placement;
mod resolve;
mod routers;
mod schema;
mod simgrid;
mod source;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use miette::Diagnostic;
use thiserror::Error;
use titr_common::collectives::Selection;
use titr_common::units::{Bytes, Seconds, Speed};

pub use placement::{Placement, PlacementError, Policy};
pub use source::Mistake;

use titr_network::Network;
use titr_network::flow::{self, Flow};
use titr_network::ideal::Ideal;
use titr_network::packet::{Design, PacketNetwork};
use titr_network::topology::{HostId, Topology};

/// Hosts, their network, and what MPI costs on them.
#[derive(Debug)]
pub struct Platform {
    /// The hosts' cabling.
    pub topology: Arc<dyn Topology>,
    /// How fast each host computes.
    pub speeds: Vec<Speed>,
    /// Ranks that each host has room for.
    pub cores: u32,
    /// How messages travel.
    pub model: Model,
    /// What MPI does with them.
    pub mpi: Mpi,
    /// How ranks are given hosts.
    pub policy: Policy,
    /// What should be known about how the file was read.
    pub warnings: Vec<String>,
}

/// How messages travel.
#[derive(Clone, Debug)]
pub enum Model {
    /// As flows that share links.
    Flow(flow::Parameters),
    /// Each as if alone.
    Ideal,
    /// As packets through routers.
    Packet(Arc<Design>),
}

/// Why there is no platform.
#[derive(Debug, Error, Diagnostic)]
pub enum PlatformError {
    /// The file cannot be read.
    #[error("cannot read the platform {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file, or a `--set`, is wrong.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Mistaken(#[from] Box<Mistake>),
}

impl Platform {
    /// The platform that a file describes, titr's own or SimGrid's, with `KEY=VALUE` overrides on top, whose keys are dotted:
    /// `network.flow.preset=cm02`.
    pub fn load(path: &Path, overrides: &[String]) -> Result<Self, PlatformError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| PlatformError::Unreadable { path: path.to_owned(), source })?;
        Self::parse(path, text, overrides)
    }

    /// Likewise of a file that has been read: what it names is found from its `path`.
    pub fn parse(path: &Path, text: String, overrides: &[String]) -> Result<Self, PlatformError> {
        resolve::platform(path, text, overrides)
    }

    /// Where `ranks` ranks run.
    pub fn place(&self, ranks: u32) -> Result<Placement, PlacementError> {
        self.policy.place(ranks, self.topology.hosts(), self.cores)
    }

    /// Its network, idle.
    #[must_use]
    pub fn network(&self) -> Box<dyn Network> {
        self.network_of_run(0)
    }

    /// Likewise, for one of several runs that differ in what chance decides.
    #[must_use]
    pub fn network_of_run(&self, run: u32) -> Box<dyn Network> {
        let topology = Arc::clone(&self.topology);
        match &self.model {
            Model::Flow(parameters) => Box::new(Flow::new(topology, parameters.clone())),
            Model::Ideal => Box::new(Ideal::new(topology)),
            Model::Packet(design) => Box::new(PacketNetwork::new(Arc::new(design.of_run(run)), topology.links())),
        }
    }

    /// How fast a host computes.
    #[must_use]
    pub fn speed(&self, host: HostId) -> Speed {
        self.speeds[host.0 as usize]
    }
}

impl Model {
    /// As written in platform files.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Flow(_) => "flow",
            Self::Ideal => "ideal",
            Self::Packet(_) => "packet",
        }
    }
}

/// What MPI costs beyond the wires, and the protocols it uses.
#[derive(Clone, Debug)]
pub struct Mpi {
    /// Sends of fewer bytes complete at once.
    pub eager_threshold: Bytes,
    /// When such a message starts to travel.
    pub eager_transfer: EagerTransfer,
    /// What a blocking send costs before the message leaves (SimGrid's `os`).
    pub send_overhead: Overhead,
    /// What a non-blocking send costs (`ois`).
    pub isend_overhead: Overhead,
    /// What the receipt of an eager message costs (`or`).
    pub recv_overhead: Overhead,
    /// Which algorithm each collective uses.
    pub collectives: Selection,
}

impl Mpi {
    /// The same protocols and algorithms, at no cost of their own.
    #[must_use]
    pub fn without_overheads(&self) -> Self {
        let free = Overhead::default();
        Self { send_overhead: free.clone(), isend_overhead: free.clone(), recv_overhead: free, ..self.clone() }
    }
}

/// When an eager message travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EagerTransfer {
    /// When it is sent, as in MPI libraries.
    AtOnce,
    /// Once the receive is posted too: SimGrid's default.
    OnMatch,
}

/// A cost in steps of message size: `seconds + seconds_per_byte × bytes` of the last step whose `above` is less than
/// the size, or of the first; nothing if there are no steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overhead {
    /// By rising size.
    steps: Vec<OverheadStep>,
}

/// One step of an [`Overhead`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverheadStep {
    /// It holds for larger messages than this.
    pub above: Bytes,
    /// Fixed part.
    pub seconds: Seconds,
    /// Part that grows with the size.
    pub seconds_per_byte: Seconds,
}

impl Overhead {
    /// A cost in these steps.
    #[must_use]
    pub fn new(mut steps: Vec<OverheadStep>) -> Self {
        steps.sort_by_key(|step| step.above);
        Self { steps }
    }

    /// The cost for a message of `bytes`.
    #[must_use]
    pub fn of(&self, bytes: Bytes) -> Seconds {
        let step = self.steps.iter().rev().find(|step| step.above < bytes).or(self.steps.first());
        step.map_or(Seconds(0.0), |step| Seconds(step.seconds.0 + step.seconds_per_byte.0 * bytes.0 as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overhead_steps_above_its_sizes() {
        let step = |above, seconds, per_byte| OverheadStep {
            above: Bytes(above),
            seconds: Seconds(seconds),
            seconds_per_byte: Seconds(per_byte),
        };
        let overhead = Overhead::new(vec![step(1000, 7.0, 0.0), step(10, 1.0, 2.0)]);
        assert_eq!([0, 10, 11, 1000, 1001].map(|size| overhead.of(Bytes(size)).0), [1.0, 21.0, 23.0, 2001.0, 7.0]);
        assert_eq!(Overhead::default().of(Bytes(5)), Seconds(0.0));
    }
}
