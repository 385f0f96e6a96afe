//! Calls that communicate in a way that no event of its own describes: between two groups, with processes outside the
//! world, by functions that are only passed on. Their function and their volumes are recorded.

use titr_common::event::{Event, Other};
use titr_common::units::Bytes;
use titr_wrappers::argument::{Array, Comm, Count, Datatype};
use titr_wrappers::functions::collective::Collective::{self, *};
use titr_wrappers::functions::point_to_point::PointToPoint::{self, *};
use titr_wrappers::{Call, Function, pmpi};

use super::message_args::{RecvArgs, SendArgs};
use super::{Recorder, Volumes};

const NOTHING: Volumes = (Bytes(0), Bytes(0));

impl Recorder {
    #[inline(never)]
    pub(super) fn other(&mut self, function: &Function, call: &Call<'_>) {
        let volumes = match call {
            Call::PointToPoint(call) => message(call),
            Call::Collective(call) => self.with_others(call),
            _ => NOTHING,
        };
        self.emit_other(function, volumes);
    }

    pub(super) fn emit_other(&mut self, function: &Function, (sent, received): Volumes) {
        self.emit(&Event::Other(Other { function: function.name().into(), sent, received }));
    }

    /// The volumes of a collective on any communicator.
    fn with_others(&self, call: &Collective<'_>) -> Volumes {
        match call {
            MPI_Barrier(_) | MPI_Ibarrier(..) | MPI_Barrier_init(..) => NOTHING,
            MPI_Bcast(call) | MPI_Ibcast(call, _) | MPI_Bcast_init(call, ..) => {
                let data = volume(call.count(), call.datatype());
                self.rooted(call.root(), call.comm(), || (data, Bytes(0)), || (Bytes(0), data))
            }
            MPI_Reduce(call) | MPI_Ireduce(call, _) | MPI_Reduce_init(call, ..) => {
                let data = volume(call.count(), call.datatype());
                self.rooted(call.root(), call.comm(), || (Bytes(0), data), || (data, Bytes(0)))
            }
            MPI_Allreduce(call)
            | MPI_Iallreduce(call, _)
            | MPI_Allreduce_init(call, ..)
            | MPI_Scan(call)
            | MPI_Iscan(call, _)
            | MPI_Scan_init(call, ..)
            | MPI_Exscan(call)
            | MPI_Iexscan(call, _)
            | MPI_Exscan_init(call, ..) => {
                let data = volume(call.count(), call.datatype());
                (data, data)
            }
            MPI_Reduce_scatter(call) | MPI_Ireduce_scatter(call, _) | MPI_Reduce_scatter_init(call, ..) => {
                let all = volumes(&call.recvcounts(), call.datatype());
                (all, all)
            }
            MPI_Reduce_scatter_block(call)
            | MPI_Ireduce_scatter_block(call, _)
            | MPI_Reduce_scatter_block_init(call, ..) => {
                let block = volume(call.recvcount(), call.datatype());
                (block.times(pmpi::comm_size(call.comm()) as u64), block)
            }
            MPI_Gather(call) | MPI_Igather(call, _) | MPI_Gather_init(call, ..) => {
                let at_root = || volume(call.recvcount(), call.recvtype()).times(peers(call.comm()));
                let away = || volume(call.sendcount(), call.sendtype());
                self.gathered(call.root(), call.comm(), at_root, away)
            }
            MPI_Gatherv(call) | MPI_Igatherv(call, _) | MPI_Gatherv_init(call, ..) => {
                let at_root = || volumes(&call.recvcounts(), call.recvtype());
                self.gathered(call.root(), call.comm(), at_root, || volume(call.sendcount(), call.sendtype()))
            }
            MPI_Scatter(call) | MPI_Iscatter(call, _) | MPI_Scatter_init(call, ..) => {
                let at_root = || volume(call.sendcount(), call.sendtype()).times(peers(call.comm()));
                let away = || volume(call.recvcount(), call.recvtype());
                swap(self.gathered(call.root(), call.comm(), at_root, away))
            }
            MPI_Scatterv(call) | MPI_Iscatterv(call, _) | MPI_Scatterv_init(call, ..) => {
                let at_root = || volumes(&call.sendcounts(), call.sendtype());
                swap(self.gathered(call.root(), call.comm(), at_root, || volume(call.recvcount(), call.recvtype())))
            }
            MPI_Allgather(call) | MPI_Iallgather(call, _) | MPI_Allgather_init(call, ..) => {
                let received = volume(call.recvcount(), call.recvtype()).times(peers(call.comm()));
                (volume(call.sendcount(), call.sendtype()), received)
            }
            MPI_Alltoall(call) | MPI_Ialltoall(call, _) | MPI_Alltoall_init(call, ..) => {
                let peers = peers(call.comm());
                let sent = volume(call.sendcount(), call.sendtype()).times(peers);
                (sent, volume(call.recvcount(), call.recvtype()).times(peers))
            }
            MPI_Allgatherv(call) | MPI_Iallgatherv(call, _) | MPI_Allgatherv_init(call, ..) => {
                (volume(call.sendcount(), call.sendtype()), volumes(&call.recvcounts(), call.recvtype()))
            }
            MPI_Alltoallv(call) | MPI_Ialltoallv(call, _) | MPI_Alltoallv_init(call, ..) => {
                (volumes(&call.sendcounts(), call.sendtype()), volumes(&call.recvcounts(), call.recvtype()))
            }
            MPI_Alltoallw(call) | MPI_Ialltoallw(call, _) | MPI_Alltoallw_init(call, ..) => {
                let sum = |counts: Array<'_, Count>, types: Array<'_, Datatype>| {
                    counts.iter().zip(types.iter()).map(|(count, datatype)| volume(count, datatype)).sum()
                };
                (sum(call.sendcounts(), call.sendtypes()), sum(call.recvcounts(), call.recvtypes()))
            }
        }
    }

    /// The root, the others, and those of the root's group of two, who do nothing (MPI 4.0 §6.2.3). Arguments that are
    /// not significant are not read.
    fn rooted(
        &self,
        root: i32,
        comm: Comm,
        at_root: impl FnOnce() -> Volumes,
        away: impl FnOnce() -> Volumes,
    ) -> Volumes {
        if pmpi::is_root(root, comm) {
            at_root()
        } else if root == self.abi.proc_null {
            NOTHING
        } else {
            away()
        }
    }

    fn gathered(
        &self,
        root: i32,
        comm: Comm,
        at_root: impl FnOnce() -> Bytes,
        away: impl FnOnce() -> Bytes,
    ) -> Volumes {
        self.rooted(root, comm, || (Bytes(0), at_root()), || (away(), Bytes(0)))
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

fn swap((sent, received): Volumes) -> Volumes {
    (received, sent)
}

fn peers(comm: Comm) -> u64 {
    pmpi::comm_peers(comm) as u64
}

fn volume(count: Count, datatype: Datatype) -> Bytes {
    Recorder::bytes(count, datatype)
}

fn volumes(counts: &Array<'_, Count>, datatype: Datatype) -> Bytes {
    let element = Recorder::element(datatype);
    counts.iter().map(|count| element.times(count.get())).sum()
}
