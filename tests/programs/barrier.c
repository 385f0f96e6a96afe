/* A barrier. Any number of ranks. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
