//! What a call means for the trace.
//!
//! A call is recorded when it returns: only then is it known what a wildcard receive has matched, which requests a wait
//! has completed, what a communicator's members are. What the call itself overwrites — handles that become null — is
//! held from before: see [`hook`].

mod background;
mod collective;
mod communicators;
mod completion;
mod creation;
mod envelope;
mod files;
mod hook;
mod inquiry;
mod lane;
mod message;
mod neighborhood;
mod noted;
mod numbers;
mod one_sided;
mod other;
mod partitioned;
mod requests;
mod sizes;
mod slot;
mod tally;
mod thread;
mod undertaking;

use rustc_hash::FxHashMap;
use titr_common::event::{Annotation, Event, Rank, RequestId, Span, ThreadId};
use titr_common::trace::manifest::{Ended, RankEntry};
use titr_common::units::{Bytes, Instructions};
use titr_wrappers::argument::{Comm, Count, Datatype, Message};
use titr_wrappers::functions::point_to_point::PointToPoint::MPI_Request_free;
use titr_wrappers::{Abi, Call, Function, pmpi};

use crate::counter::{Precision, Rounding};
use crate::extended::{Clock, Extended};
use crate::sink::Sink;
use background::Background;
use communicators::Communicators;
use completion::Held;
use files::Files;
use lane::Lanes;
use message::Found;
use noted::{Noted, Noting};
use numbers::LowestFree;
use one_sided::Windows;
use requests::Requests;
use sizes::Sizes;
use tally::{Tally, Unrecorded};
use thread::Ledger;

pub use slot::Slot;
pub use thread::Thread;

/// Turns the calls of one rank into events.
///
/// On cache lines of its own, of which processors fetch two at a time: who waits for it looks at the line of the lock.
#[repr(align(128))]
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
    seen: Vec<Annotation>,
    /// The thread whose call is being recorded.
    thread: ThreadId,
    /// What each thread computes, by its number.
    ledgers: Vec<Ledger>,
    precision: Precision,
    threads: LowestFree,
    /// The threads that note their calls, and what they have noted.
    lanes: Lanes<Noted, Noting>,
    /// How often in a row there were only one's.
    alone: u32,
    /// Lists that events are made of, kept for their memory.
    numbers: Vec<RequestId>,
    sends: Vec<Bytes>,
    recvs: Vec<Bytes>,
}

/// A call is an event, or it is counted.
type Outcome = Result<(), Unrecorded>;

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
            lanes: Lanes::default(),
            alone: 0,
            numbers: Vec::new(),
            sends: Vec::new(),
            recvs: Vec::new(),
        }
    }

    /// Starts the clock of an extended trace. Collective.
    pub fn set_out(&mut self) -> Option<Clock> {
        self.extended.as_mut().map(|extended| extended.set_out(self.abi))
    }

    /// Each chapter has a function of its own that is not inlined, nor is what is rare: in one, the frame of a message
    /// would be as large as the largest, and its instructions far apart.
    fn after(&mut self, held: &mut Held, function: &Function, call: &Call<'_>, success: bool) -> Outcome {
        match (call, success) {
            (Call::PointToPoint(call), true) => self.message(held, call),
            (Call::PointToPoint(MPI_Request_free(_)), false) => self.not_freed(held),
            (Call::Other, _) => Err(Unrecorded::unless_read(function)),
            (_, false) => Err(Unrecorded::Untraced),
            (Call::Collective(call), true) => self.collective(held, call),
            (Call::Communicator(made), true) => {
                let outcome = self.communicator(held, made);
                self.adopt(held, call);
                outcome
            }
            (Call::Topology(made), true) => {
                let outcome = self.topology(made);
                self.adopt(held, call);
                // Neighbours' messages are the library's own.
                let opaque = self.extended.is_some() && creation::made_by(call).is_none();
                if opaque { outcome.and(Err(Unrecorded::Opaque)) } else { outcome }
            }
            (Call::OneSided(call), true) => self.one_sided(held, call),
            (Call::Io(call), true) => self.io(held, call),
            // A second `MPI_Init`; the first one and the end are not calls between two others.
            (Call::Process(_), true) => Err(Unrecorded::Local),
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
    #[inline(never)]
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
        if !self.seen.is_empty() {
            self.tell(&mut work);
        }
        self.sink.record_after(self.thread, work, event);
    }

    /// Writes what was seen of the call whose first event follows.
    #[cold]
    fn tell(&mut self, work: &mut Option<Instructions>) {
        if let Some(work) = work.take() {
            self.sink.record(self.thread, &Event::Compute(work));
        }
        for seen in self.seen.drain(..) {
            self.sink.record(self.thread, &Event::Annotation(seen));
        }
    }

    /// When the call took place that is recorded next, in an extended trace.
    #[cold]
    fn see(&mut self, span: Span) {
        self.seen.clear();
        self.seen.push(Annotation::Call(span));
    }

    /// Writes what the thread computed after its last event.
    fn rest(&mut self) {
        if let Some(work) = self.ledgers.get_mut(self.thread.0 as usize).and_then(Ledger::due) {
            self.sink.record(self.thread, &Event::Compute(work));
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
