//! `manifest.json`: the description of a trace, and for each rank its host, its measurement of computation, and what
//! its stream lacks.

use std::collections::BTreeMap;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::combined::Combined;
use super::encounter::Encounter;
use super::process_time::ProcessTime;
use crate::event::Rank;
use crate::units::{Bytes, Nanoseconds};

pub use super::ended::{Ended, Signal};

/// The version of the layout of a directory in which each rank has its stream and its entry.
pub const VERSION: u32 = 1;

/// The description of a whole trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// Version of the layout.
    pub titr: u32,
    /// The contents of the trace.
    pub mode: Mode,
    /// Size of the world.
    pub ranks: u32,
    /// The known ranks that ran without the tracer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untraced_ranks: Vec<u32>,
    /// The command line of the program on rank 0.
    #[serde(default)]
    pub command: Vec<String>,
    /// The MPI library, as it names itself.
    #[serde(default)]
    pub mpi: String,
    /// The time at which `MPI_Init` returned on rank 0, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<u64>,
    /// The settings of the tracer in effect, by the name of their variable.
    #[serde(default)]
    pub config: BTreeMap<String, String>,
    /// The tool that recorded the trace, if it was not titr's tracer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foreign: Option<ForeignOrigin>,
    /// The runs that the trace is combined from; `None` if one run recorded it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub combined: Option<Combined>,
    /// The names of call sites, once they have been looked up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<NamedCode>,
    /// The entry of each rank, in the order of ranks.
    #[serde(default)]
    pub per_rank: Vec<RankEntry>,
}

/// The origin of a trace that another tool recorded. A replay takes its times for computation unless the user says
/// otherwise.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ForeignOrigin {
    /// The name of the format, such as `OTF2`.
    pub format: String,
    /// The tool and its version, as the trace names it; empty if it does not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub creator: String,
}

/// The contents of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Volumes only.
    #[default]
    Ti,
    /// Volumes, times, and the messages that collectives are made of.
    Extended,
}

/// The description of a rank and its stream. What the ranks of a large trace mostly have in common is in memory once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankEntry {
    /// The number of the rank.
    pub rank: u32,
    /// The number of the rank's process.
    pub pid: u32,
    /// The times of the process, once the trace is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_time: Option<Box<ProcessTime>>,
    /// Everything else.
    #[serde(flatten)]
    pub recording: Arc<RankRecording>,
}

/// What is known of a rank and its stream, and may be the same for many ranks.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankRecording {
    /// The unique name of the run, the same for all its ranks; empty if the run has no name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub run: String,
    /// The command line of the rank's program, in a job of several programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// The host that the rank ran on.
    pub host: String,
    /// The processor that the rank ran on, as the system names it.
    #[serde(default)]
    pub cpu: String,
    /// How the rank's trace ended.
    pub ended: Ended,
    /// The number of events in the rank's stream.
    pub events: u64,
    /// Size of the text in the rank's stream, uncompressed.
    pub text: Bytes,
    /// Size of the rank's stream on disk.
    pub disk: Bytes,
    /// CRC-32 of the stream as stored on disk (as `gzip` and `crc32` compute it), once the stream is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crc32: Option<u32>,
    /// The counter that measured computation.
    pub counter: Counter,
    /// The clock of the rank's times, in an extended trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// The number of threads that called MPI. A thread that began after another had ended does not count again.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub threads: u32,
    /// The number of times that the program had to wait for the flush thread.
    #[serde(default)]
    pub stalls: u64,
    /// The number of events that could not be written.
    #[serde(default)]
    pub lost_events: u64,
    /// The error because of which events could not be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The number of calls of MPI functions that communicate but are not in the trace, by the name of the function.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub untraced: BTreeMap<String, u64>,
    /// The number of collectives, by name, that the library carried out itself in extended mode. The trace does not
    /// have their messages.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub opaque: BTreeMap<String, u64>,
    /// The number of calls of MPI functions that move no data, by the name of the function.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub local: BTreeMap<String, u64>,
    /// The rank's encounters with processes of other worlds, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub encounters: Vec<Encounter>,
    /// The modules that the addresses of call sites are in, the program itself first; none if call sites were not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<CodeModule>,
    /// The number of calls without an event because their peer was `MPI_PROC_NULL`, by the name of the function.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub null_peer: BTreeMap<String, u64>,
    /// The number of calls inside and outside the traced part of the program; `None` if the whole program was traced.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartCalls>,
}

impl Deref for RankEntry {
    type Target = RankRecording;

    fn deref(&self) -> &RankRecording {
        &self.recording
    }
}

impl DerefMut for RankEntry {
    fn deref_mut(&mut self) -> &mut RankRecording {
        Arc::make_mut(&mut self.recording)
    }
}

fn one() -> u32 {
    1
}

fn is_one(&number: &u32) -> bool {
    number == 1
}

/// The difference between the clock of a rank and the clock of rank 0, measured at the beginning and the end of the
/// rank: when the rank's clock shows *t* nanoseconds, rank 0's clock shows *t* + `offset` + `drift` × *t*.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Clock {
    /// The nanoseconds by which rank 0's clock is ahead when this clock shows 0.
    pub offset: f64,
    /// The nanoseconds that rank 0's clock gains on this clock in each nanosecond.
    pub drift: f64,
    /// The uncertainty of the offset, in nanoseconds.
    pub uncertainty: f64,
}

impl Clock {
    /// The time that rank 0's clock shows when this clock shows a time.
    pub fn at_rank_zero(&self, shown: Nanoseconds) -> Nanoseconds {
        let off = self.offset + self.drift * shown.0 as f64;
        // `as` saturates.
        Nanoseconds(shown.0.saturating_add_signed(off.round() as i64))
    }
}

/// The counter that computation was measured with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counter {
    /// The kind of counter: `papi`, `perf` or `cpu`.
    pub kind: String,
    /// The meaning of one unit of `compute`.
    pub unit: String,
    /// The instructions that a second of CPU time represents, if CPU time was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// The smallest difference that the counter can show, in its unit.
    pub resolution: f64,
    /// The relative precision to which volumes are rounded; 0 if they are not rounded.
    #[serde(default)]
    pub precision: f64,
    /// The volume that the tracer's hook adds between two calls, measured at the start. The tracer subtracts it.
    #[serde(default)]
    pub hook: f64,
    /// The count of the reference kernel by this counter.
    #[serde(rename = "yardstick", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<ReferenceCount>,
}

/// A rank's count of the reference kernel, a computation that every rank runs once at its start. It makes volumes of
/// different counters comparable.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReferenceCount {
    /// The volume of the kernel, in the counter's unit.
    pub volume: f64,
    /// CPU time that the kernel takes on this rank, in seconds.
    pub seconds: f64,
}

impl Manifest {
    /// The manifest of a complete trace with this number of ranks, about which nothing else is known.
    #[must_use]
    pub fn of_unknown_origin(ranks: u32) -> Self {
        let first = RankEntry::new(Rank(0), Counter::exact("unknown")).with(|first| first.ended = Ended::Finalize);
        let entry = |rank| RankEntry { rank, ..first.clone() };
        Self { titr: VERSION, ranks, per_rank: (0..ranks).map(entry).collect(), ..Self::default() }
    }

    /// The manifest of a complete trace in a format of another tool, with a time for each call. Computation between two
    /// calls is the time that passed, unless the reader of the format sets another counter.
    #[must_use]
    pub fn of_foreign(ranks: u32, format: &str, creator: &str) -> Self {
        let foreign = ForeignOrigin { format: format.to_owned(), creator: creator.to_owned() };
        let mut manifest = Self { mode: Mode::Extended, foreign: Some(foreign), ..Self::of_unknown_origin(ranks) };
        for entry in &mut manifest.per_rank {
            entry.counter = Counter {
                unit: "nanoseconds between calls".to_owned(),
                rate: Some(1e9),
                resolution: 1.0,
                ..Counter::exact("clock")
            };
        }
        manifest
    }

    /// The command lines of the job's programs, separated by colons as `mpirun` has them: of at most four programs, since
    /// each rank may have its own arguments.
    pub fn programs(&self) -> String {
        let all = std::iter::once(&self.command).chain(self.per_rank.iter().map(|entry| &entry.command));
        let mut programs: Vec<&Vec<String>> = Vec::new();
        for command in all.filter(|command| !command.is_empty()) {
            if programs.len() <= 4 && !programs.contains(&command) {
                programs.push(command);
            }
        }
        let mut texts: Vec<String> = programs.iter().take(4).map(|command| command.join(" ")).collect();
        texts.extend((programs.len() > 4).then(|| "…".to_owned()));
        texts.join(" : ")
    }

    /// The entry of a rank; `None` if there is no such rank, or it ran without the tracer.
    pub fn of_rank(&self, rank: Rank) -> Option<&RankEntry> {
        let at = self.per_rank.binary_search_by_key(&rank.0, |entry| entry.rank).ok()?;
        self.per_rank.get(at)
    }
}

impl Counter {
    /// A counter of exact volumes that were not measured, such as those of a generated trace.
    #[must_use]
    pub fn exact(kind: &str) -> Self {
        Self { kind: kind.to_owned(), unit: "instructions".to_owned(), ..Self::default() }
    }
}

impl RankEntry {
    /// The entry of a rank that has recorded nothing yet, on an unknown host.
    #[must_use]
    pub fn new(rank: Rank, counter: Counter) -> Self {
        let recording = RankRecording { counter, threads: 1, ..RankRecording::default() };
        Self { rank: rank.0, pid: 0, process_time: None, recording: Arc::new(recording) }
    }

    /// This entry with other facts.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut RankRecording)) -> Self {
        change(&mut self);
        self
    }
}

/// A file with code of the program: the program itself, or a library.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct CodeModule {
    /// The path of the file, on the host of the rank.
    pub path: String,
    /// The build id that the linker gave the file, in hexadecimal, which identifies the file; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub build_id: String,
}

/// The names of call sites in one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NamedCode {
    /// The file.
    pub module: CodeModule,
    /// The functions that a call is in, by the address in the file that it returns to: the function itself, and those that it
    /// is a part of by inlining.
    pub places: BTreeMap<u64, Vec<NamedFunction>>,
}

/// A function that makes a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedFunction {
    /// The name, as its language writes it.
    pub name: String,
    /// The file, without its folders, and the line of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<(String, u32)>,
}

/// The number of calls of a rank in the part of its program that is in the trace, and outside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartCalls {
    /// The number of times that the part began.
    pub times: u64,
    /// The number of calls before the part.
    pub before: u64,
    /// The number of calls in the part.
    pub inside: u64,
    /// The number of calls after the first beginning of the part that are not in it.
    pub after: u64,
}

/// A time, summed over some ranks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankTimes {
    /// The sum, in seconds.
    pub seconds: f64,
    /// The number of ranks in the sum.
    pub ranks: u64,
    /// The CPU time that was counted as computation in these ranks, in seconds.
    pub counted: f64,
}

impl RankTimes {
    /// The sum of a time over the ranks in which it [matters](ProcessTime::matters); `None` if it matters in none.
    pub fn that_matter(manifest: &Manifest, time: impl Fn(&ProcessTime) -> f64) -> Option<Self> {
        let all = manifest.per_rank.iter().filter_map(|entry| entry.process_time.as_deref());
        let mut sum = Self { seconds: 0.0, ranks: 0, counted: 0.0 };
        for of_rank in all.filter(|of_rank| of_rank.matters(time(of_rank))) {
            sum.seconds += time(of_rank);
            sum.ranks += 1;
            sum.counted += of_rank.counted();
        }
        (sum.ranks > 0).then_some(sum)
    }
}
