//! Descriptions of clusters: the content of a platform file, with every default filled in.
//!
//! [`Platform::load`] reads a file in these steps:
//!
//! 1. `titr_document`: the tables of the file and of each `--set`, with the place of each value. [`simgrid`] makes such
//!    tables from SimGrid's XML, and [`one_line`] from one line such as `torus:4x4x4 10Gbit/s 1us`.
//! 2. [`tables`]: every permitted key, its type and default, and what the keys of each table mean together; [`topology`]:
//!    the same of each topology. They make a [`Platform`].
//!
//! A platform is data: it describes what to simulate. Only the model of its disks, [`Disks`], is here, too: the ranks and
//! hosts that access a disk, and the transfer of the bytes, are modelled elsewhere.

mod disks;
mod host_speed;
pub mod job_mix;
mod levers;
mod mpi;
mod one_line;
mod one_sided;
mod overhead;
mod placement;
mod scaling;
mod simgrid;
mod storage;
mod tables;
mod topology;
mod xml;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use thiserror::Error;
use titr_common::collectives::Library;
use titr_common::input::{self, WRITTEN_BY_PROGRAM};
use titr_common::step_function::StepFunction;
use titr_common::trace::{Trace, directory};
use titr_common::units::Seconds;
use titr_document::{Checked, Located, Mistake, Source, Value};
use titr_network::flow::Flow;
use titr_network::ideal::Ideal;
use titr_network::packet::{PacketNetwork, PacketSpec};
use titr_network::topology::{HostId, Link, Node, OneRail, Sharing, Topology};
use titr_network::{HostNetwork, Network, RailNetwork, flow};
use toml::Value as Toml;

pub use disks::{Access, AccessId, DiskId, DiskParameters, Disks, Service};
pub use host_speed::{HostSpeed, SharedSpeed};
pub use levers::{Lever, Property};
pub use mpi::{CollectiveFactors, EagerTransfer, LocalOverheads, Mpi, Progress, Rendezvous, Spawn};
pub use one_sided::{ActiveTarget, Implementation, LockAll, OneSided, PassiveProgress};
pub use overhead::{Overhead, OverheadStep};
pub use placement::{Placement, PlacementError, Policy};
pub use storage::{CollectiveAccess, Servers, Storage, Striping};

/// Hosts, their network, and the cost of MPI on them.
#[derive(Clone, Debug)]
pub struct Platform {
    /// Hosts, links, and the route between any two hosts.
    pub topology: Arc<dyn Topology>,
    /// The speed of one core of each host.
    pub speeds: Vec<HostSpeed>,
    /// The part of its speed that a core of a host has by time, where that changes.
    pub parts_of_speed: BTreeMap<HostId, Arc<StepFunction>>,
    /// The part of its speed at which a core computes in a region of the program, by the name of the region; 1 in all others.
    pub region_speeds: BTreeMap<String, f64>,
    /// The part of its speed that a core keeps, by the number of ranks on its host.
    pub sharing: SharedSpeed,
    /// Ranks that each host has room for.
    pub cores: u32,
    /// The inside of each host, where messages within a host do not take a loopback.
    pub node: Option<Node>,
    /// Messages that the card of a host sends to other hosts in a second, and that it receives; `None`: without limit.
    pub messages_per_second: Option<f64>,
    /// The network model and its parameters.
    pub model: Model,
    /// Protocols of the MPI library, and their costs.
    pub mpi: Mpi,
    /// The same for a trace that Open MPI recorded, where the platform names no library ([`Platform::for_trace`]).
    pub mpi_of_open_mpi: Option<Arc<Mpi>>,
    /// The storage that holds files.
    pub storage: Storage,
    /// The rule by which ranks are given hosts.
    pub policy: Policy,
    /// How times vary from run to run.
    pub spread: Spread,
    /// Files of profiles that the platform names.
    pub profiles: Vec<PathBuf>,
    /// Remarks on how the file was read, for the report.
    pub warnings: Vec<String>,
}

/// A network model and its parameters: an implementation of [`Network`] in its own folder of the network crate, which
/// [`Platform::network`] makes.
#[derive(Clone, Debug)]
pub enum Model {
    /// Messages are flows that share links.
    Flow(flow::FlowParameters),
    /// Messages travel each as if alone.
    Ideal,
    /// Messages are packets that pass routers.
    Packet(Arc<PacketSpec>),
}

impl Model {
    /// The model's name in platform files.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Flow(_) => "flow",
            Self::Ideal => "ideal",
            Self::Packet(_) => "packet",
        }
    }

    /// Whether messages share the bandwidth of a link.
    #[must_use]
    pub fn shares(&self, link: &Link) -> bool {
        !matches!(self, Self::Ideal) && link.sharing == Sharing::Shared
    }
}

/// A reason why there is no platform.
#[derive(Debug, Error)]
pub enum PlatformError {
    /// The file cannot be read.
    #[error("cannot read the platform {}: {error}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The file, or a `--set`, is wrong.
    #[error(transparent)]
    Mistaken(#[from] Mistake),
}

/// The text of a platform file; of standard input, `-`, which is read once; or the platform of one line that `path` is if no file
/// has that name.
fn read(path: &Path) -> Result<String, PlatformError> {
    static INPUT: LazyLock<Result<String, String>> =
        LazyLock::new(|| io::read_to_string(io::stdin()).map_err(|error| error.to_string()));
    let unreadable = |error| PlatformError::Unreadable { path: path.to_owned(), error };
    if path == Path::new("-") {
        return INPUT.clone().map_err(|error| unreadable(io::Error::other(error)));
    }
    if let Some(line) = one_line::in_place_of(path) {
        return Ok(line.to_owned());
    }
    if let Some(what) = other_file(path) {
        return Err(unreadable(io::Error::other(format!("this is {what}, and --platform takes the machine"))));
    }
    input::read_text(path, WRITTEN_BY_PROGRAM).map_err(|error| {
        let may_be_file = path.extension().is_some_and(|end| !end.as_encoded_bytes().contains(&b' '));
        unreadable(match error.kind() {
            io::ErrorKind::NotFound if !may_be_file => {
                let example = one_line::example(&path.to_string_lossy());
                io::Error::new(error.kind(), format!("{error}; and a platform of one line begins as in \"{example}\""))
            }
            _ if directory::manifest(path).exists() => {
                io::Error::new(error.kind(), "this is a trace: it stands by itself, and --platform takes the machine")
            }
            _ => error,
        })
    })
}

/// What a file is that is certainly no platform.
fn other_file(path: &Path) -> Option<&'static str> {
    let mut head = Vec::new();
    // Of a pipe, nothing can be read twice.
    let path = Some(path).filter(|path| path.is_file())?;
    File::open(path).ok()?.take(4096).read_to_end(&mut head).ok()?;
    // Each line of a trace but comments begins with the number of its rank.
    let mut lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let line = lines.find(|line| !line.is_empty() && !line.starts_with(b"#")).unwrap_or_default();
    let rank = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match head.as_slice() {
        [b'\x7f', b'E', b'L', b'F', ..] => Some("a program or a library"),
        [0x1f, 0x8b, ..] => Some("a compressed file, perhaps a part of a trace"),
        [b'#', b'!', ..] => Some("a script"),
        _ if rank > 0 && line.get(rank) == Some(&b' ') => Some("a trace"),
        _ => None,
    }
}

impl Platform {
    /// The text of the platform in a file, titr's own or SimGrid's, or of standard input, `-`. If no file has this name, the name may be a platform of
    /// one line, such as `torus:4x4x4 10Gbit/s 1us host:4`.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn text(path: &Path) -> Result<String, PlatformError> {
        read(path)
    }

    /// Whether a text is a platform of one line.
    #[must_use]
    pub fn is_line(text: &str) -> bool {
        one_line::is_line(text)
    }

    /// Reads the platform in a file, or of one line, with `KEY=VALUE` overrides, whose keys are dotted:
    /// `network.flow.preset=cm02`.
    ///
    /// # Errors
    /// If the file cannot be read, or the file or an override is not valid.
    pub fn load(path: &Path, overrides: &[String]) -> Result<Self, PlatformError> {
        Self::parse(path, read(path)?, overrides)
    }

    /// Reads the platform in a text, like [`Platform::load`]. Files named in the text are relative to its `path`.
    ///
    /// # Errors
    /// If the text or an override is not valid.
    pub fn parse(path: &Path, text: String, overrides: &[String]) -> Result<Self, PlatformError> {
        Ok(tables::platform(path, text, overrides, &[])?)
    }

    /// Reads the platform in a text, like [`Platform::parse`], and multiplies the values of keys by factors.
    ///
    /// # Errors
    /// As [`Platform::parse`], or if the value of a key is neither a quantity nor a number.
    pub fn parse_scaled(
        path: &Path,
        text: String,
        overrides: &[String],
        factors: &[(String, f64)],
    ) -> Result<Self, PlatformError> {
        Ok(tables::platform(path, text, overrides, factors)?)
    }

    /// The platform with the protocols and algorithms of the library that recorded the trace, if the platform names none.
    #[must_use]
    pub fn for_trace(mut self, trace: &Trace) -> Self {
        let recorder = trace.manifest().and_then(|manifest| Library::of_version(&manifest.mpi));
        let (Some(open_mpi), Some(recorder)) = (self.mpi_of_open_mpi.take(), recorder) else { return self };
        let name = match recorder {
            Library::OpenMpi | Library::OpenMpi40 | Library::OpenMpi50 => {
                self.mpi = Arc::unwrap_or_clone(open_mpi);
                self.mpi.collectives.library = recorder;
                match recorder {
                    Library::OpenMpi40 => "Open MPI 4.0",
                    Library::OpenMpi50 => "Open MPI 5.0",
                    _ => "Open MPI",
                }
            }
            Library::Mpich | Library::SimGrid | Library::SimGridOpenMpi => "MPICH",
        };
        let why = "for the library that recorded the trace (mpi.collectives)";
        self.warnings.push(format!("collectives are by default those of {name}, {why}"));
        self
    }

    /// The host of each of `ranks` ranks.
    ///
    /// # Errors
    /// If the hosts have too few cores.
    pub fn place(&self, ranks: u32) -> Result<Placement, PlacementError> {
        self.policy.place(ranks, self.topology.hosts(), self.cores)
    }

    /// The host of each of `ranks` ranks, in one of several runs with different random choices.
    ///
    /// # Errors
    /// As [`place`](Self::place).
    pub fn place_in(&self, run: u32, ranks: u32) -> Result<Placement, PlacementError> {
        self.policy.of_run(run).place(ranks, self.topology.hosts(), self.cores)
    }

    /// Whether a host, a link or a route is another at some time than at the start.
    #[must_use]
    pub fn changes_over_time(&self) -> bool {
        !self.topology.is_constant() || self.parts_of_speed.values().any(|part| part.constant().is_none())
    }

    /// The speed of one core of a host.
    #[must_use]
    pub fn speed(&self, host: HostId) -> HostSpeed {
        self.speeds[host.0 as usize]
    }

    /// The text of a platform file for the platform in a file, or of one line, with `KEY=VALUE` overrides.
    ///
    /// # Errors
    /// As [`Platform::load`], or if the platform is in XML.
    pub fn as_toml(path: &Path, overrides: &[String]) -> Result<String, PlatformError> {
        Self::as_toml_scaled(path, overrides, &[])
    }

    /// The text of a platform file, like [`Platform::as_toml`], with the values of keys multiplied by factors.
    ///
    /// # Errors
    /// As [`Platform::as_toml`], or if the value of a key is neither a quantity nor a number.
    pub fn as_toml_scaled(
        path: &Path,
        overrides: &[String],
        factors: &[(String, f64)],
    ) -> Result<String, PlatformError> {
        let text = read(path)?;
        // A platform file is of a platform.
        Self::parse_scaled(path, text.clone(), overrides, factors)?;
        let source = Source::new(&path.display().to_string(), text.clone(), []);
        let unwritten =
            || source.mistake(None, "titr writes TOML of TOML or of one line, and this is another language");
        if simgrid::is_xml(&text) {
            return Err(unwritten().with_help("use the file as it is").into());
        }
        let tables = tables::tables(path, text, overrides, factors)?;
        let value = toml_of(&tables, &source)?;
        Ok(toml::to_string(&value).map_err(|_| unwritten())?)
    }

    /// The platform's network with no messages in transit, for one of several runs with different random choices.
    #[must_use]
    pub fn network(&self, run: u32) -> Box<dyn Network> {
        let between = self.network_between_hosts(run);
        if self.node.is_none() && self.messages_per_second.is_none() {
            return between;
        }
        let node = self.node.clone().map(|node| {
            let mut route = Vec::new();
            self.topology.rail(0).unwrap_or(&*self.topology).route(HostId(0), HostId(0), &mut route);
            let first = route.first().map_or(0, |link| link.index() - node.outermost());
            (node, first)
        });
        let model = |topology| match &self.model {
            Model::Ideal => Box::new(Ideal::new(topology)) as Box<dyn Network>,
            Model::Flow(_) | Model::Packet(_) => Box::new(Flow::new(topology, flow::Preset::Plain.into())),
        };
        Box::new(HostNetwork::new(between, self.topology.hosts(), node, self.messages_per_second, model))
    }

    fn network_between_hosts(&self, run: u32) -> Box<dyn Network> {
        let rails = self.topology.rails();
        if rails.count.get() == 1 {
            return self.network_on(0, Arc::clone(&self.topology), run);
        }
        let topology = |number| Arc::new(OneRail::of(Arc::clone(&self.topology), number));
        let network = |number| self.network_on(number, topology(number), run);
        Box::new(RailNetwork::new(Arc::clone(&self.topology), rails.numbers().map(network).collect()))
    }

    fn network_on(&self, rail: u32, topology: Arc<dyn Topology>, run: u32) -> Box<dyn Network> {
        match &self.model {
            Model::Flow(parameters) => Box::new(Flow::new(topology, parameters.clone())),
            Model::Ideal => Box::new(Ideal::new(topology)),
            Model::Packet(spec) => Box::new(PacketNetwork::new(Arc::new(spec.of_rail(rail).of_run(run)), topology)),
        }
    }
}

fn toml_of(located: &Located, source: &Source) -> Checked<Toml> {
    Ok(match &located.value {
        Value::Text(text) => Toml::from(text.as_str()),
        Value::Whole(number) => Toml::from(
            i64::try_from(*number).map_err(|_| source.mistake(None, format!("{number} is too large for TOML")))?,
        ),
        Value::Number(number) | Value::Quantity(number) => Toml::from(*number),
        Value::Flag(flag) => Toml::from(*flag),
        Value::List(items) => Toml::Array(items.iter().map(|item| toml_of(item, source)).collect::<Checked<_>>()?),
        Value::Table(table) => {
            let entry = |(key, value): (&str, &Located)| Ok((key.to_owned(), toml_of(value, source)?));
            Toml::Table(table.entries().map(entry).collect::<Checked<_>>()?)
        }
    })
}

/// What varies from run to run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spread {
    /// The interruptions of computation on each core.
    pub detours: Option<Detours>,
    /// The standard deviation of a message's time, as a fraction of that time.
    pub message: f64,
    /// The standard deviation of a predicted time, as a fraction of it, because the models are not the machine.
    pub model: f64,
    /// The standard deviation of the value of a key, as a fraction of that value.
    pub uncertainty: BTreeMap<String, f64>,
}

/// Interruptions of a core by the operating system and other programs: their lengths, and the computation between them,
/// are exponentially distributed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detours {
    /// The mean length.
    pub length: Seconds,
    /// The mean number in a second of computation.
    pub rate: f64,
}

impl Spread {
    /// Whether nothing varies.
    #[must_use]
    pub fn is_none(&self) -> bool {
        let has_detours = self.detours.is_some_and(|detours| detours.length.0 > 0.0 && detours.rate > 0.0);
        let is_exact = self.message <= 0.0 && self.model <= 0.0;
        !has_detours && is_exact && self.uncertainty.values().all(|&deviation| deviation <= 0.0)
    }
}
