//! What a call means for the trace.
//!
//! A call is recorded when it returns: only then is it known what a wildcard receive has matched, which requests a wait
//! has completed, what a communicator's members are. What the call itself overwrites — handles that become null — is
//! held from before. Between the two the recorder is not locked, as the call may wait for another thread's.
//!
//! ```text
//!   counter stops ─► hold what will be gone ─► the real call ─► event(s) ─► counter starts
//! ```

mod background;
mod collective;
mod communicators;
mod completion;
mod creation;
mod files;
mod inquiry;
mod message;
mod neighborhood;
mod numbers;
mod one_sided;
mod other;
mod partitioned;
mod requests;
mod sizes;
mod slot;
mod tally;

use std::ptr;

use rustc_hash::FxHashMap;
use titr_common::event::{Event, Rank, RequestId, Seen, Span, ThreadId};
use titr_common::trace::manifest::{Ended, RankEntry};
use titr_common::units::{Bytes, Instructions, Nanoseconds};
use titr_wrappers::argument::{Comm, Count, Datatype, Message};
use titr_wrappers::functions::datatype::MPI_Type_free;
use titr_wrappers::functions::point_to_point::PointToPoint::MPI_Request_free;
use titr_wrappers::{Abi, Call, Function, Real, pmpi};

use crate::counter::{Counter, Precision, Rounding, Source};
use crate::extended::{Clock, Extended};
use crate::sink::Sink;
use background::Background;
use communicators::Communicators;
use completion::Held;
use files::Files;
use inquiry::Inquiry;
use message::Found;
use numbers::LowestFree;
use one_sided::Windows;
use requests::Requests;
use sizes::Sizes;
use tally::{Tally, Unrecorded};

pub use slot::Slot;

/// Turns the calls of one rank into events.
pub struct Recorder {
    abi: &'static Abi,
    me: Rank,
    world_size: u32,
    sink: Sink,
    communicators: Communicators,
    requests: Requests,
    sizes: Sizes,
    windows: Windows,
    files: Files,
    /// Messages that a matched probe has found and nobody received yet.
    messages: FxHashMap<Message, Found>,
    tally: Tally,
    /// What an extended trace needs.
    extended: Option<Extended>,
    background: Background,
    /// What an extended trace has to say of a call before its first event.
    seen: Vec<Seen>,
    /// The thread whose call is being recorded.
    thread: ThreadId,
    /// What each thread computes, by its number.
    ledgers: Vec<Ledger>,
    precision: Precision,
    threads: LowestFree,
    /// Lists that events are made of, kept for their memory.
    numbers: Vec<RequestId>,
    sends: Vec<Bytes>,
    recvs: Vec<Bytes>,
}

/// What one thread of the program keeps from call to call.
pub struct Thread {
    counter: Counter,
    /// What it has computed and the recorder does not know of.
    computed: Instructions,
    held: Held,
    /// What calls are timed by, in extended traces.
    clock: Option<Clock>,
    /// When the call that is to be recorded was made and returned.
    called: Option<Span>,
    /// None before its first call is recorded.
    number: Option<ThreadId>,
}

/// What one thread computes.
struct Ledger {
    /// And no event says yet.
    computed: Instructions,
    rounding: Rounding,
}

/// A call is an event, or it is counted.
type Outcome = Result<(), Unrecorded>;

impl Slot<Recorder> {
    /// Begins to record, with the thread that has initialised MPI.
    pub fn fill(&self, mut recorder: Recorder, thread: &mut Thread) {
        recorder.turn_to(thread);
        recorder.emit(&Event::Init);
        *self.hold() = Some(recorder);
    }

    /// Records no more, and completes the trace; `thread` is the one that ends it. The entry that was
    /// written; `None` if nothing was recorded, or if another thread is in the middle of it and may never come out, as in
    /// a signal handler.
    pub fn end(&self, thread: Option<&mut Thread>, ended: Ended) -> Option<RankEntry> {
        let mut recorder = self.try_hold()?.take()?;
        if let Some(thread) = thread {
            thread.stop();
            recorder.turn_to(thread);
            recorder.seen.clear();
            recorder.seen.extend(thread.begin().map(|now| Seen::Call(Span { begin: now, end: now })));
        }
        recorder.end(ended)
    }

    /// A thread ends, and its number is free for another one. The main thread does so in `exit`, before the trace is ended.
    pub fn leave(&self, thread: &mut Thread) {
        thread.stop();
        // Where somebody holds the recorder and may never let go, as in a signal handler, the number is lost.
        if let (Some(number), Some(mut slot)) = (thread.number, self.try_hold())
            && let Some(recorder) = &mut *slot
        {
            recorder.turn_to(thread);
            recorder.rest();
            recorder.threads.give(number.0);
        }
    }

    /// Runs a call and records it.
    pub fn record(&self, thread: &mut Thread, function: &'static Function, call: &Call<'_>, real: Real<'_>) {
        thread.stop();
        match Inquiry::of(call) {
            Some(inquiry) => {
                self.then(thread, function, |recorder, held| {
                    recorder.hold_requests(held, &inquiry);
                    Ok(())
                });
                let begin = thread.begin();
                if begin.is_some() {
                    self.wait_patiently(&thread.held, &inquiry);
                }
                let success = real.run();
                thread.end(begin);
                // A wait may fail and have completed requests.
                self.then(thread, function, |recorder, held| recorder.inquiry(held, &inquiry, success));
            }
            None => {
                self.before(&mut thread.held, function, call);
                let begin = thread.begin();
                let success = match thread.clock {
                    Some(clock) => self.run_extended(&mut thread.held, function, call, real, clock),
                    None => real.run(),
                };
                thread.end(begin);
                self.then(thread, function, |recorder, held| match recorder.after(held, function, call, success) {
                    // What failed did not take place as the arguments say.
                    Err(Unrecorded::Untraced) if success => {
                        recorder.other(function, call);
                        recorder.opaque_if_collective(call)
                    }
                    outcome => outcome,
                });
            }
        }
        thread.start();
    }

    /// Makes the call of an extended trace.
    #[cold]
    fn run_extended(
        &self,
        held: &mut Held,
        function: &Function,
        call: &Call<'_>,
        real: Real<'_>,
        clock: Clock,
    ) -> bool {
        if let Call::Collective(call) = call {
            return self.carry_out(held, call, real, clock);
        }
        let success = self.run_patiently(function, call, real);
        // Here, as all its members are, while no collective of it is to be carried out yet.
        held.private = creation::made_by(call).filter(|_| success).and_then(pmpi::split_large);
        success
    }

    /// Lets the recorder do what is to be done before or after a call.
    #[inline]
    fn then(
        &self,
        thread: &mut Thread,
        function: &'static Function,
        record: impl FnOnce(&mut Recorder, &mut Held) -> Outcome,
    ) {
        if let Some(recorder) = &mut *self.hold() {
            recorder.turn_to(thread);
            recorder.seen.clear();
            recorder.seen.extend(thread.called.take().map(Seen::Call));
            if let Err(why) = record(recorder, &mut thread.held) {
                recorder.tally.count(function, why);
            }
        }
    }

    /// Holds what the call overwrites, and sees to it that there is a status where one is needed.
    fn before(&self, held: &mut Held, function: &Function, call: &Call<'_>) {
        match call {
            Call::PointToPoint(MPI_Request_free(request)) => {
                if let Some(recorder) = &mut *self.hold() {
                    recorder.hold_request(held, request);
                }
            }
            Call::PointToPoint(call) => message::before(held, call),
            Call::Communicator(call) => creation::before(held, call),
            Call::OneSided(call) => one_sided::before(held, call),
            Call::Io(call) => files::before(held, call),
            Call::Other if ptr::eq(function, &MPI_Type_free) => {
                if let Some(recorder) = &mut *self.hold() {
                    recorder.sizes.forget();
                }
            }
            Call::Collective(_) | Call::Topology(_) | Call::Process(_) | Call::Other => {}
        }
    }
}

impl Thread {
    /// The calling thread.
    #[must_use]
    pub fn new(counters: &Source, clock: Option<Clock>) -> Self {
        let (counter, held) = (counters.open(), Held::default());
        Self { counter, computed: Instructions(0.0), held, clock, called: None, number: None }
    }

    /// A call is made.
    #[inline]
    fn begin(&self) -> Option<Nanoseconds> {
        self.clock.map(|clock| clock.now())
    }

    /// It has returned.
    #[inline]
    fn end(&mut self, begin: Option<Nanoseconds>) {
        self.called = begin.zip(self.begin()).map(|(begin, end)| Span { begin, end });
    }

    fn stop(&mut self) {
        self.computed.0 += self.counter.stop().0;
    }

    /// The program goes on.
    pub fn start(&mut self) {
        self.counter.start();
    }

    /// What was computed so far and is not recorded; it will not be.
    pub fn discard(&mut self) -> Instructions {
        std::mem::take(&mut self.computed)
    }
}

impl Ledger {
    /// What is to be said of the computation before an event.
    #[inline]
    fn due(&mut self) -> Option<Instructions> {
        self.rounding.round(std::mem::take(&mut self.computed))
    }
}

impl Recorder {
    /// For the rank whose events `sink` takes, and whose computation is known to `precision`.
    #[must_use]
    pub fn new(
        abi: &'static Abi,
        sink: Sink,
        world_size: u32,
        precision: Precision,
        extended: Option<Extended>,
    ) -> Self {
        let me = sink.rank();
        Self {
            abi,
            me,
            world_size,
            sink,
            communicators: Communicators::new(abi.comm_world, abi.comm_self, me, world_size),
            requests: Requests::default(),
            sizes: Sizes::default(),
            windows: Windows::default(),
            files: Files::default(),
            messages: FxHashMap::default(),
            tally: Tally::default(),
            extended,
            background: Background::default(),
            seen: Vec::new(),
            thread: ThreadId::MAIN,
            ledgers: Vec::new(),
            precision,
            threads: LowestFree::default(),
            numbers: Vec::new(),
            sends: Vec::new(),
            recvs: Vec::new(),
        }
    }

    /// Starts the clock of an extended trace. Collective.
    pub fn set_out(&mut self) -> Option<Clock> {
        self.extended.as_mut().map(|extended| extended.set_out(self.abi))
    }

    fn after(&mut self, held: &mut Held, function: &Function, call: &Call<'_>, success: bool) -> Outcome {
        match call {
            Call::PointToPoint(call) if completion::takes_requests(call) => self.completion(held, call, success),
            Call::Other => Err(Unrecorded::unless_read(function)),
            _ if !success => Err(Unrecorded::Untraced),
            Call::PointToPoint(call) => self.message(held, call),
            Call::Collective(call) => self.collective(held, call),
            Call::Communicator(made) => {
                let outcome = self.communicator(held, made);
                self.adopt(held, call);
                outcome
            }
            Call::Topology(made) => {
                let outcome = self.topology(made);
                self.adopt(held, call);
                // Neighbours' messages are the library's own.
                let opaque = self.extended.is_some() && creation::made_by(call).is_none();
                if opaque { outcome.and(Err(Unrecorded::Opaque)) } else { outcome }
            }
            Call::OneSided(call) => self.one_sided(held, call),
            Call::Io(call) => self.io(held, call),
            // A second `MPI_Init`; the first one and the end are not calls between two others.
            Call::Process(_) => Err(Unrecorded::Local),
        }
    }

    /// In an extended trace, collectives between groups are not carried out either.
    fn opaque_if_collective(&self, call: &Call<'_>) -> Outcome {
        match call {
            Call::Collective(_) if self.extended.is_some() => Err(Unrecorded::Opaque),
            _ => Ok(()),
        }
    }

    /// Keeps the communicator for messages that goes with the one a call has made.
    fn adopt(&mut self, held: &mut Held, call: &Call<'_>) {
        let made = creation::made_by(call).and_then(|new| Some(self.known(new).ok()?.id));
        if let (Some(extended), Some(id), Some(private)) = (&mut self.extended, made, held.private.take()) {
            extended.keep(id, private);
        }
    }

    /// What follows is of `thread`, with what it has computed.
    #[inline]
    fn turn_to(&mut self, thread: &mut Thread) {
        let number = thread.number.unwrap_or_else(|| self.admit(thread));
        self.thread = number;
        if let Some(ledger) = self.ledgers.get_mut(number.0 as usize) {
            ledger.computed.0 += std::mem::take(&mut thread.computed).0;
        }
    }

    #[cold]
    fn admit(&mut self, thread: &mut Thread) -> ThreadId {
        let number = self.threads.take();
        if self.ledgers.len() == number as usize {
            let rounding = Rounding::to(self.precision);
            self.ledgers.push(Ledger { computed: Instructions(0.0), rounding });
        }
        *thread.number.insert(ThreadId(number))
    }

    /// Writes an event of the thread, after what it computed before it.
    fn emit(&mut self, event: &Event) {
        let mut work = self.ledgers.get_mut(self.thread.0 as usize).and_then(Ledger::due);
        for seen in self.seen.drain(..) {
            self.sink.record_after(self.thread, work.take(), &Event::Seen(seen));
        }
        self.sink.record_after(self.thread, work, event);
    }

    /// Writes what the thread computed after its last event.
    fn rest(&mut self) {
        if let Some(work) = self.ledgers.get_mut(self.thread.0 as usize).and_then(Ledger::due) {
            self.sink.compute(self.thread, work);
        }
    }

    fn end(mut self, ended: Ended) -> Option<RankEntry> {
        let clock = match ended {
            Ended::Finalize => {
                self.emit(&Event::Finalize);
                self.extended.as_ref().and_then(|extended| extended.arrive(self.abi))
            }
            Ended::Running | Ended::Exit | Ended::Abort => {
                self.rest();
                None
            }
        };
        self.background.abandon();
        let (tally, threads) = (self.tally, self.ledgers.len());
        self.sink.finish(ended, |entry| {
            entry.clock = clock;
            entry.threads = threads as u32;
            tally.complete(entry);
        })
    }

    /// The volume of `count` elements.
    fn bytes(count: Count, datatype: Datatype) -> Bytes {
        Self::element(datatype).times(count.get())
    }

    /// The volume of one.
    fn element(datatype: Datatype) -> Bytes {
        Bytes(pmpi::type_size(datatype).unwrap_or(0))
    }

    /// The communicator of a call; one that titr did not see being made leaves the call untraced.
    fn known(&mut self, comm: Comm) -> Result<&communicators::Communicator, Unrecorded> {
        self.communicators.get(comm).ok_or(Unrecorded::Untraced)
    }
}
