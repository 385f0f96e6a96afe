//! Shows the steps of a collective.
//!
//! A schedule (`titr_common::collectives`) is a function of the call. An [`Example`] is a call with the same amount of
//! data for every member; its schedule is shown as each member's steps or as the exchanges of each pair.

use std::collections::BTreeMap;
use std::io::{self, Write};

use thiserror::Error;
use titr_common::collectives::{Algorithm, Buffer, Call, CallMode, Choice, Library, Member, Selection, Slice, Step};
use titr_common::event::{CollectiveKind, Extent, Volumes};
use titr_common::units::Bytes;

/// A collective call, the same for all members.
#[derive(Clone, Debug)]
pub struct Example {
    outline: Outline,
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
#[allow(missing_docs)] // The messages say what the variants and their fields are.
pub enum Uncallable {
    #[error("a collective needs a rank")]
    NoRanks,
    #[error("the root is one of the ranks 0 to {last}, not {root}")]
    Root { root: Member, last: Member },
    #[error("{} bytes are no whole number of elements of {} bytes", .bytes.0, .element.0)]
    Fraction { bytes: Bytes, element: Bytes },
}

impl Example {
    /// The call of this outline.
    ///
    /// # Errors
    /// The collective that cannot be called.
    pub fn new(outline: Outline) -> Result<Self, Uncallable> {
        let Outline { collective, ranks, bytes, root, element, .. } = outline;
        let last = ranks.checked_sub(1).ok_or(Uncallable::NoRanks)?;
        if root > last {
            return Err(Uncallable::Root { root, last });
        }
        if bytes.0.checked_rem(element.0) != Some(0) {
            return Err(Uncallable::Fraction { bytes, element });
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
        let (send, recv) = (volumes(signature.send), volumes(signature.recv));
        Ok(Self { outline, send, recv })
    }

    pub(crate) fn members(&self) -> std::ops::Range<Member> {
        0..self.outline.ranks
    }

    pub(crate) fn steps(&self, me: Member) -> Vec<Step> {
        self.outline.selection.steps(&self.call(me))
    }

    /// The algorithm that is used.
    pub(crate) fn choice(&self) -> Choice {
        self.outline.selection.choose(&self.call(self.outline.root))
    }

    /// Whether another algorithm was requested, which is impossible here.
    pub(crate) fn replaced(&self) -> Option<Choice> {
        let taken = self.choice();
        let mut forced = self.outline.selection.forced();
        forced.find(|asked| {
            asked.algorithm.collective() == taken.algorithm.collective() && asked.algorithm != taken.algorithm
        })
    }

    fn call(&self, me: Member) -> Call<'_> {
        let Self { outline, send, recv } = self;
        let Outline { collective: kind, mode, ranks: size, root, element, is_commutative, .. } = *outline;
        Call { me, size, root, kind, send, recv, element, mode, is_commutative, nodes: None }
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
    let (library, mode) = (example.outline.selection.library, example.outline.mode);
    let name = library.name_of(mode, choice.algorithm);
    write!(out, "# {}: {}{} by {name}", library.name(), mode.prefix(), choice.algorithm.collective())?;
    match example.replaced() {
        Some(asked) => writeln!(out, ", as {} is impossible here", library.name_of(mode, asked.algorithm))?,
        None => writeln!(out)?,
    }
    for me in example.members() {
        for step in example.steps(me) {
            writeln!(out, "{me} {}", line(step))?;
        }
    }
    Ok(())
}

fn line(step: Step) -> String {
    match step {
        Step::Send { to, data } => format!("send {to} {}", written(data)),
        Step::Recv { from, data } => format!("recv {from} {}", written(data)),
        Step::Isend { to, data } => format!("isend {to} {}", written(data)),
        Step::Irecv { from, data } => format!("irecv {from} {}", written(data)),
        Step::Sendrecv { to, send, from, recv } => {
            format!("sendrecv {to} {} {from} {}", written(send), written(recv))
        }
        Step::Wait { nth } => format!("wait {nth}"),
        Step::WaitAll => "waitall".to_owned(),
        Step::Copy { from, to } => format!("copy {} {}", written(from), place(to)),
        Step::ReduceLeft { from, into } => format!("reduce_left {} {}", written(from), place(into)),
        Step::ReduceRight { from, into } => format!("reduce_right {} {}", written(from), place(into)),
    }
}

/// A slice is written `BYTES BUFFER+OFFSET`: a number of packed bytes of the caller's input (`send`), of its output (`recv`),
/// or of `scratch` space.
fn written(slice: Slice) -> String {
    format!("{} {}", slice.len.0, place(slice))
}

fn place(Slice { buffer, offset, .. }: Slice) -> String {
    let buffer = match buffer {
        Buffer::Send => "send",
        Buffer::Recv => "recv",
        Buffer::Scratch => "scratch",
    };
    format!("{buffer}+{}", offset.0)
}

/// Writes the traffic between each pair of members, a line `src dst messages bytes` for each pair with traffic, below a line
/// that names the columns.
pub(crate) fn write_matrix(example: &Example, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "src\tdst\tmessages\tbytes")?;
    for me in example.members() {
        for (to, (messages, bytes)) in sent(&example.steps(me)) {
            writeln!(out, "{me}\t{to}\t{messages}\t{}", bytes.0)?;
        }
    }
    Ok(())
}

/// The number of messages and of bytes that a member sends in these steps, by receiver.
fn sent(steps: &[Step]) -> BTreeMap<Member, (u64, Bytes)> {
    let mut sent: BTreeMap<Member, (u64, Bytes)> = BTreeMap::new();
    for step in steps {
        let (to, data) = match *step {
            Step::Send { to, data } | Step::Isend { to, data } | Step::Sendrecv { to, send: data, .. } => (to, data),
            Step::Recv { .. } | Step::Irecv { .. } | Step::Wait { .. } | Step::WaitAll => continue,
            Step::Copy { .. } | Step::ReduceLeft { .. } | Step::ReduceRight { .. } => continue,
        };
        let (messages, bytes) = sent.entry(to).or_default();
        *messages += 1;
        *bytes += data.len;
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
