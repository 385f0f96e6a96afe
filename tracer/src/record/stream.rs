//! The events of a rank on their way to the sink: whose they are, what their thread computed before them, and what an
//! extended trace adds to them.

use titr_common::event::{Annotation, Event, ThreadId};
use titr_common::trace::manifest::{Ended, RankEntry};
use titr_common::units::Instructions;
use titr_wrappers::Function;

use super::explanation::Explanation;
use super::id_pool::IdPool;
use crate::counter::{Precision, Rounding};
use crate::sink::Sink;

/// The event stream of one rank.
pub(super) struct EventStream {
    sink: Sink,
    /// The thread whose events follow.
    thread: ThreadId,
    /// The computation of each thread that no event says yet, by the thread's number.
    computed: Vec<ComputeAccumulator>,
    numbers: IdPool,
    precision: Precision,
    /// The annotations of the call whose first event follows, in an extended trace.
    annotations: Vec<Annotation>,
    /// The words of each function's events, where they were asked for.
    explanation: Option<Explanation>,
}

/// The computation of one thread that no event says yet.
struct ComputeAccumulator {
    computed: Instructions,
    rounding: Rounding,
}

impl ComputeAccumulator {
    /// The volume to write before an event, rounded; `None` if that is nothing.
    #[inline]
    fn take(&mut self) -> Option<Instructions> {
        self.rounding.round(std::mem::take(&mut self.computed))
    }
}

impl EventStream {
    /// A stream into a sink, of computation that is known to `precision`.
    pub(super) fn new(sink: Sink, precision: Precision, explains: bool) -> Self {
        Self {
            sink,
            thread: ThreadId::MAIN,
            computed: Vec::new(),
            numbers: IdPool::default(),
            precision,
            annotations: Vec::new(),
            explanation: explains.then(Explanation::default),
        }
    }

    /// Gives a new thread the lowest free number.
    #[cold]
    pub(super) fn admit_thread(&mut self) -> ThreadId {
        let number = self.numbers.take();
        if self.computed.len() == number as usize {
            let rounding = Rounding::to(self.precision);
            self.computed.push(ComputeAccumulator { computed: Instructions(0.0), rounding });
        }
        ThreadId(number)
    }

    /// The events that follow are those of a thread, which has computed so much more.
    #[inline]
    pub(super) fn switch_to(&mut self, thread: ThreadId, computed: Instructions) {
        self.thread = thread;
        if let Some(accumulator) = self.computed.get_mut(thread.0 as usize) {
            accumulator.computed.0 += computed.0;
        }
    }

    /// The thread whose events were written last has ended; its number is free.
    pub(super) fn thread_ended(&mut self) {
        self.write_computation();
        self.numbers.give(self.thread.0);
    }

    /// Begins the annotations of a call.
    #[cold]
    pub(super) fn begin_annotations(&mut self, first: Annotation) {
        self.annotations.clear();
        self.annotations.push(first);
    }

    /// Adds annotations to the call whose next event follows.
    #[cold]
    pub(super) fn annotate(&mut self, annotations: impl IntoIterator<Item = Annotation>) {
        self.annotations.extend(annotations);
    }

    /// Writes an event of the thread, after what the thread computed before it.
    #[inline]
    pub(super) fn write(&mut self, event: &Event) {
        let mut work = self.take_computed();
        if !self.annotations.is_empty() {
            self.write_annotations(&mut work);
        }
        if let Some(explanation) = &mut self.explanation {
            explanation.add(event);
        }
        self.sink.record_after(self.thread, work, event);
    }

    /// Writes what the thread computed after its last event.
    pub(super) fn write_computation(&mut self) {
        if let Some(work) = self.take_computed() {
            self.sink.record(self.thread, &Event::Compute(work));
        }
    }

    #[cold]
    fn write_annotations(&mut self, work: &mut Option<Instructions>) {
        if let Some(work) = work.take() {
            self.sink.record(self.thread, &Event::Compute(work));
        }
        for annotation in self.annotations.drain(..) {
            self.sink.record(self.thread, &Event::Annotation(annotation));
        }
    }

    #[inline]
    fn take_computed(&mut self) -> Option<Instructions> {
        self.computed.get_mut(self.thread.0 as usize).and_then(ComputeAccumulator::take)
    }

    /// The events since the last call were those of a call of `function`.
    #[inline]
    pub(super) fn end_call(&mut self, function: &Function) {
        if let Some(explanation) = &mut self.explanation {
            explanation.end_call(function);
        }
    }

    /// Ends the stream. Returns the rank's entry, which `complete` may add to, unless there is nobody to write it.
    pub(super) fn finish(self, ended: Ended, complete: impl FnOnce(&mut RankEntry)) -> Option<RankEntry> {
        let Self { sink, computed, explanation, .. } = self;
        if let Some(explanation) = &explanation {
            explanation.log(sink.rank());
        }
        sink.finish(ended, |entry| {
            entry.threads = computed.len() as u32;
            complete(entry);
        })
    }
}
