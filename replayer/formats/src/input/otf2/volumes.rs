//! The bytes of collectives. OTF2 has two numbers for each call, the bytes that the rank sent and received, and tools
//! fill them in in different ways.

use titr_common::event::{Collective, CollectiveKind, CommId, Extent, Rank, Volumes};
use titr_common::units::{Bytes, Instructions};

use super::own::CREATOR;
use super::shares::Otf2Shared;
use crate::input::functions::has_lists;

/// The meaning of the bytes in the records of collectives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Convention {
    /// Score-P counts what the rank exchanges with each member, itself included: of an allreduce, bytes times ranks.
    ScoreP,
    /// EZTrace has the arguments of MPI's function: of an allreduce, its bytes.
    EzTrace,
}

impl Convention {
    /// The convention of the tool that an anchor names, and whether the tool is known. An unknown tool is taken to do as
    /// Score-P.
    pub(super) fn of_creator(creator: &str) -> (Self, bool) {
        if creator.to_ascii_lowercase().contains("eztrace") {
            return (Self::EzTrace, true);
        }
        (Self::ScoreP, creator.contains("Score-P") || creator.starts_with(CREATOR))
    }
}

/// A record of the end of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Amounts {
    pub sent: u64,
    pub received: u64,
    /// The number of members.
    pub members: u64,
    /// The place of the rank among the members.
    pub me: u64,
    /// Whether the rank is the root.
    pub is_root: bool,
}

/// The collective of these volumes. The size of its elements is not in the archive: it is the largest of 8, 4 and 1 bytes that
/// divides the volume of a reduction.
pub(super) fn collective(
    comm: CommId,
    kind: CollectiveKind,
    root: Option<Rank>,
    (send, recv): (Volumes, Volumes),
) -> Collective {
    let reduces = kind.signature().reduces;
    let (reduced, element) = if kind.is_shared_out() {
        let parts = recv.per_member().iter().map(|part| part.0);
        let element = parts.clone().map(element_of).min().unwrap_or_else(|| element_of(recv.each().0));
        (parts.fold(recv.each().0, u64::saturating_add), element)
    } else {
        (send.each().0, element_of(send.each().0))
    };
    let element = if reduces { element } else { 1 };
    let work = if reduces { reduced / element } else { 0 };
    Collective {
        comm,
        kind,
        root,
        send,
        recv,
        element: Bytes(element),
        work: Instructions(work as f64),
        is_commutative: true,
    }
}

/// Whether these two amounts determine the call.
pub(crate) fn describes(amounts: Amounts, call: &Collective) -> bool {
    let volumes = volumes(Convention::ScoreP, call.kind, amounts, None);
    !has_lists(call.kind) && collective(call.comm, call.kind, call.root, volumes) == *call
}

/// The size of an element of a reduction of some bytes.
fn element_of(bytes: u64) -> u64 {
    [8, 4].into_iter().find(|&size| bytes.is_multiple_of(size)).unwrap_or(1)
}

/// What a rank gives and gets in a collective, as MPI's function has it. The lists of members are those of the call
/// `shared` by all, or equal parts of the sums if the others' part in it is not known.
pub(super) fn volumes(
    convention: Convention,
    kind: CollectiveKind,
    amounts: Amounts,
    shared: Option<&Otf2Shared>,
) -> (Volumes, Volumes) {
    let Amounts { sent, received, me, members, is_root } = amounts;
    let (each_sent, each_received) = match convention {
        Convention::ScoreP => each_of_score_p(kind, amounts),
        Convention::EzTrace => (sent, received),
    };
    let list = |bytes: &[u64]| Volumes::PerMember(bytes.iter().map(|&bytes| Bytes(bytes)).collect());
    let signature = kind.signature();
    let send = match signature.send {
        Extent::None => Volumes::None,
        Extent::Each if is_left_out(kind, CollectiveKind::Scatter, is_root) => Volumes::Each(Bytes(0)),
        Extent::Each => Volumes::Each(Bytes(each_sent)),
        Extent::PerMember => match (kind, shared) {
            (CollectiveKind::Scatterv, _) if !is_root => divided(0, None, amounts),
            (CollectiveKind::Scatterv, Some(shared)) => list(&shared.received),
            (CollectiveKind::Scatterv, None) => divided(sent, Some(received), amounts),
            (_, Some(shared)) => Volumes::PerMember(shared.given(me as usize)),
            (_, None) => divided(sent, None, amounts),
        },
    };
    let recv = match signature.recv {
        Extent::None => Volumes::None,
        Extent::Each if is_left_out(kind, CollectiveKind::Gather, is_root) => Volumes::Each(Bytes(0)),
        Extent::Each => Volumes::Each(Bytes(each_received)),
        Extent::PerMember => match (kind, shared) {
            (CollectiveKind::Gatherv, _) if !is_root => divided(0, None, amounts),
            (CollectiveKind::Allgatherv, Some(shared)) if convention == Convention::ScoreP => {
                Volumes::PerMember(shared.sent.iter().map(|&sent| Bytes(sent / members.max(1))).collect())
            }
            (CollectiveKind::Gatherv | CollectiveKind::Allgatherv, Some(shared)) => list(&shared.sent),
            (CollectiveKind::Gatherv | CollectiveKind::Allgatherv, None) => divided(received, Some(each_sent), amounts),
            (CollectiveKind::ReduceScatter, Some(shared)) if convention == Convention::ScoreP => {
                Volumes::PerMember(shared.received.iter().map(|&received| Bytes(received / members.max(1))).collect())
            }
            (CollectiveKind::ReduceScatter, _) => {
                divided(sent, (convention == Convention::ScoreP).then_some(each_received), amounts)
            }
            (_, Some(shared)) => Volumes::PerMember(shared.got(me as usize)),
            (_, None) => divided(received, None, amounts),
        },
    };
    (send, recv)
}

/// Whether the argument of one kind of collective is that of a rank that is not the root, where it means nothing.
fn is_left_out(kind: CollectiveKind, at_root: CollectiveKind, is_root: bool) -> bool {
    kind == at_root && !is_root
}

/// The bytes of one block that a rank gives and gets, by Score-P's sums.
fn each_of_score_p(kind: CollectiveKind, amounts: Amounts) -> (u64, u64) {
    let Amounts { sent, received, members, me, is_root } = amounts;
    let members = members.max(1);
    match kind {
        CollectiveKind::Bcast => (if received == 0 && is_root { sent / members } else { received }, 0),
        CollectiveKind::Gather => (sent, received / members),
        CollectiveKind::Scatter => (sent / members, received),
        CollectiveKind::Allgather | CollectiveKind::Alltoall | CollectiveKind::Allreduce => {
            (sent / members, received / members)
        }
        CollectiveKind::Allgatherv => (sent / members, received),
        CollectiveKind::Scan => (received / (me + 1), 0),
        CollectiveKind::ReduceScatter | CollectiveKind::ReduceScatterBlock => (sent, received / members),
        // The first member gets nothing, the last gives nothing.
        CollectiveKind::Exscan => match received.checked_div(me) {
            Some(each) => (each, 0),
            None => (sent.checked_div(members - 1).unwrap_or_default(), 0),
        },
        CollectiveKind::Barrier
        | CollectiveKind::Reduce
        | CollectiveKind::Gatherv
        | CollectiveKind::Scatterv
        | CollectiveKind::Alltoallv
        | CollectiveKind::Alltoallw => (sent, received),
    }
}

/// A sum, divided among the members: `mine` for the rank itself, where that is known, and equal parts for all others.
fn divided(sum: u64, mine: Option<u64>, amounts: Amounts) -> Volumes {
    let Amounts { members, me, .. } = amounts;
    let mine = mine.filter(|&mine| mine <= sum);
    let (rest, parts) = match mine {
        Some(mine) => (sum - mine, members.saturating_sub(1)),
        None => (sum, members),
    };
    let (each, more) = (rest.checked_div(parts).unwrap_or_default(), rest.checked_rem(parts).unwrap_or_default());
    let mut place = 0;
    let part = |member| {
        if let Some(mine) = mine.filter(|_| member == me) {
            return Bytes(mine);
        }
        place += 1;
        Bytes(each + u64::from(place <= more))
    };
    Volumes::PerMember((0..members).map(part).collect())
}

/// Whether the bytes for each member are not in the archive, but only sums.
pub(super) fn is_divided(convention: Convention, kind: CollectiveKind, amounts: Amounts, is_shared: bool) -> bool {
    match kind {
        CollectiveKind::Alltoallv | CollectiveKind::Alltoallw => true,
        CollectiveKind::Gatherv | CollectiveKind::Scatterv => amounts.is_root && !is_shared,
        CollectiveKind::ReduceScatter => !is_shared || convention == Convention::EzTrace,
        CollectiveKind::Allgatherv => !is_shared,
        CollectiveKind::Barrier
        | CollectiveKind::Bcast
        | CollectiveKind::Reduce
        | CollectiveKind::Allreduce
        | CollectiveKind::Scan
        | CollectiveKind::Exscan
        | CollectiveKind::ReduceScatterBlock
        | CollectiveKind::Gather
        | CollectiveKind::Scatter
        | CollectiveKind::Allgather
        | CollectiveKind::Alltoall => false,
    }
}

/// The root of a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// The collective has none, or the root is in the rank's own group (`MPI_PROC_NULL`).
    None,
    /// The rank itself, of a collective between two groups (`MPI_ROOT`).
    Myself,
    /// The member at this place.
    Member(u32),
}

impl Root {
    pub(super) fn of_field(root: u32) -> Self {
        match root {
            u32::MAX | 0xffff_fffd => Self::None,
            0xffff_fffe => Self::Myself,
            place => Self::Member(place),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(convention: Convention, kind: CollectiveKind, (sent, received): (u64, u64), me: u64) -> (Volumes, Volumes) {
        volumes(convention, kind, Amounts { sent, received, members: 4, me, is_root: me == 0 }, None)
    }

    #[test]
    fn the_sums_of_score_p_become_arguments() {
        use CollectiveKind as K;
        let each = |bytes| Volumes::Each(Bytes(bytes));
        let score_p = |kind, sums, me| of(Convention::ScoreP, kind, sums, me);
        assert_eq!(score_p(K::Allreduce, (96, 96), 1), (each(24), Volumes::None));
        assert_eq!(score_p(K::Bcast, (16_000, 4000), 0), (each(4000), Volumes::None));
        assert_eq!(score_p(K::Bcast, (0, 4000), 1), (each(4000), Volumes::None));
        assert_eq!(score_p(K::Gather, (64, 256), 0), (each(64), each(64)));
        assert_eq!(score_p(K::Gather, (64, 0), 1), (each(64), each(0)));
        assert_eq!(score_p(K::Scatter, (128, 32), 0), (each(32), each(32)));
        assert_eq!(score_p(K::Scan, (32, 48), 2), (each(16), Volumes::None));
        assert_eq!(score_p(K::Exscan, (48, 0), 0), (each(16), Volumes::None));
        assert_eq!(score_p(K::Barrier, (0, 0), 0), (Volumes::None, Volumes::None));
    }

    #[test]
    fn a_sum_is_divided_with_the_own_part_as_it_is() {
        let list = |bytes: [u64; 4]| Volumes::PerMember(bytes.map(Bytes).to_vec());
        let (_, recv) = of(Convention::ScoreP, CollectiveKind::ReduceScatter, (100, 160), 1);
        assert_eq!(recv, list([20, 40, 20, 20]));
        let (_, recv) = of(Convention::ScoreP, CollectiveKind::Gatherv, (10, 0), 3);
        assert_eq!(recv, list([0; 4]));
        let (send, _) = of(Convention::EzTrace, CollectiveKind::Alltoallv, (10, 12), 3);
        assert_eq!(send, list([3, 3, 2, 2]));
    }
}
