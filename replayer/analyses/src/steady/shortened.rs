//! Traces without most iterations of a loop.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::Path;

use tempfile::TempDir;
use titr_common::event::{Event, Rank, ThreadId};
use titr_common::trace::manifest::{Counter, RankEntry};
use titr_common::trace::{Manifest, Passed, RankStream, RankWriter, Trace, TraceError, has_letter};
use titr_common::units::{Instructions, Seconds};
use titr_simulation::parallel::Jobs;
use titr_simulation::profile::{self, OwnWork};

use super::loops::Loop;
use super::sample::Sample;
use super::structure::ProgramLoop;

/// Two traces with parts of the iterations, and their properties.
pub(crate) struct Shortened {
    /// The trace of the longer sample.
    pub longer: Trace,
    /// The trace of the shorter one.
    pub shorter: Trace,
    /// The events that each rank executes in the longer trace before each of its iterations, and up to the end of the last.
    pub boundaries: Vec<VecDeque<u64>>,
    /// The computation of each rank.
    pub work: Vec<Work>,
    /// The directory of both traces, which is removed with this.
    _directory: TempDir,
}

/// The computation of a rank in the whole trace, from that in the longer one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Work {
    /// Its instructions in the whole trace over those in the longer one.
    pub instructions: f64,
    /// The time it sleeps in the longer trace.
    pub slept_longer: Seconds,
    /// The time it sleeps in the whole trace.
    pub slept: Seconds,
}

impl Work {
    /// The time of all computation, if the longer trace takes so long.
    pub(crate) fn time(self, longer: Seconds) -> Seconds {
        Seconds((longer.0 - self.slept_longer.0).max(0.0) * self.instructions + self.slept.0)
    }
}

/// A rank's part.
struct ShortenedRank {
    longer: RankEntry,
    shorter: RankEntry,
    boundaries: VecDeque<u64>,
    work: Work,
}

impl Shortened {
    /// Writes the traces into a temporary directory, reading the whole one once.
    ///
    /// # Errors
    /// If the trace cannot be read, or there is no room.
    pub(crate) fn write(trace: &Trace, program: &ProgramLoop, sample: &Sample, jobs: Jobs) -> Result<Self, TraceError> {
        let failed = |error| TraceError::Io { path: std::env::temp_dir(), error };
        let directory = tempfile::Builder::new().prefix("titr-steady-").tempdir().map_err(failed)?;
        let paths = [directory.path().join("longer"), directory.path().join("shorter")];
        for path in &paths {
            std::fs::create_dir(path).map_err(failed)?;
        }
        let ranks = jobs.map(trace.ranks() as usize, |rank| {
            let rank = Rank(rank as u32);
            let _reading = profile::enter(OwnWork::Reading);
            let entry = trace.manifest().and_then(|manifest| manifest.per_rank.get(rank.0 as usize)).cloned();
            let entry = entry.unwrap_or_else(|| RankEntry::new(rank, Counter::exact("unknown")));
            let writers = Writers::create(&paths, rank).map_err(failed)?;
            let found = program.ranks[rank.0 as usize];
            writers.copy(&mut trace.stream(rank)?, found, program.iterations, sample, entry)
        })?;
        let mut manifests = [Vec::new(), Vec::new()];
        let (mut boundaries, mut work) = (Vec::new(), Vec::new());
        for rank in ranks {
            manifests[0].push(rank.longer);
            manifests[1].push(rank.shorter);
            boundaries.push(rank.boundaries);
            work.push(rank.work);
        }
        let [longer, shorter] = manifests;
        let longer = open(trace, longer, &paths[0])?;
        let shorter = open(trace, shorter, &paths[1])?;
        Ok(Self { longer, shorter, boundaries, work, _directory: directory })
    }
}

/// Completes a directory and opens it.
fn open(of: &Trace, per_rank: Vec<RankEntry>, directory: &Path) -> Result<Trace, TraceError> {
    let manifest = of.manifest().cloned().unwrap_or_else(|| Manifest::of_unknown_origin(of.ranks()));
    let manifest = Manifest { config: BTreeMap::new(), per_rank, ..manifest };
    manifest.write(directory).map_err(|error| TraceError::Io { path: directory.into(), error })?;
    Trace::open(directory)
}

/// The streams of a rank in both traces.
struct Writers {
    longer: RankWriter,
    shorter: RankWriter,
    /// Events in the longer one that a replay executes.
    events: u64,
    /// Computation and sleeps in the longer one.
    work: Instructions,
    slept: Seconds,
}

impl Writers {
    fn create([longer, shorter]: &[std::path::PathBuf; 2], rank: Rank) -> io::Result<Self> {
        let (longer, shorter) = (RankWriter::create(longer, rank)?, RankWriter::create(shorter, rank)?);
        Ok(Self { longer, shorter, events: 0, work: Instructions(0.0), slept: Seconds(0.0) })
    }

    /// Copies a rank's events, but only those iterations of its loop that are in the sample.
    fn copy(
        mut self,
        stream: &mut RankStream,
        found: Loop,
        iterations: u64,
        sample: &Sample,
        entry: RankEntry,
    ) -> Result<ShortenedRank, TraceError> {
        self.events_of(stream, found.start, true)?;
        let mut passed = Passed::default();
        let (mut at, mut boundaries) = (0, VecDeque::new());
        for &kept in &sample.longer {
            stream.pass(&mut passed, (kept - at) * found.period)?;
            boundaries.push_back(self.events);
            self.events_of(stream, found.period, sample.shorter.binary_search(&kept).is_ok())?;
            at = kept + 1;
        }
        boundaries.push_back(self.events);
        stream.pass(&mut passed, (iterations - at) * found.period)?;
        self.events_of(stream, u64::MAX, true)?;
        let failed = |error| TraceError::Io { path: std::env::temp_dir(), error };
        let (kept, left_out) = (self.work.0, passed.work().0);
        let work = Work {
            instructions: if kept > 0.0 { (kept + left_out) / kept } else { 1.0 },
            slept_longer: self.slept,
            slept: Seconds(self.slept.0 + passed.slept().0),
        };
        Ok(ShortenedRank {
            longer: self.longer.finish(entry.clone()).map_err(failed)?,
            shorter: self.shorter.finish(entry).map_err(failed)?,
            boundaries,
            work,
        })
    }

    /// Copies the next events until `letters` of them have had letters; also to the shorter trace, if `both`.
    fn events_of(&mut self, stream: &mut RankStream, letters: u64, both: bool) -> Result<(), TraceError> {
        let mut left = letters;
        while left > 0 {
            let Some(event) = stream.next_event()? else { break };
            left -= u64::from(has_letter(&event));
            if let Event::Compute(work) = event {
                self.work.0 += work.0;
            } else if let Event::Sleep(time) = event {
                self.slept.0 += time.0;
            }
            self.events += u64::from(event.is_executed());
            let mut written = self.longer.write(ThreadId::MAIN, &event);
            if both {
                written = written.and_then(|()| self.shorter.write(ThreadId::MAIN, &event));
            }
            written.map_err(|error| TraceError::Io { path: std::env::temp_dir(), error })?;
        }
        Ok(())
    }
}
