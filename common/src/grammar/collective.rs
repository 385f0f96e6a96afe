//! Collectives as text: `WORD [REQ] [SEND] [RECV] [WORK] [ROOT] [DATATYPES]`, with the arguments of the MPI function.
//!
//! A number of bytes that differs between members is a list; `alltoallv` and `alltoallw` have the sum before each list.
//! The length of a list depends on the communicator, and its unit on the datatypes behind it: SimGrid writes counts of
//! elements, titr bytes. The root is `-` for a rank that does not know it: in the root's group of an
//! inter-communicator, whose collectives have a list for the remote group.
//!
//! `noncommutative` is at the end of a reduction with a non-commutative operation, behind the size of an element.
//!
//! Neighbourhood collectives: `neighbor_alltoall DESTINATIONS SOURCES BYTES… BYTES…`, a number of bytes for each
//! destination and then for each source; `ineighbor_alltoall REQ …` and `neighbor_alltoall_init REQ …`.

use super::ParseError;
use super::fields::Fields;
use super::line::{BYTE, Line};
use super::world_of;
use crate::event::{Collective, CollectiveKind, CommId, Extent, NeighborOp, Neighborhood, Rank, Volumes};
use crate::units::{Bytes, Instructions};

/// Stands for the root where the rank is not told who it is.
const NO_ROOT: &str = "-";

/// Stands at the end of a reduction whose operands may not change places.
const NONCOMMUTATIVE: &str = "noncommutative";

/// Appends the arguments of a collective.
pub(super) fn write<'l, 'o>(line: &'l mut Line<'o>, call: &Collective) -> &'l mut Line<'o> {
    let has_totals = has_totals(call.kind);
    volumes(line, &call.send, has_totals);
    volumes(line, &call.recv, has_totals);
    let signature = call.kind.signature();
    if signature.reduces {
        line.instructions(call.work);
    }
    match call.root {
        Some(root) => _ = line.rank(root),
        None if signature.is_rooted => _ = line.word(NO_ROOT),
        None => {}
    }
    // SimGrid takes a number after an allgatherv's datatypes for a displacement.
    let is_plain = call.element == Bytes(1) && call.is_commutative;
    if is_plain || matches!(call.kind, CollectiveKind::Barrier | CollectiveKind::Allgatherv) {
        return line;
    }
    let line = (0..datatypes(call.kind)).fold(&mut *line, |line, _| line.number(BYTE)).bytes(call.element);
    if call.is_commutative { line } else { line.word(NONCOMMUTATIVE) }
}

fn volumes(line: &mut Line, volumes: &Volumes, has_totals: bool) {
    match volumes {
        Volumes::None => {}
        Volumes::Each(bytes) => {
            line.bytes(*bytes);
        }
        Volumes::PerMember(list) => {
            if has_totals {
                // SimGrid reads the size of the whole buffer as a C `int`, and only to have one that is large enough.
                line.bytes(list.iter().copied().sum::<Bytes>().min(Bytes(i32::MAX as u64)));
            }
            list.iter().for_each(|&bytes| _ = line.bytes(bytes));
        }
    }
}

/// Whether each list is preceded by its sum.
fn has_totals(kind: CollectiveKind) -> bool {
    matches!(kind, CollectiveKind::Alltoallv | CollectiveKind::Alltoallw)
}

/// The number of datatypes that SimGrid reads after the volumes, and that have to precede titr's own fields.
fn datatypes(kind: CollectiveKind) -> usize {
    let signature = kind.signature();
    [signature.send, signature.recv].into_iter().filter(|&extent| extent != Extent::None).count()
}

/// Reads the arguments of a collective on `comm`, which has this many `members`. Elements without a datatype have
/// `default` bytes.
pub(super) fn read(
    kind: CollectiveKind,
    comm: CommId,
    members: usize,
    default: Bytes,
    f: &mut Fields,
) -> Result<Collective, ParseError> {
    let signature = kind.signature();
    let mut send = counts(kind, signature.send, members, f)?;
    let mut recv = counts(kind, signature.recv, members, f)?;
    let work = if signature.reduces { work(f)? } else { Instructions(0.0) };
    let root = if signature.is_rooted && !f.accept(NO_ROOT) { Some(root(f)?) } else { None };
    // SimGrid may put an allgatherv's displacements after the counts or after the datatypes: they move no data.
    let has_displacements = kind == CollectiveKind::Allgatherv;
    if has_displacements && f.count() == members && members > 2 {
        displacements(f)?;
    }
    let types = datatypes(kind);
    let sent = if types >= 1 { f.datatype()?.unwrap_or(default) } else { Bytes(1) };
    let received = if types == 2 { f.datatype()?.unwrap_or(default) } else { sent };
    // SimGrid writes a second, unused datatype after some; titr the element size after `6`.
    let element = match kind {
        CollectiveKind::Barrier => Bytes(1),
        CollectiveKind::Allgatherv => displacements(f).map(|()| Bytes(1))?,
        _ if f.at_end() => sent,
        _ => f.bytes("the size of an element", Bytes(1))?,
    };
    scale(&mut send, sent);
    scale(&mut recv, received);
    let is_commutative = !(signature.reduces && f.accept(NONCOMMUTATIVE));
    Ok(Collective { comm, kind, root, send, recv, element: element.max(Bytes(1)), work, is_commutative })
}

/// Passes over the displacements at the end of a line.
fn displacements(f: &mut Fields) -> Result<(), ParseError> {
    while !f.at_end() {
        f.float("a displacement")?;
    }
    Ok(())
}

/// The numbers of elements in a buffer.
fn counts(kind: CollectiveKind, extent: Extent, members: usize, f: &mut Fields) -> Result<Volumes, ParseError> {
    let count = |f: &mut Fields| f.bytes("a count", Bytes(1));
    match extent {
        Extent::None => Ok(Volumes::None),
        Extent::Each => Ok(Volumes::Each(count(f)?)),
        Extent::PerMember => {
            if has_totals(kind) {
                count(f)?;
            }
            let found = f.count();
            if found < members {
                let expected = format!("{members} counts are expected, one for each member; {found} fields follow");
                return Err(f.error(expected));
            }
            Ok(Volumes::PerMember((0..members).map(|_| count(f)).collect::<Result<_, _>>()?))
        }
    }
}

/// Makes bytes of numbers of elements.
fn scale(counts: &mut Volumes, element: Bytes) {
    match counts {
        Volumes::None => {}
        Volumes::Each(count) => *count = count.times(element.0),
        Volumes::PerMember(counts) => counts.iter_mut().for_each(|count| *count = count.times(element.0)),
    }
}

/// The computation of the reduction. SimGrid's tracer writes −1 where it does not know it.
fn work(f: &mut Fields) -> Result<Instructions, ParseError> {
    Ok(Instructions(f.float("a number of instructions")?.max(0.0)))
}

/// The root; 0 where the line ends.
fn root(f: &mut Fields) -> Result<Rank, ParseError> {
    if f.at_end() { Ok(Rank(0)) } else { f.rank("a root rank") }
}

/// Appends the neighbours and their volumes.
pub(super) fn write_neighborhood<'l, 'o>(
    line: &'l mut Line<'o>,
    Neighborhood { sends, recvs, .. }: &Neighborhood,
) -> &'l mut Line<'o> {
    line.list(sends.iter().map(|(rank, _)| rank.0)).list(recvs.iter().map(|(rank, _)| rank.0));
    sends.iter().chain(recvs).fold(line, |line, &(_, bytes)| line.bytes(bytes))
}

/// Reads the neighbours and their volumes, in a world of `world` ranks.
pub(super) fn read_neighborhood(
    op: NeighborOp,
    comm: CommId,
    world: u32,
    f: &mut Fields,
) -> Result<Neighborhood, ParseError> {
    let to = f.list("a list of destinations", Rank)?;
    let from = f.list("a list of sources", Rank)?;
    if let Some(stranger) = to.iter().chain(&from).find(|rank| rank.0 >= world) {
        return Err(f.error(format!("neighbour {} is not in {}", stranger.0, world_of(world))));
    }
    let found = f.count();
    if found < to.len() + from.len() {
        let expected = to.len() + from.len();
        return Err(f.error(format!("{expected} volumes are expected, one for each neighbour; {found} fields follow")));
    }
    let mut volumes = |ranks: Vec<Rank>| {
        ranks
            .into_iter()
            .map(|rank| Ok((rank, f.bytes("a number of bytes", Bytes(1))?)))
            .collect::<Result<_, ParseError>>()
    };
    Ok(Neighborhood { comm, op, sends: volumes(to)?, recvs: volumes(from)? })
}
