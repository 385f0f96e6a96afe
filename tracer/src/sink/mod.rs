//! The destination of a rank's events: text in a buffer, and full buffers to a background thread that compresses and
//! writes.
//!
//! ```text
//!   hooks ──event──► buffer ══full══► flush thread ──gzip member──► rank-000017.tit.gz
//!                       ▲                  │
//!                       ╚═════empty════════╝
//! ```
//!
//! There are [`BUFFERS`] buffers, which are reused, so the tracer's memory is bounded and its steady state allocates
//! nothing. When the flush thread falls behind, there is no empty buffer and the program waits for one: this is counted
//! as a stall. The thread's CPU time is never counted as computation, because computation is measured by counters of
//! the computing thread.
//!
//! A buffer that is not full is also handed over when [`SinkOptions::flush`] has passed since the last one: the flush
//! thread takes it, independent of the program's activity.
//!
//! A sink has to work in the most difficult situations: in `MPI_Abort`, in an `atexit` handler, in a forked child that
//! has inherited the sink but not the thread. It therefore never waits on a lock or in a channel, only for a buffer, in
//! short sleeps, and only while the thread exists to supply one.

mod flush;

use std::io;
use std::path::Path;
use std::thread::{JoinHandle, Thread};
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded};
use flush::{Buffers, Destination, Work};
use titr_common::event::{Event, Rank, ThreadId};
use titr_common::grammar::EventWriter;
use titr_common::trace::manifest::{Counter, Ended, Manifest, RankEntry};
use titr_common::units::Instructions;

use crate::host;
use crate::stderr::nap;

pub(crate) use flush::{announce, size};

/// Buffers of a rank: one that is filled, one that waits, one that is compressed.
const BUFFERS: usize = 3;
/// Number of events after which a partially filled buffer is handed over: a loop takes hardly more text as it
/// continues, and events that were not handed over are lost if the program is killed.
const MOST_EVENTS: u64 = 1 << 18;
/// Room that is left for the last event of a buffer; a longer one makes its buffer grow for once.
const LONGEST_EVENT: usize = 1 << 10;
/// Sleep before asking for an empty buffer again; compressing one takes some milliseconds.
const NAP: Duration = Duration::from_micros(200);

#[derive(Clone, Copy, Debug)]
pub(crate) struct SinkOptions {
    /// The size of a buffer, in bytes of text.
    pub buffer: usize,
    pub level: u32,
    /// Time that recorded events may wait for the disk; forever if `None`.
    pub flush: Option<Duration>,
    /// Whether the rank that completes the trace says where it is.
    pub announces: bool,
}

/// The start of the manifest's entry for `rank` in the run of this name, whose computation `counter` measures.
pub(crate) fn begin(run: String, rank: Rank, counter: Counter) -> RankEntry {
    let (host, cpu, pid) = (host::name(), host::cpu(), std::process::id());
    let entry = RankEntry { pid, ..RankEntry::new(rank, counter) };
    entry.with(|entry| (entry.run, entry.host, entry.cpu) = (run, host, cpu))
}

/// The application's side of one rank's stream.
pub(crate) struct Sink {
    rank: Rank,
    entry: RankEntry,
    /// The process that the flush thread lives in.
    pid: u32,
    /// Writes events into the text that is handed over next.
    writer: EventWriter,
    text: Vec<u8>,
    events: u64,
    buffer: usize,
    full: Sender<Work>,
    empty: Receiver<Vec<u8>>,
    thread: JoinHandle<io::Result<Option<RankEntry>>>,
    stalls: u64,
}

impl Sink {
    /// Opens the stream of the rank that `entry` is about, one of `ranks`, in a directory that was
    /// [claimed](crate::directory::claim); rank 0 also brings the `manifest`.
    pub(crate) fn open(
        SinkOptions { buffer, level, flush, announces }: SinkOptions,
        directory: &Path,
        manifest: Option<Manifest>,
        entry: RankEntry,
        ranks: u32,
    ) -> io::Result<Self> {
        // Places for all buffers, for an end that is ordered and for the end, so that handing over never waits.
        let (full, to_write) = bounded(BUFFERS + 2);
        let (written, empty) = bounded(BUFFERS);
        for _ in 1..BUFFERS {
            let _ = written.try_send(Vec::with_capacity(buffer));
        }
        let files =
            Destination { directory: directory.to_owned(), level, manifest, entry: entry.clone(), ranks, announces };
        let thread = flush::start(files, Buffers { full: to_write, empty: written, size: buffer, flush })?;
        Ok(Self {
            rank: Rank(entry.rank),
            writer: EventWriter::new(Rank(entry.rank)),
            entry,
            pid: std::process::id(),
            text: Vec::with_capacity(buffer),
            events: 0,
            buffer,
            full,
            empty,
            thread,
            stalls: 0,
        })
    }

    #[cold]
    pub(crate) fn record(&mut self, thread: ThreadId, event: &Event) {
        self.writer.switch(&mut self.text, thread);
        self.writer.write(&mut self.text, event);
        self.recorded(1);
    }

    /// Records one event of a thread, which is not a computation, and the computation before it. This is the hot path:
    /// text is appended to a buffer, and nothing else happens until it is full.
    #[inline]
    pub(crate) fn record_after(&mut self, thread: ThreadId, work: Option<Instructions>, event: &Event) {
        self.writer.switch(&mut self.text, thread);
        self.writer.write_after(&mut self.text, work, event);
        self.recorded(1 + u64::from(work.is_some()));
    }

    #[inline]
    fn recorded(&mut self, events: u64) {
        self.events += events;
        if self.text.len() + LONGEST_EVENT > self.buffer || self.events >= MOST_EVENTS {
            self.flush();
        }
    }

    /// Hands over the recorded events, so that they survive any end of the process.
    pub(crate) fn flush(&mut self) {
        if self.events == 0 {
            return;
        }
        if self.orphaned() {
            self.forget();
            return;
        }
        match self.empty_buffer() {
            Some(empty) => self.give(empty),
            None => self.forget(),
        }
    }

    /// Hands over the recorded events without waiting; false if there is no empty buffer at the moment. For the flush
    /// thread.
    pub(crate) fn hand_over(&mut self) -> bool {
        if self.events == 0 {
            return true;
        }
        let Ok(empty) = self.empty.try_recv() else { return false };
        self.give(empty);
        true
    }

    /// Hands over the recorded events, as the process is about to end, and the rank's entry, which `complete` may add
    /// to. More may follow. Returns false if there is no empty buffer at the moment. For the flush thread.
    pub(crate) fn close(&mut self, ended: Ended, complete: impl FnOnce(&mut RankEntry)) -> bool {
        if !self.hand_over() {
            return false;
        }
        let mut entry = Box::new(self.entry.clone());
        complete(&mut entry);
        (entry.ended, entry.stalls) = (ended, self.stalls);
        self.full.try_send(Work::Close(entry)).is_ok()
    }

    /// The thread that writes.
    pub(crate) fn flush_thread(&self) -> Thread {
        self.thread.thread().clone()
    }

    /// Hands over the buffer, and continues with an empty one.
    fn give(&mut self, empty: Vec<u8>) {
        self.writer.end_line(&mut self.text);
        let text = std::mem::replace(&mut self.text, empty);
        let work = Work::Text(text, std::mem::take(&mut self.events));
        // Never full; disconnected only if the thread has ended, and then nothing can be written.
        let _ = self.full.try_send(work);
        self.thread.thread().unpark();
    }

    /// Ends the stream: writes the rest, the end record and the rank's entry, which `complete` may add to. Returns the
    /// entry, unless there is no thread to write it.
    pub(crate) fn finish(mut self, ended: Ended, complete: impl FnOnce(&mut RankEntry)) -> Option<RankEntry> {
        if self.orphaned() {
            // The channels' locks may have been held, and the thread's handle is another process's.
            std::mem::forget(self);
            return None;
        }
        self.flush();
        let Self { mut entry, full, thread, stalls, .. } = self;
        complete(&mut entry);
        entry.ended = ended;
        entry.stalls = stalls;
        let _ = full.try_send(Work::End(Box::new(entry)));
        thread.thread().unpark();
        thread.join().ok()?.ok()?
    }

    pub(crate) fn run(&self) -> &str {
        &self.entry.run
    }

    pub(crate) fn rank(&self) -> Rank {
        self.rank
    }

    /// Whether this is a forked child, which has no flush thread.
    fn orphaned(&self) -> bool {
        std::process::id() != self.pid
    }

    fn forget(&mut self) {
        self.text.clear();
        self.events = 0;
    }

    /// An empty buffer, waited for if need be; none if the flush thread is gone.
    ///
    /// Sleeps instead of waiting in the channel. To wait there makes a handle of the current thread, which `exit`
    /// destroys before it runs `atexit` handlers and which cannot be made again: a later send would panic.
    fn empty_buffer(&mut self) -> Option<Vec<u8>> {
        let mut waited = false;
        loop {
            match self.empty.try_recv() {
                Ok(empty) => return Some(empty),
                Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) => {
                    self.stalls += u64::from(!std::mem::replace(&mut waited, true));
                    nap(NAP);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
