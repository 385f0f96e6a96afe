//! Local search by replay: steps from a placement to a similar one, as long as replays are left.
//!
//! A step brings a rank close to one of its partners: the rank swaps its core with a rank there, or moves to a free core. If hosts, or
//! parts of them, have several ranks, every third step swaps the ranks of two. A batch of steps is replayed at the same time, and the best one is
//! taken if the predicted time becomes shorter, or stays and communication costs less.

use std::collections::HashSet;

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::SeedableRng;
use titr_common::time::Time;
use titr_simulation::SimulationError;
use titr_simulation::parallel::Jobs;

use super::cost::CommunicationCost;
use super::mapping::free;
use super::parts::HostPart;
use crate::studies::sampling::fraction;

/// Steps that are replayed at the same time: fixed, so that the result does not depend on the number of threads.
const BATCH: u32 = 8;

/// The number of candidates of which the closest to a partner is taken.
const CANDIDATES: usize = 4;

/// The number of steps that lead to placements that were replayed before, after which the search ends.
const IN_VAIN: u32 = 200;

/// A placement with its predicted time.
#[derive(Clone, Debug)]
pub(super) struct Replayed {
    pub(crate) hosts: Vec<HostPart>,
    pub(crate) time: Time,
}

pub(super) struct LocalSearch<'a> {
    pub(crate) cost: &'a CommunicationCost<'a>,
    /// The hosts of all cores, host by host.
    pub(crate) cores: &'a [HostPart],
    pub(crate) replays: u32,
    pub(crate) seed: u64,
    pub(crate) jobs: Jobs,
    /// The predicted time of a placement.
    pub(crate) time: &'a (dyn Fn(&[HostPart]) -> Result<Time, SimulationError> + Sync),
}

impl LocalSearch<'_> {
    /// The best placement that was found, and the number of replays.
    pub(super) fn from(&self, start: Replayed) -> Result<(Replayed, u32), SimulationError> {
        let mut random = Pcg64Mcg::seed_from_u64(self.seed);
        let mut seen = HashSet::from([start.hosts.clone()]);
        let (mut best, mut done) = (start, 0);
        let mut least_cost = self.cost.of(&best.hosts);
        let mut step_number = 0;
        while done < self.replays {
            let mut batch = Vec::new();
            let mut in_vain = 0;
            while batch.len() < BATCH.min(self.replays - done) as usize && in_vain < IN_VAIN {
                step_number += 1;
                let step = self.step(&best.hosts, step_number, &mut random);
                match step.filter(|hosts| !seen.contains(hosts)) {
                    Some(hosts) => {
                        seen.insert(hosts.clone());
                        batch.push(hosts);
                    }
                    None => in_vain += 1,
                }
            }
            if batch.is_empty() {
                break;
            }
            done += batch.len() as u32;
            let times = self.jobs.map(batch.len(), |at| (self.time)(&batch[at]))?;
            for (hosts, time) in batch.into_iter().zip(times) {
                let cost = self.cost.of(&hosts);
                if (time, cost) < (best.time, least_cost) {
                    (best, least_cost) = (Replayed { hosts, time }, cost);
                }
            }
        }
        Ok((best, done))
    }

    /// A placement that is similar to this one; `None` if the drawn step changes nothing.
    fn step(&self, hosts: &[HostPart], number: u32, random: &mut Pcg64Mcg) -> Option<Vec<HostPart>> {
        let mut drawn = |below: usize| ((fraction(random) * below as f64) as usize).min(below.saturating_sub(1));
        let mut changed = hosts.to_vec();
        let rank = drawn(hosts.len());
        let here = *hosts.get(rank)?;
        if number.is_multiple_of(3) && hosts.iter().filter(|host| **host == here).count() > 1 {
            let there = self.cores[drawn(self.cores.len())];
            for host in &mut changed {
                if *host == here {
                    *host = there;
                } else if *host == there {
                    *host = here;
                }
            }
            let size = |part| self.cores.iter().filter(|core| **core == part).count();
            return Some(changed).filter(|_| here != there && size(here) == size(there));
        }
        let exchanges = self.cost.exchanges(rank as u32);
        let partner = exchanges.get(drawn(exchanges.len()));
        let mut best: Option<(f64, HostPart)> = None;
        for _ in 0..CANDIDATES {
            let there = self.cores[drawn(self.cores.len())];
            let distance =
                partner.map_or(0.0, |exchange| self.cost.of_exchange(exchange, there, hosts[exchange.with as usize]));
            if there != here && best.is_none_or(|(least, _)| distance < least) {
                best = Some((distance, there));
            }
        }
        let (_, there) = best?;
        let is_free = free(self.cores, hosts).iter().any(|(host, number)| *host == there && *number > 0);
        let others: Vec<usize> = (0..hosts.len()).filter(|&other| hosts[other] == there).collect();
        if !is_free || (!others.is_empty() && drawn(2) == 0) {
            changed[*others.get(drawn(others.len()))?] = here;
        }
        changed[rank] = there;
        Some(changed)
    }
}
