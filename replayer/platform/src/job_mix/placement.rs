//! The host of each rank of each job.
//!
//! Jobs with `hosts` get cores there; the others get cores that are left, in the order of the file. Two jobs can have
//! the same core only if one starts after the end of the other.

use std::collections::BTreeSet;

use titr_common::event::ranges_written;
use titr_common::format::counted;
use titr_document::{Checked, Mistake, Source, Spanned};
use titr_network::topology::HostId;

use super::{JobId, Start};
use crate::job_mix::schema::{HostRange, JobPolicy, JobTable, OneOrSeveral};
use crate::job_mix::starts::{after, ancestors, followers};
use crate::{Platform, Policy};

/// Places jobs, one after another.
pub(crate) struct Placer<'a> {
    pub source: &'a Source,
    pub jobs: &'a [JobTable],
    pub starts: &'a [Start],
    pub platform: &'a Platform,
    /// For each job, those that start at its end.
    followers: Vec<Vec<JobId>>,
    /// The core of each rank of the jobs that have been placed.
    placed: Vec<Option<Vec<HostCore>>>,
    /// The number of placed jobs that have each core, host by host.
    holders: Vec<u32>,
}

type HostCore = (HostId, u32);

impl<'a> Placer<'a> {
    pub(crate) fn new(source: &'a Source, jobs: &'a [JobTable], starts: &'a [Start], platform: &'a Platform) -> Self {
        let holders = vec![0; platform.topology.hosts() as usize * platform.cores as usize];
        let followers = followers(starts);
        Self { source, jobs, starts, platform, followers, placed: vec![None; jobs.len()], holders }
    }

    /// The host of each rank of each job; `ranks` has the number of ranks of each.
    pub(crate) fn place(mut self, ranks: &[u32]) -> Checked<Vec<Vec<HostId>>> {
        let all: Vec<HostId> = (0..self.platform.topology.hosts()).map(HostId).collect();
        let jobs = self.jobs;
        for has_hosts in [true, false] {
            for (at, job) in jobs.iter().enumerate().filter(|(_, job)| job.hosts.is_some() == has_hosts) {
                let hosts = job
                    .hosts
                    .as_ref()
                    .map(|written| hosts(self.source, written, self.platform.topology.hosts()))
                    .transpose()?;
                let free = self.free(JobId(at), hosts.as_deref().unwrap_or(&all));
                let free_hosts: Vec<HostId> = free.iter().map(|&(host, _)| host).collect();
                let chosen = self.policy(job)?.choose(ranks[at], &free_hosts);
                let chosen = chosen.ok_or_else(|| self.too_few(JobId(at), ranks[at], free.len()))?;
                let cores: Vec<HostCore> = chosen.into_iter().map(|place| free[place]).collect();
                self.count(&cores, 1);
                self.placed[at] = Some(cores);
            }
        }
        let hosts = |cores: Vec<HostCore>| cores.into_iter().map(|(host, _)| host).collect();
        Ok(self.placed.into_iter().flatten().map(hosts).collect())
    }

    /// The cores that a job can have on these hosts, host by host: those of no job that can run at the same time.
    fn free(&mut self, job: JobId, hosts: &[HostId]) -> Vec<HostCore> {
        let apart: Vec<Vec<HostCore>> = self.apart(job).filter_map(|other| self.placed[other.0].clone()).collect();
        apart.iter().for_each(|cores| self.count(cores, -1));
        let cores = |&host: &HostId| (0..self.platform.cores).map(move |core| (host, core));
        let free = hosts.iter().flat_map(cores).filter(|&core| self.holders[self.place_of(core)] == 0).collect();
        apart.iter().for_each(|cores| self.count(cores, 1));
        free
    }

    fn place_of(&self, (host, core): HostCore) -> usize {
        host.0 as usize * self.platform.cores as usize + core as usize
    }

    /// A job has these cores now, or has them no longer.
    fn count(&mut self, cores: &[HostCore], change: i32) {
        for &core in cores {
            let place = self.place_of(core);
            self.holders[place] = self.holders[place].wrapping_add_signed(change);
        }
    }

    /// The jobs that never run at the same time as `job`, because one of them waits for the end of the other.
    fn apart(&self, job: JobId) -> impl Iterator<Item = JobId> {
        ancestors(self.starts, job).chain(after(&self.followers, job))
    }

    /// The rule by which a job's ranks are put on its cores.
    fn policy(&self, job: &JobTable) -> Checked<Policy> {
        let Some(written) = &job.placement else {
            return match &self.platform.policy {
                Policy::Block => Ok(Policy::Block),
                Policy::RoundRobin => Ok(Policy::RoundRobin),
                &Policy::Random { seed } => Ok(Policy::Random { seed }),
                Policy::Explicit { .. } | Policy::Assigned { .. } => {
                    let message =
                        "the platform places the ranks of one program by a file, and here are several programs";
                    let mistake = self.source.wrong(&job.name, message);
                    Err(mistake.with_help("write placement = \"block\", and the hosts of the job"))
                }
            };
        };
        Ok(match written.get_ref() {
            JobPolicy::Block => Policy::Block,
            JobPolicy::RoundRobin => Policy::RoundRobin,
            JobPolicy::Random => Policy::Random { seed: job.seed },
        })
    }

    /// The mistake of a job that finds too few cores.
    fn too_few(&self, job: JobId, ranks: u32, free: usize) -> Mistake {
        let table = &self.jobs[job.0];
        let ranks = counted(ranks, "rank", "ranks");
        let name = table.name.get_ref();
        let apart: BTreeSet<JobId> = self.apart(job).collect();
        let is_beside = |other: &JobId| self.placed[other.0].is_some() && !apart.contains(other);
        let others = (0..self.jobs.len()).map(JobId).filter(is_beside);
        let others: Vec<&str> = others.map(|other| self.jobs[other.0].name.get_ref().as_str()).collect();
        let beside = match others.as_slice() {
            [] => String::new(),
            names => format!(" beside {}", names.join(", ")),
        };
        let message = format!("{name} has {ranks}, and {} free for it{beside}", {
            match free {
                1 => "1 core is".to_owned(),
                free => format!("{free} cores are"),
            }
        });
        let mistake = match &table.hosts {
            Some(hosts) => self.source.wrong(hosts, message),
            None => self.source.wrong(&table.name, message),
        };
        mistake.with_help(
            "name more hosts, or hosts of no other job; a job can have the cores of a job that it is `after`",
        )
    }
}

/// The hosts that a list names, in its order, of a platform of `all` hosts.
pub(crate) fn hosts(source: &Source, written: &Spanned<OneOrSeveral<HostRange>>, all: u32) -> Checked<Vec<HostId>> {
    let last = all - 1;
    let numbered = |mistake: Mistake| mistake.with_help(format!("hosts are numbered from 0 to {last}"));
    let mut hosts = Vec::new();
    for item in written.get_ref().as_slice() {
        let ranges = match item {
            HostRange::Number(number) => vec![(*number, *number)],
            HostRange::Text(text) => ranges_written(text)
                .ok_or_else(|| numbered(source.wrong(written, format!("`{text}` is no list of hosts"))))?,
        };
        for (first, end) in ranges {
            if end > last {
                let absent = first.max(last + 1);
                return Err(numbered(source.wrong(written, format!("there is no host {absent}"))));
            }
            hosts.extend((first..=end).map(HostId));
        }
    }
    let mut sorted = hosts.clone();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => {
            let mistake = source.wrong(written, format!("host {} is named twice", pair[0].0));
            Err(mistake.with_help("a host that is named once has room for a rank on each of its cores"))
        }
        None => Ok(hosts),
    }
}
