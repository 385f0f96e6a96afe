//! Checks whether a trace can be replayed on any machine, by replaying it on one where nothing takes time.
//!
//! This reveals everything that would stop a replay: unmatched messages and receives, collectives that some members did
//! not call or called with inconsistent amounts of data, requests that were never created. A trace without such faults
//! is replayed a second time, without buffered sends, to see whether it relies on them.

use std::collections::BTreeMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;
use std::thread;

use rustc_hash::FxHashMap;
use titr_common::event::Rank;
use titr_common::format::{count, counted, plural, ranges};
use titr_common::trace::manifest::{Ended, Signal};
use titr_common::trace::{Manifest, Trace, TraceError};
use titr_common::units::Bytes;
use titr_simulation::{
    Comparison, DryRun, NEVER_COMPLETED, ReplayProgress, dry_run, relies_on_buffers, uncounted_computation, unfinished,
};

use super::inventory::Inventory;
use super::open_requests;

/// The result of a check.
#[derive(Clone, Debug, Default)]
pub(crate) struct Verdict {
    /// Faults of the trace; none, if it is sound.
    pub findings: Vec<String>,
    /// Facts that should be known of a sound trace too.
    pub warnings: Vec<String>,
    /// The deadlock in which a sound trace ends where no send is buffered.
    pub relies_on_buffers: Option<String>,
}

/// Checks a trace, and tells `follower` how far the check is.
pub(crate) fn check(trace: &Trace, follower: Option<&mut dyn ReplayProgress>) -> Result<Verdict, TraceError> {
    let mut warnings = trace.manifest().map(|manifest| Comparison::of(manifest).warnings()).unwrap_or_default();
    let (aborted, ended): (Vec<_>, Vec<_>) =
        trace.manifest().and_then(unfinished).into_iter().partition(|_| trace.manifest().is_some_and(was_aborted));
    warnings.extend(ended);
    warnings.extend(trace.manifest().and_then(unwritten));
    warnings.extend(trace.manifest().into_iter().flat_map(uncounted_computation));
    let (DryRun { findings, survived }, last_calls) = faults(trace, follower)?;
    warnings.extend(last_calls);
    let (left_open, mut findings): (Vec<_>, Vec<_>) =
        findings.into_iter().partition(|finding| finding.ends_with(NEVER_COMPLETED));
    for what in left_open {
        let is_of_program = trace.manifest().is_none_or(|manifest| unfinished(manifest).is_none());
        let why = match is_of_program {
            true => {
                "the program neither waits for them nor frees them, as MPI demands; a replay does as the program did"
            }
            false => "the run ended before",
        };
        let calls: String = open_requests::by_call(trace)?.iter().map(|call| format!("\n  {call}")).collect();
        if is_of_program { &mut warnings } else { &mut findings }.push(format!("{what}: {why}{calls}"));
    }
    findings.extend(aborted.into_iter().map(|what| format!("{what}: the trace ends where the run was aborted")));
    let lived = |what| format!("{what}\n  the recorded run went on after this error, and so does a replay");
    warnings.extend(survived.into_iter().map(lived));
    warnings.extend(trace.untranslated());
    let relies_on_buffers = if findings.is_empty() { relies_on_buffers(trace)? } else { None };
    Ok(Verdict { findings, warnings, relies_on_buffers })
}

/// A sentence on the last calls of the ranks of a run that somebody ended from outside, as it hung.
fn hang(manifest: &Manifest, last_calls: &BTreeMap<&str, Vec<u32>>) -> Option<String> {
    let is_from_outside = |ended| matches!(ended, Ended::Signal(Signal(SIGINT | SIGTERM)));
    if manifest.per_rank.is_empty() || !manifest.per_rank.iter().all(|rank| is_from_outside(rank.ended)) {
        return None;
    }
    let of = |(call, ranks): (&&str, &Vec<u32>)| {
        format!("{call} on {} {}", plural(ranks.len() as u64, "rank", "ranks"), ranges(ranks))
    };
    let last = last_calls.iter().map(of).collect::<Vec<_>>().join(", ");
    let is_polling = |call: &str| call.starts_with("test") || call == "iprobe";
    match last_calls.keys().all(|call| is_polling(call)) {
        _ if last_calls.is_empty() => None,
        true => Some(format!("last recorded calls: {last}: the run polled to its end")),
        false => Some(format!(
            "last recorded calls: {last}; if the run hung, it was in later calls, which never returned and are not in the trace"
        )),
    }
}

/// The signals of Ctrl-C, and of launchers and batch systems.
const SIGINT: i32 = 2;
const SIGTERM: i32 = 15;

/// A sentence on ranks whose events could not be written.
fn unwritten(manifest: &Manifest) -> Option<String> {
    let mut errors = manifest.per_rank.iter().filter_map(|entry| entry.error.as_ref());
    let first = errors.next()?;
    match errors.count() as u64 {
        0 => Some(first.clone()),
        more => Some(format!("{first}; nor could {} {}", count(more), plural(more, "other rank", "other ranks"))),
    }
}

/// Whether a rank ended the run before its end.
fn was_aborted(manifest: &Manifest) -> bool {
    manifest.per_rank.iter().any(|rank| rank.ended == Ended::Abort)
}

/// The faults of a trace and those that it survives, and the last calls of a run that hung, perhaps. It is read and replayed at
/// the same time; faults that the replay finds in an unreadable trace are ignored.
fn faults(trace: &Trace, follower: Option<&mut dyn ReplayProgress>) -> Result<(DryRun, Option<String>), TraceError> {
    let (read, replayed) = thread::scope(|scope| {
        // If the system has no more threads, it is done afterwards.
        let reader = thread::Builder::new().spawn_scoped(scope, || read(trace));
        let replayed = dry_run(trace, follower);
        (reader.map_or_else(|_| Ok(read(trace)), |reader| reader.join()), replayed)
    });
    let read = read.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    if !read.unreadable.is_empty() {
        return Ok((DryRun { findings: read.unreadable, survived: Vec::new() }, read.last_calls));
    }
    let DryRun { findings, survived } = replayed?;
    Ok((DryRun { findings: read.others.into_iter().chain(findings).collect(), survived }, read.last_calls))
}

/// The faults that reading a trace finds.
#[derive(Default)]
struct Findings {
    /// The errors of ranks whose streams cannot be read.
    unreadable: Vec<String>,
    /// Faults of a trace that can be read.
    others: Vec<String>,
    /// The last calls of ranks that were ended from outside.
    last_calls: Option<String>,
}

/// Reads each world by itself, as its tracer has written it.
fn read(trace: &Trace) -> Findings {
    let mut findings = Findings::default();
    for world in trace.worlds() {
        let place = world.place.display();
        let Findings { unreadable, others, last_calls } = read_world(&world.trace);
        findings.unreadable.extend(unreadable);
        findings.last_calls = findings.last_calls.or(last_calls);
        findings.others.extend(others.into_iter().map(|finding| format!("{place}: {finding}")));
    }
    if trace.worlds().is_empty() { read_world(&trace.as_recorded()) } else { findings }
}

fn read_world(trace: &Trace) -> Findings {
    let mut findings = Findings::default();
    let mut inventory = Inventory { ranks: trace.ranks(), ..Inventory::default() };
    let (mut unreadable, mut checksums) = (Unreadable::default(), FxHashMap::default());
    let mut last_calls = BTreeMap::<&str, Vec<u32>>::new();
    let is_traced = |rank: &Rank| trace.manifest().is_none_or(|manifest| manifest.of_rank(*rank).is_some());
    let (traced, untraced): (Vec<_>, Vec<_>) = (0..trace.ranks()).map(Rank).partition(is_traced);
    // The error of one names all of them.
    for rank in traced.into_iter().chain(untraced.into_iter().take(1)) {
        let read = trace.stream(rank).and_then(|stream| inventory.add(stream));
        if read.is_ok()
            && let Some(last) = inventory.per_rank.last().and_then(|end| end.last)
        {
            last_calls.entry(last).or_default().push(rank.0);
        }
        if let Err(error) = read.and_then(|()| unchanged(trace, rank, &mut checksums)) {
            unreadable.add(&error);
        }
    }
    findings.unreadable = unreadable.into_sentences();
    for (rank, end) in inventory.per_rank.iter().enumerate() {
        let nothing =
            (end.events == 0 && trace.manifest().is_none()).then(|| "no event: is its part missing?".to_owned());
        findings.others.extend(end.misplaced.clone().or(nothing).map(|what| format!("rank {rank}: {what}")));
    }
    if let Some(manifest) = trace.manifest() {
        findings.others.extend(against_manifest(manifest, &inventory));
        findings.last_calls = hang(manifest, &last_calls);
    }
    findings
}

/// Fails if the stream differs from the data that its rank has written. Each file is read once for all of its ranks, and has its
/// checksum in `checksums` then.
fn unchanged(trace: &Trace, rank: Rank, checksums: &mut FxHashMap<PathBuf, u32>) -> Result<(), TraceError> {
    let entry = trace.manifest().and_then(|manifest| manifest.of_rank(rank));
    let Some((said, file)) = entry.and_then(|entry| entry.crc32).zip(trace.file_of(rank)?) else { return Ok(()) };
    let path = file.name().to_owned();
    let found = match checksums.entry(path.clone()) {
        Entry::Occupied(found) => *found.get(),
        Entry::Vacant(free) => *free.insert(file.checksum()?),
    };
    if found == said { Ok(()) } else { Err(TraceError::Checksum { path, found, said }) }
}

fn against_manifest(manifest: &Manifest, inventory: &Inventory) -> Vec<String> {
    let mut findings = Vec::new();
    for (said, found) in manifest.per_rank.iter().zip(&inventory.per_rank) {
        // The manifest of a trace of another tool is made without reading the events.
        let says_nothing = manifest.foreign.is_some() && said.text == Bytes(0);
        if said.events != found.events && !says_nothing {
            findings.push(format!(
                "rank {}: {}, where the manifest says {}",
                said.rank,
                counted(found.events, "event", "events"),
                said.events
            ));
        }
        if said.lost_events > 0 {
            findings.push(format!(
                "rank {}: {} could not be written",
                said.rank,
                counted(said.lost_events, "event", "events")
            ));
        }
    }
    findings
}

/// The errors of ranks whose streams cannot be read.
#[derive(Default)]
struct Unreadable {
    /// The first error of a stream that breaks off, and the number of further ones.
    torn: Option<(String, u64)>,
    /// Each other error, and the number of further ranks that have it in the same file.
    others: Vec<(String, u64)>,
    /// The index in `others` by the line of a file, or by the error if it has no line.
    known: FxHashMap<String, usize>,
}

impl Unreadable {
    /// Adds the error of a rank.
    fn add(&mut self, error: &TraceError) {
        let text = error.to_string();
        if let TraceError::Torn { .. } = error {
            self.torn = Some(self.torn.take().map_or((text, 0), |(first, more)| (first, more + 1)));
            return;
        }
        let place = match error.place() {
            Some((path, Some(line))) => format!("{}:{line}", path.display()),
            _ => text.clone(),
        };
        match self.known.get(&place) {
            Some(&known) => self.others[known].1 += 1,
            None => {
                self.known.insert(place, self.others.len());
                self.others.push((text, 0));
            }
        }
    }

    /// A sentence for each error. An error of ranks that share a file is one, and so are all streams that break off.
    fn into_sentences(self) -> Vec<String> {
        let sentence = |(error, more): (String, u64), one: &str, several: &str, what: &str| match more {
            0 => error,
            _ => format!("{error}; {} {} {what}", count(more), plural(more, one, several)),
        };
        let of_file = |error| sentence(error, "other rank shares", "other ranks share", "the file with this fault");
        let of_torn = |error| sentence(error, "other rank is", "other ranks are", "torn, too");
        self.others.into_iter().map(of_file).chain(self.torn.map(of_torn)).collect()
    }
}
