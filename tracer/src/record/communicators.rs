//! Creating and freeing communicators.

use titr_common::event::{Collective, CollectiveKind, CommCall, CommId, Completion, Event, Group, Rank, Tag, Volumes};
use titr_common::trace::encounter::Encounter;
use titr_common::units::{Bytes, Instructions};
use titr_wrappers::argument::{Comm, Place, Request};
use titr_wrappers::functions::communicator::Communicator::{self, *};
use titr_wrappers::functions::topology::Topology::{self, *};
use titr_wrappers::{Abi, Call};

use super::omitted_calls::Omission;
use super::overwritten::Overwritten;
use super::request_table::RequestKind;
use super::{Outcome, RankTrace};
use crate::extended::Engine;
use crate::pmpi::{self, KnownGroup, Translation};
use crate::ranks::Ranks;

/// The communicator that a call has made, of whose members all have made the same call. `None` if the communicator is
/// there only when a request is completed.
pub(crate) fn made_by(call: &Call<'_>) -> Option<Comm> {
    match call {
        Call::Communicator(
            MPI_Comm_dup(_, new)
            | MPI_Comm_dup_with_info(.., new)
            | MPI_Comm_split(.., new)
            | MPI_Comm_split_type(.., new)
            | MPI_Comm_create(.., new)
            | MPI_Comm_create_group(.., new)
            | MPI_Comm_create_from_group(.., new)
            | MPI_Intercomm_create(.., new)
            | MPI_Intercomm_create_from_groups(.., new)
            | MPI_Intercomm_merge(.., new),
        )
        | Call::Topology(
            MPI_Cart_create(.., new)
            | MPI_Cart_sub(.., new)
            | MPI_Graph_create(.., new)
            | MPI_Dist_graph_create(.., new)
            | MPI_Dist_graph_create_adjacent(.., new),
        ) => Some(new.get()),
        _ => None,
    }
}

/// The communicators of a rank, and the processes of other worlds in them.
pub(super) struct Communicators {
    pub(super) worlds: OtherWorlds,
    pub(super) abi: &'static Abi,
    pub(super) me: Rank,
    world_size: u32,
    /// The extended mode, which has a tag for each.
    engine: Option<&'static Engine>,
}

impl Communicators {
    /// The communicators of the rank `me` at the beginning of the run of this name.
    pub(super) fn new(
        abi: &'static Abi,
        me: Rank,
        world_size: u32,
        run: String,
        engine: Option<&'static Engine>,
    ) -> Self {
        Self { worlds: OtherWorlds::new(run, world_size), abi, me, world_size, engine }
    }

    #[inline(never)]
    pub(super) fn call(&mut self, call: &Communicator<'_>, overwritten: Overwritten, trace: &mut RankTrace) -> Outcome {
        match call {
            MPI_Comm_dup(parent, new) | MPI_Comm_dup_with_info(parent, _, new) => {
                self.created(CommCall::Dup, *parent, new, trace)
            }
            MPI_Comm_idup(parent, new, request) | MPI_Comm_idup_with_info(parent, _, new, request) => {
                self.duplicated(*parent, new, request, trace)
            }
            MPI_Comm_split(parent, _, _, new) => self.created(CommCall::Split, *parent, new, trace),
            MPI_Comm_split_type(parent, _, _, _, new) => self.created(CommCall::SplitType, *parent, new, trace),
            MPI_Comm_create(parent, _, new) => self.created(CommCall::Create, *parent, new, trace),
            MPI_Comm_create_group(parent, _, tag, new) => {
                let parent = trace.communicators.known(*parent)?.id;
                self.made(CommCall::CreateGroup, parent, Some(Tag(*tag)), new.get(), trace)
            }
            MPI_Intercomm_create(local, .., tag, new) => {
                let parent = trace.communicators.known(*local)?.id;
                self.made(CommCall::IntercommCreate, parent, Some(Tag(*tag)), new.get(), trace)
            }
            // A session has no communicator to make another one of.
            MPI_Comm_create_from_group(.., new) => {
                self.made(CommCall::CreateFromGroup, CommId::WORLD, None, new.get(), trace)
            }
            MPI_Intercomm_create_from_groups(.., new) => {
                self.made(CommCall::IntercommCreate, CommId::WORLD, None, new.get(), trace)
            }
            MPI_Intercomm_merge(inter, _, new) => self.created(CommCall::IntercommMerge, *inter, new, trace),
            MPI_Comm_free(_) | MPI_Comm_disconnect(_) => {
                let Overwritten::Comm(Some((freed, id))) = overwritten else { return Err(Omission::Untraced) };
                trace.communicators.remove(freed, id);
                if let Some(engine) = self.engine {
                    engine.freed(id);
                }
                trace.stream.write(&Event::CommFree(id));
                Ok(())
            }
        }
    }

    /// Records a call on topologies, if it makes a communicator.
    #[inline(never)]
    pub(super) fn topology(&mut self, call: &Topology<'_>, trace: &mut RankTrace) -> Option<Outcome> {
        let (made, parent, new) = match call {
            MPI_Cart_create(parent, .., new) => (CommCall::CartCreate, parent, new),
            MPI_Cart_sub(parent, _, new) => (CommCall::CartSub, parent, new),
            MPI_Graph_create(parent, .., new) => (CommCall::GraphCreate, parent, new),
            MPI_Dist_graph_create(parent, .., new) => (CommCall::DistGraphCreate, parent, new),
            MPI_Dist_graph_create_adjacent(parent, .., new) => (CommCall::DistGraphCreateAdjacent, parent, new),
            _ => return None,
        };
        Some(self.created(made, *parent, new, trace))
    }

    fn created(&mut self, call: CommCall, parent: Comm, new: &Place<'_, Comm>, trace: &mut RankTrace) -> Outcome {
        let parent = trace.communicators.known(parent)?.id;
        self.made(call, parent, None, new.get(), trace)
    }

    /// Records a `MPI_Comm_create` that returned an error to this rank: MPICH rejects a group with a process outside
    /// the parent only on the ranks in the group, and the others get no communicator. Nor does this one.
    #[cold]
    pub(super) fn failed_creation(&mut self, parent: Comm, trace: &mut RankTrace) -> Outcome {
        let parent = trace.communicators.known(parent)?.id;
        trace.stream.write(&Event::CommCreate(CommCall::Create, parent, None));
        Ok(())
    }

    pub(super) fn made(
        &mut self,
        call: CommCall,
        parent: CommId,
        tag: Option<Tag>,
        new: Comm,
        trace: &mut RankTrace,
    ) -> Outcome {
        if new == self.abi.comm_null {
            trace.stream.write(&Event::CommCreate(call, parent, None));
            return Ok(());
        }
        let ranks = self.worlds.numbers(self.abi, new, call.joins_worlds()).ok_or(Omission::Untraced)?;
        let members = Ranks::new(&ranks.local, self.world_size).ok_or(Omission::Untraced)?;
        let remote = match ranks.remote.as_slice() {
            [] => None,
            remote => Some(Ranks::new(remote, self.world_size).ok_or(Omission::Untraced)?),
        };
        let id = self.introduce(call, parent, members, remote, tag, trace);
        trace.communicators.bind(new, id);
        Ok(())
    }

    /// The new communicator is the program's once the request is completed, which takes all members' calls, as a barrier
    /// does. Its members are known at once.
    fn duplicated(
        &mut self,
        parent: Comm,
        new: &Place<'_, Comm>,
        request: &Place<'_, Request>,
        trace: &mut RankTrace,
    ) -> Outcome {
        let parent = trace.communicators.known(parent)?.clone();
        let comm = parent.id;
        let id = self.introduce(CommCall::Idup, comm, parent.members, parent.remote, None, trace);
        let request =
            trace.requests.add(request.get(), request.address(), RequestKind::Duplicate(id, new.later()), false);
        let barrier = Collective {
            comm,
            kind: CollectiveKind::Barrier,
            root: None,
            send: Volumes::None,
            recv: Volumes::None,
            element: Bytes(1),
            work: Instructions(0.0),
            is_commutative: true,
        };
        trace.stream.write(&Event::Collective(barrier, Completion::Request(request)));
        Ok(())
    }

    fn introduce(
        &mut self,
        call: CommCall,
        parent: CommId,
        members: Ranks,
        remote: Option<Ranks>,
        tag: Option<Tag>,
        trace: &mut RankTrace,
    ) -> CommId {
        let (listed, remotes) = (members.to_vec(), remote.as_ref().map_or_else(Vec::new, Ranks::to_vec));
        let id = trace.communicators.add(members, remote);
        trace.stream.write(&Event::CommCreate(call, parent, Some(Group { id, members: listed, remote: remotes, tag })));
        id
    }
}

/// The processes of other worlds that a rank has met.
///
/// They have numbers from the size of the world on, in the order in which the rank meets them. The manifest describes
/// for each encounter how the trace of the other world can be recognised. The tracer does not communicate with the
/// other world's tracers, which may not exist: the root of a spawn generates a name for it and puts it into the
/// environment of the processes; processes that connect share the name of a port, and those that join share the
/// addresses of a socket.
pub(super) struct OtherWorlds {
    /// The name of the run.
    run: String,
    /// The groups of processes that were met, and the number of each member.
    known: Vec<(KnownGroup, Vec<Rank>)>,
    /// The next number.
    next: u32,
    pub(super) encounters: Vec<Encounter>,
    /// The number of spawns of which this rank was the root.
    spawns: u64,
}

impl OtherWorlds {
    /// For a rank of a world of this size, in the run of this name.
    pub(super) fn new(run: String, world_size: u32) -> Self {
        Self { run, known: Vec::new(), next: world_size, encounters: Vec::new(), spawns: 0 }
    }

    /// The numbers of the members of a communicator. `None` stands for a process that was not met before; one in the
    /// remote group gets a number if `meets`.
    pub(super) fn numbers(&mut self, abi: &Abi, comm: Comm, meets: bool) -> Option<Translation> {
        let mut all = pmpi::translate(abi, comm, abi.comm_world)?;
        let is_open = |numbers: &[Option<u32>]| numbers.contains(&None);
        for (group, numbers) in &self.known {
            if !is_open(&all.local) && !is_open(&all.remote) {
                break;
            }
            let found = pmpi::translate_to(abi, comm, group)?;
            let fill = |numbers_of: &mut [Option<u32>], places: &[Option<u32>]| {
                for (number, place) in numbers_of.iter_mut().zip(places) {
                    *number = number.or_else(|| Some(numbers.get((*place)? as usize)?.0));
                }
            };
            fill(&mut all.local, &found.local);
            fill(&mut all.remote, &found.remote);
        }
        if meets && is_open(&all.remote) {
            let mut next = || {
                self.next += 1;
                self.next - 1
            };
            let numbers: Vec<Rank> =
                all.remote.iter_mut().map(|number| Rank(*number.get_or_insert_with(&mut next))).collect();
            self.known.push((KnownGroup::remote_of(comm)?, numbers));
        }
        Some(all)
    }

    /// Leaves the groups to MPI, which may be gone.
    pub(super) fn abandon(&mut self) {
        self.known.drain(..).for_each(std::mem::forget);
    }

    /// The name of the next spawn of the rank `me`.
    pub(super) fn name_spawn(&mut self, me: Rank) -> String {
        self.spawns += 1;
        format!("{}.{}.{}", self.run, me.0, self.spawns)
    }
}
