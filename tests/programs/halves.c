/* Two groups of two send each other messages: halves of a world of four, or a world of two and the one that it spawns. */
#include "check.h"

#define BYTES (1 << 16)

int main(int argc, char **argv) {
    static char data[BYTES];
    begin(&argc, &argv);
    MPI_Comm half, other, parent, both;
    int me, i;
    MPI_Comm_get_parent(&parent);
    int is_second = parent != MPI_COMM_NULL || rank > 1;
    if (size == 4) {
        MPI_Comm_split(MPI_COMM_WORLD, is_second, rank, &half);
        MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_second ? 0 : 2, 5, &other);
    } else if (is_second) {
        other = parent;
    } else {
        MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other, MPI_ERRCODES_IGNORE);
    }
    MPI_Comm_rank(other, &me);
    for (i = 0; i < 100; i++) {
        if (is_second) MPI_Recv(data, BYTES, MPI_BYTE, me, 7, other, MPI_STATUS_IGNORE);
        MPI_Send(data, BYTES, MPI_BYTE, me, 7, other);
        if (!is_second) MPI_Recv(data, BYTES, MPI_BYTE, me, 7, other, MPI_STATUS_IGNORE);
    }
    MPI_Intercomm_merge(other, is_second, &both);
    for (i = 0; i < 100; i++) MPI_Bcast(data, BYTES, MPI_BYTE, i % 4, both);
    MPI_Comm_free(&both);
    MPI_Comm_disconnect(&other);
    MPI_Finalize();
    return 0;
}
