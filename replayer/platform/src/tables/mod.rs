//! The tables of platform files. The type of a table ends in `Table`. The tables of topologies are in
//! [`topology`](crate::topology), next to the code that builds them.
//!
//! A key is a field, and its comment is its row in the manual: the meaning, and at the end "Default: …." or "Required.".
//! A field without a comment shares the row of the field above it.
//! `UPDATE=1 cargo test --package titr-platform --test manual` writes the rows.

mod links;
mod mpi;
mod network;
mod node;
mod packet;
mod placement;
mod spread;
mod storage;
mod value;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;
use titr_common::collectives::Library;
use titr_document::{Checked, Located, Mistake, Place, Shorthand, Source, override_as_toml};
use titr_network::flow::Preset;
use titr_network::topology::Zones;
use toml::Spanned;

use crate::host_speed::impossible_part;
use crate::simgrid::BesideTables;
use crate::topology::TopologyTable;
use crate::{HostSpeed, Mpi, Platform, SharedSpeed, Spread, one_line, simgrid};
use mpi::MpiTable;
use network::NetworkTable;
use node::NodeTable;
use placement::PlacementTable;
use spread::SpreadTable;
use storage::StorageTable;
use value::OneOrMany;

/// The only edition of the schema.
const SCHEMA: u32 = 1;

/// Mistakes, the keys or choices that they are about, and what to do instead.
const ADVICE: [(&str, &[&str], &str); 5] = [
    ("missing key", &["schema"], "write schema = 1 in the first line"),
    (
        "unknown choice",
        &["ugal", "ugal-g", "valiant", "par", "adaptive"],
        "packets are routed so: --set network.model=packet --set network.packet.routing=ugal; and flows: network.flow.routing",
    ),
    ("unknown key", &["collective_buffer"], "an aggregator accesses all of its part at once"),
    ("unknown key", &["partitioned"], "partitioned messages leave with their last part on every platform"),
    (
        "unknown key",
        &["issue", "lock", "lock_all", "posts", "active_target", "flush", "await_unlock", "fence"],
        "this is part of an implementation, and has no key of its own any more: choose one with `preset = \"mpich\"` or \
     `\"openmpi-rdma\"`",
    ),
];

/// `collectives = "mpich"` is `collectives.library = "mpich"`.
const SHORTHANDS: [Shorthand; 1] = [("collectives", "library")];

/// A whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    /// The edition of this schema that the file is written in: 1.
    pub schema: Spanned<u32>,
    pub hosts: HostsTable,
    /// Required, except for a platform of SimGrid's that describes its network itself.
    pub topology: Option<Spanned<TopologyTable>>,
    pub network: Spanned<NetworkTable>,
    /// Default: typical, unless `[network.loopback]` stands in its place.
    pub node: Option<NodeTable>,
    #[serde(default)]
    pub mpi: MpiTable,
    /// Default: a disk at every host, which the result then says.
    pub storage: Option<StorageTable>,
    #[serde(default)]
    pub placement: PlacementTable,
    #[serde(default)]
    pub spread: SpreadTable,
}

/// `[hosts]`
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HostsTable {
    /// Number of hosts; required for a star. Default: hosts of the topology.
    pub count: Option<Spanned<u32>>,
    /// Cores of each host, and so the largest number of ranks on it. Default: 1.
    pub cores: Option<Spanned<u32>>,
    /// Speed of a core: one value for all hosts, or a list with one for each host. `"1 x recorded"` is the speed of the
    /// core that the rank was recorded on. Required.
    pub speed: Spanned<OneOrMany<HostSpeed>>,
    /// Parts of the speed that remain where ranks share a host's memory and caches, as steps `[[ranks, part], …]`. With
    /// `[[2, 0.97], [8, 0.8]]`, two to seven ranks on a host compute at 0.97 of the speed, and more at 0.8. Default:
    /// none.
    pub sharing: Option<Spanned<SharedSpeed>>,
    /// Factors on the speed in [regions](TRACING.md#regions) of the program: `regions = { solve = 0.8 }`. Of nested
    /// regions, the innermost in this list applies. Default: none.
    #[serde(default)]
    pub regions: BTreeMap<String, Spanned<f64>>,
}

/// The platform that `text`, read from `path`, and the overrides describe, with the values of keys multiplied by factors.
pub(crate) fn platform(
    path: &Path,
    text: String,
    overrides: &[String],
    factors: &[(String, f64)],
) -> Checked<Platform> {
    let line = one_line::is_line(&text).then(|| text.clone());
    let (source, path) = source(path, text, overrides);
    let platform = platform_in(&Builder { source: &source, path }, factors);
    platform.map_err(|mistake| match line {
        Some(line) => one_line::with_example(mistake, &line),
        None => mistake,
    })
}

/// The text with its overrides, and the file from which other files are found.
fn source<'a>(path: &'a Path, text: String, overrides: &[String]) -> (Source, &'a Path) {
    let overrides = overrides.iter().map(|setting| override_as_toml(setting));
    if one_line::is_line(&text) && path == Path::new(&text) {
        return (Source::new(one_line::NAME, text, overrides), Path::new(""));
    }
    (Source::new(&path.display().to_string(), text, overrides), path)
}

fn platform_in(builder: &Builder, factors: &[(String, f64)]) -> Checked<Platform> {
    let (mut tables, BesideTables { network, parts_of_speed, profiles, warnings }) = builder.tables()?;
    builder.scale(&mut tables, factors)?;
    let written = spread::written_values(&tables);
    let mut file = builder.read(tables)?;
    let spread = std::mem::take(&mut file.spread);
    let mut platform = builder.platform(file, network)?;
    platform.spread = builder.spread(spread, written.as_ref())?;
    platform.parts_of_speed = parts_of_speed.into_iter().map(|(host, part)| (host, Arc::new(part))).collect();
    platform.profiles = profiles;
    platform.warnings.splice(..0, warnings);
    Ok(platform)
}

/// The tables of `text`, read from `path`, with the overrides on top, and the values of keys multiplied by factors. They are known
/// to be those of a platform.
pub(crate) fn tables(path: &Path, text: String, overrides: &[String], factors: &[(String, f64)]) -> Checked<Located> {
    let (source, path) = source(path, text, overrides);
    let builder = Builder { source: &source, path };
    let (mut tables, _) = builder.tables()?;
    builder.scale(&mut tables, factors)?;
    Ok(tables)
}

/// Where a key is written, if it is.
fn place_of<T>(key: &Option<Spanned<T>>) -> Option<Place> {
    key.as_ref().map(Spanned::span)
}

/// Gives the tables of a file their meaning.
struct Builder<'a> {
    source: &'a Source,
    /// The file, from which other files are found.
    path: &'a Path,
}

impl Builder<'_> {
    fn wrong<T>(&self, written: &Spanned<T>, message: impl Into<String>) -> Mistake {
        self.source.wrong(written, message)
    }

    fn read(&self, tables: Located) -> Checked<File> {
        let read = tables.read::<File>().map_err(|error| {
            let mistake = error.shown_in(self.source);
            let is_of = |about: &str, key: &str| mistake.message().starts_with(&format!("{about} `{key}`"));
            match ADVICE.iter().find(|(about, keys, _)| keys.iter().any(|key| is_of(about, key))) {
                Some((_, _, instead)) => {
                    match mistake.help().filter(|_| mistake.message().starts_with("unknown choice")) {
                        Some(help) => {
                            let help = format!("{help}; {instead}");
                            mistake.with_help(help)
                        }
                        None => mistake.with_help(*instead),
                    }
                }
                None => mistake,
            }
        });
        let mut file = read?;
        let NetworkTable { loopback, flow, .. } = file.network.get_ref();
        let has_several_cores = file.hosts.cores.as_ref().is_some_and(|cores| *cores.get_ref() > 1);
        if has_several_cores && loopback.is_none() && flow.preset == Preset::Plain && file.topology.is_some() {
            file.node.get_or_insert_default();
        }
        Ok(file)
    }

    /// The tables of the file with the overrides on top, and what of it is in no table.
    fn tables(&self) -> Checked<(Located, BesideTables)> {
        let source = self.source;
        let (mut tables, beside) = if simgrid::is_xml(source.text()) {
            simgrid::read(source, self.path, &|tables| self.topology(&self.read(tables)?, None))?
        } else if one_line::is_line(source.text()) {
            (one_line::read(source)?, BesideTables::default())
        } else {
            (source.parse(&source.file)?, BesideTables::default())
        };
        for setting in &source.overrides {
            tables.overlay(source.parse(setting)?, &SHORTHANDS);
        }
        Ok((tables, beside))
    }

    fn platform(&self, file: File, network: Option<Zones>) -> Checked<Platform> {
        if *file.schema.get_ref() != SCHEMA {
            return Err(self.wrong(&file.schema, format!("this version of titr reads schema {SCHEMA} only")));
        }
        let cores = self.cores(file.hosts.cores.as_ref())?;
        let topology = self.topology(&file, network)?;
        let hosts = topology.hosts();
        let node = file.node.as_ref().map(|table| self.node(table, cores)).transpose()?;
        let messages_per_second = self.message_rate(&file.network.get_ref().card)?;
        let local = file.node.as_ref().zip(node.as_ref()).map(|(table, node)| table.overheads(node));
        let (model, mut warnings) = self.model(file.network, topology.as_ref())?;
        let rules = self.site_rules(&file.mpi.collectives)?;
        let unknown = rules.iter().flat_map(|rules| &rules.unknown);
        warnings
            .extend(unknown.map(|name| format!("{name} (mpi.collectives.rules) is unknown: MPICH's own rules choose")));
        let policy = self.policy(&file.placement, topology.as_ref())?;
        Ok(Platform {
            topology: topology.into(),
            speeds: self.speeds(&file.hosts.speed, hosts)?,
            parts_of_speed: BTreeMap::new(),
            profiles: Vec::new(),
            region_speeds: self.region_speeds(file.hosts.regions)?,
            sharing: self.sharing(file.hosts.sharing)?,
            cores,
            node,
            messages_per_second,
            policy,
            model,
            mpi: Mpi { local: local.clone(), ..self.mpi(&file.mpi, Library::default(), rules)? },
            mpi_of_open_mpi: self.mpi_of_open_mpi(&file.mpi).map(|mpi| Arc::new(Mpi { local, ..mpi })),
            storage: self.storage(file.storage, hosts)?,
            spread: Spread::default(),
            warnings,
        })
    }

    fn speeds(&self, written: &Spanned<OneOrMany<HostSpeed>>, hosts: u32) -> Checked<Vec<HostSpeed>> {
        match written.get_ref() {
            OneOrMany::One(speed) => Ok(vec![*speed; hosts as usize]),
            OneOrMany::Many(speeds) if speeds.len() == hosts as usize => Ok(speeds.clone()),
            OneOrMany::Many(speeds) => {
                let mistake = self.wrong(written, format!("{} speeds for {hosts} hosts", speeds.len()));
                Err(mistake.with_help("give one speed for all, or one for each"))
            }
        }
    }

    fn region_speeds(&self, written: BTreeMap<String, Spanned<f64>>) -> Checked<BTreeMap<String, f64>> {
        let part = |(region, part): (String, Spanned<f64>)| match impossible_part(*part.get_ref()) {
            None => Ok((region, *part.get_ref())),
            Some(mistake) => Err(self.wrong(&part, mistake).with_help("give a part of hosts.speed, such as 0.8")),
        };
        written.into_iter().map(part).collect()
    }

    fn sharing(&self, written: Option<Spanned<SharedSpeed>>) -> Checked<SharedSpeed> {
        let Some(written) = written else { return Ok(SharedSpeed::default()) };
        match written.get_ref().mistake() {
            None => Ok(written.into_inner()),
            Some(mistake) => {
                let help = "give steps of ranks on a host and the part of hosts.speed, such as [[2, 0.97], [8, 0.8]]";
                Err(self.wrong(&written, mistake).with_help(help))
            }
        }
    }

    fn cores(&self, written: Option<&Spanned<u32>>) -> Checked<u32> {
        match written.map(|cores| (cores, *cores.get_ref())) {
            None => Ok(1),
            Some((cores, 0)) => Err(self.wrong(cores, "a host has at least one core")),
            Some((_, cores)) => Ok(cores),
        }
    }
}
