/* Regions that the program marks: by name, within each other, and by levels of MPI_Pcontrol. Any number of ranks. */
#include <mpi.h>

#include "../../tracer/include/titr.h"

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    titr_region_begin("outer");
    MPI_Barrier(MPI_COMM_WORLD);
    titr_region_begin("a name of several words");
    MPI_Barrier(MPI_COMM_WORLD);
    titr_region_end("a name of several words");
    titr_region_end("outer");
    MPI_Pcontrol(3);
    MPI_Pcontrol(-3);
    MPI_Pcontrol(1, "read by other tools only");
    MPI_Pcontrol(0);
    MPI_Finalize();
    return 0;
}
