//! The ranks of the job on this host, and those of them that run without the tracer.
//!
//! A launcher may start some ranks with the tracer and others without it. The tracer must then not communicate with
//! other ranks: they might not answer, and its messages could match receives of the program. Each rank therefore
//! examines the processes that it sees in `/proc`. When `MPI_Init` returns, all ranks have called it, and a process
//! keeps the libraries that it has loaded by then: all ranks of a host get the same result.
//!
//! A launcher gives each process its rank in an environment variable. Processes belong to one job if they descend from
//! the same process without a rank: the launcher's daemon on this host. A rank is traced if one of its processes has
//! loaded both this library and the MPI library, and untraced if one has loaded the MPI library and none has loaded
//! both. Ranks on other hosts and unreadable processes are assumed to be traced.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use titr_common::event::Rank;

/// Variables in which launchers tell a process its rank: Open MPI's, PMIx's and PMI's.
pub(crate) const RANK: [&str; 3] = ["OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"];
/// The variable in which PMIx names a job; a spawned job has its own name and may have the same daemon.
const JOB: &str = "PMIX_NAMESPACE";

/// The ranks of a job on this host, where some of them run without the tracer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PartlyTraced {
    pub traced: BTreeSet<Rank>,
    /// The ranks without the tracer.
    pub untraced: BTreeSet<Rank>,
    /// A name of the job on this host, which no other job has.
    pub job: String,
}

/// A process, as `/proc` describes it.
#[derive(Clone, Debug)]
struct Process {
    parent: u32,
    /// The start of the process, in clock ticks since the host was started.
    begun: u64,
    /// The rank that the process was given, and the name of its job.
    rank: Option<(Rank, String)>,
}

impl PartlyTraced {
    /// Looks whether ranks of this job run without the tracer; `None` if none is known to. `rank` is this rank, and the
    /// names are of the files that the tracer and the MPI library were loaded from.
    pub(crate) fn find(rank: Rank, tracer: &str, mpi: &str) -> Option<Self> {
        Self::among(Path::new("/proc"), std::process::id(), rank, tracer, mpi)
    }

    fn among(proc: &Path, me: u32, rank: Rank, tracer: &str, mpi: &str) -> Option<Self> {
        let processes: BTreeMap<u32, Process> = fs::read_dir(proc)
            .ok()?
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter_map(|pid| Some((pid, Process::read(&proc.join(format!("{pid}")))?)))
            .collect();
        let (own_rank, job) = processes.get(&me)?.rank.as_ref()?;
        if *own_rank != rank {
            // The variable is not about this world.
            return None;
        }
        let daemon = daemon(&processes, me)?;
        let (mut traced, mut loaded) = (BTreeSet::new(), BTreeSet::new());
        for (&pid, process) in &processes {
            let Some((rank, of)) = &process.rank else { continue };
            if of == job && self::daemon(&processes, pid) == Some(daemon) {
                let files = fs::read_to_string(proc.join(format!("{pid}/maps"))).unwrap_or_default();
                let has = |name: &str| files.lines().any(|line| line.rsplit('/').next() == Some(name));
                if has(mpi) {
                    loaded.insert(*rank);
                    if has(tracer) {
                        traced.insert(*rank);
                    }
                }
            }
        }
        let untraced: BTreeSet<Rank> = loaded.difference(&traced).copied().collect();
        let begun = processes.get(&daemon).map_or(0, |process| process.begun);
        (!untraced.is_empty()).then(|| Self { traced, untraced, job: format!("{daemon:x}-{begun:x}") })
    }
}

impl Process {
    /// `None` for a process that has ended.
    fn read(folder: &Path) -> Option<Self> {
        let stat = fs::read_to_string(folder.join("stat")).ok()?;
        // The program's name, in parentheses, may hold anything. After it come the state, the parent, and as the twentieth
        // the time of the beginning.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let (parent, begun) = (fields.get(1)?.parse().ok()?, fields.get(19)?.parse().ok()?);
        // For a process of another user, it cannot be read.
        let environment = fs::read(folder.join("environ")).unwrap_or_default();
        let variable = |name: &str| {
            let mut variables = environment.split(|&byte| byte == 0);
            variables.find_map(|text| std::str::from_utf8(text).ok()?.strip_prefix(name)?.strip_prefix('='))
        };
        let rank = RANK.into_iter().find_map(variable).and_then(|rank| rank.parse().ok()).map(Rank);
        let job = variable(JOB).unwrap_or_default().to_owned();
        Some(Self { parent, begun, rank: rank.map(|rank| (rank, job)) })
    }
}

/// The nearest ancestor of a process that was given no rank.
fn daemon(processes: &BTreeMap<u32, Process>, pid: u32) -> Option<u32> {
    let parents = std::iter::successors(Some(pid), |pid| processes.get(pid).map(|process| process.parent));
    parents.take(processes.len() + 1).find(|pid| processes.get(pid).is_some_and(|process| process.rank.is_none()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A `/proc` of processes: number, parent, environment, and the libraries loaded.
    fn proc(processes: &[(u32, u32, &str, &[&str])]) -> tempfile::TempDir {
        let proc = tempfile::tempdir().unwrap();
        for (pid, parent, environment, libraries) in processes {
            let folder = proc.path().join(format!("{pid}"));
            fs::create_dir(&folder).unwrap();
            let begun = 1000 + pid;
            let stat = format!("{pid} (a ) b) S {parent}{} {begun} 0", " 7".repeat(17));
            fs::write(folder.join("stat"), stat).unwrap();
            fs::write(folder.join("environ"), environment.replace(' ', "\0")).unwrap();
            let maps: String = libraries.iter().map(|name| format!("7f00-7f01 r-xp 0 08:01 9 /lib/{name}\n")).collect();
            fs::write(folder.join("maps"), maps).unwrap();
        }
        proc
    }

    fn find(processes: &[(u32, u32, &str, &[&str])], me: u32, rank: u32) -> Option<(Vec<u32>, Vec<u32>, String)> {
        let found = PartlyTraced::among(proc(processes).path(), me, Rank(rank), "libtitrace.so", "libmpi.so.40")?;
        let numbers = |ranks: BTreeSet<Rank>| ranks.into_iter().map(|rank| rank.0).collect();
        Some((numbers(found.traced), numbers(found.untraced), found.job))
    }

    const BOTH: &[&str] = &["libtitrace.so", "libmpi.so.40"];
    const MPI: &[&str] = &["libmpi.so.40"];

    #[test]
    fn a_rank_without_the_tracer_is_found_by_those_with_it() {
        let job: &[(u32, u32, &str, &[&str])] = &[
            (1, 0, "", &[]),
            (10, 1, "A=b", &[]),
            (20, 10, "PMI_RANK=0", BOTH),
            (21, 10, "PMI_RANK=1", MPI),
            // The shell that started a rank, which has loaded the tracer and no MPI.
            (22, 10, "PMI_RANK=2", &["libtitrace.so"]),
            (23, 22, "PMI_RANK=2", BOTH),
        ];
        let found = Some((vec![0, 2], vec![1], "a-3f2".to_owned()));
        assert_eq!(find(job, 20, 0), found);
        assert_eq!(find(job, 23, 2), found);
    }

    #[test]
    fn other_jobs_are_not_looked_at() {
        let jobs: &[(u32, u32, &str, &[&str])] = &[
            (1, 0, "", &[]),
            (10, 1, "", &[]),
            (11, 1, "", &[]),
            (20, 10, "OMPI_COMM_WORLD_RANK=0 PMIX_NAMESPACE=7", BOTH),
            // A job that the first one has spawned.
            (21, 10, "OMPI_COMM_WORLD_RANK=1 PMIX_NAMESPACE=8", MPI),
            (22, 11, "OMPI_COMM_WORLD_RANK=1 PMIX_NAMESPACE=7", MPI),
        ];
        assert_eq!(find(jobs, 20, 0), None);
    }

    #[test]
    fn nothing_is_said_of_a_world_that_the_launcher_does_not_number() {
        let job: &[(u32, u32, &str, &[&str])] =
            &[(1, 0, "", &[]), (20, 1, "PMI_RANK=0", BOTH), (21, 1, "PMI_RANK=1", MPI), (22, 1, "", BOTH)];
        assert_eq!(find(job, 22, 0), None);
        assert_eq!(find(job, 20, 5), None);
    }
}
