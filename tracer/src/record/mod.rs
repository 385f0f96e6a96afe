//! The meaning of a call for the trace: communicators, requests, windows and files, and the events that a call becomes.
//!
//! A [`Recorder`] knows threads only by their numbers, and has no locks: [`crate::threads`] ensures that one thread at
//! a time uses it, and [`crate::hook`] calls it.
//!
//! | file | subject |
//! | --- | --- |
//! | `message`, `message_args` | sending, receiving, probing |
//! | `completion`, `completion_call`, `requests` | requests: created, completed, freed |
//! | `collective`, `neighborhood`, `other` | collectives and their volumes |
//! | `creation`, `communicators` | communicators and their members |
//! | `one_sided`, `partitioned`, `files` | the chapters of MPI with these names |
//! | `mark` | regions that the program marks |
//! | `worlds`, `named_spawn` | processes of other worlds |
//! | `overwritten` | handles that have to be saved before a call |
//! | `stream`, `explanation` | events on their way to the sink |
//! | `part` | the events that go there, if only a part of the program is traced |
//! | `omitted_calls` | calls that become no event, counted |

mod collective;
mod communicators;
mod completion;
mod completion_call;
mod creation;
mod explanation;
mod file_access;
mod files;
mod id_pool;
mod mark;
mod matched_message;
mod message;
mod message_args;
mod named_spawn;
mod neighborhood;
mod omitted_calls;
mod one_sided;
mod other;
mod overwritten;
mod part;
mod partitioned;
mod requests;
mod stream;
mod type_sizes;
mod worlds;

use std::collections::BTreeMap;
use std::mem::ManuallyDrop;

use rustc_hash::FxHashMap;
use titr_common::event::{Annotation, CallSiteId, CommId, Event, Rank, RequestId, ThreadId};
use titr_common::trace::manifest::{Ended, RankEntry};
use titr_common::units::{Bytes, Instructions};
use titr_config::Part;
use titr_wrappers::argument::{Comm, Count, Datatype, Message};
use titr_wrappers::functions::point_to_point::PointToPoint::MPI_Request_free;
use titr_wrappers::{Abi, Call, Function, pmpi};

use crate::call_sites::CallSites;
use crate::collective_call::Start;
use crate::counter::Precision;
use crate::extended::Engine;
use crate::process_time::ProcessClock;
use crate::sink::Sink;
use crate::stderr::log;
use crate::termination::Order;
use communicators::Communicators;
use files::Files;
use matched_message::MatchedMessage;
use omitted_calls::OmittedCalls;
use one_sided::Windows;
use requests::Requests;
use stream::EventStream;
use type_sizes::TypeSizes;
use worlds::OtherWorlds;

pub use creation::made_by;
pub use message::keep_status;
pub use omitted_calls::Omission;
pub use overwritten::Overwritten;

pub(crate) use completion::HeldRequests;
pub(crate) use completion_call::CompletionCall;
pub(crate) use message_args::{Match, RecvArgs, RequestRef, SendArgs};

/// Turns the calls of one rank into events.
pub struct Recorder {
    abi: &'static Abi,
    me: Rank,
    world_size: u32,
    stream: EventStream,
    communicators: Communicators,
    requests: Requests,
    type_sizes: TypeSizes,
    windows: Windows,
    files: Files,
    worlds: OtherWorlds,
    /// Messages that a matched probe has found and that were not received yet.
    messages: FxHashMap<Message, MatchedMessage>,
    omitted: OmittedCalls,
    /// The extended mode, which knows the messages of collectives in the background.
    engine: Option<&'static Engine>,
    /// The clocks of the process, if they are known.
    process: Option<&'static ProcessClock>,
    /// Lists that events are made of, kept for their memory.
    completed_ids: Vec<RequestId>,
    sends: Vec<Bytes>,
    recvs: Vec<Bytes>,
}

/// A call becomes an event, or is counted as omitted.
type Outcome = Result<(), Omission>;

/// The bytes that a call sends, and those that it receives.
pub(crate) type Volumes = (Bytes, Bytes);

/// The settings of a recorder.
#[derive(Clone)]
pub struct RecorderOptions {
    /// The precision of the counted computation.
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

impl Recorder {
    /// A recorder for the rank whose events `sink` takes.
    #[must_use]
    pub fn new(
        abi: &'static Abi,
        sink: Sink,
        world_size: u32,
        options: RecorderOptions,
        engine: Option<&'static Engine>,
    ) -> Self {
        let (me, process) = (sink.rank(), options.process);
        Self {
            abi,
            me,
            world_size,
            worlds: OtherWorlds::new(sink.run().to_owned(), world_size),
            stream: EventStream::new(sink, options),
            communicators: Communicators::new(abi.comm_world, abi.comm_self, me, world_size),
            requests: Requests::default(),
            type_sizes: TypeSizes::default(),
            windows: Windows::default(),
            files: Files::default(),
            messages: FxHashMap::default(),
            omitted: OmittedCalls::default(),
            engine,
            process,
            completed_ids: Vec::new(),
            sends: Vec::new(),
            recvs: Vec::new(),
        }
    }

    /// Records that MPI is initialised, by `function`.
    pub fn begin(&mut self, function: &Function) {
        self.emit(&Event::Init);
        self.begin_spawned();
        self.stream.end_call(function);
    }

    /// Completes the trace, which `function` ends if it is a call that does. Returns the rank's entry as it was written.
    pub fn end(mut self, ended: Ended, function: Option<&Function>) -> Option<RankEntry> {
        let clock = match ended {
            Ended::Finalize => {
                self.abandon_cancelled();
                self.emit(&Event::Finalize);
                function.into_iter().for_each(|function| self.stream.end_call(function));
                self.engine.and_then(Engine::end)
            }
            _ => {
                self.stream.write_computation();
                None
            }
        };
        if ended != Ended::Finalize {
            self.worlds.abandon();
        }
        let (omitted, worlds, process) = (self.omitted, self.worlds, self.process);
        let computed = self.stream.computed();
        self.stream.finish(ended, |entry| {
            entry.clock = clock;
            entry.process_time = process.and_then(|process| process.measure(computed.0));
            entry.encounters = worlds.encounters;
            omitted.complete(entry);
        })
    }

    /// Hands over the recorded events for writing; false if that is not possible at the moment.
    pub fn hand_over(&mut self) -> bool {
        self.stream.hand_over()
    }

    /// Hands over the recorded events and the rank's entry, as the process is about to end; false if that is not
    /// possible at the moment. More may be recorded if the process continues.
    pub fn close(&mut self, Order { ended, computed }: Order) -> bool {
        if let Some((thread, volume)) = computed {
            self.switch_to(thread, volume);
            self.stream.write_computation();
        }
        let Self { stream, omitted, worlds, process, .. } = self;
        let computed = stream.computed();
        stream.close(ended, |entry| {
            entry.process_time = process.and_then(|process| process.measure(computed.0));
            entry.encounters.clone_from(&worlds.encounters);
            omitted.complete(entry);
        })
    }

    /// Gives a new thread its number.
    pub fn admit_thread(&mut self) -> ThreadId {
        self.stream.admit_thread()
    }

    /// Declares that the following events belong to a thread, which has computed this additional volume.
    #[inline]
    pub fn switch_to(&mut self, thread: ThreadId, computed: Instructions) {
        self.stream.switch_to(thread, computed);
    }

    /// The thread that was switched to last has ended; its number is free.
    pub fn thread_ended(&mut self) {
        self.stream.thread_ended();
    }

    /// The events that follow are of a call at this site.
    #[cold]
    pub fn begin_call(&mut self, site: CallSiteId) {
        self.stream.begin_call(site);
    }

    /// Begins the annotations of the call that is recorded next.
    pub fn begin_annotations(&mut self, first: Annotation) {
        self.stream.begin_annotations(first);
    }

    /// Adds annotations to the call that is recorded next.
    pub fn annotate(&mut self, annotations: impl IntoIterator<Item = Annotation>) {
        self.stream.annotate(annotations);
    }

    /// Records a call that completes no requests, after it has returned.
    ///
    /// # Errors
    /// The reason why the call becomes no event.
    // Inlined always, though there are two callers: the other one is of extended traces.
    #[inline(always)]
    pub fn record(&mut self, function: &Function, call: &Call<'_>, success: bool, overwritten: Overwritten) -> Outcome {
        match self.event(function, call, success, overwritten) {
            // A call that failed did not take place as the arguments say.
            Err(Omission::Untraced) if success => {
                self.other(function, call);
                Ok(())
            }
            outcome => outcome,
        }
    }

    /// Each chapter has a function of its own that is not inlined, nor are rare cases: in a single function, the frame
    /// of a message would be as large as the largest, and its instructions far apart.
    #[inline(always)]
    fn event(&mut self, function: &Function, call: &Call<'_>, success: bool, overwritten: Overwritten) -> Outcome {
        match (call, success) {
            (Call::PointToPoint(call), true) => self.message(call, overwritten),
            (Call::PointToPoint(MPI_Request_free(_)), false) => self.not_freed(overwritten),
            (Call::Mark(mark), _) => self.mark(mark),
            (Call::Other, _) => Err(Omission::unless_read(function)),
            (_, false) => Err(Omission::Untraced),
            (Call::Collective(call), true) => self.collective(call),
            (Call::Communicator(call), true) => self.communicator(call, overwritten),
            (Call::Topology(call), true) => self.topology(call),
            (Call::OneSided(call), true) => self.one_sided(call, overwritten),
            (Call::Io(call), true) => self.io(call, overwritten),
            (Call::Process(call), true) => self.process(call, overwritten),
        }
    }

    /// Ends a call of `function`: counts it if it has become no event.
    #[inline]
    pub fn settle(&mut self, function: &'static Function, outcome: Outcome) {
        if let Err(why) = outcome {
            self.omitted.count(function, why);
        }
        self.stream.end_call(function);
    }

    /// The program has left a call of `function` before it returned; it is counted.
    pub fn abandon(&mut self, function: &'static Function) {
        self.settle(function, Err(Omission::unless_read(function)));
    }

    /// Objects of the program call these functions and are not seen to.
    pub fn unseen(&mut self, functions: BTreeMap<String, Vec<String>>) {
        for (file, functions) in functions {
            if self.me == Rank(0) {
                log(format_args!(
                    "not traced: {file} was opened with RTLD_DEEPBIND and calls the MPI library past titr: {}",
                    functions.join(", ")
                ));
            }
            self.omitted.unseen(&file, functions);
        }
    }

    /// Ends a message that succeeded: an untraced one is written with its volumes.
    #[inline]
    pub(crate) fn settle_message(
        &mut self,
        function: &'static Function,
        outcome: Outcome,
        volumes: impl FnOnce() -> Volumes,
    ) {
        let outcome = match outcome {
            Err(Omission::Untraced) => {
                self.emit_other(function, volumes());
                Ok(())
            }
            outcome => outcome,
        };
        self.settle(function, outcome);
    }

    /// A datatype is about to be freed, and its handle may be reused for another datatype.
    pub fn datatype_freed(&mut self) {
        self.type_sizes.forget();
    }

    /// The number of a communicator, if it is known.
    pub fn id_of(&mut self, comm: Comm) -> Option<CommId> {
        Some(self.known(comm).ok()?.id)
    }

    /// The number of the request that a collective has started.
    pub fn request_of(&mut self, start: &Start<'_>) -> Option<RequestId> {
        let request = start.request()?;
        self.requests.find(request.get(), request.address())
    }

    /// Writes an event of the current thread, after the thread's preceding computation.
    #[inline]
    fn emit(&mut self, event: &Event) {
        self.stream.write(event);
    }

    /// Like [`emit`](Self::emit), for an event that owns no memory. The event is never dropped: its destructor would
    /// take time to find that there is nothing to free.
    #[inline]
    fn emit_unowning(&mut self, event: Event) {
        self.emit(&ManuallyDrop::new(event));
    }

    /// The volume of `count` elements.
    fn bytes(count: Count, datatype: Datatype) -> Bytes {
        Self::element(datatype).times(count.get())
    }

    /// The volume of one element.
    fn element(datatype: Datatype) -> Bytes {
        Bytes(pmpi::type_size(datatype).unwrap_or(0))
    }

    /// The communicator of a call; a communicator that titr did not see being made leaves the call untraced.
    fn known(&mut self, comm: Comm) -> Result<&communicators::Communicator, Omission> {
        self.communicators.get(comm).ok_or(Omission::Untraced)
    }
}
