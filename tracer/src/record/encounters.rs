//! Calls that meet processes of other worlds: spawning, connecting, joining.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use titr_common::event::CommCall;
use titr_common::trace::encounter::{Encounter, Side};
use titr_wrappers::argument::Comm;
use titr_wrappers::functions::process::Process::{self, *};

use super::communicators::Communicators;
use super::omitted_calls::Omission;
use super::overwritten::{NamedSpawn, Overwritten};
use super::{Outcome, RankTrace};
use crate::pmpi;
use crate::ranks::Ranks;

/// The environment variable that tells spawned processes the name of their spawn.
const SPAWNED_AS: &str = "TITR_SPAWNED_AS";

/// A call on `comm` that meets processes of another world.
struct OpenEncounter {
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
        Some(NamedSpawn { name, _infos: Arc::new(infos?) })
    }

    #[inline(never)]
    pub(super) fn process(&mut self, call: &Process<'_>, overwritten: Overwritten, trace: &mut RankTrace) -> Outcome {
        match call {
            // A second one; the first one and the end are not calls between two others.
            MPI_Init(..) | MPI_Init_thread(..) | MPI_Finalize() | MPI_Abort(..) => Err(Omission::Local),
            MPI_Comm_spawn(.., root, comm, new, _) | MPI_Comm_spawn_multiple(.., root, comm, new, _) => {
                let name =
                    if let Overwritten::Spawn(spawn) = overwritten { spawn.map(|spawn| spawn.name) } else { None };
                let meeting = OpenEncounter { call: CommCall::Spawn, side: Side::Spawn, comm: *comm, root: *root };
                self.encounter(meeting, |_| name, new.get(), trace)
            }
            MPI_Comm_accept(port, _, root, comm, new) => {
                let link = |is_root: bool| is_root.then(|| format!("port {}", port.get()));
                let meeting = OpenEncounter { call: CommCall::Accept, side: Side::Accept, comm: *comm, root: *root };
                self.encounter(meeting, link, new.get(), trace)
            }
            MPI_Comm_connect(port, _, root, comm, new) => {
                let link = |is_root: bool| is_root.then(|| format!("port {}", port.get()));
                let meeting = OpenEncounter { call: CommCall::Connect, side: Side::Connect, comm: *comm, root: *root };
                self.encounter(meeting, link, new.get(), trace)
            }
            MPI_Comm_join(socket, new) => {
                let ends = pmpi::socket_ends(*socket);
                let side = if ends.is_none_or(|(here, there)| here < there) { Side::Lower } else { Side::Upper };
                let link = ends.map(|(here, there)| format!("socket {} {}", here.min(there), here.max(there)));
                let meeting = OpenEncounter { call: CommCall::Join, side, comm: self.abi.comm_self, root: 0 };
                self.encounter(meeting, |_| link, new.get(), trace)
            }
        }
    }

    /// Records the communicator with the processes that have spawned this world, if it was spawned.
    pub(super) fn begin_spawned(&mut self, trace: &mut RankTrace) {
        if let Some(parent) = pmpi::comm_parent(self.abi) {
            let link = |is_root: bool| if is_root { std::env::var(SPAWNED_AS).ok() } else { None };
            // Without numbers, the calls on the communicator are recorded as calls on an unknown communicator.
            let meeting =
                OpenEncounter { call: CommCall::Parent, side: Side::Parent, comm: self.abi.comm_world, root: 0 };
            let _ = self.encounter(meeting, link, parent, trace);
        }
    }

    /// Records a call that has created `new`, a communicator with processes that may be of another world. `link` returns
    /// the name of the encounter, which only the root may know; its argument tells whether this rank is the root.
    fn encounter(
        &mut self,
        OpenEncounter { call, side, comm, root }: OpenEncounter,
        link: impl FnOnce(bool) -> Option<String>,
        new: Comm,
        trace: &mut RankTrace,
    ) -> Outcome {
        let parent = trace.communicators.known(comm)?;
        let (parent, root) = (parent.id, parent.members.get(root).ok_or(Omission::Untraced)?);
        self.made(call, parent, None, new, trace)?;
        if let Ok(known) = trace.communicators.known(new)
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
