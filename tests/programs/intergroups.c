/* Every collective between two groups, of two ranks and of three. 5 ranks. */
#include "check.h"

#define MANY 1000

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int low = rank < 2, me, mine, theirs, i;
    MPI_Comm local, other;
    MPI_Request request;
    MPI_Comm_split(MPI_COMM_WORLD, low, rank, &local);
    MPI_Intercomm_create(local, 0, MPI_COMM_WORLD, low ? 2 : 0, 5, &other);
    MPI_Comm_rank(other, &me);
    MPI_Comm_size(other, &mine);
    MPI_Comm_remote_size(other, &theirs);
    /* The second rank of the second group is the root. */
    int root = low ? 1 : me == 1 ? MPI_ROOT : MPI_PROC_NULL;
    int data[5 * MANY], from[5 * MANY], counts[3], displs[3], shares[3];
    for (i = 0; i < 3; i++) counts[i] = i + 1, displs[i] = 3 * i, shares[i] = 6 / mine;

    MPI_Barrier(other);
    for (i = 0; i < MANY; i++) data[i] = root == MPI_ROOT ? i : -1;
    MPI_Bcast(data, MANY, MPI_INT, root, other);
    if (low) CHECK(data[MANY - 1] == MANY - 1);
    data[0] = rank;
    MPI_Reduce(data, from, 1, MPI_INT, MPI_SUM, root, other);
    if (root == MPI_ROOT) CHECK(from[0] == 1);
    MPI_Allreduce(data, from, 1, MPI_INT, MPI_SUM, other);
    CHECK(from[0] == (low ? 9 : 1));
    MPI_Gather(data, 1, MPI_INT, from, 1, MPI_INT, root, other);
    if (root == MPI_ROOT) CHECK(from[1] == 1);
    MPI_Gather(data, MANY, MPI_INT, from, MANY, MPI_INT, root, other);
    if (root == MPI_ROOT) CHECK(from[MANY] == 1);
    for (i = 0; i < 5 * MANY; i++) data[i] = i;
    MPI_Scatter(data, 1, MPI_INT, from, 1, MPI_INT, root, other);
    if (low) CHECK(from[0] == rank);
    MPI_Scatter(data, MANY, MPI_INT, from, MANY, MPI_INT, root, other);
    if (low) CHECK(from[0] == rank * MANY);
    data[0] = rank;
    MPI_Gatherv(data, me + 1, MPI_INT, from, counts, displs, MPI_INT, root, other);
    if (root == MPI_ROOT) CHECK(from[3] == 1);
    data[3] = 77;
    MPI_Scatterv(data, counts, displs, MPI_INT, from, me + 1, MPI_INT, root, other);
    if (low && me == 1) CHECK(from[0] == 77);
    MPI_Allgather(data, 2, MPI_INT, from, 2, MPI_INT, other);
    CHECK(from[2] == (low ? 3 : 1));
    MPI_Allgatherv(data, me + 1, MPI_INT, from, counts, displs, MPI_INT, other);
    CHECK(from[3] == (low ? 3 : 1));
    for (i = 0; i < 3; i++) data[i] = 10 * rank + i;
    MPI_Alltoall(data, 1, MPI_INT, from, 1, MPI_INT, other);
    CHECK(from[1] == (low ? 30 + rank : 10 + me));
    /* An int from each of the smaller group, two from each of the larger. */
    int sent[3], received[3], offsets[3];
    for (i = 0; i < 3; i++) sent[i] = low ? 1 : 2, received[i] = low ? 2 : 1, offsets[i] = 16 * i;
    MPI_Alltoallv(data, sent, displs, MPI_INT, from, received, displs, MPI_INT, other);
    MPI_Datatype types[3] = {MPI_INT, MPI_INT, MPI_INT};
    MPI_Alltoallw(data, sent, offsets, types, from, received, offsets, types, other);
    for (i = 0; i < 6; i++) data[i] = rank;
    MPI_Reduce_scatter(data, from, shares, MPI_INT, MPI_SUM, other);
    CHECK(from[0] == (low ? 9 : 1));
    MPI_Reduce_scatter_block(data, from, 6 / mine, MPI_INT, MPI_SUM, other);
    CHECK(from[0] == (low ? 9 : 1));
    MPI_Ibcast(data, 1, MPI_INT, root, other, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&other);
    MPI_Comm_free(&local);
    return end();
}
