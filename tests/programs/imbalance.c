/* Load imbalance in a function and region foo, whose symptom shows only after the balanced work of bar: the programs LB-COLL and LB-P2P of
   Hermanns, Geimer, Wolf and Wylie, "Verifying Causality between Distant Performance Phenomena in Large-Scale MPI
   Applications" (PDP 2009).

   imbalance SYMPTOM WORK [counted], for an even number of ranks: they wait in an allreduce (collective), or in receives of odd and even ranks
   (point-to-point). In foo the last rank has most work (constant), each rank in turn has (rotating), or all have the mean
   (balanced). If counted, each piece of work is preceded by MPI_Pcontrol with the number of its steps. */
#include <string.h>

#include "../../tracer/include/titr.h"

enum { ITERATIONS = 100, UNIT = 400000 };

static volatile unsigned result;
static int counted;
static void work(double units) {
    if (counted) MPI_Pcontrol((int)(units * UNIT));
    unsigned state = 1;
    for (long i = 0; i < (long)(units * UNIT); i++) state = state * 1664525 + 1013904223;
    result = state;
}

static __attribute__((noinline)) void foo(double units) {
    titr_region_begin("foo");
    work(units);
    titr_region_end("foo");
}

static __attribute__((noinline)) void bar(void) {
    titr_region_begin("bar");
    work(2);
    titr_region_end("bar");
}

int main(int argc, char **argv) {
    int rank, size;
    double sum, data = 0;
    if (argc < 3) return 2;
    counted = argc > 3;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int iteration = 0; iteration < ITERATIONS; iteration++) {
        int turn = !strcmp(argv[2], "rotating") ? (rank + iteration) % size : rank;
        double mean = (size - 1) / 2.0;
        foo(1 + (!strcmp(argv[2], "balanced") ? mean : turn));
        bar();

        int partner = rank ^ 1;
        if (!strcmp(argv[1], "collective")) {
            MPI_Allreduce(&data, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        } else if (partner < size && rank % 2) {
            MPI_Recv(&data, 1, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(&data, 1, MPI_DOUBLE, (rank + 1) % size, 1, MPI_COMM_WORLD);
        } else if (partner < size) {
            MPI_Send(&data, 1, MPI_DOUBLE, partner, 0, MPI_COMM_WORLD);
            MPI_Recv(&data, 1, MPI_DOUBLE, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    MPI_Finalize();
    return 0;
}
