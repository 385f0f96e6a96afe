//! The events of a rank on their way to the sink: the thread of each, the thread's computation before it, and the
//! annotations of an extended trace. Calls that become no event are counted.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::ManuallyDrop;

use rustc_hash::FxHashSet;
use titr_common::event::{Annotation, CallSiteId, Event, Mark, Other, Rank, Span, ThreadId};
use titr_common::trace::manifest::{Ended, RankEntry};
use titr_common::units::Instructions;
use titr_config::Part;
use titr_wrappers::Function;

use super::Outcome;
use super::id_pool::IdPool;
use super::message_args::Volumes;
use super::omitted_calls::OmittedCalls;
use super::part::{Admission, PartGate};
use crate::call_sites::CallSites;
use crate::counter::{Precision, Rounding};
use crate::process_time::ProcessClock;
use crate::sink::Sink;
use crate::stderr::log;

#[derive(Clone)]
pub(crate) struct RecorderOptions {
    pub precision: Precision,
    /// Whether to print at the end the words that each function was recorded as.
    pub explains: bool,
    /// The call sites, if they are recorded.
    pub call_sites: Option<&'static CallSites>,
    /// The clocks of the process, if they are known.
    pub process: Option<&'static ProcessClock>,
    /// The part of the program to be traced.
    pub part: Part,
}

pub(crate) struct EventStream {
    sink: Sink,
    thread: ThreadId,
    /// The computation of each thread that no event says yet, by the thread's number.
    computed: Vec<ComputeAccumulator>,
    numbers: IdPool,
    precision: Precision,
    /// The annotations of the call whose first event follows, in an extended trace.
    annotations: Vec<Annotation>,
    /// The call sites, if they are recorded, and of each thread those whose stacks the stream has.
    call_sites: Option<(&'static CallSites, FxHashSet<(ThreadId, CallSiteId)>)>,
    /// The call site of the call whose first event follows.
    site: Option<CallSiteId>,
    /// The words of each function's events, if requested.
    explanation: Option<Explanation>,
    /// The gate before the sink, if only a part of the program is traced.
    part: Option<PartGate>,
    omitted: OmittedCalls,
    /// The volume of calls that communicate and have become no event.
    passed_over: Instructions,
    /// The clocks of the process, if they are known.
    process: Option<&'static ProcessClock>,
    /// Whether everything is written, without call sites, annotations and explanations.
    is_plain: bool,
}

/// The computation of one thread that no event says yet.
struct ComputeAccumulator {
    computed: Instructions,
    /// The computation of the thread in all.
    total: Instructions,
    rounding: Rounding,
}

impl ComputeAccumulator {
    /// The volume to write before an event, rounded; `None` if that is nothing.
    #[inline]
    fn take(&mut self) -> Option<Instructions> {
        let computed = std::mem::take(&mut self.computed);
        self.total.0 += computed.0;
        self.rounding.round(computed)
    }
}

impl EventStream {
    pub(super) fn new(sink: Sink, options: RecorderOptions) -> Self {
        let RecorderOptions { precision, explains, call_sites, process, part } = options;
        let part = PartGate::new(part);
        Self {
            sink,
            thread: ThreadId::MAIN,
            computed: Vec::new(),
            numbers: IdPool::default(),
            precision,
            annotations: Vec::new(),
            call_sites: call_sites.map(|sites| (sites, FxHashSet::default())),
            site: None,
            explanation: explains.then(Explanation::default),
            is_plain: !explains && call_sites.is_none() && part.is_none(),
            part,
            omitted: OmittedCalls::default(),
            passed_over: Instructions(0.0),
            process,
        }
    }

    /// Gives a new thread the lowest free number.
    #[cold]
    pub(crate) fn admit_thread(&mut self) -> ThreadId {
        let number = self.numbers.take();
        if self.computed.len() == number as usize {
            let rounding = Rounding::to(self.precision);
            let nothing = Instructions(0.0);
            self.computed.push(ComputeAccumulator { computed: nothing, total: nothing, rounding });
        }
        ThreadId(number)
    }

    /// Declares that the following events belong to a thread, which has computed this additional volume.
    #[inline]
    pub(super) fn switch_to(&mut self, thread: ThreadId, computed: Instructions) {
        self.thread = thread;
        if let Some(accumulator) = self.computed.get_mut(thread.0 as usize) {
            accumulator.computed.0 += computed.0;
        }
    }

    /// The thread whose events were written last has ended; its number is free.
    pub(crate) fn thread_ended(&mut self) {
        self.write_computation();
        self.numbers.give(self.thread.0);
    }

    /// The events that follow are of a call at this site.
    #[cold]
    pub(crate) fn begin_call(&mut self, site: CallSiteId) {
        self.site = Some(site);
    }

    /// Begins the annotations of the call whose first event follows, if the trace contains times.
    #[inline]
    pub(crate) fn begin_annotations(&mut self, span: Option<Span>) {
        if let Some(span) = span {
            self.annotations.clear();
            self.annotate([Annotation::Call(span)]);
        }
    }

    /// Adds annotations to the call whose next event follows.
    #[cold]
    pub(crate) fn annotate(&mut self, annotations: impl IntoIterator<Item = Annotation>) {
        self.is_plain = false;
        self.annotations.extend(annotations);
    }

    /// Writes an event of the thread, after the thread's preceding computation.
    #[inline]
    pub(super) fn write(&mut self, event: &Event) {
        if !self.is_plain {
            return self.write_with_more(event);
        }
        let work = self.take_computed();
        self.sink.record_after(self.thread, work, event);
    }

    pub(super) fn thread(&self) -> ThreadId {
        self.thread
    }

    /// Writes an event of an earlier call of `function` by `thread`, while another call is recorded.
    pub(super) fn write_beside(&mut self, thread: ThreadId, function: &Function, event: &Event) {
        let call =
            (std::mem::replace(&mut self.thread, thread), self.site.take(), std::mem::take(&mut self.annotations));
        self.write(event);
        self.explain(function);
        (self.thread, self.site, self.annotations) = call;
    }

    /// Writes an event that owns no memory. The event is never dropped: its destructor would take time to find that
    /// there is nothing to free.
    #[inline]
    pub(super) fn write_unowning(&mut self, event: Event) {
        self.write(&ManuallyDrop::new(event));
    }

    /// Writes a call of `function` that no specific event describes.
    pub(super) fn write_other(&mut self, function: &Function, (sent, received): Volumes) {
        self.write(&Event::Other(Other { function: function.name.into(), sent, received }));
    }

    /// Writes an event with its call site and its annotations.
    #[inline(never)]
    fn write_with_more(&mut self, event: &Event) {
        let Some(part) = &mut self.part else { return self.write_whole(event) };
        let was_open = part.is_open();
        let Admission { before, event: is_recorded, after } = part.pass(event);
        if !was_open && part.is_open() {
            // The previous computation of all threads does not belong to the part.
            self.computed.iter_mut().for_each(|thread| _ = thread.take());
        } else if !was_open {
            self.take_computed();
        }
        let work = if was_open && !before.is_empty() { self.take_computed() } else { None };
        if let Some(work) = work {
            self.sink.record(self.thread, &Event::Compute(work));
        }
        self.write_marks(before);
        if is_recorded {
            self.write_whole(event);
        } else {
            self.site = None;
            self.annotations.clear();
        }
        self.write_marks(after);
    }

    fn write_marks(&mut self, marks: Vec<Mark>) {
        for mark in marks {
            self.sink.record(self.thread, &Event::Mark(mark));
        }
    }

    /// Writes an event that goes into the trace.
    fn write_whole(&mut self, event: &Event) {
        if let Some(site) = self.site.take() {
            self.write_site(site);
        }
        let mut work = self.take_computed();
        if !self.annotations.is_empty() {
            self.write_annotations(&mut work);
        }
        if let Some(explanation) = &mut self.explanation {
            explanation.add(event);
        }
        self.sink.record_after(self.thread, work, event);
    }

    /// Writes the call site of the call whose first event follows, before the computation that precedes the call.
    fn write_site(&mut self, site: CallSiteId) {
        let Some((sites, known)) = &mut self.call_sites else { return };
        if known.insert((self.thread, site))
            && let Some(stack) = sites.stack(site)
        {
            self.sink.record(self.thread, &Event::Mark(Mark::CallStack(site, stack)));
        }
        self.sink.record(self.thread, &Event::Mark(Mark::CallSite(site)));
    }

    /// Writes the computation of the thread after its last event.
    pub(super) fn write_computation(&mut self) {
        let is_recorded = self.part.as_ref().is_none_or(PartGate::is_open);
        if let Some(work) = self.take_computed().filter(|_| is_recorded) {
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

    /// Ends a call of `function`, which the events since the last call belong to; counts it if it has become no event.
    #[inline]
    pub(crate) fn end_call(&mut self, function: &'static Function, outcome: Outcome) {
        if let Err(why) = outcome {
            self.omitted.count(function, why);
        }
        self.explain(function);
    }

    /// A call that communicates has taken this volume, and becomes no event.
    #[cold]
    pub(crate) fn passed_over(&mut self, volume: Instructions) {
        self.passed_over.0 += volume.0;
    }

    /// Declares that the events since the last call belong to a call of `function`.
    #[inline]
    pub(super) fn explain(&mut self, function: &Function) {
        if let Some(explanation) = &mut self.explanation {
            explanation.end_call(function);
        }
    }

    /// Objects of the program, by their files, call these functions and are not seen to.
    pub(crate) fn unseen(&mut self, functions: BTreeMap<String, Vec<String>>) {
        for (file, functions) in functions {
            if self.sink.rank() == Rank(0) {
                log(format_args!(
                    "not traced: {file} was opened with RTLD_DEEPBIND and calls the MPI library past titr: {}",
                    functions.join(", ")
                ));
            }
            self.omitted.unseen(&file, functions);
        }
    }

    /// Hands over the recorded events for writing; false if that is not possible at the moment.
    pub(crate) fn hand_over(&mut self) -> bool {
        self.sink.hand_over()
    }

    /// Hands over the recorded events and the rank's entry, which `complete` may add to; false if that is not possible
    /// at the moment.
    pub(super) fn close(&mut self, ended: Ended, complete: impl FnOnce(&mut RankEntry)) -> bool {
        let Self { sink, computed, call_sites, omitted, process, passed_over, .. } = self;
        sink.close(ended, |entry| {
            describe(entry, computed, call_sites.as_ref(), omitted, (*process, *passed_over));
            complete(entry);
        })
    }

    /// Ends the stream. Returns the rank's entry, which `complete` may add to, unless there is no thread to write it.
    pub(super) fn finish(self, ended: Ended, complete: impl FnOnce(&mut RankEntry)) -> Option<RankEntry> {
        let Self { sink, computed, explanation, call_sites, part, omitted, process, passed_over, .. } = self;
        if let Some(explanation) = &explanation {
            explanation.log(sink.rank());
        }
        sink.finish(ended, |entry| {
            describe(entry, &computed, call_sites.as_ref(), &omitted, (process, passed_over));
            entry.part = part.map(|part| part.calls());
            complete(entry);
        })
    }
}

/// Completes a rank's entry in the manifest with what the stream knows.
fn describe(
    entry: &mut RankEntry,
    threads: &[ComputeAccumulator],
    call_sites: Option<&(&'static CallSites, FxHashSet<(ThreadId, CallSiteId)>)>,
    omitted: &OmittedCalls,
    (process, passed_over): (Option<&'static ProcessClock>, Instructions),
) {
    let computed = threads.iter().map(|thread| thread.total.0 + thread.computed.0).sum();
    entry.threads = threads.len() as u32;
    entry.modules = call_sites.map_or(Vec::new(), |(sites, _)| sites.modules());
    entry.process_time = process.and_then(|process| process.measure(computed, passed_over.0)).map(Box::new);
    omitted.complete(entry);
}

/// The words in the trace for the calls of each function.
#[derive(Debug, Default)]
pub(super) struct Explanation {
    /// The words of the events since the last call ended.
    call: Vec<&'static str>,
    functions: BTreeMap<&'static str, BTreeSet<&'static str>>,
}

impl Explanation {
    /// Takes note of an event of the call that is being recorded.
    pub(super) fn add(&mut self, event: &Event) {
        self.call.push(event.word());
    }

    /// Ends a call: the events since the last one were a call of `function`.
    pub(super) fn end_call(&mut self, function: &Function) {
        if !self.call.is_empty() {
            self.functions.entry(function.name).or_default().extend(self.call.drain(..));
        }
    }

    pub(super) fn log(&self, rank: Rank) {
        for (function, words) in &self.functions {
            let words: Vec<&str> = words.iter().copied().collect();
            log(format_args!("rank {}: {function} is recorded as {}", rank.0, words.join(", ")));
        }
    }
}
