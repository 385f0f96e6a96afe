//! What a platform file means: defaults, and what keys must agree on.

mod network;
mod packet;

use std::path::Path;

use titr_common::collectives::Selection;
use titr_common::units::{Bytes, Speed};
use titr_network::topology::HostId;
use toml::Spanned;

use crate::Platform;
use crate::document::{self, override_as_toml};
use crate::mpi::Mpi;
use crate::placement::Policy;
use crate::schema::{CollectivesTable, File, MpiTable, OneOrMany, PlacementTable, PolicyName};
use crate::simgrid;
use crate::source::{Checked, Source};

/// The only edition of the schema.
const SCHEMA: u32 = 1;

/// SimGrid's smpi/send-is-detached-thresh.
const EAGER_THRESHOLD: Bytes = Bytes(65536);

/// The platform that `text`, read from `path`, and the overrides describe.
pub fn platform(path: &Path, text: String, overrides: &[String]) -> Checked<Platform> {
    let overrides = overrides.iter().map(|setting| override_as_toml(setting));
    let source = Source::new(&path.display().to_string(), text, overrides);
    let (file, warnings) = file(&source)?;
    let mut platform = Builder { source: &source, path }.platform(file)?;
    platform.warnings.splice(..0, warnings);
    Ok(platform)
}

/// The file with the overrides on top, and what should be known about how it was read.
fn file(source: &Source) -> Checked<(File, Vec<String>)> {
    let parsed = |part| document::parse(part).map_err(|wrong| wrong.shown_in(source));
    let mut parts = source.parts().iter();
    let (mut document, warnings) = match parts.next() {
        Some(file) if !simgrid::is_xml(source.text()) => (parsed(file)?, Vec::new()),
        _ => simgrid::read(source)?,
    };
    for setting in parts {
        document.overlay(parsed(setting)?);
    }
    let file = document.read().map_err(|wrong| wrong.shown_in(source))?;
    Ok((file, warnings))
}

/// Gives the tables of a file their meaning.
struct Builder<'a> {
    source: &'a Source,
    /// The file, from which other files are found.
    path: &'a Path,
}

impl Builder<'_> {
    fn wrong<T>(&self, written: &Spanned<T>, message: impl Into<String>) -> Box<crate::Mistake> {
        self.source.wrong(written, message)
    }

    fn platform(&self, file: File) -> Checked<Platform> {
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

    fn speeds(&self, written: &Spanned<OneOrMany<Speed>>, hosts: u32) -> Checked<Vec<Speed>> {
        match written.get_ref() {
            OneOrMany::One(speed) => Ok(vec![*speed; hosts as usize]),
            OneOrMany::Many(speeds) if speeds.len() == hosts as usize => Ok(speeds.clone()),
            OneOrMany::Many(speeds) => {
                let mistake = self.wrong(written, format!("{} speeds for {hosts} hosts", speeds.len()));
                Err(mistake.with_help("give one speed for all, or one for each"))
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

    fn mpi(&self, table: MpiTable) -> Checked<Mpi> {
        Ok(Mpi {
            eager_threshold: table.eager_threshold.map_or(EAGER_THRESHOLD, |size| size.0),
            eager_transfer: table.eager_transfer,
            send_overhead: table.send_overhead,
            isend_overhead: table.isend_overhead,
            recv_overhead: table.recv_overhead,
            collectives: self.collectives(&table.collectives)?,
        })
    }

    fn collectives(&self, table: &CollectivesTable) -> Checked<Selection> {
        let mut selection = Selection::from(table.library);
        for (collective, algorithm) in &table.algorithms {
            let forced = selection.force(collective, algorithm.get_ref());
            forced.map_err(|unknown| self.wrong(algorithm, unknown.to_string()))?;
        }
        Ok(selection)
    }

    fn policy(&self, table: &PlacementTable, hosts: u32) -> Checked<Policy> {
        let Some(policy) = &table.policy else {
            return Ok(Policy::Block);
        };
        Ok(match (policy.get_ref(), &table.file) {
            (PolicyName::Block, _) => Policy::Block,
            (PolicyName::RoundRobin, _) => Policy::RoundRobin,
            (PolicyName::Random, _) => Policy::Random { seed: table.seed },
            (PolicyName::File, Some(file)) => self.listed(file, hosts)?,
            (PolicyName::File, None) => {
                let mistake = self.wrong(policy, "placement by a file needs the file");
                return Err(mistake.with_help("write file = \"…\" under [placement]"));
            }
        })
    }

    /// Reads a placement file: the number of a host a line; `#` starts a comment.
    fn listed(&self, written: &Spanned<String>, hosts: u32) -> Checked<Policy> {
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
