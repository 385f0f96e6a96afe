//! Neighbourhood collectives as text: `neighbor_alltoall DESTINATIONS SOURCES BYTES… BYTES…`, a number of bytes for each
//! destination and then for each source; `ineighbor_alltoall REQ …` and `neighbor_alltoall_init REQ …`.

use super::error::ParseError;
use super::fields::Fields;
use super::write::Line;
use crate::event::{CommId, Event, NeighborOp, Neighborhood, Rank};
use crate::units::Bytes;

impl NeighborOp {
    /// All five.
    pub const ALL: [Self; 5] = [Self::Allgather, Self::Allgatherv, Self::Alltoall, Self::Alltoallv, Self::Alltoallw];

    /// The word of the blocking one.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Allgather => "neighbor_allgather",
            Self::Allgatherv => "neighbor_allgatherv",
            Self::Alltoall => "neighbor_alltoall",
            Self::Alltoallv => "neighbor_alltoallv",
            Self::Alltoallw => "neighbor_alltoallw",
        }
    }

    /// Of the non-blocking one.
    #[must_use]
    pub fn nonblocking_word(self) -> &'static str {
        match self {
            Self::Allgather => "ineighbor_allgather",
            Self::Allgatherv => "ineighbor_allgatherv",
            Self::Alltoall => "ineighbor_alltoall",
            Self::Alltoallv => "ineighbor_alltoallv",
            Self::Alltoallw => "ineighbor_alltoallw",
        }
    }

    /// Of the set-up of a persistent one.
    #[must_use]
    pub fn persistent_word(self) -> &'static str {
        match self {
            Self::Allgather => "neighbor_allgather_init",
            Self::Allgatherv => "neighbor_allgatherv_init",
            Self::Alltoall => "neighbor_alltoall_init",
            Self::Alltoallv => "neighbor_alltoallv_init",
            Self::Alltoallw => "neighbor_alltoallw_init",
        }
    }
}

/// Appends the neighbours and their volumes.
pub(super) fn write<'l, 'o>(
    line: &'l mut Line<'o>,
    Neighborhood { sends, recvs, .. }: &Neighborhood,
) -> &'l mut Line<'o> {
    line.list(sends.iter().map(|(rank, _)| rank.0)).list(recvs.iter().map(|(rank, _)| rank.0));
    sends.iter().chain(recvs).fold(line, |line, &(_, bytes)| line.bytes(bytes))
}

/// The event that `word` names in a world of `world` ranks; `None` if it is none of these.
pub(super) fn read(word: &[u8], comm: CommId, world: u32, f: &mut Fields) -> Result<Option<Event>, ParseError> {
    for op in NeighborOp::ALL {
        if word == op.word().as_bytes() {
            return Ok(Some(Event::Neighbor(neighborhood(op, comm, world, f)?)));
        }
        if word == op.nonblocking_word().as_bytes() {
            let request = f.request()?;
            return Ok(Some(Event::Ineighbor(neighborhood(op, comm, world, f)?, request)));
        }
        if word == op.persistent_word().as_bytes() {
            let request = f.request()?;
            return Ok(Some(Event::NeighborInit(neighborhood(op, comm, world, f)?, request)));
        }
    }
    Ok(None)
}

fn neighborhood(op: NeighborOp, comm: CommId, world: u32, f: &mut Fields) -> Result<Neighborhood, ParseError> {
    let to = f.list("a list of destinations", Rank)?;
    let from = f.list("a list of sources", Rank)?;
    if let Some(stranger) = to.iter().chain(&from).find(|rank| rank.0 >= world) {
        return Err(f.error(format!("neighbour {} is not in a world of {world} ranks", stranger.0)));
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
