//! From what is written to what is meant: defaults, and what keys must agree on.

use std::path::Path;

use serde::Deserialize;
use titr_common::collectives::{Library, Selection};
use titr_common::units::Bytes;
use toml::Spanned;

use super::quantity::InstructionRate;
use super::schema::{self, CollectiveLibrary, File, OneOrMany, Through};
use super::source::{Mistake, Source};
use super::{EagerTransfer, Model, Mpi, Platform, PlatformError, Policy, Speed};
use crate::network::flow;
use crate::topology::{
    Backbone, Cable, Duplex, FatTree, Grid, HostId, Link, Sharing, Stage, Star, Topology, WithLoopback,
};

/// The only edition of the schema.
const SCHEMA: u32 = 1;

/// Hosts at most: a mistyped count is refused rather than filling memory with cables.
const MAX_HOSTS: u64 = 1 << 22;

/// Cables at most, likewise.
const MAX_CABLES: u64 = 1 << 24;

/// SimGrid's smpi/send-is-detached-thresh.
const EAGER_THRESHOLD: Bytes = Bytes(65536);

/// The platform that `text`, read from `path`, and the overrides describe.
pub fn platform(path: &Path, text: String, overrides: &[String]) -> Result<Platform, PlatformError> {
    let source = Source::new(&path.display().to_string(), text, overrides);
    let table = source.table()?;
    let file = File::deserialize(toml::de::Deserializer::from(table)).map_err(|error| source.toml_mistake(error, 0))?;
    Ok(Resolver { source: &source, path }.platform(file)?)
}

struct Resolver<'a> {
    source: &'a Source,
    path: &'a Path,
}

type Resolved<T> = Result<T, Box<Mistake>>;

impl Resolver<'_> {
    fn wrong<T>(&self, written: &Spanned<T>, message: impl Into<String>) -> Box<Mistake> {
        self.source.mistake(Some(written.span()), message)
    }

    fn platform(&self, file: File) -> Resolved<Platform> {
        if *file.schema.get_ref() != SCHEMA {
            return Err(self.wrong(&file.schema, format!("this version of titr reads schema {SCHEMA} only")));
        }
        let topology = self.topology(&file)?;
        let hosts = topology.hosts();
        Ok(Platform {
            topology: self.with_loopback(topology, &file.network.loopback)?.into(),
            speeds: self.speeds(&file.hosts.speed, hosts)?,
            cores: self.cores(file.hosts.cores.as_ref())?,
            policy: self.policy(&file.placement, hosts)?,
            model: match file.network.model {
                schema::Model::Flow => Model::Flow(file.network.flow.into()),
                schema::Model::Ideal => Model::Ideal,
            },
            mpi: self.mpi(file.mpi)?,
        })
    }

    fn topology(&self, file: &File) -> Resolved<Box<dyn Topology>> {
        let cable = Cable {
            bandwidth: file.network.bandwidth.bytes_per_second,
            latency: file.network.latency.0,
            duplex: file.network.duplex.into(),
        };
        let count = file.hosts.count.as_ref();
        let topology: Box<dyn Topology> = match file.topology.get_ref() {
            schema::Topology::Star(star) => {
                let Some(count) = count else {
                    let mistake = self.wrong(&file.topology, "a star does not say how many hosts are on it");
                    return Err(mistake.with_help("write count = … under [hosts]"));
                };
                self.within_max_hosts(count, &[*count.get_ref()])?;
                Box::new(Star::new(*count.get_ref(), cable, star.backbone.as_ref().map(Backbone::from)))
            }
            schema::Topology::Torus(grid) => Box::new(Grid::torus(self.dims(grid)?, cable)),
            schema::Topology::Mesh(grid) => Box::new(Grid::mesh(self.dims(grid)?, cable)),
            schema::Topology::FatTree(tree) => Box::new(FatTree::new(&self.stages(tree)?, cable)),
        };
        if let Some(count) = count.filter(|count| *count.get_ref() != topology.hosts()) {
            let message = format!("a {} has {} hosts, not {}", topology.name(), topology.hosts(), count.get_ref());
            return Err(self.wrong(count, message).with_help("leave the count out, or change the topology"));
        }
        Ok(topology)
    }

    fn dims<'g>(&self, grid: &'g schema::Grid) -> Resolved<&'g [u32]> {
        let dims = grid.dims.get_ref();
        if dims.is_empty() {
            return Err(self.wrong(&grid.dims, "a grid has at least one dimension"));
        }
        let hosts = self.within_max_hosts(&grid.dims, dims)?;
        let cabled = dims.iter().filter(|&&size| size > 1).count();
        self.within_max_cables(&grid.dims, hosts * cabled as u64)?;
        Ok(dims)
    }

    fn stages(&self, tree: &schema::FatTree) -> Resolved<Vec<Stage>> {
        let down = tree.down.get_ref();
        if let Some(levels) = tree.levels.as_ref().filter(|levels| *levels.get_ref() as usize != down.len()) {
            return Err(self.wrong(levels, format!("the lists describe {} levels", down.len())));
        }
        for list in [Some(&tree.down), Some(&tree.up), tree.count.as_ref()].into_iter().flatten() {
            let numbers = list.get_ref();
            if numbers.len() != down.len() {
                return Err(self.wrong(list, format!("{} numbers for {} levels", numbers.len(), down.len())));
            }
            if numbers.is_empty() || numbers.contains(&0) {
                return Err(self.wrong(list, "a fat-tree has at least one level, and none of its numbers is 0"));
            }
        }
        self.within_max_hosts(&tree.down, down)?;
        let count = tree.count.as_ref().map_or(vec![1; down.len()], |count| count.get_ref().clone());
        let numbers = down.iter().zip(tree.up.get_ref()).zip(count);
        let stages: Vec<_> = numbers.map(|((&down, &up), count)| Stage { down, up, count }).collect();
        self.within_max_cables(&tree.up, FatTree::cables(&stages))?;
        Ok(stages)
    }

    /// The product of sizes, if it is a number of hosts that a platform may have.
    fn within_max_hosts<T>(&self, written: &Spanned<T>, sizes: &[u32]) -> Resolved<u64> {
        match sizes.iter().fold(1_u64, |hosts, &size| hosts.saturating_mul(u64::from(size))) {
            hosts @ 1..=MAX_HOSTS => Ok(hosts),
            hosts => Err(self.wrong(written, format!("{hosts} hosts: a platform has from 1 to {MAX_HOSTS}"))),
        }
    }

    fn within_max_cables<T>(&self, written: &Spanned<T>, cables: u64) -> Resolved<()> {
        match cables {
            0..=MAX_CABLES => Ok(()),
            _ => Err(self.wrong(written, format!("{cables} cables: a platform has at most {MAX_CABLES}"))),
        }
    }

    fn with_loopback(&self, topology: Box<dyn Topology>, loopback: &schema::Loopback) -> Resolved<Box<dyn Topology>> {
        let Some(through) = loopback.through.as_ref().filter(|through| *through.get_ref() == Through::Switch) else {
            let loopback = Link {
                bandwidth: loopback.bandwidth.bytes_per_second,
                latency: loopback.latency.0,
                sharing: loopback.sharing.into(),
            };
            return Ok(Box::new(WithLoopback::new(topology, loopback)));
        };
        let mut route = Vec::new();
        topology.route(HostId(0), HostId(0), &mut route);
        if route.is_empty() {
            let message = format!("in a {} there is no switch at which messages could turn round", topology.name());
            return Err(self.wrong(through, message).with_help("use through = \"memory\""));
        }
        Ok(topology)
    }

    fn speeds(&self, written: &Spanned<OneOrMany<InstructionRate>>, hosts: u32) -> Resolved<Vec<Speed>> {
        let speed = |rate: &InstructionRate| Speed { per_second: rate.per_second };
        match written.get_ref() {
            OneOrMany::One(rate) => Ok(vec![speed(rate); hosts as usize]),
            OneOrMany::Many(rates) if rates.len() == hosts as usize => Ok(rates.iter().map(speed).collect()),
            OneOrMany::Many(rates) => {
                let mistake = self.wrong(written, format!("{} speeds for {hosts} hosts", rates.len()));
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

impl From<&schema::Backbone> for Backbone {
    fn from(written: &schema::Backbone) -> Self {
        Self {
            bandwidth: written.bandwidth.bytes_per_second,
            latency: written.latency.0,
            sharing: written.sharing.into(),
        }
    }
}

impl From<schema::Sharing> for Sharing {
    fn from(written: schema::Sharing) -> Self {
        match written {
            schema::Sharing::Shared => Self::Shared,
            schema::Sharing::FatPipe => Self::FatPipe,
        }
    }
}

impl From<schema::Duplex> for Duplex {
    fn from(written: schema::Duplex) -> Self {
        match written {
            schema::Duplex::Full => Self::Full,
            schema::Duplex::Half => Self::Half,
            schema::Duplex::FatPipe => Self::FatPipe,
        }
    }
}

impl From<schema::Flow> for flow::Parameters {
    fn from(written: schema::Flow) -> Self {
        let preset = Self::from(match written.preset {
            schema::Preset::Smpi => flow::Preset::Smpi,
            schema::Preset::Cm02 => flow::Preset::Cm02,
            schema::Preset::Lv08 => flow::Preset::Lv08,
        });
        let number = |written: Option<schema::NonNegative>, default| written.map_or(default, |number| number.0);
        Self {
            latency_factor: written.latency_factor.map_or(preset.latency_factor, |factor| factor.0),
            bandwidth_factor: written.bandwidth_factor.map_or(preset.bandwidth_factor, |factor| factor.0),
            weight_s: number(written.weight_s, preset.weight_s),
            tcp_gamma: number(written.tcp_gamma, preset.tcp_gamma),
            crosstraffic: number(written.crosstraffic, preset.crosstraffic),
            envelope: written.envelope.map_or(preset.envelope, |size| size.0),
        }
    }
}
