//! Extended tracing: every collective as its messages.
//!
//! A profiling tool sees a collective as one opaque call. Here the tracer does not leave the collective to the library
//! but executes it itself, by the algorithm that the library would have chosen, with point-to-point calls on a
//! communicator of its own, and therefore knows every message. The schedules come from `common::collectives`, and the
//! replayer simulates the same ones.
//!
//! ```text
//!   MPI_Allreduce ─► describe ─► plan ─► carry out ─► messages ─► record
//!                    (recorder)  steps,  (as long as              (recorder)
//!                                regions  it takes)
//! ```
//!
//! Everything that the mode needs is in this folder, behind one [`Engine`]. The hook passes each call to the engine,
//! and writes the engine's observations before the call's own events; the recorder notifies the engine of completed
//! requests and freed communicators.
//!
//! **Data.** Schedules describe packed bytes. The program's input data is packed into memory of the tracer ([`data`]
//! knows its place for each function), moved and reduced there, and the output data is unpacked from there; datatypes,
//! their gaps and their bounds are left to `MPI_Pack` and `MPI_Reduce_local`. If the order of operations is the same,
//! the result is therefore the library's own, bit for bit.
//!
//! **Communicators.** All messages use one communicator of the tracer, so that they are separate from the program's
//! messages and attributes, and so that the tracer creates no communicators while the program runs. Their tags identify
//! the communicator of the program ([`context`]).
//!
//! **Non-blocking collectives** are the same steps, taken whenever the program calls MPI, and a generalized request
//! that is completed with them ([`background`]).
//!
//! **Errors.** The messages' errors are returned to the tracer, which still takes all steps, because other members wait
//! for them. It then calls the error handler of the program's communicator, and the program's call returns the first
//! error.
//!
//! **Time.** Calls and messages have the time of the host since the world's first barrier. At the beginning and at the
//! end the clocks are compared with rank 0's ([`clock`]); the manifest has the difference.
//!
//! **Observed.** With `TITRACE_COLLECTIVES=observe` Open MPI executes its blocking collectives itself, by any
//! algorithm, and the tracer observes the messages that it sends ([`titr_wrappers::observation`]). Other collectives
//! are then left to the library, because messages of the tracer would not advance while the library is in a collective
//! of its own.
//!
//! **Persistent collectives** are the same steps at each start ([`persistent`]).
//!
//! **Communicators that the program creates** ([`meeting`], [`duplication`]): the library's calls that create them wait
//! for all members, and no background work advances meanwhile. The members therefore meet first; so do those of a
//! window or a file before a collective call on it ([`users`]).
//!
//! **Left to the library** are collectives on communicators with processes outside the world, of data that only a
//! device can read ([`devices`]), and calls whose arguments the library will reject. They are recorded as in a
//! time-independent trace, without messages, and counted as opaque in the manifest. MPICH's different algorithms
//! between and within nodes are not modelled either: the schedules are those of a communicator with every member on a
//! node of its own.

mod agreement;
mod background;
mod carry_out;
mod clock;
mod context;
mod data;
mod description;
mod devices;
mod duplication;
mod execution;
mod meeting;
mod neighborhood;
mod persistent;
mod plan;
mod refusal;
mod selection;
mod users;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use rustc_hash::FxHashMap;
use titr_common::event::{Annotation, CommId, RequestId};
use titr_common::trace::manifest;
use titr_wrappers::argument::Comm;
use titr_wrappers::observation;
use titr_wrappers::pmpi::exchange::Reduction;
use titr_wrappers::pmpi::{self, ErrorCode};
use titr_wrappers::{Abi, Real};

use crate::collective_call::CollectiveCall;
use crate::neighborhood_call::NeighborhoodCall;
use crate::stderr::log;
use background::Background;
use clock::Offset;
use context::{Contexts, ExchangeKey};
use duplication::Duplications;
use persistent::PersistentCollectives;
use plan::Plan;
use users::Users;

pub use background::TaskId;
pub use clock::Clock;
pub use context::ContextKey;
pub use description::{Description, Made, Observation, Operation, Timing};
pub use meeting::{Makers, Others};
pub use selection::{Settings, settings};

/// The way in which a collective is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Execution {
    /// The library carries it out, and nothing is seen of it.
    Passthrough,
    /// The tracer carries it out.
    Execute,
    /// The library carries it out, and its messages are observed.
    Observe,
}

/// The extended mode of one rank.
pub(crate) struct Engine {
    abi: &'static Abi,
    settings: Settings,
    clock: Clock,
    /// The offset of the clock from rank 0's at the start; `None` if it could not be found out.
    offset: Option<Offset>,
    /// The tracer's communicator, with the ranks of the world.
    world: Comm,
    /// A communicator of this rank alone, on which the library can check arguments.
    alone: Option<Comm>,
    /// Whether buffers may be in the memory of devices, on any rank.
    has_devices: bool,
    /// This rank, and the number of ranks.
    rank: u32,
    size: u32,
    /// Behind a lock of its own: the recorder may be locked while this is, never the other way round.
    state: Mutex<State>,
}

struct State {
    communicators: FxHashMap<CommId, CommState>,
    contexts: Contexts,
    background: Background,
    persistent: PersistentCollectives,
    duplications: Duplications,
    users: Users,
    /// The number of identities that this rank has proposed.
    proposals: u64,
}

/// The engine's state for a communicator of the program.
#[derive(Clone, Copy, Debug, Default)]
struct CommState {
    /// The context of its collectives' messages; `None` if it has no messages, or the library carries them out.
    context: Option<ContextKey>,
    /// The number of collectives that were called on it.
    collectives: u64,
}

/// The way of the messages of one collective.
#[derive(Clone, Copy, Debug)]
enum Route {
    /// There are none, as the communicator has one member.
    Alone,
    /// In a context.
    In(ExchangeKey),
    /// In the tracer's own context, identified by a number.
    Own(i32),
}

impl Engine {
    /// Starts the clock behind a barrier of the world, and compares it with the others' clocks. Collective. `None` if there is
    /// no communicator for the tracer.
    #[must_use]
    pub(crate) fn start(abi: &'static Abi, mut settings: Settings) -> Option<Self> {
        let rank = u32::try_from(pmpi::comm_rank(abi.comm_world)).ok()?;
        if settings.observes
            && let Err(error) = observation::install(abi)
        {
            settings.observes = false;
            if rank == 0 {
                log(format_args!("{error}: titr carries them out"));
            }
        }
        let world = pmpi::split(abi, abi.comm_world)?;
        let alone = pmpi::split(abi, abi.comm_self);
        pmpi::barrier(abi.comm_world);
        let clock = Clock::start();
        let offset = clock.compare(abi, world).ok();
        let (contexts, context) = Contexts::new(pmpi::tag_ub(abi, world));
        let (communicators, background, persistent, duplications, users) = Default::default();
        let mut state = State { communicators, contexts, background, persistent, duplications, users, proposals: 0 };
        state.add(CommId::WORLD, Some(context));
        let size = pmpi::comm_size(world) as u32;
        let has_devices = devices::may_be_used(abi);
        Some(Self { abi, settings, clock, offset, world, alone, has_devices, rank, size, state: Mutex::new(state) })
    }

    /// Ends the background work, and compares the clocks again, for the manifest. Collective.
    #[must_use]
    pub(crate) fn end(&self) -> Option<manifest::Clock> {
        while self.progress() {
            thread::yield_now();
        }
        Some(self.offset?.to(self.clock.compare(self.abi, self.world).ok()?))
    }

    /// The clock that calls and messages are timed by.
    #[must_use]
    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    /// Makes a collective call. A call without a description is passed through.
    #[must_use]
    pub(crate) fn collective(
        &self,
        call: &CollectiveCall<'_>,
        description: Option<Description>,
        real: Real<'_>,
    ) -> Made {
        self.make(description, real, |description| Plan::new(self, call, description))
    }

    /// Makes a call of a neighbourhood collective. A call without a description is passed through.
    #[must_use]
    pub(crate) fn neighborhood(
        &self,
        call: &NeighborhoodCall<'_>,
        description: Option<Description>,
        real: Real<'_>,
    ) -> Made {
        self.make(description, real, |description| Plan::among_neighbors(self, call, description))
    }

    fn make(
        &self,
        description: Option<Description>,
        real: Real<'_>,
        plan: impl FnOnce(&Description) -> Option<Box<Plan>>,
    ) -> Made {
        let passed = || Made { success: real.run(), outcome: Observation::Opaque };
        let Some(description) = description else { return passed() };
        let id = description.id;
        let made = match self.execution(&description) {
            Execution::Passthrough => passed(),
            Execution::Execute => {
                let busy = self.progress();
                match plan(&description).filter(|plan| self.has_in_memory(plan, &description)) {
                    Some(plan) => self.execute(plan, description, busy, real).unwrap_or_else(passed),
                    None => passed(),
                }
            }
            Execution::Observe => self.observe(&description, real),
        };
        if made.success || real.error().is_some_and(|error| pmpi::has_taken_place(self.abi, error)) {
            self.state().communicators.entry(id).or_default().collectives += 1;
        }
        made
    }

    fn execution(&self, description: &Description) -> Execution {
        match (self.settings.observes, description.timing, &description.operation) {
            (false, ..) => Execution::Execute,
            (true, Timing::Blocking, Operation::Collective(_, None) | Operation::Neighborhood { .. }) => {
                Execution::Observe
            }
            (true, ..) => Execution::Passthrough,
        }
    }

    /// Carries a collective out, or begins to; `None` if the library is to do it.
    fn execute(&self, plan: Box<Plan>, description: Description, busy: bool, real: Real<'_>) -> Option<Made> {
        if let Timing::Persistent(place) = description.timing {
            return self.set_up(plan, description, place, real);
        }
        let (route, number) = self.state().begin(&description)?;
        let comm = description.comm;
        let (result, outcome) = match description.timing {
            Timing::Nonblocking(request) => self.execute_in_background(plan, description, route, number, request),
            Timing::Blocking | Timing::Persistent(_) => self.execute_now(plan, &description, route, number, busy),
        };
        if let Err(error) = result {
            pmpi::raise(comm, error);
        }
        real.replace(ErrorCode::of(result));
        Some(Made { success: result.is_ok(), outcome })
    }

    /// Leaves a collective to the library, and observes it.
    fn observe(&self, description: &Description, real: Real<'_>) -> Made {
        let clock = self.clock;
        let number = self.state().communicators.get(&description.id).map_or(0, |known| known.collectives);
        let (success, seen) = observation::watch(description.comm, move || clock.now().0, || real.run());
        // The sender of a wildcard receive may be unknown.
        let known = seen.filter(|messages| messages.iter().all(|message| message.peer.is_some()));
        let outcome =
            known.map_or(Observation::Opaque, |all| Observation::Messages(description.annotations(number, &all)));
        Made { success, outcome }
    }

    /// A collective in the background is the program's request of this number.
    pub(crate) fn name(&self, task: TaskId, request: RequestId) {
        self.state().background.name(task, request);
    }

    /// The messages of a collective in the background whose request the program has seen completed.
    #[must_use]
    pub(crate) fn completed(&self, request: RequestId) -> Vec<Annotation> {
        self.state().background.take(request).unwrap_or_default()
    }

    /// Calls the error handlers of the program's communicators for failed collectives whose completion the program has
    /// seen since the last call, and returns the first error.
    pub(crate) fn raise(&self) -> Option<ErrorCode> {
        let errors = self.state().background.take_errors();
        errors.iter().for_each(|&(comm, error)| pmpi::raise(comm, error));
        errors.first().map(|&(_, error)| error)
    }

    /// The recorder has given a communicator that has this context a number.
    pub(crate) fn adopt(&self, id: CommId, context: Option<ContextKey>) {
        self.state().add(id, context);
    }

    /// The program has freed a communicator.
    pub(crate) fn freed(&self, id: CommId) {
        let mut state = self.state();
        if let Some(context) = state.communicators.remove(&id).and_then(|communicator| communicator.context) {
            state.contexts.free(context);
        }
    }

    /// Whether the library supports the operation of a reduction on its datatype.
    fn allows(&self, reduction: &Reduction) -> bool {
        // No other thread may call a collective on the communicator meanwhile.
        let _turn = self.state();
        self.alone.is_none_or(|alone| reduction.is_allowed(alone))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn add(&mut self, id: CommId, context: Option<ContextKey>) {
        self.communicators.insert(id, CommState { context, collectives: 0 });
    }

    /// Begins a collective: the way of its messages, and its number on its communicator. `None` if the library is to carry it
    /// out.
    fn begin(&mut self, description: &Description) -> Option<(Route, u64)> {
        let communicator = self.communicators.get(&description.id).copied().unwrap_or_default();
        let route = match communicator.context {
            _ if description.members.len() < 2 => Route::Alone,
            None => return None,
            Some(context) => Route::In(self.contexts.begin(context)?),
        };
        Some((route, communicator.collectives))
    }

    /// The tag of a collective's messages, once it may start.
    fn tag(&self, route: Route) -> Option<i32> {
        match route {
            Route::Alone => Some(0),
            Route::In(exchange) => self.contexts.tag(exchange),
            Route::Own(number) => Some(self.contexts.own_tag(number)),
        }
    }

    /// A collective is over for this rank.
    fn end(&mut self, route: Route) {
        if let Route::In(exchange) = route {
            self.contexts.end(exchange);
        }
    }
}
