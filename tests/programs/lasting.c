/* A wavefront that goes on until it is ended: `lasting FOLDER [SECONDS]`. In every tenth of a second each rank sends itself a message with the
 * number of that tenth as its tag, and writes the number to FOLDER/RANK: what the last tag in a trace falls short of the file was lost. */
#include "check.h"
#include <fcntl.h>

enum { PLANES = 20, LAST_TAG = 32767 };

static int tenths(double since) {
    int now = (int)((MPI_Wtime() - since) * 10);
    return now < LAST_TAG ? now : LAST_TAG;
}

static double relax(double value, int cells) {
    for (int i = 0; i < cells; i++) value = 0.5 * (value + 1.0 / (1.0 + value * value));
    return value;
}

int main(int argc, char **argv) {
    double edge = 1, norm;
    int last = -1, own = 0, goes_on = 1;
    char name[4096];
    begin(&argc, &argv);
    CHECK(argc > 1);
    double start = MPI_Wtime(), seconds = argc > 2 ? atof(argv[2]) : 1e9;
    snprintf(name, sizeof name, "%s/%d", argv[1], rank);
    int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    CHECK(file >= 0);
    while (goes_on) {
        for (int plane = 0; plane < PLANES; plane++) {
            if (rank > 0) MPI_Recv(&edge, 1, MPI_DOUBLE, rank - 1, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            edge = relax(edge, 20000 + 997 * (plane % 7));
            if (rank < size - 1) MPI_Send(&edge, 1, MPI_DOUBLE, rank + 1, 10, MPI_COMM_WORLD);
        }
        int now = tenths(start);
        if (now != last) {
            MPI_Sendrecv(&now, 1, MPI_INT, rank, now, &own, 1, MPI_INT, rank, now, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            char text[16];
            CHECK(pwrite(file, text, (size_t)snprintf(text, sizeof text, "%5d\n", now), 0) > 0);
            last = now;
        }
        MPI_Allreduce(&edge, &norm, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        goes_on = MPI_Wtime() - start < seconds;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    return end();
}
