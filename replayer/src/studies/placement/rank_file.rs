//! Files that say an MPI library or a batch system which host each rank has.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use clap::ValueEnum;
use titr_common::format::counted;
use titr_common::input::{self, WRITTEN_BY_PROGRAM};
use titr_network::topology::{HostId, Topology};

use crate::studies::error::StudyError;

/// The reader of the file, by its name on the command line. Of Open MPI, it is a rank file, with a host and a core for each rank;
/// without names, the hosts are numbered in the order of the allocation of a batch system. Of MPICH, it is a host file, with the
/// number of ranks on each host, in the order of the ranks; of Slurm, a list of the host of each rank, for
/// `--distribution=arbitrary`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum RankFileFormat {
    #[default]
    #[value(name = "openmpi")]
    OpenMpi,
    Mpich,
    Slurm,
}

impl RankFileFormat {
    /// Whether hosts need names.
    pub(crate) fn needs_names(self) -> bool {
        match self {
            Self::OpenMpi => false,
            Self::Mpich | Self::Slurm => true,
        }
    }

    /// Whether the file says the core of a rank.
    pub(crate) fn has_cores(self) -> bool {
        self == Self::OpenMpi
    }

    /// The file for the host of each rank, and its core; without `cores`, in the order of the ranks.
    pub(crate) fn file(self, hosts: &[u32], cores: &[u32], names: Option<&HostNames>) -> String {
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
                    let _ = writeln!(text, "rank {rank}={} slot={}", name(host), cores.get(rank).unwrap_or(slot));
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

/// The word for a host that no rank may have.
const NO_HOST: &str = "-";

/// The name of each host of a platform; `None` for a host that no rank may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostNames(Vec<Option<String>>);

impl HostNames {
    /// Reads a file with a line for each host of the platform, whose first word is the name; `#` starts a comment, and `-` is a host
    /// that no rank may have. `node1:4` and `node1 slots=4`, as host files of MPI libraries have, name the host `node1`.
    ///
    /// # Errors
    /// If the file cannot be read, or has not a name for each of `hosts` hosts.
    pub(crate) fn read(path: &Path, hosts: u32) -> Result<Self, StudyError> {
        let wrong = |what| StudyError::HostNames { path: path.to_owned(), what };
        let text = input::read_text(path, WRITTEN_BY_PROGRAM);
        let text = text.map_err(|error| wrong(format!("the names of the hosts cannot be read: {error}")))?;
        let mut names = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default();
            let Some(word) = line.split_whitespace().next() else { continue };
            let name = word.split(':').next().unwrap_or_default();
            if !name.chars().all(|letter| letter.is_ascii_alphanumeric() || "-._".contains(letter)) || name.is_empty() {
                return Err(wrong(format!("line {number}: `{word}` is no name of a host")));
            }
            names.push((name != NO_HOST).then(|| name.to_owned()));
        }
        if names.len() != hosts as usize {
            let (names, hosts) = (counted(names.len(), "host", "hosts"), counted(hosts, "host", "hosts"));
            return Err(wrong(format!(
                "this file names {names}, and the platform has {hosts}: write a line for each host of the platform, and `{NO_HOST}` \
                 for one that no rank may have"
            )));
        }
        Ok(Self(names))
    }

    /// The names that the platform has for its hosts, if it has any.
    pub(crate) fn of_platform(topology: &dyn Topology) -> Option<Self> {
        let name = |host| Some(topology.host_name(HostId(host))).filter(|name| !name.contains(' '));
        (0..topology.hosts()).map(|host| name(host).map(Some)).collect::<Option<_>>().map(Self)
    }

    pub(super) fn of(&self, host: HostId) -> Option<&str> {
        self.0.get(host.index())?.as_deref()
    }

    /// The hosts that ranks may have.
    pub(crate) fn usable(&self) -> Vec<HostId> {
        (0..).map(HostId).zip(&self.0).filter(|(_, name)| name.is_some()).map(|(host, _)| host).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reader_has_its_format() {
        let hosts = [1, 1, 0, 1];
        assert_eq!(
            RankFileFormat::OpenMpi.file(&hosts, &[], None),
            "rank 0=+n1 slot=0\nrank 1=+n1 slot=1\nrank 2=+n0 slot=0\nrank 3=+n1 slot=2\n"
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hosts");
        std::fs::write(&path, "alpha\nbeta\n").unwrap();
        let names = HostNames::read(&path, 2).unwrap();
        assert_eq!(
            RankFileFormat::OpenMpi.file(&hosts[1..3], &[5, 7], Some(&names)),
            "rank 0=beta slot=5\nrank 1=alpha slot=7\n"
        );
        assert_eq!(RankFileFormat::Mpich.file(&hosts, &[], Some(&names)), "beta:2\nalpha:1\nbeta:1\n");
        assert_eq!(RankFileFormat::Slurm.file(&hosts, &[], Some(&names)), "beta\nbeta\nalpha\nbeta\n");
    }

    fn read(text: &str, hosts: u32) -> Result<HostNames, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hosts");
        std::fs::write(&path, text).unwrap();
        HostNames::read(&path, hosts).map_err(|error| error.to_string().replace(&path.display().to_string(), "hosts"))
    }

    #[test]
    fn host_files_of_mpi_libraries_are_read() {
        let names = read("# a cluster\nnode1:4\n\nnode2.example.org slots=4\n-\nnode-4 # spare\n", 4).unwrap();
        assert_eq!(names.usable(), [0, 1, 3].map(HostId));
        let shown = (0..5).map(|host| names.of(HostId(host))).collect::<Vec<_>>();
        assert_eq!(shown, [Some("node1"), Some("node2.example.org"), None, Some("node-4"), None]);
    }

    #[test]
    fn a_file_of_another_machine_is_refused() {
        assert_eq!(
            read("a\nb\n", 3).unwrap_err(),
            "hosts: this file names 2 hosts, and the platform has 3 hosts: write a line for each host of the platform, and `-` for one \
         that no rank may have"
        );
        assert_eq!(read("a\nnode[1-4]\n", 2).unwrap_err(), "hosts: line 2: `node[1-4]` is no name of a host");
        assert_eq!(read(":4\n", 1).unwrap_err(), "hosts: line 1: `:4` is no name of a host");
    }
}
