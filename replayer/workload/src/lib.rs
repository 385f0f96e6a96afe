//! The source of each rank's next event.
//!
//! An event passes these stages in order:
//!
//! 1. an [`EventSource`] for each rank: a trace on disk, a list, or any other source of a rank's events with their
//!    places;
//! 2. adapters around it, which are sources themselves, such as those that [`ComputeScaling`] makes;
//! 3. [batches](prefetch), which a thread fills ahead of time, invisibly to later stages;
//! 4. a [`Window`] for each rank, which finds facts about an event that the trace holds later.
//!
//! The result is a [`Workload`]. It has the events of a rank in the order of the trace, with its threads interleaved;
//! the simulated ranks distribute them to the threads.

mod computation;
mod prefetch;
mod window;

use std::thread;

use titr_common::event::Rank;
use titr_common::trace::{EventSource, Trace};

use prefetch::BatchReader;

pub use computation::{Computation, ComputeScaling, Normalise, RegionSpeeds};
pub use window::{Match, Window};

/// Bytes of events in a batch of one rank, and in the batches of all ranks together if that is less, but at least the
/// size of an iteration of a small loop.
const BATCH: usize = 16 << 10;
const BATCHES: usize = 8 << 20;
const LEAST_BATCH: usize = 2 << 10;
/// Smaller batches are read on demand: reading ahead would need two batches for each of thousands of ranks.
const LEAST_AHEAD: usize = 8 << 10;

/// The events of all ranks.
pub struct Workload<S> {
    /// The events of each rank.
    pub windows: Vec<Window<S>>,
}

impl<S: EventSource> Workload<S> {
    /// The events of one source for each rank, read on demand.
    pub fn new(sources: Vec<S>) -> Self {
        let size = size_of_batches(sources.len());
        Self::in_batches(sources, size)
    }

    /// The events of one source for each rank, read ahead by another thread if there is a core for it and the ranks are few
    /// enough to gain by it.
    pub fn read_ahead(sources: Vec<S>) -> Self
    where
        S: Send + 'static,
    {
        let size = size_of_batches(sources.len());
        if size >= LEAST_AHEAD && thread::available_parallelism().is_ok_and(|cores| cores.get() > 1) {
            return Self::read_ahead_in_batches(sources, size);
        }
        Self::new(sources)
    }

    /// [`new`](Self::new) with batches of about `size` bytes, which changes nothing but speed and memory.
    pub fn in_batches(sources: Vec<S>, size: usize) -> Self {
        let windows = sources.into_iter().map(|source| Window::new(BatchReader::new(source, size))).collect();
        Self { windows }
    }

    /// [`read_ahead`](Self::read_ahead) with batches of about `size` bytes, on however many cores.
    pub fn read_ahead_in_batches(sources: Vec<S>, size: usize) -> Self
    where
        S: Send + 'static,
    {
        let Ok(jobs) = prefetch::spawn(sources.len()) else { return Self::in_batches(sources, size) };
        let reader = |source| BatchReader::new(source, size).ahead(&jobs);
        Self { windows: sources.into_iter().map(|source| Window::new(reader(source))).collect() }
    }

    /// With what the manifest of its trace tells: where the tracer saw no call of `MPI_Cancel`, nobody looks for cancelled
    /// requests.
    #[must_use]
    pub fn recorded_in(mut self, trace: &Trace) -> Self {
        let may_cancel = trace.manifest().is_none_or(|manifest| {
            let mut ranks = manifest.per_rank.iter();
            manifest.command.is_empty() || ranks.any(|entry| entry.local.contains_key("MPI_Cancel"))
        });
        self.windows.iter_mut().for_each(|window| window.set_may_cancel(may_cancel));
        self
    }

    /// The events of `rank`.
    ///
    /// # Panics
    /// If the world is smaller.
    pub fn rank(&mut self, rank: Rank) -> &mut Window<S> {
        &mut self.windows[rank.0 as usize]
    }
}

/// Batches as large as memory allows: together, twice [`BATCHES`] at most where they are read ahead, without the rounds of loops.
fn size_of_batches(ranks: usize) -> usize {
    (BATCHES / ranks.max(1)).clamp(LEAST_BATCH, BATCH)
}
