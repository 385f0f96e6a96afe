/* One rank spawns two more of this program, which may not be traced, and makes one communicator with them. */
#include "check.h"

int main(int argc, char **argv) {
    MPI_Comm parent, other, merged;
    int one = 1, sum;
    begin(&argc, &argv);
    MPI_Comm_get_parent(&parent);
    int spawned = parent != MPI_COMM_NULL;
    if (spawned) other = parent;
    else MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    MPI_Intercomm_merge(other, spawned, &merged);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged);
    CHECK(sum == 3);
    MPI_Comm_free(&merged);
    MPI_Comm_disconnect(&other);
    if (!spawned) printf("done with %d\n", sum);
    MPI_Finalize();
    return 0;
}
