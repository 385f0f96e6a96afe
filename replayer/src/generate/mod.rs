//! Synthetic programs: the communication kernels that networks are compared with, written as traces.
//!
//! A **kernel** defines the actions of each rank, by its number alone: the messages that it sends, and the messages
//! that have to arrive before. It is a pure function, so ranks are written one after another and none is kept. A
//! **phase** is the part of a kernel that is computed at a time; a program is `init`, the kernel's phases once for each
//! **iteration**, and `finalize`.
//!
//! Sources: the applications of INSEE (J. Navaridas, J. Miguel-Alonso, F. J. Ridruejo, "On synthesizing workloads emulating
//! MPI applications", PDSEC 2008; J. Cámara et al., "Twisted Torus Topologies for Enhanced Interconnection Networks", IEEE
//! TPDS 21(12), 2010, §5), the collectives' algorithms as in [`titr_common::collectives`].

mod all_to_all;
mod butterfly;
mod collective;
mod directory;
mod grid;
mod random;
mod script;
mod star;
mod stencil;
mod tree;
mod wavefront;

pub use all_to_all::AllToAll;
pub use butterfly::Butterfly;
pub use collective::Schedule;
pub use directory::{Generated, write};
pub use grid::grid;
pub use random::Random;
pub use script::{Pause, Script};
pub use star::{Star, StarKind};
pub use stencil::Stencil;
pub use tree::Tree;
pub use wavefront::Wavefront;

use std::iter::once;

use thiserror::Error;
use titr_common::event::Event;
use titr_extrapolation::Grid;

/// A program, defined by the actions of each of its ranks.
pub trait Kernel {
    /// The number of ranks.
    fn ranks(&self) -> u32;

    /// The number of phases in an iteration.
    fn phases(&self) -> u64 {
        1
    }

    /// Writes the events of `me` in a phase; phases are numbered from the first of the first iteration on.
    fn phase(&self, me: u32, number: u64, script: &mut Script);
}

/// The events of `me` in as many iterations.
pub fn program(
    kernel: &dyn Kernel,
    me: u32,
    iterations: u64,
    pause: Option<Pause>,
) -> impl Iterator<Item = Event> + '_ {
    let mut script = Script::new(me, pause);
    let phases = (0..iterations.saturating_mul(kernel.phases())).flat_map(move |phase| {
        kernel.phase(me, phase, &mut script);
        script.take()
    });
    once(Event::Init).chain(phases).chain(once(Event::Finalize))
}

/// An error in the arguments of a kernel.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum Impossible {
    #[error("the root is one of the ranks 0 to {last}, not {root}")]
    Root { root: u32, last: u32 },
    #[error("a butterfly is between as many ranks as a power of two, not {0}")]
    NotAPowerOfTwo(u32),
    #[error("random messages are between at least two ranks")]
    NoPairs,
    #[error("a wave has at least one message")]
    NoWave,
    #[error("{dimensions} are {places} ranks, not {ranks}")]
    Places { dimensions: Grid, places: u32, ranks: u32 },
}
