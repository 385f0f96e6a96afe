//! The flush thread: takes full buffers, compresses and writes them, and gives the buffers back.
//!
//! Only this thread accesses the trace's files, and it does so with every signal blocked: a handler of the program
//! never runs on it, and a write beyond the file-size limit is the error `EFBIG` instead of a `SIGXFSZ` that ends the
//! program.

use std::fs::OpenOptions;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, TryRecvError};
use titr_common::event::Rank;
use titr_common::format::{counted, volume};
use titr_common::trace::manifest::{Ended, Manifest, RankEntry};
use titr_common::trace::{FinishedStream, StreamWriter, directory};
use titr_common::units::Bytes;

use crate::descriptors::{make_room, place_high, separate};
use crate::launched;
use crate::stderr::{log, log_last};
use crate::termination::{self, Order};

/// Its stack: it compresses on the heap and recurses nowhere.
const STACK: usize = 256 << 10;
/// Time that it tries to get the recorder when the process is about to end.
const TO_CLOSE: Duration = Duration::from_millis(500);
/// Wait before another attempt to get a recorder that is in use.
const NAP: Duration = Duration::from_millis(10);
const SHORT_NAP: Duration = Duration::from_micros(200);
/// Time that an ordered end remains if there is more to write: other threads continue for a moment.
const UNTIL_REOPENED: Duration = Duration::from_millis(300);

pub(super) enum Work {
    /// Whole lines, and how many.
    Text(Vec<u8>, u64),
    /// The process is about to end; here is the rank's entry, except for facts that only the thread knows. More may
    /// follow.
    Close(Box<RankEntry>),
    /// The rank has ended; here is its entry.
    End(Box<RankEntry>),
}

/// The files that the thread writes, and where.
pub(super) struct Destination {
    pub(super) directory: PathBuf,
    pub(super) level: u32,
    pub(super) manifest: Option<Manifest>,
    pub(super) entry: RankEntry,
    pub(super) ranks: u32,
    pub(super) announces: bool,
}

/// The two channels that buffers go round in, and how.
pub(super) struct Buffers {
    pub(super) full: Receiver<Work>,
    pub(super) empty: Sender<Vec<u8>>,
    /// The size that a buffer is given back with.
    pub(super) size: usize,
    /// Time that recorded events may wait for the disk.
    pub(super) flush: Option<Duration>,
}

struct Flush {
    /// The files, with the entry as it was written at the start.
    files: Destination,
    /// The stream, until writing fails: data after a gap would not be a trace.
    stream: Option<StreamWriter>,
    path: PathBuf,
    /// The ordered end of the process, and the time at which the stream got its end.
    closed: Option<(Ended, Instant)>,
    events: u64,
    text: u64,
    lost_events: u64,
    error: Option<String>,
}

/// Starts the thread, which creates the files, processes the full buffers until that ends or is disconnected, and
/// returns them. It leaves the rank's entry as it was written.
pub(super) fn start(files: Destination, buffers: Buffers) -> io::Result<JoinHandle<io::Result<Option<RankEntry>>>> {
    let created = Arc::new(OnceLock::new());
    let thread = spawn({
        let created = Arc::clone(&created);
        move || {
            termination::enter_flush_thread();
            let panicked = |_| Err(io::Error::other("the thread that creates the files failed"));
            let flush = catch_unwind(AssertUnwindSafe(|| Flush::create(files))).unwrap_or_else(panicked);
            let _ = created.set(flush.is_ok());
            Ok(flush?.run(&buffers))
        }
    })?;
    // Not a message: see `Sink::empty_buffer`.
    if *created.wait() {
        return Ok(thread);
    }
    let failed = || io::Error::other("the thread that creates the files failed");
    Err(thread.join().ok().and_then(Result::err).unwrap_or_else(failed))
}

/// The size of the streams of all ranks, where each has its own.
pub(crate) fn size(manifest: &Manifest) -> Bytes {
    Bytes(manifest.per_rank.iter().map(|entry| entry.disk.0).sum())
}

/// Says where a complete trace is, and what can be done with it.
pub(crate) fn announce(place: &Path, manifest: &Manifest, size: Bytes) {
    let short = short(place).display();
    let unfinished = manifest.per_rank.iter().filter(|rank| rank.ended != Ended::Finalize);
    let next = match unfinished.min_by_key(|rank| rank.ended.may_be_consequence()) {
        Some(rank) => format!("{}: {}", ending(rank, None), how_to_replay(place, rank.ended)),
        None if is_without_part(manifest) => {
            "no rank came to the part of the program that was to be traced (--part): nothing can be replayed".to_owned()
        }
        None => format!("titr replay --platform FILE {short} predicts the time on another machine"),
    };
    log(format_args!("traced {} in {short} ({}); {next}", counted(manifest.ranks, "rank", "ranks"), volume(size)));
}

/// Whether only a part of the program was to be traced, which no rank came to.
fn is_without_part(manifest: &Manifest) -> bool {
    manifest.per_rank.iter().all(|rank| rank.part.as_ref().is_some_and(|calls| calls.times == 0))
}

/// The directory as the user wrote it, where that is shorter.
fn short(place: &Path) -> &Path {
    let here = std::env::current_dir().ok();
    here.and_then(|here| place.strip_prefix(here).ok()).unwrap_or(place)
}

/// How the run ended early, by the entry of a rank.
fn ending(entry: &RankEntry, status: Option<i32>) -> String {
    if entry.ended.may_be_consequence() {
        return format!(
            "the run was ended {}, which launchers send to all ranks when one has failed, or somebody ends them",
            entry.ended
        );
    }
    let status = status.filter(|_| matches!(entry.ended, Ended::Exit | Ended::ImmediateExit));
    let status = status.map_or(String::new(), |status| format!(" (status {status})"));
    format!("the run did not finish, as rank {} ended {}{status}", entry.rank, entry.ended)
}

/// What can be done with the trace of a run that ended early as `ended`.
fn how_to_replay(place: &Path, ended: Ended) -> String {
    let short = short(place).display();
    // Where ranks exit by themselves, others mostly wait for none of them.
    let partial = if matches!(ended, Ended::Exit | Ended::ImmediateExit) { "" } else { "--partial " };
    format!(
        "titr check {short} says how each rank ended, titr replay {partial}--platform FILE {short} replays up to there"
    )
}

impl Flush {
    fn create(mut files: Destination) -> io::Result<Self> {
        let place = if separate() { Ok } else { place_high };
        let rank = Rank(files.entry.rank);
        let stream = Some(StreamWriter::create_at(&files.directory, rank, files.level, place)?);
        if let Some(manifest) = files.manifest.take() {
            manifest.write(&files.directory)?;
        }
        files.entry.write(&files.directory)?;
        let path = directory::stream(&files.directory, rank);
        Ok(Self { files, stream, path, closed: None, events: 0, text: 0, lost_events: 0, error: None })
    }

    /// Works until the end. The thread waits for itself to be unparked, as a signal handler can do that and cannot send.
    fn run(mut self, buffers: &Buffers) -> Option<RankEntry> {
        let soon = |after: Option<Duration>| after.map(|after| Instant::now() + after);
        let mut due = soon(buffers.flush);
        loop {
            match buffers.full.try_recv() {
                Ok(Work::End(entry)) => return Some(self.end(*entry)),
                Ok(work) => {
                    self.work(work, buffers);
                    due = soon(buffers.flush);
                    continue;
                }
                Err(TryRecvError::Disconnected) => return None,
                Err(TryRecvError::Empty) => {}
            }
            let now = Instant::now();
            if let Some(order) = termination::pending() {
                if let Some(entry) = self.close_by_order(order, buffers) {
                    return Some(entry);
                }
            } else if due.is_none_or(|due| now < due) {
                match due {
                    Some(due) => thread::park_timeout(due - now),
                    None => thread::park(),
                }
            } else {
                let is_free = termination::recording().is_none_or(|recording| recording.hand_over());
                due = soon(buffers.flush.map(|flush| if is_free { flush } else { NAP.min(flush) }));
            }
        }
    }

    fn work(&mut self, work: Work, Buffers { empty, size, .. }: &Buffers) {
        match work {
            Work::Text(mut text, events) => {
                self.write(&text, events);
                text.clear();
                text.shrink_to(*size);
                // Never full: there are as many places as buffers.
                let _ = empty.try_send(text);
            }
            Work::Close(entry) | Work::End(entry) => self.close(*entry),
        }
    }

    /// Ends the trace as the process has ordered. Returns the entry if the trace has ended otherwise in between.
    fn close_by_order(&mut self, order: Order, buffers: &Buffers) -> Option<RankEntry> {
        let begun = Instant::now();
        let mut is_taken = false;
        while !is_taken && begun.elapsed() < TO_CLOSE {
            is_taken = termination::recording().is_some_and(|recording| recording.close(order));
            if is_taken {
                termination::taken();
            } else {
                thread::sleep(SHORT_NAP);
            }
            while let Ok(work) = buffers.full.try_recv() {
                match work {
                    Work::End(entry) => return Some(self.end(*entry)),
                    work => self.work(work, buffers),
                }
            }
        }
        if !is_taken {
            // The buffer that is being filled is lost, so that there is no end record.
            self.write_entry(&self.files.entry.clone().with(|entry| entry.ended = order.ended));
        }
        termination::done();
        None
    }

    fn write(&mut self, text: &[u8], events: u64) {
        if let Some((ended, since)) = self.closed.take() {
            // The process may be ending still. Errors that the program handles may be many.
            if ended != Ended::Error {
                thread::sleep(UNTIL_REOPENED.saturating_sub(since.elapsed()));
            }
            self.write_entry(&self.files.entry);
        }
        match self.stream.as_mut().map(|stream| stream.write_member(text)) {
            Some(Ok(())) => {
                self.events += events;
                self.text += text.len() as u64;
            }
            Some(Err(error)) => {
                self.lost_events += events;
                self.fail(&error);
            }
            None => self.lost_events += events,
        }
    }

    /// Gives up on the stream. Says why the first time: the rest would be the same news.
    fn fail(&mut self, error: &io::Error) {
        self.stream = None;
        if self.error.is_none() {
            let reason = format!("cannot write {}: {error}", self.path.display());
            log(format_args!("{reason}; the trace ends after {} events, the program goes on", self.events));
            self.error = Some(reason);
        }
    }

    /// Ends the stream, unless more is written. The first of several ends stays.
    fn close(&mut self, mut entry: RankEntry) {
        if self.closed.is_none() {
            self.end_stream(&mut entry);
            self.complete(&mut entry);
            self.write_entry(&entry);
            self.closed = Some((entry.ended, Instant::now()));
            // The program may go on after these.
            if !matches!(entry.ended, Ended::Error | Ended::Exec) || termination::is_aborting() {
                self.tell_of(&entry);
            }
        }
    }

    fn end(&mut self, mut entry: RankEntry) -> RankEntry {
        self.end_stream(&mut entry);
        let failed_before = self.error.is_some();
        let is_told = entry.ended != Ended::Finalize && directory::crashed(&self.files.directory).exists();
        self.complete(&mut entry);
        make_room();
        match entry.end(&self.files.directory, self.files.ranks) {
            Err(error) if !failed_before => {
                log(format_args!("rank {}: cannot complete the manifest: {error}", entry.rank));
            }
            Ok(Some(_)) if is_told => {}
            Ok(Some(manifest)) if self.files.announces => {
                announce(&self.files.directory, &manifest, size(&manifest));
            }
            _ if entry.ended != Ended::Finalize => self.tell_of(&entry),
            _ => {}
        }
        entry
    }

    /// Says that the run ended early, and where its trace is, if no other rank has. What a launcher does to the others is no news.
    fn tell_of(&self, entry: &RankEntry) {
        let mark = directory::crashed(&self.files.directory);
        if launched::by_titrace() && OpenOptions::new().write(true).create_new(true).open(mark).is_ok() {
            let short = short(&self.files.directory).display();
            let (ended, next) =
                (ending(entry, termination::exit_status()), how_to_replay(&self.files.directory, entry.ended));
            // An aborting library passes its own messages on, and must not be kept from ending the other ranks.
            let log = if termination::is_aborting() { log } else { log_last };
            log(format_args!("{ended}. The trace up to there is in {short}: {next}"));
        }
    }

    fn end_stream(&mut self, entry: &mut RankEntry) {
        match self.stream.as_mut().map(|stream| stream.close(self.events)) {
            Some(Ok(FinishedStream { size, crc32 })) => (entry.disk, entry.crc32) = (size, Some(crc32)),
            Some(Err(error)) => self.fail(&error),
            None => {}
        }
    }

    /// Replaces the rank's entry on disk, where that is possible.
    fn write_entry(&self, entry: &RankEntry) {
        make_room();
        let _ = entry.write(&self.files.directory);
    }

    /// Enters the facts that only the thread knows.
    fn complete(&self, entry: &mut RankEntry) {
        if entry.crc32.is_none() {
            entry.disk = Bytes(std::fs::metadata(&self.path).map_or(0, |file| file.len()));
        }
        entry.events = self.events;
        entry.text = Bytes(self.text);
        entry.lost_events = self.lost_events;
        entry.error.clone_from(&self.error);
    }
}

/// Starts a thread that is born with every signal blocked.
fn spawn<T: Send + 'static>(body: impl FnOnce() -> T + Send + 'static) -> io::Result<JoinHandle<T>> {
    // SAFETY: an all-zero `sigset_t` is a valid object to be filled in.
    let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = unsafe { std::mem::zeroed() };
    // SAFETY: both sets are live locals.
    let blocked = unsafe {
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut before) == 0
    };
    let thread = thread::Builder::new().name("titrace".into()).stack_size(STACK).spawn(body);
    if blocked {
        // SAFETY: `before` was filled in by the call that blocked them.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &before, std::ptr::null_mut()) };
    }
    thread
}
