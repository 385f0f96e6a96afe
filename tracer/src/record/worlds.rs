//! Processes of other worlds, which a rank has spawned, was spawned by, or has connected to.
//!
//! They have numbers from the size of the world on, in the order in which the rank meets them. The manifest describes
//! for each encounter how the trace of the other world can be recognised. The tracer does not communicate with the
//! other world's tracers, which may not exist: the root of a spawn generates a name for it and puts it into the
//! environment of the processes; processes that connect share the name of a port, and those that join share the
//! addresses of a socket.

use titr_common::event::Rank;
use titr_common::trace::encounter::Encounter;
use titr_wrappers::Abi;
use titr_wrappers::argument::Comm;
use titr_wrappers::pmpi::{self, KnownGroup, Translation};

/// The processes of other worlds that a rank has met.
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
