//! The records of one rank, a location for each thread: the regions that it enters and leaves, their times, and the
//! computation between them.

use std::io;
use std::path::Path;

use thiserror::Error;
use titr_common::event::{Annotation, Event, Mark, Rank, Span, ThreadId};
use titr_common::grammar::write_event;
use titr_common::program::{Communicators, Fault};
use titr_common::trace::manifest::Clock;
use titr_common::units::Instructions;

use super::calls::{CallRecords, CallTranslation};
use super::chunks::{ChunkedFile, RecordBody};
use super::definitions::{ArchiveDefinitions, ONLY};
use super::{DEFINITION_CHUNK, EVENT_CHUNK};
use crate::input::otf2::own::COUNTED;
use crate::output::function_name;

/// The largest volume of a computation that the counter can count.
const MOST_COUNTED: f64 = (1_u64 << 53) as f64;

/// The reason why an event cannot be written.
#[derive(Debug, Error)]
pub(super) enum EventFailure {
    #[error(transparent)]
    Fault(#[from] Fault),
    #[error(transparent)]
    Output(#[from] io::Error),
    #[error("the event is part of a graph")]
    Graph,
}

/// Counts of a conversion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ArchiveCounts {
    pub calls: u64,
    pub sent: u64,
    pub received: u64,
    pub collectives: u64,
    /// Messages of collectives that the archive has not.
    pub left_out: u64,
    /// The latest time.
    pub end: u64,
}

/// A rank whose records are being written.
pub(super) struct RankRecords<'a> {
    rank: Rank,
    definitions: &'a mut ArchiveDefinitions,
    translation: CallTranslation<'a>,
    folder: &'a Path,
    clock: Option<Clock>,
    /// The nanoseconds that an instruction takes where the trace has no times.
    pace: f64,
    /// The thread of the current event, its number, and the other threads.
    thread: ThreadLocation,
    number: ThreadId,
    others: Vec<(ThreadId, ThreadLocation)>,
    pub(super) written: &'a mut ArchiveCounts,
}

struct ThreadLocation {
    id: u64,
    file: ChunkedFile,
    /// The time, and the part of a nanosecond after it.
    now: u64,
    rest: f64,
    /// The recorded time of the next call.
    span: Option<(u64, u64)>,
    /// The instructions so far, and whether some are of the computation before the next call.
    counted: u64,
    has_counted: bool,
    /// The lines of events before the next call that have no record.
    lines: Vec<u8>,
    /// The regions of the program that are open.
    open: Vec<Box<str>>,
}

impl ThreadLocation {
    fn create(folder: &Path, id: u64) -> io::Result<Self> {
        ChunkedFile::create(&folder.join(format!("{id}.def")), DEFINITION_CHUNK)?.finish()?;
        let file = ChunkedFile::create(&folder.join(format!("{id}.evt")), EVENT_CHUNK)?;
        let (lines, open) = (Vec::new(), Vec::new());
        Ok(Self { id, file, now: 0, rest: 0.0, span: None, counted: 0, has_counted: false, lines, open })
    }
}

impl<'a> RankRecords<'a> {
    /// Begins a rank, in the region of the whole program.
    pub(super) fn begin(
        rank: Rank,
        definitions: &'a mut ArchiveDefinitions,
        communicators: &'a mut Communicators,
        folder: &'a Path,
        (clock, pace): (Option<Clock>, f64),
        written: &'a mut ArchiveCounts,
    ) -> io::Result<Self> {
        let mut thread = ThreadLocation::create(folder, rank.0.into())?;
        thread.file.event(0, 12, &RecordBody::of(&[definitions.program()]), None)?;
        let translation = CallTranslation::new(rank, communicators);
        let (number, others) = (ThreadId::MAIN, Vec::new());
        Ok(Self { rank, definitions, translation, folder, clock, pace, thread, number, others, written })
    }

    /// Leaves all regions, and ends the files.
    pub(super) fn finish(mut self) -> io::Result<()> {
        let program = self.definitions.program();
        self.others.push((self.number, self.thread));
        for (number, mut thread) in self.others {
            while let Some(name) = thread.open.pop() {
                let region = self.definitions.region_of_program(&name);
                thread.file.event(thread.now, 13, &RecordBody::of(&[region]), None)?;
            }
            if number == ThreadId::MAIN {
                thread.file.event(thread.now, 13, &RecordBody::of(&[program]), None)?;
            }
            self.definitions.end_location(thread.id, thread.file.events());
            self.written.end = self.written.end.max(thread.now);
            thread.file.finish()?;
        }
        Ok(())
    }

    /// Goes on with the events of another thread. Where the trace has no times, they come after all that was before.
    pub(super) fn switch(&mut self, thread: ThreadId) -> io::Result<()> {
        if thread == self.number {
            return Ok(());
        }
        let before = self.thread.now;
        let next = match self.others.iter().position(|&(number, _)| number == thread) {
            Some(at) => self.others.swap_remove(at).1,
            None => ThreadLocation::create(self.folder, self.definitions.add_thread(self.rank, thread))?,
        };
        self.others.push((self.number, std::mem::replace(&mut self.thread, next)));
        self.number = thread;
        if self.pace > 0.0 {
            self.thread.now = self.thread.now.max(before + 1);
        }
        Ok(())
    }

    /// Writes the records of an event.
    pub(super) fn event(&mut self, event: &Event) -> Result<(), EventFailure> {
        match event {
            Event::Annotation(Annotation::Call(span)) => self.thread.span = Some(self.times(*span)),
            Event::Annotation(Annotation::Message(_)) => self.written.left_out += 1,
            Event::Compute(work) => self.compute(*work),
            Event::Sleep(time) => {
                self.pass(time.0 * 1e9);
                self.line(event);
            }
            Event::Mark(Mark::RegionBegin(name)) => {
                self.region(12, name)?;
                self.thread.open.push(name.clone());
            }
            Event::Mark(Mark::RegionEnd(name)) if self.thread.open.last() == Some(name) => {
                self.thread.open.pop();
                self.region(13, name)?;
            }
            Event::Mark(_) => self.line(event),
            Event::Matched(id, source, tag) => {
                self.translation.matched(*id, *source, *tag);
                self.line(event);
            }
            Event::Cancel(id) => {
                self.translation.cancelled(*id);
                self.line(event);
            }
            Event::Task(_) => return Err(EventFailure::Graph),
            Event::Init | Event::Finalize => self.call(event)?,
            Event::Send(..) | Event::Recv(..) | Event::Sendrecv(..) | Event::Probe(_) | Event::Iprobe(..) => {
                self.call(event)?;
            }
            Event::Partitioned(_) | Event::Start(_) | Event::RequestFree(_) => self.call(event)?,
            Event::Wait(..) | Event::Test(..) | Event::Collective(..) | Event::Neighborhood(..) => self.call(event)?,
            Event::OneSided(_) | Event::File(_) | Event::Other(_) => self.call(event)?,
            Event::CommCreate(..) | Event::CommFree(_) => self.call(event)?,
        }
        Ok(())
    }

    /// A span by the clock of rank 0, in nanoseconds, after all that was before.
    fn times(&self, span: Span) -> (u64, u64) {
        let (begin, end) = match self.clock {
            Some(clock) => (clock.at_rank_zero(span.begin), clock.at_rank_zero(span.end)),
            None => (span.begin, span.end),
        };
        let begin = begin.0.max(self.thread.now);
        (begin, end.0.max(begin))
    }

    fn compute(&mut self, work: Instructions) {
        self.pass(work.0 * self.pace);
        let is_countable = work.0.fract() == 0.0 && work.0 > 0.0 && self.thread.counted as f64 + work.0 < MOST_COUNTED;
        match self.thread.lines.is_empty() {
            true if is_countable => self.count(work),
            // The counter has one number between two calls, whose place among the lines this one marks.
            false if is_countable && !self.thread.has_counted => {
                self.count(work);
                self.thread.lines.extend(COUNTED.bytes().chain([b'\n']));
            }
            true | false => self.line(&Event::Compute(work)),
        }
    }

    fn count(&mut self, work: Instructions) {
        self.thread.counted += work.0 as u64;
        self.thread.has_counted = true;
    }

    /// Lets time go by, in a trace without times.
    fn pass(&mut self, nanoseconds: f64) {
        let all = nanoseconds + self.thread.rest;
        self.thread.now = self.thread.now.saturating_add(all as u64);
        self.thread.rest = all - all.floor();
    }

    /// Keeps an event for the text of the next call.
    fn line(&mut self, event: &Event) {
        let mut line = Vec::new();
        write_event(&mut line, self.rank, event);
        let rank = line.iter().position(|&byte| byte == b' ').map_or(0, |space| space + 1);
        self.thread.lines.extend(&line[rank..]);
    }

    /// The list of attributes with the lines that have no record.
    fn told(&mut self) -> Option<RecordBody> {
        if self.thread.lines.is_empty() {
            return None;
        }
        const TEXT: u8 = 11;
        let text = String::from_utf8_lossy(&self.thread.lines);
        let text = self.definitions.text(text.trim_end());
        self.thread.lines.clear();
        Some(RecordBody::of(&[1, ONLY]).byte(TEXT).u32(text))
    }

    fn region(&mut self, kind: u8, name: &str) -> io::Result<()> {
        let region = self.definitions.region_of_program(name);
        let told = self.told();
        self.counter()?;
        self.thread.file.event(self.thread.now, kind, &RecordBody::of(&[region]), told.as_ref())
    }

    /// Writes the counter.
    fn counter(&mut self) -> io::Result<()> {
        const U64: u8 = 4;
        self.thread.has_counted = false;
        let metric = RecordBody::of(&[ONLY]).byte(1).byte(U64).u64(self.thread.counted);
        self.thread.file.event(self.thread.now, 31, &metric, None)
    }

    fn call(&mut self, event: &Event) -> Result<(), EventFailure> {
        let CallRecords { records, mut is_described } = self.translation.call(event, self.definitions)?;
        is_described &= self.thread.lines.is_empty() && !(matches!(event, Event::Init) && self.thread.has_counted);
        if !is_described {
            if self.thread.lines.is_empty() && self.thread.has_counted {
                self.thread.lines.extend(COUNTED.bytes().chain([b'\n']));
            }
            self.line(event);
        }
        let (begin, end) = self.thread.span.take().unwrap_or((self.thread.now, self.thread.now));
        self.thread.now = begin;
        let region = self.function(event);
        let told = self.told();
        self.counter()?;
        self.thread.file.event(begin, 12, &RecordBody::of(&[region]), told.as_ref())?;
        self.written.calls += 1;
        for (kind, body) in &records {
            match kind {
                14 | 15 => self.written.sent += 1,
                18 | 19 => self.written.received += 1,
                23 | 86 => self.written.collectives += 1,
                _ => {}
            }
            // A send begins with the call, and everything else is known when it returns.
            let time = if matches!(kind, 14 | 15 | 17 | 22 | 85) { begin } else { end };
            self.thread.file.event(time, *kind, body, None)?;
        }
        self.thread.now = end;
        self.thread.file.event(end, 13, &RecordBody::of(&[region]), None)?;
        Ok(())
    }

    /// The region of the function that an event is a call of.
    fn function(&mut self, event: &Event) -> u32 {
        let kind = if let Event::Collective(call, _) = event { Some(call.kind) } else { None };
        let name = function_name(event);
        self.definitions.function(&name, kind, event.activity())
    }
}
