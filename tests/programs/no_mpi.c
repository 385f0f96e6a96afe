/* Linked with MPI and never calls it. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv) {
    if (argc > 5) MPI_Init(&argc, &argv);
    puts("no MPI");
    return 4;
}
