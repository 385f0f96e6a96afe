//! Open MPI's files of dynamic rules (`coll_tuned_dynamic_file.c`), and its numbers of collectives and algorithms.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::{Condition, Rule, SiteRules, SiteRulesError};
use crate::collectives::algorithms::Choice;
use crate::collectives::call::CallMode;
use crate::collectives::library::Library;
use crate::event::CollectiveKind;
use crate::units::Bytes;

/// The collectives by number (`COLLTYPE_T`, where neighbourhood collectives follow, which have no rules), and the algorithms
/// of each by number, from 1 (`ompi_info --param coll tuned`). Others have no rules.
const COLLECTIVES: [(CollectiveKind, &[&str]); 17] = {
    use CollectiveKind as Kind;
    [
        (Kind::Allgather, &["linear", "bruck", "recursive_doubling", "ring", "neighbor", "two_proc"]),
        (Kind::Allgatherv, &["linear", "bruck", "ring", "neighbor", "two_proc"]),
        (
            Kind::Allreduce,
            &["linear", "nonoverlapping", "recursive_doubling", "ring", "segmented_ring", "rabenseifner"],
        ),
        (Kind::Alltoall, &["linear", "pairwise", "modified_bruck", "linear_sync", "two_proc"]),
        (Kind::Alltoallv, &["linear", "pairwise"]),
        (Kind::Alltoallw, &[]),
        (Kind::Barrier, &["linear", "double_ring", "recursive_doubling", "bruck", "two_proc", "tree"]),
        (
            Kind::Bcast,
            &[
                "linear",
                "chain",
                "pipeline",
                "split_binary_tree",
                "binary_tree",
                "binomial",
                "knomial",
                "scatter_allgather",
                "scatter_allgather_ring",
            ],
        ),
        (Kind::Exscan, &["linear", "recursive_doubling"]),
        (Kind::Gather, &["linear", "binomial", "linear_sync"]),
        (Kind::Gatherv, &[]),
        (Kind::Reduce, &["linear", "chain", "pipeline", "binary", "binomial", "in_order_binary", "rabenseifner"]),
        (Kind::ReduceScatter, &["non_overlapping", "recursive_halving", "ring", "butterfly"]),
        (Kind::ReduceScatterBlock, &["basic_linear", "recursive_doubling", "recursive_halving", "butterfly"]),
        (Kind::Scan, &["linear", "recursive_doubling"]),
        (Kind::Scatter, &["linear", "binomial", "linear_nb"]),
        (Kind::Scatterv, &[]),
    ]
};

/// The numbers of a file, each with its line. `#` begins a comment.
struct RuleNumbers<'a> {
    words: Box<dyn Iterator<Item = (usize, &'a str)> + 'a>,
    line: usize,
}

impl<'a> RuleNumbers<'a> {
    fn new(text: &'a str) -> Self {
        let words = |(line, text): (usize, &'a str)| {
            text.split('#').next().unwrap_or_default().split_whitespace().map(move |word| (line, word))
        };
        Self { words: Box::new((1..).zip(text.lines()).flat_map(words)), line: 1 }
    }

    fn wrong(&self, message: String) -> SiteRulesError {
        SiteRulesError { line: self.line, message }
    }

    fn next<N: std::str::FromStr>(&mut self, what: &str) -> Result<N, SiteRulesError> {
        let (line, word) = self.words.next().ok_or_else(|| self.wrong(format!("{what} is missing")))?;
        self.line = line;
        word.parse().map_err(|_| self.wrong(format!("`{word}` is no number: {what} is expected")))
    }
}

/// Each entry with the range from its key to the next one's.
fn ranges<T>(entries: Vec<(u64, T)>) -> impl Iterator<Item = (RangeInclusive<u64>, T)> {
    let ends: Vec<u64> = entries.iter().skip(1).map(|(from, _)| from.saturating_sub(1)).chain([u64::MAX]).collect();
    entries.into_iter().zip(ends).map(|((from, entry), end)| (from..=end, entry))
}

pub(super) fn parse(text: &str) -> Result<SiteRules, SiteRulesError> {
    // The second edition has one more number in each rule, the most requests at a time.
    let second = text.trim_start().strip_prefix("rule-file-version-2");
    let mut numbers = RuleNumbers::new(second.unwrap_or(text));
    let mut rules = Vec::new();
    for _ in 0..numbers.next::<u32>("the number of collectives")? {
        let number: usize = numbers.next("the number of a collective")?;
        let collective = COLLECTIVES.get(number).copied();
        let mut by_members = Vec::new();
        for _ in 0..numbers.next::<u32>("the number of sizes of communicators")? {
            let members = numbers.next("the size of a communicator")?;
            let mut by_bytes = Vec::new();
            for _ in 0..numbers.next::<u32>("the number of sizes of messages")? {
                let from = numbers.next("the size of a message")?;
                let algorithm: usize = numbers.next("the number of an algorithm")?;
                let fanout: u32 = numbers.next("the fan-out")?;
                let segment = Bytes(numbers.next("the length of segments")?);
                if second.is_some() {
                    numbers.next::<u64>("the most requests")?;
                }
                let choice = match collective.zip(algorithm.checked_sub(1)) {
                    Some(((kind, names), index)) if !names.is_empty() => {
                        let name = names.get(index);
                        let named =
                            name.and_then(|name| Library::OpenMpi.algorithm_named(CallMode::Blocking, kind, name));
                        let unknown =
                            || numbers.wrong(format!("Open MPI's {} has no algorithm {algorithm}", kind.name()));
                        Some(Choice { algorithm: named.ok_or_else(unknown)?, segment, fanout: fanout.max(1) })
                    }
                    _ => None,
                };
                by_bytes.push((from, choice));
            }
            by_members.push((members, by_bytes));
        }
        let Some((kind, _)) = collective else { continue };
        for (members, by_bytes) in ranges(by_members) {
            for (bytes, choice) in ranges(by_bytes) {
                let conditions = vec![Condition::Members(members.clone()), size(kind, bytes)];
                rules.push((kind, CallMode::Blocking, Rule { conditions, choice }));
            }
        }
    }
    match numbers.words.next() {
        Some((line, _)) => Err(SiteRulesError { line, message: "the file goes on after its last rule".to_owned() }),
        None => Ok(SiteRules { library: Library::OpenMpi, rules, unknown: BTreeSet::new() }),
    }
}

/// What Open MPI compares with the size of a message in a rule (`ompi_coll_tuned_*_intra_dec_dynamic`).
fn size(collective: CollectiveKind, range: RangeInclusive<u64>) -> Condition {
    match collective {
        CollectiveKind::Alltoall
        | CollectiveKind::Allgather
        | CollectiveKind::Gather
        | CollectiveKind::Scatter
        | CollectiveKind::ReduceScatter
        | CollectiveKind::ReduceScatterBlock => Condition::Total(range),
        _ => Condition::Bytes(range),
    }
}
