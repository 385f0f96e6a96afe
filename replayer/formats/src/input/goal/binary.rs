//! GOAL in its binary form, which LogGOPSim reads.
//!
//! All integers are little-endian. A header of 14 bytes (magic number, number of ranks, highest core, highest network
//! interface) precedes a beginning and an end for each rank, in bytes from byte 8 on. A rank has the number of its
//! operations, the list of those without requirements, 39 bytes for each operation, and a table of operations: each
//! operation names the part of the table that lists those that require its end, and those that require its beginning.

use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use titr_common::event::{Event, Rank};
use titr_common::format::counted;
use titr_common::input;
use titr_common::trace::{
    Candidate, EventSource, LocatedEvents, Location, RankSources, Trace, TraceError, TraceFormat,
};

use super::{GoalKind, GoalOperation, HEADER, MAGIC, ORIGIN, RANK, TaskWriter, manifest, untranslated};

/// The magic number that LogGOPSim writes into a file whose counters it has used up.
const USED_UP: u64 = 2342;
/// The number of bytes of an operation.
const OPERATION: usize = 39;
/// The number of operations that are appended at a time.
const BATCH: usize = 256;

/// Binary files of LogGOPSim's `txt2bin`.
pub(in crate::input) struct GoalBinary;

impl TraceFormat for GoalBinary {
    fn name(&self) -> &'static str {
        "GOAL binary"
    }

    fn recognises(&self, candidate: &Candidate) -> bool {
        let magic = candidate.head.first_chunk().map(|bytes| u64::from_le_bytes(*bytes));
        matches!(magic, Some(MAGIC | USED_UP))
    }

    fn open(&self, paths: &[&Path]) -> Result<Trace, TraceError> {
        let path = paths.first().copied().unwrap_or_else(|| Path::new(""));
        let file = Arc::new(input::open(path).map_err(TraceError::io(path))?);
        let mut bytes = Bytes::new(path, &file);
        if bytes.long(0)? == USED_UP {
            let what = "LogGOPSim has used up the counters of this file (--save-mem): make it again with txt2bin";
            return Err(bytes.error(0, what));
        }
        let (ranks, interfaces) = (bytes.word(8)?, bytes.byte(13)?);
        if bytes.length < HEADER + RANK * u64::from(ranks) || ranks == 0 {
            let what = format!("a table of {ranks} ranks is expected; the file has {} bytes", bytes.length);
            return Err(bytes.error(8, what));
        }
        let sources = BinarySources { path: path.to_owned(), file, ranks, interfaces: u32::from(interfaces) + 1 };
        Ok(Trace::new(ranks, sources).with_manifest(manifest(ranks)))
    }
}

struct BinarySources {
    path: PathBuf,
    file: Arc<File>,
    ranks: u32,
    interfaces: u32,
}

impl RankSources for BinarySources {
    fn source(&self, rank: Rank, _: bool) -> Result<Box<dyn EventSource + Send>, TraceError> {
        let bytes = Bytes::new(&self.path, &self.file);
        Ok(Box::new(BinarySource::new(bytes, rank, self.ranks)?))
    }

    fn untranslated(&self) -> Vec<String> {
        untranslated(self.interfaces)
    }
}

/// The tasks of a rank: its operations in the order in which their requirements become tasks.
struct BinarySource {
    bytes: Bytes,
    rank: Rank,
    ranks: u32,
    writer: TaskWriter,
    /// The number of operations, of those without requirements, and of those of these that were appended.
    operations: u32,
    roots: u32,
    next_root: u32,
    /// The places in the file of the list of roots, the operations and the table.
    roots_at: u64,
    operations_at: u64,
    table_at: u64,
    /// The number of entries of the table.
    table: u64,
    ready: VecDeque<(u32, Requirements)>,
    /// Operations of which some requirements are tasks.
    waiting: FxHashMap<u32, Requirements>,
    /// The number of operations that became tasks.
    appended: u64,
    is_ended: bool,
}

/// The tasks that have to end, and to begin, before an operation.
#[derive(Default)]
struct Requirements {
    ended: Vec<u64>,
    begun: Vec<u64>,
}

impl BinarySource {
    fn new(mut bytes: Bytes, rank: Rank, ranks: u32) -> Result<Self, TraceError> {
        let entry = HEADER + RANK * u64::from(rank.0);
        let begin = bytes.long(entry)?.saturating_add(ORIGIN);
        let end = bytes.long(entry + 8)?.saturating_add(ORIGIN);
        if begin > end || end > bytes.length {
            let what = format!("rank {} is at bytes {begin} to {end}; the file has {} bytes", rank.0, bytes.length);
            return Err(bytes.error(entry, what));
        }
        let (operations, roots) = (bytes.word(begin)?, bytes.word(begin + 4)?);
        let roots_at = begin + 8;
        let operations_at = roots_at + 4 * u64::from(roots);
        let table_at = operations_at + OPERATION as u64 * u64::from(operations);
        if table_at > end || roots > operations {
            let what = format!(
                "{} of rank {}, {roots} of them without requirements, do not fit into {} bytes",
                counted(u64::from(operations), "operation", "operations"),
                rank.0,
                end - begin
            );
            return Err(bytes.error(begin, what));
        }
        Ok(Self {
            bytes,
            rank,
            ranks,
            writer: TaskWriter::default(),
            operations,
            roots,
            next_root: 0,
            roots_at,
            operations_at,
            table_at,
            table: (end - table_at) / 4,
            ready: VecDeque::new(),
            waiting: FxHashMap::default(),
            appended: 0,
            is_ended: false,
        })
    }

    /// The next operation that can become a task.
    fn next(&mut self) -> Result<Option<(u32, Requirements)>, TraceError> {
        if self.next_root < self.roots {
            let at = self.roots_at + 4 * u64::from(self.next_root);
            self.next_root += 1;
            let root = self.bytes.word(at)?;
            return self.known(root, at).map(|root| Some((root, Requirements::default())));
        }
        Ok(self.ready.pop_front())
    }

    /// An operation that the file names at the byte `at`.
    fn known(&self, operation: u32, at: u64) -> Result<u32, TraceError> {
        if operation < self.operations {
            return Ok(operation);
        }
        let what = format!("operation {operation} is not one of the {} of rank {}", self.operations, self.rank.0);
        Err(self.bytes.error(at, what))
    }

    /// Appends an operation, and the tasks' requirements of those that require it.
    fn append(
        &mut self,
        number: u32,
        requirements: &Requirements,
        events: &mut LocatedEvents,
    ) -> Result<(), TraceError> {
        self.appended += 1;
        let at = self.operations_at + OPERATION as u64 * u64::from(number);
        let record: [u8; OPERATION] = self.bytes.array(at)?;
        let word = |at: usize| record[at..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let kind = match record[4] {
            1 => GoalKind::Send,
            2 => GoalKind::Receive,
            3 => GoalKind::Compute,
            kind => {
                let what = format!("an operation of kind {kind}: 1 is a send, 2 a receive, 3 a computation");
                return Err(self.bytes.error(at + 4, what));
            }
        };
        let size = record[9..].first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let [core, interface] = [record[21], record[22]].map(u32::from);
        let operation = GoalOperation { kind, size, peer: word(5), tag: word(17), core, interface };
        if let Some(what) = operation.fault(self.ranks) {
            return Err(self.bytes.error(at, what));
        }
        let [ended, begun] = [23, 31].map(|at| (word(at), word(at + 4)));
        let dependents = ended.0.saturating_add(begun.0);
        let required = [requirements.ended.as_slice(), requirements.begun.as_slice()];
        if self.appended > u64::from(self.operations) {
            return Err(self.bytes.error(at, "more operations begin than the rank has: their requirements are wrong"));
        }
        let Some(task) = self.writer.task(events, (operation.event(), operation.core), dependents, required, None)
        else {
            let what = "more than 4294967295 operations lie between this one and one that it requires";
            return Err(self.bytes.error(at, what));
        };
        for ((count, first), is_begun) in [(ended, false), (begun, true)] {
            let last = u64::from(first) + u64::from(count);
            if count > 0 && last > self.table {
                let what = format!("entries {first} to {last} of a table that has {}", self.table);
                return Err(self.bytes.error(at, what));
            }
            for entry in u64::from(first)..last {
                let place = self.table_at + 4 * entry;
                let dependent = self.bytes.word(place)?;
                let dependent = self.known(dependent, place)?;
                self.require(dependent, task, is_begun)?;
            }
        }
        Ok(())
    }

    /// An operation requires a task.
    fn require(&mut self, dependent: u32, task: u64, is_begun: bool) -> Result<(), TraceError> {
        let at = self.operations_at + OPERATION as u64 * u64::from(dependent);
        let count = self.bytes.word(at)? as usize;
        let requirements = self.waiting.entry(dependent).or_default();
        let list = if is_begun { &mut requirements.begun } else { &mut requirements.ended };
        list.push(task);
        if requirements.ended.len() + requirements.begun.len() >= count {
            let requirements = self.waiting.remove(&dependent).unwrap_or_default();
            self.ready.push_back((dependent, requirements));
        }
        Ok(())
    }
}

impl EventSource for BinarySource {
    fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
        if self.is_ended {
            return Ok(false);
        }
        if self.writer.tasks == 0 {
            self.writer.init(events, self.roots);
        }
        for _ in 0..BATCH {
            let Some((operation, requirements)) = self.next()? else {
                let left = u64::from(self.operations) - self.appended;
                if left > 0 {
                    let what = format!(
                        "{} of rank {} never begin: they require each other, or the list of operations without \
                         requirements lacks some",
                        counted(left, "operation", "operations"),
                        self.rank.0
                    );
                    return Err(self.bytes.error(self.roots_at, what));
                }
                events.push(Event::Finalize, Location::default());
                self.is_ended = true;
                break;
            };
            self.append(operation, &requirements, events)?;
        }
        Ok(true)
    }

    fn path(&self) -> Option<PathBuf> {
        Some(self.bytes.path.clone())
    }
}

/// The number of bytes of a page, and the number of pages in memory.
const PAGE: usize = 4 << 10;
const PAGES: usize = 8;

/// A file that is read at any place. Some pages are kept in memory.
struct Bytes {
    path: PathBuf,
    file: Arc<File>,
    length: u64,
    /// Each page in the place that its number determines.
    pages: Vec<Page>,
}

#[derive(Clone, Default)]
struct Page {
    number: Option<u64>,
    bytes: Vec<u8>,
}

impl Bytes {
    fn new(path: &Path, file: &Arc<File>) -> Self {
        let length = file.metadata().map_or(0, |data| data.len());
        Self { path: path.to_owned(), file: Arc::clone(file), length, pages: vec![Page::default(); PAGES] }
    }

    fn error(&self, at: u64, what: impl Into<String>) -> TraceError {
        TraceError::Foreign { path: self.path.clone(), place: format!("byte {at}"), what: what.into() }
    }

    fn byte(&mut self, at: u64) -> Result<u8, TraceError> {
        self.array::<1>(at).map(|[byte]| byte)
    }

    fn word(&mut self, at: u64) -> Result<u32, TraceError> {
        self.array(at).map(u32::from_le_bytes)
    }

    fn long(&mut self, at: u64) -> Result<u64, TraceError> {
        self.array(at).map(u64::from_le_bytes)
    }

    /// The bytes from `at` on.
    #[inline]
    fn array<const N: usize>(&mut self, at: u64) -> Result<[u8; N], TraceError> {
        let mut array = [0; N];
        let mut done = 0;
        while done < N {
            let place = at + done as u64;
            let page = self.page(place / PAGE as u64)?;
            let found = page.get((place % PAGE as u64) as usize..).unwrap_or_default();
            let length = found.len().min(N - done);
            if length == 0 {
                let expected = counted(N as u64, "byte is", "bytes are");
                let what = format!("{expected} expected; the file ends after {} bytes", self.length);
                return Err(self.error(at, what));
            }
            array[done..done + length].copy_from_slice(&found[..length]);
            done += length;
        }
        Ok(array)
    }

    fn page(&mut self, number: u64) -> Result<&[u8], TraceError> {
        let page = &mut self.pages[number as usize % PAGES];
        if page.number != Some(number) {
            page.number = None;
            page.bytes.resize(PAGE, 0);
            let mut length = 0;
            while length < PAGE {
                match self.file.read_at(&mut page.bytes[length..], number * PAGE as u64 + length as u64) {
                    Ok(0) => break,
                    Ok(read) => length += read,
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(TraceError::io(&self.path)(error)),
                }
            }
            page.bytes.truncate(length);
            page.number = Some(number);
        }
        Ok(&page.bytes)
    }
}
