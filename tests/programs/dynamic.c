/* Dynamic processes: two ranks spawn two more of this program and talk to them. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm parent, other, merged;
    int data[4] = {1, 2, 3, 4};
    MPI_Comm_get_parent(&parent);
    int spawned = parent != MPI_COMM_NULL;
    if (spawned) other = parent;
    else MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    if (spawned) {
        MPI_Recv(data, 4, MPI_INT, rank, 7, other, MPI_STATUS_IGNORE);
        CHECK(data[3] == 5);
        MPI_Bcast(data, 2, MPI_INT, 0, other);
    } else {
        data[3] = 5;
        MPI_Send(data, 4, MPI_INT, rank, 7, other);
        MPI_Bcast(data, 2, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, other);
    }
    MPI_Intercomm_merge(other, spawned, &merged);
    MPI_Allreduce(MPI_IN_PLACE, data, 4, MPI_INT, MPI_MAX, merged);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&other);
    if (rank == 0 && !spawned) printf("done on %d ranks\n", size);
    MPI_Finalize();
    return 0;
}
