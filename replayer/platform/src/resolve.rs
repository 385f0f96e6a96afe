//! From what is written to what is meant: defaults, and what keys must agree on.

use std::path::Path;

use serde::Deserialize;
use titr_common::collectives::{Library, Selection};
use titr_common::units::{Bytes, Quantity};
use toml::Spanned;

use super::schema::{self, CollectiveLibrary, File, OneOrMany};
use super::simgrid;
use super::source::{Mistake, Source};
use super::{EagerTransfer, Model, Mpi, Platform, PlatformError, Policy, Speed};
use titr_network::flow;
use titr_network::topology::{HostId, Topology};

/// The only edition of the schema.
const SCHEMA: u32 = 1;

/// SimGrid's smpi/send-is-detached-thresh.
const EAGER_THRESHOLD: Bytes = Bytes(65536);

/// The platform that `text`, read from `path`, and the overrides describe.
pub fn platform(path: &Path, text: String, overrides: &[String]) -> Result<Platform, PlatformError> {
    let mut source = Source::new(&path.display().to_string(), text, overrides);
    let mut warnings = Vec::new();
    if simgrid::is_xml(source.text()) {
        let (translation, worth_knowing) = simgrid::read(&source)?;
        source.translate(translation);
        warnings = worth_knowing;
    }
    let table = source.table()?;
    let file = File::deserialize(toml::de::Deserializer::from(table)).map_err(|error| source.toml_mistake(error, 0))?;
    let mut platform = Resolver { source: &source, path }.platform(file)?;
    platform.warnings.splice(..0, warnings);
    Ok(platform)
}

pub(super) struct Resolver<'a> {
    pub(super) source: &'a Source,
    path: &'a Path,
}

pub(super) type Resolved<T> = Result<T, Box<Mistake>>;

impl Resolver<'_> {
    pub(super) fn wrong<T>(&self, written: &Spanned<T>, message: impl Into<String>) -> Box<Mistake> {
        self.source.mistake(Some(written.span()), message)
    }

    fn platform(&self, file: File) -> Resolved<Platform> {
        if *file.schema.get_ref() != SCHEMA {
            return Err(self.wrong(&file.schema, format!("this version of titr reads schema {SCHEMA} only")));
        }
        let topology = self.topology(&file)?;
        let hosts = topology.hosts();
        let (model, warnings) = self.model(file.network, topology.as_ref())?;
        Ok(Platform {
            topology: topology.into(),
            speeds: self.speeds(&file.hosts.speed, hosts)?,
            cores: self.cores(file.hosts.cores.as_ref())?,
            policy: self.policy(&file.placement, hosts)?,
            model,
            mpi: self.mpi(file.mpi)?,
            warnings,
        })
    }

    /// How messages travel, and what should be known of it.
    fn model(&self, written: Spanned<schema::Network>, topology: &dyn Topology) -> Resolved<(Model, Vec<String>)> {
        Ok(match written.get_ref().model {
            schema::Model::Flow => (Model::Flow(written.into_inner().flow.into()), Vec::new()),
            schema::Model::Ideal => (Model::Ideal, Vec::new()),
            schema::Model::Packet => {
                let (design, warnings) = self.routers(&written, topology)?;
                (Model::Packet(design.into()), warnings)
            }
        })
    }

    fn speeds(&self, written: &Spanned<OneOrMany<Quantity<Speed>>>, hosts: u32) -> Resolved<Vec<Speed>> {
        match written.get_ref() {
            OneOrMany::One(Quantity(speed)) => Ok(vec![*speed; hosts as usize]),
            OneOrMany::Many(speeds) if speeds.len() == hosts as usize => {
                Ok(speeds.iter().map(|Quantity(speed)| *speed).collect())
            }
            OneOrMany::Many(speeds) => {
                let mistake = self.wrong(written, format!("{} speeds for {hosts} hosts", speeds.len()));
                Err(mistake.with_help("give one speed for all, or one for each"))
            }
        }
    }

    fn cores(&self, written: Option<&Spanned<u32>>) -> Resolved<u32> {
        match written.map(|cores| (cores, *cores.get_ref())) {
            None => Ok(1),
            Some((cores, 0)) => Err(self.wrong(cores, "a host has at least one core")),
            Some((_, cores)) => Ok(cores),
        }
    }

    fn mpi(&self, written: schema::Mpi) -> Resolved<Mpi> {
        Ok(Mpi {
            eager_threshold: written.eager_threshold.map_or(EAGER_THRESHOLD, |size| size.0),
            eager_transfer: match written.eager_transfer {
                schema::EagerTransfer::AtOnce => EagerTransfer::AtOnce,
                schema::EagerTransfer::OnMatch => EagerTransfer::OnMatch,
            },
            send_overhead: written.send_overhead.0,
            isend_overhead: written.isend_overhead.0,
            recv_overhead: written.recv_overhead.0,
            collectives: self.collectives(&written.collectives)?,
        })
    }

    fn collectives(&self, written: &schema::Collectives) -> Resolved<Selection> {
        let mut selection = Selection::from(match written.library {
            CollectiveLibrary::Mpich => Library::Mpich,
            CollectiveLibrary::OpenMpi => Library::OpenMpi,
            CollectiveLibrary::SimGrid => Library::SimGrid,
            CollectiveLibrary::SimGridOpenMpi => Library::SimGridOpenMpi,
        });
        for (collective, algorithm) in &written.algorithms {
            let forced = selection.force(collective, algorithm.get_ref());
            forced.map_err(|unknown| self.wrong(algorithm, unknown.to_string()))?;
        }
        Ok(selection)
    }

    fn policy(&self, placement: &schema::Placement, hosts: u32) -> Resolved<Policy> {
        let Some(policy) = &placement.policy else {
            return Ok(Policy::Block);
        };
        Ok(match (policy.get_ref(), &placement.file) {
            (schema::Policy::Block, _) => Policy::Block,
            (schema::Policy::RoundRobin, _) => Policy::RoundRobin,
            (schema::Policy::Random, _) => Policy::Random { seed: placement.seed },
            (schema::Policy::File, Some(file)) => self.explicit(file, hosts)?,
            (schema::Policy::File, None) => {
                let mistake = self.wrong(policy, "placement by a file needs the file");
                return Err(mistake.with_help("write file = \"…\" under [placement]"));
            }
        })
    }

    /// Reads a placement file: the number of a host a line; `#` starts a comment.
    fn explicit(&self, written: &Spanned<String>, hosts: u32) -> Resolved<Policy> {
        let file = self.path.parent().unwrap_or(Path::new("")).join(written.get_ref());
        let text = std::fs::read_to_string(&file)
            .map_err(|error| self.wrong(written, format!("cannot read {}: {error}", file.display())))?;
        let mut listed = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim();
            match line.parse() {
                _ if line.is_empty() => {}
                Ok(host) if host < hosts => listed.push(HostId(host)),
                _ => {
                    let file = file.display();
                    let mistake = self.wrong(written, format!("{file}:{number}: `{line}` is not a host"));
                    return Err(mistake.with_help(format!("hosts are numbered from 0 to {}", hosts - 1)));
                }
            }
        }
        Ok(Policy::Explicit { hosts: listed, file })
    }
}

impl From<schema::Flow> for flow::Parameters {
    fn from(written: schema::Flow) -> Self {
        let preset = Self::from(match written.preset {
            schema::Preset::Smpi => flow::Preset::Smpi,
            schema::Preset::Cm02 => flow::Preset::Cm02,
            schema::Preset::Lv08 => flow::Preset::Lv08,
            schema::Preset::Ib => flow::Preset::Ib,
        });
        let number = |written: Option<schema::NonNegative>, default| written.map_or(default, |number| number.0);
        Self {
            latency_factor: written.latency_factor.map_or(preset.latency_factor, |factor| factor.0),
            bandwidth_factor: written.bandwidth_factor.map_or(preset.bandwidth_factor, |factor| factor.0),
            weight_s: number(written.weight_s, preset.weight_s),
            tcp_gamma: number(written.tcp_gamma, preset.tcp_gamma),
            crosstraffic: number(written.crosstraffic, preset.crosstraffic),
            envelope: written.envelope.map_or(preset.envelope, |size| size.0),
            contention: written.infiniband_penalties.map_or(preset.contention, |factors| {
                let [arriving, leaving, crossing] = factors.map(|factor| factor.0);
                Some(flow::Penalties { arriving, leaving, crossing })
            }),
        }
    }
}
