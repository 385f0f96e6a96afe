//! Changes as values, for programs that construct hypotheses instead of reading a file.

use serde::Serialize;
use titr_common::units::Bytes;

use crate::computation::Scope;
use crate::kind::Network;

/// A change, as a table `[[change]]` of a file of hypotheses has it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Change {
    /// All ranks compute the same.
    BalanceCompute {
        /// The region whose computation is balanced.
        #[serde(skip_serializing_if = "Option::is_none")]
        region: Option<String>,
        /// The call site whose computation is balanced.
        #[serde(skip_serializing_if = "Option::is_none")]
        call_site: Option<String>,
        /// The amounts that become equal.
        over: Scope,
    },
    /// Computation takes more or less time.
    ScaleCompute {
        /// The region that computes.
        #[serde(skip_serializing_if = "Option::is_none")]
        region: Option<String>,
        /// The call site that computes.
        #[serde(skip_serializing_if = "Option::is_none")]
        call_site: Option<String>,
        /// The factor.
        factor: f64,
    },
    /// Computation takes no time.
    InfiniteCpu,
    /// Messages without content between two ranks, or barriers, are not sent.
    RemoveMessages {
        /// The most bytes that a removed message has.
        #[serde(skip_serializing_if = "Option::is_none")]
        max_bytes: Option<Bytes>,
        /// The collective whose calls are left out: `barrier`.
        #[serde(skip_serializing_if = "Option::is_none")]
        collective: Option<String>,
    },
    /// Messages have more or fewer bytes.
    ScaleMessages {
        /// The factor.
        factor: f64,
        /// The collective whose calls change; `None`: messages between two ranks do.
        #[serde(skip_serializing_if = "Option::is_none")]
        collective: Option<String>,
    },
    /// Sends and receives do not block.
    Nonblocking,
    /// A collective has another algorithm.
    Collective {
        /// The name of the collective.
        collective: String,
        /// The name of the algorithm.
        algorithm: String,
    },
    /// The network is ideal.
    IdealNetwork {
        /// The kind of ideal network.
        messages: Network,
    },
}

#[derive(Serialize)]
struct File<'c> {
    change: &'c [Change],
}

impl Change {
    /// The text of a file of hypotheses with these changes.
    ///
    /// # Errors
    /// If a number is too large for TOML.
    pub fn file(changes: &[Self]) -> Result<String, toml::ser::Error> {
        toml::to_string(&File { change: changes })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::hypotheses::Hypotheses;

    /// Every kind, with every key, is read as it was written.
    #[test]
    fn a_change_is_what_a_file_says() {
        let changes = [
            Change::BalanceCompute { region: Some("a \"b\"\n".into()), call_site: None, over: Scope::Instances },
            Change::BalanceCompute { region: None, call_site: Some("f (a.c:1)".into()), over: Scope::Totals },
            Change::ScaleCompute { region: None, call_site: Some("f (a.c:1)".into()), factor: 0.5 },
            Change::InfiniteCpu,
            Change::RemoveMessages { max_bytes: Some(Bytes(0)), collective: None },
            Change::RemoveMessages { max_bytes: None, collective: Some("barrier".into()) },
            Change::ScaleMessages { factor: 0.5, collective: None },
            Change::ScaleMessages { factor: 0.5, collective: Some("alltoall".into()) },
            Change::Nonblocking,
            Change::Collective { collective: "allreduce".into(), algorithm: "ring".into() },
            Change::IdealNetwork { messages: Network::Uncontended },
        ];
        for change in &changes {
            let text = Change::file(std::slice::from_ref(change)).unwrap();
            assert!(Hypotheses::parse(Path::new("changes"), text.clone()).is_ok(), "{text}");
        }
        let text = Change::file(&[changes[1].clone(), changes[3].clone(), changes[4].clone()]).unwrap();
        let expected = "[[change]]\nkind = \"balance-compute\"\ncall_site = \"f (a.c:1)\"\nover = \"totals\"\n\n\
                        [[change]]\nkind = \"infinite-cpu\"\n\n[[change]]\nkind = \"remove-messages\"\nmax_bytes = 0\n";
        assert_eq!(text, expected);
    }
}
