/* Communicators of the same members, which even and odd ranks make in different orders. */
#include "check.h"

int main(int argc, char **argv) {
    MPI_Comm parent[2], duplicate[2], grouped;
    MPI_Group world;
    MPI_Request request[3];
    int first, one = 1, sum;
    char data = 0;
    begin(&argc, &argv);
    first = rank % 2;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < 2; i++) MPI_Comm_dup(MPI_COMM_WORLD, &parent[i]);

    /* Of two parents. */
    for (int i = 0; i < 2; i++) {
        int which = i ^ first;
        MPI_Comm_idup(parent[which], &duplicate[which], &request[which]);
    }
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    MPI_Barrier(duplicate[0]);
    MPI_Bcast(&data, 1, MPI_CHAR, 0, duplicate[1]);
    for (int i = 0; i < 2; i++) MPI_Comm_free(&duplicate[i ^ first]);

    /* Of one parent, but only one of the two calls is collective on it. */
    if (first) MPI_Comm_create_group(MPI_COMM_WORLD, world, 5, &grouped);
    MPI_Comm_idup(MPI_COMM_WORLD, &duplicate[0], &request[0]);
    if (!first) MPI_Comm_create_group(MPI_COMM_WORLD, world, 5, &grouped);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
    MPI_Barrier(duplicate[0]);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, grouped);
    CHECK(sum == size);

    MPI_Comm_free(&grouped);
    MPI_Comm_free(&duplicate[0]);
    for (int i = 0; i < 2; i++) MPI_Comm_free(&parent[i]);
    MPI_Group_free(&world);
    return end();
}
