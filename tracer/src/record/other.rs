//! Communication that no specific event describes: with processes outside the world, or by functions that are only
//! passed on. Their function and their volumes are recorded.

use std::ffi::CStr;

use titr_common::event::{CollectiveKind, Event, Mark};
use titr_common::units::Bytes;
use titr_wrappers::functions::mark::Mark as MarkCall;
use titr_wrappers::functions::point_to_point::PointToPoint::{self, *};
use titr_wrappers::{Abi, Call};

use super::message_args::{RecvArgs, SendArgs, Volumes, element, volume};
use super::{Outcome, RankTrace};
use crate::collective_call::{Blocks, CollectiveCall};
use crate::pmpi;

const NOTHING: Volumes = (Bytes(0), Bytes(0));

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
        MPI_Mrecv(call, ..) | MPI_Imrecv(call, ..) => (Bytes(0), volume(call.count(), call.datatype())),
        MPI_Sendrecv(call, _) | MPI_Isendrecv(call, _) => {
            (volume(call.sendcount(), call.sendtype()), volume(call.recvcount(), call.recvtype()))
        }
        MPI_Sendrecv_replace(call, _) | MPI_Isendrecv_replace(call, _) => {
            let data = volume(call.count(), call.datatype());
            (data, data)
        }
        _ => NOTHING,
    }
}

/// The longest name that is recorded, in characters.
const LONGEST: usize = 200;

/// Writes a mark.
#[cold]
#[inline(never)]
pub(super) fn record(call: &MarkCall<'_>, trace: &mut RankTrace) -> Outcome {
    trace.stream.write(&Event::Mark(match call {
        MarkCall::Begin(region) => Mark::RegionBegin(name(region)),
        MarkCall::End(region) => Mark::RegionEnd(name(region)),
        MarkCall::Level(level) => Mark::Control(*level),
    }));
    Ok(())
}

/// The name of a region as one word of a line: a blank becomes `_`.
fn name(text: &CStr) -> Box<str> {
    let text = text.to_string_lossy();
    let word = |letter: char| if letter.is_whitespace() || letter.is_control() { '_' } else { letter };
    let name: String = text.chars().take(LONGEST).map(word).collect();
    if name.is_empty() { "_".into() } else { name.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_word() {
        assert_eq!(&*name(c"solve"), "solve");
        assert_eq!(&*name(c"solve the\tsystem\n"), "solve_the_system_");
        assert_eq!(&*name(c""), "_");
    }
}
