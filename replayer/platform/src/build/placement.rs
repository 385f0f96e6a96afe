//! The meaning of `[placement]`.

use std::path::Path;

use titr_common::input::{self, WRITTEN_BY_HAND};
use titr_document::Checked;
use titr_network::topology::HostId;
use toml::Spanned;

use super::Builder;
use crate::placement::Policy;
use crate::schema::{PlacementTable, PolicyName};

impl Builder<'_> {
    /// The placement policy for `hosts` hosts.
    pub(super) fn policy(&self, table: &PlacementTable, hosts: u32) -> Checked<Policy> {
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
        let text = input::read_text(&file, WRITTEN_BY_HAND)
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
