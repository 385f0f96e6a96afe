//! Extended tracing: every blocking collective as its messages.
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
//! and writes the engine's messages before the call's own event; the recorder notifies the engine of freed
//! communicators.
//!
//! **Data.** Schedules describe packed bytes. The program's input data is packed into memory of the tracer ([`data`]
//! knows its place for each function), moved and reduced there, and the output data is unpacked from there; datatypes,
//! their gaps and their bounds are left to `MPI_Pack` and `MPI_Reduce_local`. If the order of operations is the same,
//! the result is therefore the library's own, bit for bit.
//!
//! **Communicators.** All messages use one communicator of the tracer, so that they are separate from the program's
//! messages and attributes, and so that the tracer creates no communicators while the program runs. Their tags identify
//! the communicator of the program ([`tags`]).
//!
//! **Errors.** The messages' errors are returned to the tracer, which still takes all steps, because other members wait
//! for them. It then calls the error handler of the program's communicator, and the program's call returns the first
//! error.
//!
//! **Time.** Calls and messages have the time of the host since the world's first barrier. At the beginning and at the
//! end the clocks are compared with rank 0's ([`clock`]); the manifest has the difference.
//!
//! **Left to the library** are non-blocking and persistent collectives, those on communicators with processes outside
//! the world and on duplicates made by `MPI_Comm_idup`, those of data that only a device can read ([`plan`]), and
//! calls whose arguments the library will reject. They are recorded as in a time-independent trace, without messages,
//! and counted as opaque in the manifest; a replay decomposes them itself. MPICH's different algorithms
//! between and within nodes are not modelled either: the schedules are those of a communicator with every member on a
//! node of its own.

mod clock;
mod data;
mod plan;
mod tags;

use std::sync::{Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use titr_common::collectives::{Library, Selection, UnknownAlgorithm};
use titr_common::event::{self, CommId, Message};
use titr_common::trace::manifest;
use titr_wrappers::abi::Family;
use titr_wrappers::argument::Comm;
use titr_wrappers::{Abi, Real};

use crate::collective_call::AnyCollective;
use crate::pmpi::{self, Neighbors, Reduction};
use crate::ranks::Ranks;
use clock::Offset;
use plan::Plan;
use tags::Tags;

pub(crate) use clock::Clock;

/// The algorithms that the library chooses, with those in `list` forced.
///
/// # Errors
/// The first item of the list that is not understood.
pub(crate) fn selection(abi: &Abi, list: &str) -> Result<Selection, UnknownAlgorithm> {
    let library = match abi.family {
        Family::OpenMpi => Library::OpenMpi,
        Family::Mpich => Library::Mpich,
        // An ABI that both have.
        Family::Standard => Library::of_version(&abi.library).unwrap_or_default(),
    };
    let mut selection = Selection::from(library);
    selection.force_list(list)?;
    Ok(selection)
}

/// The extended mode of one rank.
pub(crate) struct Engine {
    abi: &'static Abi,
    selection: Selection,
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
    tags: Tags,
    /// The number of identities that this rank has proposed.
    proposals: u64,
}

/// The engine's state for a communicator of the program.
#[derive(Clone, Copy, Debug, Default)]
struct CommState {
    /// The tag of its collectives' messages; `None` if it has no messages, or the library carries them out.
    tag: Option<u32>,
    /// The number of collectives that were called on it.
    collectives: u64,
}

impl Engine {
    /// Starts the clock behind a barrier of the world, and compares it with the others' clocks. Collective. `None` if there is
    /// no communicator for the tracer.
    pub(crate) fn start(abi: &'static Abi, selection: Selection) -> Option<Self> {
        let rank = u32::try_from(pmpi::comm_rank(abi.comm_world)).ok()?;
        let world = pmpi::split(abi, abi.comm_world)?;
        let alone = pmpi::split(abi, abi.comm_self);
        pmpi::barrier(abi.comm_world);
        let clock = Clock::start();
        let offset = clock.compare(abi, world).ok();
        let tags = Tags::new(pmpi::tag_ub(abi, world));
        let mut state = State { communicators: FxHashMap::default(), tags, proposals: 0 };
        state.add(CommId::WORLD, Some(Tags::WORLD));
        let size = pmpi::comm_size(world) as u32;
        let has_devices = plan::may_be_used(abi);
        Some(Self { abi, selection, clock, offset, world, alone, has_devices, rank, size, state: Mutex::new(state) })
    }

    /// Compares the clocks again, for the manifest. Collective.
    pub(crate) fn end(&self) -> Option<manifest::Clock> {
        Some(self.offset?.to(self.clock.compare(self.abi, self.world).ok()?))
    }

    /// The clock that calls and messages are timed by.
    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    /// Makes a collective call. A call without a description is passed through.
    pub(crate) fn collective(
        &self,
        call: &AnyCollective<'_>,
        description: Option<Description>,
        real: Real<'_>,
    ) -> Made {
        let passed = || Made { success: real.run(), messages: None };
        let Some(description) = description else { return passed() };
        let plan = match call {
            _ if !description.is_blocking => None,
            AnyCollective::OfAll(call) => Plan::new(self, call, &description),
            AnyCollective::OfNeighbors(call) => Plan::among_neighbors(self, call, &description),
        };
        let made = match plan.filter(|plan| self.has_in_memory(plan, &description)) {
            Some(plan) => self.execute(plan, &description, real).unwrap_or_else(passed),
            None => passed(),
        };
        if made.success || real.error().is_some_and(|error| pmpi::has_taken_place(self.abi, error)) {
            self.state().communicators.entry(description.id).or_default().collectives += 1;
        }
        made
    }

    /// Carries a collective out; `None` if the library is to do it.
    fn execute(&self, plan: Box<Plan>, description: &Description, real: Real<'_>) -> Option<Made> {
        let CommState { tag, collectives } =
            self.state().communicators.get(&description.id).copied().unwrap_or_default();
        // One member alone sends nothing.
        let tag = if description.members.len() < 2 { Tags::WORLD } else { tag? };
        let (messages, result) = plan::carry_out(plan, (self.world, tag), self.clock, (description, collectives));
        if let Err(error) = result {
            pmpi::raise(description.comm, error);
        }
        real.replace(result.map_or_else(|error| error.0, |()| 0));
        Some(Made { success: result.is_ok(), messages: Some(messages) })
    }

    /// The recorder has given a communicator that has this tag a number.
    pub(crate) fn adopt(&self, id: CommId, tag: Option<u32>) {
        self.state().add(id, tag);
    }

    /// The program has freed a communicator.
    pub(crate) fn freed(&self, id: CommId) {
        let mut state = self.state();
        if let Some(tag) = state.communicators.remove(&id).and_then(|communicator| communicator.tag) {
            state.tags.free(tag);
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
    fn add(&mut self, id: CommId, tag: Option<u32>) {
        self.communicators.insert(id, CommState { tag, collectives: 0 });
    }
}

/// A collective call, as the recorder describes it.
pub(crate) struct Description {
    /// The communicator that the program has called it on.
    pub comm: Comm,
    pub id: CommId,
    /// The members of the communicator, as ranks of the world; of an inter-communicator, one group behind the other.
    pub members: Ranks,
    /// Whether it takes place in the call.
    pub is_blocking: bool,
    pub operation: Operation,
}

/// The operation of a collective and its volumes.
pub(crate) enum Operation {
    /// A collective of all members, and the number of members in the first group of an inter-communicator.
    Collective(event::Collective, Option<u32>),
    Neighborhood {
        neighborhood: event::Neighborhood,
        /// The neighbours, by their ranks in the communicator.
        neighbors: Neighbors,
    },
}

/// A collective call that has been made.
pub(crate) struct Made {
    pub success: bool,
    /// The messages of the collective; `None` if the library has carried it out, and nothing was seen.
    pub messages: Option<Vec<Message>>,
}
