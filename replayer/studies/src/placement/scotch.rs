//! Mapping by Scotch (Pellegrini and Roman, "Scotch: a software package for static mapping by dual recursive bipartitioning", HPCN
//! Europe 1996), whose program `scotch_gmap` is in the package `scotch` of Debian and Ubuntu.
//!
//! The graph has a vertex for each rank and an edge for each two ranks that exchange messages. The target is given as a
//! decomposition: hosts are the leaves of a binary tree that halves their sequence, with the distance of each two hosts.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use titr_network::topology::HostId;

use super::cost::{CommunicationCost, Exchange};
use super::mapping::free;
use crate::error::StudyError;

/// The program.
const GMAP: &str = "scotch_gmap";

/// The largest weight of an edge, and the largest distance.
const LARGEST: f64 = 1000.0;

/// The host of each rank, on the hosts of `block`, which are as many as the ranks need. Scotch balances ranks only roughly: a rank that
/// does not fit moves to a free core.
///
/// # Errors
/// If Scotch is not installed or fails.
pub(super) fn mapped(cost: &CommunicationCost, cores: &[HostId], block: &[HostId]) -> Result<Vec<HostId>, StudyError> {
    let used: Vec<HostId> = cores.iter().copied().filter(|host| block.contains(host)).collect();
    let hosts = free(&used, &[]);
    let run = || -> std::io::Result<std::process::Output> {
        let command = Command::new(GMAP).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = command?;
        if let Some(mut input) = child.stdin.take() {
            // A program that reads no further says why by itself.
            let _ = input.write_all((graph(cost) + &target(cost, &hosts)).as_bytes());
        }
        child.wait_with_output()
    };
    let output = run().map_err(|error| {
        StudyError::Scotch(format!("cannot run {GMAP}: {error}; install Scotch, or leave --mapper out"))
    })?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(StudyError::Scotch(format!("{GMAP} fails: {said}")));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let mapping = parsed(&text, cost.ranks() as usize, &hosts);
    let mapping = mapping.ok_or_else(|| StudyError::Scotch(format!("{GMAP} printed no mapping of all ranks")))?;
    Ok(fitted(cost, cores, &mapping))
}

/// The graph in Scotch's format, with weights of edges.
fn graph(cost: &CommunicationCost) -> String {
    let all = || (0..cost.ranks()).flat_map(|rank| cost.exchanges(rank));
    let most = all().map(Exchange::bytes_and_messages).fold(f64::MIN_POSITIVE, f64::max);
    let mut text = format!("0\n{} {}\n0 010\n", cost.ranks(), all().count());
    for rank in 0..cost.ranks() {
        let _ = write!(text, "{}", cost.exchanges(rank).len());
        for exchange in cost.exchanges(rank) {
            let _ = write!(text, " {} {}", weight(exchange.bytes_and_messages() / most), exchange.with);
        }
        text.push('\n');
    }
    text
}

/// The target in Scotch's format: for each host its label, its weight, and its number in the tree; then the distances of each host
/// from those before it.
fn target(cost: &CommunicationCost, hosts: &[(HostId, u32)]) -> String {
    let mut leaves = vec![0; hosts.len()];
    number_leaves(&mut leaves, 1);
    let largest = leaves.iter().max().copied().unwrap_or(1);
    let mut text = format!("deco 0\n{} {largest}\n", hosts.len());
    for (label, ((_, cores), leaf)) in hosts.iter().zip(&leaves).enumerate() {
        let _ = writeln!(text, "{label} {cores} {leaf}");
    }
    let typical = cost.typical_exchange();
    let distance = |one: usize, other: usize| cost.of_exchange(&typical, hosts[one].0, hosts[other].0);
    let pairs = (0..hosts.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
    let most = pairs.map(|(one, other)| distance(one, other)).fold(f64::MIN_POSITIVE, f64::max);
    for one in 1..hosts.len() {
        let row: Vec<String> = (0..one).map(|other| weight(distance(one, other) / most).to_string()).collect();
        text.extend([&row.join(" "), "\n"]);
    }
    text
}

/// Numbers the leaves of a binary tree: node `n` has the children `2n` and `2n + 1`.
fn number_leaves(leaves: &mut [u64], node: u64) {
    match leaves {
        [] => {}
        [leaf] => *leaf = node,
        [_, _, ..] => {
            let (first, second) = leaves.split_at_mut(leaves.len().div_ceil(2));
            number_leaves(first, 2 * node);
            number_leaves(second, 2 * node + 1);
        }
    }
}

/// A positive whole number for a part of the largest.
fn weight(part: f64) -> u64 {
    ((LARGEST * part).round() as u64).max(1)
}

/// The mapping that Scotch has printed: the number of pairs, then a rank and a label a line.
fn parsed(text: &str, ranks: usize, hosts: &[(HostId, u32)]) -> Option<Vec<HostId>> {
    let mut mapping = vec![None; ranks];
    for line in text.lines().skip(1) {
        let (rank, label) = line.trim().split_once(char::is_whitespace)?;
        let label: usize = label.trim().parse().ok()?;
        *mapping.get_mut(rank.parse::<usize>().ok()?)? = Some(hosts.get(label)?.0);
    }
    mapping.into_iter().collect()
}

/// The mapping with each rank that does not fit on the free core where it costs least.
fn fitted(cost: &CommunicationCost, cores: &[HostId], mapping: &[HostId]) -> Vec<HostId> {
    let mut left = free(cores, &[]);
    let mut hosts = mapping.to_vec();
    let mut homeless = Vec::new();
    for (rank, host) in (0..).zip(mapping) {
        match left.iter_mut().find(|(one, number)| one == host && *number > 0) {
            Some((_, number)) => *number -= 1,
            None => homeless.push(rank),
        }
    }
    for rank in homeless {
        let with_cores = left.iter().enumerate().filter(|(_, (_, number))| *number > 0);
        let costs = with_cores.map(|(at, (host, _))| (at, cost.of_rank(rank, *host, &hosts, None)));
        if let Some((at, _)) = costs.min_by(|(_, one), (_, other)| one.total_cmp(other)) {
            left[at].1 -= 1;
            hosts[rank as usize] = left[at].0;
        }
    }
    hosts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_leaves_of_a_tree_are_numbered_from_its_root() {
        let mut leaves = [0; 5];
        number_leaves(&mut leaves, 1);
        assert_eq!(leaves, [8, 9, 5, 6, 7]);
    }

    #[test]
    fn a_mapping_is_read_in_any_order_and_refused_unless_it_is_whole() {
        let hosts = [(HostId(7), 1), (HostId(9), 2)];
        let parsed = |text: &str| parsed(text, 3, &hosts);
        assert_eq!(parsed("3\n2\t1\n0\t0\n1\t1\n"), Some([7, 9, 9].map(HostId).to_vec()));
        assert_eq!([parsed("2\n0\t0\n1\t1\n"), parsed("3\n0\t0\n1\t1\n2\t2\n"), parsed("")], [None, None, None]);
    }
}
