/* Derived datatypes count by what they hold, not by what they span. 2 ranks. */
#include "check.h"

int main(int argc, char **argv) {
    begin(&argc, &argv);
    double data[1000] = {0};
    MPI_Datatype types[5];
    struct { int i; double d; char c[3]; } mixed = {0};
    int lengths[3] = {1, 1, 3};
    MPI_Aint places[3] = {0, (char *)&mixed.d - (char *)&mixed, (char *)&mixed.c - (char *)&mixed};
    MPI_Type_vector(10, 2, 5, MPI_DOUBLE, &types[0]);                                              /* 160 bytes */
    MPI_Type_create_struct(3, lengths, places, (MPI_Datatype[]){MPI_INT, MPI_DOUBLE, MPI_CHAR}, &types[1]); /* 15 */
    MPI_Type_indexed(2, (int[]){3, 4}, (int[]){0, 10}, MPI_INT, &types[2]);                        /* 28 */
    MPI_Type_create_resized(MPI_DOUBLE, 0, 64, &types[3]);                                         /* 8 */
    MPI_Type_contiguous(0, MPI_DOUBLE, &types[4]);                                                 /* 0 */
    for (int i = 0; i < 5; i++) {
        MPI_Type_commit(&types[i]);
        if (rank == 0) MPI_Send(data, 2, types[i], 1, i, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(data, 2, types[i], 0, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Bcast(data, 1, types[i], 0, MPI_COMM_WORLD);
        MPI_Type_free(&types[i]);
    }
    return end();
}
