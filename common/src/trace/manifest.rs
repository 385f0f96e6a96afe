//! `manifest.json`: what the trace is, and for each rank where, how and how completely it was taken.
//!
//! Nobody has to outlive anybody for it: rank 0 writes the part about the run, each rank keeps an entry of its own in a
//! file beside its stream, and whoever ends last folds the entries into the manifest. A reader lays the entries that
//! still lie about over those in the manifest, so a run of which some ranks were killed, or that wrote to disks that
//! are not shared, can be read as well.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::directory;
use super::encounter::Encounter;
pub use super::ended::{Ended, Signal};
use super::error::TraceError;
use super::part_calls::PartCalls;
use super::process_time::ProcessTime;
use crate::event::Rank;
use crate::units::Bytes;

/// The version of the directory's layout that this code writes and reads.
pub const VERSION: u32 = 1;

/// The description of a whole trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// Version of the layout.
    pub titr: u32,
    /// The contents of the trace.
    pub mode: Mode,
    /// Size of the world.
    pub ranks: u32,
    /// The ranks that ran without the tracer, as far as they are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untraced_ranks: Vec<u32>,
    /// The program's command line, of rank 0.
    #[serde(default)]
    pub command: Vec<String>,
    /// The MPI library, as it names itself.
    #[serde(default)]
    pub mpi: String,
    /// The effective configuration of the tracer, by variable.
    #[serde(default)]
    pub config: BTreeMap<String, String>,
    /// The entry of each rank, in the order of ranks.
    #[serde(default)]
    pub per_rank: Vec<RankEntry>,
}

/// The contents of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Volumes only.
    Ti,
    /// Volumes, times, and the messages that collectives are made of.
    Extended,
}

/// How one rank was traced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RankEntry {
    /// The name of the run, the same for all its ranks and for no other run's; empty where it was not named.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub run: String,
    /// The number of the rank.
    pub rank: u32,
    /// The host that the rank ran on.
    pub host: String,
    /// The processor that the rank ran on, as the system names it.
    #[serde(default)]
    pub cpu: String,
    /// The number of the rank's process.
    pub pid: u32,
    /// How the rank's trace ended.
    pub ended: Ended,
    /// The number of events in the rank's stream.
    pub events: u64,
    /// Size of the text in the rank's stream, uncompressed.
    pub text: Bytes,
    /// Size of the rank's stream on disk.
    pub disk: Bytes,
    /// CRC-32 of its stream as it is on disk (as `gzip` and `crc32` compute it), once it is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crc32: Option<u32>,
    /// How computation was measured.
    pub counter: Counter,
    /// The clock of its times, in an extended trace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<Clock>,
    /// How many threads called MPI, not counting those that began after others had ended.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub threads: u32,
    /// How often the program had to wait for the flush thread.
    #[serde(default)]
    pub stalls: u64,
    /// Events that could not be written.
    #[serde(default)]
    pub lost_events: u64,
    /// Why events could not be written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Calls of MPI functions that communicate and that the trace does not hold, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub untraced: BTreeMap<String, u64>,
    /// Collectives that the library executed itself in extended mode, so that the trace has no messages for them. By
    /// name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub opaque: BTreeMap<String, u64>,
    /// Calls of MPI functions that move no data, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub local: BTreeMap<String, u64>,
    /// The rank's encounters with processes of other worlds, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub encounters: Vec<Encounter>,
    /// The modules that the addresses of call sites are in, the program itself first; none if call sites were not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<CodeModule>,
    /// Calls that the trace has no event for as their peer was `MPI_PROC_NULL`, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub null_peer: BTreeMap<String, u64>,
    /// How the process spent its time, once the trace is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process_time: Option<ProcessTime>,
    /// The calls in the part of the program that was to be traced and outside, if that was not all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartCalls>,
}

fn one() -> u32 {
    1
}

fn is_one(&number: &u32) -> bool {
    number == 1
}

/// A file with code of the program: the program itself, or a library.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct CodeModule {
    /// The path of the file, on the host of the rank.
    pub path: String,
    /// The number that its linker gave it, in hexadecimal, by which it can be told from another file; empty where it gave none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub build_id: String,
}

/// How the clock of a rank differs from that of rank 0, as measured at its beginning and its end: when it shows *t*
/// nanoseconds, rank 0's shows *t* + `offset` + `drift` × *t*.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Clock {
    /// Nanoseconds that rank 0's clock is ahead when this one shows 0.
    pub offset: f64,
    /// Nanoseconds that rank 0's clock gains on this one in each nanosecond.
    pub drift: f64,
    /// By how many nanoseconds the offset may be wrong.
    pub uncertainty: f64,
}

/// The counter that computation was measured with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Counter {
    /// The kind of counter: `papi`, `perf` or `cpu`.
    pub kind: String,
    /// The meaning of one unit of `compute`.
    pub unit: String,
    /// Instructions that a second of CPU time stands for, where time was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// The smallest difference that the counter can show, in its unit.
    pub resolution: f64,
    /// The precision that volumes are rounded to, as a part of them; 0 where each is as it was counted.
    #[serde(default)]
    pub precision: f64,
    /// The volume that a hook adds between two calls, as measured at the start; it is subtracted.
    #[serde(default)]
    pub hook: f64,
    /// The count of the reference kernel by this counter.
    #[serde(rename = "yardstick", default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<ReferenceCount>,
}

/// A rank's count of the reference kernel, a computation that every rank runs once at its start. It makes volumes of
/// unlike counters comparable.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReferenceCount {
    /// The volume of the kernel, in the counter's unit.
    pub volume: f64,
    /// CPU time that the kernel takes on this rank, in seconds.
    pub seconds: f64,
}

impl Manifest {
    /// The manifest of a whole trace of which nothing is known but its size.
    #[must_use]
    pub fn of_unknown_origin(ranks: u32) -> Self {
        let entry =
            |rank| RankEntry { ended: Ended::Finalize, ..RankEntry::new(Rank(rank), Counter::exact("unknown")) };
        Self {
            titr: VERSION,
            mode: Mode::Ti,
            ranks,
            command: Vec::new(),
            mpi: String::new(),
            config: BTreeMap::new(),
            untraced_ranks: Vec::new(),
            per_rank: (0..ranks).map(entry).collect(),
        }
    }

    /// Writes what rank 0 knows.
    ///
    /// # Errors
    /// Where it cannot be written.
    pub fn write(&self, directory: &Path) -> io::Result<()> {
        replace(&directory::manifest(directory), self)
    }

    /// Returns `manifest`, read from `path`, if it is of the version that is known.
    pub(super) fn of_version(path: &Path, manifest: Self) -> Result<Self, TraceError> {
        if manifest.titr != VERSION {
            let what = format!("version {} of the layout, and this titr reads {VERSION}", manifest.titr);
            return Err(TraceError::Directory { path: path.into(), what });
        }
        Ok(manifest)
    }

    /// As it stands in a file.
    ///
    /// # Errors
    /// Where a number in it has no place in JSON.
    pub fn to_json(&self) -> io::Result<Vec<u8>> {
        to_json(self)
    }
}

impl Counter {
    /// Of volumes that nothing has measured: they are what `kind` says, exactly.
    #[must_use]
    pub fn exact(kind: &str) -> Self {
        let (kind, unit) = (kind.to_owned(), "instructions".to_owned());
        Self { kind, unit, rate: None, resolution: 0.0, precision: 0.0, hook: 0.0, reference: None }
    }
}

impl RankEntry {
    /// Of a rank that has recorded nothing yet, nobody says where.
    #[must_use]
    pub fn new(rank: Rank, counter: Counter) -> Self {
        Self {
            run: String::new(),
            rank: rank.0,
            host: String::new(),
            cpu: String::new(),
            pid: 0,
            ended: Ended::Running,
            events: 0,
            text: Bytes(0),
            disk: Bytes(0),
            crc32: None,
            counter,
            clock: None,
            threads: 1,
            stalls: 0,
            lost_events: 0,
            error: None,
            untraced: BTreeMap::new(),
            opaque: BTreeMap::new(),
            local: BTreeMap::new(),
            encounters: Vec::new(),
            modules: Vec::new(),
            null_peer: BTreeMap::new(),
            process_time: None,
            part: None,
        }
    }

    /// Writes the entry beside the rank's stream.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, directory: &Path) -> io::Result<()> {
        let path = directory::entry(directory, Rank(self.rank));
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        replace(&path, self)
    }

    /// Writes the final entry. Whoever of the world's `ranks` does so last folds all entries into the manifest.
    ///
    /// # Errors
    /// Where it cannot be written; what was written stays readable.
    pub fn end(&self, directory: &Path, ranks: u32) -> io::Result<()> {
        self.write(directory)?;
        let mut ended = OpenOptions::new().create(true).append(true).open(directory::ended(directory))?;
        // One byte a rank: the file's length counts them without anybody reading a directory of thousands.
        ended.write_all(b".")?;
        let all = ended.metadata()?.len() == u64::from(ranks);
        // Two that end at once both see the full count; the one that removes the file is the last.
        let last = all && fs::remove_file(directory::ended(directory)).is_ok();
        if last { fold(directory, ranks) } else { Ok(()) }
    }
}

/// Moves all entries into the manifest.
fn fold(directory: &Path, ranks: u32) -> io::Result<()> {
    let manifest = Manifest::read(directory).map_err(io::Error::other)?;
    manifest.write(directory)?;
    for rank in 0..ranks {
        fs::remove_file(directory::entry(directory, Rank(rank)))?;
    }
    Ok(())
}

/// Writes `value` under a temporary name and renames it, so that nobody reads half of it.
fn replace(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let temporary = path.with_extension(format!("json.{}", std::process::id()));
    let written = fs::write(&temporary, to_json(value)?).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // Best effort: the error that matters is the one above.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn to_json(value: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(value)?;
    text.push(b'\n');
    Ok(text)
}

/// The value in the text of the file at `path`, which is read as far as it makes sense.
pub(super) fn from_json<T: DeserializeOwned>(path: &Path, text: impl io::Read) -> Result<T, TraceError> {
    serde_json::from_reader(io::BufReader::with_capacity(1 << 16, text)).map_err(|error| match error.io_error_kind() {
        Some(kind) => TraceError::io(path)(io::Error::new(kind, error)),
        None => TraceError::Manifest {
            path: path.into(),
            line: error.line(),
            column: error.column(),
            // serde_json appends the place to its message; it stands before it here.
            what: error.to_string().split(" at line ").next().unwrap_or_default().to_owned(),
        },
    })
}
