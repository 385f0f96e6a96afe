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

mod script;

use std::io;
use std::iter::once;
use std::path::Path;

use thiserror::Error;
use titr_common::event::{Event, Rank, ThreadId};
use titr_common::output::{OutputDirectory, named};
use titr_common::trace::manifest::{Counter, Ended, RankEntry};
use titr_common::trace::{Manifest, RankWriter};
use titr_common::units::Bytes;
use titr_extrapolation::Grid;
use titr_network::topology::{Direction, Edge, Lattice};
use titr_network::traffic::{below, generator};

use crate::schedule::Example;

pub use script::{Pause, Script};

/// A program, defined by the actions of each of its ranks.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The number of ranks.
    pub ranks: u32,
    /// The payload of each message.
    bytes: Bytes,
    pattern: Pattern,
}

/// Who sends to whom, and when.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// The root sends a message to each other rank, all at once.
    OneToAll {
        /// The sender.
        root: u32,
    },
    /// Each other rank sends a message to the root.
    AllToOne {
        /// The receiver.
        root: u32,
    },
    /// Each rank sends a message to each other one, the next rank first, and waits for theirs in the end. The rounds of
    /// MPI libraries, where one exchange waits for the one before, are algorithms of `alltoall`.
    AllToAll,
    /// Random messages, each from any rank to any other one, in waves between which all ranks meet at a barrier. With small
    /// waves, latency dominates the time; with large waves, throughput does.
    Random {
        /// The number of messages.
        messages: u64,
        /// The number of messages in a wave, except perhaps the last.
        wave: u64,
        /// The seed of the choice of pairs.
        seed: u64,
    },
    /// The schedule of a collective, as point-to-point messages.
    Collective(Example),
    /// Each rank exchanges a message, a face of its box, with each of its neighbours in a mesh or a torus. In a ring of
    /// two, they are each other's neighbours on both sides.
    Stencil(Lattice),
    /// A front that moves through a mesh from one corner to the opposite one, as in the solution of a triangular system or a
    /// sweep of a transport equation: each rank waits for those below it in each dimension, computes, and sends to those
    /// above. It then begins the next iteration: there are as many concurrent fronts as the mesh is long.
    Wavefront(Lattice),
    /// In stage k, ranks that differ in bit k exchange messages, as in a fast Fourier transform.
    Butterfly,
    /// A reduction, followed by a broadcast of its result: each rank waits for its children and sends to its parent; the
    /// root's answer then travels down in the same way. The children of rank r are a·r + 1 to a·r + a.
    Tree {
        /// The number a of children of a rank; at least one.
        arity: u32,
    },
}

/// With so many ranks, an all-to-all has 2³⁰ messages.
const MOST_IN_ALL_TO_ALL: u32 = 1 << 15;

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
    #[error("all pairs of {0} ranks are too many messages to write down: there are at most {MOST_IN_ALL_TO_ALL} ranks")]
    TooManyPairs(u32),
    #[error("{dimensions} are {places} ranks, not {ranks}")]
    Places { dimensions: Grid, places: u32, ranks: u32 },
}

/// Ranks in a grid of these dimensions, in a row if only their number is given. Rank `x₀ + d₀·(x₁ + d₁·x₂)` has the
/// coordinates x, like the hosts of a torus.
///
/// # Errors
/// If the dimensions contain another number of ranks.
pub fn grid(ranks: u32, dimensions: Option<&Grid>, edge: Edge) -> Result<Lattice, Impossible> {
    let Some(dimensions) = dimensions else { return Ok(Lattice::new(&[ranks], edge)) };
    let lattice = Lattice::new(dimensions.sides(), edge);
    let places = lattice.places();
    if places == ranks {
        Ok(lattice)
    } else {
        Err(Impossible::Places { dimensions: dimensions.clone(), places, ranks })
    }
}

/// The events of `me` in as many iterations.
pub fn program(kernel: &Kernel, me: u32, iterations: u64, pause: Option<Pause>) -> impl Iterator<Item = Event> + '_ {
    let mut script = Script::new(me, pause);
    let phases = (0..iterations.saturating_mul(kernel.phases())).flat_map(move |phase| {
        kernel.phase(me, phase, &mut script);
        script.take()
    });
    once(Event::Init).chain(phases).chain(once(Event::Finalize))
}

impl Kernel {
    /// A pattern between `ranks` ranks, at least one.
    ///
    /// # Errors
    /// If the pattern is not one of so many ranks.
    pub fn new(pattern: Pattern, ranks: u32, bytes: Bytes) -> Result<Self, Impossible> {
        match pattern {
            Pattern::OneToAll { root } | Pattern::AllToOne { root } if root >= ranks => {
                Err(Impossible::Root { root, last: ranks.saturating_sub(1) })
            }
            Pattern::AllToAll if ranks > MOST_IN_ALL_TO_ALL => Err(Impossible::TooManyPairs(ranks)),
            Pattern::Random { .. } if ranks < 2 => Err(Impossible::NoPairs),
            Pattern::Random { wave: 0, .. } => Err(Impossible::NoWave),
            Pattern::Butterfly if !ranks.is_power_of_two() => Err(Impossible::NotAPowerOfTwo(ranks)),
            pattern => Ok(Self { ranks, bytes, pattern }),
        }
    }

    /// The number of phases in an iteration.
    fn phases(&self) -> u64 {
        match self.pattern {
            Pattern::Random { messages, wave, .. } => messages.div_ceil(wave).max(1),
            _ => 1,
        }
    }

    /// Writes the events of `me` in a phase; phases are numbered from the first of the first iteration on.
    fn phase(&self, me: u32, number: u64, script: &mut Script) {
        let Self { ranks, bytes, ref pattern } = *self;
        let after = |rank: u32| (rank + 1..ranks).chain(0..rank);
        match *pattern {
            Pattern::Wavefront(ref grid) => {
                neighbours(grid, me, Direction::Down).for_each(|from| script.recv(from, 0, bytes));
                script.pause();
                neighbours(grid, me, Direction::Up).for_each(|to| script.send(to, 0, bytes));
                return;
            }
            Pattern::Butterfly => {
                for stage in 0..ranks.ilog2() {
                    let partner = me ^ 1 << stage;
                    script.pause();
                    script.sendrecv(partner, bytes, partner, bytes);
                }
                return;
            }
            Pattern::Random { .. } if number > 0 => script.barrier(),
            _ => {}
        }
        script.pause();
        match *pattern {
            Pattern::OneToAll { root } if me == root => after(root).for_each(|to| script.isend(to, 0, bytes)),
            Pattern::OneToAll { root } => script.recv(root, 0, bytes),
            Pattern::AllToOne { root } if me == root => after(root).for_each(|from| script.irecv(from, 0, bytes)),
            Pattern::AllToOne { root } => script.send(root, 0, bytes),
            Pattern::AllToAll => {
                let before = (0..me).rev().chain((me + 1..ranks).rev());
                before.for_each(|from| script.irecv(from, 0, bytes));
                after(me).for_each(|to| script.isend(to, 0, bytes));
            }
            Pattern::Random { messages, wave, seed } => {
                let sent = number % self.phases() * wave;
                let pairs = pairs(ranks, wave.min(messages - sent), seed, number);
                pairs.iter().filter(|(_, to)| *to == me).for_each(|(from, _)| script.irecv(*from, 0, bytes));
                pairs.iter().filter(|(from, _)| *from == me).for_each(|(_, to)| script.isend(*to, 0, bytes));
            }
            // A schedule may leave the completion of pending operations at its end to its executor.
            Pattern::Collective(ref example) => example.steps(me).iter().for_each(|step| script.step(step)),
            Pattern::Stencil(ref grid) => {
                let ways =
                    || (0..grid.sizes.len()).flat_map(|along| [(along, Direction::Up), (along, Direction::Down)]);
                // A tag says which way the message goes: two may go to the same neighbour.
                for (tag, (along, way)) in (0..).zip(ways()) {
                    let from = grid.neighbour(me, along, way.opposite());
                    from.into_iter().for_each(|from| script.irecv(from, tag, bytes));
                }
                for (tag, (along, way)) in (0..).zip(ways()) {
                    grid.neighbour(me, along, way).into_iter().for_each(|to| script.isend(to, tag, bytes));
                }
            }
            Pattern::Tree { arity } => {
                let (ranks, degree) = (u64::from(ranks), u64::from(arity));
                let first = u64::from(me) * degree + 1;
                let children = || (first.min(ranks)..(first + degree).min(ranks)).map(|child| child as u32);
                children().for_each(|child| script.irecv(child, 0, bytes));
                script.waitall();
                if let Some(parent) = me.checked_sub(1).map(|place| place / arity) {
                    script.send(parent, 0, bytes);
                    script.recv(parent, 0, bytes);
                }
                children().for_each(|child| script.isend(child, 0, bytes));
            }
            Pattern::Wavefront(_) | Pattern::Butterfly => {}
        }
        script.waitall();
    }
}

/// The neighbours of a rank in one direction of each dimension.
fn neighbours(grid: &Lattice, me: u32, way: Direction) -> impl Iterator<Item = u32> {
    (0..grid.sizes.len()).filter_map(move |along| grid.neighbour(me, along, way))
}

/// Random senders and receivers of a phase: a function of the phase and the seed, so that all ranks know it.
fn pairs(ranks: u32, count: u64, seed: u64, phase: u64) -> Vec<(u32, u32)> {
    let (ranks, mut random) = (u64::from(ranks), generator(seed, phase as u32));
    let pair = |_| {
        let from = below(&mut random, ranks) as u32;
        let other = below(&mut random, ranks - 1) as u32;
        (from, other + u32::from(other >= from))
    };
    (0..count).map(pair).collect()
}

/// Writes a trace of a kernel into `directory`, which is created or is empty, and returns the number of events of all ranks.
/// `command` is the trace's description of its origin.
pub(crate) fn write(
    kernel: &Kernel,
    iterations: u64,
    pause: Option<Pause>,
    command: Vec<String>,
    directory: &Path,
) -> io::Result<u64> {
    let failed = |error| named(directory, error);
    let output = OutputDirectory::create(directory)?;
    let ranks = kernel.ranks;
    let entries = (0..ranks).map(|rank| write_rank(kernel, rank, iterations, pause, directory));
    let per_rank = entries.collect::<io::Result<Vec<_>>>().map_err(failed)?;
    let events = per_rank.iter().map(|entry| entry.events).sum();
    let mpi = format!("generated by titr {}", env!("CARGO_PKG_VERSION"));
    let manifest = Manifest { ranks, command, mpi, per_rank, ..Manifest::of_unknown_origin(0) };
    manifest.write(directory).map_err(failed)?;
    output.finish();
    Ok(events)
}

fn write_rank(
    kernel: &Kernel,
    rank: u32,
    iterations: u64,
    pause: Option<Pause>,
    directory: &Path,
) -> io::Result<RankEntry> {
    let mut writer = RankWriter::create(directory, Rank(rank))?;
    program(kernel, rank, iterations, pause).try_for_each(|event| writer.write(ThreadId::MAIN, &event))?;
    let entry = RankEntry::new(Rank(rank), Counter::exact("generated"));
    writer.finish(entry.with(|entry| {
        (entry.host, entry.cpu) = ("none".into(), "none".into());
        entry.ended = Ended::Finalize;
    }))
}
