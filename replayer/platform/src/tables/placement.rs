//! `[placement]`: the host of each rank.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::path::Path;

use serde::Deserialize;
use titr_common::input;
use titr_common::input::WRITTEN_BY_HAND;
use titr_document::Checked;
use titr_network::topology::{HostId, Topology};
use toml::Spanned;

use super::Builder;
use crate::placement::Policy;

/// `[placement]`
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PlacementTable {
    /// The host of each rank. `"block"`: fills the cores of one host before the next. `"round-robin"`: one rank on each
    /// host, and then again from the first. `"random"`: each rank gets a random free core. `"file"`: as a file says.
    /// Default: `"block"`.
    pub policy: Option<Spanned<PolicyName>>,
    /// Seed of `"random"`. Default: 0.
    pub seed: u64,
    /// The file for `"file"`, relative to the platform file: a line for each rank, with the number of its host (from 0)
    /// or its name, and perhaps its core: `node-3 slot=5`; or a hostfile, in which `node-3 slots=4` and `node-3:4` are
    /// four ranks on a host. Required for `"file"`.
    pub file: Option<Spanned<String>>,
}

/// `[placement] policy`
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PolicyName {
    /// Ranks fill a host before the next host is used.
    Block,
    /// Each host gets one rank, then each a second one, and so on.
    RoundRobin,
    /// Each rank gets a core that is drawn uniformly from the free ones.
    Random,
    /// The key `file` names a list of hosts.
    File,
}

impl Builder<'_> {
    /// The placement policy for the hosts of a topology.
    pub(super) fn policy(&self, table: &PlacementTable, topology: &dyn Topology) -> Checked<Policy> {
        let Some(policy) = &table.policy else {
            return Ok(Policy::Block);
        };
        Ok(match (policy.get_ref(), &table.file) {
            (PolicyName::Block, _) => Policy::Block,
            (PolicyName::RoundRobin, _) => Policy::RoundRobin,
            (PolicyName::Random, _) => Policy::Random { seed: table.seed },
            (PolicyName::File, Some(file)) => self.listed(file, topology)?,
            (PolicyName::File, None) => {
                let mistake = self.wrong(policy, "placement by a file needs the file");
                return Err(mistake.with_help("write file = \"…\" under [placement]"));
            }
        })
    }

    /// Reads a placement file: a host a line, or, in a hostfile of MPI, a host with the number of its ranks; `#` starts a
    /// comment.
    fn listed(&self, written: &Spanned<String>, topology: &dyn Topology) -> Checked<Policy> {
        let file = self.path.parent().unwrap_or(Path::new("")).join(written.get_ref());
        let text = input::read_text(&file, WRITTEN_BY_HAND)
            .map_err(|error| self.wrong(written, format!("cannot read {}: {error}", file.display())))?;
        let all = || (0..topology.hosts()).map(HostId);
        let names = LazyCell::new(|| all().map(|host| (topology.host_name(host), host)).collect::<HashMap<_, _>>());
        let host = |text: &str| {
            let numbered = text.parse().ok().filter(|&number| number < topology.hosts()).map(HostId);
            match (numbered, names.get(text).copied()) {
                // A host that has the number of another for a name.
                (Some(numbered), Some(named)) if numbered != named => None,
                (numbered, named) => numbered.or(named),
            }
        };
        let (mut listed, mut cores) = (Vec::new(), Vec::new());
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let (line, core) = match line.split_once(" slot=").map(|(host, core)| (host, core.trim().parse::<u32>())) {
                Some((host, Ok(core))) => (host.trim_end(), Some(core)),
                _ => (line, None),
            };
            let slots = || with_slots(line).and_then(|(name, slots)| Some((host(name)?, slots)));
            let Some((host, slots)) = host(line).map(|host| (host, 1)).or_else(slots) else {
                let what = match names.get(line) {
                    Some(_) => "is the name of one host and the number of another",
                    None => "is not a host",
                };
                let mistake = self.wrong(written, format!("{}:{number}: `{line}` {what}", file.display()));
                let word = line.split([':', ' ', '\t']).next().unwrap_or_default();
                let near = names.keys().min_by_key(|name| (strsim::levenshtein(word, name), name.as_str()));
                return Err(mistake.with_help(format!(
                    "a host is a number from 0 to {} or a name, such as `{}`; `HOST:4` and `HOST slots=4` place 4 ranks on it, `HOST slot=4` one on its core 4",
                    topology.hosts() - 1,
                    near.map_or("", String::as_str)
                )));
            };
            listed.extend(std::iter::repeat_n(host, slots.into()));
            cores.extend(core);
            if !cores.is_empty() && cores.len() < listed.len() {
                let message = format!("{}:{number}: some ranks have a slot, and others have none", file.display());
                return Err(self.wrong(written, message).with_help("write `slot=` in each line, or in none"));
            }
        }
        Ok(Policy::Explicit { hosts: listed, cores, file })
    }
}

/// The host of a line of a hostfile, and the number of its ranks: `HOST:4` or `HOST slots=4`.
fn with_slots(line: &str) -> Option<(&str, u16)> {
    let (host, slots) = match line.split_once(char::is_whitespace) {
        Some((host, rest)) => (host, rest.trim_start().strip_prefix("slots=")?.split_whitespace().next()?),
        None => line.rsplit_once(':')?,
    };
    Some((host, slots.parse().ok()?))
}
