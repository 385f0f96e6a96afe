//! Open MPI's files of dynamic rules (`coll_tuned_dynamic_file.c`), and its numbers of collectives and algorithms.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use super::{Condition, Rule, SiteRules, SiteRulesError};
use crate::collectives::algorithms::{Algorithm, Choice};
use crate::collectives::call::CallMode;
use crate::collectives::library::Library;
use crate::event::CollectiveKind;
use crate::units::Bytes;

/// The collectives by number (`COLLTYPE_T`); `None`: neighbourhood collectives, which have no rules.
const COLLECTIVES: [CollectiveKind; 17] = {
    use CollectiveKind as Kind;
    [
        Kind::Allgather,
        Kind::Allgatherv,
        Kind::Allreduce,
        Kind::Alltoall,
        Kind::Alltoallv,
        Kind::Alltoallw,
        Kind::Barrier,
        Kind::Bcast,
        Kind::Exscan,
        Kind::Gather,
        Kind::Gatherv,
        Kind::Reduce,
        Kind::ReduceScatter,
        Kind::ReduceScatterBlock,
        Kind::Scan,
        Kind::Scatter,
        Kind::Scatterv,
    ]
};

/// The algorithms by number, from 1 (`ompi_info --param coll tuned`). Others have no rules.
fn algorithms(collective: CollectiveKind) -> &'static [&'static str] {
    match collective {
        CollectiveKind::Allgather => &["linear", "bruck", "recursive_doubling", "ring", "neighbor", "two_proc"],
        CollectiveKind::Allgatherv => &["linear", "bruck", "ring", "neighbor", "two_proc"],
        CollectiveKind::Allreduce => {
            &["linear", "nonoverlapping", "recursive_doubling", "ring", "segmented_ring", "rabenseifner"]
        }
        CollectiveKind::Alltoall => &["linear", "pairwise", "modified_bruck", "linear_sync", "two_proc"],
        CollectiveKind::Alltoallv => &["linear", "pairwise"],
        CollectiveKind::Barrier => &["linear", "double_ring", "recursive_doubling", "bruck", "two_proc", "tree"],
        CollectiveKind::Bcast => &[
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
        CollectiveKind::Reduce => {
            &["linear", "chain", "pipeline", "binary", "binomial", "in_order_binary", "rabenseifner"]
        }
        CollectiveKind::ReduceScatter => &["non_overlapping", "recursive_halving", "ring", "butterfly"],
        CollectiveKind::ReduceScatterBlock => &["basic_linear", "recursive_doubling", "recursive_halving", "butterfly"],
        CollectiveKind::Gather => &["linear", "binomial", "linear_sync"],
        CollectiveKind::Scatter => &["linear", "binomial", "linear_nb"],
        CollectiveKind::Scan | CollectiveKind::Exscan => &["linear", "recursive_doubling"],
        CollectiveKind::Gatherv | CollectiveKind::Scatterv | CollectiveKind::Alltoallw => &[],
    }
}

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
                let named = collective.map(|kind| (kind, named(kind, algorithm)));
                let choice = match named {
                    _ if algorithm == 0 => None,
                    Some((kind, None)) if !algorithms(kind).is_empty() => {
                        let message = format!("Open MPI's {} has no algorithm {algorithm}", kind.name());
                        return Err(numbers.wrong(message));
                    }
                    named => named.and_then(|(_, algorithm)| {
                        Some(Choice { algorithm: algorithm?, segment, fanout: fanout.max(1) })
                    }),
                };
                by_bytes.push((from, choice));
            }
            by_members.push((members, by_bytes));
        }
        let Some(kind) = collective else { continue };
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

fn named(collective: CollectiveKind, number: usize) -> Option<Algorithm> {
    let name = algorithms(collective).get(number.checked_sub(1)?)?;
    Library::OpenMpi.algorithm_named(CallMode::Blocking, collective, name)
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
