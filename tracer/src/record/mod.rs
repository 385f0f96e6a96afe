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
mod inquiry;
mod message;
mod numbers;
mod requests;
mod sizes;
mod slot;
mod tally;

use std::ptr;

use rustc_hash::FxHashMap;
use titr_common::event::{Event, Rank, RequestId, Seen, Span};
use titr_common::trace::manifest::Ended;
use titr_common::units::{Bytes, Instructions};
use titr_wrappers::argument::{Comm, Count, Datatype, Message};
use titr_wrappers::functions::collective::Collective;
use titr_wrappers::functions::datatype::MPI_Type_free;
use titr_wrappers::functions::point_to_point::PointToPoint::MPI_Request_free;
use titr_wrappers::{Abi, Call, Function, Real, pmpi};

use crate::counter::{Counter, Precision, Rounding, Source};
use crate::extended::{Clock, Extended};
use crate::sink::Sink;
use communicators::Communicators;
use completion::Held;
use inquiry::Inquiry;
use message::Found;
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
    /// Messages that a matched probe has found and nobody received yet.
    messages: FxHashMap<Message, Found>,
    tally: Tally,
    /// What an extended trace needs.
    extended: Option<Extended>,
    /// What an extended trace has to say of a call before its first event.
    seen: Vec<Seen>,
    /// What the calling thread has computed and no event says yet.
    computed: Instructions,
    rounding: Rounding,
    /// Lists that events are made of, kept for their memory.
    numbers: Vec<RequestId>,
    sends: Vec<Bytes>,
    recvs: Vec<Bytes>,
}

/// What one thread of the program keeps from call to call.
pub struct Thread {
    counter: Counter,
    computed: Instructions,
    held: Held,
    /// What calls are timed by, in extended traces.
    clock: Option<Clock>,
}

/// A call is an event, or it is counted.
type Outcome = Result<(), Unrecorded>;

impl Slot<Recorder> {
    /// Begins to record.
    pub fn fill(&self, mut recorder: Recorder) {
        recorder.emit(&Event::Init);
        *self.hold() = Some(recorder);
    }

    /// Records no more, and completes the trace; `thread` is the one that ends it. False if nothing was recorded, or if
    /// another thread is in the middle of it and may never come out, as in a signal handler.
    pub fn end(&self, thread: Option<&mut Thread>, ended: Ended) -> bool {
        let Some(mut recorder) = self.try_hold().and_then(|mut slot| slot.take()) else { return false };
        if let Some(thread) = thread {
            thread.stop();
            std::mem::swap(&mut recorder.computed, &mut thread.computed);
        }
        recorder.end(ended);
        true
    }

    /// Runs a call and records it.
    pub fn record(&self, thread: &mut Thread, function: &'static Function, call: &Call<'_>, real: Real<'_>) {
        thread.stop();
        let inquiry = Inquiry::of(call);
        self.before(&mut thread.held, function, call, inquiry.as_ref());
        let begin = thread.clock.map(|clock| clock.now());
        let success = match (thread.clock, call) {
            (Some(clock), Call::Collective(call)) => self.carry_out(&mut thread.held, call, real, &clock),
            _ => real.run(),
        };
        let end = thread.clock.map(|clock| clock.now());
        if let Some(recorder) = &mut *self.hold() {
            std::mem::swap(&mut recorder.computed, &mut thread.computed);
            recorder.seen.clear();
            recorder.seen.extend(begin.zip(end).map(|(begin, end)| Seen::Call(Span { begin, end })));
            let outcome = recorder.after(&mut thread.held, function, call, inquiry.as_ref(), success);
            if let Err(why) = outcome {
                recorder.tally.count(function, why);
            }
            std::mem::swap(&mut recorder.computed, &mut thread.computed);
        }
        thread.start();
    }

    /// Carries out a collective, or has the library do it.
    #[cold]
    fn carry_out(&self, held: &mut Held, call: &Collective<'_>, real: Real<'_>, clock: &Clock) -> bool {
        let undertaking = self.hold().as_mut().and_then(|recorder| recorder.undertake(call));
        held.done = undertaking.map(|undertaking| undertaking.carry_out(clock));
        match &held.done {
            None => real.run(),
            Some(done) => {
                real.replace(done.result.map_or_else(|error| error.0, |()| 0));
                done.result.is_ok()
            }
        }
    }

    /// Holds what the call overwrites, and sees to it that there is a status where one is needed.
    fn before(&self, held: &mut Held, function: &Function, call: &Call<'_>, inquiry: Option<&Inquiry<'_>>) {
        match (call, inquiry) {
            (_, Some(inquiry)) => {
                if let Some(recorder) = &mut *self.hold() {
                    recorder.hold_requests(held, inquiry);
                }
            }
            (Call::PointToPoint(MPI_Request_free(request)), None) => {
                if let Some(recorder) = &mut *self.hold() {
                    recorder.hold_request(held, request);
                }
            }
            (Call::PointToPoint(call), None) => message::before(held, call),
            (Call::Communicator(call), None) => creation::before(held, call),
            (Call::Other, None) if ptr::eq(function, &MPI_Type_free) => {
                if let Some(recorder) = &mut *self.hold() {
                    recorder.sizes.forget();
                }
            }
            (Call::Collective(_) | Call::Topology(_) | Call::Process(_) | Call::Other, None) => {}
        }
    }
}

impl Thread {
    /// The calling thread.
    #[must_use]
    pub fn new(counters: &Source, clock: Option<Clock>) -> Self {
        Self { counter: counters.open(), computed: Instructions(0.0), held: Held::default(), clock }
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
            messages: FxHashMap::default(),
            tally: Tally::default(),
            extended,
            seen: Vec::new(),
            computed: Instructions(0.0),
            rounding: Rounding::to(precision),
            numbers: Vec::new(),
            sends: Vec::new(),
            recvs: Vec::new(),
        }
    }

    /// Starts the clock of an extended trace. Collective.
    pub fn set_out(&mut self) -> Option<Clock> {
        self.extended.as_mut().map(|extended| extended.set_out(self.abi))
    }

    fn after(
        &mut self,
        held: &mut Held,
        function: &Function,
        call: &Call<'_>,
        inquiry: Option<&Inquiry<'_>>,
        success: bool,
    ) -> Outcome {
        if let Some(inquiry) = inquiry {
            // A wait may fail and have completed requests.
            return self.inquiry(held, inquiry, success);
        }
        match call {
            Call::PointToPoint(call) if completion::takes_requests(call) => self.completion(held, call, success),
            Call::Other => Err(Unrecorded::unless_read(function)),
            // What failed did not take place as the arguments say.
            _ if !success => Err(Unrecorded::Untraced),
            Call::PointToPoint(call) => self.message(held, call),
            Call::Collective(call) => self.collective(held, call),
            Call::Communicator(call) => self.communicator(held, call),
            Call::Topology(call) => self.topology(call),
            // A second `MPI_Init`; the first one and the end are not calls between two others.
            Call::Process(_) => Err(Unrecorded::Local),
        }
    }

    /// Writes an event, after what was computed before it.
    fn emit(&mut self, event: &Event) {
        if let Some(work) = self.rounding.round(std::mem::take(&mut self.computed)) {
            self.sink.record(&Event::Compute(work));
        }
        for seen in self.seen.drain(..) {
            self.sink.record(&Event::Seen(seen));
        }
        self.sink.record(event);
    }

    fn end(mut self, ended: Ended) {
        let clock = match ended {
            Ended::Finalize => {
                self.emit(&Event::Finalize);
                self.extended.as_ref().and_then(|extended| extended.arrive(self.abi))
            }
            Ended::Running | Ended::Exit | Ended::Abort => None,
        };
        let tally = self.tally;
        self.sink.finish(ended, |entry| {
            entry.clock = clock;
            tally.complete(entry);
        });
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
