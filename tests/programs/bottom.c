/* Collectives of all kinds whose data is at MPI_BOTTOM, of datatypes that have absolute addresses (MPI 4.0, 5.1.5). */
#include "check.h"

static int here;
static double real;
static int all[64];

static MPI_Datatype absolute(int count, void *const *places, const MPI_Datatype *types) {
    MPI_Aint addresses[2];
    int ones[2] = {1, 1};
    MPI_Datatype made;
    for (int i = 0; i < count; i++) MPI_Get_address(places[i], &addresses[i]);
    MPI_Type_create_struct(count, ones, addresses, (MPI_Datatype *)types, &made);
    MPI_Type_commit(&made);
    return made;
}

static void sum(void *in, void *inout, int *count, MPI_Datatype *datatype) {
    MPI_Aint address;
    MPI_Get_address(&here, &address);
    for (int i = 0; i < *count; i++) *(int *)((char *)inout + address) += *(int *)((char *)in + address);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Datatype both = absolute(2, (void *[]){&here, &real}, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE});
    MPI_Datatype one = absolute(1, (void *[]){&here}, (MPI_Datatype[]){MPI_INT});
    MPI_Request request;
    MPI_Op op;
    MPI_Comm ring;
    int periodic = 1, next = (rank + 1) % size, before = (rank + size - 1) % size;

    here = rank == 0 ? 42 : 0, real = rank == 0 ? 1.5 : 0;
    MPI_Bcast(MPI_BOTTOM, 1, both, 0, MPI_COMM_WORLD);
    CHECK(here == 42 && real == 1.5);
    here = rank == 1 ? 43 : 0;
    MPI_Ibcast(MPI_BOTTOM, 1, both, 1, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(here == 43);
    here = rank;
    MPI_Gather(MPI_BOTTOM, 1, one, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; rank == 0 && i < size; i++) CHECK(all[i] == i);
    MPI_Allgather(MPI_BOTTOM, 1, one, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++) CHECK(all[i] == i);
    for (int i = 0; i < size; i++) all[i] = 10 * i;
    MPI_Scatter(all, 1, MPI_INT, MPI_BOTTOM, 1, one, 0, MPI_COMM_WORLD);
    CHECK(here == 10 * rank);

    int sent[64] = {0}, received[64] = {0}, displacements[64] = {0};
    MPI_Datatype from[64], to[64];
    for (int i = 0; i < size; i++) from[i] = one, to[i] = MPI_INT;
    sent[next] = received[before] = 1;
    MPI_Alltoallw(MPI_BOTTOM, sent, displacements, from, all, received, displacements, to, MPI_COMM_WORLD);
    CHECK(all[0] == 10 * before);

    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
    MPI_Neighbor_allgather(MPI_BOTTOM, 1, one, all, 1, MPI_INT, ring);
    CHECK(all[0] == 10 * before && all[1] == 10 * next);
    MPI_Comm_free(&ring);

    MPI_Op_create(sum, 1, &op);
    here = rank + 1;
    MPI_Allreduce(MPI_IN_PLACE, MPI_BOTTOM, 1, one, op, MPI_COMM_WORLD);
    CHECK(here == size * (size + 1) / 2);
    MPI_Op_free(&op);

    MPI_Bcast(MPI_BOTTOM, 0, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_BOTTOM, all, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Type_free(&one);
    MPI_Type_free(&both);
    MPI_Finalize();
    if (rank == 0) puts("done");
    return 0;
}
