//! Neighbourhood collectives as text: `neighbor_alltoall DESTINATIONS SOURCES BYTES… BYTES…`, a number of bytes for each
//! destination and then for each source; `ineighbor_alltoall REQ …` and `neighbor_alltoall_init REQ …`.

use super::ParseError;
use super::fields::Fields;
use super::line::Line;
use super::world_of;
use crate::event::{CommId, NeighborOp, Neighborhood, Rank};
use crate::units::Bytes;

/// Appends the neighbours and their volumes.
pub(super) fn write<'l, 'o>(
    line: &'l mut Line<'o>,
    Neighborhood { sends, recvs, .. }: &Neighborhood,
) -> &'l mut Line<'o> {
    line.list(sends.iter().map(|(rank, _)| rank.0)).list(recvs.iter().map(|(rank, _)| rank.0));
    sends.iter().chain(recvs).fold(line, |line, &(_, bytes)| line.bytes(bytes))
}

/// Reads the neighbours and their volumes, in a world of `world` ranks.
pub(super) fn read(op: NeighborOp, comm: CommId, world: u32, f: &mut Fields) -> Result<Neighborhood, ParseError> {
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
