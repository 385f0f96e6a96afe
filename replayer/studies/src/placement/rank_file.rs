//! Files that say an MPI library or a batch system which host each rank has.

use std::collections::BTreeMap;
use std::fmt::Write;

use titr_network::topology::HostId;

use super::host_names::HostNames;

/// The reader of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankFileFormat {
    /// Open MPI: a rank file, with a host and a core for each rank. Without names, the hosts are numbered in the order of the
    /// allocation of a batch system.
    OpenMpi,
    /// MPICH: a host file, with the number of ranks on each host, in the order of the ranks.
    Mpich,
    /// Slurm: a list of the host of each rank, for `--distribution=arbitrary`.
    Slurm,
}

impl RankFileFormat {
    /// Whether hosts need names.
    #[must_use]
    pub fn needs_names(self) -> bool {
        match self {
            Self::OpenMpi => false,
            Self::Mpich | Self::Slurm => true,
        }
    }

    /// The file for the host of each rank.
    #[must_use]
    pub fn file(self, hosts: &[u32], names: Option<&HostNames>) -> String {
        let name = |host: u32| match names.and_then(|names| names.of(HostId(host))) {
            Some(name) => name.to_owned(),
            None => format!("+n{host}"),
        };
        let mut text = String::new();
        match self {
            Self::OpenMpi => {
                let mut slots: BTreeMap<u32, u32> = BTreeMap::new();
                for (rank, &host) in hosts.iter().enumerate() {
                    let slot = slots.entry(host).or_default();
                    let _ = writeln!(text, "rank {rank}={} slot={slot}", name(host));
                    *slot += 1;
                }
            }
            Self::Mpich => {
                for block in hosts.chunk_by(|one, next| one == next) {
                    let _ = writeln!(text, "{}:{}", name(block[0]), block.len());
                }
            }
            Self::Slurm => hosts.iter().for_each(|&host| text.extend([&name(host), "\n"])),
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reader_has_its_format() {
        let hosts = [1, 1, 0, 1];
        assert_eq!(
            RankFileFormat::OpenMpi.file(&hosts, None),
            "rank 0=+n1 slot=0\nrank 1=+n1 slot=1\nrank 2=+n0 slot=0\nrank 3=+n1 slot=2\n"
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hosts");
        std::fs::write(&path, "alpha\nbeta\n").unwrap();
        let names = HostNames::read(&path, 2).unwrap();
        assert_eq!(
            RankFileFormat::OpenMpi.file(&hosts[1..3], Some(&names)),
            "rank 0=beta slot=0\nrank 1=alpha slot=0\n"
        );
        assert_eq!(RankFileFormat::Mpich.file(&hosts, Some(&names)), "beta:2\nalpha:1\nbeta:1\n");
        assert_eq!(RankFileFormat::Slurm.file(&hosts, Some(&names)), "beta\nbeta\nalpha\nbeta\n");
    }
}
