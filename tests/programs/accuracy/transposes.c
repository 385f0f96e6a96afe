/* Transpositions of a matrix whose parts the ranks have: by rows (`transpose`), by pencils of a cube as in a 3-D Fourier
 * transform (`fourier`), and by blocks of a grid of ranks as in HPC Challenge's PTRANS (`ptrans`). */
#include "patterns.h"

/* The matrix lies in rows, as many for each rank. Each rank turns its blocks round and sends each to the rank of its rows. */
void transpose(void) {
    int side = 1;
    while ((size_t)(side + 1) * (side + 1) * sizeof(double) <= (size_t)unit / 4) side++;
    double *rows = (double *)in, *blocks = (double *)out;
    int width = side * size;
    for (int block = 0; block < size; block++)
        for (int i = 0; i < side; i++)
            for (int j = 0; j < side; j++) blocks[(block * side + j) * side + i] = rows[i * width + block * side + j];
    MPI_Alltoall(blocks, side * side, MPI_DOUBLE, rows, side * side, MPI_DOUBLE, MPI_COMM_WORLD);
}

/* Two transpositions, among the ranks of each row of a grid and then of each column, with a pass over the data before each. */
void fourier(void) {
    int dims[2] = {0, 0};
    MPI_Dims_create(size, 2, dims);
    for (int dimension = 0; dimension < 2; dimension++) {
        MPI_Comm pencil;
        int members, column = rank % dims[1], row = rank / dims[1];
        MPI_Comm_split(MPI_COMM_WORLD, dimension == 0 ? row : column, rank, &pencil);
        MPI_Comm_size(pencil, &members);
        int count = unit / members / (int)sizeof(double);
        double *from = (double *)out, *to = (double *)in;
        for (int i = 0; i < count * members; i++) from[i] = 0.5 * (from[i] + to[i]);
        MPI_Alltoall(from, count, MPI_DOUBLE, to, count, MPI_DOUBLE, pencil);
        MPI_Comm_free(&pencil);
    }
}

/* The ranks are a grid of rows × columns, the matrix is cut into blocks dealt out to it in turn both ways. Each rank exchanges
 * with each rank that has the mirror images of its blocks, one after the other. */
void ptrans(void) {
    int dims[2] = {0, 0};
    MPI_Dims_create(size, 2, dims);
    int rows = dims[0], columns = dims[1], row = rank / columns, column = rank % columns, common = rows;
    while (common % columns) common += rows;
    int bytes = unit;
    for (int step = 0; step < common; step++) {
        /* In this step go the blocks whose row and column numbers differ by `step`, modulo the common period. */
        int to = -1, from = -1;
        for (int i = 0; i < common; i++) {
            int j = (i + step) % common;
            if (i % rows == row && j % columns == column) to = j % rows * columns + i % columns;
            if (j % rows == row && i % columns == column) from = i % rows * columns + j % columns;
        }
        if (to == rank) memcpy(in, out, bytes);
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        if (from >= 0 && from != rank) MPI_Irecv(in, bytes, MPI_BYTE, from, step, MPI_COMM_WORLD, &requests[0]);
        if (to >= 0 && to != rank) MPI_Isend(out, bytes, MPI_BYTE, to, step, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}
