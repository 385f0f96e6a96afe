//! The meaning of a call for the trace: communicators, requests, windows and files, and the events that a call becomes.
//!
//! A [`Recorder`] knows threads by their numbers, and has no locks: one thread at a time uses it ([`crate::threads`]).
//!
//! The recorder dispatches a call to the part that has the state for it, and gives it the [`RankTrace`]: the numbers of
//! communicators and requests, and the stream of events.
//!
//! | part | its files | subject |
//! | --- | --- | --- |
//! | `EventStream` | `stream`, `part`, `omitted_calls` | events on their way to the sink, and calls that become none |
//! | `Communicators` | `communicators`, `communicator_table`, `encounters` | communicators and their members, also of other worlds |
//! | `Requests` | `requests`, `request_table`, `completion_call` | requests: created, completed, freed |
//! | `Messages` | `message`, `message_args`, `probe`, `partitioned` | sending, receiving, probing |
//! | `Collectives` | `collective` | collectives and their volumes |
//! | `Windows` | `one_sided` | one-sided communication |
//! | `Files` | `files`, `file_access` | files |
//!
//! `mark` and `other` write events without any state; `overwritten` has the handles that are saved before a call.

mod collective;
mod communicator_table;
mod communicators;
mod completion_call;
mod encounters;
mod file_access;
mod files;
mod id_pool;
mod message;
mod message_args;
mod omitted_calls;
mod one_sided;
mod other;
mod overwritten;
mod part;
mod partitioned;
mod probe;
mod request_table;
mod requests;
mod stream;
mod unrecorded;

use titr_common::event::{CommId, Event, Quantifier, SendMode, Span, ThreadId};
use titr_common::trace::manifest::{Ended, RankEntry};
use titr_common::units::Instructions;
use titr_wrappers::argument::{Comm, Message, Place, Request};
use titr_wrappers::functions::collective::Collective;
use titr_wrappers::functions::point_to_point::PointToPoint::{self, MPI_Request_free};
use titr_wrappers::functions::process::Process;
use titr_wrappers::{Abi, Call, Function};

use crate::collective_call::AnyCollective;
use crate::extended::{Description, Engine};
use crate::pmpi::ErrorCode;
use crate::sink::Sink;
use crate::termination::Order;
use collective::Collectives;
use communicator_table::CommunicatorTable;
use communicators::Communicators;
use files::Files;
use message::Messages;
use message_args::Volumes;
use one_sided::Windows;
use overwritten::NamedSpawn;
use request_table::RequestTable;
use requests::Requests;
use stream::EventStream;

pub(crate) use communicators::made_by;
pub(crate) use completion_call::{CompletionCall, HeldRequests, KeptStatus};
pub(crate) use message::keep_status;
pub(crate) use message_args::{Match, RecvArgs, RequestRef, SendArgs};
pub(crate) use omitted_calls::Omission;
pub(crate) use overwritten::Overwritten;
pub(crate) use stream::RecorderOptions;

/// Turns the calls of one rank into events.
pub(crate) struct Recorder {
    abi: &'static Abi,
    /// The extended mode, if the trace is extended.
    engine: Option<&'static Engine>,
    trace: RankTrace,
    communicators: Communicators,
    requests: Requests,
    messages: Messages,
    collectives: Collectives,
    windows: Windows,
    files: Files,
}

/// What the parts share: the numbers of communicators and requests, and the events on their way to the sink.
struct RankTrace {
    communicators: CommunicatorTable,
    requests: RequestTable,
    stream: EventStream,
}

/// A call becomes an event, or is counted as omitted.
type Outcome = Result<(), Omission>;

impl Recorder {
    /// A recorder for the rank whose events `sink` takes.
    pub(crate) fn new(
        abi: &'static Abi,
        sink: Sink,
        world_size: u32,
        options: RecorderOptions,
        engine: Option<&'static Engine>,
    ) -> Self {
        let me = sink.rank();
        Self {
            abi,
            engine,
            communicators: Communicators::new(abi, me, world_size, sink.run().to_owned(), engine),
            trace: RankTrace {
                communicators: CommunicatorTable::new(abi.comm_world, abi.comm_self, me, world_size),
                requests: RequestTable::default(),
                stream: EventStream::new(sink, options),
            },
            requests: Requests::new(abi),
            messages: Messages::new(abi, me),
            collectives: Collectives::new(abi, me),
            windows: Windows::new(abi),
            files: Files::default(),
        }
    }

    /// Records that `function` has initialised MPI, and at which `moment` the tracer was set up, in extended traces.
    pub(crate) fn begin(&mut self, function: &Function, moment: Option<Span>) {
        self.trace.stream.begin_annotations(moment);
        self.trace.stream.write(&Event::Init);
        self.communicators.begin_spawned(&mut self.trace);
        self.trace.stream.explain(function);
    }

    /// Completes the trace, which `function` ends if it is a call that does. Returns the rank's entry as it was written.
    pub(crate) fn end(mut self, ended: Ended, function: Option<&Function>) -> Option<RankEntry> {
        let clock = match ended {
            Ended::Finalize => {
                Requests::abandon_cancelled(&mut self.trace);
                self.trace.stream.write(&Event::Finalize);
                function.into_iter().for_each(|function| self.trace.stream.explain(function));
                self.engine.and_then(Engine::end)
            }
            _ => {
                self.trace.stream.write_computation();
                self.communicators.worlds.abandon();
                None
            }
        };
        let worlds = self.communicators.worlds;
        self.trace.stream.finish(ended, |entry| (entry.clock, entry.encounters) = (clock, worlds.encounters))
    }

    /// Hands over the recorded events and the rank's entry, as the process is about to end; false if that is not
    /// possible at the moment. More may be recorded if the process continues.
    pub(crate) fn close(&mut self, Order { ended, computed }: Order) -> bool {
        if let Some((thread, volume)) = computed {
            self.switch_to(thread, volume);
            self.trace.stream.write_computation();
        }
        let worlds = &self.communicators.worlds;
        self.trace.stream.close(ended, |entry| entry.encounters.clone_from(&worlds.encounters))
    }

    /// The events on their way to the sink.
    #[inline]
    pub(crate) fn stream(&mut self) -> &mut EventStream {
        &mut self.trace.stream
    }

    /// Declares that the following events belong to a thread, which has computed this additional volume.
    #[inline]
    pub(crate) fn switch_to(&mut self, thread: ThreadId, computed: Instructions) {
        self.trace.stream.switch_to(thread, computed);
        self.trace.requests.switch_to(thread);
    }

    /// Records a call that completes no requests, after it has returned.
    ///
    /// # Errors
    /// The reason why the call becomes no event.
    // Inlined always, though there are two callers: the other one is of extended traces.
    #[inline(always)]
    pub(crate) fn record(
        &mut self,
        function: &Function,
        call: &Call<'_>,
        success: bool,
        overwritten: Overwritten,
    ) -> Outcome {
        match self.event(function, call, success, overwritten) {
            // A call that failed did not take place as the arguments say.
            Err(Omission::Untraced) if success => {
                self.trace.stream.write_other(function, other::volumes(self.abi, call));
                Ok(())
            }
            outcome => outcome,
        }
    }

    /// Each chapter has a function of its own that is not inlined, nor are rare cases: in a single function, the frame
    /// of a message would be as large as the largest, and its instructions far apart.
    #[inline(always)]
    fn event(&mut self, function: &Function, call: &Call<'_>, success: bool, before: Overwritten) -> Outcome {
        let Self { trace, communicators, requests, messages, collectives, windows, files, .. } = self;
        match (call, success) {
            (Call::PointToPoint(call), true) => messages.call(call, before, requests, trace),
            (Call::PointToPoint(MPI_Request_free(_)), false) => Requests::not_freed(before, trace),
            (Call::Mark(mark), _) => other::record(mark, trace),
            (Call::Other, _) => Err(Omission::unless_read(function)),
            (_, false) => Err(Omission::Untraced),
            (Call::Collective(call), true) => collectives.call(call, trace),
            (Call::Communicator(call), true) => communicators.call(call, before, trace),
            (Call::Topology(call), true) => match communicators.topology(call, trace) {
                Some(outcome) => outcome,
                None => collectives.neighborhood(call, trace),
            },
            (Call::OneSided(of), true) => windows.call(of, before, trace),
            (Call::Io(of), true) => files.call(of, before, trace),
            (Call::Process(call), true) => communicators.process(call, before, trace),
        }
    }

    /// The program has left a call of `function` before it returned; it is counted.
    pub(crate) fn abandon(&mut self, function: &'static Function) {
        self.trace.stream.end_call(function, Err(Omission::unless_read(function)));
    }

    /// Records a deferred send.
    #[inline]
    pub(crate) fn send(&mut self, function: &'static Function, mode: SendMode, args: &SendArgs) {
        let outcome = self.messages.send(mode, args, &mut self.trace);
        self.settle_message(function, outcome, || args.volumes());
    }

    /// Records a deferred send that is completed by its request.
    pub(crate) fn isend(&mut self, function: &'static Function, mode: SendMode, args: &SendArgs, request: RequestRef) {
        let outcome = self.messages.isend(mode, args, request, &mut self.trace);
        self.settle_message(function, outcome, || args.volumes());
    }

    /// Records a deferred receive.
    #[inline]
    pub(crate) fn recv(&mut self, function: &'static Function, args: &RecvArgs, matched: Option<Match>) {
        self.messages.take_found(args, &mut self.trace);
        let outcome = self.messages.recv(args, matched, &mut self.trace);
        self.settle_message(function, outcome, || args.volumes());
    }

    /// Records a deferred receive that is completed by its request.
    pub(crate) fn irecv(&mut self, function: &'static Function, args: &RecvArgs, request: RequestRef) {
        self.messages.take_found(args, &mut self.trace);
        let outcome = self.messages.irecv(args, request, &mut self.trace);
        self.settle_message(function, outcome, || args.volumes());
    }

    /// Ends a message that succeeded: an untraced one is written with its volumes.
    #[inline]
    fn settle_message(&mut self, function: &'static Function, outcome: Outcome, volumes: impl FnOnce() -> Volumes) {
        let is_untraced = outcome == Err(Omission::Untraced);
        if is_untraced {
            self.trace.stream.write_other(function, volumes());
        }
        self.trace.stream.end_call(function, if is_untraced { Ok(()) } else { outcome });
    }

    /// The message of a handle, which is about to be received, and the handle to be free for another one.
    pub(crate) fn hold_message(&mut self, handle: Message) -> Overwritten {
        self.messages.hold(handle)
    }

    /// Whether a call that returned `error` has received a message that is larger than its buffer.
    #[cold]
    pub(crate) fn is_truncated(&self, call: &PointToPoint<'_>, error: ErrorCode) -> bool {
        message::is_truncated(self.abi, call, error)
    }

    /// Takes the requests of a completion call out of the table.
    pub(crate) fn hold_requests(&mut self, held: &mut HeldRequests, call: &CompletionCall<'_>) {
        self.requests.hold_all(held, call, &mut self.trace.requests);
    }

    /// Takes one more request of a completion call out of the table.
    #[inline]
    pub(crate) fn hold(&mut self, held: &mut HeldRequests, request: RequestRef) {
        self.requests.hold(held, request, &mut self.trace.requests);
    }

    /// Removes the request of a call that frees it from the table.
    pub(crate) fn hold_freed(&mut self, request: &Place<'_, Request>) -> Overwritten {
        Requests::hold_freed(request, &mut self.trace.requests)
    }

    /// Puts the requests back of a completion call that the program has left.
    pub(crate) fn release_requests(&mut self, held: &mut HeldRequests) {
        Requests::release(held, &mut self.trace.requests);
    }

    /// Records a completion call. A wait may fail and have completed requests.
    pub(crate) fn completion(&mut self, held: &mut HeldRequests, call: &CompletionCall<'_>, success: bool) -> Outcome {
        self.requests.completion(held, call, success, &mut self.trace)
    }

    /// Records a wait for all held requests.
    pub(crate) fn all_done(&mut self, held: &mut HeldRequests, ask: Quantifier, kept: &[KeptStatus]) -> Outcome {
        self.requests.all_done(held, ask, kept, &mut self.trace)
    }

    /// Records a collective that returned an error to this rank, and perhaps to no other one.
    #[cold]
    pub(crate) fn failed_collective(&mut self, call: &Collective<'_>, error: ErrorCode) -> Outcome {
        self.collectives.failed(call, error, &mut self.trace)
    }

    /// Records a `MPI_Comm_create` that returned an error to this rank.
    #[cold]
    pub(crate) fn failed_creation(&mut self, parent: Comm) -> Outcome {
        self.communicators.failed_creation(parent, &mut self.trace)
    }

    /// Describes a collective to the extended mode.
    pub(crate) fn describe(&mut self, call: &AnyCollective<'_>) -> Option<Description> {
        self.collectives.describe(call, &mut self.trace)
    }

    /// Has a spawn tell its processes its name: to be called before the call is made.
    pub(crate) fn name_spawn(&mut self, call: &Process<'_>) -> Option<NamedSpawn> {
        self.communicators.name_spawn(call)
    }

    /// A datatype is about to be freed, and its handle may be reused for another datatype.
    pub(crate) fn datatype_freed(&mut self) {
        self.messages.datatype_freed();
        self.collectives.datatype_freed();
    }

    /// The number of a communicator, if it is known.
    pub(crate) fn id_of(&mut self, comm: Comm) -> Option<CommId> {
        Some(self.trace.communicators.get(comm)?.id)
    }
}
