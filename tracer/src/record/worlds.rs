//! Processes of other worlds, which a rank has spawned, was spawned by, or has connected to.
//!
//! They have numbers from the size of the world on, in the order in which the rank meets them. The manifest describes
//! for each encounter how the trace of the other world can be recognised. The tracer does not communicate with the
//! other world's tracers, which may not exist: the root of a spawn generates a name for it and puts it into the
//! environment of the processes; processes that connect share the name of a port, and those that join share the
//! addresses of a socket.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use titr_common::event::{CommCall, Rank};
use titr_common::trace::encounter::{Encounter, Side};
use titr_wrappers::Abi;
use titr_wrappers::argument::Comm;
use titr_wrappers::functions::process::Process::{self, *};
use titr_wrappers::pmpi::{self, ChangedInfos, KnownGroup, Translation};

use super::Outcome;
use super::communicators::Communicators;
use super::omitted_calls::Omission;
use super::overwritten::Overwritten;
use super::stream::EventStream;
use crate::ranks::Ranks;

/// The processes of other worlds that a rank has met.
pub(super) struct OtherWorlds {
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

/// The environment variable that tells spawned processes the name of their spawn.
const SPAWNED_AS: &str = "TITR_SPAWNED_AS";

/// A call on `comm` that meets processes of another world.
struct Meeting {
    call: CommCall,
    side: Side,
    comm: Comm,
    root: i32,
}

impl Communicators {
    /// Has a spawn tell its processes its name: to be called before the call is made. `None` if this rank is not the root,
    /// or the library cannot tell them.
    pub(super) fn name_spawn(&mut self, call: &Process<'_>) -> Option<NamedSpawn> {
        let (root, comm) = match call {
            MPI_Comm_spawn(_, _, _, _, root, comm, ..) | MPI_Comm_spawn_multiple(_, _, _, _, _, root, comm, ..) => {
                (*root, *comm)
            }
            _ => return None,
        };
        if pmpi::comm_rank(comm) != root {
            return None;
        }
        let name = self.worlds.name_spawn(self.me);
        let infos = match call {
            MPI_Comm_spawn(_, _, _, infos, ..) => infos.with_variable(SPAWNED_AS, &name),
            MPI_Comm_spawn_multiple(_, _, _, _, infos, ..) => infos.with_variable(SPAWNED_AS, &name),
            _ => None,
        };
        Some(NamedSpawn::new(name, infos?))
    }

    #[inline(never)]
    pub(super) fn process(
        &mut self,
        call: &Process<'_>,
        overwritten: Overwritten,
        stream: &mut EventStream,
    ) -> Outcome {
        match call {
            // A second one; the first one and the end are not calls between two others.
            MPI_Init(..) | MPI_Init_thread(..) | MPI_Finalize() | MPI_Abort(..) => Err(Omission::Local),
            MPI_Comm_spawn(.., root, comm, new, _) | MPI_Comm_spawn_multiple(.., root, comm, new, _) => {
                let name = overwritten.spawn().map(NamedSpawn::into_name);
                let meeting = Meeting { call: CommCall::Spawn, side: Side::Spawn, comm: *comm, root: *root };
                self.encounter(meeting, |_| name, new.get(), stream)
            }
            MPI_Comm_accept(port, _, root, comm, new) => {
                let link = |is_root: bool| is_root.then(|| format!("port {}", port.get()));
                let meeting = Meeting { call: CommCall::Accept, side: Side::Accept, comm: *comm, root: *root };
                self.encounter(meeting, link, new.get(), stream)
            }
            MPI_Comm_connect(port, _, root, comm, new) => {
                let link = |is_root: bool| is_root.then(|| format!("port {}", port.get()));
                let meeting = Meeting { call: CommCall::Connect, side: Side::Connect, comm: *comm, root: *root };
                self.encounter(meeting, link, new.get(), stream)
            }
            MPI_Comm_join(socket, new) => {
                let ends = pmpi::socket_ends(*socket);
                let side = if ends.is_none_or(|(here, there)| here < there) { Side::Lower } else { Side::Upper };
                let link = ends.map(|(here, there)| format!("socket {} {}", here.min(there), here.max(there)));
                let meeting = Meeting { call: CommCall::Join, side, comm: self.abi.comm_self, root: 0 };
                self.encounter(meeting, |_| link, new.get(), stream)
            }
        }
    }

    /// Records the communicator with the processes that have spawned this world, if it was spawned.
    pub(super) fn begin_spawned(&mut self, stream: &mut EventStream) {
        if let Some(parent) = pmpi::comm_parent(self.abi) {
            let link = |is_root: bool| if is_root { std::env::var(SPAWNED_AS).ok() } else { None };
            // Without numbers, the calls on the communicator are recorded as calls on an unknown communicator.
            let meeting = Meeting { call: CommCall::Parent, side: Side::Parent, comm: self.abi.comm_world, root: 0 };
            let _ = self.encounter(meeting, link, parent, stream);
        }
    }

    /// Records a call that has created `new`, a communicator with processes that may be of another world. `link` returns
    /// the name of the encounter, which only the root may know; its argument tells whether this rank is the root.
    fn encounter(
        &mut self,
        Meeting { call, side, comm, root }: Meeting,
        link: impl FnOnce(bool) -> Option<String>,
        new: Comm,
        stream: &mut EventStream,
    ) -> Outcome {
        let parent = self.table.known(comm)?;
        let (parent, root) = (parent.id, parent.members.get(root).ok_or(Omission::Untraced)?);
        self.made(call, parent, None, new, stream)?;
        if let Ok(known) = self.table.known(new)
            && let Some(remote) = known.remote.clone()
        {
            let members = known.members.clone();
            let numbers = |ranks: &Ranks| ranks.to_vec().into_iter().map(|rank| rank.0).collect();
            self.worlds.encounters.push(Encounter {
                side,
                root: root.0,
                link: link(root == self.me),
                members: numbers(&members),
                remote: numbers(&remote),
                at: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_micros() as u64,
            });
        }
        Ok(())
    }
}

/// A spawn that passes its name to its processes, by hints that replace the program's. Has to live as long as the call.
#[derive(Clone, Debug)]
pub(crate) struct NamedSpawn {
    name: String,
    _infos: Arc<ChangedInfos>,
}

impl NamedSpawn {
    /// A spawn of this name, which is made with these hints.
    pub(super) fn new(name: String, infos: ChangedInfos) -> Self {
        Self { name, _infos: Arc::new(infos) }
    }

    /// The name, once the call has returned.
    pub(super) fn into_name(self) -> String {
        self.name
    }
}
