/* A million messages without content among those of a program, or the program without them: empty_messages NUMBER [counted]
   sends so many in each of its rounds. 4 ranks. If counted, each piece of work is preceded by MPI_Pcontrol with the number of its
   steps. */
#include <mpi.h>
#include <stdlib.h>

enum { ROUNDS = 100, SIZE = 1000 };

static volatile unsigned result;
static int counted;

static void work(long steps) {
    if (counted) MPI_Pcontrol((int)steps);
    unsigned state = 1;
    for (long i = 0; i < steps; i++) state = state * 1664525 + 1013904223;
    result = state;
}

int main(int argc, char **argv) {
    static char sent[SIZE], received[SIZE];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    long empty = argc > 1 ? atol(argv[1]) : 0;
    counted = argc > 2;
    int partner = rank ^ 1;
    for (int round = 0; round < ROUNDS; round++) {
        work(20000000);
        for (long i = 0; i < empty; i++) {
            if (rank % 2)
                MPI_Recv(received, SIZE, MPI_CHAR, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            else
                MPI_Send(sent, 0, MPI_CHAR, partner, 0, MPI_COMM_WORLD);
        }
        MPI_Sendrecv(sent, SIZE, MPI_CHAR, partner, 0, received, SIZE, MPI_CHAR, partner, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
