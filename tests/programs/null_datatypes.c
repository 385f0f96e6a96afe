/* MPI_DATATYPE_NULL for elements that there are none of. Libraries differ in where they refuse it: rank 0 prints what each call
 * returns. */
#include "check.h"

static void report(const char *call, int error) {
    int class = MPI_SUCCESS;
    if (error) MPI_Error_class(error, &class);
    if (rank == 0) printf("%s: %d\n", call, class);
}

int main(int argc, char **argv) {
    int none[64] = {0}, in[64] = {0}, out[64] = {0}, sent[64] = {0}, received[64] = {0};
    MPI_Datatype null[64], ints[64], sparse[64];
    MPI_Request request = MPI_REQUEST_NULL;
    begin(&argc, &argv);
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    for (int i = 0; i < size; i++) null[i] = MPI_DATATYPE_NULL, ints[i] = MPI_INT;
    report("alltoallw, sent", MPI_Alltoallw(in, none, none, null, out, none, none, ints, world));
    report("alltoallw, received", MPI_Alltoallw(in, none, none, ints, out, none, none, null, world));
    report("alltoallw, both and no buffers", MPI_Alltoallw(NULL, none, none, null, NULL, none, none, null, world));
    report("ialltoallw", MPI_Ialltoallw(in, none, none, null, out, none, none, null, world, &request));
    MPI_Wait(&request, MPI_STATUS_IGNORE);

    /* To the next rank and from the one before. */
    MPI_Datatype kinds[64];
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    for (int i = 0; i < size; i++) {
        sparse[i] = i == next ? MPI_INT : MPI_DATATYPE_NULL;
        kinds[i] = i == before ? MPI_INT : MPI_DATATYPE_NULL;
    }
    sent[next] = received[before] = 1;
    in[0] = rank, out[0] = -1;
    int error = MPI_Alltoallw(in, sent, none, sparse, out, received, none, kinds, world);
    CHECK(out[0] == (error ? -1 : before));
    report("alltoallw around the ring", error);
#ifdef OPEN_MPI
    /* MPICH 4.0 ends a program here. */
    MPI_Datatype of = MPI_DATATYPE_NULL;
    report("bcast", MPI_Bcast(in, 0, of, 0, world));
    report("allgather, sent", MPI_Allgather(in, 0, of, out, 0, MPI_INT, world));
    report("allgather, received", MPI_Allgather(in, 0, MPI_INT, out, 0, of, world));
    report("allgather, in place", MPI_Allgather(MPI_IN_PLACE, 0, of, out, 1, MPI_INT, world));
    report("alltoall", MPI_Alltoall(in, 0, of, out, 0, of, world));
    report("alltoallv", MPI_Alltoallv(in, none, none, MPI_INT, out, none, none, of, world));
    report("allgatherv", MPI_Allgatherv(in, 0, of, out, none, none, of, world));
    report("allreduce", MPI_Allreduce(in, out, 0, of, MPI_SUM, world));
    report("reduce_scatter", MPI_Reduce_scatter(in, out, none, of, MPI_SUM, world));
    report("ibcast", MPI_Ibcast(in, 0, of, 0, world, &request));
    MPI_Comm ring;
    MPI_Aint places[2] = {0, 0};
    int periodic = 1;
    MPI_Cart_create(world, 1, &size, &periodic, 0, &ring);
    MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
    report("neighbor_alltoallw", MPI_Neighbor_alltoallw(in, none, places, null, out, none, places, null, ring));
    report("neighbor_alltoall", MPI_Neighbor_alltoall(in, 0, of, out, 0, of, ring));
    MPI_Comm_free(&ring);
#endif
    /* Elements that are not looked at may be of any datatype. */
    MPI_Datatype significant = rank == 0 ? MPI_INT : MPI_DATATYPE_NULL;
    report("gather", MPI_Gather(in, 1, MPI_INT, out, 1, significant, 0, world));
    report("scatter", MPI_Scatter(in, 1, significant, out, 1, MPI_INT, 0, world));
    MPI_Finalize();
    return 0;
}
