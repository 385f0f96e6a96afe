//! MPICH's trees of conditions in JSON (`csel.c`; `maint/tuning/coll/mpir/generic.json` is the one that it is built with).

use std::collections::BTreeSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use super::{Condition, Rule, SiteRules, SiteRulesError};
use crate::collectives::algorithms::Choice;
use crate::collectives::call::CallMode;
use crate::collectives::library::{Library, collective_named};
use crate::event::CollectiveKind;

/// Conditions and what is decided where they hold, in the order of the file.
struct Branches(Vec<(String, Branches)>);

impl<'de> Deserialize<'de> for Branches {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Branches;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("branches of MPICH's rules")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Branches, A::Error> {
                let mut branches = Vec::new();
                while let Some(branch) = entries.next_entry()? {
                    branches.push(branch);
                }
                Ok(Branches(branches))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

pub(super) fn parse(text: &str) -> Result<SiteRules, SiteRulesError> {
    let Branches(collectives) = serde_json::from_str(text).map_err(|error| {
        let (message, line) = (error.to_string(), error.line());
        let place = format!(" at line {line} column {}", error.column());
        SiteRulesError { line, message: message.replace(&place, "") }
    })?;
    let mut reader = Reader { text, rules: Vec::new(), unknown: BTreeSet::new() };
    for (key, branches) in &collectives {
        let Some(name) = spelled(key).strip_prefix("collective=").map(str::to_owned) else {
            return Err(reader.wrong(key, "where `collective=NAME` is expected"));
        };
        match collective_named(&name) {
            Some((kind, mode)) => reader.read(kind, mode, branches, &[])?,
            None if name.contains("neighbor") => {}
            None => {
                return Err(SiteRulesError {
                    message: format!("there is no collective `{name}`"),
                    ..reader.wrong(key, "")
                });
            }
        }
    }
    Ok(SiteRules { library: Library::Mpich, rules: reader.rules, unknown: reader.unknown })
}

/// As MPICH compares keys: without spaces.
fn spelled(key: &str) -> String {
    key.chars().filter(|letter| !letter.is_whitespace()).collect()
}

struct Reader<'a> {
    text: &'a str,
    rules: Vec<(CollectiveKind, CallMode, Rule)>,
    unknown: BTreeSet<String>,
}

impl Reader<'_> {
    fn wrong(&self, key: &str, what: &str) -> SiteRulesError {
        let before = self.text.find(&format!("\"{key}\"")).unwrap_or(0);
        let line = 1 + self.text[..before].matches('\n').count();
        SiteRulesError { line, message: format!("`{key}` {what}") }
    }

    fn read(
        &mut self,
        kind: CollectiveKind,
        mode: CallMode,
        branches: &Branches,
        conditions: &[Condition],
    ) -> Result<(), SiteRulesError> {
        for (key, inner) in &branches.0 {
            let key_without_spaces = spelled(key);
            // Compositions are for the device's own file.
            let name =
                key_without_spaces.strip_prefix("algorithm=").or(key_without_spaces.strip_prefix("composition="));
            if let Some(name) = name {
                let choice = named(kind, mode, name);
                if choice.is_none() {
                    self.unknown.insert(name.to_owned());
                }
                self.rules.push((kind, mode, Rule { conditions: conditions.to_vec(), choice }));
                return Ok(());
            }
            let condition =
                condition(&key_without_spaces).ok_or_else(|| self.wrong(key, "is no condition of MPICH's"))?;
            // Algorithms between two groups are others.
            if condition != Some(Condition::Never) {
                self.read(kind, mode, inner, &[conditions, condition.as_slice()].concat())?;
            }
        }
        Ok(())
    }
}

/// The algorithm that MPICH calls so, such as `MPIR_Bcast_intra_binomial` or `MPIR_Ibcast_intra_sched_smp`.
fn named(kind: CollectiveKind, mode: CallMode, name: &str) -> Option<Choice> {
    let (_, name) = name.split_once("_intra_").or_else(|| name.split_once("_allcomm_"))?;
    let name = name.strip_prefix("sched_").unwrap_or(name);
    Library::Mpich.algorithm_named(mode, kind, name).map(Choice::new)
}

/// The condition of a key; within, `None` if it always holds.
fn condition(key: &str) -> Option<Option<Condition>> {
    let at_most = |text: &str| text.strip_prefix("<=").and_then(|most| most.parse().ok()).map(|most: u64| 0..=most);
    let below =
        |text: &str| text.strip_prefix('<').and_then(|end| end.parse().ok()).map(|end: u64| 0..=end.saturating_sub(1));
    let sized = |name: &str, condition: fn(_) -> Condition| {
        let bound = key.strip_prefix(name)?;
        if bound == "<0" { Some(Condition::Never) } else { at_most(bound).or_else(|| below(bound)).map(condition) }
    };
    if key == "any" || key.ends_with("=any") {
        return Some(None);
    }
    let yes_or_no = |name: &str| match key.strip_prefix(name)? {
        "=yes" => Some(true),
        "=no" => Some(false),
        _ => None,
    };
    let known = match key {
        "comm_type=intra" | "is_sendbuf_inplace=no" | "is_multi_threaded=no" | "is_node_consecutive=yes" => {
            return Some(None);
        }
        "comm_type=inter" | "is_sendbuf_inplace=yes" | "is_multi_threaded=yes" | "is_node_consecutive=no" => {
            Condition::Never
        }
        "comm_size=pow2" => Condition::PowerOfTwo,
        // A communicator of one node.
        "comm_size=node_comm_size" | "comm_hierarchy=node" | "comm_hierarchy=node_roots" => Condition::Never,
        "comm_hierarchy=parent" => Condition::SharesNodes(true),
        "comm_hierarchy=flat" => Condition::SharesNodes(false),
        "count<pow2" => Condition::FewElements,
        _ => yes_or_no("is_commutative")
            // Predefined operations are, and others are taken not to be.
            .or_else(|| yes_or_no("is_op_built_in"))
            .map(Condition::Commutative)
            .or_else(|| yes_or_no("is_block_regular").map(Condition::Regular))
            .or_else(|| sized("comm_size", Condition::Members))
            .or_else(|| sized("avg_msg_size", Condition::Bytes))
            .or_else(|| sized("total_msg_size", Condition::Total))
            .or_else(|| sized("count", Condition::Elements))
            .or_else(|| key.starts_with("comm_avg_ppn<").then_some(Condition::Never))?,
    };
    Some(Some(known))
}
