//! A program in batches, read when they are asked for, or ahead of that by a thread that reads for all ranks.
//!
//! While a rank's batch is replayed, the thread unpacks and parses the next one. The program and the batch to fill
//! travel to the thread as an [`Errand`] and back again, so nothing is shared; and what is read depends on the program
//! alone, however fast the thread is.

use std::io;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;

use titr_common::trace::TraceError;

use super::Program;
use super::batch::{Batch, Then};

/// What reads one rank's program.
pub(super) struct Reader<P> {
    /// The program's file.
    pub(super) path: Option<PathBuf>,
    /// About how many bytes of events a batch holds.
    size: usize,
    at: At<P>,
}

/// Where the program is.
enum At<P> {
    Here(Box<P>),
    /// With the thread, to which errands lead, or on its way back.
    Thread(Sender<Errand<P>>, Receiver<Errand<P>>),
    /// With another reader.
    Gone,
}

/// A batch to be filled from a program.
pub(super) struct Errand<P> {
    program: Box<P>,
    batch: Batch,
    size: usize,
    back: SyncSender<Errand<P>>,
}

impl<P: Program> Reader<P> {
    pub(super) fn new(program: P, size: usize) -> Self {
        Self { path: program.path(), size, at: At::Here(Box::new(program)) }
    }

    /// Lets the thread at the other end of `errands` read.
    pub(super) fn ahead(self, errands: &Sender<Errand<P>>) -> Self {
        let At::Here(program) = self.at else { return self };
        let (back, done) = sync_channel(1);
        // Should the thread be gone, so is `back`, and the first batch is the error.
        let _ = errands.send(Errand { program, batch: Batch::default(), size: self.size, back });
        Self { at: At::Thread(errands.clone(), done), ..self }
    }

    /// The next batch, in place of one that is used up. The last one says so.
    pub(super) fn next(&mut self, mut used: Batch) -> Batch {
        match &mut self.at {
            At::Here(program) => {
                used.fill(&mut **program, self.size);
                used
            }
            At::Thread(errands, done) => match done.recv() {
                Ok(Errand { program, batch, size, back }) => {
                    if let Then::More = batch.then {
                        let _ = errands.send(Errand { program, batch: used, size, back });
                    }
                    batch
                }
                Err(gone) => {
                    let path = self.path.clone().unwrap_or_default();
                    used.fault(TraceError::Io { path, error: io::Error::other(gone) });
                    used
                }
            },
            At::Gone => {
                used.end();
                used
            }
        }
    }

    /// A reader in its place, that reads nothing.
    pub(super) fn gone(&self) -> Self {
        Self { path: self.path.clone(), size: self.size, at: At::Gone }
    }
}

/// Starts a thread that does errands, in the order in which they come, until nobody can send any more.
pub(super) fn thread<P: Program + Send + 'static>() -> io::Result<Sender<Errand<P>>> {
    let (errands, inbox) = channel::<Errand<P>>();
    thread::Builder::new().name("read-ahead".into()).spawn(move || {
        for mut errand in inbox {
            errand.batch.fill(&mut *errand.program, errand.size);
            // Nobody waits for it any more where a replay ended early.
            let _ = errand.back.clone().send(errand);
        }
    })?;
    Ok(errands)
}

#[cfg(test)]
mod tests {
    use titr_common::event::{Event, ThreadId};
    use titr_common::event_buffer::{EventBuffer, EventRef};
    use titr_common::units::Instructions;

    use super::*;

    /// So many events, then an error.
    #[derive(Clone)]
    struct Faulty(u32);

    impl Program for Faulty {
        fn read(&mut self, events: &mut EventBuffer) -> Result<bool, TraceError> {
            if self.0 == 0 {
                return Err(TraceError::Empty { path: PathBuf::new() });
            }
            self.0 -= 1;
            events.push(Event::Compute(Instructions(self.0.into())));
            Ok(true)
        }

        fn line(&self) -> Option<u64> {
            Some(self.0.into())
        }

        fn thread(&self) -> ThreadId {
            ThreadId::MAIN
        }
    }

    /// What it reads, with lines and the error at the end.
    fn read(mut reader: Reader<Faulty>) -> (Vec<Event>, Vec<u64>, String) {
        let (mut events, mut lines) = (Vec::new(), Vec::new());
        let mut batch = Batch::default();
        loop {
            batch = reader.next(batch);
            lines.extend((0..batch.events.len()).filter_map(|index| batch.line(index)));
            events.extend(batch.events.iter().map(EventRef::to_event));
            match &batch.then {
                Then::More => {}
                Then::Fault(error) => return (events, lines, error.to_string()),
                Then::End(_) => panic!("it ends with an error"),
            }
        }
    }

    #[test]
    fn what_is_read_depends_neither_on_the_thread_nor_on_the_size_of_batches() {
        let errands = thread().unwrap();
        let whole = read(Reader::new(Faulty(1000), usize::MAX));
        assert_eq!((whole.0.len(), whole.1[999]), (1000, 0));
        for size in [1, 1000, 1_000_000] {
            assert_eq!(read(Reader::new(Faulty(1000), size)), whole);
            assert_eq!(read(Reader::new(Faulty(1000), size).ahead(&errands)), whole);
        }
    }

    #[test]
    fn a_thread_that_is_gone_is_an_error() {
        let (errands, inbox) = channel();
        drop(inbox);
        let (events, _, error) = read(Reader::new(Faulty(1), 1).ahead(&errands));
        assert_eq!((events.len(), error.as_str()), (0, ": receiving on a closed channel"));
    }
}
