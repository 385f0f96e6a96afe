//! What each MPI call is recorded as, in the words of the grammar (`titr_common::grammar`): `docs/FUNCTIONS.md` is made of
//! this, and of the list of all functions.

use titr_wrappers::Call;
use titr_wrappers::functions::collective::Collective::{self, *};
use titr_wrappers::functions::communicator::Communicator::{self, *};
use titr_wrappers::functions::io::Io::{self, *};
use titr_wrappers::functions::one_sided::OneSided::{self, *};
use titr_wrappers::functions::point_to_point::PointToPoint::{self, *};
use titr_wrappers::functions::process::Process::{self, *};
use titr_wrappers::functions::topology::Topology::{self, *};

/// The words of a call that is recorded as itself, and not counted or, for want of its own, a `call`.
#[must_use]
pub fn words(call: &Call<'_>) -> &'static [&'static str] {
    match call {
        Call::PointToPoint(call) => point_to_point(call),
        Call::Collective(call) => collective(call),
        Call::Communicator(call) => communicator(call),
        Call::Topology(call) => topology(call),
        Call::Process(call) => process(call),
        Call::OneSided(call) => one_sided(call),
        Call::Io(call) => io(call),
        Call::Other => &[],
    }
}

fn point_to_point(call: &PointToPoint<'_>) -> &'static [&'static str] {
    match call {
        MPI_Send(_) => &["send"],
        MPI_Bsend(_) => &["bsend"],
        MPI_Rsend(_) => &["rsend"],
        MPI_Ssend(_) => &["ssend"],
        MPI_Isend(..) => &["isend"],
        MPI_Ibsend(..) => &["ibsend"],
        MPI_Irsend(..) => &["irsend"],
        MPI_Issend(..) => &["issend"],
        MPI_Send_init(..) => &["send_init"],
        MPI_Bsend_init(..) => &["bsend_init"],
        MPI_Rsend_init(..) => &["rsend_init"],
        MPI_Ssend_init(..) => &["ssend_init"],
        MPI_Recv(..) | MPI_Mrecv(..) => &["recv"],
        MPI_Irecv(..) | MPI_Imrecv(..) => &["irecv"],
        MPI_Recv_init(..) => &["recv_init"],
        MPI_Sendrecv(..) | MPI_Sendrecv_replace(..) => &["sendrecv"],
        MPI_Isendrecv(..) | MPI_Isendrecv_replace(..) => &["isend", "irecv"],
        MPI_Probe(..) | MPI_Mprobe(..) => &["probe"],
        MPI_Iprobe(..) | MPI_Improbe(..) => &["iprobe"],
        MPI_Start(_) | MPI_Startall(_) => &["start"],
        MPI_Request_free(_) => &["request_free"],
        MPI_Cancel(_) => &["cancel"],
        MPI_Request_get_status(..) | MPI_Test(..) => &["test", "matched"],
        MPI_Testall(_) => &["testall", "matched"],
        MPI_Testany(..) => &["testany", "matched"],
        MPI_Testsome(_) => &["testsome", "matched"],
        MPI_Wait(..) => &["wait", "matched"],
        MPI_Waitall(_) => &["waitall", "matched"],
        MPI_Waitany(..) => &["waitany", "matched"],
        MPI_Waitsome(_) => &["waitsome", "matched"],
        MPI_Psend_init(..) => &["psend_init"],
        MPI_Precv_init(..) => &["precv_init"],
        MPI_Pready(..) | MPI_Pready_range(..) | MPI_Pready_list(..) => &["pready"],
    }
}

fn collective(call: &Collective<'_>) -> &'static [&'static str] {
    match call {
        MPI_Barrier(_) => &["barrier"],
        MPI_Ibarrier(..) => &["ibarrier"],
        MPI_Barrier_init(..) => &["barrier_init"],
        MPI_Bcast(_) => &["bcast"],
        MPI_Ibcast(..) => &["ibcast"],
        MPI_Bcast_init(..) => &["bcast_init"],
        MPI_Reduce(_) => &["reduce"],
        MPI_Ireduce(..) => &["ireduce"],
        MPI_Reduce_init(..) => &["reduce_init"],
        MPI_Allreduce(_) => &["allreduce"],
        MPI_Iallreduce(..) => &["iallreduce"],
        MPI_Allreduce_init(..) => &["allreduce_init"],
        MPI_Scan(_) => &["scan"],
        MPI_Iscan(..) => &["iscan"],
        MPI_Scan_init(..) => &["scan_init"],
        MPI_Exscan(_) => &["exscan"],
        MPI_Iexscan(..) => &["iexscan"],
        MPI_Exscan_init(..) => &["exscan_init"],
        MPI_Reduce_scatter(_) => &["reducescatter"],
        MPI_Ireduce_scatter(..) => &["ireducescatter"],
        MPI_Reduce_scatter_init(..) => &["reducescatter_init"],
        MPI_Reduce_scatter_block(_) => &["reducescatter_block"],
        MPI_Ireduce_scatter_block(..) => &["ireducescatter_block"],
        MPI_Reduce_scatter_block_init(..) => &["reducescatter_block_init"],
        MPI_Gather(_) => &["gather"],
        MPI_Igather(..) => &["igather"],
        MPI_Gather_init(..) => &["gather_init"],
        MPI_Scatter(_) => &["scatter"],
        MPI_Iscatter(..) => &["iscatter"],
        MPI_Scatter_init(..) => &["scatter_init"],
        MPI_Allgather(_) => &["allgather"],
        MPI_Iallgather(..) => &["iallgather"],
        MPI_Allgather_init(..) => &["allgather_init"],
        MPI_Alltoall(_) => &["alltoall"],
        MPI_Ialltoall(..) => &["ialltoall"],
        MPI_Alltoall_init(..) => &["alltoall_init"],
        MPI_Gatherv(_) => &["gatherv"],
        MPI_Igatherv(..) => &["igatherv"],
        MPI_Gatherv_init(..) => &["gatherv_init"],
        MPI_Scatterv(_) => &["scatterv"],
        MPI_Iscatterv(..) => &["iscatterv"],
        MPI_Scatterv_init(..) => &["scatterv_init"],
        MPI_Allgatherv(_) => &["allgatherv"],
        MPI_Iallgatherv(..) => &["iallgatherv"],
        MPI_Allgatherv_init(..) => &["allgatherv_init"],
        MPI_Alltoallv(_) => &["alltoallv"],
        MPI_Ialltoallv(..) => &["ialltoallv"],
        MPI_Alltoallv_init(..) => &["alltoallv_init"],
        MPI_Alltoallw(_) => &["alltoallw"],
        MPI_Ialltoallw(..) => &["ialltoallw"],
        MPI_Alltoallw_init(..) => &["alltoallw_init"],
    }
}

fn communicator(call: &Communicator<'_>) -> &'static [&'static str] {
    match call {
        MPI_Comm_dup(..) | MPI_Comm_dup_with_info(..) => &["comm_dup"],
        MPI_Comm_idup(..) | MPI_Comm_idup_with_info(..) => &["comm_idup"],
        MPI_Comm_split(..) => &["comm_split"],
        MPI_Comm_split_type(..) => &["comm_split_type"],
        MPI_Comm_create(..) => &["comm_create"],
        MPI_Comm_create_group(..) => &["comm_create_group"],
        MPI_Comm_create_from_group(..) => &["comm_create_from_group"],
        MPI_Intercomm_create(..) | MPI_Intercomm_create_from_groups(..) => &["intercomm_create"],
        MPI_Intercomm_merge(..) => &["intercomm_merge"],
        MPI_Comm_free(_) | MPI_Comm_disconnect(_) => &["comm_free"],
    }
}

fn topology(call: &Topology<'_>) -> &'static [&'static str] {
    match call {
        MPI_Cart_create(..) => &["cart_create"],
        MPI_Cart_sub(..) => &["cart_sub"],
        MPI_Graph_create(..) => &["graph_create"],
        MPI_Dist_graph_create(..) => &["dist_graph_create"],
        MPI_Dist_graph_create_adjacent(..) => &["dist_graph_create_adjacent"],
        MPI_Neighbor_allgather(_) => &["neighbor_allgather"],
        MPI_Ineighbor_allgather(..) => &["ineighbor_allgather"],
        MPI_Neighbor_allgather_init(..) => &["neighbor_allgather_init"],
        MPI_Neighbor_allgatherv(_) => &["neighbor_allgatherv"],
        MPI_Ineighbor_allgatherv(..) => &["ineighbor_allgatherv"],
        MPI_Neighbor_allgatherv_init(..) => &["neighbor_allgatherv_init"],
        MPI_Neighbor_alltoall(_) => &["neighbor_alltoall"],
        MPI_Ineighbor_alltoall(..) => &["ineighbor_alltoall"],
        MPI_Neighbor_alltoall_init(..) => &["neighbor_alltoall_init"],
        MPI_Neighbor_alltoallv(_) => &["neighbor_alltoallv"],
        MPI_Ineighbor_alltoallv(..) => &["ineighbor_alltoallv"],
        MPI_Neighbor_alltoallv_init(..) => &["neighbor_alltoallv_init"],
        MPI_Neighbor_alltoallw(_) => &["neighbor_alltoallw"],
        MPI_Ineighbor_alltoallw(..) => &["ineighbor_alltoallw"],
        MPI_Neighbor_alltoallw_init(..) => &["neighbor_alltoallw_init"],
    }
}

fn process(call: &Process<'_>) -> &'static [&'static str] {
    match call {
        MPI_Init(..) | MPI_Init_thread(..) => &["init"],
        MPI_Finalize() => &["finalize"],
        // The trace ends.
        MPI_Abort(..) => &[],
    }
}

fn one_sided(call: &OneSided<'_>) -> &'static [&'static str] {
    match call {
        MPI_Put(..) | MPI_Rput(..) => &["put"],
        MPI_Get(..) | MPI_Rget(..) => &["get"],
        MPI_Accumulate(..) | MPI_Raccumulate(..) => &["accumulate"],
        MPI_Get_accumulate(..) | MPI_Rget_accumulate(..) => &["get_accumulate"],
        MPI_Fetch_and_op(..) => &["fetch_and_op"],
        MPI_Compare_and_swap(..) => &["compare_and_swap"],
        MPI_Win_create(_) => &["win_create"],
        MPI_Win_allocate(_) => &["win_allocate"],
        MPI_Win_allocate_shared(_) => &["win_allocate_shared"],
        MPI_Win_create_dynamic(..) => &["win_create_dynamic"],
        MPI_Win_free(_) => &["win_free"],
        MPI_Win_fence(..) => &["win_fence"],
        MPI_Win_post(..) => &["win_post"],
        MPI_Win_start(..) => &["win_start"],
        MPI_Win_complete(_) => &["win_complete"],
        MPI_Win_wait(_) => &["win_wait"],
        MPI_Win_test(..) => &["win_test"],
        MPI_Win_lock(..) => &["win_lock", "win_lock_shared"],
        MPI_Win_lock_all(..) => &["win_lock_all"],
        MPI_Win_unlock(..) => &["win_unlock"],
        MPI_Win_unlock_all(_) => &["win_unlock_all"],
        MPI_Win_flush(..) => &["win_flush"],
        MPI_Win_flush_all(_) => &["win_flush_all"],
        MPI_Win_flush_local(..) => &["win_flush_local"],
        MPI_Win_flush_local_all(_) => &["win_flush_local_all"],
    }
}

fn io(call: &Io<'_>) -> &'static [&'static str] {
    match call {
        MPI_File_open(..) => &["file_open"],
        MPI_File_close(_) => &["file_close"],
        MPI_File_set_size(..) => &["file_set_size"],
        MPI_File_get_size(..) => &["file_get_size"],
        MPI_File_preallocate(..) => &["file_preallocate"],
        MPI_File_set_view(..) => &["file_set_view"],
        MPI_File_seek_shared(..) => &["file_seek_shared"],
        MPI_File_sync(_) => &["file_sync"],
        MPI_File_read(..) => &["file_read"],
        MPI_File_iread(..) => &["file_iread"],
        MPI_File_read_at(..) => &["file_read_at"],
        MPI_File_iread_at(..) => &["file_iread_at"],
        MPI_File_read_shared(..) => &["file_read_shared"],
        MPI_File_iread_shared(..) => &["file_iread_shared"],
        MPI_File_read_all(..) => &["file_read_all"],
        MPI_File_iread_all(..) => &["file_iread_all"],
        MPI_File_read_all_begin(_) => &["file_read_all_begin"],
        MPI_File_read_all_end(..) => &["file_read_all_end"],
        MPI_File_read_at_all(..) => &["file_read_at_all"],
        MPI_File_iread_at_all(..) => &["file_iread_at_all"],
        MPI_File_read_at_all_begin(_) => &["file_read_at_all_begin"],
        MPI_File_read_at_all_end(..) => &["file_read_at_all_end"],
        MPI_File_read_ordered(..) => &["file_read_ordered"],
        MPI_File_read_ordered_begin(_) => &["file_read_ordered_begin"],
        MPI_File_read_ordered_end(..) => &["file_read_ordered_end"],
        MPI_File_write(..) => &["file_write"],
        MPI_File_iwrite(..) => &["file_iwrite"],
        MPI_File_write_at(..) => &["file_write_at"],
        MPI_File_iwrite_at(..) => &["file_iwrite_at"],
        MPI_File_write_shared(..) => &["file_write_shared"],
        MPI_File_iwrite_shared(..) => &["file_iwrite_shared"],
        MPI_File_write_all(..) => &["file_write_all"],
        MPI_File_iwrite_all(..) => &["file_iwrite_all"],
        MPI_File_write_all_begin(_) => &["file_write_all_begin"],
        MPI_File_write_all_end(..) => &["file_write_all_end"],
        MPI_File_write_at_all(..) => &["file_write_at_all"],
        MPI_File_iwrite_at_all(..) => &["file_iwrite_at_all"],
        MPI_File_write_at_all_begin(_) => &["file_write_at_all_begin"],
        MPI_File_write_at_all_end(..) => &["file_write_at_all_end"],
        MPI_File_write_ordered(..) => &["file_write_ordered"],
        MPI_File_write_ordered_begin(_) => &["file_write_ordered_begin"],
        MPI_File_write_ordered_end(..) => &["file_write_ordered_end"],
    }
}
