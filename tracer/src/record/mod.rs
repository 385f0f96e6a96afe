//! What a call means for the trace.
//!
//! A call is recorded when it returns: only then is it known what a wildcard receive has matched, which requests a wait
//! has completed, what a communicator's members are. What the call itself overwrites — handles that become null — is
//! held from before. Between the two the recorder is not locked, as the call may wait for another thread's.
//!
//! ```text
//!   counter stops ─► hold what will be gone ─► the real call ─► event(s) ─► counter starts
//! ```

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
use titr_common::event::{Event, Rank, RequestId, ThreadId};
use titr_common::trace::manifest::{Ended, RankEntry};
use titr_common::units::{Bytes, Instructions};
use titr_wrappers::argument::{Comm, Count, Datatype, Message};
use titr_wrappers::functions::datatype::MPI_Type_free;
use titr_wrappers::functions::point_to_point::PointToPoint::MPI_Request_free;
use titr_wrappers::{Abi, Call, Function, Real, pmpi};

use crate::counter::{Counter, Precision, Rounding, Source};
use crate::sink::Sink;
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
                let success = real.run();
                // A wait may fail and have completed requests.
                self.then(thread, function, |recorder, held| recorder.inquiry(held, &inquiry, success));
            }
            None => {
                self.before(&mut thread.held, function, call);
                let success = real.run();
                self.then(thread, function, |recorder, held| match recorder.after(held, function, call, success) {
                    // What failed did not take place as the arguments say.
                    Err(Unrecorded::Untraced) if success => {
                        recorder.other(function, call);
                        Ok(())
                    }
                    outcome => outcome,
                });
            }
        }
        thread.start();
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
    pub fn new(counters: &Source) -> Self {
        Self { counter: counters.open(), computed: Instructions(0.0), held: Held::default(), number: None }
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
    pub fn new(abi: &'static Abi, sink: Sink, world_size: u32, precision: Precision) -> Self {
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
            thread: ThreadId::MAIN,
            ledgers: Vec::new(),
            precision,
            threads: LowestFree::default(),
            numbers: Vec::new(),
            sends: Vec::new(),
            recvs: Vec::new(),
        }
    }

    fn after(&mut self, held: &mut Held, function: &Function, call: &Call<'_>, success: bool) -> Outcome {
        match call {
            Call::PointToPoint(call) if completion::takes_requests(call) => self.completion(held, call, success),
            Call::Other => Err(Unrecorded::unless_read(function)),
            _ if !success => Err(Unrecorded::Untraced),
            Call::PointToPoint(call) => self.message(held, call),
            Call::Collective(call) => self.collective(call),
            Call::Communicator(call) => self.communicator(held, call),
            Call::Topology(call) => self.topology(call),
            Call::OneSided(call) => self.one_sided(held, call),
            Call::Io(call) => self.io(held, call),
            // A second `MPI_Init`; the first one and the end are not calls between two others.
            Call::Process(_) => Err(Unrecorded::Local),
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
        let work = self.ledgers.get_mut(self.thread.0 as usize).and_then(Ledger::due);
        self.sink.record_after(self.thread, work, event);
    }

    /// Writes what the thread computed after its last event.
    fn rest(&mut self) {
        if let Some(work) = self.ledgers.get_mut(self.thread.0 as usize).and_then(Ledger::due) {
            self.sink.compute(self.thread, work);
        }
    }

    fn end(mut self, ended: Ended) -> Option<RankEntry> {
        match ended {
            Ended::Finalize => self.emit(&Event::Finalize),
            Ended::Running | Ended::Exit | Ended::Abort => self.rest(),
        }
        let (tally, threads) = (self.tally, self.ledgers.len());
        self.sink.finish(ended, |entry| {
            tally.complete(entry);
            entry.threads = threads as u32;
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
