//! Neighbourhood collectives: a message for each edge of the topology.

use super::step::{Buffer, Member, Slice, Step};
use crate::event::{Neighborhood, Rank};
use crate::units::Bytes;

/// The steps of one member of a neighbourhood collective: it receives from all sources and sends to all destinations at
/// once, as in both libraries (Open MPI 4.1, `coll/basic`; MPICH 4.0, the linear algorithms). The blocks are contiguous
/// and in the order of the call. `place` maps a rank of the world to a member.
///
/// # Errors
/// Those of `place`.
pub fn neighborhood_steps<E>(call: &Neighborhood, place: impl Fn(Rank) -> Result<Member, E>) -> Result<Vec<Step>, E> {
    let receives = blocks(Buffer::Recv, &call.recvs).map(|(rank, data)| Ok(Step::Irecv { from: place(rank)?, data }));
    let sends = blocks(Buffer::Send, &call.sends).map(|(rank, data)| Ok(Step::Isend { to: place(rank)?, data }));
    receives.chain(sends).chain([Ok(Step::WaitAll)]).collect()
}

fn blocks(buffer: Buffer, volumes: &[(Rank, Bytes)]) -> impl Iterator<Item = (Rank, Slice)> {
    volumes.iter().scan(0_u64, move |end, &(rank, bytes)| {
        let start = *end;
        *end = start.saturating_add(bytes.0);
        Some((rank, buffer.at(start, bytes.0)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{CommId, NeighborOp};

    #[test]
    fn blocks_lie_one_behind_the_other() {
        let sends = vec![(Rank(1), Bytes(8)), (Rank(1), Bytes(4))];
        let recvs = vec![(Rank(2), Bytes(4)), (Rank(1), Bytes(12))];
        let call = Neighborhood { comm: CommId::WORLD, op: NeighborOp::Alltoallv, sends, recvs };
        let steps = neighborhood_steps(&call, |rank| Ok::<_, ()>(rank.0));
        let expected = vec![
            Step::Irecv { from: 2, data: Buffer::Recv.at(0, 4) },
            Step::Irecv { from: 1, data: Buffer::Recv.at(4, 12) },
            Step::Isend { to: 1, data: Buffer::Send.at(0, 8) },
            Step::Isend { to: 1, data: Buffer::Send.at(8, 4) },
            Step::WaitAll,
        ];
        assert_eq!(steps, Ok(expected));
    }
}
