/* Collectives of data in the memory of a device on some ranks, and of data in the host's. */
#include "check.h"
#include "device.h"

enum { COUNT = 100 };

int main(int argc, char **argv) {
    int host[COUNT], sum[COUNT];
    MPI_Request request;
    MPI_Comm half;
    begin(&argc, &argv);
    int *device = device_memory(2 * sizeof host);
    for (int i = 0; i < COUNT; i++) host[i] = rank + i;
    host_to_device(device, host, sizeof host);

    /* Of all, of one, and of none. */
    MPI_Allreduce(device, device + COUNT, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    device_to_host(sum, device + COUNT, sizeof sum);
    for (int i = 0; i < COUNT; i++) CHECK(sum[i] == size * (size - 1) / 2 + size * i);
    MPI_Bcast(rank == 1 ? device : host, COUNT, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 1) device_to_host(host, device, sizeof host);
    for (int i = 0; i < COUNT; i++) CHECK(host[i] == i);
    MPI_Allreduce(host, sum, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; i++) CHECK(sum[i] == size * i);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Iallreduce(host, sum, COUNT, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum[1] == 1);

    /* Where it is not looked at, on the way to one half only, and nothing of it. */
    int *room = rank == 0 ? sum : device;
    MPI_Gather(host, 1, MPI_INT, room, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Bcast(rank % 2 ? device : host, COUNT, MPI_INT, 0, half);
    MPI_Bcast(device, 0, MPI_INT, 0, half);
    MPI_Comm_free(&half);
    MPI_Finalize();
    if (rank == 0) puts("done");
    return 0;
}
