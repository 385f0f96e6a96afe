//! A simulation: a platform, a trace, and options.

mod run;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use thiserror::Error;
use titr_common::event::Rank;
use titr_common::time::Time;
use titr_common::trace::manifest::Mode;
use titr_common::trace::{Manifest, Trace, TraceError, Transformation};
use titr_network::packet::PacketStatistics;
use titr_platform::job_mix::JobMix;
use titr_platform::{Model, PlacementError, Platform, Policy, Spawn};
use titr_workload::{Computation, ComputeScaling, Normalise, RegionSpeeds};

use crate::cpu_time::per_second;
use crate::efficiencies::Efficiencies;
use crate::jobs::{JobResult, SharedLink};
use crate::noise::Draw;
use crate::normalisation::Comparison;
use crate::observe::Observer;
use crate::parallel::Jobs;
use crate::ranks::{Causality, Deadlock, ReplayError};
use crate::recorded_speed::{self, RecordedSpeeds};
use crate::recording::Recording;
use crate::replay::{Outcome, ReplayProgress};
use crate::result::{LinkUse, NetworkName, Packets, ReplaySpeed, Runs, SimulationResult, WorldRanks};
use crate::uncertainty::{disturbed_counts, is_unknown, of_volumes, uncertainty};
use crate::warnings;
use run::Run;

pub use run::PreparedReplay;

/// A replay of a trace on a platform, to be [run](Self::run).
#[must_use]
pub struct Simulation<'a> {
    /// The platform.
    pub platform: &'a Platform,
    /// The trace.
    pub trace: &'a Trace,
    mix: Option<&'a JobMix>,
    runs: u32,
    jobs: Jobs,
    read_ahead: bool,
    computation: Computation,
    compute_scale: f64,
    normalise: bool,
    recorded_collectives: bool,
    causality: Causality,
    channels: bool,
    draw: Option<Draw>,
    transformations: Vec<&'a dyn Transformation>,
    observers: Vec<&'a mut dyn Observer>,
    follower: Option<&'a mut dyn ReplayProgress>,
}

/// An error of a simulation.
#[derive(Debug, Error)]
pub enum SimulationError {
    /// The trace cannot be read.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The platform has no place for all ranks.
    #[error(transparent)]
    Placement(#[from] PlacementError),
    /// The trace is invalid.
    #[error(transparent)]
    Replay(ReplayError),
    /// The replay ends in a deadlock.
    #[error("{}{deadlock}{}", before(ended.as_ref()), causes.iter().map(|cause| format!("\n  {cause}")).collect::<String>())]
    Deadlock {
        /// How the recorded run ended, if a rank did not call `MPI_Finalize`.
        ended: Option<String>,
        /// The cycle or chain of waits.
        deadlock: Box<Deadlock>,
        /// Its possible causes, a sentence each.
        causes: Vec<String>,
    },
    /// The trace has no times by which computation could be timed.
    #[error("the trace is not an extended one, and has no times (TITRACE_MODE=extended)")]
    NoTimes,
    /// Computation was to be normalised; the text says which ranks cannot be compared.
    #[error("{0}")]
    NotComparable(String),
    /// The number of requested runs is zero.
    #[error("the number of runs must be at least 1")]
    NoRuns,
}

/// What is said before a deadlock: the recorded run ended early, which explains it.
fn before(ended: Option<&String>) -> String {
    ended.map_or_else(String::new, |how| {
        format!("the recorded run did not finish, and its trace ends there: {how}; --partial replays up to there\n  ")
    })
}

impl<'a> Simulation<'a> {
    /// A replay of `trace` on `platform`: one run, with the computation that was counted or, in a trace of another tool, timed.
    pub fn new(platform: &'a Platform, trace: &'a Trace) -> Self {
        Self {
            platform,
            trace,
            mix: None,
            runs: 1,
            jobs: Jobs::ONE,
            read_ahead: true,
            computation: Computation::of(trace),
            compute_scale: 1.0,
            normalise: false,
            recorded_collectives: false,
            causality: Causality::default(),
            channels: false,
            draw: None,
            transformations: Vec::new(),
            observers: Vec::new(),
            follower: None,
        }
    }

    /// Starts the ranks of each job at its time, and compares each job with its time alone. The trace is the mix's, and the
    /// platform places its ranks on the mix's hosts.
    pub fn job_mix(self, mix: &'a JobMix) -> Self {
        Self { mix: Some(mix), ..self }
    }

    /// Replays several times with different chance, where the network model has any.
    pub fn runs(self, runs: u32) -> Self {
        Self { runs, ..self }
    }

    /// Replays so often at the same time, where there are several replays. The result is the same for any number.
    pub fn jobs(self, jobs: Jobs) -> Self {
        Self { jobs, ..self }
    }

    /// Lets another thread read the trace ahead, if there are a core for it and few enough ranks. The result is the same.
    pub fn read_ahead(self, read_ahead: bool) -> Self {
        Self { read_ahead, ..self }
    }

    /// Takes the computation between calls from here.
    pub fn computation(self, computation: Computation) -> Self {
        Self { computation, ..self }
    }

    /// Multiplies the computation between calls by `factor`.
    pub fn compute_scale(self, factor: f64) -> Self {
        Self { compute_scale: factor, ..self }
    }

    /// Makes the counts of ranks comparable that do not count alike ([`Comparison`]).
    pub fn normalise(self, normalise: bool) -> Self {
        Self { normalise, ..self }
    }

    /// Makes collectives of the messages that an extended trace has of them, instead of a library's algorithms.
    pub fn recorded_collectives(self, recorded: bool) -> Self {
        Self { recorded_collectives: recorded, ..self }
    }

    /// Chooses which dependences sends respect.
    pub fn causality(self, causality: Causality) -> Self {
        Self { causality, ..self }
    }

    /// Lists each virtual channel of a packet network in the serialised result.
    pub fn channels(self, channels: bool) -> Self {
        Self { channels, ..self }
    }

    /// Replays the trace seen through `transformation`, after those that were named before. The number of ranks stays.
    pub fn transform(mut self, transformation: &'a dyn Transformation) -> Self {
        self.transformations.push(transformation);
        self
    }

    /// Tells `observer` of the first run.
    pub fn observe(mut self, observer: &'a mut dyn Observer) -> Self {
        self.observers.push(observer);
        self
    }

    /// Tells `follower` from time to time how far the replay is.
    pub fn follow(self, follower: &'a mut dyn ReplayProgress) -> Self {
        Self { follower: Some(follower), ..self }
    }

    /// Replays.
    ///
    /// # Errors
    /// If the trace does not fit the platform or the options, cannot be read, is invalid, or ends in a deadlock.
    pub fn run(self) -> Result<SimulationResult, SimulationError> {
        Ok(self.run_observed(Vec::new())?.0)
    }

    /// Replays, with `more` observers of the first run. The result has no findings. Also returns what is needed to replay on
    /// other platforms.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_observed<F>(
        mut self,
        more: Vec<&mut dyn Observer>,
    ) -> Result<(SimulationResult<F>, PreparedReplay<'a>), SimulationError> {
        if self.runs == 0 {
            return Err(SimulationError::NoRuns);
        }
        let (normalisation, unlike) = self.normalisation()?;
        // Before anything is read: a platform that is too small is the likelier mistake.
        let hosts = self.platform.place(self.trace.ranks())?.0;
        let replay = PreparedReplay {
            original: self.trace,
            trace: self.transformed(&normalisation)?,
            worth: normalisation.worth.as_slice().into(),
            first: Rank(0),
            causality: self.causality,
            draw: self.draw,
            recorded_collectives: self.recorded_collectives,
            mix: self.mix,
            read_ahead: self.read_ahead && !(self.runs > 1 && self.jobs.are_several()),
        };
        let mut observers: Vec<&mut dyn Observer> = Vec::new();
        observers.extend(std::mem::take(&mut self.observers).into_iter().map(|observer| observer as &mut dyn Observer));
        observers.extend(more.into_iter().map(|observer| observer as &mut dyn Observer));

        let start = Instant::now();
        let follower = self.follower.take();
        let (first, further) = self.jobs.map_with_main(
            || replay.run(0, self.platform, observers, follower),
            self.runs as usize - 1,
            |run| replay.run(1 + run as u32, self.platform, Vec::new(), None),
        )?;
        let Run { outcome, links, packets, shared, cpu } = first;
        let (mut times, mut packets, mut cpu) = (vec![outcome.simulated_time], Vec::from_iter(packets), cpu);
        for run in further {
            times.push(run.outcome.simulated_time);
            packets.extend(run.packets);
            cpu += run.cpu;
        }
        let jobs = self.mix.map_or(&[][..], |mix| &mix.jobs);
        let alone = self.jobs.map(jobs.len(), |at| replay.time_alone(&jobs[at], self.platform))?;
        let speed = speed((start.elapsed(), cpu), outcome.events, &times, &packets);

        let platform = self.platform;
        let network = NetworkName::from(platform);
        let simulated_time = outcome.simulated_time.seconds();
        let all_links = LinkUse::by_use(platform, &links, simulated_time);
        let packets = Packets::of(platform, packets, self.channels.then_some(&network));
        let of_manifest = self.trace.manifest().map(warnings::of_manifest).unwrap_or_default();
        let no_prediction =
            warnings::no_prediction(outcome.waiting, outcome.ranks as u64).into_iter().collect::<Vec<_>>();
        let torn = warnings::torn(&outcome.torn);
        let mut recording = self.trace.manifest().map(Recording::of);
        if let Some(ended) = warnings::torn_ranks(&outcome.torn) {
            let unknown = || Recording::of(&Manifest::of_unknown_origin(outcome.ranks as u32));
            recording.get_or_insert_with(unknown).ended.get_or_insert(ended);
        }
        let Outcome { ranks, computed, .. } = outcome;
        let per_rank: Vec<_> = outcome.observer.per_rank().collect();
        if computed.0 == 0.0
            && self.computation == Computation::Counted
            && let Some(recording) = recording.as_mut().filter(|_| per_rank.iter().any(|shares| shares.compute.0 > 0.0))
        {
            "fixed times".clone_into(&mut recording.counted);
        }
        let uncertainty = uncertainty(self.trace.manifest(), self.computation, simulated_time, &per_rank, &times);
        let of_platform = platform.warnings.clone();
        let of_speeds = match self.computation {
            _ if self.is_of_fixed_times() => recorded_speed::of_fixed_times(platform, self.trace.manifest()),
            Computation::Counted if computed.0 > 0.0 => {
                let of_counts = self.trace.manifest().and_then(disturbed_counts);
                let of_speeds = RecordedSpeeds::of(self.trace, &normalisation.worth).warnings(platform, ranks as u32);
                of_counts.into_iter().chain(of_speeds).collect()
            }
            Computation::Counted | Computation::Timed | Computation::Ignored => Vec::new(),
        };
        let mut shared = self.mix.map_or_else(Vec::new, |mix| SharedLink::of_jobs(mix, &shared, platform));
        let jobs: Vec<JobResult> = jobs
            .iter()
            .zip(outcome.started.into_iter().zip(alone))
            .zip(&mut shared)
            .map(|((job, (started, alone)), shared)| {
                JobResult::of(job, started, &per_rank, alone, std::mem::take(shared))
            })
            .collect();
        let result = SimulationResult {
            simulated_time,
            uncertainty,
            recording,
            ranks,
            worlds: if jobs.is_empty() { WorldRanks::of(self.trace) } else { Vec::new() },
            spawned_in_no_time: if platform.mpi.spawn == Spawn::default() { outcome.spawned } else { 0 },
            waiting_ranks: outcome.waiting,
            hosts_used: hosts.iter().collect::<HashSet<_>>().len(),
            events: outcome.events,
            computed,
            messages: outcome.messages,
            bytes: outcome.bytes,
            efficiencies: Efficiencies::of(&per_rank, simulated_time).filter(|_| jobs.is_empty()),
            jobs,
            per_rank,
            network,
            links: LinkUse::busiest(&all_links),
            all_links,
            packets,
            runs: (times.len() > 1).then(|| Runs::of(&times)),
            spread: None,
            left_out: None,
            analyses: None,
            tried: None,
            warnings: [
                no_prediction,
                torn,
                of_speeds,
                of_platform,
                outcome.warnings,
                outcome.approximations,
                of_manifest,
                unlike,
                self.trace.untranslated(),
            ]
            .concat(),
            replay: speed,
        };
        Ok((result, replay))
    }

    /// Whether computation is a time of the trace, whatever the hosts.
    fn is_of_fixed_times(&self) -> bool {
        let is_of_times = |manifest: &Manifest| manifest.foreign.is_some() && manifest.mode == Mode::Ti;
        match self.computation {
            Computation::Timed => true,
            Computation::Counted => self.trace.manifest().is_some_and(is_of_times),
            Computation::Ignored => false,
        }
    }

    /// The weight of each rank's counts, and warnings about ranks that do not count alike.
    fn normalisation(&self) -> Result<(Normalise, Vec<String>), SimulationError> {
        let (worth, unlike) = match self.trace.manifest().map(Comparison::of) {
            Some(comparison) if self.normalise => {
                (comparison.factors().map_err(SimulationError::NotComparable)?, Vec::new())
            }
            Some(comparison) => (Vec::new(), comparison.warnings()),
            None => (Vec::new(), Vec::new()),
        };
        Ok((Normalise { worth }, unlike))
    }

    /// The trace with the selected computation, seen through all transformations.
    fn transformed(&self, normalisation: &Normalise) -> Result<Trace, SimulationError> {
        let is_extended = self.trace.manifest().is_none_or(|manifest| manifest.mode == Mode::Extended);
        if self.computation == Computation::Timed && !is_extended {
            return Err(SimulationError::NoTimes);
        }
        let recompute = ComputeScaling { computation: self.computation, scale: self.drawn_compute_scale() };
        let regions = RegionSpeeds { parts: self.platform.region_speeds.clone() };
        let recomputed = regions.apply(normalisation.apply(recompute.apply(self.trace.clone())?)?)?;
        Ok(self.transformations.iter().try_fold(recomputed, |trace, transformation| transformation.apply(trace))?)
    }
}

/// The speed of the runs that predicted `times`, of `events` events each, from their wall-clock and processor time.
fn speed((wall, cpu): (Duration, Duration), events: u64, times: &[Time], packets: &[PacketStatistics]) -> ReplaySpeed {
    let phit_hops: u64 = packets.iter().map(|packets| packets.phit_hops).sum();
    ReplaySpeed {
        wall_seconds: wall.as_secs_f64(),
        events_per_second: per_second(events as f64 * times.len() as f64, wall),
        phit_hops_per_second: (!packets.is_empty()).then(|| per_second(phit_hops as f64, cpu)),
    }
}

impl Simulation<'_> {
    /// Replays with random choices for everything that is known to vary: what the platform's [`Spread`](titr_platform::Spread)
    /// names except the uncertainty of keys, the recorded volumes, a random placement, and the choices of a packet network.
    pub fn draw(self, draw: Draw) -> Self {
        Self { draw: Some(draw), ..self }
    }

    /// Whether anything is known to vary from run to run.
    #[must_use]
    pub fn varies(&self) -> bool {
        let has_chance = match self.platform.model {
            Model::Packet(_) => true,
            Model::Flow(_) | Model::Ideal => matches!(self.platform.policy, Policy::Random { .. }),
        };
        has_chance || !self.platform.spread.is_none() || self.deviation_of_volumes() > 0.0
    }

    /// The factor on computation: the one that was asked for, and that of the draw.
    fn drawn_compute_scale(&self) -> f64 {
        let drawn = self.draw.map_or(1.0, |draw| draw.factor_on_volumes(self.deviation_of_volumes()));
        self.compute_scale * drawn
    }

    /// The relative standard deviation of the recorded volumes, as far as it is known.
    fn deviation_of_volumes(&self) -> f64 {
        match (self.computation, self.trace.manifest()) {
            (Computation::Counted, Some(manifest)) if !is_unknown(manifest) => of_volumes(manifest).unwrap_or_default(),
            (Computation::Counted | Computation::Timed | Computation::Ignored, _) => 0.0,
        }
    }
}
