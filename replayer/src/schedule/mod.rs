//! Shows the steps of a collective.
//!
//! A schedule (`titr_common::collectives`) is a function of the call. An [`Example`] is a call with the same amount of
//! data for every member; its schedule is shown as each member's steps or as the exchanges of each pair.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

use thiserror::Error;
use titr_common::collectives::{Algorithm, Buffer, Call, CallMode, Choice, Library, Member, Selection, Slice, Step};
use titr_common::event::{CollectiveKind, Extent, Volumes};
use titr_common::units::Bytes;

/// A collective call, the same for all members.
#[derive(Clone, Debug)]
pub struct Example {
    selection: Selection,
    ranks: u32,
    root: Member,
    element: Bytes,
    is_commutative: bool,
    mode: CallMode,
    kind: CollectiveKind,
    send: Volumes,
    recv: Volumes,
}

/// The arguments that an [`Example`] is made from.
#[derive(Clone, Debug)]
pub struct Outline {
    /// The selection of algorithms.
    pub selection: Selection,
    /// The collective that is called.
    pub collective: CollectiveKind,
    /// Whether the call returns when it is done.
    pub mode: CallMode,
    /// Members of the communicator.
    pub ranks: u32,
    /// The whole vector of a broadcast or a reduction, which reduce_scatter shares out as evenly as it can, the first
    /// members' parts being an element longer; one member's block of all others.
    pub bytes: Bytes,
    /// The root, where there is one.
    pub root: Member,
    /// The size of an element of the datatype.
    pub element: Bytes,
    /// Whether the operation is commutative.
    pub is_commutative: bool,
}

/// An error of an [`Outline`] that describes no call that MPI allows.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Uncallable {
    /// The communicator has no members.
    #[error("a collective needs a rank")]
    NoRanks,
    /// The root is not a member.
    #[error("the root is one of the ranks 0 to {last}, not {root}")]
    Root {
        /// The requested root.
        root: Member,
        /// The last member.
        last: Member,
    },
    /// The volume ends inside an element.
    #[error("{} bytes are no whole number of elements of {} bytes", .bytes.0, .element.0)]
    Fraction {
        /// The volume in bytes.
        bytes: Bytes,
        /// The size of an element in bytes.
        element: Bytes,
    },
}

impl Example {
    /// The call of this outline.
    ///
    /// # Errors
    /// The collective that cannot be called.
    pub fn new(outline: Outline) -> Result<Self, Uncallable> {
        let Outline { selection, collective, mode, ranks, bytes, root, element, is_commutative } = outline;
        let last = ranks.checked_sub(1).ok_or(Uncallable::NoRanks)?;
        if root > last {
            return Err(Uncallable::Root { root, last });
        }
        match bytes.0.checked_rem(element.0) {
            Some(0) => {}
            _ => return Err(Uncallable::Fraction { bytes, element }),
        }
        let signature = collective.signature();
        let volumes = |extent| match extent {
            Extent::None => Volumes::None,
            Extent::Each => Volumes::Each(bytes),
            Extent::PerMember if collective == CollectiveKind::ReduceScatter => {
                Volumes::PerMember(shares(ranks, bytes, element))
            }
            Extent::PerMember => Volumes::PerMember(vec![bytes; ranks as usize]),
        };
        let (kind, send, recv) = (collective, volumes(signature.send), volumes(signature.recv));
        Ok(Self { selection, ranks, root, element, is_commutative, mode, kind, send, recv })
    }

    pub(crate) fn members(&self) -> std::ops::Range<Member> {
        0..self.ranks
    }

    pub(crate) fn steps(&self, me: Member) -> Vec<Step> {
        self.selection.steps(&self.call(me))
    }

    /// The algorithm that is used.
    pub(crate) fn choice(&self) -> Choice {
        self.selection.choose(&self.call(self.root))
    }

    /// Whether another algorithm was requested, which is impossible here.
    pub(crate) fn replaced(&self) -> Option<Choice> {
        let taken = self.choice();
        let mut forced = self.selection.forced();
        forced.find(|asked| {
            asked.algorithm.collective() == taken.algorithm.collective() && asked.algorithm != taken.algorithm
        })
    }

    fn call(&self, me: Member) -> Call<'_> {
        let Self { ranks, root, kind, ref send, ref recv, element, mode, is_commutative, .. } = *self;
        Call { me, size: ranks, root, kind, send, recv, element, mode, is_commutative, nodes: None }
    }
}

/// A vector in as even parts as its elements allow, the longer ones first.
fn shares(ranks: u32, bytes: Bytes, element: Bytes) -> Vec<Bytes> {
    let (count, ranks) = (bytes.0 / element.0.max(1), u64::from(ranks.max(1)));
    (0..ranks).map(|rank| element.times(count / ranks + u64::from(rank < count % ranks))).collect()
}

/// Writes the steps of all members, a line `RANK STEP …` each in the order in which a rank takes them, below a line with the
/// algorithm.
pub(crate) fn write_steps(example: &Example, out: &mut impl Write) -> io::Result<()> {
    let choice = example.choice();
    let library = example.selection.library;
    let mode = example.mode;
    let name = library.name_of(mode, choice.algorithm);
    write!(out, "# {}: {}{} by {name}", library.name(), mode.prefix(), choice.algorithm.collective())?;
    match example.replaced() {
        Some(asked) => writeln!(out, ", as {} is impossible here", library.name_of(mode, asked.algorithm))?,
        None => writeln!(out)?,
    }
    for me in example.members() {
        for step in example.steps(me) {
            writeln!(out, "{me} {}", Line(step))?;
        }
    }
    Ok(())
}

struct Line(Step);

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Step::Send { to, data } => write!(f, "send {to} {}", Written(data)),
            Step::Recv { from, data } => write!(f, "recv {from} {}", Written(data)),
            Step::Isend { to, data } => write!(f, "isend {to} {}", Written(data)),
            Step::Irecv { from, data } => write!(f, "irecv {from} {}", Written(data)),
            Step::Sendrecv { to, send, from, recv } => {
                write!(f, "sendrecv {to} {} {from} {}", Written(send), Written(recv))
            }
            Step::Wait { nth } => write!(f, "wait {nth}"),
            Step::WaitAll => write!(f, "waitall"),
            Step::Copy { from, to } => write!(f, "copy {} {}", Written(from), Place(to)),
            Step::ReduceLeft { from, into } => write!(f, "reduce_left {} {}", Written(from), Place(into)),
            Step::ReduceRight { from, into } => write!(f, "reduce_right {} {}", Written(from), Place(into)),
        }
    }
}

/// A slice is written `BYTES BUFFER+OFFSET`: a number of packed bytes of the caller's input (`send`), of its output (`recv`),
/// or of `scratch` space.
struct Written(Slice);

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.len.0, Place(self.0))
    }
}

struct Place(Slice);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let buffer = match self.0.buffer {
            Buffer::Send => "send",
            Buffer::Recv => "recv",
            Buffer::Scratch => "scratch",
        };
        write!(f, "{buffer}+{}", self.0.offset.0)
    }
}

/// Writes the traffic between each pair of members, a line `src dst messages bytes` for each pair with traffic, below a line
/// that names the columns.
pub(crate) fn write_matrix(example: &Example, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "src\tdst\tmessages\tbytes")?;
    for me in example.members() {
        for (to, Traffic { messages, bytes }) in sent(&example.steps(me)) {
            writeln!(out, "{me}\t{to}\t{messages}\t{}", bytes.0)?;
        }
    }
    Ok(())
}

/// The traffic from one member to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Traffic {
    messages: u64,
    bytes: Bytes,
}

/// The traffic that a member sends in these steps, by receiver.
fn sent(steps: &[Step]) -> BTreeMap<Member, Traffic> {
    let mut sent: BTreeMap<Member, Traffic> = BTreeMap::new();
    for step in steps {
        let (to, data) = match *step {
            Step::Send { to, data } | Step::Isend { to, data } | Step::Sendrecv { to, send: data, .. } => (to, data),
            Step::Recv { .. }
            | Step::Irecv { .. }
            | Step::Wait { .. }
            | Step::WaitAll
            | Step::Copy { .. }
            | Step::ReduceLeft { .. }
            | Step::ReduceRight { .. } => continue,
        };
        let traffic = sent.entry(to).or_default();
        traffic.messages += 1;
        traffic.bytes += data.len;
    }
    sent
}

/// Writes a line for each algorithm: the collective, the algorithm's own name, other names that are accepted for any
/// library, and `library:name` for different spellings in a library's parameters, `library-i:name` for non-blocking
/// collectives.
pub(crate) fn write_catalogue(out: &mut impl Write) -> io::Result<()> {
    for collective in CollectiveKind::ALL {
        for algorithm in Algorithm::all(collective) {
            write!(out, "{collective}\t{algorithm}")?;
            let names = algorithm.names();
            let own = Library::ALL.iter().flat_map(|&library| {
                let [blocking, nonblocking] = CallMode::ALL.map(|mode| library.name_of(mode, algorithm));
                let is_own = |name: &str| !names.contains(&name);
                let also = is_own(blocking).then(|| format!("{}:{blocking}", library.name()));
                let differs = is_own(nonblocking) && nonblocking != blocking;
                also.into_iter().chain(differs.then(|| format!("{}-i:{nonblocking}", library.name())))
            });
            for (place, name) in names.iter().skip(1).map(|&name| name.to_owned()).chain(own).enumerate() {
                write!(out, "{}{name}", if place == 0 { '\t' } else { ' ' })?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_parts_are_longer() {
        assert_eq!(shares(4, Bytes(80), Bytes(8)), [24, 24, 16, 16].map(Bytes));
        assert_eq!(shares(3, Bytes(8), Bytes(8)), [8, 0, 0].map(Bytes));
    }
}
