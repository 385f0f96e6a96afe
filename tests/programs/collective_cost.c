/* What each collective costs: `collective_cost ROUNDS BYTES` prints a line for each, its name and the CPU time of a call
 * in ns, the mean of the ranks. Who waits spins, and so of all batches of calls the quickest counts. Any number of ranks. */
#define _GNU_SOURCE
#include "check.h"
#include <time.h>

enum { BATCH = 20 };

static double cpu(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1e9 + now.tv_nsec;
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int rounds = argc > 1 ? atoi(argv[1]) : 1000, count = (argc > 2 ? atoi(argv[2]) : 8) / sizeof(double);
    double *from = calloc((size_t)count * size + 1, sizeof *from), *to = calloc((size_t)count * size + 1, sizeof *to);
    int *counts = malloc(size * sizeof *counts), *places = malloc(size * sizeof *places);
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Request request;
    for (int i = 0; i < size; i++) counts[i] = count, places[i] = i * count;
#define COST(name, call)                                                     \
    do {                                                                     \
        double sum, least = 1e18;                                            \
        for (int i = -1; i < rounds / BATCH; i++) {                          \
            double spent = -cpu();                                           \
            for (int k = 0; k < BATCH; k++) call;                            \
            spent = (spent + cpu()) / BATCH;                                 \
            if (i >= 0 && spent < least) least = spent;                      \
        }                                                                    \
        MPI_Reduce(&least, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, world);          \
        if (rank == 0) printf("%s %.0f\n", name, sum / size);                \
    } while (0)
    COST("barrier", MPI_Barrier(world));
    COST("bcast", MPI_Bcast(to, count, MPI_DOUBLE, 0, world));
    COST("reduce", MPI_Reduce(from, to, count, MPI_DOUBLE, MPI_SUM, 0, world));
    COST("allreduce", MPI_Allreduce(from, to, count, MPI_DOUBLE, MPI_SUM, world));
    COST("scan", MPI_Scan(from, to, count, MPI_DOUBLE, MPI_SUM, world));
    COST("exscan", MPI_Exscan(from, to, count, MPI_DOUBLE, MPI_SUM, world));
    COST("reduce_scatter_block", MPI_Reduce_scatter_block(from, to, count, MPI_DOUBLE, MPI_SUM, world));
    COST("reduce_scatter", MPI_Reduce_scatter(from, to, counts, MPI_DOUBLE, MPI_SUM, world));
    COST("gather", MPI_Gather(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, 0, world));
    COST("gatherv", MPI_Gatherv(from, count, MPI_DOUBLE, to, counts, places, MPI_DOUBLE, 0, world));
    COST("scatter", MPI_Scatter(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, 0, world));
    COST("scatterv", MPI_Scatterv(from, counts, places, MPI_DOUBLE, to, count, MPI_DOUBLE, 0, world));
    COST("allgather", MPI_Allgather(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, world));
    COST("allgatherv", MPI_Allgatherv(from, count, MPI_DOUBLE, to, counts, places, MPI_DOUBLE, world));
    COST("alltoall", MPI_Alltoall(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, world));
    COST("alltoallv", MPI_Alltoallv(from, counts, places, MPI_DOUBLE, to, counts, places, MPI_DOUBLE, world));
    COST("iallreduce", (MPI_Iallreduce(from, to, count, MPI_DOUBLE, MPI_SUM, world, &request),
                        MPI_Wait(&request, MPI_STATUS_IGNORE)));
    MPI_Finalize();
    return 0;
}
