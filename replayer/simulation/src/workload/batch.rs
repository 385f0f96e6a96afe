//! What programs are read in: some consecutive events of a rank, so that another thread can read the next ones while
//! these are used.

use titr_common::event::ThreadId;
use titr_common::event_buffer::EventBuffer;
use titr_common::trace::TraceError;

use super::Program;

/// Consecutive events of one rank.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) events: EventBuffer,
    /// Where there are lines: each with the index of its first event.
    lines: Vec<(usize, u64)>,
    /// Where another thread's events begin, and whose; before the first they are of the main thread, as all of most
    /// batches are.
    threads: Vec<(usize, ThreadId)>,
    pub(super) then: Then,
}

/// What comes after a batch's last event.
#[derive(Debug, Default)]
pub(super) enum Then {
    /// More events, or nothing.
    #[default]
    More,
    /// The end; why it is not the program's, where it is not.
    End(Option<String>),
    /// An event that cannot be read.
    Fault(Box<TraceError>),
}

impl Batch {
    /// The next events of `program`, of about `size` bytes, instead of those there are.
    pub(super) fn fill(&mut self, program: &mut impl Program, size: usize) {
        self.clear(Then::More);
        let mut thread = ThreadId::MAIN;
        while self.events.bytes() < size {
            let before = self.events.len();
            match program.read(&mut self.events) {
                Ok(true) => {
                    self.lines.extend(program.line().map(|line| (before, line)));
                    if program.thread() != thread {
                        thread = program.thread();
                        self.threads.push((before, thread));
                    }
                }
                Ok(false) => {
                    self.then = Then::End(program.torn());
                    return;
                }
                Err(error) => {
                    self.then = Then::Fault(Box::new(error));
                    return;
                }
            }
        }
    }

    /// No event but an error.
    pub(super) fn fault(&mut self, error: TraceError) {
        self.clear(Then::Fault(Box::new(error)));
    }

    /// No event and no more.
    pub(super) fn end(&mut self) {
        self.clear(Then::End(None));
    }

    fn clear(&mut self, then: Then) {
        self.events.clear();
        self.lines.clear();
        self.threads.clear();
        self.then = then;
    }

    /// The line of the event at `index`.
    pub(super) fn line(&self, index: usize) -> Option<u64> {
        at(&self.lines, index)
    }

    /// The thread whose event that is.
    pub(super) fn thread(&self, index: usize) -> ThreadId {
        at(&self.threads, index).unwrap_or(ThreadId::MAIN)
    }

    /// Whether there are events of other threads than the main one.
    pub(super) fn has_threads(&self) -> bool {
        !self.threads.is_empty()
    }
}

/// What holds at `index`, of values that each hold from an index on.
fn at<T: Copy>(values: &[(usize, T)], index: usize) -> Option<T> {
    let until = values.partition_point(|&(first, _)| first <= index);
    Some(values.get(until.checked_sub(1)?)?.1)
}
