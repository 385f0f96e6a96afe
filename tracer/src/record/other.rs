//! Communication that no specific event describes: with processes outside the world, or by functions that are only
//! passed on. Their function and their volumes are recorded.

use titr_common::event::CollectiveKind;
use titr_common::units::Bytes;
use titr_wrappers::functions::point_to_point::PointToPoint::{self, *};
use titr_wrappers::{Abi, Call, pmpi};

use super::message_args::{RecvArgs, SendArgs};
use super::type_sizes::{Volumes, element, volume};
use crate::collective_call::{Blocks, CollectiveCall};

const NOTHING: Volumes = (Bytes(0), Bytes(0));

/// The volumes of a call.
#[inline(never)]
pub(super) fn volumes(abi: &Abi, call: &Call<'_>) -> Volumes {
    match call {
        Call::PointToPoint(call) => message(call),
        Call::Collective(call) => collective(abi, &CollectiveCall::of(call)),
        _ => NOTHING,
    }
}

/// The volumes of a collective on any communicator. Arguments that are not significant are not read.
fn collective(abi: &Abi, call: &CollectiveCall<'_>) -> Volumes {
    let comm = call.comm;
    let members = || if call.op.is_some() { pmpi::comm_size(comm) } else { pmpi::comm_peers(comm) };
    let (sent, received) = (|| total(&call.send.blocks, members), || total(&call.recv.blocks, members));
    let Some(root) = call.root else { return (sent(), received()) };
    let is_root = pmpi::is_root(root, comm);
    let sends =
        is_root == matches!(call.kind, CollectiveKind::Bcast | CollectiveKind::Scatter | CollectiveKind::Scatterv);
    match sends {
        // The others of the root's group do nothing (MPI 4.0 §6.2.3).
        _ if !is_root && root == abi.proc_null => NOTHING,
        true => (sent(), Bytes(0)),
        false => (Bytes(0), received()),
    }
}

/// The volume of all blocks of a buffer together.
fn total(blocks: &Blocks<'_>, members: impl Fn() -> usize) -> Bytes {
    match blocks {
        Blocks::Typed(counts, _, datatypes) => {
            counts.iter().zip(datatypes.along(counts).iter()).map(|(count, datatype)| volume(count, datatype)).sum()
        }
        _ => blocks.datatype().map_or(Bytes(0), |datatype| element(datatype).times(blocks.elements(members()))),
    }
}

fn message(call: &PointToPoint<'_>) -> Volumes {
    match call {
        MPI_Send(call) | MPI_Bsend(call) | MPI_Rsend(call) | MPI_Ssend(call) => SendArgs::from(call).volumes(),
        MPI_Isend(call, _) | MPI_Ibsend(call, _) | MPI_Irsend(call, _) | MPI_Issend(call, _) => {
            SendArgs::from(call).volumes()
        }
        MPI_Recv(call, _) | MPI_Irecv(call, _) => RecvArgs::from(call).volumes(),
        MPI_Mrecv(call, ..) => (Bytes(0), volume(call.count(), call.datatype())),
        MPI_Imrecv(call, ..) => (Bytes(0), volume(call.count(), call.datatype())),
        MPI_Sendrecv(call, _) => (volume(call.sendcount(), call.sendtype()), volume(call.recvcount(), call.recvtype())),
        MPI_Isendrecv(call, _) => {
            (volume(call.sendcount(), call.sendtype()), volume(call.recvcount(), call.recvtype()))
        }
        MPI_Sendrecv_replace(call, _) => {
            let data = volume(call.count(), call.datatype());
            (data, data)
        }
        MPI_Isendrecv_replace(call, _) => {
            let data = volume(call.count(), call.datatype());
            (data, data)
        }
        _ => NOTHING,
    }
}
