//! The innermost parts of hosts, such as core complexes: the places between which a search moves ranks. Cores of one part are equal.
//! A host without levels is one part.

use std::collections::HashMap;

use titr_network::topology::HostId;
use titr_platform::Platform;

/// The number of a part: those of a host follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct HostPart(pub u32);

impl HostPart {
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct HostParts {
    of_host: u32,
    cores: u32,
}

impl HostParts {
    /// The hosts of a platform, or the parts at the innermost of their levels.
    pub(super) fn of(platform: &Platform, have_levels: bool) -> Self {
        let innermost = platform.node.as_ref().and_then(|node| node.levels.first());
        let cores = innermost.filter(|_| have_levels).map_or(platform.cores, |level| level.cores).max(1);
        Self { of_host: platform.cores.div_ceil(cores).max(1), cores }
    }

    /// The parts of a platform.
    pub(super) fn count(self, platform: &Platform) -> u32 {
        platform.topology.hosts().saturating_mul(self.of_host)
    }

    pub(super) fn host(self, part: HostPart) -> HostId {
        HostId(part.0 / self.of_host)
    }

    /// The number of a part's first core in its host.
    pub(super) fn first_core(self, part: HostPart) -> u32 {
        part.0 % self.of_host * self.cores
    }

    /// The parts of cores, whose hosts are given host by host.
    pub(super) fn of_cores(self, hosts: &[HostId]) -> Vec<HostPart> {
        let cores = hosts.chunk_by(|one, next| one == next).flat_map(|of_host| (0..).zip(of_host));
        cores.map(|(core, host): (u32, _)| HostPart(host.0 * self.of_host + core / self.cores)).collect()
    }

    /// The host and the core in it of each rank; no cores if hosts are not divided.
    pub(super) fn seats(self, ranks: &[HostPart]) -> (Vec<HostId>, Vec<u32>) {
        let hosts = ranks.iter().map(|&part| self.host(part)).collect();
        let mut taken = HashMap::<HostPart, u32>::default();
        let mut core = |part: HostPart| {
            let taken = taken.entry(part).or_default();
            *taken += 1;
            self.first_core(part) + *taken - 1
        };
        let cores = if self.of_host > 1 { ranks.iter().map(|&part| core(part)).collect() } else { Vec::new() };
        (hosts, cores)
    }
}
