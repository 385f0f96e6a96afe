//! Events in batches, read on demand or ahead of time by a thread that reads for all ranks.
//!
//! While a rank's batch is replayed, the thread decompresses and parses the next one. The source and the batch to fill
//! travel to the thread as a [`ReadJob`] and back again, so nothing of them is shared. Jobs travel [several at a
//! time](ReadJobs), as waking the thread takes as long as replaying a hundred events. Batch boundaries are invisible to
//! later stages: the events depend on the source alone, not on the size of batches or the speed of the thread.
//!
//! A loop whose rounds are all alike is a batch of one round, which comes again and again. It is read once.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvError, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use titr_common::trace::{EventOrigin, EventSource, LocatedEvents, TraceError};

/// Consecutive events of one rank: once, or a round of a loop that comes again and again.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) events: LocatedEvents,
    /// The number of times that the events come again.
    pub(super) again: u64,
    pub(super) then: BatchEnd,
}

/// Maximum size of a round, in batches.
const LARGEST_ROUND: usize = 4;

/// The continuation after the last event of a batch.
#[derive(Debug, Default)]
pub(super) enum BatchEnd {
    /// The next batch.
    #[default]
    More,
    /// The end of the trace; why it is not the end of the program, where it is not.
    End(Option<String>),
    /// An event that cannot be read.
    Fault(Box<TraceError>),
}

impl Batch {
    /// Replaces the events by the next ones of `source`: a round of a loop, or else about `size` bytes, or up to the next loop.
    fn fill(&mut self, source: &mut impl EventSource, size: usize) {
        self.events.clear();
        (self.again, self.then) = (0, BatchEnd::More);
        if let Err(error) = self.read(source, size) {
            self.then = BatchEnd::Fault(Box::new(error));
        }
    }

    fn read(&mut self, source: &mut impl EventSource, size: usize) -> Result<(), TraceError> {
        let most = LARGEST_ROUND.saturating_mul(size) / LocatedEvents::LEAST_BYTES;
        self.again = source.read_round(&mut self.events, most)?;
        while self.again == 0 && self.events.bytes() < size {
            if !source.read(&mut self.events)? {
                self.then = BatchEnd::End(source.torn());
                break;
            }
            if source.goes_round(most) {
                break;
            }
        }
        Ok(())
    }

    /// Goes from the end of the events back to the first, if they come again: `again` more times.
    #[inline]
    pub(super) fn begin_round(&self, index: &mut usize, again: &mut u64) -> bool {
        let is_again = *index == self.events.len() && *again > 0;
        if is_again {
            (*index, *again) = (0, *again - 1);
        }
        is_again
    }

    /// The number of events of the further rounds.
    pub(super) fn repeated(&self) -> usize {
        self.events.len().saturating_mul(usize::try_from(self.again).unwrap_or(usize::MAX))
    }
}

/// The reader of one rank's source, which gives the events in batches.
pub(super) struct BatchReader<S> {
    pub(super) path: Option<PathBuf>,
    /// The origin of the events, if they can be read again.
    pub(super) origin: Option<Arc<dyn EventOrigin>>,
    /// The approximate size of a batch in bytes.
    size: usize,
    reading: ReadBy<S>,
}

enum ReadBy<S> {
    /// The thread that needs the batch.
    Asker(Box<S>),
    Thread {
        jobs: ReadJobs<S>,
        /// The number of times that jobs had been sent when the last one was added.
        added: u64,
        /// The job, done.
        results: Receiver<ReadJob<S>>,
    },
}

/// A batch to be filled from a source.
pub(super) struct ReadJob<S> {
    source: Box<S>,
    batch: Batch,
    size: usize,
    done: SyncSender<ReadJob<S>>,
}

/// The way to the thread that reads ahead.
pub(super) struct ReadJobs<S> {
    waiting: Arc<Mutex<Waiting<S>>>,
    thread: Sender<Vec<ReadJob<S>>>,
}

/// Jobs that wait until there are enough of them, or until a rank needs its batch.
struct Waiting<S> {
    jobs: Vec<ReadJob<S>>,
    /// The number of jobs that are sent together. It falls whenever a rank needs a batch whose job still waits: too few other
    /// ranks read.
    together: usize,
    /// The number of times that jobs were sent.
    sent: u64,
}

// A derived one would ask for a source that can be cloned.
impl<S> Clone for ReadJobs<S> {
    fn clone(&self) -> Self {
        Self { waiting: Arc::clone(&self.waiting), thread: self.thread.clone() }
    }
}

impl<S> ReadJobs<S> {
    fn new(thread: Sender<Vec<ReadJob<S>>>, together: usize) -> Self {
        Self { waiting: Arc::new(Mutex::new(Waiting { jobs: Vec::new(), together, sent: 0 })), thread }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting<S>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a job. Returns the number of times that jobs had been sent before.
    fn add(&self, job: ReadJob<S>) -> u64 {
        let mut waiting = self.waiting();
        let before = waiting.sent;
        waiting.jobs.push(job);
        if waiting.jobs.len() >= waiting.together {
            self.send(&mut waiting);
        }
        before
    }

    /// Sends all jobs, because a batch is needed. Its job was added after jobs had been sent this number of `times`.
    fn need(&self, times: u64) {
        let mut waiting = self.waiting();
        if waiting.sent == times {
            waiting.together = waiting.together.saturating_sub(1);
        }
        self.send(&mut waiting);
    }

    fn send(&self, waiting: &mut Waiting<S>) {
        waiting.sent += 1;
        // Should the thread be gone, so are the jobs, and the next batch of each is the error.
        let _ = self.thread.send(std::mem::take(&mut waiting.jobs));
    }
}

impl<S: EventSource> BatchReader<S> {
    pub(super) fn new(source: S, size: usize) -> Self {
        Self {
            path: source.path(),
            origin: source.origin(),
            size: size.max(1),
            reading: ReadBy::Asker(Box::new(source)),
        }
    }

    /// Lets the thread at the other end of `jobs` read ahead.
    pub(super) fn ahead(self, jobs: &ReadJobs<S>) -> Self {
        let ReadBy::Asker(source) = self.reading else { return self };
        let (done, results) = sync_channel(1);
        let added = jobs.add(ReadJob { source, batch: Batch::default(), size: self.size, done });
        Self { reading: ReadBy::Thread { jobs: jobs.clone(), added, results }, ..self }
    }

    /// Replaces `batch` by the next one, and reuses its memory for a later one.
    pub(super) fn turn(&mut self, batch: &mut Batch) {
        match &mut self.reading {
            ReadBy::Asker(source) => batch.fill(&mut **source, self.size),
            ReadBy::Thread { jobs, added, results } => {
                let done = match results.try_recv() {
                    Err(TryRecvError::Empty) => {
                        jobs.need(*added);
                        results.recv()
                    }
                    done => done.map_err(|_| RecvError),
                };
                match done {
                    Ok(ReadJob { source, batch: next, size, done }) => {
                        let used = std::mem::replace(batch, next);
                        if let BatchEnd::More = batch.then {
                            *added = jobs.add(ReadJob { source, batch: used, size, done });
                        }
                    }
                    Err(gone) => {
                        let path = self.path.clone().unwrap_or_default();
                        let then = BatchEnd::Fault(Box::new(TraceError::Io { path, error: io::Error::other(gone) }));
                        *batch = Batch { then, ..Batch::default() };
                    }
                }
            }
        }
    }

    /// The next batch, in newly allocated memory.
    pub(super) fn next(&mut self) -> Batch {
        let mut batch = Batch::default();
        self.turn(&mut batch);
        batch
    }
}

/// Starts a thread that fills batches for this number of ranks, in the order of the requests, until no further request is possible.
pub(super) fn spawn<S: EventSource + Send + 'static>(ranks: usize) -> io::Result<ReadJobs<S>> {
    let (thread, inbox) = channel::<Vec<ReadJob<S>>>();
    thread::Builder::new().name("read-ahead".into()).spawn(move || {
        for mut job in inbox.into_iter().flatten() {
            job.batch.fill(&mut *job.source, job.size);
            // If a replay ended early, no one receives the batch.
            let _ = job.done.clone().send(job);
        }
    })?;
    Ok(ReadJobs::new(thread, ranks.div_ceil(2)))
}

#[cfg(test)]
mod tests {
    use titr_common::event::Event;
    use titr_common::trace::{LocatedEvents, Location};
    use titr_common::units::Instructions;

    use super::*;

    /// This many events, followed by an error.
    #[derive(Clone)]
    struct Faulty(u32);

    impl EventSource for Faulty {
        fn read(&mut self, events: &mut LocatedEvents) -> Result<bool, TraceError> {
            if self.0 == 0 {
                return Err(TraceError::Empty { path: PathBuf::new() });
            }
            self.0 -= 1;
            let line = Some(self.0.into());
            events.push(Event::Compute(Instructions(self.0.into())), Location { line, ..Location::default() });
            Ok(true)
        }
    }

    /// The events that a reader gives, with their lines and the error at the end.
    fn read(mut reader: BatchReader<Faulty>) -> (Vec<Event>, Vec<u64>, String) {
        let (mut events, mut lines) = (Vec::new(), Vec::new());
        let mut batch = Batch::default();
        loop {
            reader.turn(&mut batch);
            lines.extend(batch.events.iter().filter_map(|located| located.location.line));
            events.extend(batch.events.iter().map(|located| located.event.to_event()));
            match &batch.then {
                BatchEnd::More => {}
                BatchEnd::Fault(error) => return (events, lines, error.to_string()),
                BatchEnd::End(_) => panic!("it ends with an error"),
            }
        }
    }

    #[test]
    fn what_is_read_depends_neither_on_the_thread_nor_on_the_size_of_batches() {
        let jobs = spawn(3).unwrap();
        let whole = read(BatchReader::new(Faulty(1000), usize::MAX));
        assert_eq!((whole.0.len(), whole.1[999]), (1000, 0));
        for size in [1, 1000, 1_000_000] {
            assert_eq!(read(BatchReader::new(Faulty(1000), size)), whole);
            assert_eq!(read(BatchReader::new(Faulty(1000), size).ahead(&jobs)), whole);
        }
    }

    #[test]
    fn a_thread_that_is_gone_is_an_error() {
        let (thread, inbox) = channel();
        drop(inbox);
        let jobs = ReadJobs::new(thread, 1);
        let (events, _, error) = read(BatchReader::new(Faulty(1), 1).ahead(&jobs));
        assert_eq!((events.len(), error.as_str()), (0, ": receiving on a closed channel"));
    }
}
