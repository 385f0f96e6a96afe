/* Non-blocking collectives that go on while the program does what may wait for others that wait for them: messages, other
 * collectives, a mixture of requests, datatypes and operations that are freed before they are done. Prints what each rank
 * got. Any number of ranks. */
#include "check.h"
#include <stdint.h>

enum { MANY = 3000 };

static uint32_t from[8][MANY * 8], to[8][MANY * 8];

static void fill(void) {
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < MANY * 8; k++) from[i][k] = (rank + 1) * 2654435761u + i * 40503u + k, to[i][k] = k;
}

static void show(const char *what) {
    uint64_t hash = 1469598103934665603u, all[64];
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < MANY * 8; k++) hash = (hash ^ to[i][k]) * 1099511628211u;
    MPI_Gather(&hash, 1, MPI_UINT64_T, all, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    if (rank == 0)
        for (int r = 0; r < size; r++) printf("%s %d %016llx\n", what, r, (unsigned long long)all[r]);
    fill();
}

static void combine(void *in, void *inout, int *len, MPI_Datatype *type) {
    uint32_t *a = in, *b = inout;
    for (int i = 0; i < *len; i++, a += 2, b += 2) b[0] += a[0], b[1] ^= a[1];
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Comm world = MPI_COMM_WORLD, half, copy;
    MPI_Request requests[8], one;
    int next = (rank + 1) % size, previous = (rank + size - 1) % size, flag, index, count, done[8];
    fill();
    MPI_Comm_split(world, rank % 2, -rank, &half);
    MPI_Comm_dup(world, &copy);

    /* A broadcast that is passed on by ranks that wait for a message of its last receiver. */
    MPI_Ibcast(rank == 0 ? from[0] : to[0], MANY, MPI_UINT32_T, 0, world, &one);
    if (rank < size - 1) {
        MPI_Recv(to[1], MANY * 4, MPI_UINT32_T, size - 1, 5, world, MPI_STATUS_IGNORE);
        MPI_Wait(&one, MPI_STATUS_IGNORE);
    } else {
        MPI_Wait(&one, MPI_STATUS_IGNORE);
        for (int r = 0; r < size - 1; r++) MPI_Send(from[1], MANY * 4, MPI_UINT32_T, r, 5, world);
    }
    show("bcast");

    /* The same with everything else that blocks. */
    MPI_Iallreduce(from[0], to[0], MANY, MPI_UINT32_T, MPI_SUM, world, &one);
    MPI_Sendrecv(from[1], MANY, MPI_UINT32_T, next, 1, to[1], MANY, MPI_UINT32_T, previous, 1, world, MPI_STATUS_IGNORE);
    MPI_Isend(from[2], MANY, MPI_UINT32_T, next, 2, world, &requests[0]);
    MPI_Probe(previous, 2, world, MPI_STATUS_IGNORE);
    MPI_Recv(to[2], MANY, MPI_UINT32_T, MPI_ANY_SOURCE, 2, world, MPI_STATUS_IGNORE);
    MPI_Ssend(from[3], 1, MPI_UINT32_T, MPI_PROC_NULL, 3, world);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Bcast(rank == 0 ? from[4] : to[4], MANY, MPI_UINT32_T, 0, copy);
    MPI_Allreduce(from[5], to[5], 100, MPI_UINT32_T, MPI_MAX, half);
    MPI_Wait(&one, MPI_STATUS_IGNORE);
    show("allreduce");

    /* Many at once on three communicators, with messages between them. */
    MPI_Irecv(to[0], 10, MPI_UINT32_T, previous, 9, world, &requests[0]);
    MPI_Ialltoall(from[1], MANY / 100, MPI_UINT32_T, to[1], MANY / 100, MPI_UINT32_T, copy, &requests[1]);
    MPI_Iallgather(from[2], MANY / 100, MPI_UINT32_T, to[2], MANY / 100, MPI_UINT32_T, half, &requests[2]);
    MPI_Ibarrier(world, &requests[3]);
    MPI_Iscan(from[4], to[4], 77, MPI_UINT32_T, MPI_SUM, copy, &requests[4]);
    MPI_Ireduce_scatter_block(from[5], to[5], 50, MPI_UINT32_T, MPI_BXOR, world, &requests[5]);
    MPI_Isend(from[0], 10, MPI_UINT32_T, next, 9, world, &requests[6]);
    MPI_Iexscan(MPI_IN_PLACE, to[7], 20, MPI_UINT32_T, MPI_SUM, world, &requests[7]);
    MPI_Waitall(8, requests, MPI_STATUSES_IGNORE);
    show("waitall");

    /* One after the other, as they come. */
    MPI_Igather(from[0], 9, MPI_UINT32_T, to[0], 9, MPI_UINT32_T, 0, world, &requests[0]);
    MPI_Iscatter(from[1], 9, MPI_UINT32_T, to[1], 9, MPI_UINT32_T, size - 1, copy, &requests[1]);
    MPI_Ireduce(from[2], to[2], MANY * 2, MPI_UINT32_T, MPI_SUM, size / 2, world, &requests[2]);
    requests[3] = MPI_REQUEST_NULL;
    MPI_Waitany(4, requests, &index, MPI_STATUS_IGNORE);
    CHECK(index >= 0 && index < 3 && requests[index] == MPI_REQUEST_NULL);
    for (int left = 2; left > 0; left -= count) MPI_Waitsome(4, requests, &count, done, MPI_STATUSES_IGNORE);
    show("waitsome");

    /* Asked after without waiting. */
    MPI_Iallreduce(from[0], to[0], MANY, MPI_UINT32_T, MPI_MIN, copy, &requests[0]);
    MPI_Ibcast(rank == size - 1 ? from[1] : to[1], 5, MPI_UINT32_T, size - 1, world, &requests[1]);
    do MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
    while (!flag);
    do MPI_Testall(2, requests, &flag, MPI_STATUSES_IGNORE);
    while (!flag);
    show("test");

    /* What is freed meanwhile is there until the end. */
    MPI_Datatype pair, gaps;
    MPI_Op op;
    MPI_Op_create(combine, 1, &op);
    MPI_Type_contiguous(2, MPI_UINT32_T, &pair);
    MPI_Type_commit(&pair);
    MPI_Type_vector(50, 2, 3, MPI_UINT32_T, &gaps);
    MPI_Type_commit(&gaps);
    MPI_Iallreduce(from[0], to[0], 300, pair, op, copy, &requests[0]);
    MPI_Ibcast(rank == 0 ? from[1] : to[1], 3, gaps, 0, copy, &requests[1]);
    MPI_Type_free(&pair);
    MPI_Type_free(&gaps);
    MPI_Op_free(&op);
    CHECK(pair == MPI_DATATYPE_NULL && gaps == MPI_DATATYPE_NULL && op == MPI_OP_NULL);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    show("freed");

    MPI_Comm_free(&half);
    MPI_Comm_free(&copy);
    return end();
}
