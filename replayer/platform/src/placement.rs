//! Placement: the host of each rank.

use std::path::{Path, PathBuf};
use titr_common::format::counted;

use rand_pcg::Pcg64Mcg;
use rand_pcg::rand_core::SeedableRng;
use rustc_hash::{FxHashMap, FxHashSet};
use thiserror::Error;

use titr_network::topology::HostId;
use titr_network::traffic::below;

/// The host of each rank, by rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement(pub Vec<HostId>);

/// The rule by which ranks are given hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Ranks fill a host before the next host is used.
    Block,
    /// Each host gets one rank, then each a second one, and so on.
    RoundRobin,
    /// Each rank gets a core that is drawn uniformly from the free ones.
    Random {
        /// Seed of the generator: equal seeds give equal placements.
        seed: u64,
    },
    /// A file lists the host of each rank.
    Explicit {
        /// The listed hosts, by rank.
        hosts: Vec<HostId>,
        /// The number of each rank's core in its host; empty: in the order of the ranks.
        cores: Vec<u32>,
        /// The file that lists them.
        file: PathBuf,
    },
    /// Each rank has a host that suits it, because the jobs of several programs have been placed.
    Assigned {
        /// The hosts, by rank.
        hosts: Vec<HostId>,
        /// The number of each rank's core in its host; empty: in the order of the ranks.
        cores: Vec<u32>,
    },
}

/// A reason why ranks cannot be placed.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum PlacementError {
    /// There are more ranks than cores.
    #[error(
        "{} do not fit on {} of {} each, which hold {}: more hosts, or a larger [hosts] cores, would hold them",
        counted(*ranks, "rank", "ranks"),
        counted(*hosts, "host", "hosts"),
        counted(*cores, "core", "cores"),
        u64::from(*hosts) * u64::from(*cores)
    )]
    TooManyRanks {
        /// Ranks to be placed.
        ranks: u32,
        /// Hosts of the platform.
        hosts: u32,
        /// Cores of each host.
        cores: u32,
    },
    /// The placement file lists fewer ranks than there are.
    #[error("{} says where {} run, but there are {ranks}", file.display(), counted(*listed, "rank", "ranks"))]
    NotListed {
        /// Ranks to be placed.
        ranks: u32,
        /// Ranks that the file lists.
        listed: usize,
        /// The placement file.
        file: PathBuf,
    },
    /// The placement file gives a host more ranks than it has cores.
    #[error(
        "{} puts rank {rank} on host {}, of whose {} none is free",
        file.display(), host.0, counted(*cores, "core", "cores")
    )]
    HostFull {
        /// The first rank that does not fit.
        rank: u32,
        /// The host that the file gives it.
        host: HostId,
        /// Cores of that host.
        cores: u32,
        /// The placement file.
        file: PathBuf,
    },
    /// The placement file gives a rank a core that there is not, or that another rank has.
    #[error(
        "{} puts rank {rank} on slot {core} of host {}, which is not one of its {} that are free",
        file.display(), host.0, counted(*cores, "core", "cores")
    )]
    NoSuchCore {
        /// The first rank without a core.
        rank: u32,
        /// The host that the file gives it.
        host: HostId,
        /// The core that the file gives it.
        core: u32,
        /// Cores of that host.
        cores: u32,
        /// The placement file.
        file: PathBuf,
    },
}

impl Policy {
    /// The number of the core of each rank in its host, if `hosts` have the ranks.
    #[must_use]
    pub fn cores_of(&self, hosts: &[HostId]) -> Vec<u32> {
        match self {
            Self::Explicit { cores, .. } | Self::Assigned { cores, .. } if !cores.is_empty() => cores.clone(),
            _ => hosts.iter().map(turns()).collect(),
        }
    }

    /// The rule in one of several runs with different random choices.
    pub(crate) fn of_run(&self, run: u32) -> Self {
        match self {
            Self::Random { seed } => Self::Random { seed: seed.wrapping_add(run.into()) },
            Self::Block | Self::RoundRobin | Self::Explicit { .. } | Self::Assigned { .. } => self.clone(),
        }
    }

    /// Places `ranks` ranks on `hosts` hosts of `cores` cores each.
    pub(crate) fn place(&self, ranks: u32, hosts: u32, cores: u32) -> Result<Placement, PlacementError> {
        if u64::from(ranks) > u64::from(hosts) * u64::from(cores) && !matches!(self, Self::Assigned { .. }) {
            return Err(PlacementError::TooManyRanks { ranks, hosts, cores });
        }
        let placed = match self {
            Self::Block => (0..ranks).map(|rank| HostId(rank / cores)).collect(),
            Self::RoundRobin => (0..ranks).map(|rank| HostId(rank % hosts)).collect(),
            Self::Random { seed } => sample(u64::from(hosts) * u64::from(cores), ranks, *seed)
                .map(|slot| HostId((slot / u64::from(cores)) as u32))
                .collect(),
            Self::Explicit { hosts: listed, cores: slots, file } => {
                let placed = explicit(ranks, hosts, cores, listed, file)?;
                let mut taken = FxHashSet::default();
                for ((rank, &host), &core) in (0..).zip(&placed).zip(slots) {
                    if core >= cores || !taken.insert((host, core)) {
                        return Err(PlacementError::NoSuchCore { rank, host, core, cores, file: file.clone() });
                    }
                }
                placed
            }
            Self::Assigned { hosts, .. } => hosts.clone(),
        };
        Ok(Placement(placed))
    }

    /// Chooses cores for `ranks` ranks among those whose hosts `free` lists, host by host: the place of each rank's core in
    /// the list. `None` if there are too few cores, or the policy is a list of hosts.
    #[must_use]
    pub fn choose(&self, ranks: u32, free: &[HostId]) -> Option<Vec<usize>> {
        if ranks as usize > free.len() {
            return None;
        }
        match self {
            Self::Block => Some((0..ranks as usize).collect()),
            Self::RoundRobin => {
                let mut by_turn: Vec<(u32, usize)> = free.iter().map(turns()).zip(0..).collect();
                by_turn.sort_unstable();
                Some(by_turn.into_iter().map(|(_, place)| place).take(ranks as usize).collect())
            }
            Self::Random { seed } => {
                Some(sample(free.len() as u64, ranks, *seed).map(|place| place as usize).collect())
            }
            Self::Explicit { .. } | Self::Assigned { .. } => None,
        }
    }
}

fn explicit(ranks: u32, hosts: u32, cores: u32, listed: &[HostId], file: &Path) -> Result<Vec<HostId>, PlacementError> {
    let placed = listed.get(..ranks as usize).ok_or_else(|| PlacementError::NotListed {
        ranks,
        listed: listed.len(),
        file: file.to_owned(),
    })?;
    let mut taken = vec![0; hosts as usize];
    for (rank, &host) in (0..).zip(placed) {
        taken[host.0 as usize] += 1;
        if taken[host.0 as usize] > cores {
            return Err(PlacementError::HostFull { rank, host, cores, file: file.to_owned() });
        }
    }
    Ok(placed.to_vec())
}

/// Counts how often each host has come before.
fn turns() -> impl FnMut(&HostId) -> u32 {
    let mut next = FxHashMap::<HostId, u32>::default();
    move |host| {
        let next = next.entry(*host).or_default();
        *next += 1;
        *next - 1
    }
}

/// Draws `count` different slots of `slots`, in random order. The generator is fixed, so that a seed always means the
/// same.
fn sample(slots: u64, count: u32, seed: u64) -> impl Iterator<Item = u64> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    // Fisher and Yates's shuffle, as far as it is needed; of the slots, only those that moved are stored.
    let mut moved = FxHashMap::default();
    (0..u64::from(count)).map(move |next| {
        let chosen = next + below(&mut random, slots - next);
        let here = moved.get(&next).copied().unwrap_or(next);
        moved.insert(chosen, here).unwrap_or(chosen)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(policy: &Policy, ranks: u32) -> Vec<u32> {
        let Placement(hosts) = policy.place(ranks, 3, 2).unwrap();
        hosts.into_iter().map(|host| host.0).collect()
    }

    #[test]
    fn each_policy_in_its_order() {
        assert_eq!(placed(&Policy::Block, 5), [0, 0, 1, 1, 2]);
        assert_eq!(placed(&Policy::RoundRobin, 5), [0, 1, 2, 0, 1]);
    }

    #[test]
    fn each_policy_among_free_cores() {
        let free = [4, 4, 1, 7, 7].map(HostId);
        assert_eq!(Policy::Block.choose(4, &free), Some(vec![0, 1, 2, 3]));
        assert_eq!(Policy::RoundRobin.choose(4, &free), Some(vec![0, 2, 3, 1]));
        assert_eq!(Policy::Block.choose(6, &free), None);
        let mut random = Policy::Random { seed: 3 }.choose(5, &free).unwrap();
        random.sort_unstable();
        assert_eq!(random, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn random_uses_each_core_once_and_repeats() {
        let random = Policy::Random { seed: 7 };
        let mut hosts = placed(&random, 6);
        assert_eq!(hosts, placed(&random, 6));
        assert_ne!(hosts, placed(&Policy::Random { seed: 8 }, 6));
        hosts.sort_unstable();
        assert_eq!(hosts, [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn more_ranks_than_cores_are_refused() {
        assert_eq!(Policy::Block.place(7, 3, 2), Err(PlacementError::TooManyRanks { ranks: 7, hosts: 3, cores: 2 }));
        let file = PathBuf::from("hosts");
        let twice = Policy::Explicit { hosts: vec![HostId(1); 3], cores: Vec::new(), file: file.to_owned() };
        assert_eq!(
            twice.place(3, 3, 2),
            Err(PlacementError::HostFull { rank: 2, host: HostId(1), cores: 2, file: file.clone() })
        );
        let not_listed = PlacementError::NotListed { ranks: 4, listed: 3, file: file.clone() };
        assert_eq!(twice.place(4, 3, 2), Err(not_listed));
        let slots =
            |cores: [u32; 2]| Policy::Explicit { hosts: vec![HostId(1); 2], cores: cores.to_vec(), file: file.clone() };
        assert_eq!(slots([1, 0]).cores_of(&[HostId(1); 2]), [1, 0]);
        for core in [0, 2] {
            let refused = PlacementError::NoSuchCore { rank: 1, host: HostId(1), core, cores: 2, file: file.clone() };
            assert_eq!(slots([0, core]).place(2, 3, 2), Err(refused));
        }
    }
}
