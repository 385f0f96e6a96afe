//! The flush thread: takes full buffers, compresses and writes them, and gives the buffers back.
//!
//! It alone touches the trace's files, and it does so with every signal blocked: a handler of the program never runs on
//! it, and a write beyond the file-size limit is the error `EFBIG` instead of a `SIGXFSZ` that ends the program.

use std::io;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender};
use titr_common::event::Rank;
use titr_common::trace::manifest::{Manifest, RankEntry};
use titr_common::trace::{FinishedStream, StreamWriter, directory};
use titr_common::units::Bytes;

use crate::stderr::log;

/// Its stack: it compresses on the heap and recurses nowhere.
const STACK: usize = 256 << 10;

/// Work for the thread.
pub(super) enum Work {
    /// Whole lines, and how many.
    Text(Vec<u8>, u64),
    /// The rank has ended; here is its entry, but for what only the thread knows.
    End(Box<RankEntry>),
}

/// The files that the thread writes, and where.
pub(super) struct Destination {
    pub(super) directory: PathBuf,
    pub(super) level: u32,
    pub(super) manifest: Option<Manifest>,
    pub(super) entry: RankEntry,
    pub(super) ranks: u32,
}

/// The thread's own state.
struct Flush {
    directory: PathBuf,
    ranks: u32,
    /// The stream, until it cannot be written any more: what follows a gap would not be a trace.
    stream: Option<StreamWriter>,
    path: PathBuf,
    events: u64,
    text: u64,
    lost_events: u64,
    error: Option<String>,
}

/// Creates the files and starts the thread, which works off `full` until that ends or is disconnected, and gives the
/// buffers back, no larger than `buffer`, through `empty`. It leaves the rank's entry as it was written.
pub(super) fn start(
    files: Destination,
    buffer: usize,
    full: Receiver<Work>,
    empty: Sender<Vec<u8>>,
) -> io::Result<JoinHandle<Option<RankEntry>>> {
    // A thread of its own that is joined, and not a first message of the one below: see `Sink::empty_buffer`.
    let creation = spawn(move || Flush::create(files))?;
    let mut flush = creation.join().map_err(|_| io::Error::other("the thread that creates the files failed"))??;
    spawn(move || {
        for work in full {
            match work {
                Work::Text(mut text, events) => {
                    flush.write(&text, events);
                    text.clear();
                    text.shrink_to(buffer);
                    // Never full: there are as many places as buffers.
                    let _ = empty.try_send(text);
                }
                Work::End(entry) => return Some(flush.end(*entry)),
            }
        }
        None
    })
}

impl Flush {
    fn create(files: Destination) -> io::Result<Self> {
        let Destination { directory, level, manifest, entry, ranks } = files;
        let rank = Rank(entry.rank);
        let stream = StreamWriter::create(&directory, rank, level)?;
        if let Some(manifest) = manifest {
            manifest.write(&directory)?;
        }
        entry.write(&directory)?;
        let path = directory::stream(&directory, rank);
        Ok(Self { directory, ranks, stream: Some(stream), path, events: 0, text: 0, lost_events: 0, error: None })
    }

    fn write(&mut self, text: &[u8], events: u64) {
        match self.stream.as_mut().map(|stream| stream.write_member(text)) {
            Some(Ok(())) => {
                self.events += events;
                self.text += text.len() as u64;
            }
            Some(Err(error)) => {
                self.lost_events += events;
                let path = self.path.clone();
                self.fail(&path, &error);
            }
            None => self.lost_events += events,
        }
    }

    /// Gives up on the stream. Says why the first time: the rest would be the same news.
    fn fail(&mut self, path: &Path, error: &io::Error) {
        self.stream = None;
        if self.error.is_none() {
            let reason = format!("cannot write {}: {error}", path.display());
            log(format_args!("{reason}; the trace ends after {} events, the program goes on", self.events));
            self.error = Some(reason);
        }
    }

    fn end(mut self, mut entry: RankEntry) -> RankEntry {
        match self.stream.take().map(|stream| stream.finish(self.events)) {
            Some(Ok(FinishedStream { size, crc32 })) => (entry.disk, entry.crc32) = (size, Some(crc32)),
            Some(Err(error)) => {
                let path = self.path.clone();
                self.fail(&path, &error);
            }
            None => {}
        }
        if entry.crc32.is_none() {
            entry.disk = Bytes(std::fs::metadata(&self.path).map_or(0, |file| file.len()));
        }
        entry.events = self.events;
        entry.text = Bytes(self.text);
        entry.lost_events = self.lost_events;
        entry.error = self.error.take();
        let failed_before = entry.error.is_some();
        match entry.end(&self.directory, self.ranks) {
            Err(error) if !failed_before => {
                log(format_args!("rank {}: cannot complete the manifest: {error}", entry.rank));
            }
            _ => {}
        }
        entry
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
