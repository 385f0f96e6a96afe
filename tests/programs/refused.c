/* Calls that the library refuses on account of their arguments. Errors are returned, and MPI goes on. */
#include "check.h"

static MPI_Comm comm;

static void tell(int code, const char *what) {
    int class = MPI_SUCCESS, sum;
    MPI_Error_class(code, &class);
    if (rank == 0) printf("%s: %s\n", what, class == MPI_SUCCESS ? "no error" : class == MPI_ERR_OP ? "operation" : class == MPI_ERR_BUFFER ? "buffer" : "another error");
    /* The next collective is in its turn everywhere. */
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == size * (size - 1) / 2);
}

int main(int argc, char **argv) {
    int in = 1, out = 0;
    unsigned char from = 1, to = 0;
    begin(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    /* Bytes are not ordered. */
    tell(MPI_Allreduce(&from, &to, 1, MPI_BYTE, MPI_MAX, comm), "allreduce of bytes");
    tell(MPI_Reduce(&from, &to, 1, MPI_BYTE, MPI_MAX, 0, comm), "reduce of bytes");
    tell(MPI_Scan(&in, &out, 1, MPI_INT, MPI_MAXLOC, comm), "places of single numbers");
    tell(MPI_Bcast(&in, -1, MPI_INT, 0, comm), "bcast of less than nothing");
    tell(MPI_Bcast(&in, 1, MPI_INT, size, comm), "bcast of nobody");
#ifdef MPICH_VERSION
    {
        enum { RANKS = 16 };
        int data[2 * RANKS], counts[RANKS], places[RANKS];
        MPI_Comm made;
        MPI_Group world, high;
        MPI_Request request = MPI_REQUEST_NULL;
        CHECK(size <= RANKS);
        for (int i = 0; i < size; i++) data[2 * i] = data[2 * i + 1] = i, counts[i] = 2, places[i] = 2 * i;
        tell(MPI_Allreduce(data, data, 2, MPI_INT, MPI_SUM, comm), "allreduce");
        tell(MPI_Iallreduce(data, data, 2, MPI_INT, MPI_SUM, comm, &request), "iallreduce");
        tell(MPI_Exscan(data, data, 2, MPI_INT, MPI_SUM, comm), "exscan");
        tell(MPI_Reduce_scatter(data, data, counts, MPI_INT, MPI_SUM, comm), "reduce_scatter");
        tell(MPI_Allgather(&data[rank], 1, MPI_INT, data, 1, MPI_INT, comm), "allgather");
        tell(MPI_Allgatherv(&data[2 * rank], 2, MPI_INT, data, counts, places, MPI_INT, comm), "allgatherv");
        tell(MPI_Alltoall(data, 2, MPI_INT, data, 2, MPI_INT, comm), "alltoall");
        tell(MPI_Alltoallv(data, counts, places, MPI_INT, data, counts, places, MPI_INT, comm), "alltoallv");
        /* These are refused at the root, which is the only one to call them. */
        tell(rank == 0 ? MPI_Gather(data, 2, MPI_INT, data, 2, MPI_INT, 0, comm) : MPI_SUCCESS, "gather");
        tell(rank == 0 ? MPI_Scatterv(data, counts, places, MPI_INT, data, 2, MPI_INT, 0, comm) : MPI_SUCCESS, "scatterv");
        tell(rank == 0 ? MPI_Reduce(data, data, 2, MPI_INT, MPI_SUM, 0, comm) : MPI_SUCCESS, "reduce");
        /* What is allowed is none of these. */
        tell(MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, data, 2, MPI_INT, comm), "allgather in place");
        tell(MPI_Allreduce(MPI_IN_PLACE, data, 2, MPI_INT, MPI_SUM, comm), "allreduce in place");
        tell(MPI_Allreduce(data, data, 0, MPI_INT, MPI_SUM, comm), "allreduce of nothing");

        /* Half of the members make a communicator with somebody who is no member: those whom the group names are refused. */
        MPI_Comm half;
        MPI_Comm_split(comm, rank == size - 1, 0, &half);
        MPI_Comm_set_errhandler(half, MPI_ERRORS_RETURN);
        MPI_Comm_group(comm, &world);
        int range[1][3] = {{1, size - 1, 1}};
        MPI_Group_range_incl(world, 1, range, &high);
        if (rank < size - 1) {
            int code = MPI_Comm_create(half, high, &made);
            CHECK((code != MPI_SUCCESS) == (rank > 0));
            CHECK(rank > 0 || made == MPI_COMM_NULL);
            MPI_Barrier(half);
        }
        tell(MPI_SUCCESS, "creation");
        MPI_Group_free(&high);
        MPI_Group_free(&world);
        MPI_Comm_free(&half);
    }
#endif
    MPI_Comm_free(&comm);
    return end();
}
