//! Rules for collectives that a site has written for its MPI library: which algorithm to take for which calls.

mod mpich;
mod open_mpi;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::algorithms::Choice;
use super::call::{Call, CallMode};
use super::library::Library;
use crate::event::CollectiveKind;

/// An algorithm for the calls that fulfil all conditions; `None`: the one of the library's own rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub conditions: Vec<Condition>,
    pub choice: Option<Choice>,
}

/// A condition on a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Members(RangeInclusive<u64>),
    /// Bytes of the data of a member, or for each member where that differs ([`Call::bytes`]).
    Bytes(RangeInclusive<u64>),
    /// These bytes times the number of members.
    Total(RangeInclusive<u64>),
    /// Elements of the data of a member.
    Elements(RangeInclusive<u64>),
    /// Fewer elements than the largest power of two of members.
    FewElements,
    PowerOfTwo,
    Commutative(bool),
    /// Whether all members get shares of one length.
    Regular(bool),
    /// Whether some of the members share a node.
    SharesNodes(bool),
    /// The library does not compose the call of others, on each node and among the nodes.
    IsNotComposedBy(Library),
    Never,
}

impl Rule {
    pub(crate) fn holds(&self, call: &Call) -> bool {
        self.conditions.iter().all(|condition| condition.holds(call))
    }
}

impl Condition {
    fn holds(&self, call: &Call) -> bool {
        let (bytes, members) = (call.bytes().0, u64::from(call.size));
        let elements = || call.data(call.bytes()).count();
        match self {
            Self::Members(range) => range.contains(&members),
            Self::Bytes(range) => range.contains(&bytes),
            Self::Total(range) => range.contains(&bytes.saturating_mul(members)),
            Self::Elements(range) => range.contains(&elements()),
            Self::FewElements => elements() < 1 << call.size.max(1).ilog2(),
            Self::PowerOfTwo => call.size.is_power_of_two(),
            Self::Commutative(is_so) => call.is_commutative == *is_so,
            Self::Regular(is_so) => call.is_regular() == *is_so,
            Self::SharesNodes(is_so) => call.nodes.is_some() == *is_so,
            Self::IsNotComposedBy(library) => call.nodes.is_none() || !library.choose(call).algorithm.knows_nodes(),
            Self::Never => false,
        }
    }
}

/// The rules of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SiteRules {
    /// The library that reads such files.
    pub library: Library,
    /// In order: the first that holds decides.
    pub(super) rules: Vec<(CollectiveKind, CallMode, Rule)>,
    /// What the file names and titr does not know. The library's own rules stand in place of it.
    pub unknown: BTreeSet<String>,
}

/// A mistake in such a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct SiteRulesError {
    line: usize,
    message: String,
}

impl SiteRules {
    /// Reads the text of a file of Open MPI's (`coll_tuned_dynamic_rules_filename`) or MPICH's
    /// (`MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE`).
    ///
    /// # Errors
    /// If it is neither.
    pub fn parse(text: &str) -> Result<Self, SiteRulesError> {
        if text.trim_start().starts_with('{') { mpich::parse(text) } else { open_mpi::parse(text) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collectives::Selection;
    use crate::event::Volumes;
    use crate::units::Bytes;

    /// The algorithm of a call for 8-byte elements.
    fn chosen(text: &str, kind: CollectiveKind, size: u32, bytes: u64) -> String {
        let site = SiteRules::parse(text).unwrap();
        let mut selection = Selection::from(site.library);
        selection.follow(site);
        let each = Volumes::Each(Bytes(bytes));
        let call = Call {
            me: 0,
            size,
            root: 0,
            kind,
            send: &each,
            recv: &each,
            element: Bytes(8),
            mode: CallMode::Blocking,
            is_commutative: true,
            nodes: None,
        };
        let choice = selection.choose(&call);
        format!("{} of {}", choice, selection.library.name())
    }

    #[test]
    fn open_mpi_takes_the_last_size_that_is_not_above_the_call() {
        use CollectiveKind::{Allreduce, Alltoall, Bcast};
        let text = "# of a site\n2 # collectives\n3 # alltoall\n1\n8\n2\n0 3 0 0\n\
                    65536 2 0 0\n7\n2\n4 1\n0 6 0 0\n16 2\n0 0 0 0\n 4096 3 0 1024\n";
        assert_eq!(chosen(text, Alltoall, 8, 8191), "modified_bruck of openmpi");
        assert_eq!(chosen(text, Alltoall, 8, 8192), "pairwise_shift of openmpi");
        assert_eq!(chosen(text, Bcast, 4, 1 << 20), "binomial_distance_doubling of openmpi");
        assert_eq!(chosen(text, Bcast, 16, 4096), "pipeline:1024 of openmpi");
        let own = |kind, size, bytes| chosen("0", kind, size, bytes);
        for (kind, size, bytes) in [(Bcast, 16, 4095), (Bcast, 3, 64), (Alltoall, 7, 64), (Allreduce, 8, 8)] {
            assert_eq!(chosen(text, kind, size, bytes), own(kind, size, bytes));
        }
    }

    #[test]
    fn mpich_takes_the_first_branch_that_holds() {
        use CollectiveKind::{Allreduce, Alltoall};
        let text = r#"{ "collective=allreduce": { "comm_type=inter": { "algorithm=MPIR_Allreduce_inter_x": {} },
            "comm_type=intra": { "comm_size=pow2": { "avg_msg_size <= 64": { "algorithm=MPIR_Allreduce_intra_ring": {} },
                "count<pow2": { "algorithm=MPIR_Allreduce_intra_recursive_doubling": {} },
                "count=any": { "algorithm=MPIR_Allreduce_intra_reduce_scatter_allgather": {} } },
              "any": { "algorithm=MPIR_Allreduce_intra_recursive_doubling": {} } } },
          "collective=alltoall": { "comm_type=intra": { "algorithm=MPIR_Alltoall_intra_k_brucks": {"k=4": {}} } } }"#;
        assert_eq!(chosen(text, Allreduce, 8, 64), "ring of mpich");
        assert_eq!(chosen(text, Allreduce, 16, 120), "recursive_doubling of mpich");
        assert_eq!(chosen(text, Allreduce, 16, 128), "reduce_scatter_allgather of mpich");
        assert_eq!(chosen(text, Allreduce, 9, 64), "recursive_doubling of mpich");
        assert_eq!(chosen(text, Alltoall, 9, 1 << 20), "pairwise_xor of mpich");
        let unknown = SiteRules::parse(text).unwrap().unknown;
        assert_eq!(Vec::from_iter(unknown), ["MPIR_Alltoall_intra_k_brucks"]);
    }

    #[test]
    fn mistakes_have_a_line() {
        for (text, message) in [
            ("", "line 1: the number of collectives is missing"),
            ("1\n7\n1\n4\n1\n0 6 0", "line 6: the length of segments is missing"),
            ("1\n7\n1\n4\n1\n0 26 0 0", "line 6: Open MPI's bcast has no algorithm 26"),
            ("1\nbcast", "line 2: `bcast` is no number: the number of a collective is expected"),
            ("0\n\nmore", "line 3: the file goes on after its last rule"),
            ("{\n \"collective=bcast\": 3 }", "line 2: invalid type: integer `3`, expected branches of MPICH's rules"),
            ("{\n \"collective=cast\": {} }", "line 2: there is no collective `cast`"),
            ("{\"collective=bcast\": {\n \"size<8\": {} } }", "line 2: `size<8` is no condition of MPICH's"),
        ] {
            assert_eq!(SiteRules::parse(text).unwrap_err().to_string(), message);
        }
    }
}
