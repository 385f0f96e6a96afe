//! One replay of a simulation.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use titr_common::event::Rank;
use titr_common::format::plural;
use titr_common::time::Time;
use titr_common::trace::{Manifest, Trace};
use titr_common::units::Bytes;
use titr_network::packet::PacketStatistics;
use titr_network::topology::HostId;
use titr_network::{LinkLoad, Network, RailNetwork};
use titr_platform::job_mix::{Job, JobMix};
use titr_platform::{Platform, Policy};
use titr_workload::Workload;

use super::SimulationError;
use crate::cpu_time::cpu_time;
use crate::jobs::only_job;
use crate::noise::{Draw, VaryingNetwork};
use crate::observe::{Breakdown, Observer};
use crate::ranks::{Causality, Core, Deadlock, ReplayError};
use crate::recorded_speed::RecordedSpeeds;
use crate::replay::{Options, Outcome, ReplayProgress, replay};
use crate::shared_network::{SharedNetwork, SharedTime, parties};
use crate::warnings;

/// A trace, seen through all transformations, and the options that its replays have in common.
pub struct PreparedReplay<'a> {
    /// The trace as it was recorded.
    pub(super) original: &'a Trace,
    /// The trace that is replayed, seen through all transformations.
    pub(super) trace: Trace,
    /// Weights of the ranks' volumes.
    pub(super) worth: Arc<[f64]>,
    /// The rank, as it was recorded, of the first rank that is replayed.
    pub(super) first: Rank,
    /// The events that sends wait for.
    pub(super) causality: Causality,
    /// The random choices, if the replay is one of several that differ by chance.
    pub(super) draw: Option<Draw>,
    /// Whether blocking collectives use recorded messages.
    pub(super) recorded_collectives: bool,
    /// The jobs whose traces the trace is made of, if it is made of several.
    pub(super) mix: Option<&'a JobMix>,
    /// Whether another thread may read ahead.
    pub(super) read_ahead: bool,
}

/// The outcome of one run.
pub(super) struct Run {
    pub outcome: Outcome<Breakdown>,
    pub links: Vec<LinkLoad>,
    pub packets: Option<PacketStatistics>,
    /// The time for which jobs and loads shared links.
    pub shared: Vec<SharedTime>,
    /// Processor time of the thread that drove the replay.
    pub cpu: Duration,
}

/// The core of each of `ranks` ranks from `first` on on a platform, in one of several runs with different random choices. Ranks of one host share its
/// speed.
pub(super) fn cores(
    platform: &Platform,
    (first, ranks): (Rank, u32),
    run: u32,
    recorded: &RecordedSpeeds,
) -> Result<Vec<Core>, SimulationError> {
    let hosts = platform.place_in(run, ranks)?.0;
    let mut on_host = vec![0; platform.speeds.len()];
    hosts.iter().for_each(|host| on_host[host.0 as usize] += 1);
    let numbers = platform.policy.cores_of(&hosts);
    let core = |((rank, host), number): ((Rank, HostId), u32)| {
        let core = Core::for_recorded(platform, host, on_host[host.0 as usize], recorded.speed(rank));
        Core { number, ..core }
    };
    Ok((first.0..).map(Rank).zip(hosts).zip(numbers).map(core).collect())
}

impl PreparedReplay<'_> {
    /// The predicted time on a platform, without further observers.
    ///
    /// # Errors
    /// If the trace does not fit the platform, cannot be read, is invalid, or ends in a deadlock.
    pub fn time_on(&self, platform: &Platform) -> Result<Time, SimulationError> {
        Ok(self.run(0, platform, Vec::new(), None)?.outcome.simulated_time)
    }

    /// The predicted time of one of the jobs with the machine to itself, from its start.
    pub(super) fn time_alone(&self, job: &Job, platform: &Platform) -> Result<Time, SimulationError> {
        let trace = only_job(self.trace.clone(), job);
        let (worth, first) = (Arc::clone(&self.worth), Rank(job.ranks.start));
        let alone = PreparedReplay { trace, worth, first, mix: None, read_ahead: false, ..*self };
        let policy = Policy::Assigned { hosts: job.hosts.clone(), cores: Vec::new() };
        alone.time_on(&Platform { policy, ..platform.clone() })
    }

    /// Replays once; the number of the run determines the random choices.
    pub(super) fn run(
        &self,
        number: u32,
        platform: &Platform,
        mut observers: Vec<&mut dyn Observer>,
        follower: Option<&mut dyn ReplayProgress>,
    ) -> Result<Run, SimulationError> {
        let start = cpu_time();
        let recorded = RecordedSpeeds::of(self.original, &self.worth);
        let number = self.draw.map_or(number, Draw::run);
        let mut cores = cores(platform, (self.first, self.trace.ranks()), number, &recorded)?;
        if let (Some(draw), Some(detours)) = (self.draw, platform.spread.detours) {
            let ranks = (self.first.0..).map(Rank).zip(&mut cores);
            ranks.for_each(|(rank, core)| core.interruptions = Some(Arc::new(draw.detours(detours, rank))));
        }
        let streams = self.trace.streams()?;
        let workload = if self.read_ahead { Workload::read_ahead(streams) } else { Workload::new(streams) };
        let workload = workload.recorded_in(&self.trace);
        let (causality, partial, recorded_collectives) =
            (self.causality, self.original.is_partial(), self.recorded_collectives);
        let jobs = self.mix.map_or_else(Vec::new, |mix| mix.jobs.clone());
        let storage = platform.storage.clone();
        let options =
            Options { causality, partial, recorded_collectives, storage, jobs, follower, ..Options::default() };
        let breakdown = Breakdown::new(self.trace.ranks());
        let mpi = &platform.mpi;
        let network = platform.network(number);
        let network: Box<dyn Network> = match self.draw {
            Some(draw) if platform.spread.message > 0.0 => {
                Box::new(VaryingNetwork::new(network, draw, platform.spread.message))
            }
            Some(_) | None => network,
        };
        let mut network: Box<dyn Network> = match self.mix {
            Some(mix) => {
                observers.shared_by(&parties(mix));
                Box::new(SharedNetwork::new(network, mix, platform, number, observers.queries_network()))
            }
            None => network,
        };
        let outcome = if observers.is_empty() {
            replay(workload, cores, mpi, &mut *network, breakdown, options)
        } else {
            let outcome = replay(workload, cores, mpi, &mut *network, (breakdown, observers), options);
            outcome.map(|outcome| outcome.map(|(breakdown, _)| breakdown))
        };
        let outcome = outcome.map_err(|error| match error {
            ReplayError::Deadlock(deadlock) => {
                let manifest = self.original.manifest();
                let ended = manifest.and_then(warnings::unfinished);
                let causes = causes(&deadlock, manifest, mpi.eager_threshold);
                SimulationError::Deadlock { ended, deadlock, causes }
            }
            error => SimulationError::Replay(error),
        })?;
        let (network, shared) = if self.mix.is_some() {
            let network: Box<dyn Any> = network;
            match network.downcast::<SharedNetwork>() {
                Ok(shared) => shared.into_parts(outcome.simulated_time),
                Err(_) => unreachable!("the network of a mix is shared"),
            }
        } else {
            (network, Vec::new())
        };
        let network = VaryingNetwork::within(network);
        let packets = RailNetwork::packet_statistics(&*network, outcome.simulated_time);
        Ok(Run { outcome, links: network.link_loads(), packets, shared, cpu: cpu_time().saturating_sub(start) })
    }
}

/// The possible causes of a deadlock, one sentence each. If the manifest knows that the recorded run finished, the first says so.
pub(crate) fn causes(deadlock: &Deadlock, manifest: Option<&Manifest>, eager_threshold: Bytes) -> Vec<String> {
    let ended = manifest.filter(|manifest| !manifest.per_rank.is_empty()).map(warnings::unfinished);
    let mut causes: Vec<String> = Vec::new();
    if ended == Some(None) {
        causes.push("the recorded run did finish: all ranks called MPI_Finalize".to_owned());
    }
    if let Some((sends, Bytes(largest))) = deadlock.unbuffered {
        let (sends, wait) = (warnings::many(sends, "send", "sends"), plural(sends, "waits", "wait"));
        causes.push(format!(
            "perhaps the program relies on buffered sends, which MPI does not promise: {sends} of at least \
             mpi.eager_threshold ({} bytes) {wait}, and none does with --set 'mpi.eager_threshold={} B'",
            eager_threshold.0,
            largest.saturating_add(1)
        ));
    }
    if deadlock.locks > 0 {
        causes.push(format!(
            "perhaps locks of windows are granted in another order than in the recorded run: {} for a lock that \
             another rank holds",
            warnings::many(deadlock.locks, "wait is", "waits are")
        ));
    }
    if !matches!(ended, Some(Some(_))) {
        causes.push(
            "perhaps a part of the trace is missing, torn or of another run, or a call is not in it: see `titr check` and \
             `titr info`"
                .to_owned(),
        );
    }
    causes.extend(manifest.map(warnings::of_manifest).unwrap_or_default());
    causes
}
