//! The main loop of a replay, between ranks and network.

use titr_common::event::Rank;
use titr_common::time::Time;
use titr_common::trace::EventSource;
use titr_common::units::{Bytes, Instructions, Speed};
use titr_network::Network;
use titr_platform::job_mix::Job;
use titr_platform::{Mpi, Storage};
use titr_workload::Workload;

use crate::observe::{Observer, Traffic};
use crate::ranks::{Causality, Core, Ranks, ReplayError};

/// Options of a replay.
#[derive(Default)]
pub struct Options<'a> {
    /// The events that sends wait for.
    pub causality: Causality,
    /// Whether ranks that wait forever are accepted, because the trace is known to be incomplete.
    pub partial: bool,
    /// Whether blocking collectives use the messages recorded in an extended trace.
    pub recorded_collectives: bool,
    /// Whether the sizes on both sides of a transfer are checked against each other.
    pub compares_amounts: bool,
    /// The storage that holds files.
    pub storage: Storage,
    /// The jobs that the ranks are of; empty if all ranks are of one program.
    pub jobs: Vec<Job>,
    /// The follower of the replay, which receives progress reports.
    pub follower: Option<&'a mut dyn ReplayProgress>,
}

/// Follows how far a replay is.
pub trait ReplayProgress {
    /// Reports that `events` are replayed and `simulated` seconds have passed in the simulation.
    fn at(&mut self, events: u64, simulated: f64);
}

/// Number of turns of the loop between two progress reports.
const REPORT_EVERY: u64 = 1 << 14;

/// The outcome of a replay.
#[derive(Clone, Debug)]
pub struct Outcome<O> {
    /// The end of the last rank.
    pub simulated_time: Time,
    /// Size of the world.
    pub ranks: usize,
    /// Events replayed.
    pub events: u64,
    /// The volume of computation that the cores carried out.
    pub computed: Instructions,
    /// Messages that entered the network.
    pub messages: u64,
    /// Payload of these messages.
    pub bytes: Bytes,
    /// Processes that were spawned.
    pub spawned: u64,
    /// When each job started; `None` of a job that waits for ever.
    pub started: Vec<Option<Time>>,
    /// The number of ranks that wait forever for something missing from an incomplete trace.
    pub waiting: u64,
    /// The ranks whose streams are incomplete, and why.
    pub torn: Vec<(Rank, String)>,
    /// Sentences on what could not be simulated faithfully, and what was left unmatched.
    pub warnings: Vec<String>,
    /// Sentences on the ways in which the replay of a sound trace deviates from the program.
    pub approximations: Vec<String>,
    /// The observer.
    pub observer: O,
}

impl<A> Outcome<A> {
    /// This outcome with another observer, made of the one that there is.
    #[must_use]
    pub fn map<B>(self, observer: impl FnOnce(A) -> B) -> Outcome<B> {
        let Self { simulated_time, ranks, events, computed, messages, bytes, spawned, started, waiting, .. } = self;
        let (warnings, approximations, observer) = (self.warnings, self.approximations, observer(self.observer));
        let torn = self.torn;
        Outcome {
            simulated_time,
            ranks,
            events,
            computed,
            messages,
            bytes,
            spawned,
            started,
            waiting,
            torn,
            warnings,
            approximations,
            observer,
        }
    }
}

/// Replays `workload` with its ranks on `cores`, over `network`.
///
/// # Errors
/// If the trace cannot be read or is invalid, or where it ends in a deadlock or on request.
pub fn replay<S: EventSource, O: Observer>(
    workload: Workload<S>,
    mut cores: Vec<Core>,
    mpi: &Mpi,
    network: &mut (impl Network + ?Sized),
    observer: O,
    mut options: Options,
) -> Result<Outcome<O>, ReplayError> {
    let count = workload.windows.len();
    let free;
    let mpi = if options.causality.is_timed() {
        mpi
    } else {
        cores.iter_mut().for_each(|core| *core = Core::new(core.host, Speed { per_second: f64::INFINITY }));
        free = mpi.without_overheads();
        options.storage = options.storage.without_time();
        &free
    };
    let observer = (Traffic::default(), observer);
    let calls = (options.recorded_collectives, options.compares_amounts);
    let mut ranks = Ranks::new(workload, cores, (mpi, options.storage), options.causality, calls, observer)?;
    ranks.start(options.jobs);
    let mut delivered = Vec::new();
    for turn in 1_u64.. {
        ranks.run(network)?;
        let (own, wires) = (ranks.next_event(), network.next_event());
        let now = match (own, wires) {
            (Some(own), Some(wires)) => own.min(wires),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) if ranks.begin_threads()? || ranks.give_way() => continue,
            (None, None) => break,
        };
        if now == Time::NEVER {
            return Err(ranks.unreachable(network.first_unreachable()));
        }
        network.advance(now, &mut delivered);
        ranks.advance(now, network, &mut delivered);
        if turn.is_multiple_of(REPORT_EVERY)
            && let Some(follower) = &mut options.follower
        {
            follower.at(ranks.events(), now.seconds().0);
        }
    }
    if !ranks.all_finished() && !options.partial {
        return Err(ReplayError::Deadlock(Box::new(ranks.deadlock())));
    }
    let (simulated_time, events, computed, waiting) =
        (ranks.finish(), ranks.events(), ranks.computed(), ranks.waiting());
    let (warnings, approximations, spawned) = (ranks.warnings(), ranks.approximations(), ranks.spawned());
    let (started, torn) = (ranks.started(), ranks.torn());
    let (Traffic { messages, bytes }, observer) = ranks.into_observer();
    Ok(Outcome {
        simulated_time,
        ranks: count,
        events,
        computed,
        messages,
        bytes,
        spawned,
        started,
        waiting,
        torn,
        warnings,
        approximations,
        observer,
    })
}
