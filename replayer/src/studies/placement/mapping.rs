//! The mapping of the communication matrix onto cores, without a replay.
//!
//! Greedy construction (Müller-Merbach, "Optimale Reihenfolgen", Springer 1970): the rank that exchanges most with the ranks that have
//! a core is next, and gets the core on which it costs least. Pairwise exchange, as Brandfass, Alrutz and Gerhold apply it to MPI
//! ("Rank reordering for MPI communication optimization", Computers & Fluids 80, 2013): two ranks swap their cores, or a rank
//! moves to a free core, until no such step saves anything; also from other placements than the constructed one. Simulated
//! annealing (Bollinger and Midkiff, "Processor and link assignment in multicomputers using simulated annealing", ICPP 1988)
//! continues from the cheapest, and ends with another exchange.

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::SeedableRng;

use super::cost::{CommunicationCost, Exchange};
use super::parts::HostPart;
use crate::studies::sampling::fraction;

/// Steps of the annealing for each rank, and at most.
const STEPS_OF_A_RANK: usize = 4000;
const MOST_STEPS: usize = 2_000_000;

/// The temperature at the end of the annealing, as a part of the temperature at its begin: the mean cost of a rank.
const COLDEST: f64 = 1e-4;

/// The number of ranks whose cost is computed at most during an exchange; it takes some seconds.
const MOST_COSTS: u64 = 4_000_000;

/// The cheapest mapping that was found. `cores` has the hosts of all cores, host by host, and `known` are other
/// placements from which the exchange begins.
pub(super) fn mapped(cost: &CommunicationCost, cores: &[HostPart], known: &[&[HostPart]]) -> Vec<HostPart> {
    let constructed = constructed(cost, cores);
    let mut best: Option<(f64, Vec<HostPart>)> = None;
    for start in std::iter::once(constructed.as_slice()).chain(known.iter().copied()) {
        let mut hosts = start.to_vec();
        exchanged(cost, cores, &mut hosts);
        let cost = cost.of(&hosts);
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, hosts));
        }
    }
    let Some((least, mut best)) = best else { return constructed };
    let mut further = best.clone();
    anneal(cost, cores, &mut further);
    exchanged(cost, cores, &mut further);
    if cost.of(&further) < least {
        best = further;
    }
    best
}

/// The hosts with free cores, and their number, when `hosts` have the ranks.
pub(super) fn free(cores: &[HostPart], hosts: &[HostPart]) -> Vec<(HostPart, u32)> {
    let mut free: Vec<(HostPart, u32)> = Vec::new();
    for &core in cores {
        match free.last_mut() {
            Some((host, number)) if *host == core => *number += 1,
            Some(_) | None => free.push((core, 1)),
        }
    }
    for taken in hosts {
        if let Some((_, number)) = free.iter_mut().find(|(host, _)| host == taken) {
            *number = number.saturating_sub(1);
        }
    }
    free
}

/// The greedy construction.
fn constructed(cost: &CommunicationCost, cores: &[HostPart]) -> Vec<HostPart> {
    let Some(&first) = cores.first() else { return Vec::new() };
    let ranks = cost.ranks() as usize;
    let mut free = free(cores, &[]);
    let mut hosts: Vec<Option<HostPart>> = vec![None; ranks];
    let all: Vec<f64> =
        (0..cost.ranks()).map(|rank| cost.exchanges(rank).iter().map(Exchange::bytes_and_messages).sum()).collect();
    let mut with_placed = vec![0.0; ranks];
    for _ in 0..ranks {
        let waiting = (0..ranks).filter(|&rank| hosts[rank].is_none());
        // Of equals, the first.
        let next = waiting.reduce(|best, rank| {
            let is_better = (with_placed[rank], all[rank]) > (with_placed[best], all[best]);
            if is_better { rank } else { best }
        });
        let Some(rank) = next else { break };
        let cost_on = |host: HostPart| -> f64 {
            let exchanges = cost.exchanges(rank as u32).iter();
            let placed = exchanges.filter_map(|exchange| Some((exchange, hosts[exchange.with as usize]?)));
            placed.map(|(exchange, other)| cost.of_exchange(exchange, host, other)).sum()
        };
        let with_cores = free.iter().enumerate().filter(|(_, (_, number))| *number > 0);
        let costs = with_cores.map(|(at, (host, _))| (at, cost_on(*host)));
        let Some((at, _)) = costs.reduce(|best, one| if one.1 < best.1 { one } else { best }) else { break };
        free[at].1 -= 1;
        hosts[rank] = Some(free[at].0);
        for exchange in cost.exchanges(rank as u32) {
            with_placed[exchange.with as usize] += exchange.bytes_and_messages();
        }
    }
    hosts.into_iter().map(|host| host.unwrap_or(first)).collect()
}

/// The cost that two ranks save if they swap their cores.
fn saving_of_swap(cost: &CommunicationCost, hosts: &[HostPart], rank: u32, other: u32) -> f64 {
    let (here, there) = (hosts[rank as usize], hosts[other as usize]);
    let of = |rank, host, other| cost.of_rank(rank, host, hosts, Some(other));
    of(rank, here, other) + of(other, there, rank) - of(rank, there, other) - of(other, here, rank)
}

/// The cost that a rank saves if it moves to a free core.
fn saving_of_move(cost: &CommunicationCost, hosts: &[HostPart], rank: u32, there: HostPart) -> f64 {
    cost.of_rank(rank, hosts[rank as usize], hosts, None) - cost.of_rank(rank, there, hosts, None)
}

/// The simulated annealing: a drawn rank goes to a drawn core, from which another rank may come back, always if this saves
/// something, and otherwise with the probability of Metropolis.
fn anneal(cost: &CommunicationCost, cores: &[HostPart], hosts: &mut [HostPart]) {
    // The rank on each core, and the core of each rank.
    let mut on: Vec<Option<u32>> = vec![None; cores.len()];
    let mut core_of = Vec::with_capacity(hosts.len());
    for (rank, host) in (0..).zip(hosts.iter()) {
        let free = cores.iter().zip(&on).position(|(core, on)| core == host && on.is_none());
        let Some(core) = free else { return };
        on[core] = Some(rank);
        core_of.push(core);
    }
    let mut random = Pcg64Mcg::seed_from_u64(0);
    let steps = (STEPS_OF_A_RANK * hosts.len()).min(MOST_STEPS);
    let hottest = 2.0 * cost.of(hosts) / hosts.len() as f64;
    for step in 0..steps {
        let temperature = hottest * COLDEST.powf(step as f64 / steps as f64);
        let mut drawn = |below: usize| ((fraction(&mut random) * below as f64) as usize).min(below - 1);
        let (rank, there) = (drawn(hosts.len()), drawn(cores.len()));
        let here = core_of[rank];
        if cores[here] == cores[there] {
            continue;
        }
        let saving = match on[there] {
            Some(other) => saving_of_swap(cost, hosts, rank as u32, other),
            None => saving_of_move(cost, hosts, rank as u32, cores[there]),
        };
        if saving >= 0.0 || fraction(&mut random) < (saving / temperature).exp() {
            if let Some(other) = on[there] {
                (hosts[other as usize], core_of[other as usize]) = (cores[here], here);
            }
            (hosts[rank], core_of[rank]) = (cores[there], there);
            on.swap(here, there);
        }
    }
}

/// The pairwise exchange.
fn exchanged(cost: &CommunicationCost, cores: &[HostPart], hosts: &mut [HostPart]) {
    let mut free = free(cores, hosts);
    let least = 1e-9 * cost.of(hosts);
    let mut left = MOST_COSTS;
    loop {
        let mut saves = false;
        for rank in 0..cost.ranks() {
            for other in rank + 1..cost.ranks() {
                let (here, there) = (hosts[rank as usize], hosts[other as usize]);
                if here == there {
                    continue;
                }
                let Some(rest) = left.checked_sub(4) else { return };
                left = rest;
                if saving_of_swap(cost, hosts, rank, other) > least {
                    hosts.swap(rank as usize, other as usize);
                    saves = true;
                }
            }
            for at in 0..free.len() {
                let (here, (there, number)) = (hosts[rank as usize], free[at]);
                if number == 0 || here == there {
                    continue;
                }
                let Some(rest) = left.checked_sub(2) else { return };
                left = rest;
                if saving_of_move(cost, hosts, rank, there) > least {
                    hosts[rank as usize] = there;
                    free[at].1 -= 1;
                    free.iter_mut().filter(|(host, _)| *host == here).for_each(|(_, number)| *number += 1);
                    saves = true;
                }
            }
        }
        if !saves {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use titr_analyses::Pair;
    use titr_common::units::Bytes;
    use titr_platform::Platform;

    use super::*;
    use crate::studies::placement::parts::HostParts;

    fn ring(hosts: u32, cores: u32) -> Platform {
        let text = format!(
            "schema = 1\nhosts.speed = \"1 Ginstr/s\"\nhosts.cores = {cores}\ntopology.torus.dims = [{hosts}]\n\
             network.bandwidth = \"10 Gbit/s\"\nnetwork.latency = \"1 us\"\n"
        );
        Platform::parse("ring.toml".as_ref(), text, &[]).unwrap()
    }

    fn cores(hosts: u32, cores: u32) -> Vec<HostPart> {
        (0..hosts * cores).map(|core| HostPart(core / cores)).collect()
    }

    fn pairs(bytes: &[(u32, u32, u64)]) -> Vec<Pair> {
        bytes.iter().map(|&(from, to, bytes)| Pair { from, to, messages: 1, bytes: Bytes(bytes) }).collect()
    }

    /// The least cost of all placements, by trying each.
    fn optimum(cost: &CommunicationCost, cores: &[HostPart], hosts: &mut Vec<HostPart>) -> f64 {
        if hosts.len() == cost.ranks() as usize {
            return cost.of(hosts);
        }
        let mut least = f64::INFINITY;
        for (host, number) in free(cores, hosts) {
            if number > 0 {
                hosts.push(host);
                least = least.min(optimum(cost, cores, hosts));
                hosts.pop();
            }
        }
        least
    }

    /// A kilobyte takes 0.8 us and 1 us of latency on each link: two hops each way between hosts 0 and 2 of a ring of four.
    #[test]
    fn the_cost_is_the_time_on_all_links() {
        let platform = ring(4, 1);
        let cost =
            CommunicationCost::new(&platform, HostParts::of(&platform, true), 2, &pairs(&[(0, 1, 1000), (1, 0, 1000)]));
        let of = |hosts: [u32; 2]| 1e6 * cost.of(&hosts.map(HostPart));
        let expected = [2.0 * 1.8, 2.0 * 2.0 * 1.8, 0.0];
        for (cost, expected) in [of([0, 1]), of([0, 2]), of([3, 3])].into_iter().zip(expected) {
            assert!((cost - expected).abs() < 1e-9, "{cost} {expected}");
        }
    }

    #[test]
    fn partners_share_a_host_where_they_can() {
        let platform = ring(3, 2);
        let messages = pairs(&[(0, 3, 1 << 20), (1, 4, 1 << 20), (2, 5, 1 << 20)]);
        let cost = CommunicationCost::new(&platform, HostParts::of(&platform, true), 6, &messages);
        let block = cores(3, 2);
        let mapped = mapped(&cost, &block, &[&block]);
        assert_eq!((cost.of(&mapped), cost.of(&block) > 0.0), (0.0, true), "{mapped:?}");
    }

    /// An exchange with four neighbours in a torus of 8×8 on a torus of 4×4×4: at least one hop each, and random placements have three
    /// in the mean.
    #[test]
    fn a_plane_fits_well_into_a_cube() {
        let text = "schema = 1\nhosts.speed = \"1 Ginstr/s\"\ntopology.torus.dims = [4, 4, 4]\nnetwork.bandwidth = \"1 GB/s\"\n\
                    network.latency = \"1 us\"\n";
        let platform = Platform::parse("cube.toml".as_ref(), text.to_owned(), &[]).unwrap();
        let neighbours = |rank: u32| [(rank, (rank + 8) % 64, 1000), (rank, rank / 8 * 8 + (rank + 1) % 8, 1000)];
        let messages: Vec<_> = (0..64).flat_map(neighbours).collect();
        let cost = CommunicationCost::new(&platform, HostParts::of(&platform, true), 64, &pairs(&messages));
        let cores = cores(64, 1);
        let hops = 1e6 * cost.of(&mapped(&cost, &cores, &[&cores])) / 2.0 / 128.0;
        assert!((0.999..1.2).contains(&hops), "{hops}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn a_mapping_fits_and_no_exchange_makes_it_cheaper(
            messages in proptest::collection::vec((0_u32..5, 0_u32..5, 0_u64..1 << 20), 0..12),
            each in 1_u32..3,
        ) {
            let (platform, cores) = (ring(6, each), cores(6, each));
            let cost = CommunicationCost::new(&platform, HostParts::of(&platform, true), 5, &pairs(&messages));
            let block = &cores[..5];
            let mapped = mapped(&cost, &cores, &[block]);
            for host in &mapped {
                prop_assert!(mapped.iter().filter(|one| *one == host).count() <= each as usize);
            }
            let found = cost.of(&mapped);
            let rounding = 1e-6 * cost.of(block);
            prop_assert!(found <= cost.of(block) + rounding);
            prop_assert!(found >= optimum(&cost, &cores, &mut Vec::new()) - rounding);
            for (one, other) in (0..5).flat_map(|one| (0..one).map(move |other| (one, other))) {
                let mut swapped = mapped.clone();
                swapped.swap(one, other);
                prop_assert!(cost.of(&swapped) >= found - rounding);
            }
        }
    }
}
